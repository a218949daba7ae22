//! Whole experiments: systems on a benchmark, from questions to scores; a checker against people's labels.

mod ablation;
mod consistency;
mod evaluation;
mod opened;
mod recall_at_k;
mod rescore;
mod rq2;
mod rq2_errors;
mod sensitivity;
mod table_2;
mod table_3;

pub use ablation::{Ablated, Ablation, Plan};
pub use evaluation::{Evaluation, Protocol, System};
pub use rescore::rescore;
pub use rq2::{CheckerReport, human_labels};
pub use sensitivity::{ErrorRates, error_sensitivity};
pub use table_2::table_2;
pub use table_3::table_3;
