//! The rule by which a judge is chosen, stated before the figures are seen.

use std::fmt;

use polars::prelude::DataFrame;

use super::counts::Statistic;
use super::screening::Screening;
use crate::error::{Error, Result};
use crate::signal;
use crate::table::{FrameBuilder, floats, frame_to_html, integers, texts};

/// Maximise one statistic, subject to floors under others.
///
/// ```
/// use claimlab::calibration::{SelectionRule, Statistic};
/// let rule = SelectionRule::maximise(Statistic::BalancedAccuracy).subject_to(Statistic::PassRecall, 0.8);
/// assert_eq!(rule.to_string(), "maximise balanced_accuracy subject to pass_recall ≥ 0.8");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SelectionRule {
    maximise: Statistic,
    floors: Vec<(Statistic, f64)>,
}

/// What a rule chose, and why not the others.
#[derive(Debug, Clone)]
pub struct Selection {
    rule: SelectionRule,
    judge: String,
    prompt: String,
    way: String,
    table: DataFrame,
}

impl SelectionRule {
    /// A rule without floors.
    #[must_use]
    pub fn maximise(statistic: Statistic) -> Self {
        Self { maximise: statistic, floors: Vec::new() }
    }

    /// Only judges on which the statistic's value is at least so much.
    #[must_use]
    pub fn subject_to(mut self, statistic: Statistic, at_least: f64) -> Self {
        self.floors.push((statistic, at_least));
        self
    }

    /// Shows the rule.
    pub fn evcxr_display(&self) {
        signal::display(None, None, &self.to_string());
    }

    /// Chooses. Ties go to the judge with fewer failed judgements, then to the first by name.
    ///
    /// # Errors
    /// When no judge satisfies the rule: says how each fails.
    pub fn choose(&self, screening: &Screening) -> Result<Selection> {
        let scores = screening.scores();
        let frame = scores.frame();
        let (judges, prompts, ways) = (texts(frame, "judge")?, texts(frame, "prompt")?, texts(frame, "way")?);
        let (names, values) = (texts(frame, "statistic")?, floats(frame, "value")?);
        let unscored = integers(frame, "n_unscored")?;
        let mut candidates: Vec<Candidate> = Vec::new();
        for row in 0..frame.height() {
            let text = |values: &[Option<String>]| values[row].clone().unwrap_or_default();
            let key = (text(&judges), text(&prompts), text(&ways));
            if candidates.last().is_none_or(|last| last.key != key) {
                candidates.push(Candidate { key, values: Vec::new(), unscored: unscored[row].unwrap_or(0) });
            }
            if let Some(last) = candidates.last_mut() {
                last.values.push((text(&names), values[row]));
            }
        }
        let verdicts: Vec<Option<String>> = candidates.iter().map(|candidate| self.against(candidate)).collect();
        let best = candidates
            .iter()
            .zip(&verdicts)
            .filter(|(_, against)| against.is_none())
            .map(|(candidate, _)| candidate)
            .max_by(|a, b| {
                let value = |one: &Candidate| one.value(self.maximise).unwrap_or(f64::NEG_INFINITY);
                value(a).total_cmp(&value(b)).then(b.unscored.cmp(&a.unscored)).then(b.key.cmp(&a.key))
            });
        let Some(best) = best else {
            let reasons: Vec<String> = candidates
                .iter()
                .zip(&verdicts)
                .map(|(one, against)| format!("{} · {}: {}", one.key.0, one.key.1, against.as_deref().unwrap_or("?")))
                .collect();
            return Err(Error::input(format!("no judge satisfies \"{self}\": {}", reasons.join("; ")))
                .help("try other judges or prompts; a rule that is loosened after the scores is no rule"));
        };
        let said = |place: usize| match &verdicts[place] {
            Some(against) => against.clone(),
            None if candidates[place].key == best.key => "chosen".to_owned(),
            None => "satisfies the rule".to_owned(),
        };
        let table = FrameBuilder::new()
            .text("judge", &candidates.iter().map(|one| &one.key.0).collect::<Vec<_>>())
            .text("prompt", &candidates.iter().map(|one| &one.key.1).collect::<Vec<_>>())
            .text("way", &candidates.iter().map(|one| &one.key.2).collect::<Vec<_>>())
            .number(self.maximise.as_str(), &candidates.iter().map(|one| one.value(self.maximise)).collect::<Vec<_>>())
            .text("outcome", &(0..candidates.len()).map(said).collect::<Vec<_>>())
            .build()?;
        let (judge, prompt, way) = best.key.clone();
        Ok(Selection { rule: self.clone(), judge, prompt, way, table })
    }

    /// Why a judge is out.
    fn against(&self, candidate: &Candidate) -> Option<String> {
        if candidate.value(self.maximise).is_none() {
            return Some(format!("{} is undefined", self.maximise));
        }
        self.floors.iter().find_map(|(statistic, floor)| match candidate.value(*statistic) {
            None => Some(format!("{statistic} is undefined")),
            Some(value) if value < *floor => Some(format!("{statistic} is {value:.3}, below {floor}")),
            Some(_) => None,
        })
    }
}

struct Candidate {
    key: (String, String, String),
    values: Vec<(String, Option<f64>)>,
    unscored: i64,
}

impl Candidate {
    fn value(&self, statistic: Statistic) -> Option<f64> {
        self.values.iter().find(|(name, _)| name == statistic.as_str()).and_then(|(_, value)| *value)
    }
}

impl fmt::Display for SelectionRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "maximise {}", self.maximise)?;
        for (place, (statistic, floor)) in self.floors.iter().enumerate() {
            write!(formatter, "{} {statistic} ≥ {floor}", if place == 0 { " subject to" } else { " and" })?;
        }
        Ok(())
    }
}

impl Selection {
    /// The chosen model.
    #[must_use]
    pub fn judge(&self) -> String {
        self.judge.clone()
    }

    /// The chosen prompt, name and digest.
    #[must_use]
    pub fn prompt(&self) -> String {
        self.prompt.clone()
    }

    /// The chosen way of asking.
    #[must_use]
    pub fn way(&self) -> String {
        self.way.clone()
    }

    /// Every candidate with its outcome.
    #[must_use]
    pub fn table(&self) -> DataFrame {
        self.table.clone()
    }

    /// Shows the rule and the outcomes.
    pub fn evcxr_display(&self) {
        let html = format!("{}<small>{}</small>", frame_to_html(&self.table, 60), self.rule);
        signal::display(Some(&html), None, &format!("{}\n{}", self.table, self.rule));
    }
}
