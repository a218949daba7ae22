//! The three-way decision.

use super::profile::{Profile, Quantity};
use crate::table::Label;
use crate::text::{Language, fold, sentences};

/// Share of the claim's content, weighted by word length, that the best passage must hold for entailment.
const ENTAILED: f64 = 0.72;
/// The share above which a differing quantity or negation is about the same thing.
const SAME_MATTER: f64 = 0.55;
/// How much less of the claim than the best passage another one may hold and still be asked.
const NEARLY: f64 = 0.2;
/// The share above which turning a duty into a permission, or the reverse, is a contradiction.
const SAME_WORDS: f64 = 0.85;

/// A text that claims are checked against, read once.
#[derive(Debug, Clone)]
pub struct Premise {
    folded: String,
    /// Sentences, and pairs of neighbours, each with its bytes in the text.
    windows: Vec<((usize, usize), Profile)>,
    language: Language,
}

/// The baseline's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The label.
    pub label: Label,
    /// Share of the claim's content found in the best passage, 0 to 1.
    pub coverage: f64,
    /// Bytes of the best passage in the premise.
    pub evidence: Option<(usize, usize)>,
    /// Why, in a few words.
    pub reason: String,
}

impl Premise {
    /// Reads a text.
    #[must_use]
    pub fn read(text: &str, language: Language) -> Self {
        let start = text.as_ptr() as usize;
        let spans: Vec<(usize, usize)> = sentences(text, language)
            .iter()
            .map(|sentence| (sentence.as_ptr() as usize - start, sentence.as_ptr() as usize - start + sentence.len()))
            .collect();
        let pairs = spans.windows(2).filter_map(|two| Some((two.first()?.0, two.get(1)?.1)));
        let windows = spans
            .iter()
            .copied()
            .chain(pairs)
            .filter_map(|(from, to)| Some(((from, to), Profile::read(text.get(from..to)?, language))))
            .collect();
        Self { folded: fold(text), windows, language }
    }

    /// Checks one claim.
    #[must_use]
    pub fn check(&self, claim: &str) -> Verdict {
        let said = Profile::read(claim, self.language);
        let plain = fold(claim.trim());
        if !plain.is_empty() && self.folded.contains(&plain) {
            return Verdict {
                label: Label::Entailment,
                coverage: 1.0,
                evidence: None,
                reason: "said in these words".into(),
            };
        }
        let none =
            |reason: &str| Verdict { label: Label::Neutral, coverage: 0.0, evidence: None, reason: reason.into() };
        if said.words.is_empty() {
            return none("the claim has no content words");
        }
        let mut ranked: Vec<_> =
            self.windows.iter().map(|(span, found)| (coverage(&said, found), *span, found)).collect();
        // Stable, so that a sentence wins over a pair that adds nothing.
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let Some(&(best, span, found)) = ranked.first() else { return none("the text is empty") };
        // An act often says something once in general and once with an exception: a passage that holds nearly as
        // much of the claim and entails it outweighs one that speaks against it.
        for &(coverage, span, found) in ranked.iter().take_while(|window| window.0 >= best - NEARLY) {
            let (label, reason) = decide(&said, found, coverage);
            if label == Label::Entailment {
                return Verdict { label, coverage, evidence: Some(span), reason };
            }
        }
        let (label, reason) = decide(&said, found, best);
        Verdict { label, coverage: best, evidence: Some(span), reason }
    }
}

/// Checks a claim against a text; see [`Premise`] for many claims against one text.
///
/// ```
/// use claimlab::claims::{Language, lexical::check};
/// use claimlab::table::Label;
/// let premise = "The controller shall notify the authority within 72 hours.";
/// let label = |claim| check(claim, premise, Language::English).label;
/// assert_eq!(label("The controller notifies the authority within seventy-two hours."), Label::Entailment);
/// assert_eq!(label("The controller notifies the authority within 30 hours."), Label::Contradiction);
/// assert_eq!(label("The controller shall not notify the authority within 72 hours."), Label::Contradiction);
/// assert_eq!(label("Parking is free on Sundays."), Label::Neutral);
/// ```
#[must_use]
pub fn check(claim: &str, premise: &str, language: Language) -> Verdict {
    Premise::read(premise, language).check(claim)
}

/// Longer words weigh more: they are rarer and say more.
fn coverage(said: &Profile, found: &Profile) -> f64 {
    let weight = |word: &String| word.chars().count().min(8) as f64;
    let whole: f64 = said.words.iter().map(weight).sum();
    let shared: f64 = said.words.iter().filter(|word| found.words.contains(*word)).map(weight).sum();
    if whole > 0.0 { shared / whole } else { 0.0 }
}

fn decide(said: &Profile, found: &Profile, coverage: f64) -> (Label, String) {
    let percent = format!("{:.0} % of the content words found", coverage * 100.0);
    let mut missing = None;
    for quantity in &said.quantities {
        match compare(quantity, &found.quantities) {
            Comparison::Same => {}
            Comparison::Different(other) if coverage >= SAME_MATTER => {
                return (Label::Contradiction, format!("{} instead of {other}", quantity.value));
            }
            _ => missing = Some(quantity.value),
        }
    }
    if coverage >= SAME_MATTER {
        let flipped = said
            .words
            .intersection(&found.words)
            .find(|word| said.negated.contains(*word) != found.negated.contains(*word));
        if let Some(word) = flipped {
            return (Label::Contradiction, format!("negation differs at “{word}”"));
        }
    }
    if coverage >= SAME_WORDS {
        let changed = said.modal.iter().find(|(word, mode)| found.modal.get(*word).is_some_and(|other| other != *mode));
        if let Some((word, _)) = changed {
            return (Label::Contradiction, format!("duty and permission differ at “{word}”"));
        }
    }
    match missing {
        Some(value) => (Label::Neutral, format!("{value} is not mentioned")),
        None if coverage >= ENTAILED => (Label::Entailment, percent),
        None => (Label::Neutral, format!("only {percent}")),
    }
}

enum Comparison {
    Same,
    Different(f64),
    Absent,
}

/// A quantity is contradicted only by another of the same unit, and not where the same one stands as well.
fn compare(quantity: &Quantity, others: &[Quantity]) -> Comparison {
    let equal = |other: &&Quantity| (other.value - quantity.value).abs() < 1e-9;
    let same_unit: Vec<&Quantity> = others.iter().filter(|other| other.unit == quantity.unit).collect();
    if same_unit.iter().any(equal) || others.iter().any(|other| equal(&other)) {
        return Comparison::Same;
    }
    match same_unit.first() {
        Some(other) if quantity.unit.is_some() => Comparison::Different(other.value),
        _ => Comparison::Absent,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::claims::lexical::extract;

    #[test]
    fn french_negation_and_modality() {
        let premise = "Le tuteur ne peut vendre le verger sans l’autorisation du juge. Le bail dure six ans.";
        let label = |claim| check(claim, premise, Language::French).label;
        assert_eq!(label("Le bail dure 6 ans."), Label::Entailment);
        assert_eq!(label("Le bail dure neuf ans."), Label::Contradiction);
        assert_eq!(label("Le bail ne dure pas six ans."), Label::Contradiction);
        assert_eq!(label("L'usufruit s'éteint par la mort."), Label::Neutral);
    }

    #[test]
    fn nothing_is_neutral() {
        for (claim, premise) in [("", ""), ("", "Text."), ("A claim here.", ""), ("…", "…!")] {
            let verdict = check(claim, premise, Language::English);
            assert_eq!(verdict.label == Label::Contradiction, false, "{claim} / {premise}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics_and_what_is_said_is_entailed(claim in "\\PC{0,60}", premise in "\\PC{0,120}") {
            for language in [Language::English, Language::French] {
                let _ = check(&claim, &premise, language);
                for own in extract(&premise, language) {
                    prop_assert_eq!(check(&own, &premise, language).label, Label::Entailment);
                }
            }
        }
    }
}
