//! Does a split say exactly what its parent said?

use std::collections::BTreeSet;

use super::facts::{Fact, Facts};
use super::lint;
use crate::text::{Language, content_words};

/// What is wrong with a split; nothing, if [`SplitCheck::covers`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SplitCheck {
    /// Content words of the parent that no child has (stemmed).
    pub missing_words: Vec<String>,
    /// Content words of a child that the parent has not.
    pub added_words: Vec<String>,
    /// What the parent fixes and no child does.
    pub removed: Vec<Fact>,
    /// What a child fixes and the parent does not.
    pub added: Vec<Fact>,
    /// Why the children are no proper parts: fewer than two, empty, repeated, one as long as the parent, still compound.
    pub shape: Vec<String>,
}

impl SplitCheck {
    /// Whether the children together say what the parent says, as far as words and facts show. Word order and
    /// scope are not understood: *liable for damage only if* split before *only if* would pass if each child repeats
    /// the words, which is why a person signs off every split.
    #[must_use]
    pub fn covers(&self) -> bool {
        *self == Self::default()
    }

    /// What is wrong, in words.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let facts = |list: &[Fact]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let mut problems = self.shape.clone();
        for (what, list) in [
            ("no part says", self.missing_words.join(", ")),
            ("the parent does not say", self.added_words.join(", ")),
            ("lost", facts(&self.removed)),
            ("new", facts(&self.added)),
        ] {
            if !list.is_empty() {
                problems.push(format!("{what}: {list}"));
            }
        }
        problems
    }

    /// Shows what is wrong, or that nothing is.
    pub fn evcxr_display(&self) {
        let plain = if self.covers() { "the parts cover their parent".to_owned() } else { self.problems().join("\n") };
        crate::signal::display(None, None, &plain);
    }
}

/// Compares a compound criterion with the parts it was split into.
///
/// ```
/// use claimlab::judging::check_split;
/// let parent = "States the deposit of 500 euros and names the guarantor Ada Lindqvist.";
/// let good = ["States the deposit of 500 euros.", "Names the guarantor Ada Lindqvist."].map(str::to_owned);
/// assert!(check_split(parent, &good).covers());
/// let bad = ["States the deposit.", "Names the guarantor Ada Lindqvist."].map(str::to_owned);
/// assert!(check_split(parent, &bad).removed.iter().any(|fact| fact.value == "500"));
/// ```
#[must_use]
pub fn check_split(parent: &str, children: &[String]) -> SplitCheck {
    let language = Language::detect(parent);
    let stems = |text: &str| content_words(text, language).into_iter().collect::<BTreeSet<String>>();
    let whole = stems(parent);
    let parts: Vec<BTreeSet<String>> = children.iter().map(|child| stems(child)).collect();
    let together: BTreeSet<String> = parts.iter().flatten().cloned().collect();
    let facts = children.iter().fold(Facts::default(), |facts, child| facts.union(&Facts::read(child)));
    let (removed, added) = Facts::read(parent).difference(&facts);
    let mut shape = Vec::new();
    if children.len() < 2 {
        shape.push("a split has at least two parts".to_owned());
    }
    for (place, child) in children.iter().enumerate() {
        let number = place + 1;
        if child.trim().is_empty() {
            shape.push(format!("part {number} is empty"));
        } else if parts[place].is_superset(&whole) {
            shape.push(format!("part {number} says all that the parent says"));
        } else if parts[..place].contains(&parts[place]) {
            shape.push(format!("part {number} repeats another"));
        } else if lint::is_likely_compound(child) {
            shape.push(format!("part {number} still asks for several things"));
        }
    }
    SplitCheck {
        missing_words: whole.difference(&together).cloned().collect(),
        added_words: together.difference(&whole).cloned().collect(),
        removed,
        added,
        shape,
    }
}

#[cfg(test)]
mod tests {
    use super::check_split;

    fn check(parent: &str, children: &[&str]) -> super::SplitCheck {
        check_split(parent, &children.iter().map(|child| (*child).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_split_that_loses_or_adds_anything_does_not_cover() {
        let parent = "Identifies the buyer Norvik Ltd and states the price of 40,000 euros.";
        assert!(check(parent, &["Identifies the buyer Norvik Ltd.", "States the price of 40,000 euros."]).covers());
        for (children, problem) in [
            (&["Identifies the buyer.", "States the price of 40,000 euros."][..], "lost: entity norvik ltd"),
            (&["Identifies the buyer Norvik Ltd.", "States the price of 45,000 euros."], "new: number 45000"),
            (&["Identifies the buyer Norvik Ltd."], "at least two"),
            (&["Identifies the buyer Norvik Ltd.", parent], "says all"),
            (&["Identifies the buyer Norvik Ltd.", "States the price of 40,000 euros.", ""], "part 3 is empty"),
            (
                &["Identifies the buyer Norvik Ltd.", "States the full price of 40,000 euros with interest."],
                "the parent does not say",
            ),
        ] {
            let found = check(parent, children);
            assert!(!found.covers());
            assert!(found.problems().join("; ").contains(problem), "{problem}: {:?}", found.problems());
        }
    }

    #[test]
    fn a_french_split_covers() {
        let parent = "Mentionne le délai de trente jours et cite l'article 12 du Code.";
        let found = check(parent, &["Mentionne le délai de 30 jours.", "Cite l'article 12 du Code."]);
        // Thirty in words became a number in digits: the same fact, other words.
        assert!(found.removed.is_empty() && found.added.is_empty(), "{:?}", found.problems());
        assert!(check(parent, &["Mentionne le délai de trente jours.", "Cite l'article 12 du Code."]).covers());
    }
}
