//! The seam of retrieval: questions in, scored passages out.

use std::sync::Arc;

use serde_json::Value;

use crate::error::{Error, Result};

/// One chunk as retrievers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Names the chunk.
    pub chunk_id: String,
    /// Its text.
    pub text: String,
    /// The act that it belongs to.
    pub source: String,
    /// Its ISO 639-1 code, where known.
    pub language: Option<String>,
}

/// One question as retrievers see it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Question {
    /// The question as asked.
    pub text: String,
    /// The act to search; may be missing where a retriever knows only one.
    pub source: Option<String>,
    /// The language that passages must have; missing means any.
    pub language: Option<String>,
}

impl Question {
    /// A question to whatever the retriever knows.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// One result.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What was found.
    pub passage: Arc<Passage>,
    /// Higher is better; comparable within one question only. Always finite.
    pub score: f64,
    /// What a reader of the run must know about this row, as "not reranked: …".
    pub note: Option<String>,
}

/// Anything that finds passages for questions: an index, a search engine, or a combination of others.
///
/// An implementation returns one list a question, in the same order; at most `k` passages, each once, best first, equal
/// scores by chunk id; and nothing, not an error, for a question that matches nothing.
pub trait Retrieve: std::fmt::Debug + Send + Sync {
    /// The best `k` passages for each question.
    ///
    /// # Errors
    /// When the engine fails, or a question asks for an act that it does not know.
    fn search(&self, questions: &[Question], k: usize) -> Result<Vec<Vec<Found>>>;

    /// Says exactly what it is, down to the texts that it searches.
    fn spec(&self) -> Value;

    /// What its index occupies in memory or on disk, without the texts; `None` where that is not known.
    fn index_bytes(&self) -> Option<u64> {
        None
    }

    /// How the score of a passage came about, term by term.
    ///
    /// # Errors
    /// When the passage is not among those searched, or the score has no such parts.
    fn explain_score(&self, question: &Question, chunk_id: &str) -> Result<Vec<TermScore>> {
        let _ = (question, chunk_id);
        Err(Error::input("this retriever's scores are not sums over terms").help("only BM25 explains its scores"))
    }
}

/// What one term of a question adds to a passage's BM25 score: `in_question · idf · tf`, where
/// `tf = frequency · (k1 + 1) / (frequency + k1 · (1 − b + b · length / average_length))`.
#[derive(Debug, Clone, PartialEq)]
pub struct TermScore {
    /// The term.
    pub term: String,
    /// How often the question has it.
    pub in_question: usize,
    /// How often the passage has it.
    pub frequency: u32,
    /// How many passages have it.
    pub document_frequency: u64,
    /// ln(1 + (N − n + 0.5) / (n + 0.5)).
    pub idf: f64,
    /// The frequency's part, saturated and normalised by length, with the factor k1 + 1.
    pub tf: f64,
    /// The product.
    pub score: f64,
}

impl TermScore {
    /// Multiplies the parts.
    pub(super) fn new(
        term: String,
        (in_question, frequency): (usize, u32),
        document_frequency: u64,
        idf: f64,
        tf: f64,
    ) -> Self {
        let score = in_question as f64 * idf * tf;
        Self { term, in_question, frequency, document_frequency, idf, tf, score }
    }
}

/// Sorts best first, equal scores by chunk id, and keeps the best `k`.
pub(super) fn rank(found: &mut Vec<Found>, k: usize) {
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.passage.chunk_id.cmp(&b.passage.chunk_id)));
    found.truncate(k);
}
