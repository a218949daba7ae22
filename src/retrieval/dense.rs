//! Exact search over vectors.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Hit, Passage, Retrieve};
use crate::error::Result;
use crate::model::Embed;

/// Every passage's vector, compared with every question's.
#[derive(Debug)]
pub(super) struct Dense {
    vectors: Vec<Vec<f32>>,
    model: Arc<dyn Embed>,
}

impl Dense {
    pub(super) fn new(passages: &[Passage], model: Arc<dyn Embed>) -> Result<Self> {
        let texts: Vec<String> = passages.iter().map(|passage| passage.text.clone()).collect();
        Ok(Self { vectors: model.embed(&texts)?, model })
    }
}

impl Retrieve for Dense {
    fn search(&self, questions: &[String], k: usize) -> Result<Vec<Vec<Hit>>> {
        let asked = self.model.embed_questions(questions)?;
        Ok(asked
            .iter()
            .map(|question| {
                let mut hits: Vec<Hit> = self
                    .vectors
                    .iter()
                    .enumerate()
                    .map(|(passage, vector)| Hit { passage, score: dot(question, vector) })
                    .collect();
                hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.passage.cmp(&b.passage)));
                hits.truncate(k);
                hits
            })
            .collect())
    }

    fn spec(&self) -> Value {
        json!({"engine": "exact cosine", "model": self.model.spec()})
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
