//! ClaimLab evaluates retrieval-augmented generation over law, claim by claim.
//!
//! A benchmark of question–answer pairs and the acts behind it become typed tables; a retriever and a generator
//! answer the questions; answers become claims; every claim is checked against the reference answer and the
//! retrieved chunks; and RAGChecker's eleven metrics come out as tables, sliced by language, persona and question
//! category, with intervals.
//!
//! ```
//! use claimlab::prelude::*;
//!
//! # fn main() -> Result<(), claimlab::Error> {
//! # let folder = tempfile::tempdir().map_err(|e| claimlab::Error::io("temporary folder", &e))?;
//! let lab = Lab::at(folder.path())?;
//! let sample = lab.sample()?;
//! assert!(sample.questions().height() >= 60);
//! # Ok(())
//! # }
//! ```
//!
//! The rooms, from the bottom up, are listed in `ARCHITECTURE.md`; [`prelude`] lists what a notebook cell needs.

pub mod analysis;
pub mod calibration;
pub mod cell;
pub mod claims;
pub mod dataset;
pub mod error;
pub mod figure;
pub mod generation;
pub mod judging;
pub mod lab;
pub mod metrics;
pub mod model;
pub mod prelude;
pub mod retrieval;
pub mod signal;
pub mod study;
pub mod table;
pub mod text;

pub use error::{Error, ErrorKind, Result};
pub use polars;
