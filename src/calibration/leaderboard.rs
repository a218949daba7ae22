//! Systems beside each other, and how high the judge lets them rise.

use polars::prelude::DataFrame;

use super::intervals::quantile;
use super::pareto::front;
use super::reliability::{METRICS, Measure, Reliability, System};
use crate::error::{Error, Result};
use crate::table::{FrameBuilder, JudgeScores, floats, texts};

impl Reliability {
    /// The Task Pass^k that a *perfect* system would reach under this judge, given its PASS recall s in the scores: the
    /// mean over tasks of s^(m k) if its errors are independent (m substance criteria, k attempts), and of s^m
    /// if it errs alike on every attempt. With the recall's interval. No system can be seen to be better than that.
    ///
    /// # Errors
    /// When the scores have no PASS recall of this judge, prompt and way.
    pub fn ceiling(&self, k: u64, scores: &JudgeScores) -> Result<DataFrame> {
        let frame = scores.frame();
        let column = |name: &str| texts(frame, name);
        let (judges, prompts, ways, names) =
            (column("judge")?, column("prompt")?, column("way")?, column("statistic")?);
        let row = (0..frame.height()).find(|row| {
            (judges[*row].as_deref(), prompts[*row].as_deref(), ways[*row].as_deref(), names[*row].as_deref())
                == (Some(&self.judge.0), Some(&self.judge.1), Some(&self.judge.2), Some("pass_recall"))
        });
        let row = row.ok_or_else(|| {
            Error::input(format!(
                "the scores have no pass_recall of {} · {} · {}",
                self.judge.0, self.judge.1, self.judge.2
            ))
            .help("screen the same judge on labels first")
        })?;
        let recalls: Vec<Option<f64>> =
            ["value", "ci_low", "ci_high"].iter().map(|name| Ok(floats(frame, name)?[row])).collect::<Result<_>>()?;
        let lengths: Vec<i32> = self
            .checklists
            .values()
            .filter(|list| !list.substance.is_empty())
            .filter_map(|list| i32::try_from(list.substance.len()).ok())
            .collect();
        let mean = |power: i32| -> Vec<Option<f64>> {
            recalls
                .iter()
                .map(|recall| {
                    let sum: f64 = lengths.iter().map(|m| (*recall).map_or(0.0, |s| s.powi(m * power))).sum();
                    recall.filter(|_| !lengths.is_empty()).map(|_| sum / lengths.len() as f64)
                })
                .collect()
        };
        let k = i32::try_from(k).map_err(|_| Error::input("k is too large"))?;
        let (independent, alike) = (mean(k), mean(1));
        let value = |place: usize| vec![recalls[place], independent[place], alike[place]];
        FrameBuilder::new()
            .text("what", &["judge_pass_recall", "ceiling_if_errors_are_independent", "ceiling_if_errors_repeat"])
            .number("value", &value(0))
            .number("ci_low", &value(1))
            .number("ci_high", &value(2))
            .build()
    }

    /// One row a system, best Task Pass^k first: reliability, cost and latency as axes of their own, since a cheap system
    /// may be slow and a fast one dear. `pareto` says whether no other system is at least as good on all three and better
    /// on one; null where a cost or latency is not known.
    ///
    /// # Errors
    /// As [`Self::pass_k`].
    pub fn leaderboard(&self, k: u64) -> Result<DataFrame> {
        self.pass_k(k)?;
        let mut rows: Vec<(&str, &System, Vec<Measure>)> = self
            .systems
            .iter()
            .map(|(name, system)| {
                (name.as_str(), system, METRICS.iter().map(|metric| self.measure(system, metric, k)).collect())
            })
            .collect();
        let score = |row: &(&str, &System, Vec<Measure>)| row.2[0].estimate.value.unwrap_or(f64::NEG_INFINITY);
        rows.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.0.cmp(b.0)));
        let axes: Vec<Option<[f64; 3]>> = rows
            .iter()
            .map(|row| Some([row.2[0].estimate.value?, -mean(&row.1.costs)?, -mean(&row.1.latencies)?]))
            .collect();
        let mut builder = FrameBuilder::new().text("system", &rows.iter().map(|row| row.0).collect::<Vec<_>>());
        for (place, metric) in METRICS.iter().enumerate() {
            builder = builder.number(metric, &rows.iter().map(|row| row.2[place].estimate.value).collect::<Vec<_>>());
            if place == 0 {
                let end = |pick: fn((f64, f64)) -> f64| {
                    rows.iter().map(|row| row.2[0].estimate.interval.map(pick)).collect::<Vec<_>>()
                };
                builder = builder.number("ci_low", &end(|ends| ends.0)).number("ci_high", &end(|ends| ends.1));
            }
        }
        builder
            .number("mean_cost_usd", &rows.iter().map(|row| mean(&row.1.costs)).collect::<Vec<_>>())
            .number("median_cost_usd", &rows.iter().map(|row| median(&row.1.costs)).collect::<Vec<_>>())
            .number("mean_latency_ms", &rows.iter().map(|row| mean(&row.1.latencies)).collect::<Vec<_>>())
            .number("median_latency_ms", &rows.iter().map(|row| median(&row.1.latencies)).collect::<Vec<_>>())
            .boolean("pareto", &front(&axes))
            .integer("n_tasks", &rows.iter().map(|row| row.2[0].tasks as i64).collect::<Vec<_>>())
            .integer("n_left_out", &rows.iter().map(|row| row.2[0].left_out as i64).collect::<Vec<_>>())
            .integer("n_unscored", &rows.iter().map(|row| row.1.unscored as i64).collect::<Vec<_>>())
            .text("policy", &vec![self.policy.as_str(); rows.len()])
            .build()
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}
