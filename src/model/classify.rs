//! The seam for classifiers of text pairs: does the premise entail the hypothesis?

use std::sync::Arc;

use serde_json::{Value, json};

use crate::error::Result;
use crate::signal;

/// A premise and the hypothesis that is checked against it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// What is taken as given.
    pub premise: String,
    /// What is checked.
    pub hypothesis: String,
}

/// Probabilities of the three labels; they sum to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probabilities {
    /// The hypothesis follows from the premise.
    pub entailment: f64,
    /// Neither.
    pub neutral: f64,
    /// The premise says otherwise.
    pub contradiction: f64,
}

/// A natural-language-inference model.
pub trait Classify: std::fmt::Debug + Send + Sync {
    /// One result a pair, in the same order; a failed pair fails alone.
    fn classify(&self, pairs: &[Pair]) -> Vec<Result<Probabilities>>;

    /// Says exactly what it is: name, revision, settings.
    fn spec(&self) -> Value;
}

/// A named classifier, as cells hold it. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Classifier {
    name: Arc<str>,
    engine: Arc<dyn Classify>,
}

impl Classifier {
    /// Names an implementation.
    #[must_use]
    pub fn new(name: &str, engine: Arc<dyn Classify>) -> Self {
        Self { name: name.into(), engine }
    }

    /// The name, as columns of tables have it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name and settings.
    #[must_use]
    pub fn spec(&self) -> Value {
        json!({"model": self.name.as_ref(), "settings": self.engine.spec()})
    }

    /// One result a pair, in the same order.
    #[must_use]
    pub fn classify(&self, pairs: &[Pair]) -> Vec<Result<Probabilities>> {
        self.engine.classify(pairs)
    }

    /// Shows the settings.
    pub fn evcxr_display(&self) {
        signal::display(None, None, &format!("{:#}", self.spec()));
    }
}
