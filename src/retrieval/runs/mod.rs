//! Runs and relevance judgements as files, and two runs side by side.

mod compare;
mod trec;

use std::path::Path;

use polars::prelude::DataFrame;

use crate::error::{Error, Result};
use crate::table::{Chunks, RetrievalRun, read_parquet, write_parquet};

/// Reads relevance judgements in TREC's format, `question 0 chunk grade`: columns `question_id`, `chunk_id`, `grade`, as
/// `Judgements::of_chunks` takes them.
///
/// # Errors
/// Names the line that is malformed.
pub fn read_qrels(path: impl AsRef<Path>) -> Result<DataFrame> {
    let path = path.as_ref();
    let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
    trec::read_qrels(&text).map_err(|error| error.context(path.display().to_string()))
}

/// Writes such judgements, as `Judgements::frame` gives them. The format has whole grades only.
///
/// # Errors
/// When a column is missing, a grade is not whole, or the file cannot be written.
pub fn write_qrels(path: impl AsRef<Path>, judgements: &DataFrame) -> Result<()> {
    trec::write(path.as_ref(), &trec::qrels_text(judgements)?)
}

impl RetrievalRun {
    /// Reads a run that [`RetrievalRun::write_parquet`] or any other tool wrote with the same columns.
    ///
    /// # Errors
    /// When the file is absent, not Parquet, or lacks a column.
    pub fn read_parquet(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::new(read_parquet(path)?).map_err(|error| error.context(format!("reading the run {}", path.display())))
    }

    /// Writes the run, whole or not at all.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_parquet(&self, path: impl AsRef<Path>) -> Result<()> {
        write_parquet(self.frame(), path.as_ref())
    }

    /// Reads a run in TREC's format, `question Q0 chunk rank score retriever`, with the chunks' texts from `chunks`.
    ///
    /// # Errors
    /// Names the line that is malformed, or the chunk that `chunks` lacks.
    ///
    /// ```
    /// use claimlab::prelude::*;
    /// # fn main() -> claimlab::Result<()> {
    /// # let folder = tempfile::tempdir().map_err(|e| Error::io("temporary folder", &e))?;
    /// # let lab = Lab::at(folder.path())?;
    /// let sample = lab.sample()?;
    /// let chunks = sample.chunks(&Chunking::tokens(150, 30)?)?;
    /// let run = Retriever::bm25(&chunks)?.retrieve(&sample.questions(), 5)?;
    /// let file = folder.path().join("bm25.trec");
    /// run.write_trec(&file)?;
    /// assert!(run.frame().equals_missing(RetrievalRun::read_trec(&file, &chunks)?.frame()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_trec(path: impl AsRef<Path>, chunks: &Chunks) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
        trec::read_run(&text, chunks).map_err(|error| error.context(path.display().to_string()))
    }

    /// Writes the run in TREC's format. White space and per cent signs in names are written as `%20` and the like, since
    /// the format separates its columns by spaces; scores have all their digits.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_trec(&self, path: impl AsRef<Path>) -> Result<()> {
        trec::write(path.as_ref(), &trec::run_text(self)?)
    }

    /// This run beside another over the same questions, one row a question and chunk that either found: both ranks, both
    /// scores and their ratio; null where a run has not found the chunk.
    ///
    /// # Errors
    /// When either run holds several retrievers.
    pub fn beside(&self, other: &Self) -> Result<DataFrame> {
        compare::beside(self, other)
    }
}
