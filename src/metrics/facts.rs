//! What the label matrices say of each claim and chunk, in three-valued logic.
//!
//! Labels are bytes, and a claim's row of chunks becomes two bit masks: entailed, and unknown. An OR over ten chunks is
//! then one comparison.

use super::claims::{Mode, Outcome, Reason};
use super::matrix::LabelMatrices;
use super::metric::Metric;
use super::truth::{Truth, and, not};
use crate::table::{Direction, Label};

/// A verdict as a byte; every byte that is none of the three labels is unknown.
pub(super) const UNKNOWN: u8 = 0;

/// The byte of a verdict.
pub(super) fn code(label: Option<Label>) -> u8 {
    match label {
        None => UNKNOWN,
        Some(Label::Entailment) => 1,
        Some(Label::Neutral) => 2,
        Some(Label::Contradiction) => 3,
    }
}

/// The verdict of a byte.
pub(super) fn label(code: u8) -> Option<Label> {
    match code {
        1 => Some(Label::Entailment),
        2 => Some(Label::Neutral),
        3 => Some(Label::Contradiction),
        _ => None,
    }
}

fn entailed(code: u8) -> Truth {
    label(code).map(Label::is_entailment)
}

/// The four matrices as bytes, row after row.
#[derive(Debug, Default)]
pub(super) struct Labels {
    response_vs_reference: Vec<u8>,
    reference_vs_response: Vec<u8>,
    response_vs_chunks: Vec<u8>,
    reference_vs_chunks: Vec<u8>,
    n_chunks: usize,
}

impl Labels {
    /// Takes the place of what was read before, in the same memory.
    pub fn read(&mut self, matrices: &LabelMatrices) {
        let list = |into: &mut Vec<u8>, labels: &[Option<Label>]| {
            into.clear();
            into.extend(labels.iter().copied().map(code));
        };
        let grid = |into: &mut Vec<u8>, rows: &[Vec<Option<Label>>]| {
            into.clear();
            rows.iter().for_each(|row| into.extend(row.iter().copied().map(code)));
        };
        list(&mut self.response_vs_reference, &matrices.response_vs_reference);
        list(&mut self.reference_vs_response, &matrices.reference_vs_response);
        grid(&mut self.response_vs_chunks, &matrices.response_vs_chunks);
        grid(&mut self.reference_vs_chunks, &matrices.reference_vs_chunks);
        self.n_chunks = matrices.n_chunks;
    }

    pub fn view(&self) -> View<'_> {
        View {
            response_vs_reference: &self.response_vs_reference,
            reference_vs_response: &self.reference_vs_response,
            response_vs_chunks: &self.response_vs_chunks,
            reference_vs_chunks: &self.reference_vs_chunks,
            n_chunks: self.n_chunks,
        }
    }
}

/// The same, borrowed. The lengths must fit: one row of `n_chunks` a claim in the last two.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub response_vs_reference: &'a [u8],
    pub reference_vs_response: &'a [u8],
    pub response_vs_chunks: &'a [u8],
    pub reference_vs_chunks: &'a [u8],
    pub n_chunks: usize,
}

impl View<'_> {
    /// The matrices as the public type has them.
    pub fn to_matrices(self) -> LabelMatrices {
        let list = |codes: &[u8]| codes.iter().copied().map(label).collect::<Vec<_>>();
        let grid = |codes: &[u8], claims: usize| {
            (0..claims).map(|row| list(&codes[row * self.n_chunks..(row + 1) * self.n_chunks])).collect()
        };
        let (n_response, n_reference) = (self.response_vs_reference.len(), self.reference_vs_response.len());
        LabelMatrices {
            response_vs_reference: list(self.response_vs_reference),
            reference_vs_response: list(self.reference_vs_response),
            response_vs_chunks: grid(self.response_vs_chunks, n_response),
            reference_vs_chunks: grid(self.reference_vs_chunks, n_reference),
            n_response_claims: n_response,
            n_reference_claims: n_reference,
            n_chunks: self.n_chunks,
        }
    }
}

/// Chunks as bits: known to hold, and unknown.
#[derive(Debug, Clone, Copy, Default)]
struct Mask {
    yes: u64,
    unknown: u64,
}

/// The masks of a claim's row, 64 chunks each.
fn masks(row: &[u8], into: &mut [Mask]) {
    for (word, codes) in into.iter_mut().zip(row.chunks(64)) {
        *word = Mask::default();
        for (bit, code) in codes.iter().enumerate() {
            word.yes |= u64::from(*code == 1) << bit;
            word.unknown |= u64::from(!(1..=3).contains(code)) << bit;
        }
    }
}

/// An OR of ANDs over all chunks: does any hold of both?
fn any_both(one: &[Mask], other: impl Iterator<Item = Mask>) -> Truth {
    let mut possible = 0;
    for (one, other) in one.iter().zip(other) {
        if one.yes & other.yes != 0 {
            return Some(true);
        }
        possible |= (one.yes | one.unknown) & (other.yes | other.unknown);
    }
    if possible == 0 { Some(false) } else { None }
}

/// What the matrices say of each claim and chunk. One is read into for answer after answer, so that nothing is allocated
/// anew.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub n_chunks: usize,
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
    /// The same as bits, 64 chunks each.
    relevant_words: Vec<Mask>,
    /// The row of chunks of the claim at hand.
    row: Vec<Mask>,
    /// Of each direction: did any check fail?
    failed: [bool; 5],
}

/// Fills a list anew.
fn set(list: &mut Vec<Truth>, values: impl Iterator<Item = Truth>) {
    list.clear();
    list.extend(values);
}

/// Whether any of these checks failed.
fn any_failed(codes: &[u8]) -> bool {
    // Without a way out halfway, so that many bytes are compared at a time.
    codes.iter().fold(false, |any, code| any | !(1..=3).contains(code))
}

impl Facts {
    /// Takes the place of what was read before.
    pub fn read(&mut self, labels: &View<'_>, mode: Mode) {
        let k = labels.n_chunks;
        let words = k.div_ceil(64);
        let every = |word: usize| if (word + 1) * 64 <= k { u64::MAX } else { (1 << (k - word * 64)) - 1 };
        let all = || (0..words).map(|word| Mask { yes: every(word), unknown: 0 });
        let Self { correct, faithful, from_relevant, from_irrelevant, stated, recalled, relevant, .. } = self;
        let (row, relevant_words) = (&mut self.row, &mut self.relevant_words);
        self.n_chunks = k;
        for masks in [&mut *row, &mut *relevant_words] {
            masks.clear();
            masks.resize(words, Mask::default());
        }

        recalled.clear();
        for claim in 0..labels.reference_vs_response.len() {
            masks(&labels.reference_vs_chunks[claim * k..(claim + 1) * k], row);
            recalled.push(any_both(row, all()));
            for (sum, word) in relevant_words.iter_mut().zip(&*row) {
                sum.yes |= word.yes;
                sum.unknown |= word.unknown;
            }
        }
        relevant_words.iter_mut().for_each(|word| word.unknown &= !word.yes);

        let n_response = labels.response_vs_reference.len();
        [&mut *faithful, &mut *from_relevant, &mut *from_irrelevant].into_iter().for_each(Vec::clear);
        for claim in 0..n_response {
            masks(&labels.response_vs_chunks[claim * k..(claim + 1) * k], row);
            faithful.push(any_both(row, all()));
            let in_relevant = any_both(row, relevant_words.iter().copied());
            let irrelevant = relevant_words
                .iter()
                .enumerate()
                .map(|(word, mask)| Mask { yes: every(word) & !mask.yes & !mask.unknown, unknown: mask.unknown });
            let in_irrelevant = any_both(row, irrelevant);
            from_relevant.push(in_relevant);
            from_irrelevant.push(and(in_irrelevant, not(in_relevant)));
        }
        // A response without claims states no reference claim, whatever a checker makes of its text.
        let says_nothing = mode == Mode::Strict && n_response == 0;
        let stated_claim = |code: &u8| if says_nothing { Some(false) } else { entailed(*code) };
        let relevant_chunk = |chunk: usize| {
            let (mask, bit) = (relevant_words[chunk / 64], 1 << (chunk % 64));
            if mask.yes & bit != 0 {
                Some(true)
            } else if mask.unknown & bit != 0 {
                None
            } else {
                Some(false)
            }
        };
        set(correct, labels.response_vs_reference.iter().copied().map(entailed));
        set(stated, labels.reference_vs_response.iter().map(stated_claim));
        set(relevant, (0..k).map(relevant_chunk));
        for direction in Direction::OF_METRICS {
            let codes = match direction {
                Direction::ResponseVsReference => labels.response_vs_reference,
                Direction::ReferenceVsResponse => labels.reference_vs_response,
                Direction::ResponseVsChunks => labels.response_vs_chunks,
                Direction::ReferenceVsChunks => labels.reference_vs_chunks,
                Direction::ClaimVsContextUnit => &[],
            };
            self.failed[direction as usize] = any_failed(codes);
        }
    }

    /// Whether any check of this direction failed.
    pub fn has_failed(&self, direction: Direction) -> bool {
        self.failed[direction as usize]
    }

    pub fn outcome(&self, metric: Metric) -> Outcome {
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
            Metric::Precision => share(self.correct.iter().copied()),
            Metric::Recall => share(self.stated.iter().copied()),
            Metric::F1 => f1(share(self.correct.iter().copied()), share(self.stated.iter().copied())),
            Metric::ClaimRecall => share(self.recalled.iter().copied()),
            Metric::ContextPrecision => share(self.relevant.iter().copied()),
            Metric::ContextUtilization => utilization(&self.recalled, &self.stated),
            Metric::NoiseSensitivityInRelevant => self.incorrect_and(&self.from_relevant, false),
            Metric::NoiseSensitivityInIrrelevant => self.incorrect_and(&self.from_irrelevant, false),
            Metric::Hallucination => self.incorrect_and(&self.faithful, true),
            Metric::SelfKnowledge => {
                share(self.correct.iter().zip(&self.faithful).map(|(correct, faithful)| and(*correct, not(*faithful))))
            }
            Metric::Faithfulness => share(self.faithful.iter().copied()),
        }
    }

    /// The share of response claims that are incorrect and of which this holds (or, negated, does not).
    fn incorrect_and(&self, holds: &[Truth], negated: bool) -> Outcome {
        let pick = |holds: Truth| if negated { not(holds) } else { holds };
        share(self.correct.iter().zip(holds).map(|(correct, holds)| and(not(*correct), pick(*holds))))
    }
}

/// The share of what is true, over at least one; one unknown leaves it unknown.
fn share(truths: impl ExactSizeIterator<Item = Truth>) -> Outcome {
    let n = truths.len();
    let mut count = 0_usize;
    for truth in truths {
        match truth {
            Some(holds) => count += usize::from(holds),
            None => return Outcome::Failed,
        }
    }
    Outcome::Value(count as f64 / n as f64)
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
