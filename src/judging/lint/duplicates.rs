//! Criteria of one task that ask for the same.

use std::collections::{BTreeMap, BTreeSet};

use super::{Entry, Finding};
use crate::error::Result;
use crate::judging::facts::Facts;
use crate::model::Embed;
use crate::text::content_words;

/// From this share of common n-grams on, two criteria are reported.
const AT_LEAST: f64 = 0.6;

/// Pairs by the Jaccard indices of their stems (three quarters) and of neighbouring pairs of stems (one quarter), so
/// that another word order costs something, but not the finding. Criteria that differ in a number, date, name or
/// citation are parallel, not duplicates, and are left alone.
pub(super) fn by_ngrams(entries: &[Entry]) -> Vec<Finding> {
    let grams: Vec<[BTreeSet<String>; 2]> = entries.iter().map(ngrams).collect();
    let jaccard = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
        let all = a.union(b).count() as f64;
        if all > 0.0 { a.intersection(b).count() as f64 / all } else { 0.0 }
    };
    pairs(entries, AT_LEAST, "ngrams", |a, b| {
        0.75 * jaccard(&grams[a][0], &grams[b][0]) + 0.25 * jaccard(&grams[a][1], &grams[b][1])
    })
}

/// Pairs by the cosine of their vectors.
pub(super) fn by_embeddings(entries: &[Entry], model: &dyn Embed, at_least: f64) -> Result<Vec<Finding>> {
    let texts: Vec<String> = entries.iter().map(|entry| entry.text.clone()).collect();
    let vectors = model.embed(&texts)?;
    let cosine = |a: usize, b: usize| match (vectors.get(a), vectors.get(b)) {
        (Some(a), Some(b)) => a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum(),
        _ => 0.0,
    };
    Ok(pairs(entries, at_least, "embeddings", cosine))
}

fn ngrams(entry: &Entry) -> [BTreeSet<String>; 2] {
    let stems = content_words(&entry.text, entry.language);
    let neighbours = stems.windows(2).map(|pair| pair.join(" ")).collect();
    [stems.into_iter().collect(), neighbours]
}

fn pairs(entries: &[Entry], at_least: f64, rule: &str, similarity: impl Fn(usize, usize) -> f64) -> Vec<Finding> {
    let mut tasks: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, entry) in entries.iter().enumerate() {
        tasks.entry(&entry.task).or_default().push(place);
    }
    let facts: Vec<Facts> = entries.iter().map(|entry| Facts::read(&entry.text)).collect();
    let mut findings = Vec::new();
    for places in tasks.values() {
        for (index, &later) in places.iter().enumerate() {
            for &earlier in &places[..index] {
                let score = similarity(earlier, later);
                if score < at_least || facts[earlier] != facts[later] {
                    continue;
                }
                findings.push(Finding {
                    criterion: entries[later].id.clone(),
                    principle: "non_duplicative",
                    rule: format!("near_duplicate_{rule}"),
                    severity: if score >= 0.8 { "likely" } else { "possible" },
                    excerpt: Some(entries[earlier].text.clone()),
                    other: Some(entries[earlier].id.clone()),
                    score: Some(score),
                    message: "asks for what another criterion of the task asks for".to_owned(),
                });
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Language;

    fn entry(id: &str, task: &str, text: &str) -> Entry {
        Entry {
            id: id.to_owned(),
            task: task.to_owned(),
            text: text.to_owned(),
            language: Language::detect(text),
            attached: false,
        }
    }

    #[test]
    fn a_reworded_repeat_is_found_and_a_parallel_requirement_is_not() {
        let found = by_ngrams(&[
            entry("a", "t", "States that the notice period is 30 days."),
            entry("b", "t", "The answer states a notice period of 30 days."),
            entry("c", "t", "States that the notice period is 60 days."),
            entry("d", "u", "States that the notice period is 30 days."),
        ]);
        let pairs: Vec<(&str, &str)> =
            found.iter().map(|one| (one.criterion.as_str(), one.other.as_deref().unwrap_or_default())).collect();
        assert_eq!(pairs, [("b", "a")], "{found:?}");
    }
}
