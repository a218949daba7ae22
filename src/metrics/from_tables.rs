//! From tables of checks to a table of scores.

use std::collections::HashMap;

use super::{LabelMatrices, Metric, Mode, Outcome, score};
use crate::error::{Error, Result};
use crate::table::{
    Checks, Claims, FrameBuilder, GenerationRun, Label, QaPairs, RetrievalRun, Scores, distinct, integers, texts,
};

/// Columns of the questions that every score carries, so that it can be sliced.
const CARRIED: [&str; 5] = ["language", "persona", "category", "source", "hops"];

/// claim and chunk (or nothing) → label
type Verdicts = HashMap<(String, String), Option<Label>>;

/// Scores every response of a run: RAGChecker's eleven metrics from its claims and checks.
///
/// A response that failed has rows whose `undefined` is `failed`. A check that is missing or failed is an unknown.
///
/// # Errors
/// When a table lacks a column, or the checks do not fit the claims and chunks.
pub fn score_run(
    questions: &QaPairs,
    found: &RetrievalRun,
    run: &GenerationRun,
    claims: (&Claims, &Claims),
    checks: &Checks,
    mode: Mode,
) -> Result<Scores> {
    let tables = Tables::read(found, claims, checks)?;
    let checker = distinct(checks.frame(), "checker")?.join(" + ");
    let frame = run.frame();
    let (systems, attempts, retrievers, failures) =
        (texts(frame, "system")?, integers(frame, "attempt")?, texts(frame, "retriever")?, texts(frame, "response")?);
    let mut rows = Rows::default();
    for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
        let question = question.unwrap_or_default();
        let system = systems[row].clone().unwrap_or_default();
        let attempt = attempts[row].unwrap_or(1);
        let outcomes = if failures[row].is_some() {
            let matrices = tables.matrices(&question, &system, attempt, &retrievers[row].clone().unwrap_or_default());
            score(&matrices, mode)
                .map_err(|error| Error::input(format!("question {question}, system {system}: {error}")))?
        } else {
            Metric::ALL.map(|metric| (metric, Outcome::Failed))
        };
        for (metric, outcome) in outcomes {
            rows.push(&system, &question, attempt, metric, outcome);
        }
    }
    rows.finish(&checker, questions)
}

/// Claims, chunks and verdicts by whom they belong to.
#[derive(Debug)]
struct Tables {
    response: HashMap<(String, String, i64), Vec<String>>,
    reference: HashMap<String, Vec<String>>,
    chunks: HashMap<(String, String), Vec<String>>,
    /// direction, system or retriever → verdicts
    verdicts: HashMap<(String, String), Verdicts>,
}

impl Tables {
    fn read(found: &RetrievalRun, (reference, response): (&Claims, &Claims), checks: &Checks) -> Result<Self> {
        let mut tables = Self {
            response: HashMap::new(),
            reference: HashMap::new(),
            chunks: HashMap::new(),
            verdicts: HashMap::new(),
        };
        let frame = reference.frame();
        for (question, claim) in texts(frame, "question_id")?.into_iter().zip(texts(frame, "claim_id")?) {
            tables.reference.entry(question.unwrap_or_default()).or_default().push(claim.unwrap_or_default());
        }
        let frame = response.frame();
        let (systems, attempts, ids) =
            (texts(frame, "system")?, integers(frame, "attempt")?, texts(frame, "claim_id")?);
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let owner =
                (question.unwrap_or_default(), systems[row].clone().unwrap_or_default(), attempts[row].unwrap_or(1));
            tables.response.entry(owner).or_default().push(ids[row].clone().unwrap_or_default());
        }
        let frame = found.frame();
        let (retrievers, ids) = (texts(frame, "retriever")?, texts(frame, "chunk_id")?);
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let key = (retrievers[row].clone().unwrap_or_default(), question.unwrap_or_default());
            tables.chunks.entry(key).or_default().push(ids[row].clone().unwrap_or_default());
        }
        let frame = checks.frame();
        let directions = texts(frame, "direction")?;
        let (systems, retrievers) = (texts(frame, "system")?, texts(frame, "retriever")?);
        let (chunks, labels) = (texts(frame, "chunk_id")?, texts(frame, "label")?);
        for (row, claim) in texts(frame, "claim_id")?.into_iter().enumerate() {
            let owner = systems[row].clone().or_else(|| retrievers[row].clone()).unwrap_or_default();
            let key = (directions[row].clone().unwrap_or_default(), owner);
            let label = labels[row].as_deref().and_then(Label::parse);
            let place = (claim.unwrap_or_default(), chunks[row].clone().unwrap_or_default());
            tables.verdicts.entry(key).or_default().insert(place, label);
        }
        Ok(tables)
    }

    fn matrices(&self, question: &str, system: &str, attempt: i64, retriever: &str) -> LabelMatrices {
        let none = Vec::new();
        let response = self.response.get(&(question.to_owned(), system.to_owned(), attempt)).unwrap_or(&none);
        let reference = self.reference.get(question).unwrap_or(&none);
        let chunks = self.chunks.get(&(retriever.to_owned(), question.to_owned())).unwrap_or(&none);
        let label = |direction: &str, owner: &str, claim: &str, chunk: &str| {
            let verdicts = self.verdicts.get(&(direction.to_owned(), owner.to_owned()))?;
            verdicts.get(&(claim.to_owned(), chunk.to_owned())).copied().flatten()
        };
        let row = |direction: &str, owner: &str, claim: &str| {
            chunks.iter().map(|chunk| label(direction, owner, claim, chunk)).collect()
        };
        LabelMatrices {
            response_vs_reference: response
                .iter()
                .map(|claim| label("response_vs_reference", system, claim, ""))
                .collect(),
            reference_vs_response: reference
                .iter()
                .map(|claim| label("reference_vs_response", system, claim, ""))
                .collect(),
            response_vs_chunks: response.iter().map(|claim| row("response_vs_chunks", system, claim)).collect(),
            reference_vs_chunks: reference.iter().map(|claim| row("reference_vs_chunks", retriever, claim)).collect(),
            n_response_claims: response.len(),
            n_reference_claims: reference.len(),
            n_chunks: chunks.len(),
        }
    }
}

#[derive(Debug, Default)]
struct Rows {
    system: Vec<String>,
    question: Vec<String>,
    attempt: Vec<i64>,
    metric: Vec<&'static str>,
    value: Vec<Option<f64>>,
    undefined: Vec<Option<&'static str>>,
}

impl Rows {
    fn push(&mut self, system: &str, question: &str, attempt: i64, metric: Metric, outcome: Outcome) {
        self.system.push(system.to_owned());
        self.question.push(question.to_owned());
        self.attempt.push(attempt);
        self.metric.push(metric.as_str());
        self.value.push(outcome.value());
        self.undefined.push(outcome.undefined());
    }

    fn finish(self, checker: &str, questions: &QaPairs) -> Result<Scores> {
        let mut table = FrameBuilder::new()
            .text("system", &self.system)
            .text("question_id", &self.question)
            .integer("attempt", &self.attempt)
            .text("metric", &self.metric)
            .text("checker", &vec![checker; self.metric.len()])
            .number("value", &self.value)
            .text_or_null("undefined", &self.undefined);
        let ids = texts(questions.frame(), "question_id")?;
        for name in CARRIED.into_iter().filter(|name| questions.frame().column(name).is_ok()) {
            let values: HashMap<_, _> = ids.iter().flatten().zip(texts(questions.frame(), name)?).collect();
            let column: Vec<Option<String>> =
                self.question.iter().map(|id| values.get(id).cloned().flatten()).collect();
            table = table.text_or_null(name, &column);
        }
        Scores::new(table.build()?)
    }
}
