//! BM25: settings, the index on tantivy, and an exact scorer with free parameters.

mod exact;
mod impacts;
#[cfg(feature = "bm25")]
mod index;
mod inversion;
#[cfg(feature = "bm25")]
mod segment;
mod terms;

use std::sync::Arc;

use serde_json::{Value, json};

use super::acts::Engine;
use super::{Analyzer, Passage};
use crate::error::{Error, Result};
use crate::lab::Lab;

/// Okapi BM25 (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", section 3.4, with
/// Lucene's idf that is never negative): which analyzer, which parameters.
///
/// ```
/// use claimlab::retrieval::{Analyzer, Bm25};
/// assert_eq!(Bm25::opensearch().name(), "BM25");
/// assert_eq!(Bm25::legal().name(), "BM25 legal");
/// assert_eq!(Bm25::with(Analyzer::LegalFr).k1(0.9).b(0.4).name(), "BM25 legal_fr k1=0.9 b=0.4");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    /// None: the legal analyzer of each act's language.
    analyzer: Option<Analyzer>,
    k1: f64,
    b: f64,
    exact: bool,
}

/// OpenSearch's, Lucene's and tantivy's parameters.
const K1: f64 = 1.2;
const B: f64 = 0.75;

impl Bm25 {
    /// As OpenSearch does it by default: `opensearch_standard`, k1 = 1.2, b = 0.75.
    #[must_use]
    pub fn opensearch() -> Self {
        Self::with(Analyzer::OpensearchStandard)
    }

    /// The legal analyzer of each act's language, with the same parameters.
    #[must_use]
    pub fn legal() -> Self {
        Self { analyzer: None, k1: K1, b: B, exact: false }
    }

    /// One analyzer for all acts.
    #[must_use]
    pub fn with(analyzer: Analyzer) -> Self {
        Self { analyzer: Some(analyzer), k1: K1, b: B, exact: false }
    }

    /// How slowly a term's repetitions saturate: 0 counts presence only, large values count every repetition. Any value
    /// but 1.2 uses the exact scorer, which holds its index in memory.
    #[must_use]
    pub fn k1(mut self, k1: f64) -> Self {
        self.k1 = k1;
        self
    }

    /// How much long passages are held back: 0 not at all, 1 in full. Any value but 0.75 uses the exact scorer.
    #[must_use]
    pub fn b(mut self, b: f64) -> Self {
        self.b = b;
        self
    }

    /// Uses the exact scorer whatever the parameters: every passage is scored in full, lengths as Lucene rounds them.
    #[must_use]
    pub fn exact(mut self) -> Self {
        self.exact = true;
        self
    }

    /// What a run's column `retriever` says.
    #[must_use]
    pub fn name(&self) -> String {
        let mut name = match self.analyzer {
            Some(Analyzer::OpensearchStandard) => "BM25".to_owned(),
            Some(analyzer) => format!("BM25 {}", analyzer.name()),
            None => "BM25 legal".to_owned(),
        };
        if self.k1 != K1 {
            name += &format!(" k1={}", self.k1);
        }
        if self.b != B {
            name += &format!(" b={}", self.b);
        }
        if self.exact {
            name += " exact";
        }
        name
    }

    fn analyzer_for(&self, language: Option<&str>) -> Result<Analyzer> {
        match (self.analyzer, language) {
            (Some(analyzer), _) => Ok(analyzer),
            (None, Some(language)) => Analyzer::legal(language),
            (None, None) => {
                Err(Error::input("Bm25::legal() needs one language an act, and this act has none or several")
                    .help("fill the chunks' column \"language\", or choose Bm25::with(Analyzer::LegalFr)"))
            }
        }
    }

    fn validate(&self) -> Result<()> {
        let fine = self.k1.is_finite() && self.k1 >= 0.0 && (0.0..=1.0).contains(&self.b);
        if fine {
            return Ok(());
        }
        Err(Error::input(format!("BM25 cannot have k1 = {} and b = {}", self.k1, self.b))
            .help("k1 is at least 0 (1.2 is usual), b lies between 0 and 1 (0.75 is usual)"))
    }

    /// The engine over an act's passages, in memory or in the lab's folder.
    pub(super) fn engine(
        &self,
        lab: Option<&Lab>,
        passages: &[Arc<Passage>],
        language: Option<&str>,
    ) -> Result<Box<dyn Engine>> {
        self.validate()?;
        let analyzer = self.analyzer_for(language)?;
        if self.exact || self.k1 != K1 || self.b != B {
            return Ok(Box::new(exact::Exact::new(passages, analyzer, self.k1, self.b)?));
        }
        #[cfg(feature = "bm25")]
        return Ok(match lab {
            Some(lab) => Box::new(index::Index::on_disk(lab, passages, analyzer)?),
            None => Box::new(index::Index::in_memory(passages, analyzer)?),
        });
        #[cfg(not(feature = "bm25"))]
        {
            let _ = lab;
            Err(Error::feature_disabled("BM25 index", "bm25").help("or use Bm25::opensearch().exact()"))
        }
    }

    /// Shows the settings.
    pub fn evcxr_display(&self) {
        crate::signal::display(None, None, &self.name());
    }
}

fn spec(engine: &str, analyzer: Analyzer, k1: f64, b: f64) -> Value {
    json!({"engine": engine, "analyzer": analyzer.name(), "k1": k1, "b": b})
}
