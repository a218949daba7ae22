//! The lexical baseline: claims cut out of a text, and checked against a text, by words alone.
//!
//! No model and no download: word lists, suffix rules and a few lines of arithmetic for English and French. It is
//! deterministic, and it is a *baseline*: it reads shared words, quantities, citations, negation and modality, and it
//! understands nothing. Paraphrase without shared words looks neutral to it; swapped roles look entailed.
//!
//! The path of a text: [`crate::text::sentences`] cuts it, the tokens of `crate::text` are its words, `citation` and `quantity` take the numbers out,
//! `operator` finds what is negated, required, permitted or forbidden, `profile` keeps all of that for one sentence,
//! and `compare` and `check` decide.

mod check;
mod citation;
mod clause;
mod compare;
mod extract;
mod lexicon;
mod operator;
mod profile;
mod quantity;
mod stance;
mod synonym;

pub use check::{Premise, Verdict, check};
pub use extract::extract;
