//! Which answers should a person look at?

use std::collections::{BTreeMap, HashMap};

use polars::prelude::DataFrame;

use super::join::{borrowed, flip_rate};
use crate::error::Result;
use crate::table::{Criteria, FrameBuilder, Verdict, Verdicts, floats, integers, texts};

/// An answer by a criterion: task, criterion, system, attempt.
type Key<'a> = (&'a str, &'a str, &'a str, i64);

/// What a committee of judges says on every answer. One row a criterion and answer:
///
/// * `vote_entropy`: −Σ v ln v over the shares of PASS and FAIL among the judges' first verdicts, 0 (agreement) to
///   ln 2 (Dagan and Engelson 1995);
/// * `margin`: the difference of both shares, 0 (split) to 1 (agreement);
/// * `flip_rate`: the greatest share of differing pairs of repeats of one judge; null without repeats;
/// * `priority`: the criterion's weight × the greatest of 1 − margin, flip rate and share of failed judgements.
///
/// A judge is a model with a prompt and a way of asking. Rows are in the order of priority.
///
/// # Errors
/// When a table lacks a column.
pub fn committee(verdicts: &Verdicts, criteria: &Criteria) -> Result<DataFrame> {
    let frame = criteria.frame();
    let ids = texts(frame, "criterion_id")?;
    let weights = if frame.column("weight").is_ok() { floats(frame, "weight")? } else { vec![None; ids.len()] };
    let weights: HashMap<String, f64> =
        ids.into_iter().zip(weights).filter_map(|(id, weight)| Some((id?, weight?))).collect();
    let frame = verdicts.frame();
    let column = |name: &str| borrowed(frame, name);
    let (judges, prompts, ways) = (column("judge")?, column("prompt")?, column("way")?);
    let (tasks, ids, systems, said) =
        (column("task_id")?, column("criterion_id")?, column("system")?, column("verdict")?);
    let (attempts, repeats) = (integers(frame, "attempt")?, integers(frame, "repeat")?);
    type Votes<'a> = BTreeMap<(&'a str, &'a str, &'a str), Vec<(i64, Option<Verdict>)>>;
    let mut answers: BTreeMap<Key<'_>, Votes<'_>> = BTreeMap::new();
    for row in 0..frame.height() {
        let key = (
            tasks[row].unwrap_or_default(),
            ids[row].unwrap_or_default(),
            systems[row].unwrap_or_default(),
            attempts[row].unwrap_or_default(),
        );
        let judge = (judges[row].unwrap_or_default(), prompts[row].unwrap_or_default(), ways[row].unwrap_or_default());
        let verdict = said[row].and_then(Verdict::parse);
        answers.entry(key).or_default().entry(judge).or_default().push((repeats[row].unwrap_or(1), verdict));
    }
    let mut rows: Vec<(Key<'_>, Standing)> = answers
        .into_iter()
        .map(|(key, votes)| {
            let weight = weights.get(key.1).copied().unwrap_or(1.0);
            (key, Standing::of(votes.into_values(), weight))
        })
        .collect();
    rows.sort_by(|a, b| b.1.priority.total_cmp(&a.1.priority).then(a.0.cmp(&b.0)));
    build(&rows)
}

#[derive(Default)]
struct Standing {
    judges: i64,
    passes: i64,
    fails: i64,
    flip_rate: Option<f64>,
    entropy: Option<f64>,
    margin: Option<f64>,
    priority: f64,
}

impl Standing {
    fn of(votes: impl Iterator<Item = Vec<(i64, Option<Verdict>)>>, weight: f64) -> Self {
        let mut found = Self::default();
        for mut repeats in votes {
            repeats.sort_unstable_by_key(|(repeat, _)| *repeat);
            let verdicts: Vec<Option<Verdict>> = repeats.into_iter().map(|(_, verdict)| verdict).collect();
            found.judges += 1;
            match verdicts.first().copied().flatten() {
                Some(Verdict::Pass) => found.passes += 1,
                Some(Verdict::Fail) => found.fails += 1,
                None => {}
            }
            if let Some(rate) = flip_rate(&verdicts) {
                found.flip_rate = Some(found.flip_rate.map_or(rate, |most| most.max(rate)));
            }
        }
        let voted = (found.passes + found.fails) as f64;
        if voted > 0.0 {
            let shares = [found.passes as f64 / voted, found.fails as f64 / voted];
            found.entropy = Some(shares.iter().filter(|share| **share > 0.0).map(|share| -share * share.ln()).sum());
            found.margin = Some((shares[0] - shares[1]).abs());
        }
        let unscored = (found.judges as f64 - voted) / found.judges.max(1) as f64;
        let split = found.margin.map_or(1.0, |margin| 1.0 - margin);
        found.priority = weight * split.max(found.flip_rate.unwrap_or(0.0)).max(unscored);
        found
    }
}

fn build(rows: &[(Key<'_>, Standing)]) -> Result<DataFrame> {
    let number = |pick: fn(&Standing) -> Option<f64>| rows.iter().map(|row| pick(&row.1)).collect::<Vec<_>>();
    let count = |pick: fn(&Standing) -> i64| rows.iter().map(|row| pick(&row.1)).collect::<Vec<_>>();
    FrameBuilder::new()
        .text("task_id", &rows.iter().map(|row| row.0.0).collect::<Vec<_>>())
        .text("criterion_id", &rows.iter().map(|row| row.0.1).collect::<Vec<_>>())
        .text("system", &rows.iter().map(|row| row.0.2).collect::<Vec<_>>())
        .integer("attempt", &rows.iter().map(|row| row.0.3).collect::<Vec<_>>())
        .integer("n_judges", &count(|one| one.judges))
        .integer("n_pass", &count(|one| one.passes))
        .integer("n_fail", &count(|one| one.fails))
        .integer("n_unscored", &count(|one| one.judges - one.passes - one.fails))
        .number("vote_entropy", &number(|one| one.entropy))
        .number("margin", &number(|one| one.margin))
        .number("flip_rate", &number(|one| one.flip_rate))
        .number("priority", &number(|one| Some(one.priority)))
        .build()
}
