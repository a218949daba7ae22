//! The one error of the library.

use std::fmt;
use std::path::Path;

/// What the library's fallible functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Something that failed: what, on which object, expected and found, and one way out.
///
/// A notebook cell shows only [`Display`](fmt::Display), so it tells the whole story.
///
/// ```
/// use claimlab::{Error, ErrorKind};
/// let error = Error::new(ErrorKind::Input, "expected a number in column \"rank\", found text")
///     .help("convert the column first")
///     .context("reading run.parquet");
/// assert_eq!(
///     error.to_string(),
///     "reading run.parquet: expected a number in column \"rank\", found text\n  help: convert the column first"
/// );
/// ```
#[derive(Clone)]
pub struct Error(Box<Story>);

#[derive(Clone)]
struct Story {
    kind: ErrorKind,
    message: String,
    context: Vec<String>,
    help: Option<String>,
}

/// What sort of failure an [`Error`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file, table or argument is not what it must be.
    Input,
    /// The operating system refused to read or write something.
    Io,
    /// Something that was named does not exist.
    NotFound,
    /// This build lacks a part of the library.
    FeatureDisabled,
    /// The user asked to stop.
    Interrupted,
    /// A model, or the service that runs it, gave nothing usable: a refusal, an empty reply, a rejected request.
    Model,
    /// A limit that the user set was reached: cost, memory, context.
    Limit,
    /// A library below failed in a way that the caller could not have caused.
    Internal,
}

impl Error {
    /// A new error of a kind.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Story { kind, message: message.into(), context: Vec::new(), help: None }))
    }

    /// Input that is not what it must be.
    #[must_use]
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// The operating system's refusal concerning `what`.
    #[must_use]
    pub fn io(what: impl fmt::Display, error: &std::io::Error) -> Self {
        let kind = if error.kind() == std::io::ErrorKind::NotFound { ErrorKind::NotFound } else { ErrorKind::Io };
        Self::new(kind, format!("{what}: {error}"))
    }

    /// The same for a path.
    #[must_use]
    pub fn file(path: &Path, error: &std::io::Error) -> Self {
        Self::io(path.display(), error)
    }

    /// A part of the library that this build lacks.
    #[must_use]
    pub fn feature_disabled(what: &str, feature: &str) -> Self {
        Self::new(ErrorKind::FeatureDisabled, format!("this build of claimlab has no {what}"))
            .help(format!("build with `--features {feature}`"))
    }

    /// Adds what was being done.
    #[must_use]
    pub fn context(mut self, doing: impl Into<String>) -> Self {
        self.0.context.push(doing.into());
        self
    }

    /// Adds the one thing to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// What sort of failure this is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Whether the same call may succeed later without a change.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Io | ErrorKind::Interrupted)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for doing in self.0.context.iter().rev() {
            write!(formatter, "{doing}: ")?;
        }
        formatter.write_str(&self.0.message)?;
        if let Some(help) = &self.0.help {
            write!(formatter, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {}

impl From<polars::prelude::PolarsError> for Error {
    fn from(error: polars::prelude::PolarsError) -> Self {
        Self::new(ErrorKind::Input, format!("table operation failed: {error}"))
    }
}
