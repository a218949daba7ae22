//! Judges over any language model, and the checklists that they judge by: lint, rewrites, sign-offs.

mod evidence;
mod fact_rules;
mod facts;
mod judge;
pub mod lint;
mod loaders;
mod meta;
mod prompt;
mod proposal;
mod reply;
mod sign_off;
mod split_check;
mod verbs;

pub use evidence::stands_in;
pub use facts::{Fact, FactKind, Facts};
pub use judge::Judge;
pub use loaders::{evals_bench, llm_bar, preference_agreement, tau_bench};
pub use meta::{MetaReport, MetaVerifier};
pub use prompt::JudgePrompt;
pub use proposal::{ProposalKind, propose};
pub use sign_off::{Role, SignOffs};
pub use split_check::{SplitCheck, check_split};

pub use crate::table::JudgingSet;
