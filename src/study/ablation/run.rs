//! Doing what a plan says, each piece of work once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use polars::prelude::DataFrame;
use serde_json::{Value, json};

use super::Ablation;
use super::plan::{Plan, Step};
use super::result::{Ablated, Setting};
use crate::dataset::Benchmark;
use crate::error::{Error, Result};
use crate::lab::Lab;
use crate::metrics::{Judgements, score_ranking};
use crate::retrieval::{Bm25, Found, Question, Retrieve, Retriever};
use crate::signal::{self, Progress};
use crate::table::{Chunks, RetrievalRun, Scores};

/// Depth to which parts of a fusion are remembered; the one that fusion itself asks for.
const DEPTH: usize = 100;
/// The share of the shorter of passage and chunk that makes a chunk relevant.
const MIN_SHARE: f64 = 0.5;

impl Lab {
    /// Runs an ablation on a benchmark's questions and acts. `passages` says what answers each question, as columns
    /// `question_id`, `document_id`, `start` and `end` (see [`Judgements::of_passages`]): recall against passages means the
    /// same for every chunking.
    ///
    /// Acts are cut once a chunking; an index is built once a chunking and setting, and shared by every fusion that it is
    /// part of; every ranking is stored before the next begins, so that a second call, or one after an interrupt, goes on
    /// from there; all cut-offs are read from one ranking.
    ///
    /// # Errors
    /// When the plan lacks something, or a retriever fails: the message says which.
    pub fn ablate(&self, benchmark: &Benchmark, ablation: &Ablation, passages: &DataFrame) -> Result<Ablated> {
        ablation.validate()?;
        let questions = benchmark.questions();
        let deepest = ablation.ks.iter().copied().max().unwrap_or(1);
        let progress = Progress::new("Ablation: rankings", ablation.n_settings());
        let mut done: Vec<(Setting, Scores)> = Vec::new();
        for (chunking, recipe) in &ablation.chunkings {
            let chunks = benchmark.chunks(recipe)?;
            let truth = Judgements::of_passages(passages, &chunks, MIN_SHARE)?;
            if truth.n_questions() == 0 {
                return Err(Error::input("no question has a passage in the acts")
                    .help("passages need question_id, document_id (the act), start and end"));
            }
            let bench = Bench { lab: self, chunks: &chunks, built: Mutex::default() };
            for plan in &ablation.plans {
                let settings = if plan.is_lexical() { ablation.lexical.as_slice() } else { &[] };
                let settings: Vec<Option<&Bm25>> =
                    if settings.is_empty() { vec![None] } else { settings.iter().map(Some).collect() };
                for lexical in settings {
                    signal::check("the rankings so far are in the lab")?;
                    let retriever = bench.retriever(plan, lexical)?;
                    let spec = json!({"k": deepest, "retriever": retriever.spec()});
                    let run = self.artifact("retrieval", &spec, &[questions.frame()], &mut || {
                        retriever.retrieve(&questions, deepest).map(RetrievalRun::into_frame)
                    });
                    let run = run.map_err(|error| error.context(format!("{} over {chunking}", retriever.name())))?;
                    let setting = Setting {
                        retriever: plan.family(),
                        lexical: lexical.map(Bm25::name),
                        chunking: chunking.clone(),
                    };
                    done.push((setting, score_ranking(&questions, &RetrievalRun::new(run)?, &truth, &ablation.ks)?));
                    progress.advance(1);
                }
            }
        }
        Ablated::new(done)
    }
}

/// One chunking's retrievers, each built once.
struct Bench<'a> {
    lab: &'a Lab,
    chunks: &'a Chunks,
    built: Mutex<HashMap<String, Retriever>>,
}

impl Bench<'_> {
    fn retriever(&self, plan: &Plan, lexical: Option<&Bm25>) -> Result<Retriever> {
        match &plan.0 {
            Step::Bm25 => {
                let settings = lexical.copied().unwrap_or_else(Bm25::opensearch);
                self.once(&settings.name(), &|| Retriever::bm25_with(self.chunks, &settings))
            }
            Step::Dense(dense) => self.once(&dense.name(), &|| Retriever::dense_on_disk(self.lab, self.chunks, dense)),
            Step::Rrf(parts) => {
                let parts: Vec<Retriever> =
                    parts.iter().map(|part| self.retriever(part, lexical)).collect::<Result<_>>()?;
                Retriever::rrf(&parts)
            }
        }
    }

    fn once(&self, name: &str, build: &dyn Fn() -> Result<Retriever>) -> Result<Retriever> {
        let mut built = self.built.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(known) = built.get(name) {
            return Ok(known.clone());
        }
        let inner = build()?;
        let remembered = Retriever::new(name, Arc::new(Remembered { inner, known: Mutex::default() }));
        built.insert(name.to_owned(), remembered.clone());
        Ok(remembered)
    }
}

/// A retriever that searches once for each question.
#[derive(Debug)]
struct Remembered {
    inner: Retriever,
    known: Mutex<HashMap<(String, Option<String>), Vec<Found>>>,
}

impl Retrieve for Remembered {
    fn search(&self, questions: &[Question], k: usize) -> Result<Vec<Vec<Found>>> {
        if k > DEPTH || questions.iter().any(|question| question.language.is_some()) {
            return self.inner.search(questions, k);
        }
        let key = |question: &Question| (question.text.clone(), question.source.clone());
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let new: Vec<Question> = questions.iter().filter(|one| !known.contains_key(&key(one))).cloned().collect();
        for (question, found) in new.iter().zip(self.inner.search(&new, DEPTH)?) {
            known.insert(key(question), found);
        }
        Ok(questions
            .iter()
            .map(|question| {
                let mut found = known.get(&key(question)).cloned().unwrap_or_default();
                found.truncate(k);
                found
            })
            .collect())
    }

    fn spec(&self) -> Value {
        self.inner.spec()
    }
}
