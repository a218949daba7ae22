//! From tables of checks to a table of scores.

use polars::prelude::{Column, DataFrame, DataType, IdxCa, IdxSize, NamedFrom, PlHashMap, Series};
use rayon::prelude::*;

use super::claims::score_labels;
use super::facts::Facts;
use super::placed::Placed;
use super::places::{Answer, Columns, Places};
use super::texts::Texts;
use super::{LabelMatrices, Metric, Mode, Outcome};
use crate::error::Result;
use crate::table::{Checks, Claims, GenerationRun, QaPairs, RetrievalRun, Scores};

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
    let columns = Columns::read(found, run, claims)?;
    let places = Places::of(&columns)?;
    let labels = Placed::read(&places, checks)?;
    let one = |facts: &mut Facts, place: usize| {
        let answer = &places.answers[place];
        score_labels(&places.view(&labels, place), facts, mode)
            .map(|(metric, outcome)| (metric, known(answer, metric, outcome)))
    };
    let outcomes: Vec<[(Metric, Outcome); 11]> =
        (0..places.answers.len()).into_par_iter().map_init(Facts::default, one).collect();
    table(questions, run, &places.answers, &outcomes, &labels.checkers.join(" + "))
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
    let columns = Columns::read(found, run, claims)?;
    let places = Places::of(&columns)?;
    let labels = Placed::read(&places, checks)?;
    Ok(places
        .answers
        .iter()
        .enumerate()
        .filter(|(_, answer)| answer.response_known && answer.reference_known)
        .map(|(place, answer)| {
            let matrices = places.view(&labels, place).to_matrices();
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

/// The scores in long form: for each answer, in the run's order, the eleven metrics. Texts are not copied: rows of the
/// run and of the questions are repeated.
fn table(
    questions: &QaPairs,
    run: &GenerationRun,
    answers: &[Answer<'_>],
    outcomes: &[[(Metric, Outcome); 11]],
    checker: &str,
) -> Result<Scores> {
    let frame = questions.frame();
    let ids = Texts::read(frame, "question_id")?;
    let row_of: PlHashMap<&str, IdxSize> =
        (0..frame.height()).filter_map(|row| Some((ids.get(row)?, row as IdxSize))).collect();
    let asked: Vec<Option<IdxSize>> = answers.iter().map(|answer| row_of.get(answer.question).copied()).collect();
    let each = |rows: &mut dyn Iterator<Item = Option<IdxSize>>| -> IdxCa { rows.flat_map(|row| [row; 11]).collect() };
    let (of_run, of_questions) =
        (each(&mut (0..answers.len()).map(|row| Some(row as IdxSize))), each(&mut asked.iter().copied()));
    let of_metrics: IdxCa = (0..answers.len()).flat_map(|_| (0..11).map(Some)).collect();
    let units = units(frame, &ids)?;
    let of_units = units.map(|units| each(&mut asked.iter().map(|row| units[(*row)? as usize])));

    let metrics: Column = Series::new("metric".into(), Metric::ALL.map(Metric::as_str)).into();
    let mut sources = vec![
        ("system", run.frame().column("system")?, &of_run),
        ("question_id", run.frame().column("question_id")?, &of_run),
        ("metric", &metrics, &of_metrics),
    ];
    sources.extend(CARRIED.into_iter().filter_map(|name| Some((name, frame.column(name).ok()?, &of_questions))));
    if let Some(of_units) = &of_units {
        sources.push(("unit", frame.column("question_id")?, of_units));
    }
    let repeat = |(name, source, rows): (&str, &Column, &IdxCa)| -> Result<Column> {
        Ok(source.take(rows)?.cast(&DataType::String)?.with_name(name.into()))
    };
    let all = || outcomes.iter().flatten();
    let (texts, [attempt, value, undefined]) = rayon::join(
        || sources.into_par_iter().map(repeat).collect::<Result<Vec<Column>>>(),
        || {
            let attempts: Vec<i64> = answers.iter().flat_map(|answer| [answer.attempt; 11]).collect();
            let values: Vec<Option<f64>> = all().map(|(_, outcome)| outcome.value()).collect();
            let reasons: Vec<Option<&str>> = all().map(|(_, outcome)| outcome.undefined()).collect();
            [
                Series::new("attempt".into(), attempts),
                Series::new("value".into(), values),
                Series::new("undefined".into(), reasons),
            ]
            .map(Column::from)
        },
    );
    let checker = Series::new("checker".into(), [checker]).new_from_index(0, outcomes.len() * Metric::ALL.len());
    let mut texts = texts?.into_iter();
    let mut columns: Vec<Column> = texts.by_ref().take(2).collect();
    columns.push(attempt);
    columns.extend(texts.next());
    columns.extend([checker.into(), value, undefined]);
    columns.extend(texts);
    Scores::new(DataFrame::new_infer_height(columns)?)
}

/// Of every question, the row of the first one with the same passage: the two are answered by the same text, and not
/// independent.
fn units(frame: &DataFrame, ids: &Texts) -> Result<Option<Vec<Option<IdxSize>>>> {
    if frame.column("context_unit").is_err() {
        return Ok(None);
    }
    let passages = Texts::read(frame, "context_unit")?;
    let mut first: PlHashMap<&str, IdxSize> = PlHashMap::default();
    let unit = |row: usize| {
        ids.get(row)?;
        let row_number = row as IdxSize;
        Some(match passages.get(row).filter(|passage| !passage.is_empty()) {
            Some(passage) => *first.entry(passage).or_insert(row_number),
            None => row_number,
        })
    };
    Ok(Some((0..frame.height()).map(unit).collect()))
}

#[cfg(test)]
#[path = "from_tables_tests.rs"]
mod tests;
