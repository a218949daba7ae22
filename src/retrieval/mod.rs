//! Retrieval: from a question to its best chunks.
//!
//! A [`Retriever`] is a recipe: an engine for each act ([`Bm25`] on tantivy, [`Dense`] embeddings, an OpenSearch
//! cluster), and what is done with the results (fusion, reranking, narrowing). All of them stand behind the seam
//! [`Retrieve`].

mod acts;
mod analyzer;
mod bm25;
mod dense;
mod fusion;
mod narrow;
#[cfg(feature = "remote")]
pub mod opensearch;
mod recipe;
mod rerank;
mod retriever;
pub mod runs;
mod seam;
mod topk;

pub use analyzer::Analyzer;
pub use bm25::Bm25;
pub use dense::{Dense, Precision};
pub use recipe::Recipe;
pub use retriever::Retriever;
pub use seam::{Found, Passage, Question, Retrieve, TermScore};
