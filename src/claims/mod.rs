//! Claims: cutting answers into statements, and checking each against a text.

mod check;
mod directions;
mod extract;
pub mod lexical;

pub use check::Checker;
pub use directions::Direction;
pub use extract::Extractor;

pub use crate::text::Language;
