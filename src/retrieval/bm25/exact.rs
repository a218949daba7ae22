//! BM25 with free k1 and b, every passage scored in full: for sweeps, and as a second opinion on tantivy.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::spec;
use super::terms::{counted, idf, rounded_length};
use crate::error::{Error, Result};
use crate::retrieval::acts::{Engine, Hit};
use crate::retrieval::analyzer::Terms;
use crate::retrieval::topk::TopK;
use crate::retrieval::{Analyzer, Passage, TermScore};

/// Which passages have a term, and how often, each list in the order of the passages.
#[derive(Debug, Default)]
struct Postings(Vec<(u32, u32)>);

/// An inverted index in memory.
#[derive(Debug)]
pub(super) struct Exact {
    postings: HashMap<String, Postings>,
    /// k1 · (1 − b + b · length / average_length) of every passage.
    norms: Vec<f64>,
    analyzer: Analyzer,
    k1: f64,
    b: f64,
}

impl Exact {
    pub(super) fn new(passages: &[Arc<Passage>], analyzer: Analyzer, k1: f64, b: f64) -> Result<Self> {
        let mut postings: HashMap<String, Postings> = HashMap::new();
        let mut lengths = Vec::with_capacity(passages.len());
        let mut terms = Terms::default();
        for (place, passage) in passages.iter().enumerate() {
            let place =
                u32::try_from(place).map_err(|_| Error::input("more than 4,294,967,295 passages in one act"))?;
            analyzer.analyze(&passage.text, &mut terms);
            let mut length = 0_u32;
            for term in terms.iter() {
                length = length.saturating_add(1);
                let list = match postings.get_mut(term) {
                    Some(list) => list,
                    None => postings.entry(term.to_owned()).or_default(),
                };
                match list.0.last_mut() {
                    Some((last, frequency)) if *last == place => *frequency += 1,
                    _ => list.0.push((place, 1)),
                }
            }
            lengths.push(length);
        }
        let total: u64 = lengths.iter().copied().map(u64::from).sum();
        let average = (total as f64 / lengths.len().max(1) as f64).max(f64::MIN_POSITIVE);
        let norm = |length: &u32| k1 * (1.0 - b + b * f64::from(rounded_length(*length)) / average);
        let norms = lengths.iter().map(norm).collect();
        Ok(Self { postings, norms, analyzer, k1, b })
    }

    /// The saturated frequency, with the factor k1 + 1 that Lucene dropped and tantivy keeps.
    fn tf(&self, place: usize, frequency: u32) -> f64 {
        let frequency = f64::from(frequency);
        let norm = self.norms.get(place).copied().unwrap_or_default();
        frequency * (self.k1 + 1.0) / (frequency + norm)
    }
}

impl Engine for Exact {
    fn search(&self, questions: &[String], k: usize, keep: Option<&Arc<Vec<bool>>>) -> Result<Vec<Vec<Hit>>> {
        let mut scores = vec![0.0_f64; self.norms.len()];
        let mut results = Vec::with_capacity(questions.len());
        for question in questions {
            for (term, in_question) in counted(self.analyzer, question) {
                let Some(Postings(list)) = self.postings.get(&term) else { continue };
                let weight = in_question as f64 * idf(list.len() as u64, self.norms.len() as u64);
                for (place, frequency) in list {
                    let place = *place as usize;
                    if let Some(score) = scores.get_mut(place) {
                        *score += weight * self.tf(place, *frequency);
                    }
                }
            }
            let mut best = TopK::new(k);
            for (passage, score) in scores.iter_mut().enumerate() {
                let found = std::mem::take(score);
                if found > 0.0 && keep.is_none_or(|keep| keep.get(passage) == Some(&true)) {
                    best.offer(Hit { passage, score: found as f32 });
                }
            }
            results.push(best.into_hits());
        }
        Ok(results)
    }

    fn spec(&self) -> Value {
        spec("exact BM25", self.analyzer, self.k1, self.b)
    }

    fn index_bytes(&self) -> Option<u64> {
        let lists: usize = self.postings.iter().map(|(term, list)| term.len() + list.0.len() * 8 + 48).sum();
        Some((lists + self.norms.len() * 8) as u64)
    }

    fn explain_score(&self, question: &str, passage: usize) -> Result<Vec<TermScore>> {
        let place = u32::try_from(passage).map_err(|_| Error::input("no such passage"))?;
        Ok(counted(self.analyzer, question)
            .into_iter()
            .map(|(term, in_question)| {
                let list = self.postings.get(&term).map(|list| list.0.as_slice()).unwrap_or_default();
                let frequency = list
                    .binary_search_by_key(&place, |(place, _)| *place)
                    .ok()
                    .and_then(|at| list.get(at))
                    .map_or(0, |(_, frequency)| *frequency);
                TermScore::new(
                    term,
                    (in_question, frequency),
                    list.len() as u64,
                    idf(list.len() as u64, self.norms.len() as u64),
                    self.tf(passage, frequency),
                )
            })
            .collect())
    }
}
