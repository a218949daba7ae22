//! Extraction: answers and reference answers as tables of claims.

use std::collections::HashMap;
use std::sync::Arc;

use polars::prelude::DataFrame;
use serde_json::{Value, json};

use super::extract_model::ModelExtractor;
use super::keep::{is_null, keep};
use super::prompts::Form;
use super::triples::{Extracted, Lost};
use super::{Statement, lexical};
use crate::error::Result;
use crate::lab::Lab;
use crate::model::LanguageModel;
use crate::signal::{self, Progress};
use crate::table::{Claims, FrameBuilder, GenerationRun, QaPairs, integers, texts};
use crate::text::{Language, is_abstention};

/// Texts that are handed to an engine together.
const BATCH: usize = 256;

/// A text whose claims are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Passage {
    /// The question that it answers, for engines that want to know.
    pub question: Option<String>,
    /// The text.
    pub text: String,
    /// Its language.
    pub language: Language,
}

/// Cuts texts into claims.
pub trait ExtractClaims: std::fmt::Debug + Send + Sync {
    /// One result a text, in the same order. What fails, fails alone, as something lost.
    ///
    /// # Errors
    /// Only when the user interrupts.
    fn extract(&self, passages: &[Passage]) -> Result<Vec<Extracted>>;

    /// Says exactly what it is: model, prompts, settings.
    fn spec(&self) -> Value;
}

/// A named extractor, as cells hold it. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Extractor {
    name: Arc<str>,
    engine: Arc<dyn ExtractClaims>,
}

impl Extractor {
    /// Names an implementation.
    #[must_use]
    pub fn new(name: &str, engine: Arc<dyn ExtractClaims>) -> Self {
        Self { name: name.into(), engine }
    }

    /// The embedded baseline: sentences, split further where each part can stand alone. No download, no model.
    #[must_use]
    pub fn lexical() -> Self {
        Self::new("lexical", Arc::new(LexicalExtractor))
    }

    /// A language model that answers in JSON after a schema: subject, predicate and object.
    #[must_use]
    pub fn triples(model: &LanguageModel) -> Self {
        Self::new(&format!("{} triples", model.name()), Arc::new(ModelExtractor::new(model, Form::Triples)))
    }

    /// A language model that writes triples as lines of text, for models without JSON output; see
    /// [`read_triples`](super::read_triples) for what is read.
    #[must_use]
    pub fn triple_lines(model: &LanguageModel) -> Self {
        Self::new(&format!("{} triple lines", model.name()), Arc::new(ModelExtractor::new(model, Form::TripleLines)))
    }

    /// A language model that answers in JSON after a schema: claims as sentences.
    #[must_use]
    pub fn sentences(model: &LanguageModel) -> Self {
        Self::new(&format!("{} sentences", model.name()), Arc::new(ModelExtractor::new(model, Form::Sentences)))
    }

    /// What the column `extractor` says.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name and settings.
    #[must_use]
    pub fn spec(&self) -> Value {
        json!({"extractor": self.name.as_ref(), "settings": self.engine.spec()})
    }

    /// The claims of texts. A text without words, or one that only declines to answer, has none, and no engine is asked.
    ///
    /// # Errors
    /// Only when the user interrupts.
    pub fn extract(&self, passages: &[Passage]) -> Result<Vec<Extracted>> {
        let progress = Progress::new(&format!("Extracting claims with {}", self.name), passages.len());
        let mut known: HashMap<&Passage, Option<Extracted>> = HashMap::new();
        let mut distinct = Vec::new();
        for passage in passages {
            let says_nothing =
                !passage.text.chars().any(char::is_alphanumeric) || is_abstention(&passage.text, passage.language);
            if known.insert(passage, says_nothing.then(Extracted::default)).is_none() && !says_nothing {
                distinct.push(passage);
            }
        }
        for batch in distinct.chunks(BATCH) {
            signal::check("claims of earlier texts are kept only by a journaled model")?;
            let asked: Vec<Passage> = batch.iter().map(|passage| (*passage).clone()).collect();
            let found = self.engine.extract(&asked)?;
            for (place, passage) in batch.iter().enumerate() {
                let one = found.get(place).cloned();
                known.insert(
                    passage,
                    Some(one.unwrap_or_else(|| Extracted::failed("the extractor left the text out", ""))),
                );
            }
            progress.advance(batch.len());
        }
        let none = || Extracted::failed("the text was not read", "");
        Ok(passages.iter().map(|passage| known.get(passage).cloned().flatten().unwrap_or_else(none)).collect())
    }

    /// The claims of every reference answer, extracted once and shared by all systems. A text whose claims could not be
    /// had is a row without text that says why.
    ///
    /// # Errors
    /// When a table lacks a column, or the user interrupts.
    pub fn reference_claims(&self, questions: &QaPairs) -> Result<Claims> {
        let frame = questions.frame();
        let asked = Questions::read(questions)?;
        let mut owners = Vec::new();
        let mut passages = Vec::new();
        for (question, answer) in texts(frame, "question_id")?.into_iter().zip(texts(frame, "reference_answer")?) {
            let (Some(question), Some(answer)) = (question, answer) else { continue };
            passages.push(asked.passage(&question, answer));
            owners.push(Owner { question, side: "reference", system: None, attempt: None });
        }
        self.table(&owners, &passages)
    }

    /// The claims of every response. A response that makes no claims (an abstention) and a failed call have no rows
    /// here; the metrics treat the two differently, since the run says which it was. A response whose claims could not
    /// be had is a row without text that says why, and fails the metrics that need them.
    ///
    /// # Errors
    /// When a table lacks a column, or the user interrupts.
    pub fn response_claims(&self, questions: &QaPairs, run: &GenerationRun) -> Result<Claims> {
        let asked = Questions::read(questions)?;
        let frame = run.frame();
        let (systems, attempts) = (texts(frame, "system")?, integers(frame, "attempt")?);
        let answers = texts(frame, "response")?;
        let mut owners = Vec::new();
        let mut passages = Vec::new();
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let (Some(question), Some(answer)) = (question, answers[row].clone()) else { continue };
            passages.push(asked.passage(&question, answer));
            owners.push(Owner { question, side: "response", system: systems[row].clone(), attempt: attempts[row] });
        }
        self.table(&owners, &passages)
    }

    /// [`reference_claims`](Self::reference_claims), stored in the lab unless something failed.
    ///
    /// # Errors
    /// As there, or the lab's folder.
    pub fn reference_claims_in(&self, lab: &Lab, questions: &QaPairs) -> Result<Claims> {
        self.kept(lab, &[questions.frame()], &mut || self.reference_claims(questions))
    }

    /// [`response_claims`](Self::response_claims), stored in the lab unless something failed.
    ///
    /// # Errors
    /// As there, or the lab's folder.
    pub fn response_claims_in(&self, lab: &Lab, questions: &QaPairs, run: &GenerationRun) -> Result<Claims> {
        self.kept(lab, &[questions.frame(), run.frame()], &mut || self.response_claims(questions, run))
    }

    fn kept(&self, lab: &Lab, inputs: &[&DataFrame], compute: &mut dyn FnMut() -> Result<Claims>) -> Result<Claims> {
        let complete = |frame: &DataFrame| is_null(frame, "failure");
        Claims::new(keep(Some(lab), "claims", &self.spec(), inputs, &complete, &mut || {
            compute().map(Claims::into_frame)
        })?)
    }

    fn table(&self, owners: &[Owner], passages: &[Passage]) -> Result<Claims> {
        let mut rows = Rows::default();
        for (owner, found) in owners.iter().zip(self.extract(passages)?) {
            rows.add(owner, &found);
        }
        rows.finish(&self.name)
    }

    /// Shows the settings.
    pub fn evcxr_display(&self) {
        signal::display(None, None, &format!("{:#}", self.spec()));
    }
}

#[derive(Debug)]
struct LexicalExtractor;

impl ExtractClaims for LexicalExtractor {
    fn extract(&self, passages: &[Passage]) -> Result<Vec<Extracted>> {
        use rayon::prelude::*;
        let one = |passage: &Passage| {
            let claims = lexical::extract(&passage.text, passage.language);
            Extracted { claims: claims.iter().map(|claim| Statement::sentence(claim)).collect(), lost: Vec::new() }
        };
        Ok(passages.par_iter().map(one).collect())
    }

    fn spec(&self) -> Value {
        json!({"kind": "lexical baseline"})
    }
}

/// Questions and their languages, by id.
struct Questions(HashMap<String, (Option<String>, Option<Language>)>);

impl Questions {
    fn read(questions: &QaPairs) -> Result<Self> {
        let frame = questions.frame();
        let asked = texts(frame, "question")?;
        let codes =
            if frame.column("language").is_ok() { texts(frame, "language")? } else { vec![None; frame.height()] };
        let ids = texts(frame, "question_id")?.into_iter().enumerate();
        Ok(Self(
            ids.filter_map(|(row, id)| {
                Some((id?, (asked[row].clone(), codes[row].as_deref().and_then(Language::from_code))))
            })
            .collect(),
        ))
    }

    fn passage(&self, question: &str, text: String) -> Passage {
        let (asked, language) = self.0.get(question).cloned().unwrap_or_default();
        Passage { question: asked, language: language.unwrap_or_else(|| Language::detect(&text)), text }
    }
}

struct Owner {
    question: String,
    side: &'static str,
    system: Option<String>,
    attempt: Option<i64>,
}

#[derive(Debug, Default)]
struct Rows {
    id: Vec<String>,
    question: Vec<String>,
    side: Vec<&'static str>,
    system: Vec<Option<String>>,
    attempt: Vec<Option<i64>>,
    ordinal: Vec<i64>,
    text: Vec<Option<String>>,
    parts: [Vec<Option<String>>; 3],
    lost: [Vec<Option<String>>; 2],
}

impl Rows {
    fn add(&mut self, owner: &Owner, found: &Extracted) {
        let whose = owner.system.as_ref().map(|system| format!("{system}/{}/", owner.attempt.unwrap_or(1)));
        let name = format!("{}/{}/{}", owner.question, owner.side, whose.unwrap_or_default());
        for (ordinal, claim) in found.claims.iter().enumerate() {
            self.push(owner, format!("{name}{ordinal}"), ordinal, Ok(claim));
        }
        for (ordinal, lost) in found.lost.iter().enumerate() {
            self.push(owner, format!("{name}lost{ordinal}"), found.claims.len() + ordinal, Err(lost));
        }
    }

    fn push(&mut self, owner: &Owner, id: String, ordinal: usize, row: Result<&Statement, &Lost>) {
        self.id.push(id);
        self.question.push(owner.question.clone());
        self.side.push(owner.side);
        self.system.push(owner.system.clone());
        self.attempt.push(owner.attempt);
        self.ordinal.push(ordinal as i64);
        self.text.push(row.ok().map(|claim| claim.text().to_owned()));
        let parts = row.ok().and_then(Statement::parts);
        for (place, column) in self.parts.iter_mut().enumerate() {
            column.push(parts.map(|parts| parts[place].to_owned()));
        }
        self.lost[0].push(row.err().map(|lost| lost.reason.clone()));
        self.lost[1].push(row.err().map(|lost| lost.raw.clone()));
    }

    fn finish(self, extractor: &str) -> Result<Claims> {
        let mut table = FrameBuilder::new()
            .text("claim_id", &self.id)
            .text("extractor", &vec![extractor; self.id.len()])
            .text("question_id", &self.question)
            .text("side", &self.side)
            .text_or_null("system", &self.system)
            .integer_or_null("attempt", &self.attempt)
            .integer("ordinal", &self.ordinal)
            .text_or_null("text", &self.text);
        if self.parts[0].iter().any(Option::is_some) {
            for (name, column) in ["subject", "predicate", "object"].iter().zip(&self.parts) {
                table = table.text_or_null(name, column);
            }
        }
        Claims::new(table.text_or_null("failure", &self.lost[0]).text_or_null("raw", &self.lost[1]).build()?)
    }
}
