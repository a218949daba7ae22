//! Judges against people: labels, screening, tuning without fooling oneself, escalation, reliability.

mod agreement;
mod compare;
mod counts;
mod disagreement;
mod escalation;
mod form;
mod intervals;
mod join;
mod labels;
mod leaderboard;
mod pareto;
mod pass_k;
mod quantile;
mod queue;
mod read_back;
mod reliability;
mod rule;
mod screening;
mod split;
mod study;
mod ways;

pub use agreement::Agreement;
pub use compare::compare;
pub use counts::{Counts, Statistic};
pub use disagreement::disagreements;
pub use escalation::committee;
pub use intervals::{Estimate, IntervalMethod, estimates};
pub use labels::LabelSet;
pub use pass_k::{MissingPolicy, pass_hat_k};
pub use queue::ReviewQueue;
pub use reliability::Reliability;
pub use rule::{Selection, SelectionRule};
pub use screening::{Screening, screen};
pub use split::Split;
pub use study::CalibrationStudy;
pub use ways::{WaysReport, compare_ways};
