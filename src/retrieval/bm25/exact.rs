//! BM25 with free k1 and b, scored in memory without tantivy: for sweeps, and as a second opinion.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::impacts::Impacts;
use super::inversion::Inversion;
use super::spec;
use super::terms::{counted, idf, rounded_length};
use crate::error::{Error, Result};
use crate::retrieval::acts::{Engine, Hit};
use crate::retrieval::{Analyzer, Passage, TermScore};

/// An inverted index in memory.
#[derive(Debug)]
pub(super) struct Exact {
    passages: Vec<Arc<Passage>>,
    /// Terms by their places in `impacts`.
    terms: HashMap<String, usize>,
    impacts: Impacts,
    average_length: f64,
    analyzer: Analyzer,
    k1: f64,
    b: f64,
}

impl Exact {
    pub(super) fn new(passages: &[Arc<Passage>], analyzer: Analyzer, k1: f64, b: f64) -> Result<Self> {
        let inversion = Inversion::of(passages, analyzer)?;
        let lengths = inversion.lengths();
        let total: u64 = lengths.iter().copied().map(u64::from).sum();
        let average_length = (total as f64 / lengths.len().max(1) as f64).max(f64::MIN_POSITIVE);
        let mut terms = HashMap::new();
        let mut impacts = Impacts::new(passages.len());
        for (place, (term, postings)) in inversion.sorted().into_iter().enumerate() {
            terms.insert(term.to_owned(), place);
            let idf = idf(u64::from(postings.documents()), lengths.len() as u64);
            impacts.push(postings.iter().map(|(passage, frequency)| {
                let length = lengths.get(passage as usize).copied().unwrap_or_default();
                (passage, (idf * tf((k1, b), frequency, length, average_length)) as f32)
            }));
        }
        let impacts = impacts.finish();
        Ok(Self { passages: passages.to_vec(), terms, impacts, average_length, analyzer, k1, b })
    }
}

/// The saturated frequency, with the factor k1 + 1 that Lucene dropped and tantivy keeps.
fn tf((k1, b): (f64, f64), frequency: u32, length: u32, average_length: f64) -> f64 {
    let norm = k1 * (1.0 - b + b * f64::from(rounded_length(length)) / average_length);
    let frequency = f64::from(frequency);
    if frequency > 0.0 { frequency * (k1 + 1.0) / (frequency + norm) } else { 0.0 }
}

impl Engine for Exact {
    fn search(&self, questions: &[String], k: usize, keep: Option<&Arc<Vec<bool>>>) -> Result<Vec<Vec<Hit>>> {
        Ok(questions
            .iter()
            .map(|question| {
                let terms: Vec<(usize, usize)> = counted(self.analyzer, question)
                    .into_iter()
                    .filter_map(|(term, count)| Some((*self.terms.get(&term)?, count)))
                    .collect();
                self.impacts.search(&terms, k, keep.map(|keep| keep.as_slice()))
            })
            .collect())
    }

    fn spec(&self) -> Value {
        spec("exact BM25", self.analyzer, self.k1, self.b)
    }

    fn index_bytes(&self) -> Option<u64> {
        let terms: usize = self.terms.keys().map(|term| term.len() + 32).sum();
        Some(self.impacts.bytes() + terms as u64)
    }

    fn explain_score(&self, question: &str, passage: usize) -> Result<Vec<TermScore>> {
        let Some(passage) = self.passages.get(passage) else { return Err(Error::input("no such passage")) };
        let held = self.analyzer.terms(&passage.text);
        let length = u32::try_from(held.len()).unwrap_or(u32::MAX);
        Ok(counted(self.analyzer, question)
            .into_iter()
            .map(|(term, in_question)| {
                let frequency = held.iter().filter(|one| **one == term).count() as u32;
                let document_frequency = self.terms.get(&term).map_or(0, |at| self.impacts.document_frequency(*at));
                let idf = idf(document_frequency, self.passages.len() as u64);
                let tf = tf((self.k1, self.b), frequency, length, self.average_length);
                TermScore::new(term, (in_question, frequency), document_frequency, idf, tf)
            })
            .collect())
    }
}
