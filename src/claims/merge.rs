//! One label out of several.

use crate::table::Label;

/// How the labels of a claim against several references (or several parts of one) become one.
///
/// A failed check is unknown. The result is a label when every way of filling in the unknown ones gives that label, and
/// `None` otherwise; over no labels at all it is `None`.
///
/// ```
/// use claimlab::claims::Merge;
/// use claimlab::table::Label::{Contradiction, Entailment, Neutral};
///
/// let labels = [Some(Neutral), Some(Contradiction), Some(Entailment), None];
/// assert_eq!(Merge::AnyEntailment.of(&labels), Some(Entailment)); // whatever the failed one is
/// assert_eq!(Merge::Strict.of(&labels), Some(Contradiction));
/// assert_eq!(Merge::Majority.of(&labels), None); // one each, one unknown
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Merge {
    /// Entailment if any reference entails; else contradiction if any contradicts; else neutral. RAGChecker's rule
    /// for passages: one source suffices, and hides what contradicts the claim elsewhere.
    AnyEntailment,
    /// Contradiction if any reference contradicts; else neutral if any is neutral; else entailment. RefChecker's
    /// `strict`: all sources must agree.
    Strict,
    /// The label that most references give; a tie has none. RefChecker's `major`, without its preference for what
    /// comes first.
    Majority,
}

impl Merge {
    /// The name in tables: `any_entailment`, `strict` or `majority`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AnyEntailment => "any_entailment",
            Self::Strict => "strict",
            Self::Majority => "majority",
        }
    }

    /// The label that these come to.
    #[must_use]
    pub fn of(self, labels: &[Option<Label>]) -> Option<Label> {
        if labels.is_empty() {
            return None;
        }
        let unknown = labels.iter().filter(|label| label.is_none()).count();
        let count = |wanted: Label| labels.iter().filter(|label| **label == Some(wanted)).count();
        let ranked = |order: [Label; 3]| {
            let first = order.into_iter().find(|label| count(*label) > 0);
            if unknown == 0 || first == Some(order[0]) { first } else { None }
        };
        match self {
            Self::AnyEntailment => ranked([Label::Entailment, Label::Contradiction, Label::Neutral]),
            Self::Strict => ranked([Label::Contradiction, Label::Neutral, Label::Entailment]),
            Self::Majority => {
                let ahead = |label: &Label| {
                    Label::ALL.iter().all(|other| other == label || count(*label) > count(*other) + unknown)
                };
                Label::ALL.into_iter().find(ahead)
            }
        }
    }

    /// RefChecker's `soft`: the share of entailment, neutral and contradiction among the checks that did not fail.
    /// `None` when there are none.
    ///
    /// ```
    /// use claimlab::claims::Merge;
    /// use claimlab::table::Label::{Entailment, Neutral};
    /// assert_eq!(Merge::shares(&[Some(Entailment), Some(Neutral), None]), Some([0.5, 0.5, 0.0]));
    /// ```
    #[must_use]
    pub fn shares(labels: &[Option<Label>]) -> Option<[f64; 3]> {
        let known: Vec<Label> = labels.iter().copied().flatten().collect();
        let share = |wanted: Label| known.iter().filter(|label| **label == wanted).count() as f64 / known.len() as f64;
        (!known.is_empty()).then(|| Label::ALL.map(share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Label::{Contradiction, Entailment, Neutral};

    #[test]
    fn an_unknown_that_could_change_the_label_leaves_none() {
        assert_eq!(Merge::AnyEntailment.of(&[Some(Neutral), None]), None);
        assert_eq!(Merge::AnyEntailment.of(&[Some(Entailment), None]), Some(Entailment));
        assert_eq!(Merge::Strict.of(&[Some(Contradiction), None]), Some(Contradiction));
        assert_eq!(Merge::Strict.of(&[Some(Entailment), None]), None);
        assert_eq!(Merge::Majority.of(&[Some(Neutral), Some(Neutral), None]), Some(Neutral));
        assert_eq!(Merge::Majority.of(&[Some(Neutral), Some(Entailment), Some(Neutral), None]), None);
        assert_eq!(Merge::Strict.of(&[None]), None);
    }
}
