//! From tables of checks to a table of scores.

use std::collections::HashMap;

use polars::prelude::DataFrame;
use rayon::prelude::*;

use super::claims::score_labels;
use super::places::{self, Answer, Places};
use super::{LabelMatrices, Metric, Mode, Outcome};
use crate::error::Result;
use crate::table::{Checks, Claims, FrameBuilder, GenerationRun, QaPairs, RetrievalRun, Scores, texts};

/// Columns of the questions that every score carries, so that it can be sliced.
const CARRIED: [&str; 5] = ["language", "persona", "category", "source", "hops"];

/// Scores every response of a run: RAGChecker's eleven metrics from its claims and checks.
///
/// A check that is missing or failed is an unknown. A response that failed, or whose claims could not be had, fails the
/// metrics that need its claims, which are all but claim recall and context precision; a reference answer whose claims
/// could not be had fails those that need them. Checks of other claims or chunks than these tables hold are left aside.
///
/// # Errors
/// When a table lacks a column, holds a label off the menu, or gives one check two labels.
pub fn score_run(
    questions: &QaPairs,
    found: &RetrievalRun,
    run: &GenerationRun,
    claims: (&Claims, &Claims),
    checks: &Checks,
    mode: Mode,
) -> Result<Scores> {
    let all = Places::read(found, run, claims)?;
    let labels = all.labels(checks)?;
    let outcomes: Vec<[(Metric, Outcome); 11]> = (0..all.answers.len())
        .into_par_iter()
        .map(|place| {
            let answer = &all.answers[place];
            score_labels(&labels.view(&all, place), mode)
                .map(|(metric, outcome)| (metric, known(answer, metric, outcome)))
        })
        .collect();
    table(questions, &all, &outcomes, &places::distinct_in(checks.frame(), "checker")?.join(" + "))
}

/// The label matrices of every response whose claims are known, with the response's system, question and attempt: what
/// [`score_run`] scores, for whoever wants to look or to change labels.
///
/// # Errors
/// As [`score_run`].
pub fn matrices_of_run(
    found: &RetrievalRun,
    run: &GenerationRun,
    claims: (&Claims, &Claims),
    checks: &Checks,
) -> Result<Vec<(String, String, i64, LabelMatrices)>> {
    let places = Places::read(found, run, claims)?;
    let labels = places.labels(checks)?;
    Ok(places
        .answers
        .iter()
        .enumerate()
        .filter(|(_, answer)| answer.response_known && answer.reference_known)
        .map(|(place, answer)| {
            let matrices = labels.view(&places, place).to_matrices();
            (answer.system.to_owned(), answer.question.to_owned(), answer.attempt, matrices)
        })
        .collect())
}

/// A metric that needs claims that could not be had has failed, whatever the matrices say.
fn known(answer: &Answer<'_>, metric: Metric, outcome: Outcome) -> Outcome {
    let hidden = !answer.response_known && metric.needs_response_claims()
        || !answer.reference_known && metric.needs_reference_claims();
    if hidden { Outcome::Failed } else { outcome }
}

fn table(
    questions: &QaPairs,
    places: &Places<'_>,
    outcomes: &[[(Metric, Outcome); 11]],
    checker: &str,
) -> Result<Scores> {
    let answers = &places.answers;
    let all = || outcomes.iter().flatten();
    let mut table = FrameBuilder::new()
        .text("system", &answers.iter().flat_map(|answer| [answer.system; 11]).collect::<Vec<_>>())
        .text("question_id", &answers.iter().flat_map(|answer| [answer.question; 11]).collect::<Vec<_>>())
        .integer("attempt", &answers.iter().flat_map(|answer| [answer.attempt; 11]).collect::<Vec<_>>())
        .text("metric", &all().map(|(metric, _)| metric.as_str()).collect::<Vec<_>>())
        .text("checker", &vec![checker; outcomes.len() * Metric::ALL.len()])
        .number("value", &all().map(|(_, outcome)| outcome.value()).collect::<Vec<_>>())
        .text_or_null("undefined", &all().map(|(_, outcome)| outcome.undefined()).collect::<Vec<_>>());
    let frame = questions.frame();
    let ids = texts(frame, "question_id")?;
    let rows: HashMap<&str, usize> =
        ids.iter().enumerate().filter_map(|(row, id)| Some((id.as_deref()?, row))).collect();
    let row_of: Vec<usize> =
        answers.iter().flat_map(|answer| [rows.get(answer.question).copied().unwrap_or(usize::MAX); 11]).collect();
    for name in CARRIED.into_iter().filter(|name| frame.column(name).is_ok()) {
        let values = texts(frame, name)?;
        let column: Vec<Option<&str>> = row_of.iter().map(|row| values.get(*row)?.as_deref()).collect();
        table = table.text_or_null(name, &column);
    }
    if let Some(units) = units(frame, &ids)? {
        let column: Vec<Option<&str>> = row_of.iter().map(|row| units.get(*row).copied().flatten()).collect();
        table = table.text_or_null("unit", &column);
    }
    Scores::new(table.build()?)
}

/// Of every question, the first one with the same passage: the two are answered by the same text, and not independent.
fn units<'a>(frame: &DataFrame, ids: &'a [Option<String>]) -> Result<Option<Vec<Option<&'a str>>>> {
    if frame.column("context_unit").is_err() {
        return Ok(None);
    }
    let mut first: HashMap<String, &str> = HashMap::new();
    let of = |(passage, id): (Option<String>, &'a Option<String>)| {
        let id = id.as_deref()?;
        Some(match passage.filter(|passage| !passage.is_empty()) {
            Some(passage) => *first.entry(passage).or_insert(id),
            None => id,
        })
    };
    Ok(Some(texts(frame, "context_unit")?.into_iter().zip(ids).map(of).collect()))
}

#[cfg(test)]
#[path = "from_tables_tests.rs"]
mod tests;
