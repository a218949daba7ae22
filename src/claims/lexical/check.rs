//! Verdicts: a claim against a text.

use super::compare::{Finding, coverage, disagreement, uncited};
use super::profile::{Profile, word_texts};
use super::stance::Accord;
use crate::table::Label;
use crate::text::language::Language;
use crate::text::list::{lead_ins, strip_marker};
use crate::text::sentence::sentences;
use crate::text::token::tokens;

/// The least coverage at which a window is taken to speak of the claim's matter. Chosen, like the other constants
/// here, on development pairs that the project wrote itself, in both languages; never on labels of people.
const COVERED: f64 = 0.65;
/// The least coverage for a contradiction. Chosen as above, and one step stricter than they asked for: a third of them
/// are contradictions, far more than in answers.
const CONTRADICTED: f64 = 0.75;
/// The least coverage at which an obligation contradicts a permission, or one citation another. Chosen as above.
const NEARLY_ALL: f64 = 0.85;
/// What two sentences must gain over one to be preferred: most claims stand on one sentence. Chosen as above.
const PAIR_COST: f64 = 0.1;
/// Windows this close to the best one are heard too, and any of them may decide where it is neutral. Chosen as above.
const NEAR: f64 = 0.05;
/// With fewer content words, numbers and citations, only a verbatim claim is entailed.
const LEAST_CONTENT: usize = 2;

/// The checker's verdict on a claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Entailment, neutral or contradiction.
    pub label: Label,
    /// The share of the claim's content, weighted by length, that the best sentences have; 1 for a verbatim claim.
    pub coverage: f64,
    /// The byte range in the premise of the best sentence or sentences. Where an item of a list was read with its
    /// lead-in, the range goes from the one to the other.
    pub evidence: Option<(usize, usize)>,
    /// Why, in a few words.
    pub reason: String,
}

impl Verdict {
    fn neutral(coverage: f64, evidence: Option<(usize, usize)>, reason: impl Into<String>) -> Self {
        Self { label: Label::Neutral, coverage, evidence, reason: reason.into() }
    }
}

/// A text, read once, against which claims are checked.
#[derive(Debug, Clone)]
pub struct Premise {
    language: Language,
    /// Words of the whole text in order, and for each the index of its sentence.
    words: Vec<(String, usize)>,
    sentences: Vec<Sentence>,
    /// Citations of the whole text.
    cited: Vec<String>,
    windows: Vec<Vec<usize>>,
}

#[derive(Debug, Clone)]
struct Sentence {
    span: (usize, usize),
    profile: Profile,
}

/// Checks a claim against a text.
///
/// Entailment where the text has the claim word for word, or where one sentence (or two neighbours) has most of its
/// content and agrees on quantities, negation and modality; contradiction where it has the content and disagrees;
/// neutral otherwise, and for an empty claim or premise.
#[must_use]
pub fn check(claim: &str, premise: &str, language: Language) -> Verdict {
    Premise::new(premise, language).check(claim)
}

impl Premise {
    /// Reads a text.
    #[must_use]
    pub fn new(text: &str, language: Language) -> Self {
        let slices = sentences(text, language);
        let mut words = Vec::new();
        let mut found: Vec<Sentence> = Vec::new();
        for (index, slice) in slices.iter().enumerate() {
            words.extend(word_texts(&tokens(slice, language)).into_iter().map(|word| (word, index)));
            // Slices of the text: their distance is their offset.
            let start = (slice.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
            let profile = Profile::new(strip_marker(slice), language);
            found.push(Sentence { span: (start, start + slice.len()), profile });
        }
        let cited = found.iter().flat_map(|sentence| sentence.profile.citations.iter().cloned()).collect();
        let mut windows: Vec<Vec<usize>> = (0..found.len()).map(|index| vec![index]).collect();
        for (index, lead) in lead_ins(&slices).into_iter().enumerate() {
            windows.extend(lead.map(|lead| vec![lead, index]));
            if index > 0 && lead != Some(index - 1) {
                windows.push(vec![index - 1, index]);
            }
        }
        Self { language, words, sentences: found, cited, windows }
    }

    /// Checks a claim against the text.
    #[must_use]
    pub fn check(&self, claim: &str) -> Verdict {
        let profile = Profile::new(strip_marker(claim), self.language);
        if profile.words.is_empty() || self.words.is_empty() {
            return Verdict::neutral(0.0, None, "nothing to compare");
        }
        if let Some(evidence) = self.verbatim(claim, &profile) {
            let reason = "the text says so word for word".to_owned();
            return Verdict { label: Label::Entailment, coverage: 1.0, evidence: Some(evidence), reason };
        }
        if profile.content.len() + profile.quantities.len() + profile.citations.len() < LEAST_CONTENT {
            return Verdict::neutral(0.0, None, "too few content words to compare");
        }
        self.weigh(&profile)
    }

    /// The windows by coverage, and the verdict of the best.
    fn weigh(&self, claim: &Profile) -> Verdict {
        let missing: Vec<&str> = uncited(claim, &self.cited);
        let mut ranked: Vec<(f64, f64, &[usize])> = Vec::with_capacity(self.windows.len());
        for window in &self.windows {
            let covered = coverage(claim, &self.profiles(window), missing.len());
            let cost = if window.len() > 1 { PAIR_COST } else { 0.0 };
            ranked.push((covered - cost, covered, window));
        }
        // Stable: of equals, the first in the text wins.
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let Some((best, _, _)) = ranked.first().copied() else {
            return Verdict::neutral(0.0, None, "nothing to compare");
        };
        let mut near = ranked.iter().take_while(|(score, _, _)| *score >= best - NEAR);
        let verdicts: Vec<Verdict> =
            near.by_ref().map(|(_, covered, window)| self.judge(claim, &missing, *covered, window)).collect();
        let first = |label| verdicts.iter().find(|verdict| verdict.label == label);
        let decided = first(Label::Entailment).or_else(|| first(Label::Contradiction));
        decided.or(verdicts.first()).cloned().unwrap_or_else(|| Verdict::neutral(0.0, None, "nothing to compare"))
    }

    fn judge(&self, claim: &Profile, missing: &[&str], covered: f64, window: &[usize]) -> Verdict {
        let evidence = self.span(window);
        let percent = (covered * 100.0).floor();
        let low = || format!("only {percent} % of the content words found");
        if covered < COVERED.min(CONTRADICTED) {
            return Verdict::neutral(covered, evidence.filter(|_| covered > 0.0), low());
        }
        let found = disagreement(claim, &self.profiles(window), missing, self.language);
        let label = match &found {
            None if covered >= COVERED => Label::Entailment,
            Some(Finding { accord: Accord::Conflict, .. }) if covered >= CONTRADICTED => Label::Contradiction,
            Some(Finding { accord: Accord::Weak, .. }) if covered >= NEARLY_ALL => Label::Contradiction,
            _ => Label::Neutral,
        };
        let reason = match found {
            Some(found) => found.reason,
            None if label == Label::Entailment => format!("{percent} % of the content words found, nothing disagrees"),
            None => low(),
        };
        Verdict { label, coverage: covered, evidence, reason }
    }

    fn profiles(&self, window: &[usize]) -> Vec<&Profile> {
        window.iter().filter_map(|index| self.sentences.get(*index)).map(|sentence| &sentence.profile).collect()
    }

    fn span(&self, window: &[usize]) -> Option<(usize, usize)> {
        let first = self.sentences.get(*window.first()?)?;
        let last = self.sentences.get(*window.last()?)?;
        Some((first.span.0, last.span.1))
    }

    /// Where the text has the claim's words in a row: across sentences, or in an item read with its lead-in.
    fn verbatim(&self, claim: &str, profile: &Profile) -> Option<(usize, usize)> {
        let whole = word_texts(&tokens(claim, self.language));
        for wanted in [&whole, &profile.words] {
            let row =
                self.words.windows(wanted.len().max(1)).find(|row| row.iter().map(|(word, _)| word).eq(wanted.iter()));
            if let Some(([(_, first), ..], Some((_, last)))) = row.map(|row| (row, row.last())) {
                return self.span(&[*first, *last]);
            }
        }
        let joined = |window: &&Vec<usize>| {
            let words: Vec<&String> = self.profiles(window).into_iter().flat_map(|part| part.words.iter()).collect();
            words.windows(profile.words.len().max(1)).any(|row| row.iter().copied().eq(profile.words.iter()))
        };
        self.windows.iter().filter(|window| window.len() > 1).find(joined).and_then(|window| self.span(window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbatim_claims_are_entailed() {
        let premise = "Nothing here. The controller shall not, ever, process it! 1. Then more.";
        for claim in
            ["The controller shall not, ever, process it!", "the controller shall not ever process it", "Nothing"]
        {
            assert_eq!(check(claim, premise, Language::English).label, Label::Entailment, "{claim}");
        }
    }

    #[test]
    fn items_are_read_with_their_lead_in() {
        let premise = "The tenant must:\n- pay the rent;\n- use the home peacefully.";
        let verdict = check("The tenant must use the home peacefully", premise, Language::English);
        assert_eq!(verdict.label, Label::Entailment);
        assert_eq!(verdict.evidence, Some((0, premise.len())));
    }

    #[test]
    fn reasons_and_evidence() {
        let premise = "Le loyer est dû. Le préavis du locataire est de trois mois.";
        let verdict = check("Le préavis du locataire est de six mois.", premise, Language::French);
        assert_eq!((verdict.label, verdict.reason.as_str()), (Label::Contradiction, "number six differs from trois"));
        assert_eq!(
            verdict.evidence.and_then(|(from, to)| premise.get(from..to)),
            Some("Le préavis du locataire est de trois mois.")
        );
    }

    #[test]
    fn empty_and_odd_input_is_neutral() {
        for (claim, premise) in
            [("", "Text."), ("Text.", ""), ("…", "…"), ("🙂 ’ \u{301}", "«»"), ("a", "b"), ("1.", "(a)")]
        {
            assert_eq!(check(claim, premise, Language::French).label, Label::Neutral, "{claim:?} {premise:?}");
        }
    }
}
