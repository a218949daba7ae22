//! One question with everything that is known about it, gathered from the tables.

use std::collections::HashMap;

use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Metric;
use crate::study::Evaluation;
use crate::table::{Label, floats, integers, texts};
use crate::text::Language;

/// Columns of the questions that filters are made of.
pub(super) const FACETS: [&str; 4] = ["language", "persona", "category", "hops"];

/// What a check said.
#[derive(Debug, Clone, Default)]
pub(super) struct Verdict {
    /// Nothing where the check failed or was never made.
    pub(super) label: Option<Label>,
    pub(super) reason: String,
}

impl Verdict {
    pub(super) fn is(&self, label: Label) -> bool {
        self.label == Some(label)
    }
}

/// A claim with what its answer's counterpart and every chunk say.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) answer: Verdict,
    pub(super) chunks: Vec<Verdict>,
}

impl Claim {
    /// Whether some chunk entails it.
    pub(super) fn is_found(&self) -> bool {
        self.chunks.iter().any(|verdict| verdict.is(Label::Entailment))
    }
}

/// One retrieved chunk.
#[derive(Debug, Clone)]
pub(super) struct Chunk {
    pub(super) id: String,
    pub(super) text: String,
}

/// What one system made of the question.
#[derive(Debug, Clone)]
pub(super) struct Side {
    pub(super) system: String,
    pub(super) retriever: String,
    pub(super) response: Option<String>,
    pub(super) failure: Option<String>,
    pub(super) claims: Vec<Claim>,
    /// The reference answer's claims, with the response's verdict as `answer`.
    pub(super) expected: Vec<Claim>,
    pub(super) chunks: Vec<Chunk>,
    pub(super) scores: Vec<(Metric, Option<f64>, Option<String>)>,
}

/// One question.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) id: String,
    pub(super) question: String,
    pub(super) reference: String,
    pub(super) language: Language,
    pub(super) facets: Vec<(&'static str, String)>,
    pub(super) sides: Vec<Side>,
}

/// What a response claim is, in the words of the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Correct,
    SelfKnowledge,
    NoiseRelevant,
    NoiseIrrelevant,
    Hallucination,
    /// A check that it depends on failed.
    Unknown,
}

impl Side {
    /// Whether a chunk entails a reference claim.
    pub(super) fn is_relevant(&self, chunk: usize) -> bool {
        self.expected.iter().any(|claim| claim.chunks.get(chunk).is_some_and(|verdict| verdict.is(Label::Entailment)))
    }

    pub(super) fn kind(&self, claim: &Claim) -> Kind {
        let Some(answer) = claim.answer.label else { return Kind::Unknown };
        let is_known = claim.chunks.iter().all(|verdict| verdict.label.is_some());
        let relevant =
            (0..claim.chunks.len()).any(|chunk| claim.chunks[chunk].is(Label::Entailment) && self.is_relevant(chunk));
        match (answer.is_entailment(), claim.is_found()) {
            (true, true) => Kind::Correct,
            (false, true) if relevant => Kind::NoiseRelevant,
            _ if !is_known => Kind::Unknown,
            (true, false) => Kind::SelfKnowledge,
            (false, true) => Kind::NoiseIrrelevant,
            (false, false) => Kind::Hallucination,
        }
    }

    /// Whether the reference answer contradicts a claim of the response, or the response one of the reference.
    pub(super) fn has_contradiction(&self) -> bool {
        self.claims.iter().chain(&self.expected).any(|claim| claim.answer.is(Label::Contradiction))
    }

    /// Whether the answer or a check is missing.
    pub(super) fn has_failure(&self) -> bool {
        let is_missing =
            |claim: &Claim| claim.answer.label.is_none() || claim.chunks.iter().any(|verdict| verdict.label.is_none());
        self.response.is_none() || self.claims.iter().chain(&self.expected).any(is_missing)
    }

    fn score(&self, metric: Metric) -> Option<f64> {
        self.scores.iter().find(|(known, ..)| *known == metric).and_then(|(_, value, _)| *value)
    }
}

impl Case {
    /// Where the question stands when the worst come first by the first system; what has no value comes last.
    pub(super) fn rank(&self, metric: Metric) -> i64 {
        let Some(value) = self.sides.first().and_then(|side| side.score(metric)) else { return i64::from(i32::MAX) };
        let good = if metric.higher_is_better() { value } else { 1.0 - value };
        (good * 10_000.0).round() as i64
    }
}

/// One verdict with its ids.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) system: Option<String>,
    pub(super) direction: String,
    pub(super) claim_id: String,
    pub(super) claim: String,
    pub(super) chunk_id: Option<String>,
    pub(super) rank: Option<i64>,
    pub(super) label: Option<String>,
    pub(super) failure: Option<String>,
    pub(super) reason: Option<String>,
}

/// Row numbers of all tables by what they belong to, and the columns themselves.
pub(super) struct Index {
    questions: HashMap<String, Asked>,
    /// question and retriever → chunks in rank order
    chunks: HashMap<(String, String), Vec<(i64, Chunk)>>,
    /// question and system → the answer
    answers: HashMap<(String, String), Answered>,
    /// question → reference claims; question and system → response claims
    expected: HashMap<String, Vec<(String, String)>>,
    said: HashMap<(String, String), Vec<(String, String)>>,
    /// question → verdicts
    checks: HashMap<String, Vec<Checked>>,
    scores: HashMap<(String, String), Vec<(Metric, Option<f64>, Option<String>)>>,
}

struct Asked {
    question: String,
    reference: String,
    facets: Vec<(&'static str, String)>,
}

struct Answered {
    retriever: String,
    attempt: i64,
    response: Option<String>,
    failure: Option<String>,
}

struct Checked {
    direction: String,
    claim: String,
    system: Option<String>,
    attempt: Option<i64>,
    retriever: Option<String>,
    chunk: Option<String>,
    label: Option<String>,
    failure: Option<String>,
    reason: Option<String>,
}

fn or_empty(value: &Option<String>) -> String {
    value.clone().unwrap_or_default()
}

impl Index {
    pub(super) fn read(evaluation: &Evaluation) -> Result<Self> {
        let mut index = Self {
            questions: HashMap::new(),
            chunks: HashMap::new(),
            answers: HashMap::new(),
            expected: HashMap::new(),
            said: HashMap::new(),
            checks: HashMap::new(),
            scores: HashMap::new(),
        };
        index.read_questions(evaluation)?;
        index.read_runs(evaluation)?;
        index.read_claims(evaluation)?;
        index.read_checks(evaluation)?;
        index.read_scores(evaluation)?;
        Ok(index)
    }

    fn read_questions(&mut self, evaluation: &Evaluation) -> Result<()> {
        let frame = evaluation.questions.frame();
        let (questions, references) = (texts(frame, "question")?, texts(frame, "reference_answer")?);
        let mut facets = Vec::new();
        for name in FACETS.into_iter().filter(|name| frame.column(name).is_ok()) {
            facets.push((name, texts(frame, name)?));
        }
        for (row, id) in texts(frame, "question_id")?.into_iter().enumerate() {
            let facets = facets.iter().filter_map(|(name, values)| Some((*name, values[row].clone()?))).collect();
            let asked = Asked { question: or_empty(&questions[row]), reference: or_empty(&references[row]), facets };
            self.questions.insert(id.unwrap_or_default(), asked);
        }
        Ok(())
    }

    fn read_runs(&mut self, evaluation: &Evaluation) -> Result<()> {
        let frame = evaluation.found.frame();
        let (retrievers, ranks) = (texts(frame, "retriever")?, integers(frame, "rank")?);
        let (ids, bodies) = (texts(frame, "chunk_id")?, texts(frame, "text")?);
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let chunk = Chunk { id: or_empty(&ids[row]), text: or_empty(&bodies[row]) };
            let key = (question.unwrap_or_default(), or_empty(&retrievers[row]));
            self.chunks.entry(key).or_default().push((ranks[row].unwrap_or(0), chunk));
        }
        for chunks in self.chunks.values_mut() {
            chunks.sort_by_key(|(rank, _)| *rank);
        }
        let frame = evaluation.run.frame();
        let (systems, retrievers) = (texts(frame, "system")?, texts(frame, "retriever")?);
        let (responses, failures) = (texts(frame, "response")?, texts(frame, "failure")?);
        let attempts = integers(frame, "attempt")?;
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let answered = Answered {
                retriever: or_empty(&retrievers[row]),
                attempt: attempts[row].unwrap_or(1),
                response: responses[row].clone(),
                failure: failures[row].clone(),
            };
            // Of several attempts the first is shown.
            self.answers.entry((question.unwrap_or_default(), or_empty(&systems[row]))).or_insert(answered);
        }
        Ok(())
    }

    fn read_claims(&mut self, evaluation: &Evaluation) -> Result<()> {
        let frame = evaluation.reference.frame();
        let (ids, bodies) = (texts(frame, "claim_id")?, texts(frame, "text")?);
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let claim = (or_empty(&ids[row]), or_empty(&bodies[row]));
            self.expected.entry(question.unwrap_or_default()).or_default().push(claim);
        }
        let frame = evaluation.response.frame();
        let (ids, bodies) = (texts(frame, "claim_id")?, texts(frame, "text")?);
        let (systems, attempts) = (texts(frame, "system")?, integers(frame, "attempt")?);
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let key = (question.unwrap_or_default(), or_empty(&systems[row]));
            if self.answers.get(&key).is_some_and(|answered| attempts[row].is_none_or(|at| at == answered.attempt)) {
                self.said.entry(key).or_default().push((or_empty(&ids[row]), or_empty(&bodies[row])));
            }
        }
        Ok(())
    }

    fn read_checks(&mut self, evaluation: &Evaluation) -> Result<()> {
        let frame = evaluation.checks.frame();
        let (directions, claims) = (texts(frame, "direction")?, texts(frame, "claim_id")?);
        let (systems, retrievers) = (texts(frame, "system")?, texts(frame, "retriever")?);
        let (chunks, labels) = (texts(frame, "chunk_id")?, texts(frame, "label")?);
        let (failures, attempts) = (texts(frame, "failure")?, integers(frame, "attempt")?);
        let reasons = if frame.column("reason").is_ok() { texts(frame, "reason")? } else { vec![None; frame.height()] };
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let checked = Checked {
                direction: or_empty(&directions[row]),
                claim: or_empty(&claims[row]),
                system: systems[row].clone(),
                attempt: attempts[row],
                retriever: retrievers[row].clone(),
                chunk: chunks[row].clone(),
                label: labels[row].clone(),
                failure: failures[row].clone(),
                reason: reasons[row].clone(),
            };
            self.checks.entry(question.unwrap_or_default()).or_default().push(checked);
        }
        Ok(())
    }

    fn read_scores(&mut self, evaluation: &Evaluation) -> Result<()> {
        let scores = evaluation.scores();
        let frame = scores.frame();
        let (systems, metrics) = (texts(frame, "system")?, texts(frame, "metric")?);
        let (values, reasons) = (floats(frame, "value")?, texts(frame, "undefined")?);
        let attempts = integers(frame, "attempt")?;
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let key = (question.unwrap_or_default(), or_empty(&systems[row]));
            let is_shown = self.answers.get(&key).is_some_and(|answered| attempts[row] == Some(answered.attempt));
            if let (Some(metric), true) = (metrics[row].as_deref().and_then(Metric::parse), is_shown) {
                self.scores.entry(key).or_default().push((metric, values[row], reasons[row].clone()));
            }
        }
        Ok(())
    }

    /// Everything about one question for these systems.
    pub(super) fn case(&self, id: &str, systems: &[&str]) -> Result<Case> {
        let asked = self.questions.get(id).ok_or_else(|| absent("question", id))?;
        let sides = systems.iter().map(|system| self.side(id, system)).collect::<Result<_>>()?;
        let told = asked.facets.iter().find(|(name, _)| *name == "language").map(|(_, code)| code.as_str());
        let language = told.and_then(Language::from_code).unwrap_or_else(|| Language::detect(&asked.question));
        Ok(Case {
            id: id.to_owned(),
            question: asked.question.clone(),
            reference: asked.reference.clone(),
            language,
            facets: asked.facets.clone(),
            sides,
        })
    }

    fn side(&self, id: &str, system: &str) -> Result<Side> {
        let key = (id.to_owned(), system.to_owned());
        let answered = self.answers.get(&key).ok_or_else(|| absent("system", system))?;
        let chunks: Vec<Chunk> = self
            .chunks
            .get(&(id.to_owned(), answered.retriever.clone()))
            .map(|found| found.iter().map(|(_, chunk)| chunk.clone()).collect())
            .unwrap_or_default();
        let mut verdicts: HashMap<(&str, &str, &str), Verdict> = HashMap::new();
        for check in self.checks.get(id).into_iter().flatten() {
            let is_ours = check.system.as_deref().is_none_or(|owner| owner == system)
                && check.attempt.is_none_or(|attempt| attempt == answered.attempt)
                && check.retriever.as_deref().is_none_or(|owner| owner == answered.retriever);
            if is_ours {
                let place = (check.direction.as_str(), check.claim.as_str(), check.chunk.as_deref().unwrap_or(""));
                let reason = check.reason.as_ref().or(check.failure.as_ref());
                let label = check.label.as_deref().and_then(Label::parse);
                verdicts.insert(place, Verdict { label, reason: reason.cloned().unwrap_or_default() });
            }
        }
        let claims = |held: Option<&Vec<(String, String)>>, answer: &str, found: &str| -> Vec<Claim> {
            let of = |direction: &str, claim: &str, chunk: &str| {
                verdicts.get(&(direction, claim, chunk)).cloned().unwrap_or_default()
            };
            held.into_iter()
                .flatten()
                .map(|(claim, text)| Claim {
                    id: claim.clone(),
                    text: text.clone(),
                    answer: of(answer, claim, ""),
                    chunks: chunks.iter().map(|chunk| of(found, claim, &chunk.id)).collect(),
                })
                .collect()
        };
        Ok(Side {
            system: system.to_owned(),
            retriever: answered.retriever.clone(),
            response: answered.response.clone(),
            failure: answered.failure.clone(),
            claims: claims(self.said.get(&key), "response_vs_reference", "response_vs_chunks"),
            expected: claims(self.expected.get(id), "reference_vs_response", "reference_vs_chunks"),
            scores: self.scores.get(&key).cloned().unwrap_or_default(),
            chunks,
        })
    }

    /// Every verdict on one question, with the texts behind the ids.
    pub(super) fn verdicts(&self, id: &str) -> Result<Vec<Row>> {
        if !self.questions.contains_key(id) {
            return Err(absent("question", id));
        }
        let said = self.said.iter().filter(|((question, _), _)| question == id).flat_map(|(_, claims)| claims);
        let known: HashMap<&str, &str> = said
            .chain(self.expected.get(id).into_iter().flatten())
            .map(|(claim, text)| (claim.as_str(), text.as_str()))
            .collect();
        let rank = |retriever: &Option<String>, chunk: &Option<String>| {
            let chunks = self.chunks.get(&(id.to_owned(), retriever.clone()?))?;
            let chunk = chunk.as_ref()?;
            chunks.iter().find(|(_, one)| one.id == *chunk).map(|(rank, _)| *rank)
        };
        let rows = self.checks.get(id).into_iter().flatten().map(|check| Row {
            system: check.system.clone(),
            direction: check.direction.clone(),
            claim_id: check.claim.clone(),
            claim: known.get(check.claim.as_str()).map(|text| (*text).to_owned()).unwrap_or_default(),
            rank: rank(&check.retriever, &check.chunk),
            chunk_id: check.chunk.clone(),
            label: check.label.clone(),
            failure: check.failure.clone(),
            reason: check.reason.clone(),
        });
        Ok(rows.collect())
    }
}

fn absent(what: &str, name: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("the evaluation has no {what} {name:?}"))
        .help("evaluation.worst(Metric::F1, 10) lists questions and systems")
}
