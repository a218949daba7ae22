//! Generation: from a question and its chunks to an answer.

mod extractive;
mod prompt;
mod rag;
mod scripted;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::model::LanguageModel;
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

/// An answer, and what it took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answered {
    /// The answer.
    pub text: String,
    /// Why it ended there.
    pub finish: &'static str,
    /// Tokens read, where they are counted.
    pub prompt_tokens: Option<u64>,
    /// Tokens written, where they are counted.
    pub completion_tokens: Option<u64>,
    /// Milliseconds, where the answerer measures them itself.
    pub latency_ms: Option<f64>,
    /// What it cost in US dollars, where it is known.
    pub cost_usd: Option<f64>,
    /// Chunks that did not fit and were not read, the lowest-ranked.
    pub dropped: usize,
    /// The model that a server says has answered.
    pub served_model: Option<String>,
    /// The server's name for its configuration when it answered.
    pub system_fingerprint: Option<String>,
    /// What is odd about this answer: why its cost is not known, or that nothing measured the prompt.
    pub note: Option<String>,
}

/// Answers questions from chunks.
pub trait Answer: std::fmt::Debug + Send + Sync {
    /// The answer.
    ///
    /// # Errors
    /// When this one call fails; the run keeps the failure as a row and goes on.
    fn answer(&self, asked: &Asked) -> Result<Answered>;

    /// One result a question, in order; `tell` is called once for each as it is there. After an interrupt the rest are
    /// errors of kind `Interrupted`.
    fn answer_all(&self, asked: &[Asked], tell: &(dyn Fn() + Sync)) -> Vec<Result<Answered>> {
        let mut stop: Option<Error> = None;
        asked
            .iter()
            .map(|one| {
                stop = stop.take().or_else(|| signal::check("nothing of this run is kept").err());
                if let Some(error) = &stop {
                    return Err(error.clone());
                }
                let began = Instant::now();
                let answered = self.answer(one);
                tell();
                let took = began.elapsed().as_secs_f64() * 1000.0;
                answered.map(|answered| Answered { latency_ms: answered.latency_ms.or(Some(took)), ..answered })
            })
            .collect()
    }

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

    /// A language model that reads the chunks and answers in the language of the question, greedily where the model
    /// allows it, in at most 512 tokens. What does not fit into the model's context is left out from the lowest rank up,
    /// and the column `chunks_dropped` says how much. A remote model is measured only with its tokenizer
    /// ([`Endpoint::tokenizer`](crate::model::Endpoint::tokenizer)); without, the column `note` says that it was not.
    /// `served_model` and `system_fingerprint` hold what a server told of itself.
    ///
    /// Give a journaled model, and no answer is ever paid for twice.
    ///
    /// ```
    /// # use claimlab::prelude::*;
    /// use claimlab::model::LanguageModel;
    /// # let folder = tempfile::tempdir().map_err(|e| Error::io("temporary folder", &e))?;
    /// let lab = Lab::at(folder.path())?;
    /// let double = LanguageModel::scripted("double", |_| Ok("<answer>The controller.</answer>".into()));
    /// let generator = Generator::model(&double.journaled(&lab)?);
    /// let sample = lab.sample()?;
    /// let chunks = sample.chunks(&Chunking::tokens(150, 30)?)?;
    /// let questions = sample.questions();
    /// let found = Retriever::bm25(&chunks)?.retrieve(&questions, 3)?;
    /// let run = generator.answer(&questions, &found)?;
    /// assert_eq!(claimlab::table::texts(run.frame(), "response")?[0].as_deref(), Some("The controller."));
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn model(model: &LanguageModel) -> Self {
        Self { name: model.name().into(), answerer: Arc::new(rag::Rag::new(model, None, rag::MAX_TOKENS)) }
    }

    /// The same with a template of your own for the prompt, and the longest answer in tokens. The file's `{context}` and
    /// `{question}` are filled in; what comes before a line `---` are instructions.
    ///
    /// # Errors
    /// When the file cannot be read, or lacks one of the two.
    pub fn model_with_template(model: &LanguageModel, file: impl AsRef<Path>, max_tokens: u32) -> Result<Self> {
        let template = prompt::Template::read(file.as_ref())?;
        Ok(Self { name: model.name().into(), answerer: Arc::new(rag::Rag::new(model, Some(template), max_tokens)) })
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
        let answered = self.answerer.answer_all(&asked, &|| progress.advance(1));
        let interrupted = answered
            .iter()
            .find_map(|one| one.as_ref().err().filter(|error| error.kind() == ErrorKind::Interrupted).cloned());
        if let Some(interrupted) = interrupted {
            let done = answered.iter().filter(|one| one.is_ok()).count();
            return Err(interrupted.context(format!("{done} of {} questions answered", asked.len())));
        }
        let mut rows = Rows::default();
        for (one, answered) in asked.iter().zip(answered) {
            rows.push(one, answered);
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
    prompt_tokens: Vec<Option<i64>>,
    completion_tokens: Vec<Option<i64>>,
    latency: Vec<Option<f64>>,
    cost: Vec<Option<f64>>,
    dropped: Vec<Option<i64>>,
    served: Vec<Option<String>>,
    fingerprint: Vec<Option<String>>,
    note: Vec<Option<String>>,
    failure: Vec<Option<String>>,
}

impl Rows {
    fn push(&mut self, asked: &Asked, answered: Result<Answered>) {
        let (answered, failure) = match answered {
            Ok(answered) => (Some(answered), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let count =
            |of: fn(&Answered) -> Option<u64>| answered.as_ref().and_then(of).and_then(|n| i64::try_from(n).ok());
        self.question.push(asked.question_id.clone());
        self.finish.push(answered.as_ref().map(|answered| answered.finish));
        self.prompt_tokens.push(count(|answered| answered.prompt_tokens));
        self.completion_tokens.push(count(|answered| answered.completion_tokens));
        self.latency.push(answered.as_ref().and_then(|answered| answered.latency_ms));
        self.cost.push(answered.as_ref().and_then(|answered| answered.cost_usd));
        self.dropped.push(count(|answered| Some(answered.dropped as u64)));
        let text = |of: fn(&Answered) -> &Option<String>| answered.as_ref().and_then(|answered| of(answered).clone());
        self.served.push(text(|answered| &answered.served_model));
        self.fingerprint.push(text(|answered| &answered.system_fingerprint));
        self.note.push(text(|answered| &answered.note));
        self.failure.push(failure);
        self.response.push(answered.map(|answered| answered.text));
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
                .integer_or_null("prompt_tokens", &self.prompt_tokens)
                .integer_or_null("completion_tokens", &self.completion_tokens)
                .number("latency_ms", &self.latency)
                .number("cost_usd", &self.cost)
                .integer_or_null("chunks_dropped", &self.dropped)
                .text_or_null("served_model", &self.served)
                .text_or_null("system_fingerprint", &self.fingerprint)
                .text_or_null("note", &self.note)
                .text_or_null("failure", &self.failure)
                .build()?,
        )
    }
}
