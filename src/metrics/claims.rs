//! From label matrices to the eleven outcomes.

use std::fmt;

use rayon::prelude::*;

use super::facts::{Facts, Labels, View};
use super::matrix::{LabelMatrices, ShapeError};
use super::metric::Metric;
use crate::error::{Error, Result};

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
    score_with(&mut Scratch::default(), labels, mode)
}

/// The memory that one answer after another is scored in.
type Scratch = (Labels, Facts);

fn score_with(
    (bytes, facts): &mut Scratch,
    labels: &LabelMatrices,
    mode: Mode,
) -> Result<[(Metric, Outcome); 11], ShapeError> {
    labels.validate()?;
    bytes.read(labels);
    Ok(score_labels(&bytes.view(), facts, mode))
}

/// [`score`] for many answers, on all cores, in the same order.
///
/// # Errors
/// The first misshapen one's place and what is wrong with it.
pub fn score_all(labels: &[LabelMatrices], mode: Mode) -> Result<Vec<[(Metric, Outcome); 11]>> {
    let one = |scratch: &mut Scratch, (place, labels): (usize, &LabelMatrices)| {
        score_with(scratch, labels, mode).map_err(|error| Error::input(format!("answer {place} (from 0): {error}")))
    };
    labels.par_iter().enumerate().map_init(Scratch::default, one).collect()
}

/// The eleven metrics of matrices whose shape is known to be right.
pub(super) fn score_labels(labels: &View<'_>, facts: &mut Facts, mode: Mode) -> [(Metric, Outcome); 11] {
    facts.read(labels, mode);
    Metric::ALL.map(|metric| (metric, outcome(facts, metric, mode)))
}

impl Metric {
    /// This metric of one answer; [`score`] computes all eleven at once.
    pub fn of(self, labels: &LabelMatrices, mode: Mode) -> Result<Outcome, ShapeError> {
        labels.validate()?;
        let (mut bytes, mut facts) = Scratch::default();
        bytes.read(labels);
        facts.read(&bytes.view(), mode);
        Ok(outcome(&facts, self, mode))
    }
}

fn outcome(facts: &Facts, metric: Metric, mode: Mode) -> Outcome {
    if mode == Mode::Strict {
        return facts.outcome(metric);
    }
    if metric.needs().iter().any(|&direction| facts.has_failed(direction)) {
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
