//! Benchmarks and corpora: what is asked, and the acts that answer.

mod benchmark;
pub mod checking_sets;
mod chunking;
mod corpus;
mod official_journal;
pub mod published;
pub mod ragchecker;
mod records;
mod statistics;

pub use benchmark::Benchmark;
pub use chunking::Chunking;
pub use corpus::{Corpus, Provision};
pub use ragchecker::RagCheckerFile;
