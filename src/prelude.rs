//! The names that a notebook cell needs, listed one by one. Every cell of the ClaimLab kernel has them.

pub use crate::analysis::{Bootstrap, Interval, summarize};
pub use crate::calibration::{CalibrationStudy, Reliability, screen};
pub use crate::claims::{Checker, Extractor, Language, Merge};
pub use crate::dataset::{
    ActSource, Benchmark, Chunking, ColumnMap, Corpus, RagCheckerFile, Relevance, Statistics, published, read_frame,
};
pub use crate::error::{Error, ErrorKind, Result};
pub use crate::figure::{Figure, Page};
pub use crate::generation::Generator;
pub use crate::judging::{Judge, JudgePrompt};
pub use crate::lab::{Hub, Lab};
pub use crate::metrics::{ConfusionMatrix, Judgements, Metric, Mode, score_ranking};
pub use crate::model::{Classifier, Endpoint, LanguageModel, Local, Prompt, Shelf};
pub use crate::retrieval::{Analyzer, Bm25, Dense, Retriever};
pub use crate::study::{Ablation, CheckerReport, Evaluation, Plan, Protocol, System};
pub use crate::table::{
    Checks, Chunks, Claims, Direction, GenerationRun, HumanLabels, JudgingSet, Label, LabelledClaims, QaPairs,
    RetrievalRun, Scores, Show, Summary, Verdicts,
};
pub use polars::prelude::{DataFrame, IntoLazy, LazyFrame, NamedFrom, Series, col, lit};
