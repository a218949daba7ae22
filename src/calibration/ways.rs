//! One criterion a call, or the whole checklist at once?

use std::collections::{BTreeMap, HashMap};

use polars::prelude::DataFrame;

use super::compare::exact;
use super::counts::{Counts, Statistic};
use super::intervals::{IntervalMethod, estimates};
use super::join::borrowed;
use crate::error::{Error, Result};
use crate::signal;
use crate::table::{FrameBuilder, Verdict, Verdicts, floats, frame_to_html, integers};

/// The two ways of asking a judge, compared.
#[derive(Debug, Clone)]
pub struct WaysReport {
    volume: DataFrame,
    agreement: DataFrame,
    failures: DataFrame,
}

impl WaysReport {
    /// One row a judge, prompt and way: calls, verdicts, failures, the share passed, tokens and cost.
    #[must_use]
    pub fn volume(&self) -> DataFrame {
        self.volume.clone()
    }

    /// One row a judge and prompt, over answers that both ways scored: how often they agree, and how much more lenient
    /// the batched way is (its share of PASS minus that of single calls), with McNemar's exact test.
    #[must_use]
    pub fn agreement(&self) -> DataFrame {
        self.agreement.clone()
    }

    /// One row a judge, prompt, way and number of criteria in a call: the share of judgements that failed.
    #[must_use]
    pub fn failures(&self) -> DataFrame {
        self.failures.clone()
    }

    /// Shows all three.
    pub fn evcxr_display(&self) {
        let parts = [&self.volume, &self.agreement, &self.failures];
        let html: String = parts.iter().map(|part| frame_to_html(part, 40)).collect();
        let plain: Vec<String> = parts.iter().map(|part| part.to_string()).collect();
        signal::display(Some(&html), None, &plain.join("\n"));
    }
}

/// A judge with a prompt.
type Asked<'a> = (&'a str, &'a str);

#[derive(Default)]
struct Volume<'a> {
    /// Per call: criteria in it, tokens read and written, cost.
    calls: HashMap<&'a str, (i64, Option<i64>, Option<i64>, Option<f64>)>,
    passes: i64,
    fails: i64,
    unscored: i64,
    /// Failed judgements by call.
    failed: HashMap<&'a str, i64>,
}

/// Compares the ways in which the judges of a table were asked. First repeats only.
///
/// # Errors
/// When the verdicts do not say which call they come from.
pub fn compare_ways(verdicts: &Verdicts) -> Result<WaysReport> {
    let frame = verdicts.frame();
    if frame.column("request").is_err() {
        return Err(Error::input("the verdicts have no column \"request\"")
            .help("without the calls' names nobody can count them; judge with Judge, or add the column"));
    }
    let column = |name: &str| borrowed(frame, name);
    let (judges, prompts, ways, requests) = (column("judge")?, column("prompt")?, column("way")?, column("request")?);
    let (tasks, criteria, systems, said) =
        (column("task_id")?, column("criterion_id")?, column("system")?, column("verdict")?);
    let (attempts, repeats) = (integers(frame, "attempt")?, integers(frame, "repeat")?);
    let optional = |name: &str| frame.column(name).is_ok();
    let whole = |name: &str| if optional(name) { integers(frame, name) } else { Ok(vec![None; frame.height()]) };
    let (read, written) = (whole("prompt_tokens")?, whole("completion_tokens")?);
    let costs = if optional("cost_usd") { floats(frame, "cost_usd")? } else { vec![None; frame.height()] };
    type Answer<'a> = (&'a str, &'a str, &'a str, i64);
    let mut volumes: BTreeMap<(Asked<'_>, &str), Volume<'_>> = BTreeMap::new();
    let mut pairs: BTreeMap<Asked<'_>, BTreeMap<Answer<'_>, [Option<Verdict>; 2]>> = BTreeMap::new();
    for row in 0..frame.height() {
        if repeats[row] != Some(1) {
            continue;
        }
        let asked = (judges[row].unwrap_or_default(), prompts[row].unwrap_or_default());
        let (way, request) = (ways[row].unwrap_or_default(), requests[row].unwrap_or_default());
        let volume = volumes.entry((asked, way)).or_default();
        let call = volume.calls.entry(request).or_insert((0, read[row], written[row], costs[row]));
        call.0 += 1;
        let verdict = said[row].and_then(Verdict::parse);
        match verdict {
            Some(Verdict::Pass) => volume.passes += 1,
            Some(Verdict::Fail) => volume.fails += 1,
            None => {
                volume.unscored += 1;
                *volume.failed.entry(request).or_default() += 1;
            }
        }
        let answer = (
            tasks[row].unwrap_or_default(),
            criteria[row].unwrap_or_default(),
            systems[row].unwrap_or_default(),
            attempts[row].unwrap_or_default(),
        );
        pairs.entry(asked).or_default().entry(answer).or_default()[usize::from(way == "batched")] = verdict;
    }
    Ok(WaysReport { volume: volume(&volumes)?, agreement: agreement(&pairs)?, failures: failures(&volumes)? })
}

fn volume(volumes: &BTreeMap<(Asked<'_>, &str), Volume<'_>>) -> Result<DataFrame> {
    let count = |pick: fn(&Volume<'_>) -> i64| volumes.values().map(pick).collect::<Vec<_>>();
    let rate: Vec<Option<f64>> = volumes
        .values()
        .map(|one| (one.passes + one.fails > 0).then(|| one.passes as f64 / (one.passes + one.fails) as f64))
        .collect();
    let total = |pick: fn(&(i64, Option<i64>, Option<i64>, Option<f64>)) -> Option<i64>| {
        volumes.values().map(|one| one.calls.values().map(pick).sum::<Option<i64>>()).collect::<Vec<_>>()
    };
    FrameBuilder::new()
        .text("judge", &volumes.keys().map(|key| key.0.0).collect::<Vec<_>>())
        .text("prompt", &volumes.keys().map(|key| key.0.1).collect::<Vec<_>>())
        .text("way", &volumes.keys().map(|key| key.1).collect::<Vec<_>>())
        .integer("calls", &count(|one| one.calls.len() as i64))
        .integer("verdicts", &count(|one| one.passes + one.fails))
        .integer("unscored", &count(|one| one.unscored))
        .number("pass_rate", &rate)
        .integer_or_null("prompt_tokens", &total(|call| call.1))
        .integer_or_null("completion_tokens", &total(|call| call.2))
        .number(
            "cost_usd",
            &volumes.values().map(|one| one.calls.values().map(|call| call.3).sum::<Option<f64>>()).collect::<Vec<_>>(),
        )
        .build()
}

fn agreement(
    pairs: &BTreeMap<Asked<'_>, BTreeMap<(&str, &str, &str, i64), [Option<Verdict>; 2]>>,
) -> Result<DataFrame> {
    let mut rows: Vec<(Asked<'_>, i64, Option<f64>, Option<f64>, [usize; 2])> = Vec::new();
    for (asked, answers) in pairs {
        // Rows are single calls' verdicts, columns batched ones.
        let mut tasks: BTreeMap<&str, Counts> = BTreeMap::new();
        for (answer, pair) in answers {
            if let [Some(single), Some(batched)] = pair {
                tasks.entry(answer.0).or_default().add(*single == Verdict::Pass, *batched == Verdict::Pass, 1.0);
            }
        }
        let clusters: Vec<Counts> = tasks.into_values().collect();
        let whole = clusters.iter().fold(Counts::default(), |sum, one| sum.plus(*one));
        if whole.total() <= 0.0 {
            continue;
        }
        let found = estimates(&clusters, &[Statistic::Accuracy, Statistic::Kappa], IntervalMethod::default(), 0.95);
        let only = [whole.fail_pass as usize, whole.pass_fail as usize];
        rows.push((*asked, whole.total() as i64, found[0].value, found[1].value, only));
    }
    FrameBuilder::new()
        .text("judge", &rows.iter().map(|row| row.0.0).collect::<Vec<_>>())
        .text("prompt", &rows.iter().map(|row| row.0.1).collect::<Vec<_>>())
        .integer("n", &rows.iter().map(|row| row.1).collect::<Vec<_>>())
        .number("agreement", &rows.iter().map(|row| row.2).collect::<Vec<_>>())
        .number("kappa", &rows.iter().map(|row| row.3).collect::<Vec<_>>())
        .integer("pass_only_batched", &rows.iter().map(|row| row.4[0] as i64).collect::<Vec<_>>())
        .integer("pass_only_single", &rows.iter().map(|row| row.4[1] as i64).collect::<Vec<_>>())
        .number(
            "leniency_of_batched",
            &rows.iter().map(|row| Some((row.4[0] as f64 - row.4[1] as f64) / row.1 as f64)).collect::<Vec<_>>(),
        )
        .number("p_mcnemar", &rows.iter().map(|row| exact(row.4)).collect::<Vec<_>>())
        .build()
}

fn failures(volumes: &BTreeMap<(Asked<'_>, &str), Volume<'_>>) -> Result<DataFrame> {
    let mut rows: BTreeMap<(Asked<'_>, &str, i64), (i64, i64)> = BTreeMap::new();
    for ((asked, way), volume) in volumes {
        for (request, call) in &volume.calls {
            let row = rows.entry((*asked, way, call.0)).or_default();
            row.0 += call.0;
            row.1 += volume.failed.get(request).copied().unwrap_or(0);
        }
    }
    FrameBuilder::new()
        .text("judge", &rows.keys().map(|key| key.0.0).collect::<Vec<_>>())
        .text("prompt", &rows.keys().map(|key| key.0.1).collect::<Vec<_>>())
        .text("way", &rows.keys().map(|key| key.1).collect::<Vec<_>>())
        .integer("criteria_in_call", &rows.keys().map(|key| key.2).collect::<Vec<_>>())
        .integer("judgements", &rows.values().map(|row| row.0).collect::<Vec<_>>())
        .integer("failed", &rows.values().map(|row| row.1).collect::<Vec<_>>())
        .number("failure_rate", &rows.values().map(|row| Some(row.1 as f64 / row.0 as f64)).collect::<Vec<_>>())
        .build()
}
