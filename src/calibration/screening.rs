//! Any number of judges and prompts against people's labels.

use std::collections::HashSet;
use std::sync::Arc;

use polars::prelude::DataFrame;

use super::compare;
use super::counts::{Counts, Statistic};
use super::intervals::{Estimate, IntervalMethod, estimates};
use super::join::{Judged, join};
use super::labels::LabelSet;
use crate::error::Result;
use crate::signal;
use crate::table::{FrameBuilder, JudgeScores, Verdict, Verdicts, escape, frame_to_html};

/// How often each judge agrees with people, with intervals clustered by task.
///
/// The first repeat's verdict counts; further repeats give the flip rate. Failed judgements are in no share and are
/// counted beside.
#[derive(Debug, Clone)]
pub struct Screening {
    scores: JudgeScores,
    notes: Vec<String>,
    judged: Arc<Vec<Judged>>,
    labels: Arc<LabelSet>,
}

/// Screens every judge, prompt and way in the table.
///
/// # Errors
/// When two verdicts stand for the same repeat, or one is neither PASS nor FAIL.
pub fn screen(verdicts: &Verdicts, labels: &LabelSet) -> Result<Screening> {
    Screening::by(verdicts, labels, IntervalMethod::default())
}

/// One row of the scores.
struct Row<'a> {
    judged: &'a Judged,
    name: &'static str,
    value: Option<f64>,
    interval: Option<(f64, f64)>,
    undefined: Option<&'static str>,
    n: i64,
    n_pass: i64,
    n_tasks: i64,
    n_unscored: i64,
    n_absent: i64,
}

impl Screening {
    /// The same with another method of making intervals.
    ///
    /// # Errors
    /// As [`screen`].
    pub fn by(verdicts: &Verdicts, labels: &LabelSet, method: IntervalMethod) -> Result<Self> {
        let judged = join(verdicts, labels)?;
        let rows: Vec<Row<'_>> = judged.iter().flat_map(|one| rows(one, labels, method)).collect();
        let scores = table(&rows, method)?;
        let mut notes = vec![format!(
            "{} labelled answers{}; intervals: 95 %, {method}, clustered by task",
            labels.len(),
            if labels.is_weighted() { ", weighted by the inverse of their selection probability" } else { "" }
        )];
        if !labels.is_weighted() && labels.items.iter().any(|item| item.probability.is_some_and(|p| p < 1.0)) {
            notes.push("the labels are a selection: these figures describe it, not all answers".to_owned());
        }
        if labels.unresolved > 0 {
            notes.push(format!("{} answers left out, on which annotators tie", labels.unresolved));
        }
        Ok(Self { scores, notes, judged: Arc::new(judged), labels: Arc::new(labels.clone()) })
    }

    /// The scores in long form.
    #[must_use]
    pub fn scores(&self) -> JudgeScores {
        self.scores.clone()
    }

    /// What has to be said with the figures.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    pub(super) fn note(mut self, note: String) -> Self {
        self.notes.push(note);
        self
    }

    pub(super) fn judged(&self) -> &[Judged] {
        &self.judged
    }

    pub(super) fn labels(&self) -> &LabelSet {
        &self.labels
    }

    /// Every pair of judges on the answers that both judged: see [`compare`](super::compare).
    ///
    /// # Errors
    /// When the table cannot be built.
    pub fn pairs(&self) -> Result<DataFrame> {
        compare::compare(self)
    }

    /// One row a judge, one column a statistic, each with its interval as text.
    ///
    /// # Errors
    /// When the table cannot be built.
    pub fn wide(&self) -> Result<DataFrame> {
        let label = |value: Option<f64>, interval: Option<(f64, f64)>| match (value, interval) {
            (None, _) => "undefined".to_owned(),
            (Some(value), None) => format!("{value:.3}"),
            (Some(value), Some((low, high))) => format!("{value:.3} [{low:.3}, {high:.3}]"),
        };
        let method = IntervalMethod::default();
        let all: Vec<Vec<Row<'_>>> = self.judged.iter().map(|one| rows(one, &self.labels, method)).collect();
        let first =
            |pick: fn(&Row<'_>) -> i64| all.iter().filter_map(|rows| rows.first()).map(pick).collect::<Vec<_>>();
        let mut builder = FrameBuilder::new()
            .text("judge", &self.judged.iter().map(|one| &one.key.judge).collect::<Vec<_>>())
            .text("prompt", &self.judged.iter().map(|one| &one.key.prompt).collect::<Vec<_>>())
            .text("way", &self.judged.iter().map(|one| &one.key.way).collect::<Vec<_>>())
            .integer("n", &first(|row| row.n))
            .integer("n_unscored", &first(|row| row.n_unscored));
        let frame = self.scores.frame();
        let (values, lows, highs) = (
            crate::table::floats(frame, "value")?,
            crate::table::floats(frame, "ci_low")?,
            crate::table::floats(frame, "ci_high")?,
        );
        let width = all.first().map_or(0, Vec::len);
        for place in 0..width {
            let column: Vec<String> = (0..all.len())
                .map(|judge| judge * width + place)
                .map(|at| label(values[at], lows[at].zip(highs[at])))
                .collect();
            builder = builder.text(all[0][place].name, &column);
        }
        builder.build()
    }

    /// Shows the wide table and the notes.
    pub fn evcxr_display(&self) {
        match self.wide() {
            Ok(frame) => {
                let notes: Vec<String> = self.notes.iter().map(|note| escape(note)).collect();
                let html = format!("{}<small>{}</small>", frame_to_html(&frame, 60), notes.join("<br>"));
                signal::display(Some(&html), None, &format!("{frame}\n{}", self.notes.join("\n")));
            }
            Err(error) => signal::display(None, None, &error.to_string()),
        }
    }
}

fn rows<'a>(judged: &'a Judged, labels: &LabelSet, method: IntervalMethod) -> Vec<Row<'a>> {
    let clusters = judged.clusters(labels);
    let whole = clusters.iter().fold(Counts::default(), |sum, one| sum.plus(*one));
    let (mut n, mut n_pass, mut n_unscored, mut n_absent) = (0, 0, 0, 0);
    let mut tasks = HashSet::new();
    for (place, item) in labels.items.iter().enumerate() {
        if judged.first(place).is_some() {
            n += 1;
            n_pass += i64::from(item.label == Verdict::Pass);
            tasks.insert(item.task.as_str());
        } else if judged.verdicts[place].is_empty() {
            n_absent += 1;
        } else {
            n_unscored += 1;
        }
    }
    let flips = judged.flips(labels);
    let flip = estimates(&flips, &[Statistic::PassRecall], method, 0.95);
    let row = |name: &'static str, found: &Estimate, undefined: &'static str| Row {
        judged,
        name,
        value: found.value,
        interval: found.interval,
        undefined: found.value.is_none().then_some(undefined),
        n,
        n_pass,
        n_tasks: tasks.len() as i64,
        n_unscored,
        n_absent,
    };
    let mut rows: Vec<Row<'_>> = estimates(&clusters, &Statistic::ALL, method, 0.95)
        .iter()
        .map(|found| row(found.statistic.as_str(), found, found.statistic.undefined(whole)))
        .collect();
    rows.extend(flip.iter().map(|found| row("flip_rate", found, "no answer was judged twice")));
    rows
}

fn table(rows: &[Row<'_>], method: IntervalMethod) -> Result<JudgeScores> {
    let number = |pick: fn(&Row<'_>) -> Option<f64>| rows.iter().map(pick).collect::<Vec<_>>();
    let count = |pick: fn(&Row<'_>) -> i64| rows.iter().map(pick).collect::<Vec<_>>();
    JudgeScores::new(
        FrameBuilder::new()
            .text("judge", &rows.iter().map(|row| &row.judged.key.judge).collect::<Vec<_>>())
            .text("prompt", &rows.iter().map(|row| &row.judged.key.prompt).collect::<Vec<_>>())
            .text("way", &rows.iter().map(|row| &row.judged.key.way).collect::<Vec<_>>())
            .text("statistic", &rows.iter().map(|row| row.name).collect::<Vec<_>>())
            .number("value", &number(|row| row.value))
            .number("ci_low", &number(|row| row.interval.map(|ends| ends.0)))
            .number("ci_high", &number(|row| row.interval.map(|ends| ends.1)))
            .text_or_null("undefined", &rows.iter().map(|row| row.undefined).collect::<Vec<_>>())
            .integer("n", &count(|row| row.n))
            .integer("n_pass", &count(|row| row.n_pass))
            .integer("n_tasks", &count(|row| row.n_tasks))
            .integer("n_unscored", &count(|row| row.n_unscored))
            .integer("n_absent", &count(|row| row.n_absent))
            .text("method", &vec![method.as_str(); rows.len()])
            .build()?,
    )
}
