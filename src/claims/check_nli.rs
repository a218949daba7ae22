//! A classifier of premise and hypothesis as a checker.

use serde_json::{Value, json};

use super::Merge;
use super::check::{CheckClaims, Finding, Request};
use crate::error::{ErrorKind, Result};
use crate::model::{Classifier, Pair, Probabilities};
use crate::table::Label;
use crate::text::sentences;

/// Characters of a window: with the claim, about what models of 512 tokens read.
const WINDOW: usize = 1400;
/// Pairs that are handed to the classifier together.
const BATCH: usize = 256;

#[derive(Debug)]
pub(super) struct NliChecker {
    classifier: Classifier,
}

impl NliChecker {
    pub(super) fn new(classifier: &Classifier) -> Self {
        Self { classifier: classifier.clone() }
    }
}

/// A text as windows of whole sentences that overlap by one; a sentence longer than a window stands alone.
fn windows(request: &Request) -> Vec<String> {
    let sentences = sentences(&request.premise, request.language);
    let length = |slice: &str| slice.chars().count() + 1;
    let mut found = Vec::new();
    let mut first = 0;
    while first < sentences.len() {
        let mut size = 0;
        let mut end = first;
        while end < sentences.len() && (end == first || size + length(sentences[end]) <= WINDOW) {
            size += length(sentences[end]);
            end += 1;
        }
        found.push(sentences[first..end].join(" "));
        if end == sentences.len() {
            break;
        }
        first = if end - first > 1 { end - 1 } else { end };
    }
    if found.is_empty() {
        found.push(request.premise.to_string());
    }
    found
}

/// The likeliest label; of equals, the first of entailment, neutral, contradiction.
fn likeliest(found: &Probabilities) -> Label {
    let by_label = [found.entailment, found.neutral, found.contradiction];
    let mut best = 0;
    for place in 1..3 {
        if by_label[place] > by_label[best] {
            best = place;
        }
    }
    Label::ALL[best]
}

/// One verdict from the windows: any that entails entails, else any that contradicts contradicts.
fn decide(windows: &[Result<Probabilities, String>]) -> Finding {
    let labels: Vec<Option<Label>> = windows.iter().map(|found| found.as_ref().ok().map(likeliest)).collect();
    let why = || windows.iter().find_map(|found| found.as_ref().err().cloned()).unwrap_or_default();
    let Some(label) = Merge::AnyEntailment.of(&labels) else { return Finding::failed(why()) };
    let share = |found: &Probabilities| match label {
        Label::Entailment => found.entailment,
        Label::Neutral => found.neutral,
        Label::Contradiction => found.contradiction,
    };
    let deciding = windows
        .iter()
        .flatten()
        .filter(|found| likeliest(found) == label)
        .max_by(|a, b| share(a).total_cmp(&share(b)))
        .copied();
    Finding { label: Ok(label), reason: None, probabilities: deciding }
}

impl CheckClaims for NliChecker {
    fn check(&self, requests: &[Request]) -> Result<Vec<Vec<Finding>>> {
        let mut pairs = Vec::new();
        let mut counts = Vec::new();
        for request in requests {
            let windows = windows(request);
            counts.push((request.claims.len(), windows.len()));
            for claim in &request.claims {
                pairs.extend(
                    windows.iter().map(|text| Pair { premise: text.clone(), hypothesis: claim.text().to_owned() }),
                );
            }
        }
        let mut found: Vec<Result<Probabilities, String>> = Vec::with_capacity(pairs.len());
        for batch in pairs.chunks(BATCH) {
            crate::signal::check("the batches of checks before this one are kept")?;
            let before = found.len();
            for result in self.classifier.classify(batch).into_iter().take(batch.len()) {
                match result {
                    Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                    other => found.push(sound(other.map_err(|error| error.to_string()))),
                }
            }
            found.resize(before + batch.len(), Err("the classifier left the pair out".to_owned()));
        }
        let mut rest = found.as_slice();
        Ok(counts
            .into_iter()
            .map(|(claims, windows)| {
                let (own, after) = rest.split_at(claims * windows);
                rest = after;
                own.chunks(windows.max(1)).map(decide).collect()
            })
            .collect())
    }

    fn spec(&self) -> Value {
        json!({"kind": "classifier", "classifier": self.classifier.spec(), "window characters": WINDOW})
    }
}

/// Probabilities that are none are a failure.
fn sound(found: Result<Probabilities, String>) -> Result<Probabilities, String> {
    let found = found?;
    let all = [found.entailment, found.neutral, found.contradiction];
    if all.iter().all(|share| (0.0..=1.0).contains(share)) {
        Ok(found)
    } else {
        Err(format!("the classifier gave {all:?} for probabilities"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Language;

    fn request(premise: &str) -> Request {
        Request { question: None, premise: premise.into(), claims: Vec::new(), language: Language::English }
    }

    #[test]
    fn windows_hold_every_sentence_and_overlap_by_one() {
        let text: Vec<String> =
            (0..60).map(|i| format!("Sentence number {i} speaks of the controller's duty at some length.")).collect();
        let found = windows(&request(&text.join(" ")));
        assert!(found.len() > 2 && found.iter().all(|window| window.chars().count() <= WINDOW + 1));
        for sentence in &text {
            assert!(found.iter().any(|window| window.contains(sentence.as_str())), "{sentence}");
        }
        for pair in found.windows(2) {
            let last = sentences(&pair[0], Language::English).pop().unwrap_or_default().to_owned();
            assert!(pair[1].starts_with(&last));
        }
        assert_eq!(windows(&request(&"word ".repeat(2000))).len(), 1);
        assert_eq!(windows(&request("…")).len(), 1);
    }

    #[test]
    fn one_window_that_entails_decides_and_a_failed_one_only_where_it_could() {
        let of = |entailment: f64, contradiction: f64| {
            Ok(Probabilities { entailment, neutral: 1.0 - entailment - contradiction, contradiction })
        };
        assert_eq!(decide(&[of(0.1, 0.8), of(0.9, 0.05)]).label, Ok(Label::Entailment));
        assert_eq!(decide(&[of(0.1, 0.8), of(0.2, 0.1)]).label, Ok(Label::Contradiction));
        assert_eq!(decide(&[of(0.9, 0.0), Err("cut".into())]).label, Ok(Label::Entailment));
        assert_eq!(decide(&[of(0.1, 0.1), Err("cut".into())]).label, Err("cut".to_owned()));
        assert!(sound(of(f64::NAN, 0.1)).is_err());
    }
}
