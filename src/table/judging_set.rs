//! Tasks, criteria, attempts and labels that belong together.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::error::{Error, Result};
use crate::signal;

use super::{Attempts, Criteria, CriterionLabels, Tasks, floats, integers, read_jsonl_text, texts};

/// Tasks with their criteria, the attempts at them and people's labels, checked against each other.
///
/// ```
/// use claimlab::table::JudgingSet;
/// let set = JudgingSet::sample()?;
/// assert_eq!((set.tasks().height(), set.criteria().height()), (30, 150));
/// # Ok::<(), claimlab::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct JudgingSet {
    tasks: Tasks,
    criteria: Criteria,
    attempts: Attempts,
    labels: CriterionLabels,
}

impl JudgingSet {
    /// Puts four tables together.
    ///
    /// # Errors
    /// When an id stands twice, a criterion's or attempt's task does not exist, a kind is neither `substance` nor
    /// `form`, a weight is no positive number, or an attempt has neither answer nor failure. Labels are checked by
    /// whoever uses them, since they often cover more than one set.
    pub fn new(tasks: Tasks, criteria: Criteria, attempts: Attempts, labels: CriterionLabels) -> Result<Self> {
        let known = unique(&texts(tasks.frame(), "task_id")?, "task_id")?;
        unique(&texts(criteria.frame(), "criterion_id")?, "criterion_id")?;
        require_tasks(&texts(criteria.frame(), "task_id")?, &known, "criteria")?;
        require_tasks(&texts(attempts.frame(), "task_id")?, &known, "attempts")?;
        check_criteria(&criteria)?;
        check_attempts(&attempts)?;
        Ok(Self { tasks, criteria, attempts, labels })
    }

    /// Reads `tasks`, `criteria`, `attempts` and `labels` from a folder, each as `.jsonl`, `.csv` or `.parquet`.
    ///
    /// # Errors
    /// When a file is missing or broken, or the tables do not belong together.
    pub fn read_folder(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let file = |name: &str| {
            ["jsonl", "csv", "parquet"]
                .iter()
                .map(|ending| folder.join(format!("{name}.{ending}")))
                .find(|path| path.is_file())
                .ok_or_else(|| {
                    Error::new(
                        crate::ErrorKind::NotFound,
                        format!("{}: there is no {name}.jsonl, .csv or .parquet", folder.display()),
                    )
                    .help("a judging set is a folder of the tables tasks, criteria, attempts and labels")
                })
        };
        Self::new(
            Tasks::read(file("tasks")?)?,
            Criteria::read(file("criteria")?)?,
            Attempts::read(file("attempts")?)?,
            CriterionLabels::read(file("labels")?)?,
        )
        .map_err(|error| error.context(format!("reading {}", folder.display())))
    }

    /// The bundled set: 30 invented tasks, 150 criteria with planted faults, two attempts each, constructed labels.
    /// An illustration, not a benchmark: no score on it is a research result.
    ///
    /// # Errors
    /// Never for the files of this release.
    pub fn sample() -> Result<Self> {
        let part = |columns, text, name| read_jsonl_text(columns, text, name);
        Self::new(
            Tasks::new(part(Tasks::COLUMNS, include_str!("../../data/judging/tasks.jsonl"), "tasks.jsonl")?)?,
            Criteria::new(part(
                Criteria::COLUMNS,
                include_str!("../../data/judging/criteria.jsonl"),
                "criteria.jsonl",
            )?)?,
            Attempts::new(part(
                Attempts::COLUMNS,
                include_str!("../../data/judging/attempts.jsonl"),
                "attempts.jsonl",
            )?)?,
            CriterionLabels::new(part(
                CriterionLabels::COLUMNS,
                include_str!("../../data/judging/labels.jsonl"),
                "labels.jsonl",
            )?)?,
        )
    }

    /// What is asked.
    #[must_use]
    pub fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// What answers must do.
    #[must_use]
    pub fn criteria(&self) -> &Criteria {
        &self.criteria
    }

    /// What was answered.
    #[must_use]
    pub fn attempts(&self) -> &Attempts {
        &self.attempts
    }

    /// What people decided.
    #[must_use]
    pub fn labels(&self) -> &CriterionLabels {
        &self.labels
    }

    /// The same with other criteria, after a sign-off.
    ///
    /// # Errors
    /// When they do not belong to these tasks.
    pub fn with_criteria(&self, criteria: &Criteria) -> Result<Self> {
        Self::new(self.tasks.clone(), criteria.clone(), self.attempts.clone(), self.labels.clone())
    }

    /// The same with other attempts: a part of them, or those of another system.
    ///
    /// # Errors
    /// When they do not belong to these tasks.
    pub fn with_attempts(&self, attempts: &Attempts) -> Result<Self> {
        Self::new(self.tasks.clone(), self.criteria.clone(), attempts.clone(), self.labels.clone())
    }

    /// Tasks that no criterion belongs to: nothing can be said about their answers.
    ///
    /// # Errors
    /// Never for a set that [`Self::new`] accepted.
    pub fn tasks_without_criteria(&self) -> Result<Vec<String>> {
        let covered: HashSet<String> = texts(self.criteria.frame(), "task_id")?.into_iter().flatten().collect();
        Ok(texts(self.tasks.frame(), "task_id")?.into_iter().flatten().filter(|task| !covered.contains(task)).collect())
    }

    /// Shows the sizes.
    pub fn evcxr_display(&self) {
        let without = self.tasks_without_criteria().map_or(0, |tasks| tasks.len());
        let note = if without > 0 { format!(" · {without} tasks without criteria") } else { String::new() };
        signal::display(
            None,
            None,
            &format!(
                "{} tasks · {} criteria · {} attempts · {} labels{note}",
                self.tasks.height(),
                self.criteria.height(),
                self.attempts.height(),
                self.labels.height()
            ),
        );
    }
}

fn unique(ids: &[Option<String>], column: &str) -> Result<HashSet<String>> {
    let mut seen = HashSet::new();
    for id in ids.iter().flatten() {
        if !seen.insert(id.clone()) {
            return Err(Error::input(format!("{column} {id:?} stands twice")).help("give every row a name of its own"));
        }
    }
    Ok(seen)
}

fn require_tasks(found: &[Option<String>], known: &HashSet<String>, table: &str) -> Result<()> {
    let unknown: Vec<&String> = found.iter().flatten().filter(|task| !known.contains(*task)).collect();
    match unknown.first() {
        None => Ok(()),
        Some(first) => Err(Error::input(format!(
            "{table}: {} rows name a task that is not in the tasks, {first:?} first",
            unknown.len()
        ))
        .help("add the task, or drop the rows")),
    }
}

fn check_criteria(criteria: &Criteria) -> Result<()> {
    let frame = criteria.frame();
    let ids = texts(frame, "criterion_id")?;
    let name = |row: usize| ids[row].clone().unwrap_or_default();
    for (row, kind) in texts(frame, "kind")?.iter().enumerate() {
        if !matches!(kind.as_deref(), Some("substance" | "form")) {
            return Err(Error::input(format!(
                "criterion {:?}: its kind is {:?}, expected substance or form",
                name(row),
                kind.as_deref().unwrap_or_default()
            )));
        }
    }
    for (row, text) in texts(frame, "text")?.iter().enumerate() {
        if text.as_deref().is_none_or(|text| text.trim().is_empty()) {
            return Err(Error::input(format!("criterion {:?} has no text", name(row))));
        }
    }
    if frame.column("weight").is_ok() {
        for (row, weight) in floats(frame, "weight")?.iter().enumerate() {
            if weight.is_some_and(|weight| !weight.is_finite() || weight <= 0.0) {
                return Err(Error::input(format!("criterion {:?}: its weight is no positive number", name(row))));
            }
        }
    }
    Ok(())
}

fn check_attempts(attempts: &Attempts) -> Result<()> {
    let frame = attempts.frame();
    let (systems, tasks, numbers) = (texts(frame, "system")?, texts(frame, "task_id")?, integers(frame, "attempt")?);
    let (answers, failures) = (texts(frame, "answer")?, texts(frame, "failure")?);
    let mut seen: HashMap<(String, String, i64), ()> = HashMap::new();
    for row in 0..frame.height() {
        let key = (
            systems[row].clone().unwrap_or_default(),
            tasks[row].clone().unwrap_or_default(),
            numbers[row].unwrap_or_default(),
        );
        let name = format!("attempt {} of {:?} at task {:?}", key.2, key.0, key.1);
        if answers[row].is_none() && failures[row].is_none() {
            return Err(Error::input(format!("{name} has neither answer nor failure"))
                .help("say in the column failure why there is no answer"));
        }
        if seen.insert(key, ()).is_some() {
            return Err(Error::input(format!("{name} stands twice")));
        }
    }
    Ok(())
}
