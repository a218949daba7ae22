//! Claims: cutting answers into statements, and checking each against a text.

mod check;
mod extract;
pub mod lexical;

pub use crate::table::Direction;
pub use check::Checker;
pub use extract::Extractor;

pub use crate::text::Language;
