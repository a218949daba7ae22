//! Asking a language model whether answers satisfy criteria.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::prompt::{batched_schema, single_schema};
use super::reply::{Judgement, read_batched, read_single};
use super::{JudgePrompt, JudgingSet};
use crate::error::{ErrorKind, Result};
use crate::model::{LanguageModel, Prompt, Reply};
use crate::signal::{self, Progress};
use crate::table::{FrameBuilder, Verdict, Verdicts, integers, texts};

/// Calls that are made together; an interrupt is heard between them.
const BATCH: usize = 64;

/// A language model with instructions, as a judge of answers.
///
/// Every call is a [`Prompt`] with its own attempt number for each repeat, so a journal under the model keeps repeats
/// apart and a run that was stopped goes on where it was.
#[derive(Debug, Clone)]
pub struct Judge {
    model: LanguageModel,
    prompt: JudgePrompt,
    repeats: u32,
    temperature: f64,
}

/// One call: an answer and the criteria that it is judged by.
struct Call {
    answer: usize,
    criteria: Vec<usize>,
    repeat: u32,
}

/// The material, read out of the tables once.
struct Material {
    criteria: Vec<CriterionRow>,
    attempts: Vec<AttemptRow>,
    tasks: HashMap<String, TaskRow>,
}

struct CriterionRow {
    id: String,
    task: String,
    text: String,
    references: Option<String>,
}

struct AttemptRow {
    system: String,
    task: String,
    attempt: i64,
    /// The answer with its files, or why there is none.
    answer: std::result::Result<String, String>,
}

struct TaskRow {
    request: String,
    references: Option<String>,
}

impl Judge {
    /// A judge that is asked once an answer, with greedy decoding.
    #[must_use]
    pub fn new(model: &LanguageModel, prompt: &JudgePrompt) -> Self {
        Self { model: model.clone(), prompt: prompt.clone(), repeats: 1, temperature: 0.0 }
    }

    /// Asks the same several times, to see how often the verdict flips.
    #[must_use]
    pub fn repeats(mut self, repeats: u32) -> Self {
        self.repeats = repeats.max(1);
        self
    }

    /// Sets the temperature of sampling; 0 is greedy.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = temperature;
        self
    }

    /// Judges every attempt by every criterion of its task, one criterion a call.
    ///
    /// # Errors
    /// When the user interrupts. A failed call is a row with its reason.
    pub fn one_by_one(&self, set: &JudgingSet) -> Result<Verdicts> {
        self.run(set, 1, "single")
    }

    /// Judges every attempt by the criteria of its task together, at most so many a call.
    ///
    /// # Errors
    /// When the user interrupts. A failed call is a row with its reason for each of its criteria.
    pub fn batched(&self, set: &JudgingSet, at_most: usize) -> Result<Verdicts> {
        self.run(set, at_most.max(1), "batched")
    }

    fn run(&self, set: &JudgingSet, at_most: usize, way: &str) -> Result<Verdicts> {
        let material = Material::read(set)?;
        let calls = material.calls(at_most, self.repeats);
        let progress = Progress::new(&format!("Judging with {}", self.model.name()), calls.len());
        let mut rows = Rows::default();
        for batch in calls.chunks(BATCH) {
            signal::check("verdicts that were given are in the journal, if the model has one")?;
            let asked: Vec<&Call> = batch.iter().filter(|call| material.attempts[call.answer].answer.is_ok()).collect();
            let prompts: Vec<Prompt> = asked.iter().map(|call| self.prompt_of(&material, call, way)).collect();
            let mut replies = self.model.generate(&prompts).into_iter();
            for call in batch {
                let attempt = &material.attempts[call.answer];
                match &attempt.answer {
                    Err(why) => {
                        let failed = Judgement::failed(format!("the attempt failed: {why}"));
                        rows.add(&material, call, vec![failed; call.criteria.len()], None);
                    }
                    Ok(answer) => match replies.next() {
                        Some(Ok(reply)) => {
                            let found = if way == "single" {
                                vec![read_single(&reply, answer)]
                            } else {
                                read_batched(&reply, call.criteria.len(), answer)
                            };
                            rows.add(&material, call, found, Some(&reply));
                        }
                        Some(Err(error)) if error.kind() == ErrorKind::Interrupted => return Err(error),
                        Some(Err(error)) => {
                            let failed = Judgement::failed(format!("the call failed: {error}"));
                            rows.add(&material, call, vec![failed; call.criteria.len()], None);
                        }
                        None => {
                            let failed = Judgement::failed("the call failed: no reply");
                            rows.add(&material, call, vec![failed; call.criteria.len()], None);
                        }
                    },
                }
            }
            progress.advance(batch.len());
        }
        rows.table(self.model.name(), &self.prompt.label(), way)
    }

    fn prompt_of(&self, material: &Material, call: &Call, way: &str) -> Prompt {
        let attempt = &material.attempts[call.answer];
        let mut told = Map::new();
        if let Some(task) = material.tasks.get(&attempt.task) {
            told.insert("request".into(), json!(task.request));
            told.extend(task.references.as_ref().map(|text| ("references".to_owned(), json!(text))));
        }
        let criteria: Vec<&CriterionRow> = call.criteria.iter().map(|place| &material.criteria[*place]).collect();
        let (schema, limit) = if way == "single" {
            if let Some(one) = criteria.first() {
                told.insert("criterion".into(), json!(one.text));
                told.extend(one.references.as_ref().map(|text| ("criterion_references".to_owned(), json!(text))));
            }
            (single_schema(), 1024)
        } else {
            let list: Vec<Value> = criteria
                .iter()
                .enumerate()
                .map(|(place, one)| match &one.references {
                    None => json!({"number": place + 1, "criterion": one.text}),
                    Some(text) => json!({"number": place + 1, "criterion": one.text, "criterion_references": text}),
                })
                .collect();
            told.insert("criteria".into(), Value::Array(list));
            (batched_schema(criteria.len()), 512 + 384 * criteria.len() as u32)
        };
        told.insert("answer".into(), json!(attempt.answer.as_deref().unwrap_or_default()));
        let mut prompt = Prompt::new(Value::Object(told).to_string())
            .system(self.prompt.system())
            .schema(schema)
            .max_tokens(limit)
            .attempt(call.repeat);
        prompt.temperature = self.temperature;
        prompt
    }

    /// Shows who judges and how.
    pub fn evcxr_display(&self) {
        let plain = format!(
            "{} with {} · repeats: {} · temperature {}",
            self.model.name(),
            self.prompt.label(),
            self.repeats,
            self.temperature
        );
        signal::display(None, None, &plain);
    }
}

fn optional(frame: &polars::prelude::DataFrame, name: &str) -> Result<Vec<Option<String>>> {
    if frame.column(name).is_ok() { texts(frame, name) } else { Ok(vec![None; frame.height()]) }
}

impl Material {
    fn read(set: &JudgingSet) -> Result<Self> {
        let frame = set.tasks().frame();
        let (requests, references) = (texts(frame, "request")?, optional(frame, "references")?);
        let mut tasks = HashMap::new();
        for (row, id) in texts(frame, "task_id")?.into_iter().enumerate() {
            let request = requests[row].clone().unwrap_or_default();
            tasks.insert(id.unwrap_or_default(), TaskRow { request, references: references[row].clone() });
        }
        let frame = set.criteria().frame();
        let (owners, words, references) =
            (texts(frame, "task_id")?, texts(frame, "text")?, optional(frame, "references")?);
        let mut criteria = Vec::new();
        for (row, id) in texts(frame, "criterion_id")?.into_iter().enumerate() {
            criteria.push(CriterionRow {
                id: id.unwrap_or_default(),
                task: owners[row].clone().unwrap_or_default(),
                text: words[row].clone().unwrap_or_default(),
                references: references[row].clone(),
            });
        }
        Ok(Self { criteria, attempts: attempts(set)?, tasks })
    }

    /// In the order of attempts, then criteria, then repeats.
    fn calls(&self, at_most: usize, repeats: u32) -> Vec<Call> {
        let mut by_task: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, criterion) in self.criteria.iter().enumerate() {
            by_task.entry(criterion.task.as_str()).or_default().push(place);
        }
        let mut calls = Vec::new();
        for (answer, attempt) in self.attempts.iter().enumerate() {
            let criteria = by_task.get(attempt.task.as_str()).map_or(&[][..], Vec::as_slice);
            for part in criteria.chunks(at_most) {
                calls.extend((1..=repeats).map(|repeat| Call { answer, criteria: part.to_vec(), repeat }));
            }
        }
        calls
    }
}

fn attempts(set: &JudgingSet) -> Result<Vec<AttemptRow>> {
    let frame = set.attempts().frame();
    let (systems, owners, numbers) = (texts(frame, "system")?, texts(frame, "task_id")?, integers(frame, "attempt")?);
    let (answers, files, failures) = (texts(frame, "answer")?, optional(frame, "files")?, texts(frame, "failure")?);
    let answer = |row: usize| match (&answers[row], &files[row]) {
        (Some(answer), None) => Ok(answer.clone()),
        (Some(answer), Some(files)) => Ok(format!("{answer}\n\n{files}")),
        (None, _) => Err(failures[row].clone().unwrap_or_else(|| "no reason given".to_owned())),
    };
    Ok((0..frame.height())
        .map(|row| AttemptRow {
            system: systems[row].clone().unwrap_or_default(),
            task: owners[row].clone().unwrap_or_default(),
            attempt: numbers[row].unwrap_or_default(),
            answer: answer(row),
        })
        .collect())
}

/// Verdicts as they come in.
#[derive(Default)]
struct Rows {
    keys: Vec<(String, String, String, i64, i64, String)>,
    judgements: Vec<Judgement>,
    usage: Vec<(Option<i64>, Option<i64>, Option<f64>, Option<f64>)>,
}

impl Rows {
    fn add(&mut self, material: &Material, call: &Call, found: Vec<Judgement>, reply: Option<&Reply>) {
        let attempt = &material.attempts[call.answer];
        let names: Vec<&str> = call.criteria.iter().map(|place| material.criteria[*place].id.as_str()).collect();
        let told = format!("{}\n{}\n{}\n{}\n{names:?}", attempt.system, attempt.task, attempt.attempt, call.repeat);
        let request: String = Sha256::digest(told).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let count = |tokens: Option<u64>| tokens.and_then(|tokens| i64::try_from(tokens).ok());
        let usage = reply.map_or((None, None, None, None), |reply| {
            (count(reply.prompt_tokens), count(reply.completion_tokens), reply.cost_usd, reply.latency_ms)
        });
        for (name, judgement) in names.iter().zip(found) {
            self.keys.push((
                attempt.task.clone(),
                (*name).to_owned(),
                attempt.system.clone(),
                attempt.attempt,
                i64::from(call.repeat),
                request.clone(),
            ));
            self.judgements.push(judgement);
            self.usage.push(usage);
        }
    }

    fn table(&self, judge: &str, prompt: &str, way: &str) -> Result<Verdicts> {
        let n = self.keys.len();
        let said = |verdict: Option<Verdict>| verdict.map(Verdict::as_str);
        let evidence: Vec<Option<String>> =
            self.judgements.iter().map(|one| (!one.evidence.is_empty()).then(|| one.evidence.join("\n"))).collect();
        Verdicts::new(
            FrameBuilder::new()
                .text("judge", &vec![judge; n])
                .text("prompt", &vec![prompt; n])
                .text("way", &vec![way; n])
                .text("task_id", &self.keys.iter().map(|key| &key.0).collect::<Vec<_>>())
                .text("criterion_id", &self.keys.iter().map(|key| &key.1).collect::<Vec<_>>())
                .text("system", &self.keys.iter().map(|key| &key.2).collect::<Vec<_>>())
                .integer("attempt", &self.keys.iter().map(|key| key.3).collect::<Vec<_>>())
                .integer("repeat", &self.keys.iter().map(|key| key.4).collect::<Vec<_>>())
                .text_or_null("verdict", &self.judgements.iter().map(|one| said(one.verdict)).collect::<Vec<_>>())
                .text_or_null("failure", &self.judgements.iter().map(|one| one.failure.as_ref()).collect::<Vec<_>>())
                .text_or_null("said", &self.judgements.iter().map(|one| said(one.said)).collect::<Vec<_>>())
                .text_or_null("evidence", &evidence)
                .text_or_null("reason", &self.judgements.iter().map(|one| one.reason.as_ref()).collect::<Vec<_>>())
                .text("request", &self.keys.iter().map(|key| &key.5).collect::<Vec<_>>())
                .integer_or_null("prompt_tokens", &self.usage.iter().map(|one| one.0).collect::<Vec<_>>())
                .integer_or_null("completion_tokens", &self.usage.iter().map(|one| one.1).collect::<Vec<_>>())
                .number("cost_usd", &self.usage.iter().map(|one| one.2).collect::<Vec<_>>())
                .number("latency_ms", &self.usage.iter().map(|one| one.3).collect::<Vec<_>>())
                .build()?,
        )
    }
}
