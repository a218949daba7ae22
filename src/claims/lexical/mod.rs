//! The lexical baseline: claims cut out of a text, and checked against a text, by words alone.
//!
//! No model and no download. It is deterministic, and it is a *baseline*: it reads shared words, quantities,
//! negation and modality, and understands nothing. Paraphrase without shared words looks neutral to it; swapped
//! roles ("the processor informs the controller") look entailed. Thresholds were set by judgement before any label
//! was looked at, and are the same for both languages.

mod check;
mod extract;
mod profile;

pub use check::{Premise, Verdict, check};
pub use extract::extract;
