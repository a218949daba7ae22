//! Verdicts beside labels.

use std::collections::{BTreeMap, HashMap};

use polars::prelude::DataFrame;

use super::counts::Counts;
use super::labels::LabelSet;
use crate::error::{Error, Result};
use crate::table::{Verdict, Verdicts, integers};

/// Who judged, with which prompt, in which way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct JudgeKey {
    pub judge: String,
    pub prompt: String,
    pub way: String,
}

impl std::fmt::Display for JudgeKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} · {} · {}", self.judge, self.prompt, self.way)
    }
}

/// One judge's verdicts on labelled answers.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    pub key: JudgeKey,
    /// For every labelled answer: the verdicts of the repeats in their order, `None` where the judgement failed; empty
    /// where the judge was not asked.
    pub verdicts: Vec<Vec<Option<Verdict>>>,
}

/// A text column without copies; null where the column is all null.
pub(super) fn borrowed<'a>(frame: &'a DataFrame, name: &str) -> Result<Vec<Option<&'a str>>> {
    let column = frame.column(name)?;
    if column.null_count() == column.len() {
        return Ok(vec![None; column.len()]);
    }
    Ok(column.str()?.iter().collect())
}

/// Reads the verdicts on labelled answers, by judge in the order of their names. Verdicts on other answers are left
/// aside.
pub(super) fn join(verdicts: &Verdicts, labels: &LabelSet) -> Result<Vec<Judged>> {
    let frame = verdicts.frame();
    let column = |name: &str| borrowed(frame, name);
    let (judges, prompts, ways) = (column("judge")?, column("prompt")?, column("way")?);
    let (criteria, systems, said) = (column("criterion_id")?, column("system")?, column("verdict")?);
    let (attempts, repeats) = (integers(frame, "attempt")?, integers(frame, "repeat")?);
    let items: HashMap<(&str, &str, i64), u32> = labels
        .items
        .iter()
        .enumerate()
        .map(|(place, item)| ((item.criterion.as_str(), item.system.as_str(), item.attempt), place as u32))
        .collect();
    type Rows = Vec<(u32, i64, Option<Verdict>)>;
    let mut groups: BTreeMap<(&str, &str, &str), Rows> = BTreeMap::new();
    for row in 0..frame.height() {
        let key = (judges[row].unwrap_or_default(), prompts[row].unwrap_or_default(), ways[row].unwrap_or_default());
        let rows = groups.entry(key).or_default();
        let answer =
            (criteria[row].unwrap_or_default(), systems[row].unwrap_or_default(), attempts[row].unwrap_or_default());
        let Some(item) = items.get(&answer) else { continue };
        let verdict = match said[row] {
            None => None,
            Some(text) => Some(Verdict::parse(text).ok_or_else(|| {
                Error::input(format!("criterion {:?}: the verdict is {text:?}, expected PASS or FAIL", answer.0))
            })?),
        };
        rows.push((*item, repeats[row].unwrap_or(1), verdict));
    }
    groups.into_iter().map(|(key, rows)| judged(key, rows, labels)).collect()
}

fn judged(key: (&str, &str, &str), mut rows: Vec<(u32, i64, Option<Verdict>)>, labels: &LabelSet) -> Result<Judged> {
    let key = JudgeKey { judge: key.0.to_owned(), prompt: key.1.to_owned(), way: key.2.to_owned() };
    rows.sort_unstable_by_key(|row| (row.0, row.1));
    if let Some(twice) = rows.windows(2).find(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)) {
        let item = &labels.items[twice[0].0 as usize];
        return Err(Error::input(format!(
            "{key}: two verdicts on criterion {:?}, attempt {} of {:?}, repeat {}",
            item.criterion, item.attempt, item.system, twice[0].1
        ))
        .help("number the repeats, or drop one"));
    }
    let mut verdicts = vec![Vec::new(); labels.items.len()];
    for (item, _, verdict) in rows {
        verdicts[item as usize].push(verdict);
    }
    Ok(Judged { key, verdicts })
}

impl Judged {
    /// The verdict that counts: the first repeat's, which is what a judge that is asked once would say.
    pub fn first(&self, item: usize) -> Option<Verdict> {
        self.verdicts.get(item).and_then(|repeats| repeats.first().copied().flatten())
    }

    /// Counts by task, in the order of the tasks' names.
    pub fn clusters(&self, labels: &LabelSet) -> Vec<Counts> {
        let mut clusters: BTreeMap<&str, Counts> = BTreeMap::new();
        for (place, item) in labels.items.iter().enumerate() {
            if let Some(verdict) = self.first(place) {
                let counts = clusters.entry(&item.task).or_default();
                counts.add(item.label == Verdict::Pass, verdict == Verdict::Pass, item.weight);
            }
        }
        clusters.into_values().collect()
    }

    /// By task: over all pairs of repeats of an answer, how many differ, and how many there are, averaged over answers.
    pub fn flips(&self, labels: &LabelSet) -> Vec<Counts> {
        let mut clusters: BTreeMap<&str, Counts> = BTreeMap::new();
        for (place, item) in labels.items.iter().enumerate() {
            if let Some(rate) = flip_rate(&self.verdicts[place]) {
                let counts = clusters.entry(&item.task).or_default();
                counts.pass_pass += rate * item.weight;
                counts.pass_fail += (1.0 - rate) * item.weight;
            }
        }
        clusters.into_values().collect()
    }
}

/// The share of pairs of repeats that differ; `None` below two verdicts.
pub(super) fn flip_rate(repeats: &[Option<Verdict>]) -> Option<f64> {
    let known: Vec<Verdict> = repeats.iter().copied().flatten().collect();
    let passes = known.iter().filter(|verdict| **verdict == Verdict::Pass).count() as f64;
    let n = known.len() as f64;
    (known.len() >= 2).then(|| passes * (n - passes) / (n * (n - 1.0) / 2.0))
}
