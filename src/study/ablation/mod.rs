//! Ablations of retrieval: every retriever with every lexical setting over every chunking at every cut-off, on one
//! benchmark, paired by question.

mod plan;
mod result;
mod run;

pub use plan::{Ablation, Plan};
pub use result::Ablated;
