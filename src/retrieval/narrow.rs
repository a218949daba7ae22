//! Narrower retrievers: fewer candidates, one act, one language.

use serde_json::{Value, json};

use super::{Found, Question, Retrieve, Retriever, TermScore};
use crate::error::Result;

/// What is cut away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Limit {
    /// All but the best so many.
    Top(usize),
    /// All acts but this one, whatever act a question names.
    Source(String),
    /// Passages in other languages.
    Language(String),
}

/// A retriever of which only a part is seen.
#[derive(Debug)]
pub(super) struct Narrow {
    inner: Retriever,
    limit: Limit,
}

impl Narrow {
    pub(super) fn new(inner: &Retriever, limit: Limit) -> Self {
        Self { inner: inner.clone(), limit }
    }

    pub(super) fn name(&self) -> String {
        match &self.limit {
            Limit::Top(n) => format!("{} top {n}", self.inner.name()),
            Limit::Source(source) => format!("{} from {source}", self.inner.name()),
            Limit::Language(language) => format!("{} in {language}", self.inner.name()),
        }
    }

    fn narrowed(&self, question: &Question) -> Question {
        let mut question = question.clone();
        match &self.limit {
            Limit::Top(_) => {}
            Limit::Source(source) => question.source = Some(source.clone()),
            Limit::Language(language) => question.language = Some(language.clone()),
        }
        question
    }
}

impl Retrieve for Narrow {
    fn search(&self, questions: &[Question], k: usize) -> Result<Vec<Vec<Found>>> {
        let k = if let Limit::Top(n) = self.limit { k.min(n) } else { k };
        let questions: Vec<Question> = questions.iter().map(|question| self.narrowed(question)).collect();
        self.inner.search(&questions, k)
    }

    fn spec(&self) -> Value {
        let limit = match &self.limit {
            Limit::Top(n) => json!({"top": n}),
            Limit::Source(source) => json!({"source": source}),
            Limit::Language(language) => json!({"language": language}),
        };
        json!({"limit": limit, "of": self.inner.spec()})
    }

    fn index_bytes(&self) -> Option<u64> {
        self.inner.index_bytes()
    }

    fn explain_score(&self, question: &Question, chunk_id: &str) -> Result<Vec<TermScore>> {
        self.inner.explain_scores(&self.narrowed(question), chunk_id)
    }
}
