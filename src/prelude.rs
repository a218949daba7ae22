//! The names that a notebook cell needs, listed one by one. Every cell of the ClaimLab kernel has them.

pub use crate::analysis::{Interval, summarize};
pub use crate::claims::{Checker, Extractor, Language};
pub use crate::dataset::{Benchmark, Chunking, Corpus, RagCheckerFile, published};
pub use crate::error::{Error, ErrorKind, Result};
pub use crate::figure::{Figure, Page};
pub use crate::generation::Generator;
pub use crate::lab::Lab;
pub use crate::metrics::{Metric, Mode};
pub use crate::retrieval::Retriever;
pub use crate::study::{Evaluation, System};
pub use crate::table::{
    Checks, Chunks, Claims, GenerationRun, Label, LabelledClaims, QaPairs, RetrievalRun, Scores, Show, Summary,
};
pub use polars::prelude::{DataFrame, IntoLazy, LazyFrame, NamedFrom, Series, col, lit};
