//! Retrieval: from a question to its best chunks.

#[cfg(feature = "bm25")]
mod bm25;
mod dense;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::lab::Lab;
use crate::model::Embed;
use crate::signal::{self, Progress};
use crate::table::{Chunks, FrameBuilder, QaPairs, RetrievalRun, texts};

/// One chunk as engines see it.
#[derive(Debug, Clone)]
pub struct Passage {
    /// Names the chunk.
    pub chunk_id: String,
    /// Its text.
    pub text: String,
}

/// One result of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Which of the engine's passages, from 0.
    pub passage: usize,
    /// Higher is better.
    pub score: f32,
}

/// A search engine over the passages of one act.
pub trait Retrieve: std::fmt::Debug + Send + Sync {
    /// The best `k` passages for each question, best first, ties by passage.
    ///
    /// # Errors
    /// When the engine fails.
    fn search(&self, questions: &[String], k: usize) -> Result<Vec<Vec<Hit>>>;

    /// Says exactly what it is.
    fn spec(&self) -> Value;
}

/// A named recipe for retrieval, with one engine for each act, so that a question is answered from the act that it is
/// about and no act's word counts disturb another's.
#[derive(Debug, Clone)]
pub struct Retriever(Arc<Recipe>);

#[derive(Debug)]
struct Recipe {
    name: String,
    acts: BTreeMap<String, (Vec<Passage>, Box<dyn Retrieve>)>,
}

impl Retriever {
    /// BM25 over words, in memory (k1 = 1.2, b = 0.75; lower-cased runs of letters and digits, nothing else).
    ///
    /// # Errors
    /// When the index cannot be built, or this build lacks it.
    pub fn bm25(chunks: &Chunks) -> Result<Self> {
        #[cfg(feature = "bm25")]
        return Self::build("BM25", chunks, &|passages| Ok(Box::new(bm25::Bm25::in_memory(passages)?)));
        #[cfg(not(feature = "bm25"))]
        return Self::build("BM25", chunks, &|_| Err(Error::feature_disabled("BM25 index", "bm25")));
    }

    /// The same index in the lab's folder, built once and opened ever after.
    ///
    /// # Errors
    /// As [`Retriever::bm25`], and when the folder cannot be written to.
    pub fn bm25_on_disk(lab: &Lab, chunks: &Chunks) -> Result<Self> {
        #[cfg(feature = "bm25")]
        return Self::build("BM25", chunks, &|passages| Ok(Box::new(bm25::Bm25::on_disk(lab, passages)?)));
        #[cfg(not(feature = "bm25"))]
        return {
            let _ = lab;
            Self::build("BM25", chunks, &|_| Err(Error::feature_disabled("BM25 index", "bm25")))
        };
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
        Self::build("RandomIndexing", chunks, &|_| Err(Error::feature_disabled("local models", "local")))
    }

    /// Exact cosine search with any embedder.
    ///
    /// # Errors
    /// When the embedder fails.
    pub fn dense(name: &str, chunks: &Chunks, model: &Arc<dyn Embed>) -> Result<Self> {
        Self::build(name, chunks, &|passages| Ok(Box::new(dense::Dense::new(passages, model.clone())?)))
    }

    fn build(name: &str, chunks: &Chunks, engine: &dyn Fn(&[Passage]) -> Result<Box<dyn Retrieve>>) -> Result<Self> {
        let frame = chunks.frame();
        let sources = match frame.column("source") {
            Ok(_) => texts(frame, "source")?,
            Err(_) => texts(frame, "document_id")?,
        };
        let mut acts: BTreeMap<String, Vec<Passage>> = BTreeMap::new();
        let rows = texts(frame, "chunk_id")?.into_iter().zip(texts(frame, "text")?).zip(sources);
        for ((chunk_id, text), source) in rows {
            let (Some(chunk_id), Some(text)) = (chunk_id, text) else { continue };
            acts.entry(source.unwrap_or_default()).or_default().push(Passage { chunk_id, text });
        }
        let mut built = BTreeMap::new();
        for (source, mut passages) in acts {
            // Engines break ties by place, and places are in the order of the chunks' names.
            passages.sort_by(|a, b| a.chunk_id.cmp(&b.chunk_id));
            let engine = engine(&passages).map_err(|error| error.context(format!("building {name} over {source}")))?;
            built.insert(source, (passages, engine));
        }
        Ok(Self(Arc::new(Recipe { name: name.to_owned(), acts: built })))
    }

    /// What the run's column `retriever` says.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The same recipe under another name, for two settings side by side.
    ///
    /// # Errors
    /// When another handle still uses the recipe under its first name.
    pub fn named(self, name: &str) -> Result<Self> {
        let mut recipe = Arc::try_unwrap(self.0).map_err(|_| {
            Error::input("this retriever is in use under its first name").help("name it where it is made")
        })?;
        recipe.name = name.to_owned();
        Ok(Self(Arc::new(recipe)))
    }

    /// Says exactly what it is.
    #[must_use]
    pub fn spec(&self) -> Value {
        let acts: BTreeMap<_, _> = self
            .0
            .acts
            .iter()
            .map(|(source, (passages, engine))| (source, json!({"chunks": passages.len(), "engine": engine.spec()})))
            .collect();
        json!({"retriever": self.0.name, "acts": acts})
    }

    /// The best `k` chunks for every question, from the act that the question's `source` names.
    ///
    /// # Errors
    /// When a question names an act that was not indexed, or has no source while there are several acts.
    pub fn retrieve(&self, questions: &QaPairs, k: usize) -> Result<RetrievalRun> {
        if k == 0 {
            return Err(Error::input("k is 0: nothing would be retrieved").help("ask for at least one chunk"));
        }
        let frame = questions.frame();
        let ids = texts(frame, "question_id")?;
        let asked = texts(frame, "question")?;
        let sources =
            if frame.column("source").is_ok() { texts(frame, "source")? } else { vec![None; questions.height()] };
        let mut by_act: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (row, source) in sources.iter().enumerate() {
            by_act.entry(self.act_of(source.as_deref())?).or_default().push(row);
        }
        let progress = Progress::new(&format!("Retrieving with {}", self.0.name), ids.len());
        let mut found: Vec<(usize, Vec<(String, f32, String)>)> = Vec::new();
        for (source, rows) in by_act {
            let Some((passages, engine)) = self.0.acts.get(source) else { continue };
            let texts: Vec<String> = rows.iter().map(|row| asked[*row].clone().unwrap_or_default()).collect();
            signal::check("nothing of this run is kept")?;
            for (row, hits) in rows.into_iter().zip(engine.search(&texts, k)?) {
                let hits = hits
                    .iter()
                    .filter_map(|hit| {
                        passages.get(hit.passage).map(|one| (one.chunk_id.clone(), hit.score, one.text.clone()))
                    })
                    .collect();
                found.push((row, hits));
                progress.advance(1);
            }
        }
        found.sort_by_key(|(row, _)| *row);
        self.run(&ids, found)
    }

    fn act_of<'a>(&'a self, source: Option<&str>) -> Result<&'a str> {
        let known: Vec<&String> = self.0.acts.keys().collect();
        let chosen = match source {
            Some(source) => known.iter().find(|name| name.as_str() == source),
            None if known.len() == 1 => known.first(),
            None => None,
        };
        chosen.map(|name| name.as_str()).ok_or_else(|| {
            Error::input(format!("a question asks for the act {source:?}, but {} knows {known:?}", self.0.name))
                .help("index the act's chunks too, or set the column \"source\" of the questions")
        })
    }

    fn run(&self, ids: &[Option<String>], found: Vec<(usize, Vec<(String, f32, String)>)>) -> Result<RetrievalRun> {
        let mut question = Vec::new();
        let mut rank = Vec::new();
        let mut chunk = Vec::new();
        let mut score = Vec::new();
        let mut text = Vec::new();
        for (row, hits) in found {
            for (place, (chunk_id, points, words)) in hits.into_iter().enumerate() {
                question.push(ids[row].clone().unwrap_or_default());
                rank.push(place as i64 + 1);
                chunk.push(chunk_id);
                score.push(Some(f64::from(points)));
                text.push(words);
            }
        }
        RetrievalRun::new(
            FrameBuilder::new()
                .text("retriever", &vec![self.0.name.as_str(); question.len()])
                .text("question_id", &question)
                .integer("rank", &rank)
                .text("chunk_id", &chunk)
                .number("score", &score)
                .text("text", &text)
                .build()?,
        )
    }

    /// Shows the recipe.
    pub fn evcxr_display(&self) {
        signal::display(None, None, &format!("{:#}", self.spec()));
    }
}
