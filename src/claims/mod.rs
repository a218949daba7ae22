//! Claims: cutting answers into statements, and checking each against a text.
//!
//! Two seams: [`ExtractClaims`] behind the handle [`Extractor`], [`CheckClaims`] behind [`Checker`]. A claim that could
//! not be read and a check that failed are rows with a reason, never a guess.

mod check;
mod check_lexical;
mod check_likelihood;
mod check_model;
mod check_nli;
mod extract;
mod extract_model;
mod keep;
mod labels;
pub mod lexical;
mod merge;
mod prompts;
mod run;
mod statement;
mod tasks;
mod triples;
mod vote;

pub use check::{CheckClaims, Checker, Finding, Request};
pub use extract::{ExtractClaims, Extractor, Passage};
pub use labels::{Said, read_label, read_numbered_labels};
pub use merge::Merge;
pub use run::Work;
pub use statement::Statement;
pub use triples::{Extracted, Lost, read_triples};

pub use crate::table::Direction;
pub use crate::text::Language;
