//! Models that run in this process, on candle.

#[cfg(feature = "local")]
mod random_indexing;

#[cfg(feature = "local")]
pub use random_indexing::RandomIndexing;
