//! Slices and intervals: what the questions say about all questions like them.

mod bootstrap;
mod replicates;
mod summary;

pub use bootstrap::{Interval, PairedDifference, cluster_bootstrap, paired_difference};
pub use summary::summarize;
