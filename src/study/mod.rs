//! Whole experiments: systems on a benchmark, from questions to scores.

mod consistency;
mod evaluation;
mod opened;
mod recall_at_k;
mod rescore;
mod table_2;
mod table_3;

pub use evaluation::{Evaluation, System};
pub use rescore::rescore;
pub use table_2::table_2;
pub use table_3::table_3;
