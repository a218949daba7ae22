//! Several retrievers as one: reciprocal rank fusion, and weighted sums of normalised scores.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::seam::rank;
use super::{Found, Question, Retrieve, Retriever};
use crate::error::{Error, Result};

/// Candidates that each part contributes at least: what stands deeper moves no fused score much.
const DEPTH: usize = 100;
/// The constant of reciprocal rank fusion.
const K: f64 = 60.0;

/// How the parts' lists become one.
#[derive(Debug)]
enum Rule {
    /// Σ 1 / (60 + rank) (Cormack, Clarke and Büttcher 2009, "Reciprocal Rank Fusion outperforms Condorcet and
    /// individual Rank Learning Methods", section 2).
    ReciprocalRank,
    /// Σ weight · score, each part's scores scaled to 0..1 over its own candidates.
    Weighted(Vec<f64>),
}

/// A combination of retrievers.
#[derive(Debug)]
pub(super) struct Fusion {
    parts: Vec<Retriever>,
    rule: Rule,
}

impl Fusion {
    pub(super) fn reciprocal_rank(parts: &[Retriever]) -> Result<Self> {
        if parts.len() < 2 {
            return Err(Error::input(format!("{} retrievers cannot be fused", parts.len()))
                .help("give two or more, as in Retriever::rrf(&[bm25, dense])"));
        }
        Ok(Self { parts: parts.to_vec(), rule: Rule::ReciprocalRank })
    }

    pub(super) fn weighted(parts: &[(Retriever, f64)]) -> Result<Self> {
        let sum: f64 = parts.iter().map(|(_, weight)| weight).sum();
        let fine = parts.iter().all(|(_, weight)| weight.is_finite() && *weight >= 0.0) && sum > 0.0;
        if parts.len() < 2 || !fine {
            let weights: Vec<f64> = parts.iter().map(|(_, weight)| *weight).collect();
            return Err(Error::input(format!(
                "{} retrievers with the weights {weights:?} cannot be combined",
                parts.len()
            ))
            .help("give two or more retrievers with weights of at least 0, not all 0"));
        }
        let (retrievers, weights) = parts.iter().map(|(part, weight)| (part.clone(), weight / sum)).unzip();
        Ok(Self { parts: retrievers, rule: Rule::Weighted(weights) })
    }

    pub(super) fn name(&self) -> String {
        let names: Vec<&str> = self.parts.iter().map(Retriever::name).collect();
        match &self.rule {
            Rule::ReciprocalRank => format!("RRF({})", names.join(", ")),
            Rule::Weighted(weights) => {
                let terms: Vec<String> =
                    weights.iter().zip(&names).map(|(weight, name)| format!("{weight:.3}·{name}")).collect();
                format!("sum({})", terms.join(" + "))
            }
        }
    }

    /// What each of a part's results is worth in the sum.
    fn worth(&self, part: usize, found: &[Found]) -> Vec<f64> {
        match &self.rule {
            Rule::ReciprocalRank => (1..=found.len()).map(|rank| 1.0 / (K + rank as f64)).collect(),
            Rule::Weighted(weights) => {
                let weight = weights.get(part).copied().unwrap_or_default();
                normalise(found).into_iter().map(|score| weight * score).collect()
            }
        }
    }
}

/// Scores scaled so that the best candidate has 1 and the worst 0; a candidate alone, and candidates that are all equal,
/// have 1.
fn normalise(found: &[Found]) -> Vec<f64> {
    let best = found.iter().map(|one| one.score).fold(f64::NEG_INFINITY, f64::max);
    let worst = found.iter().map(|one| one.score).fold(f64::INFINITY, f64::min);
    let width = best - worst;
    found.iter().map(|one| if width > 0.0 { (one.score - worst) / width } else { 1.0 }).collect()
}

impl Retrieve for Fusion {
    fn search(&self, questions: &[Question], k: usize) -> Result<Vec<Vec<Found>>> {
        if k == 0 {
            return Ok(vec![Vec::new(); questions.len()]);
        }
        let mut sums: Vec<HashMap<String, Found>> = vec![HashMap::new(); questions.len()];
        for (place, part) in self.parts.iter().enumerate() {
            let lists = part.search(questions, k.max(DEPTH))?;
            for (sum, list) in sums.iter_mut().zip(lists) {
                for (one, worth) in list.iter().zip(self.worth(place, &list)) {
                    let known = sum.entry(one.passage.chunk_id.clone()).or_insert_with(|| Found {
                        passage: Arc::clone(&one.passage),
                        score: 0.0,
                        note: one.note.clone(),
                    });
                    known.score += worth;
                }
            }
        }
        Ok(sums
            .into_iter()
            .map(|sum| {
                let mut found: Vec<Found> = sum.into_values().collect();
                rank(&mut found, k);
                found
            })
            .collect())
    }

    fn spec(&self) -> Value {
        let parts: Vec<Value> = self.parts.iter().map(Retriever::spec).collect();
        let rule = match &self.rule {
            Rule::ReciprocalRank => json!({"rule": "reciprocal rank fusion", "constant": K}),
            Rule::Weighted(weights) => json!({"rule": "weighted sum of min-max normalised scores", "weights": weights}),
        };
        json!({"fusion": rule, "depth": DEPTH, "parts": parts})
    }
}
