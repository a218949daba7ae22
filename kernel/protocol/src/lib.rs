//! The event lines that the ClaimLab library and its kernel exchange.
//!
//! The library runs in a child process of the kernel and owns nothing but its standard output. An event is one
//! line there: a mark that no ordinary text begins with, then JSON. Elsewhere (a terminal, another kernel, a test)
//! nobody sets [`KERNEL_ENV`], and the library prints plain text instead.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Begins every event line: ASCII "record separator", then a name that makes a stray line recognisable.
pub const MARK: &str = "\u{1e}claimlab ";

/// Set by the kernel in the child's environment; events are printed only where it is set.
pub const KERNEL_ENV: &str = "CLAIMLAB_KERNEL";

/// One representation per MIME type of the same thing, richest last to be shown, plainest always present.
pub type Bundle = BTreeMap<String, String>;

/// What the child tells the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// Show something now. With an `id`, a later [`Event::Update`] can replace it.
    Display {
        /// The representations.
        data: Bundle,
        /// Names this display for later updates.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// Replace an earlier display in place.
    Update {
        /// The new representations.
        data: Bundle,
        /// The display to replace.
        id: String,
    },
    /// Take away what the cell has shown so far, when the next output comes.
    Clear,
    /// The value that a cell ends with.
    Result {
        /// The representations.
        data: Bundle,
    },
    /// Text without a final newline, or text whose stream must be told apart.
    Stream {
        /// True for standard error.
        stderr: bool,
        /// The text as it was written.
        text: String,
    },
    /// The cell panicked or ended in a failed `?`.
    Failed {
        /// How it ended.
        how: Failure,
    },
}

/// How a cell that compiled ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// A panic was caught.
    Panic,
    /// The operator `?` returned an error from the cell.
    Error,
}

/// Names the socket on which the process that runs cells answers the kernel between cells.
pub const SOCKET_ENV: &str = "CLAIMLAB_CELL_SOCKET";

/// What the kernel asks the process that runs cells, between two cells: one line of JSON a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Ask {
    /// Which variables there are, and what is in them.
    Variables,
    /// The answer to a query over the tables that variables hold.
    Sql {
        /// The query.
        query: String,
    },
    /// Make ready for the next interrupt, after one was answered.
    Rearm,
}

/// What it is answered with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// All variables, by name.
    Variables {
        /// One entry a variable.
        variables: Vec<Variable>,
    },
    /// Something to show.
    Show {
        /// The representations.
        data: Bundle,
    },
    /// Done; there is nothing to show.
    Done,
    /// It failed.
    Failed {
        /// Why, and what to do.
        message: String,
    },
}

/// One variable of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its shape or value in a few words, where its type is a known one.
    pub content: Option<String>,
}

impl Event {
    /// The event as one line without its newline.
    ///
    /// ```
    /// use claimlab_protocol::{Event, MARK};
    /// let event = Event::Stream { stderr: false, text: "half a li".into() };
    /// let line = event.to_line();
    /// assert!(line.starts_with(MARK) && !line.contains('\n'));
    /// assert_eq!(Event::from_line(&line), Some(event));
    /// assert_eq!(Event::from_line("ordinary text"), None);
    /// ```
    #[must_use]
    pub fn to_line(&self) -> String {
        // Serialising these plain structs cannot fail; an empty object is read back as "not an event".
        format!("{MARK}{}", serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned()))
    }

    /// Reads a line back; `None` when it is ordinary text.
    #[must_use]
    pub fn from_line(line: &str) -> Option<Self> {
        serde_json::from_str(line.strip_prefix(MARK)?).ok()
    }
}
