//! How reliably do systems satisfy their checklists?

use std::collections::{BTreeMap, BTreeSet, HashMap};

use polars::prelude::DataFrame;

use super::counts::{Counts, Statistic};
use super::intervals::{Estimate, IntervalMethod, estimates};
use super::join::borrowed;
use super::pass_k::{MissingPolicy, pass_hat_k};
use crate::error::{Error, Result};
use crate::signal;
use crate::table::{FrameBuilder, JudgingSet, Verdict, Verdicts, distinct, floats, integers, texts};

/// What became of every criterion in every attempt, by one judge.
///
/// An attempt *succeeds* if it passes every substance criterion of its task. Where a judgement failed or is missing, an
/// attempt that fails another criterion fails all the same, and any other is unknown; the [`MissingPolicy`] says what
/// an unknown attempt counts as. Form is scored apart.
#[derive(Debug, Clone)]
pub struct Reliability {
    pub(super) policy: MissingPolicy,
    pub(super) systems: BTreeMap<String, System>,
    pub(super) checklists: BTreeMap<String, Checklist>,
    pub(super) judge: (String, String, String),
}

/// A task's criteria.
#[derive(Debug, Clone, Default)]
pub(super) struct Checklist {
    pub substance: Vec<String>,
    form: Vec<String>,
}

/// A system's attempts.
#[derive(Debug, Clone, Default)]
pub(super) struct System {
    /// All attempt numbers that it has at any task.
    numbers: BTreeSet<i64>,
    tasks: BTreeMap<String, BTreeMap<i64, Attempt>>,
    pub costs: Vec<f64>,
    pub latencies: Vec<f64>,
    pub unscored: usize,
}

/// Verdicts on one attempt; absent ones are unknown.
#[derive(Debug, Clone, Default)]
struct Attempt {
    verdicts: HashMap<String, bool>,
}

impl Attempt {
    /// Whether all of these criteria pass, as far as that is known.
    fn succeeds(&self, criteria: &[String]) -> Option<bool> {
        let known: Vec<Option<bool>> = criteria.iter().map(|one| self.verdicts.get(one).copied()).collect();
        if known.contains(&Some(false)) {
            Some(false)
        } else if known.iter().all(|one| *one == Some(true)) {
            Some(true)
        } else {
            None
        }
    }
}

impl Reliability {
    /// Puts the first repeat's verdicts of one judge on a set together.
    ///
    /// # Errors
    /// When the verdicts are of more than one judge, prompt or way, or on criteria that the set lacks.
    pub fn new(set: &JudgingSet, verdicts: &Verdicts, policy: MissingPolicy) -> Result<Self> {
        let frame = verdicts.frame();
        let judge = (one_of(frame, "judge")?, one_of(frame, "prompt")?, one_of(frame, "way")?);
        let mut checklists: BTreeMap<String, Checklist> = BTreeMap::new();
        let mut owners: HashMap<String, String> = HashMap::new();
        let criteria = set.criteria().frame();
        let (ids, kinds) = (texts(criteria, "criterion_id")?, texts(criteria, "kind")?);
        for (row, task) in texts(criteria, "task_id")?.into_iter().enumerate() {
            let (id, task) = (ids[row].clone().unwrap_or_default(), task.unwrap_or_default());
            owners.insert(id.clone(), task.clone());
            let list = checklists.entry(task).or_default();
            if kinds[row].as_deref() == Some("form") { list.form.push(id) } else { list.substance.push(id) }
        }
        let mut found = Self { policy, systems: BTreeMap::new(), checklists, judge };
        found.read_attempts(set)?;
        found.read_verdicts(verdicts, &owners)?;
        Ok(found)
    }

    fn read_attempts(&mut self, set: &JudgingSet) -> Result<()> {
        let frame = set.attempts().frame();
        let (tasks, attempts) = (texts(frame, "task_id")?, integers(frame, "attempt")?);
        let (costs, latencies) = (floats(frame, "cost_usd")?, floats(frame, "latency_ms")?);
        for (row, system) in texts(frame, "system")?.into_iter().enumerate() {
            let system = self.systems.entry(system.unwrap_or_default()).or_default();
            let number = attempts[row].unwrap_or_default();
            system.numbers.insert(number);
            system.tasks.entry(tasks[row].clone().unwrap_or_default()).or_default().entry(number).or_default();
            system.costs.extend(costs[row]);
            system.latencies.extend(latencies[row]);
        }
        Ok(())
    }

    fn read_verdicts(&mut self, verdicts: &Verdicts, owners: &HashMap<String, String>) -> Result<()> {
        let frame = verdicts.frame();
        let column = |name: &str| borrowed(frame, name);
        let (criteria, systems, said) = (column("criterion_id")?, column("system")?, column("verdict")?);
        let (attempts, repeats) = (integers(frame, "attempt")?, integers(frame, "repeat")?);
        for row in 0..frame.height() {
            if repeats[row] != Some(1) {
                continue;
            }
            let criterion = criteria[row].unwrap_or_default();
            let task = owners.get(criterion).ok_or_else(|| {
                Error::input(format!("a verdict is on the criterion {criterion:?}, which the set lacks"))
                    .help("judge and report with the same criteria")
            })?;
            let system = self.systems.entry(systems[row].unwrap_or_default().to_owned()).or_default();
            let number = attempts[row].unwrap_or_default();
            system.numbers.insert(number);
            let attempt = system.tasks.entry(task.clone()).or_default().entry(number).or_default();
            match said[row].and_then(Verdict::parse) {
                Some(verdict) => {
                    attempt.verdicts.insert(criterion.to_owned(), verdict == Verdict::Pass);
                }
                None => system.unscored += 1,
            }
        }
        Ok(())
    }

    /// pass^k for every system. One row a system and metric:
    ///
    /// * `task_pass_k`: the mean over tasks of the unbiased estimate that k attempts all succeed;
    /// * `criterion_pass_k_micro`, `criterion_pass_k_macro`: the same for single substance criteria, over all criteria
    ///   (long checklists weigh more) and as the mean of the tasks' means;
    /// * `attempt_pass_rate`: the share of attempts that succeed;
    /// * `form`: the share of form criteria passed, averaged over attempts.
    ///
    /// Intervals are clustered by task. `n_tasks` is what a value is over, `n_left_out` the tasks without a value: no
    /// criteria of the kind, or, if missing attempts are left out, fewer than k.
    ///
    /// # Errors
    /// When k is 0, or no task of any system has k attempts.
    pub fn pass_k(&self, k: u64) -> Result<DataFrame> {
        let most = self.systems.values().map(|system| system.numbers.len() as u64).max().unwrap_or(0);
        if k == 0 || k > most {
            return Err(Error::input(format!(
                "pass^{k} needs {k} attempts at a task; the systems have at most {most}"
            ))
            .help("choose a k from 1 to the number of attempts"));
        }
        let mut rows: Vec<(&str, &str, Measure)> = Vec::new();
        for (name, system) in &self.systems {
            for metric in METRICS {
                rows.push((name, metric, self.measure(system, metric, k)));
            }
        }
        let number = |pick: fn(&Measure) -> Option<f64>| rows.iter().map(|row| pick(&row.2)).collect::<Vec<_>>();
        let reasons: Vec<Option<String>> = rows
            .iter()
            .map(|row| row.2.estimate.value.is_none().then(|| "no task has what it takes".to_owned()))
            .collect();
        FrameBuilder::new()
            .text("system", &rows.iter().map(|row| row.0).collect::<Vec<_>>())
            .text("metric", &rows.iter().map(|row| row.1).collect::<Vec<_>>())
            .integer("k", &vec![i64::try_from(k).unwrap_or(i64::MAX); rows.len()])
            .number("value", &number(|one| one.estimate.value))
            .number("ci_low", &number(|one| one.estimate.interval.map(|ends| ends.0)))
            .number("ci_high", &number(|one| one.estimate.interval.map(|ends| ends.1)))
            .integer("n_tasks", &rows.iter().map(|row| row.2.tasks as i64).collect::<Vec<_>>())
            .integer("n_left_out", &rows.iter().map(|row| row.2.left_out as i64).collect::<Vec<_>>())
            .text_or_null("undefined", &reasons)
            .text("policy", &vec![self.policy.as_str(); rows.len()])
            .build()
    }

    pub(super) fn measure(&self, system: &System, metric: &str, k: u64) -> Measure {
        let mut clusters = Vec::new();
        let mut left_out = 0;
        let none = BTreeMap::new();
        for (task, list) in &self.checklists {
            let attempts = match (system.tasks.get(task), self.policy) {
                (Some(attempts), _) => attempts,
                // A task that a system never tried is missing as a whole.
                (None, MissingPolicy::CountsAsFailure) => &none,
                (None, MissingPolicy::LeftOut) => {
                    left_out += 1;
                    continue;
                }
            };
            match self.task(system, attempts, list, metric, k) {
                Some((part, whole)) if whole > 0.0 => {
                    clusters.push(Counts { pass_pass: part, pass_fail: whole - part, ..Counts::default() });
                }
                _ => left_out += 1,
            }
        }
        let estimate = estimates(&clusters, &[Statistic::PassRecall], IntervalMethod::default(), 0.95).remove(0);
        Measure { estimate, tasks: clusters.len(), left_out }
    }

    /// Part and whole that a task adds to a metric.
    fn task(
        &self,
        system: &System,
        attempts: &BTreeMap<i64, Attempt>,
        list: &Checklist,
        metric: &str,
        k: u64,
    ) -> Option<(f64, f64)> {
        let count = |outcomes: Vec<Option<bool>>| {
            let passed = outcomes.iter().filter(|one| **one == Some(true)).count() as u64;
            let known = outcomes.iter().flatten().count() as u64;
            match self.policy {
                MissingPolicy::CountsAsFailure => (system.numbers.len() as u64, passed),
                MissingPolicy::LeftOut => (known, passed),
            }
        };
        let whole = |criteria: &[String]| count(attempts.values().map(|one| one.succeeds(criteria)).collect());
        if metric == "form" {
            if list.form.is_empty() {
                return None;
            }
            let (mut part, mut total) = (0.0, 0.0);
            for criterion in &list.form {
                let (n, passed) = whole(std::slice::from_ref(criterion));
                part += passed as f64;
                total += n as f64;
            }
            // Each task weighs as many as it has attempts, whatever the length of its list.
            let length = list.form.len() as f64;
            return Some((part / length, total / length));
        }
        if list.substance.is_empty() {
            return None;
        }
        match metric {
            "task_pass_k" => {
                let (n, passed) = whole(&list.substance);
                Some((pass_hat_k(n, passed, k)?, 1.0))
            }
            "attempt_pass_rate" => {
                let (n, passed) = whole(&list.substance);
                Some((passed as f64, n as f64))
            }
            _ => {
                let mut values = Vec::new();
                for criterion in &list.substance {
                    let (n, passed) = whole(std::slice::from_ref(criterion));
                    values.extend(pass_hat_k(n, passed, k));
                }
                let (sum, n) = (values.iter().sum::<f64>(), values.len() as f64);
                if metric == "criterion_pass_k_macro" { (n > 0.0).then(|| (sum / n, 1.0)) } else { Some((sum, n)) }
            }
        }
    }

    /// By how many substance criteria attempts fail: one row a system and number of criteria missed, 0 for success.
    /// Attempts with an unknown outcome are counted under a null number.
    ///
    /// # Errors
    /// When the table cannot be built.
    pub fn near_misses(&self) -> Result<DataFrame> {
        let mut counts: BTreeMap<(&str, Option<i64>), i64> = BTreeMap::new();
        for (name, system) in &self.systems {
            for (task, attempts) in &system.tasks {
                let Some(list) = self.checklists.get(task).filter(|list| !list.substance.is_empty()) else { continue };
                for attempt in attempts.values() {
                    let known: Vec<bool> =
                        list.substance.iter().filter_map(|one| attempt.verdicts.get(one).copied()).collect();
                    let missed = known.iter().filter(|passes| !**passes).count() as i64;
                    let whole = known.len() == list.substance.len();
                    *counts.entry((name, whole.then_some(missed))).or_default() += 1;
                }
            }
        }
        FrameBuilder::new()
            .text("system", &counts.keys().map(|key| key.0).collect::<Vec<_>>())
            .integer_or_null("criteria_missed", &counts.keys().map(|key| key.1).collect::<Vec<_>>())
            .integer("attempts", &counts.values().copied().collect::<Vec<_>>())
            .build()
    }

    /// Shows who judged what.
    pub fn evcxr_display(&self) {
        let plain = format!(
            "{} systems at {} tasks, judged by {} · {} · {}; {}",
            self.systems.len(),
            self.checklists.len(),
            self.judge.0,
            self.judge.1,
            self.judge.2,
            self.policy
        );
        signal::display(None, None, &plain);
    }
}

pub(super) const METRICS: [&str; 5] =
    ["task_pass_k", "criterion_pass_k_micro", "criterion_pass_k_macro", "attempt_pass_rate", "form"];

pub(super) struct Measure {
    pub estimate: Estimate,
    pub tasks: usize,
    pub left_out: usize,
}

fn one_of(frame: &DataFrame, column: &str) -> Result<String> {
    let mut found = distinct(frame, column)?;
    if found.len() == 1 {
        return Ok(found.remove(0));
    }
    Err(Error::input(format!("reliability is by one judge; the verdicts' column {column:?} holds {found:?}"))
        .help("keep one with .only(column, value)"))
}
