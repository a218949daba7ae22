//! Benchmarks and corpora: what is asked, and the acts that answer.

mod act;
mod benchmark;
mod bytes;
mod card;
pub mod checking_sets;
mod chunk;
mod claimrag;
mod corpus;
mod fetch;
mod frames;
mod json;
pub mod published;
pub mod ragchecker;
mod refchecker;
mod statistics;
mod unique;

pub use act::{Kind, Provision};
pub use benchmark::Benchmark;
pub use chunk::{Chunking, Relevance};
pub use corpus::{Corpus, stream_html};
pub use fetch::ActSource;
pub use frames::{ColumnMap, read_frame};
pub use ragchecker::RagCheckerFile;
pub use refchecker::read_refchecker;
pub use statistics::Statistics;
