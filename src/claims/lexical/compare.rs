//! A claim beside a window of the premise: what is covered, and what disagrees.

use super::citation::meets;
use super::lexicon::poles;
use super::profile::Profile;
use super::quantity::{Bound, Quantity};
use super::stance::{Accord, Stance};
use crate::text::language::Language;

/// What a number or a citation counts for in the coverage; a word of eight letters counts for ten.
const FIGURE_WEIGHT: f64 = 6.0;

/// How much more the word that a modal or a negation bears on counts. Chosen on development pairs that the project
/// wrote itself, as the weight above.
const PREDICATE_FACTOR: f64 = 2.0;

/// A disagreement: how bad, and why.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    pub accord: Accord,
    pub reason: String,
}

impl Finding {
    fn new(accord: Accord, reason: impl Into<String>) -> Self {
        Self { accord, reason: reason.into() }
    }
}

/// The sentences that a claim is compared with.
pub(super) type Window<'a> = [&'a Profile];

/// The share of the claim's content that the window has, between 0 and 1: words weighted by length (long words say
/// more), quantities covered where their unit is, citations where the premise
/// has them (`uncited` of them it has not).
pub(super) fn coverage(claim: &Profile, window: &Window<'_>, uncited: usize) -> f64 {
    let (mut covered, mut whole) = (0.0, 0.0);
    let mut count = |weight: f64, found: bool| {
        whole += weight;
        covered += if found { weight } else { 0.0 };
    };
    for stem in &claim.content {
        let letters = u8::try_from(stem.len().min(10)).unwrap_or(10);
        // What a modal or a negation bears on is what the claim is about.
        let predicate = claim.on(stem).any(|operator| !operator.subject);
        let factor = if predicate { PREDICATE_FACTOR } else { 1.0 };
        count(factor * (2.0 + f64::from(letters)), window.iter().any(|part| part.has(stem)));
    }
    for own in &claim.quantities {
        let found = quantities(window).any(|other| own.same_unit(other) || own.same_value(other));
        count(FIGURE_WEIGHT, found);
    }
    for index in 0..claim.citations.len() {
        count(FIGURE_WEIGHT, index >= uncited);
    }
    if whole > 0.0 { covered / whole } else { 0.0 }
}

/// The claim's citations that the premise lacks, `cited` being those that it has.
pub(super) fn uncited<'a>(claim: &'a Profile, cited: &[String]) -> Vec<&'a str> {
    let lacks = |own: &&str| !cited.iter().any(|other| meets(own, other));
    claim.citations.iter().map(String::as_str).filter(lacks).collect()
}

/// Whatever the claim and the window disagree on, worst first.
pub(super) fn disagreement(
    claim: &Profile,
    window: &Window<'_>,
    uncited: &[&str],
    language: Language,
) -> Option<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    findings.extend(claim.quantities.iter().filter_map(|own| compare_quantity(own, window)));
    findings.extend(compare_stances(claim, window));
    findings.extend(compare_poles(claim, window, language));
    findings.extend(compare_citations(window, uncited));
    if claim.only && !window.iter().any(|part| part.only) {
        findings.push(Finding::new(Accord::Doubt, "the text does not restrict as the claim does"));
    }
    // The first of the worst, so that the reason does not depend on the order of equals.
    findings.into_iter().reduce(|worst, next| if next.accord > worst.accord { next } else { worst })
}

fn quantities<'a>(window: &'a Window<'a>) -> impl Iterator<Item = &'a Quantity> {
    window.iter().flat_map(|part| part.quantities.iter())
}

fn compare_quantity(own: &Quantity, window: &Window<'_>) -> Option<Finding> {
    let opposed = |other: &Quantity| {
        matches!((own.bound, other.bound), (Bound::Least, Bound::Most) | (Bound::Most, Bound::Least))
    };
    let alike = |other: &&Quantity| own.same_unit(other) || !own.known || !other.known;
    let mut same = quantities(window).filter(|other| own.same_value(other)).filter(alike).peekable();
    if same.peek().is_some() {
        return same.all(opposed).then(|| {
            Finding::new(Accord::Conflict, format!("{} is a minimum on one side and a maximum on the other", own.shown))
        });
    }
    let differs = |other: &&Quantity| match (own.days(), other.days()) {
        // 30 days and one month are too near to contradict each other.
        (Some(a), Some(b)) => (a - b).abs() > 0.1 * a.max(b),
        _ => own.same_unit(other) && own.unit.is_some(),
    };
    Some(match quantities(window).find(differs) {
        Some(other) => Finding::new(Accord::Conflict, format!("number {} differs from {}", own.shown, other.shown)),
        None => Finding::new(Accord::Doubt, format!("number {} is not in the text", own.shown)),
    })
}

/// The stances on the words that both sides have. Where a side has several stances on a word, the best pair counts.
fn compare_stances(claim: &Profile, window: &Window<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let exceptions_differ = claim.exception != window.iter().any(|part| part.exception);
    let own_heads = claim.operators.iter();
    let other_heads = window.iter().flat_map(|part| part.operators.iter());
    for operator in own_heads.chain(other_heads) {
        let head = operator.head.as_str();
        if !claim.has(head) || !window.iter().any(|part| part.has(head)) {
            continue;
        }
        let (own, own_subject) = stances(std::iter::once(claim), head);
        let (other, other_subject) = stances(window.iter().copied(), head);
        let pairs = own.iter().flat_map(|a| other.iter().map(move |b| (*a, *b)));
        let Some((accord, (a, b))) = pairs.map(|(a, b)| (a.accord(b), (a, b))).min_by_key(|(accord, _)| *accord) else {
            continue;
        };
        // A bare mention does not contradict a predicate, nor an exception a rule without one.
        let mention = own_subject && b == Stance::Plain || other_subject && a == Stance::Plain;
        let accord = if accord >= Accord::Weak && (mention || exceptions_differ) { Accord::Doubt } else { accord };
        if accord > Accord::Agree {
            findings.push(Finding::new(accord, stance_reason(head, a, b)));
        }
    }
    findings.extend(unmatched_denial(claim, window));
    findings
}

fn stance_reason(head: &str, claim: Stance, premise: Stance) -> String {
    let negation = matches!((claim, premise), (Stance::Plain, Stance::Negated) | (Stance::Negated, Stance::Plain));
    let what = if negation { "negation differs" } else { "modality differs" };
    format!("{what}: “{head}-” is {} in the claim and {} in the text", claim.name(), premise.name())
}

/// The distinct stances of some sentences on a word, and whether all of them come from predicates on a subject.
fn stances<'a>(parts: impl Iterator<Item = &'a Profile>, head: &str) -> (Vec<Stance>, bool) {
    let mut found: Vec<Stance> = Vec::new();
    let (mut subject, mut bears) = (true, false);
    for part in parts.filter(|part| part.has(head)) {
        let before = found.len();
        for operator in part.on(head) {
            bears = true;
            subject &= operator.subject;
            found.push(operator.stance);
        }
        if found.len() == before {
            found.push(Stance::Plain);
        }
    }
    (found, subject && bears)
}

/// A denial in the claim on a word that the window lacks needs some denial in the window.
fn unmatched_denial(claim: &Profile, window: &Window<'_>) -> Option<Finding> {
    let denies = |part: &Profile| part.operators.iter().any(|operator| operator.stance.is_negative());
    let shared = |head: &str| window.iter().any(|part| part.has(head));
    let lost = claim.operators.iter().any(|operator| operator.stance.is_negative() && !shared(&operator.head));
    (lost && !window.iter().any(|part| denies(part)))
        .then(|| Finding::new(Accord::Doubt, "the claim denies something that the text does not"))
}

fn compare_poles(claim: &Profile, window: &Window<'_>, language: Language) -> Option<Finding> {
    let own = |words: &[&'static str]| words.iter().find(|word| claim.has_word(word)).copied();
    let other =
        |words: &[&'static str]| words.iter().find(|word| window.iter().any(|part| part.has_word(word))).copied();
    poles(language).iter().find_map(|(one, two)| match (own(one), own(two), other(one), other(two)) {
        (Some(a), None, None, Some(b)) | (None, Some(a), Some(b), None) => {
            Some(Finding::new(Accord::Conflict, format!("“{a}” in the claim stands against “{b}” in the text")))
        }
        _ => None,
    })
}

/// A citation that the premise lacks while the window has others. `Weak`: only a claim that matches in everything
/// else is contradicted by it.
fn compare_citations(window: &Window<'_>, uncited: &[&str]) -> Option<Finding> {
    let missing = uncited.first()?;
    let other = window.iter().flat_map(|part| part.citations.iter()).next()?;
    Some(Finding::new(Accord::Weak, format!("citation {missing} differs from {other}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accord(claim: &str, premise: &str, language: Language) -> Option<Accord> {
        let (claim, premise) = (Profile::new(claim, language), Profile::new(premise, language));
        disagreement(&claim, &[&premise], &uncited(&claim, &premise.citations), language).map(|finding| finding.accord)
    }

    #[test]
    fn quantities_in_the_same_unit_conflict() {
        let premise = "The breach is notified within 72 hours.";
        assert_eq!(accord("The breach is notified within seventy-two hours", premise, Language::English), None);
        assert_eq!(
            accord("The breach is notified within 30 hours", premise, Language::English),
            Some(Accord::Conflict)
        );
        assert_eq!(accord("The breach is notified within 3 days", premise, Language::English), Some(Accord::Doubt));
    }

    #[test]
    fn polarity_and_modality() {
        let premise = "Le bailleur ne peut pas augmenter le loyer.";
        assert_eq!(accord("Le bailleur peut augmenter le loyer", premise, Language::French), Some(Accord::Conflict));
        assert_eq!(accord("Il est interdit d'augmenter le loyer", premise, Language::French), None);
        assert_eq!(accord("Tenants must pay", "Tenants may pay", Language::English), Some(Accord::Weak));
    }
}
