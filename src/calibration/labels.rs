//! People's decisions, one an answer and criterion.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::counts::{Counts, Statistic};
use super::intervals::{Estimate, IntervalMethod, estimates};
use crate::error::{Error, Result};
use crate::signal;
use crate::table::{Criteria, CriterionLabels, Verdict, floats, integers, texts};

/// Labels checked against the criteria, with one decision an answer and criterion.
///
/// Where several annotators decided, the majority counts; a tie leaves the item *unresolved*, outside all statistics
/// and counted.
#[derive(Debug, Clone)]
pub struct LabelSet {
    pub(super) items: Vec<Item>,
    pub(super) unresolved: usize,
    pub(super) open: usize,
    weighted: bool,
}

/// A labelled answer.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub criterion: String,
    pub system: String,
    pub attempt: i64,
    pub task: String,
    pub label: Verdict,
    /// What it counts for.
    pub weight: f64,
    pub probability: Option<f64>,
    /// Annotators' words, those of the majority.
    pub reasons: Vec<String>,
}

/// What annotators said about one answer: who, what, and why.
#[derive(Default)]
struct Said {
    task: String,
    decisions: Vec<(String, Verdict, Option<String>)>,
    probability: Option<f64>,
}

impl LabelSet {
    /// Checks labels against criteria and settles them.
    ///
    /// # Errors
    /// When a label is for an unknown criterion, is neither PASS nor FAIL, was given twice by one annotator with
    /// different values, or has a probability outside (0, 1].
    pub fn new(labels: &CriterionLabels, criteria: &Criteria) -> Result<Self> {
        let frame = criteria.frame();
        let tasks: HashMap<String, String> = texts(frame, "criterion_id")?
            .into_iter()
            .zip(texts(frame, "task_id")?)
            .filter_map(|(criterion, task)| Some((criterion?, task?)))
            .collect();
        let frame = labels.frame();
        let (ids, systems, attempts) =
            (texts(frame, "criterion_id")?, texts(frame, "system")?, integers(frame, "attempt")?);
        let (annotators, given) = (texts(frame, "annotator")?, texts(frame, "label")?);
        let optional = |name: &str| frame.column(name).is_ok();
        let reasons = if optional("reason") { texts(frame, "reason")? } else { vec![None; frame.height()] };
        let probabilities = if optional("selection_probability") {
            floats(frame, "selection_probability")?
        } else {
            vec![None; frame.height()]
        };
        let unknown: HashSet<&String> = ids.iter().flatten().filter(|id| !tasks.contains_key(*id)).collect();
        if !unknown.is_empty() {
            let mut names: Vec<&String> = unknown.into_iter().collect();
            names.sort();
            return Err(Error::input(format!(
                "labels for {} criteria that do not exist: {:?}",
                names.len(),
                &names[..names.len().min(5)]
            ))
            .help("drop these labels, or add the criteria that they are for"));
        }
        let mut found: BTreeMap<(String, String, i64), Said> = BTreeMap::new();
        let mut open = 0;
        for row in 0..frame.height() {
            let text = |values: &[Option<String>]| values[row].clone().unwrap_or_default();
            let key = (text(&ids), text(&systems), attempts[row].unwrap_or_default());
            let place = || format!("criterion {:?}, attempt {} of {:?}", key.0, key.2, key.1);
            let Some(label) = given[row].as_deref() else {
                open += 1;
                continue;
            };
            let label = Verdict::parse(label)
                .ok_or_else(|| Error::input(format!("{}: the label is {label:?}, expected PASS or FAIL", place())))?;
            let probability = probabilities[row];
            if probability.is_some_and(|p| !(p > 0.0 && p <= 1.0)) {
                return Err(Error::input(format!(
                    "{}: selection_probability is {}, expected above 0 and at most 1",
                    place(),
                    probability.unwrap_or_default()
                )));
            }
            let annotator = text(&annotators);
            let task = tasks.get(&key.0).cloned().unwrap_or_default();
            let said = found.entry(key.clone()).or_insert_with(|| Said { task, ..Said::default() });
            said.probability = said.probability.or(probability);
            if let Some((_, before, _)) = said.decisions.iter().find(|(who, _, _)| *who == annotator) {
                if *before != label {
                    return Err(Error::input(format!(
                        "{}: annotator {annotator:?} gave both {before} and {label}",
                        place()
                    ))
                    .help("keep the label that counts"));
                }
                continue;
            }
            said.decisions.push((annotator, label, reasons[row].clone()));
        }
        Ok(Self::settle(found, open))
    }

    fn settle(found: BTreeMap<(String, String, i64), Said>, open: usize) -> Self {
        let (mut items, mut unresolved) = (Vec::new(), 0);
        for ((criterion, system, attempt), said) in found {
            let passes = said.decisions.iter().filter(|(_, label, _)| *label == Verdict::Pass).count();
            let fails = said.decisions.len() - passes;
            if passes == fails {
                unresolved += 1;
                continue;
            }
            let label = if passes > fails { Verdict::Pass } else { Verdict::Fail };
            let agreeing = said.decisions.into_iter().filter(|(_, given, _)| *given == label);
            items.push(Item {
                criterion,
                system,
                attempt,
                task: said.task,
                label,
                weight: 1.0,
                probability: said.probability,
                reasons: agreeing
                    .filter_map(|(who, _, reason)| reason.map(|reason| format!("{who}: {reason}")))
                    .collect(),
            });
        }
        Self { items, unresolved, open, weighted: false }
    }

    /// The same with every label weighing the inverse of the probability with which it was selected, so that statistics
    /// estimate what they would be on all answers instead of on those that were chosen for being hard (Horvitz and
    /// Thompson 1952; shares are ratios of such sums, Hájek 1971).
    ///
    /// # Errors
    /// When a probability is not known.
    pub fn weighted(&self) -> Result<Self> {
        let mut weighted = self.clone();
        for item in &mut weighted.items {
            let probability = item.probability.ok_or_else(|| {
                Error::input(format!(
                    "criterion {:?}, attempt {} of {:?}: it is not known how probable its selection was",
                    item.criterion, item.attempt, item.system
                ))
                .help("a selection by hand cannot be weighted; add a random audit and record its probability")
            })?;
            item.weight = 1.0 / probability;
        }
        weighted.weighted = true;
        Ok(weighted)
    }

    /// Only the labels of these tasks.
    #[must_use]
    pub fn of_tasks(&self, tasks: &[String]) -> Self {
        let kept: HashSet<&String> = tasks.iter().collect();
        let mut part = self.clone();
        part.items.retain(|item| kept.contains(&item.task));
        part
    }

    /// How many answers have a settled label.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether labels weigh by their selection.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        self.weighted
    }

    /// The share labelled PASS, with an interval clustered by task.
    #[must_use]
    pub fn pass_rate(&self, method: IntervalMethod) -> Estimate {
        let mut clusters: BTreeMap<&str, Counts> = BTreeMap::new();
        for item in &self.items {
            clusters.entry(&item.task).or_default().add(item.label == Verdict::Pass, true, item.weight);
        }
        let clusters: Vec<Counts> = clusters.into_values().collect();
        estimates(&clusters, &[Statistic::LabelPassRate], method, 0.95).remove(0)
    }

    /// Shows what there is.
    pub fn evcxr_display(&self) {
        let passes = self.items.iter().filter(|item| item.label == Verdict::Pass).count();
        let tasks: HashSet<&String> = self.items.iter().map(|item| &item.task).collect();
        let plain = format!(
            "{} labelled answers ({passes} PASS, {} FAIL) in {} tasks · {} unresolved ties · {} left open{}",
            self.items.len(),
            self.items.len() - passes,
            tasks.len(),
            self.unresolved,
            self.open,
            if self.weighted { " · weighted by selection" } else { "" }
        );
        signal::display(None, None, &plain);
    }
}
