//! Whole experiments: systems on a benchmark, from questions to scores.

mod ablation;
mod evaluation;
mod opened;
mod rescore;

pub use ablation::{Ablated, Ablation, Plan};
pub use evaluation::{Evaluation, System};
pub use rescore::rescore;
