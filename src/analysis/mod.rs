//! Slices, intervals and tests: what the questions say about all questions like them.

mod bootstrap;
mod compare;
mod multiplicity;
pub(crate) mod normal;
mod paired;
mod prevalence;
mod proportion;
mod replicates;
mod resample;
mod summary;

pub use bootstrap::{Bootstrap, Interval, PairedDifference, cluster_bootstrap, paired_difference};
pub use multiplicity::{benjamini_hochberg, holm};
pub(crate) use normal::normal_quantile;
pub use paired::{SignFlip, mcnemar, sign_flip};
pub use prevalence::{Corrected, prediction_powered, rogan_gladen};
pub use proportion::{minimum_detectable_difference, wilson};
pub use summary::{FEW, summarize};
