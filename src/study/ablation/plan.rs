//! What is compared.

use crate::dataset::Chunking;
use crate::error::{Error, Result};
use crate::retrieval::{Bm25, Dense};
use crate::signal;

/// One retriever of an ablation, before anything is built.
#[derive(Debug, Clone)]
pub struct Plan(pub(super) Step);

#[derive(Debug, Clone)]
pub(super) enum Step {
    /// BM25, once with each of the ablation's lexical settings.
    Bm25,
    Dense(Dense),
    Rrf(Vec<Plan>),
}

impl Plan {
    /// BM25, once with each lexical setting of the ablation.
    #[must_use]
    pub fn bm25() -> Self {
        Self(Step::Bm25)
    }

    /// Exact dense search.
    #[must_use]
    pub fn dense(settings: &Dense) -> Self {
        Self(Step::Dense(settings.clone()))
    }

    /// Reciprocal rank fusion of others.
    #[must_use]
    pub fn rrf(parts: &[Plan]) -> Self {
        Self(Step::Rrf(parts.to_vec()))
    }

    /// Whether lexical settings make a difference.
    pub(super) fn is_lexical(&self) -> bool {
        match &self.0 {
            Step::Bm25 => true,
            Step::Dense(_) => false,
            Step::Rrf(parts) => parts.iter().any(Plan::is_lexical),
        }
    }

    /// The name without the lexical setting, which has a column of its own.
    pub(super) fn family(&self) -> String {
        match &self.0 {
            Step::Bm25 => "BM25".to_owned(),
            Step::Dense(dense) => dense.name(),
            Step::Rrf(parts) => format!("RRF({})", parts.iter().map(Plan::family).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Shows the name.
    pub fn evcxr_display(&self) {
        signal::display(None, None, &self.family());
    }
}

/// A plan of what is varied: retrievers × lexical settings × chunkings × cut-offs.
///
/// ```
/// use claimlab::prelude::*;
/// use claimlab::retrieval::Bm25;
/// use claimlab::study::{Ablation, Plan};
/// # fn main() -> claimlab::Result<()> {
/// let ablation = Ablation::new(&[Plan::bm25()])
///     .lexical(&[Bm25::opensearch(), Bm25::legal()])
///     .chunking("150 tokens", &Chunking::tokens(150, 30)?)
///     .chunking("300 tokens", &Chunking::tokens(300, 60)?)
///     .at(&[1, 5, 10]);
/// assert_eq!(ablation.n_settings(), 4);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Ablation {
    pub(super) plans: Vec<Plan>,
    pub(super) lexical: Vec<Bm25>,
    pub(super) chunkings: Vec<(String, Chunking)>,
    pub(super) ks: Vec<usize>,
}

impl Ablation {
    /// These retrievers, with BM25 as OpenSearch does it, at 1, 3, 5 and 10.
    #[must_use]
    pub fn new(plans: &[Plan]) -> Self {
        Self { plans: plans.to_vec(), lexical: vec![Bm25::opensearch()], chunkings: Vec::new(), ks: vec![1, 3, 5, 10] }
    }

    /// The settings of BM25 to vary: analyzers, k1 and b.
    #[must_use]
    pub fn lexical(mut self, settings: &[Bm25]) -> Self {
        self.lexical = settings.to_vec();
        self
    }

    /// Adds a way of cutting the acts, under a name for the table.
    #[must_use]
    pub fn chunking(mut self, name: &str, chunking: &Chunking) -> Self {
        self.chunkings.push((name.to_owned(), chunking.clone()));
        self
    }

    /// The cut-offs. All are read from one ranking.
    #[must_use]
    pub fn at(mut self, ks: &[usize]) -> Self {
        self.ks = ks.to_vec();
        self
    }

    /// How many rankings there are, cut-offs not counted.
    #[must_use]
    pub fn n_settings(&self) -> usize {
        let settings = |plan: &Plan| if plan.is_lexical() { self.lexical.len() } else { 1 };
        self.chunkings.len() * self.plans.iter().map(settings).sum::<usize>()
    }

    pub(super) fn validate(&self) -> Result<()> {
        let mut names: Vec<&String> = self.chunkings.iter().map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        let lacks = match self {
            Self { plans, .. } if plans.is_empty() => "no retriever",
            Self { chunkings, .. } if chunkings.is_empty() => "no chunking",
            Self { ks, .. } if ks.is_empty() || ks.contains(&0) => "no cut-off, or one of 0",
            Self { lexical, .. } if lexical.is_empty() && self.plans.iter().any(Plan::is_lexical) => {
                "no setting of BM25 although it is to be compared"
            }
            Self { chunkings, .. } if names.len() < chunkings.len() => "two chunkings of one name",
            _ => return Ok(()),
        };
        Err(Error::input(format!("the ablation has {lacks}")).help(
            "as in Ablation::new(&[Plan::bm25()]).chunking(\"150 tokens\", &Chunking::tokens(150, 30)?).at(&[5])",
        ))
    }

    /// Shows what is compared.
    pub fn evcxr_display(&self) {
        let families: Vec<String> = self.plans.iter().map(Plan::family).collect();
        let lexical: Vec<String> = self.lexical.iter().map(Bm25::name).collect();
        let chunkings: Vec<&str> = self.chunkings.iter().map(|(name, _)| name.as_str()).collect();
        let text =
            format!("{} × {} × {} at {:?}", families.join(" | "), lexical.join(" | "), chunkings.join(" | "), self.ks);
        signal::display(None, None, &text);
    }
}
