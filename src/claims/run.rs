//! Checking whole tables, batch by batch.

use std::collections::HashMap;

use polars::prelude::DataFrame;
use serde_json::json;

use super::check::{Checker, Finding, Request};
use super::keep::{is_null, keep};
use super::tasks::{Plan, Task, Tasks};
use crate::error::{Error, Result};
use crate::lab::Lab;
use crate::model::Probabilities;
use crate::signal::{self, Progress};
use crate::table::{
    Checks, Claims, FrameBuilder, GenerationRun, Label, LabelledClaims, QaPairs, RetrievalRun, floats, texts,
};

/// Checks that are stored together: what an interrupt or a killed process loses at most.
const BATCH: usize = 1024;

/// How many checks a run comes to, and how many of them are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Rows of the table: claim and premise, for every system.
    pub rows: usize,
    /// Different pairs of claim and premise of a question: what the checker is asked.
    pub checks: usize,
    /// Groups of up to `joint` of them about one premise: calls of a checker that takes several claims at once.
    pub calls: usize,
}

impl Checker {
    /// Checks in the four directions that RAGChecker's metrics need. The reference answer's claims are checked
    /// against each retriever's chunks once, whatever number of systems stand on it; no pair of claim and premise is
    /// checked twice for a question.
    ///
    /// # Errors
    /// When a table lacks a column, or the user interrupts.
    pub fn check(
        &self,
        questions: &QaPairs,
        found: &RetrievalRun,
        run: &GenerationRun,
        reference: &Claims,
        response: &Claims,
    ) -> Result<Checks> {
        self.carry_out(None, &Tasks::of_run(questions, found, run, reference, response)?)
    }

    /// The same, stored in the lab batch by batch: an interrupt keeps the batches that are done, and another system in
    /// the run leaves the others' batches as they are. A batch with a failed check is not stored, and tried again.
    ///
    /// # Errors
    /// As [`check`](Self::check), or the lab's folder.
    pub fn check_in(
        &self,
        lab: &Lab,
        questions: &QaPairs,
        found: &RetrievalRun,
        run: &GenerationRun,
        reference: &Claims,
        response: &Claims,
    ) -> Result<Checks> {
        self.carry_out(Some(lab), &Tasks::of_run(questions, found, run, reference, response)?)
    }

    /// What [`check`](Self::check) would have to do, without doing it, for a checker that takes up to `joint` claims
    /// a call.
    ///
    /// # Errors
    /// When a table lacks a column.
    pub fn work(
        questions: &QaPairs,
        found: &RetrievalRun,
        run: &GenerationRun,
        reference: &Claims,
        response: &Claims,
        joint: usize,
    ) -> Result<Work> {
        let plan = Tasks::of_run(questions, found, run, reference, response)?.plan();
        let sizes = plan.requests.iter().map(|request| request.claims.len());
        Ok(Work {
            rows: plan.places.len(),
            checks: sizes.clone().sum(),
            calls: sizes.map(|claims| claims.div_ceil(joint.max(1))).sum(),
        })
    }

    /// Checks labelled claims against their context units, for a comparison with the people's labels.
    ///
    /// # Errors
    /// When the user interrupts.
    pub fn check_labelled(&self, claims: &LabelledClaims) -> Result<Checks> {
        self.carry_out(None, &Tasks::of_labelled(claims)?)
    }

    /// The same, stored in the lab batch by batch.
    ///
    /// # Errors
    /// When the user interrupts, or the lab's folder.
    pub fn check_labelled_in(&self, lab: &Lab, claims: &LabelledClaims) -> Result<Checks> {
        self.carry_out(Some(lab), &Tasks::of_labelled(claims)?)
    }

    fn carry_out(&self, lab: Option<&Lab>, tasks: &Tasks) -> Result<Checks> {
        let plan = tasks.plan();
        let total = plan.requests.iter().map(|request| request.claims.len()).sum();
        let progress = Progress::new(&format!("Checking claims with {}", self.name()), total);
        let mut findings: Vec<Vec<Finding>> = Vec::with_capacity(plan.requests.len());
        for batch in batches(&plan) {
            signal::check(if lab.is_some() {
                "the batches of checks so far are kept"
            } else {
                "nothing of this step is kept"
            })?;
            let requests = &plan.requests[batch];
            findings.extend(self.batch(lab, requests)?);
            progress.advance(requests.iter().map(|request| request.claims.len()).sum());
        }
        self.table(&tasks.tasks, &plan, &findings)
    }

    fn batch(&self, lab: Option<&Lab>, requests: &[Request]) -> Result<Vec<Vec<Finding>>> {
        if lab.is_none() {
            return self.findings(requests);
        }
        let complete = |frame: &DataFrame| is_null(frame, "failure");
        let asked = asked(requests)?;
        let frame = keep(lab, "checks", &json!({"checker": self.spec()}), &[&asked], &complete, &mut || {
            frame_of(&self.findings(requests)?)
        })?;
        read(&frame, requests)
    }

    fn table(&self, tasks: &[Task], plan: &Plan, findings: &[Vec<Finding>]) -> Result<Checks> {
        let found: Vec<&Finding> = plan.places.iter().map(|(request, claim)| &findings[*request][*claim]).collect();
        let of_task = |pick: fn(&Task) -> Option<&str>| tasks.iter().map(pick).collect::<Vec<_>>();
        let mut table = FrameBuilder::new()
            .text("checker", &vec![self.name(); tasks.len()])
            .text("direction", &tasks.iter().map(|task| task.direction.as_str()).collect::<Vec<_>>())
            .text("question_id", &tasks.iter().map(|task| task.question_id.as_ref()).collect::<Vec<_>>())
            .text("claim_id", &tasks.iter().map(|task| task.claim_id.as_ref()).collect::<Vec<_>>())
            .text_or_null("system", &of_task(|task| task.system.as_deref()))
            .integer_or_null("attempt", &tasks.iter().map(|task| task.attempt).collect::<Vec<_>>())
            .text_or_null("retriever", &of_task(|task| task.retriever.as_deref()))
            .text_or_null("chunk_id", &of_task(|task| task.chunk_id.as_deref()));
        table = verdicts(table, &found);
        Checks::new(table.build()?)
    }
}

/// Ranges of requests of about [`BATCH`] checks; a block begins a batch of its own.
fn batches(plan: &Plan) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let (mut first, mut size) = (0, 0);
    for (place, request) in plan.requests.iter().enumerate() {
        if place > first && (size >= BATCH || plan.blocks[place] != plan.blocks[first]) {
            found.push(first..place);
            (first, size) = (place, 0);
        }
        size += request.claims.len();
    }
    if first < plan.requests.len() {
        found.push(first..plan.requests.len());
    }
    found
}

/// What identifies a batch: one row a request.
fn asked(requests: &[Request]) -> Result<DataFrame> {
    let claims: Vec<String> = requests
        .iter()
        .map(|request| json!(request.claims.iter().map(|claim| claim.text()).collect::<Vec<_>>()).to_string())
        .collect();
    FrameBuilder::new()
        .text_or_null("question", &requests.iter().map(|request| request.question.as_deref()).collect::<Vec<_>>())
        .text("premise", &requests.iter().map(|request| request.premise.as_ref()).collect::<Vec<_>>())
        .text("claims", &claims)
        .text("language", &requests.iter().map(|request| request.language.code()).collect::<Vec<_>>())
        .build()
}

/// The columns that a finding fills.
fn verdicts(table: FrameBuilder, found: &[&Finding]) -> FrameBuilder {
    let share = |pick: fn(&Probabilities) -> f64| {
        found.iter().map(|finding| finding.probabilities.as_ref().map(pick)).collect::<Vec<_>>()
    };
    let labels: Vec<Option<&str>> =
        found.iter().map(|finding| finding.label.as_ref().ok().map(|label| label.as_str())).collect();
    let failures: Vec<Option<&String>> = found.iter().map(|finding| finding.label.as_ref().err()).collect();
    let table = table
        .text_or_null("label", &labels)
        .text_or_null("failure", &failures)
        .text_or_null("reason", &found.iter().map(|finding| finding.reason.as_ref()).collect::<Vec<_>>());
    if found.iter().all(|finding| finding.probabilities.is_none()) {
        return table;
    }
    table
        .number("p_entailment", &share(|found| found.entailment))
        .number("p_neutral", &share(|found| found.neutral))
        .number("p_contradiction", &share(|found| found.contradiction))
}

fn frame_of(findings: &[Vec<Finding>]) -> Result<DataFrame> {
    verdicts(FrameBuilder::new(), &findings.iter().flatten().collect::<Vec<_>>()).build()
}

/// The findings of a stored batch.
fn read(frame: &DataFrame, requests: &[Request]) -> Result<Vec<Vec<Finding>>> {
    let expected: usize = requests.iter().map(|request| request.claims.len()).sum();
    if frame.height() != expected {
        return Err(Error::input(format!("a stored batch of checks has {} rows, expected {expected}", frame.height()))
            .help("remove the lab's folder artifacts/checks; the checks are made again"));
    }
    let (labels, failures) = (texts(frame, "label")?, texts(frame, "failure")?);
    let reasons = texts(frame, "reason")?;
    let mut shares: HashMap<&str, Vec<Option<f64>>> = HashMap::new();
    for name in ["p_entailment", "p_neutral", "p_contradiction"] {
        let has = frame.column(name).is_ok();
        shares.insert(name, if has { floats(frame, name)? } else { vec![None; expected] });
    }
    let share = |name: &str, row: usize| shares.get(name).and_then(|column| column[row]);
    let mut rows = (0..expected).map(|row| Finding {
        label: labels[row]
            .as_deref()
            .and_then(Label::parse)
            .ok_or_else(|| failures[row].clone().unwrap_or_else(|| "no label was stored".to_owned())),
        reason: reasons[row].clone(),
        probabilities: share("p_entailment", row)
            .zip(share("p_neutral", row))
            .zip(share("p_contradiction", row))
            .map(|((entailment, neutral), contradiction)| Probabilities { entailment, neutral, contradiction }),
    });
    Ok(requests.iter().map(|request| rows.by_ref().take(request.claims.len()).collect()).collect())
}
