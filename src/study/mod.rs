//! Whole experiments: systems on a benchmark, from questions to scores; a checker against people's labels.

mod evaluation;
mod opened;
mod rescore;
mod rq2;
mod rq2_errors;
mod sensitivity;

pub use evaluation::{Evaluation, Protocol, System};
pub use rescore::rescore;
pub use rq2::{CheckerReport, human_labels};
pub use sensitivity::{ErrorRates, error_sensitivity};
