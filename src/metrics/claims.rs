//! From label matrices to the eleven outcomes.

use std::fmt;

use super::matrix::{LabelMatrices, ShapeError};
use super::metric::Metric;
use super::truth::{Truth, and, any, entailed, not};
use crate::table::Label;

/// What a metric is where its formula has no value, and how a failed check is treated.
///
/// ```
/// use claimlab::metrics::{LabelMatrices, Metric, Mode, Outcome, Reason};
///
/// // One wrong claim, and the retriever found nothing.
/// let labels = LabelMatrices::from_letters("n", "n", "", "")?;
/// let outcome = |metric: Metric, mode| metric.of(&labels, mode);
/// assert_eq!(outcome(Metric::Hallucination, Mode::Strict)?, Outcome::Value(1.0));
/// assert_eq!(outcome(Metric::Hallucination, Mode::RagChecker)?, Outcome::Value(0.0)); // as the original
/// assert_eq!(outcome(Metric::ContextPrecision, Mode::Strict)?, Outcome::Undefined(Reason::NothingRetrieved));
/// assert_eq!(outcome(Metric::ContextPrecision, Mode::RagChecker)?, Outcome::Value(0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// No value where there is none: 0/0 is [`Outcome::Undefined`], with its reason.
    ///
    /// Failed checks follow three-valued logic: a metric is a value (or undefined) exactly when every way of
    /// filling in the failed checks would give that same value; otherwise it is [`Outcome::Failed`].
    ///
    /// Where two reasons apply, the first of these stands: no response claims, no reference claims, nothing
    /// retrieved, nothing recalled. (Recall with no claims on either side is undefined for want of reference
    /// claims.)
    #[default]
    Strict,
    /// Bit for bit what RAGChecker v0.1.9 computes: whatever has no value is 0, and when nothing was retrieved
    /// hallucination and self-knowledge are 0 too.
    ///
    /// RAGChecker knows no failed check. Here one makes [`Outcome::Failed`] every metric that
    /// [needs](Metric::needs) its matrix.
    RagChecker,
}

impl Mode {
    /// The name that settings and tables use: `strict` or `ragchecker`.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Strict => "strict",
            Mode::RagChecker => "ragchecker",
        }
    }
}

/// What became of one metric for one answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// A value in 0..=1; never NaN.
    Value(f64),
    /// There is no value, and there would be none had every check succeeded.
    Undefined(Reason),
    /// The value hinges on a check that failed.
    Failed,
}

impl Outcome {
    /// The value, if there is one.
    pub fn value(self) -> Option<f64> {
        match self {
            Outcome::Value(value) => Some(value),
            Outcome::Undefined(_) | Outcome::Failed => None,
        }
    }

    /// Why there is no value: the name of the [`Reason`], or `failed`.
    ///
    /// ```
    /// use claimlab::metrics::{Outcome, Reason};
    ///
    /// assert_eq!(Outcome::Undefined(Reason::NothingRecalled).undefined(), Some("nothing_recalled"));
    /// assert_eq!(Outcome::Failed.undefined(), Some("failed"));
    /// assert_eq!(Outcome::Value(0.5).undefined(), None);
    /// ```
    pub fn undefined(self) -> Option<&'static str> {
        match self {
            Outcome::Value(_) => None,
            Outcome::Undefined(reason) => Some(reason.as_str()),
            Outcome::Failed => Some("failed"),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Value(value) => write!(f, "{value:.3}"),
            Outcome::Undefined(reason) => write!(f, "undefined ({reason})"),
            Outcome::Failed => f.write_str("failed"),
        }
    }
}

/// Why a metric has no value although every check succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// The response makes no claim: an abstention, say.
    NoResponseClaims,
    /// The reference answer makes no claim.
    NoReferenceClaims,
    /// The retriever returned no chunk.
    NothingRetrieved,
    /// No reference claim is entailed by any retrieved chunk.
    NothingRecalled,
}

impl Reason {
    /// The name that tables use, such as `no_response_claims`.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::NoResponseClaims => "no_response_claims",
            Reason::NoReferenceClaims => "no_reference_claims",
            Reason::NothingRetrieved => "nothing_retrieved",
            Reason::NothingRecalled => "nothing_recalled",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// All eleven metrics of one answer, in the order of [`Metric::ALL`].
///
/// Fails only when the matrices do not fit together; see [`LabelMatrices::validate`]. The module documentation
/// works an example; here one check has failed, and eight metrics do not hinge on it:
///
/// ```
/// use claimlab::metrics::{LabelMatrices, Metric, Mode, Outcome, score};
///
/// // Is response claim 4 in the irrelevant chunk 2? Unknown: it is a hallucination or noise.
/// let labels = LabelMatrices::from_letters("eencn", "ene", "en nn en n? nn", "en en nn")?;
/// let scores = score(&labels, Mode::Strict)?;
/// let failed: Vec<Metric> = scores.iter().filter(|(_, o)| *o == Outcome::Failed).map(|(m, _)| *m).collect();
/// assert_eq!(failed, [Metric::NoiseSensitivityInIrrelevant, Metric::Hallucination, Metric::Faithfulness]);
/// // It cannot be noise from a relevant chunk, and self-knowledge is for correct claims.
/// assert_eq!(scores[6], (Metric::NoiseSensitivityInRelevant, Outcome::Value(0.2)));
/// assert_eq!(scores[9], (Metric::SelfKnowledge, Outcome::Value(0.2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn score(labels: &LabelMatrices, mode: Mode) -> Result<[(Metric, Outcome); 11], ShapeError> {
    labels.validate()?;
    let facts = Facts::new(labels, mode);
    Ok(Metric::ALL.map(|metric| (metric, outcome(labels, &facts, metric, mode))))
}

impl Metric {
    /// This metric of one answer; [`score`] computes all eleven at once.
    pub fn of(self, labels: &LabelMatrices, mode: Mode) -> Result<Outcome, ShapeError> {
        labels.validate()?;
        Ok(outcome(labels, &Facts::new(labels, mode), self, mode))
    }
}

fn outcome(labels: &LabelMatrices, facts: &Facts, metric: Metric, mode: Mode) -> Outcome {
    if mode == Mode::Strict {
        return facts.outcome(metric);
    }
    if metric.needs().iter().any(|&matrix| labels.has_unknown(matrix)) {
        return Outcome::Failed;
    }
    if facts.n_chunks == 0 && matches!(metric, Metric::Hallucination | Metric::SelfKnowledge) {
        return Outcome::Value(0.0);
    }
    match facts.outcome(metric) {
        Outcome::Undefined(_) => Outcome::Value(0.0),
        outcome => outcome,
    }
}

/// What the matrices say of each claim and chunk.
struct Facts {
    n_chunks: usize,
    /// Of each response claim: entailed by the reference answer?
    correct: Vec<Truth>,
    /// Of each response claim: entailed by some chunk?
    faithful: Vec<Truth>,
    /// Of each response claim: entailed by some relevant chunk?
    from_relevant: Vec<Truth>,
    /// Of each response claim: entailed by some irrelevant chunk, and by no relevant one?
    from_irrelevant: Vec<Truth>,
    /// Of each reference claim: entailed by the response?
    stated: Vec<Truth>,
    /// Of each reference claim: entailed by some chunk?
    recalled: Vec<Truth>,
    /// Of each chunk: does it entail some reference claim?
    relevant: Vec<Truth>,
}

impl Facts {
    fn new(m: &LabelMatrices, mode: Mode) -> Facts {
        let relevant: Vec<Truth> =
            (0..m.n_chunks).map(|k| any(m.reference_vs_chunks.iter().map(|row| entailed(row[k])))).collect();
        let entailed_in = |row: &[Option<Label>]| any(row.iter().copied().map(entailed));
        let in_relevant =
            |row: &[Option<Label>]| any(row.iter().zip(&relevant).map(|(&label, &r)| and(entailed(label), r)));
        let in_irrelevant =
            |row: &[Option<Label>]| any(row.iter().zip(&relevant).map(|(&label, &r)| and(entailed(label), not(r))));
        // A response without claims states no reference claim, whatever a checker makes of its text.
        let says_nothing = mode == Mode::Strict && m.n_response_claims == 0;
        let stated = |label| if says_nothing { Some(false) } else { entailed(label) };
        Facts {
            n_chunks: m.n_chunks,
            correct: m.response_vs_reference.iter().copied().map(entailed).collect(),
            faithful: m.response_vs_chunks.iter().map(|row| entailed_in(row)).collect(),
            from_relevant: m.response_vs_chunks.iter().map(|row| in_relevant(row)).collect(),
            from_irrelevant: (m.response_vs_chunks.iter())
                .map(|row| and(in_irrelevant(row), not(in_relevant(row))))
                .collect(),
            stated: m.reference_vs_response.iter().copied().map(stated).collect(),
            recalled: m.reference_vs_chunks.iter().map(|row| entailed_in(row)).collect(),
            relevant,
        }
    }

    fn outcome(&self, metric: Metric) -> Outcome {
        let no_response = (self.correct.is_empty(), Reason::NoResponseClaims);
        let no_reference = (self.stated.is_empty(), Reason::NoReferenceClaims);
        let no_chunks = (self.n_chunks == 0, Reason::NothingRetrieved);
        let preconditions: &[(bool, Reason)] = match metric {
            Metric::Precision | Metric::Hallucination | Metric::SelfKnowledge | Metric::Faithfulness => &[no_response],
            Metric::Recall | Metric::ClaimRecall => &[no_reference],
            Metric::F1 | Metric::NoiseSensitivityInRelevant | Metric::NoiseSensitivityInIrrelevant => {
                &[no_response, no_reference]
            }
            Metric::ContextPrecision | Metric::ContextUtilization => &[no_reference, no_chunks],
        };
        if let Some(&(_, reason)) = preconditions.iter().find(|(fails, _)| *fails) {
            return Outcome::Undefined(reason);
        }
        match metric {
            Metric::Precision => share(&self.correct),
            Metric::Recall => share(&self.stated),
            Metric::F1 => f1(share(&self.correct), share(&self.stated)),
            Metric::ClaimRecall => share(&self.recalled),
            Metric::ContextPrecision => share(&self.relevant),
            Metric::ContextUtilization => utilization(&self.recalled, &self.stated),
            Metric::NoiseSensitivityInRelevant => self.incorrect_and(|i| self.from_relevant[i]),
            Metric::NoiseSensitivityInIrrelevant => self.incorrect_and(|i| self.from_irrelevant[i]),
            Metric::Hallucination => self.incorrect_and(|i| not(self.faithful[i])),
            Metric::SelfKnowledge => self.share_of_claims(|i| and(self.correct[i], not(self.faithful[i]))),
            Metric::Faithfulness => share(&self.faithful),
        }
    }

    fn incorrect_and(&self, holds: impl Fn(usize) -> Truth) -> Outcome {
        self.share_of_claims(|i| and(not(self.correct[i]), holds(i)))
    }

    fn share_of_claims(&self, holds: impl Fn(usize) -> Truth) -> Outcome {
        share(&(0..self.correct.len()).map(holds).collect::<Vec<_>>())
    }
}

/// The share of what is true, over at least one; one unknown leaves it unknown.
fn share(truths: &[Truth]) -> Outcome {
    let mut count = 0_usize;
    for truth in truths {
        match truth {
            Some(holds) => count += usize::from(*holds),
            None => return Outcome::Failed,
        }
    }
    Outcome::Value(count as f64 / truths.len() as f64)
}

/// The harmonic mean, in RAGChecker's order of operations; 0 as soon as one of the two is known to be 0.
fn f1(precision: Outcome, recall: Outcome) -> Outcome {
    match (precision, recall) {
        (Outcome::Value(0.0), _) | (_, Outcome::Value(0.0)) => Outcome::Value(0.0),
        (Outcome::Value(p), Outcome::Value(r)) => Outcome::Value(2.0 * p * r / (p + r)),
        _ => Outcome::Failed,
    }
}

/// The share of recalled reference claims that the response states.
///
/// A claim that may or may not have been recalled leaves the share as it is only when all recalled claims agree
/// with it: all stated, or none.
fn utilization(recalled: &[Truth], stated: &[Truth]) -> Outcome {
    let (mut n_recalled, mut n_used) = (0_usize, 0_usize);
    let mut uncertain = Vec::new();
    for (&recalled, &stated) in recalled.iter().zip(stated) {
        match (recalled, stated) {
            (Some(false), _) => {}
            (Some(true), Some(stated)) => {
                n_recalled += 1;
                n_used += usize::from(stated);
            }
            (Some(true), None) => return Outcome::Failed,
            (None, stated) => uncertain.push(stated),
        }
    }
    if n_recalled == 0 {
        return if uncertain.is_empty() { Outcome::Undefined(Reason::NothingRecalled) } else { Outcome::Failed };
    }
    let unchanged = |stated: &Truth| match stated {
        Some(true) => n_used == n_recalled,
        Some(false) => n_used == 0,
        None => false,
    };
    if !uncertain.iter().all(unchanged) {
        return Outcome::Failed;
    }
    Outcome::Value(n_used as f64 / n_recalled as f64)
}
