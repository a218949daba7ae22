//! RAGChecker's eleven claim metrics for one answer to one question, and the measures of rankings
//! ([`score_ranking`]).
//!
//! [`LabelMatrices`] holds the verdicts of the four checking directions; [`score`] turns them into eleven
//! [`Outcome`]s; [`percent`] averages over questions as RAGChecker does. Formulas: Ru et al., *RAGChecker: A
//! Fine-grained Framework for Diagnosing Retrieval-Augmented Generation*, 2024 (arXiv:2408.08067), as its code
//! (v0.1.9) computes them. [`Mode`] says what happens where a formula is undefined.
//!
//! # A worked example
//!
//! Five response claims, three reference claims, two retrieved chunks. One letter is one verdict: `e`ntailment,
//! `n`eutral, `c`ontradiction, `?` for a failed check.
//!
//! | response claim | in the reference? | in chunk 1 | in chunk 2 | so it is |
//! |---|---|---|---|---|
//! | 1 | `e` | `e` | `n` | correct and faithful |
//! | 2 | `e` | `n` | `n` | self-knowledge |
//! | 3 | `n` | `e` | `n` | noise from a relevant chunk |
//! | 4 | `c` | `n` | `e` | noise from an irrelevant chunk |
//! | 5 | `n` | `n` | `n` | hallucination |
//!
//! | reference claim | in the response? | in chunk 1 | in chunk 2 | so it is |
//! |---|---|---|---|---|
//! | 1 | `e` | `e` | `n` | retrieved and used |
//! | 2 | `n` | `e` | `n` | retrieved but not used |
//! | 3 | `e` | `n` | `n` | not retrieved |
//!
//! Chunk 1 is *relevant*, since it entails a reference claim; chunk 2 is not.
//!
//! ```
//! use claimlab::metrics::{LabelMatrices, Mode, Outcome, score};
//!
//! let labels = LabelMatrices::from_letters("eencn", "ene", "en nn en ne nn", "en en nn")?;
//! let scores = score(&labels, Mode::Strict)?;
//! let text: Vec<String> = scores.iter().map(|(metric, outcome)| format!("{metric} {outcome}")).collect();
//! assert_eq!(text, [
//!     "precision 0.400", "recall 0.667", "f1 0.500",
//!     "claim_recall 0.667", "context_precision 0.500",
//!     "context_utilization 0.500",
//!     "noise_sensitivity_in_relevant 0.200", "noise_sensitivity_in_irrelevant 0.200",
//!     "hallucination 0.200", "self_knowledge 0.200", "faithfulness 0.600",
//! ]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Two identities
//!
//! Every response claim is faithful, self-knowledge or a hallucination; and every one is correct, noise of one
//! kind or a hallucination. So, whenever all terms are values,
//! `faithfulness + hallucination + self_knowledge = 1` and
//! `precision + noise_sensitivity_in_relevant + noise_sensitivity_in_irrelevant + hallucination = 1`.
//! In [`Mode::RagChecker`] the degenerate zeros break them: a sum below 100 % after averaging measures how many
//! questions were degenerate.

mod aggregate;
mod claims;
mod classification;
mod facts;
mod from_tables;
mod matrix;
mod metric;
mod overlap;
mod placed;
mod places;
mod ragchecker;
mod ranking;
mod ranking_truth;
mod texts;
mod truth;

pub use aggregate::{pairwise_sum, percent};
pub use claims::{Mode, Outcome, Reason, score, score_all};
pub use classification::{Agreement, ConfusionMatrix};
pub use from_tables::{matrices_of_run, score_run};
pub use matrix::{LabelMatrices, ShapeError};
pub use metric::{Group, Metric};
pub use overlap::{bleu, rouge_l, text_overlap};
pub use ragchecker::{RagCheckerLabels, ReadError};
pub use ranking::score_ranking;
pub use ranking_truth::Judgements;
