//! Generation: from a question and its chunks to an answer.

mod extractive;
mod scripted;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::signal::{self, Progress};
use crate::table::{FrameBuilder, GenerationRun, QaPairs, RetrievalRun, distinct, texts};
use crate::text::Language;

/// What a generator is asked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Names the question.
    pub question_id: String,
    /// The question.
    pub question: String,
    /// Its language.
    pub language: Language,
    /// The retrieved chunks, best first.
    pub chunks: Vec<String>,
    /// The reference answer, which only a scripted answerer may look at.
    pub reference_answer: String,
}

/// Answers questions from chunks.
pub trait Answer: std::fmt::Debug + Send + Sync {
    /// The answer, and why it ended there.
    ///
    /// # Errors
    /// When this one call fails; the run keeps the failure as a row and goes on.
    fn answer(&self, asked: &Asked) -> Result<(String, &'static str)>;

    /// Says exactly what it is.
    fn spec(&self) -> Value;
}

/// A named generator.
#[derive(Debug, Clone)]
pub struct Generator {
    name: Arc<str>,
    answerer: Arc<dyn Answer>,
}

impl Generator {
    /// Quotes the sentences of the chunks that share most with the question, and abstains when none does.
    /// A baseline: it invents nothing and understands nothing.
    #[must_use]
    pub fn extractive() -> Self {
        Self { name: "Extractive".into(), answerer: Arc::new(extractive::Extractive) }
    }

    /// A test instrument, not a model: repeats the reference answer with faults at known rates (sentences left out,
    /// turned wrong, unsupported ones added, sentences of the chunks added), so that every metric has something
    /// to see. Its scores say nothing about any system.
    #[must_use]
    pub fn scripted() -> Self {
        Self { name: "Scripted".into(), answerer: Arc::new(scripted::Scripted::default()) }
    }

    /// What the run's column `generator` says.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Says exactly what it is.
    #[must_use]
    pub fn spec(&self) -> Value {
        serde_json::json!({"generator": self.name.as_ref(), "settings": self.answerer.spec()})
    }

    /// Answers every question from what a retriever found for it.
    ///
    /// # Errors
    /// When the run holds several retrievers, or the user interrupts.
    pub fn answer(&self, questions: &QaPairs, found: &RetrievalRun) -> Result<GenerationRun> {
        let retrievers = distinct(found.frame(), "retriever")?;
        let retriever = match retrievers.as_slice() {
            [one] => one.clone(),
            [] => return Err(Error::input("the retrieval run is empty").help("retrieve with k of at least 1")),
            several => {
                return Err(Error::input(format!("the retrieval run holds several retrievers: {several:?}"))
                    .help("answer from one at a time: run.only(\"retriever\", …)"));
            }
        };
        let asked = gather(questions, found)?;
        let progress = Progress::new(&format!("Answering with {}", self.name), asked.len());
        let mut rows = Rows::default();
        for one in &asked {
            signal::check("nothing of this run is kept")?;
            let began = Instant::now();
            let answered = self.answerer.answer(one);
            rows.push(one, answered, began.elapsed().as_secs_f64() * 1000.0);
            progress.advance(1);
        }
        rows.finish(&format!("{retriever} + {}", self.name), &retriever, &self.name)
    }

    /// Shows the settings.
    pub fn evcxr_display(&self) {
        signal::display(None, None, &format!("{:#}", self.spec()));
    }
}

fn gather(questions: &QaPairs, found: &RetrievalRun) -> Result<Vec<Asked>> {
    let mut chunks: HashMap<String, Vec<String>> = HashMap::new();
    let rows = texts(found.frame(), "question_id")?.into_iter().zip(texts(found.frame(), "text")?);
    for (question, text) in rows {
        if let (Some(question), Some(text)) = (question, text) {
            chunks.entry(question).or_default().push(text);
        }
    }
    let frame = questions.frame();
    let languages =
        if frame.column("language").is_ok() { texts(frame, "language")? } else { vec![None; questions.height()] };
    let asked = texts(frame, "question")?;
    let references = texts(frame, "reference_answer")?;
    Ok(texts(frame, "question_id")?
        .into_iter()
        .flatten()
        .zip(asked.into_iter().flatten())
        .zip(references.into_iter().flatten())
        .zip(languages)
        .map(|(((question_id, question), reference_answer), language)| Asked {
            language: language
                .and_then(|code| Language::from_code(&code))
                .unwrap_or_else(|| Language::detect(&question)),
            chunks: chunks.remove(&question_id).unwrap_or_default(),
            question_id,
            question,
            reference_answer,
        })
        .collect())
}

#[derive(Debug, Default)]
struct Rows {
    question: Vec<String>,
    response: Vec<Option<String>>,
    finish: Vec<Option<&'static str>>,
    latency: Vec<Option<f64>>,
    failure: Vec<Option<String>>,
}

impl Rows {
    fn push(&mut self, asked: &Asked, answered: Result<(String, &'static str)>, milliseconds: f64) {
        self.question.push(asked.question_id.clone());
        self.latency.push(Some(milliseconds));
        let (response, finish, failure) = match answered {
            Ok((text, finish)) => (Some(text), Some(finish), None),
            Err(error) => (None, None, Some(error.to_string())),
        };
        self.response.push(response);
        self.finish.push(finish);
        self.failure.push(failure);
    }

    fn finish(self, system: &str, retriever: &str, generator: &str) -> Result<GenerationRun> {
        let n = self.question.len();
        GenerationRun::new(
            FrameBuilder::new()
                .text("system", &vec![system; n])
                .text("question_id", &self.question)
                .integer("attempt", &vec![1; n])
                .text("retriever", &vec![retriever; n])
                .text("generator", &vec![generator; n])
                .text_or_null("response", &self.response)
                .text_or_null("finish_reason", &self.finish)
                .integer_or_null("prompt_tokens", &vec![None; n])
                .integer_or_null("completion_tokens", &vec![None; n])
                .number("latency_ms", &self.latency)
                .text_or_null("failure", &self.failure)
                .build()?,
        )
    }
}
