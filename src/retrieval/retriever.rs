//! The handle that cells hold.

use std::sync::Arc;

use polars::prelude::DataFrame;
use serde_json::{Value, json};

use super::acts::Acts;
use super::fusion::Fusion;
use super::narrow::{Limit, Narrow};
use super::rerank::Rerank;
use super::{Bm25, Dense, Found, Question, Recipe, Retrieve, TermScore};
use crate::error::{Error, ErrorKind, Result};
use crate::lab::Lab;
use crate::model::{Classifier, Embed, LanguageModel};
use crate::signal::{self, Progress};
use crate::table::{Chunks, FrameBuilder, QaPairs, RetrievalRun, texts};

/// Questions searched at once; between two batches progress is shown.
const BATCH: usize = 64;

/// A named recipe for retrieval. Cloning is cheap.
///
/// Every name says what the recipe is, so that two different recipes never share one in a table.
///
/// ```
/// use claimlab::prelude::*;
/// use claimlab::retrieval::Bm25;
/// # fn main() -> claimlab::Result<()> {
/// # let folder = tempfile::tempdir().map_err(|e| Error::io("temporary folder", &e))?;
/// # let lab = Lab::at(folder.path())?;
/// let sample = lab.sample()?;
/// let chunks = sample.chunks(&Chunking::tokens(150, 30)?)?;
/// let standard = Retriever::bm25(&chunks)?;
/// let legal = Retriever::bm25_with(&chunks, &Bm25::legal())?;
/// let both = Retriever::rrf(&[standard, legal])?;
/// assert_eq!(both.name(), "RRF(BM25, BM25 legal)");
/// let run = both.retrieve(&sample.questions(), 5)?;
/// assert!(run.height() > 5);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Retriever {
    name: Arc<str>,
    recipe: Arc<dyn Retrieve>,
}

impl Retriever {
    /// Names an implementation of the seam.
    #[must_use]
    pub fn new(name: &str, recipe: Arc<dyn Retrieve>) -> Self {
        Self { name: name.into(), recipe }
    }

    /// BM25 as OpenSearch does it by default, in memory; see [`Bm25::opensearch`].
    ///
    /// # Errors
    /// When there are no chunks, two share an id, or this build lacks the index.
    pub fn bm25(chunks: &Chunks) -> Result<Self> {
        Self::bm25_with(chunks, &Bm25::opensearch())
    }

    /// BM25 with other settings, in memory.
    ///
    /// # Errors
    /// As [`Retriever::bm25`], and when a parameter is out of range or an act's language has no legal analyzer.
    pub fn bm25_with(chunks: &Chunks, settings: &Bm25) -> Result<Self> {
        let build = |passages: &[_], language: Option<&str>| settings.engine(None, passages, language);
        Ok(Self::new(&settings.name(), Arc::new(Acts::build(&settings.name(), chunks, &build)?)))
    }

    /// The index of [`Retriever::bm25`] in the lab's folder, built once and opened ever after.
    ///
    /// # Errors
    /// As [`Retriever::bm25`], and when the folder cannot be written to or what it holds is damaged.
    pub fn bm25_on_disk(lab: &Lab, chunks: &Chunks) -> Result<Self> {
        Self::bm25_on_disk_with(lab, chunks, &Bm25::opensearch())
    }

    /// The same with other settings. The exact scorer keeps nothing on disk.
    ///
    /// # Errors
    /// As [`Retriever::bm25_on_disk`] and [`Retriever::bm25_with`].
    pub fn bm25_on_disk_with(lab: &Lab, chunks: &Chunks, settings: &Bm25) -> Result<Self> {
        let build = |passages: &[_], language: Option<&str>| settings.engine(Some(lab), passages, language);
        Ok(Self::new(&settings.name(), Arc::new(Acts::build(&settings.name(), chunks, &build)?)))
    }

    /// Exact cosine search over the vectors of random indexing: a floor for dense retrieval that learns nothing
    /// (see `RandomIndexing`).
    ///
    /// # Errors
    /// When this build has no local models.
    pub fn random_indexing(chunks: &Chunks) -> Result<Self> {
        #[cfg(feature = "local")]
        {
            let model: Arc<dyn Embed> = Arc::new(crate::model::local::RandomIndexing::new(20_310_617)?);
            Self::dense("RandomIndexing", chunks, &model)
        }
        #[cfg(not(feature = "local"))]
        {
            let _ = chunks;
            Err(Error::feature_disabled("local models", "local"))
        }
    }

    /// Exact cosine search with any embedder.
    ///
    /// # Errors
    /// When the embedder fails, or gives vectors of different lengths or with numbers that are not finite.
    pub fn dense(name: &str, chunks: &Chunks, model: &Arc<dyn Embed>) -> Result<Self> {
        Self::dense_with(chunks, &Dense::new(name, model))
    }

    /// Exact cosine search with other settings.
    ///
    /// # Errors
    /// As [`Retriever::dense`].
    pub fn dense_with(chunks: &Chunks, settings: &Dense) -> Result<Self> {
        let build = |passages: &[_], _: Option<&str>| settings.engine(None, passages);
        Ok(Self::new(&settings.name(), Arc::new(Acts::build(&settings.name(), chunks, &build)?)))
    }

    /// The same with the vectors in the lab's folder: a text that this model embedded once is not embedded again, and
    /// an interrupted run goes on where it stopped.
    ///
    /// # Errors
    /// As [`Retriever::dense`], and when the folder cannot be written to or a file in it is damaged.
    pub fn dense_on_disk(lab: &Lab, chunks: &Chunks, settings: &Dense) -> Result<Self> {
        let build = |passages: &[_], _: Option<&str>| settings.engine(Some(lab), passages);
        Ok(Self::new(&settings.name(), Arc::new(Acts::build(&settings.name(), chunks, &build)?)))
    }

    /// Reciprocal rank fusion: each passage counts Σ 1 / (60 + rank) over the parts that find it among their first
    /// hundred (Cormack, Clarke and Büttcher 2009).
    ///
    /// # Errors
    /// When there are fewer than two parts.
    pub fn rrf(parts: &[Retriever]) -> Result<Self> {
        let fusion = Fusion::reciprocal_rank(parts)?;
        Ok(Self::new(&fusion.name(), Arc::new(fusion)))
    }

    /// A weighted sum of scores, each part's scaled to 0..1 over its first hundred candidates (or `k`, if that is more).
    /// Weights are scaled to sum to 1; a passage that a part does not find gets 0 from it.
    ///
    /// # Errors
    /// When there are fewer than two parts, a weight is negative, or all are 0.
    pub fn weighted(parts: &[(Retriever, f64)]) -> Result<Self> {
        let fusion = Fusion::weighted(parts)?;
        Ok(Self::new(&fusion.name(), Arc::new(fusion)))
    }

    /// The best `depth` candidates, ranked again by the probability that a passage entails the question as a cross-encoder
    /// sees it. A pair that the classifier fails on stands behind all others, with the reason in the column `note`.
    ///
    /// # Errors
    /// When `depth` is 0.
    pub fn rerank(&self, classifier: &Classifier, depth: usize) -> Result<Self> {
        let rerank = Rerank::by_classifier(self, classifier, depth)?;
        Ok(Self::new(&rerank.name(), Arc::new(rerank)))
    }

    /// The best `depth` candidates, each graded from 0 to 3 by a language model, one call a candidate; equal grades in the
    /// order before. A reply of another form than was asked for stands behind all others, with the reason in `note`.
    ///
    /// # Errors
    /// When `depth` is 0.
    pub fn rerank_by_model(&self, model: &LanguageModel, depth: usize) -> Result<Self> {
        let rerank = Rerank::by_model(self, model, depth)?;
        Ok(Self::new(&rerank.name(), Arc::new(rerank)))
    }

    /// Only its best `n`, however many are asked for.
    #[must_use]
    pub fn top(&self, n: usize) -> Self {
        self.narrowed(Limit::Top(n))
    }

    /// Only this act, whatever act a question names.
    #[must_use]
    pub fn from_source(&self, source: &str) -> Self {
        self.narrowed(Limit::Source(source.to_owned()))
    }

    /// Only passages in this language (as in the chunks' column `language`).
    #[must_use]
    pub fn in_language(&self, language: &str) -> Self {
        self.narrowed(Limit::Language(language.to_owned()))
    }

    fn narrowed(&self, limit: Limit) -> Self {
        let narrow = Narrow::new(self, limit);
        Self::new(&narrow.name(), Arc::new(narrow))
    }

    /// What the run's column `retriever` says.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Says exactly what it is, down to fingerprints of the texts that it searches.
    #[must_use]
    pub fn spec(&self) -> Value {
        json!({"retriever": self.name.as_ref(), "recipe": self.recipe.spec()})
    }

    /// The whole recipe in words.
    #[must_use]
    pub fn explain(&self) -> Recipe {
        Recipe::of(&self.spec(), self.index_bytes())
    }

    /// What its index occupies in memory or on disk, without the texts; `None` where that is not known.
    #[must_use]
    pub fn index_bytes(&self) -> Option<u64> {
        self.recipe.index_bytes()
    }

    /// Each question's best passages; see [`Retrieve::search`].
    ///
    /// # Errors
    /// When the engine fails, or a question asks for an act that it does not know.
    pub fn search(&self, questions: &[Question], k: usize) -> Result<Vec<Vec<Found>>> {
        let found = self.recipe.search(questions, k)?;
        if found.len() != questions.len() {
            let told = format!("{} answered {} of {} questions", self.name, found.len(), questions.len());
            return Err(Error::new(ErrorKind::Internal, told));
        }
        Ok(found)
    }

    /// How a passage's BM25 score for a question comes about: one row a term of the question, and their sum.
    ///
    /// # Errors
    /// When the chunk is not in the index, or the recipe's scores are not sums over terms.
    pub fn explain_score(&self, question: &str, chunk_id: &str) -> Result<DataFrame> {
        let terms = self.explain_scores(&Question::new(question), chunk_id)?;
        let numbers = |of: fn(&TermScore) -> f64| terms.iter().map(|term| Some(of(term))).collect::<Vec<_>>();
        let mut names: Vec<&str> = terms.iter().map(|term| term.term.as_str()).collect();
        names.push("(sum)");
        let with_sum = |mut values: Vec<Option<f64>>, sum: Option<f64>| {
            values.push(sum);
            values
        };
        let counts = |of: fn(&TermScore) -> i64| {
            terms.iter().map(|term| Some(of(term))).chain([None]).collect::<Vec<Option<i64>>>()
        };
        FrameBuilder::new()
            .text("term", &names)
            .integer_or_null("in_question", &counts(|term| term.in_question as i64))
            .integer_or_null("frequency", &counts(|term| i64::from(term.frequency)))
            .integer_or_null("document_frequency", &counts(|term| term.document_frequency as i64))
            .number("idf", &with_sum(numbers(|term| term.idf), None))
            .number("tf", &with_sum(numbers(|term| term.tf), None))
            .number("score", &with_sum(numbers(|term| term.score), Some(terms.iter().map(|term| term.score).sum())))
            .build()
    }

    pub(super) fn explain_scores(&self, question: &Question, chunk_id: &str) -> Result<Vec<TermScore>> {
        self.recipe.explain_score(question, chunk_id)
    }

    /// The best `k` chunks for every question, from the act that the question's `source` names. A question that matches
    /// nothing has no rows.
    ///
    /// # Errors
    /// When `k` is 0, or a question names an act that was not indexed, or no act while there are several.
    pub fn retrieve(&self, questions: &QaPairs, k: usize) -> Result<RetrievalRun> {
        if k == 0 {
            return Err(Error::input("k is 0: nothing would be retrieved").help("ask for at least one chunk"));
        }
        let frame = questions.frame();
        let ids = texts(frame, "question_id")?;
        let asked = texts(frame, "question")?;
        let sources =
            if frame.column("source").is_ok() { texts(frame, "source")? } else { vec![None; questions.height()] };
        let asked: Vec<Question> = asked
            .into_iter()
            .zip(sources)
            .map(|(text, source)| Question { text: text.unwrap_or_default(), source, language: None })
            .collect();
        let progress = Progress::new(&format!("Retrieving with {}", self.name), asked.len());
        let mut rows = Rows::default();
        for (ids, questions) in ids.chunks(BATCH).zip(asked.chunks(BATCH)) {
            signal::check("nothing of this run is kept")?;
            for (id, found) in ids.iter().zip(self.search(questions, k)?) {
                rows.push(id.as_deref().unwrap_or_default(), &found);
            }
            progress.advance(questions.len());
        }
        rows.finish(&self.name)
    }

    /// Shows the recipe.
    pub fn evcxr_display(&self) {
        self.explain().evcxr_display();
    }
}

/// A run's columns.
#[derive(Debug, Default)]
struct Rows {
    question: Vec<String>,
    rank: Vec<i64>,
    chunk: Vec<String>,
    score: Vec<Option<f64>>,
    text: Vec<String>,
    note: Vec<Option<String>>,
}

impl Rows {
    fn push(&mut self, question: &str, found: &[Found]) {
        for (place, one) in found.iter().enumerate() {
            self.question.push(question.to_owned());
            self.rank.push(place as i64 + 1);
            self.chunk.push(one.passage.chunk_id.clone());
            self.score.push(Some(one.score));
            self.text.push(one.passage.text.clone());
            self.note.push(one.note.clone());
        }
    }

    fn finish(self, name: &str) -> Result<RetrievalRun> {
        let mut table = FrameBuilder::new()
            .text("retriever", &vec![name; self.question.len()])
            .text("question_id", &self.question)
            .integer("rank", &self.rank)
            .text("chunk_id", &self.chunk)
            .number("score", &self.score)
            .text("text", &self.text);
        if self.note.iter().any(Option::is_some) {
            table = table.text_or_null("note", &self.note);
        }
        RetrievalRun::new(table.build()?)
    }
}
