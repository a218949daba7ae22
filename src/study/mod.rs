//! Whole experiments: systems on a benchmark, from questions to scores.

mod evaluation;
mod opened;
mod rescore;

pub use evaluation::{Evaluation, System};
pub use rescore::rescore;
