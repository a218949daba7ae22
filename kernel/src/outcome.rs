//! How a cell ended, in the words of the Jupyter protocol.

use evcxr::{CompilationError, Error};

/// Why a cell did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellError {
    /// The kind: `CompileError`, `Panic`, `Error`, `Killed`, `TimedOut`, `Refused`.
    pub ename: String,
    /// One line that says what went wrong.
    pub evalue: String,
    /// The whole story, line by line; may hold ANSI colours.
    pub traceback: Vec<String>,
}

impl CellError {
    /// An error of one kind from one text.
    pub fn new(ename: &str, text: &str) -> Self {
        let text = text.trim_end();
        Self {
            ename: ename.to_owned(),
            evalue: text.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message").to_owned(),
            traceback: text.lines().map(str::to_owned).collect(),
        }
    }

    /// From what evcxr reports.
    pub fn from_evcxr(error: &Error, source: &str) -> Self {
        match error {
            Error::CompilationErrors(errors) => Self::from_compiler(errors, source),
            Error::SubprocessTerminated(text) => Self::new(
                "Killed",
                &format!(
                    "The process that holds this session's variables ended ({}). All variables are gone; \
                     run the cells above again. Results that the lab had stored are reused.",
                    text.trim()
                ),
            ),
            Error::TypeRedefinedVariablesLost(names) => Self::new(
                "Refused",
                &format!("These variables changed their type and were lost: {}. Define them again.", names.join(", ")),
            ),
            Error::Message(text) => Self::new("Refused", &explain(text)),
        }
    }

    fn from_compiler(errors: &[CompilationError], source: &str) -> Self {
        let mut traceback = Vec::new();
        for error in errors {
            traceback.extend(report(error, source).lines().map(str::to_owned));
        }
        let first = errors.first().map(CompilationError::message).unwrap_or_else(|| "compilation failed".to_owned());
        Self { ename: "CompileError".to_owned(), evalue: first, traceback }
    }
}

/// evcxr's own words where a researcher needs other ones.
fn explain(text: &str) -> String {
    if text.contains("Couldn't automatically determine type") {
        format!("{text}\nFor example: `let table: DataFrame = …;`. A failed `?` before it can be the cause as well.")
    } else {
        text.to_owned()
    }
}

/// One compiler error with the lines of the cell that it points at. evcxr's own report gives up on any cell with a
/// character outside ASCII, which in French is every cell.
fn report(error: &CompilationError, source: &str) -> String {
    let code = error.code().map(|code| format!("[{code}]")).unwrap_or_default();
    let mut text = format!("\u{1b}[1;31m{}{code}\u{1b}[0m: {}\n", error.level(), error.message());
    let lines: Vec<&str> = source.lines().collect();
    for spanned in error.spanned_messages() {
        let Some(span) = &spanned.span else { continue };
        let Some(line) = span.start_line.checked_sub(1).and_then(|index| lines.get(index)) else { continue };
        let before = span.start_column.saturating_sub(1);
        let width = if span.end_line == span.start_line {
            span.end_column.saturating_sub(span.start_column).max(1)
        } else {
            line.chars().count().saturating_sub(before).max(1)
        };
        let number = span.start_line.to_string();
        let margin = " ".repeat(number.len());
        text.push_str(&format!(
            "{number} | {line}\n{margin} | {}\u{1b}[31m{}\u{1b}[0m {}\n",
            " ".repeat(before),
            "^".repeat(width),
            spanned.label
        ));
    }
    for help in error.help() {
        text.push_str(&format!("help: {help}\n"));
    }
    if let Some(hint) = error.evcxr_extra_hint() {
        text.push_str(&format!("hint: {hint}\n"));
    }
    text
}
