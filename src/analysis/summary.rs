//! Means over questions, by slice.

use std::collections::HashMap;

use super::resample::{Cell, intervals};
use super::{Bootstrap, Interval};
use crate::error::Result;
use crate::table::{FrameBuilder, Scores, Summary, floats, texts};

/// A slice with values from fewer questions than this is marked `few`: greyed where it is shown, and never ranked.
/// Twenty is where percentile intervals begin to be about as wide as they should be.
pub const FEW: usize = 20;

impl Scores {
    /// Means by metric and by these columns, each with a 95 % interval and the number of values it is over, undefined
    /// and failed ones counted apart.
    ///
    /// What is resampled is the column `unit` where there is one (questions that share a passage are drawn together),
    /// else the question; see [`cluster_bootstrap`](super::cluster_bootstrap). A row is marked `few` below [`FEW`].
    ///
    /// # Errors
    /// When a column does not exist or does not hold text, and when it is interrupted.
    pub fn by(&self, slices: &[&str]) -> Result<Summary> {
        summarize(self, slices)
    }

    /// The same with intervals of the caller's choice.
    ///
    /// # Errors
    /// As [`Scores::by`].
    pub fn by_with(&self, slices: &[&str], intervals: &Bootstrap) -> Result<Summary> {
        summarize_with(self, slices, intervals)
    }
}

/// What one slice and metric holds.
#[derive(Debug, Default)]
struct Counted {
    cell: Cell,
    undefined: i64,
    failed: i64,
}

/// See [`Scores::by`]. Rows are in the order in which slices and metrics first appear.
///
/// # Errors
/// When a column does not exist or does not hold text.
pub fn summarize(scores: &Scores, slices: &[&str]) -> Result<Summary> {
    summarize_with(scores, slices, &Bootstrap::new())
}

fn summarize_with(scores: &Scores, slices: &[&str], settings: &Bootstrap) -> Result<Summary> {
    let frame = scores.frame();
    let keys: Vec<Vec<Option<String>>> = slices.iter().map(|name| texts(frame, name)).collect::<Result<_>>()?;
    let metrics = texts(frame, "metric")?;
    let values = floats(frame, "value")?;
    let reasons = texts(frame, "undefined")?;
    let clusters = clusters(scores)?;
    let mut order: HashMap<Vec<Option<&str>>, usize> = HashMap::new();
    let mut cells: Vec<(Vec<Option<&str>>, Counted)> = Vec::new();
    for (row, cluster) in clusters.into_iter().enumerate() {
        let key: Vec<Option<&str>> =
            keys.iter().map(|column| column[row].as_deref()).chain([metrics[row].as_deref()]).collect();
        let place = *order.entry(key.clone()).or_insert_with(|| {
            cells.push((key, Counted::default()));
            cells.len() - 1
        });
        let counted = &mut cells[place].1;
        counted.cell.rows.push((values[row], cluster));
        match (values[row], reasons[row].as_deref()) {
            (Some(_), _) => {}
            (None, Some("failed")) => counted.failed += 1,
            (None, _) => counted.undefined += 1,
        }
    }
    build(slices, &cells, settings)
}

/// The cluster of every row: the column `unit`, or the question.
pub(super) fn clusters(scores: &Scores) -> Result<Vec<usize>> {
    let frame = scores.frame();
    let questions = texts(frame, "question_id")?;
    let units = if frame.column("unit").is_ok() { texts(frame, "unit")? } else { vec![None; questions.len()] };
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut place = |name: String| {
        let next = known.len();
        *known.entry(name).or_insert(next)
    };
    Ok(units
        .into_iter()
        .zip(questions)
        .map(|(unit, question)| place(unit.unwrap_or_else(|| format!("question {}", question.unwrap_or_default()))))
        .collect())
}

fn build(slices: &[&str], cells: &[(Vec<Option<&str>>, Counted)], settings: &Bootstrap) -> Result<Summary> {
    let contents: Vec<Cell> = cells.iter().map(|(_, counted)| counted.cell.clone()).collect();
    let found = intervals(&contents, settings)?;
    let mut table = FrameBuilder::new();
    for (place, name) in slices.iter().chain(&["metric"]).enumerate() {
        let column: Vec<Option<&str>> = cells.iter().map(|(key, _)| key[place]).collect();
        table = table.text_or_null(name, &column);
    }
    let number = |pick: fn(&Interval) -> Option<f64>| -> Vec<Option<f64>> {
        found.iter().map(|interval| interval.as_ref().and_then(pick)).collect()
    };
    let count = |pick: fn(&Interval) -> usize| -> Vec<i64> {
        found.iter().map(|interval| interval.as_ref().map_or(0, pick) as i64).collect()
    };
    let questions = count(|interval| interval.clusters);
    Summary::new(
        table
            .number("mean", &number(|interval| Some(interval.mean)))
            .number("ci_low", &number(|interval| interval.low))
            .number("ci_high", &number(|interval| interval.high))
            .integer("n", &count(|interval| interval.n))
            .integer("n_undefined", &cells.iter().map(|(_, counted)| counted.undefined).collect::<Vec<_>>())
            .integer("n_failed", &cells.iter().map(|(_, counted)| counted.failed).collect::<Vec<_>>())
            .integer("n_clusters", &questions)
            .boolean("few", &questions.iter().map(|n| Some((*n as usize) < FEW)).collect::<Vec<_>>())
            .build()?,
    )
}

#[cfg(test)]
mod tests {
    use polars::prelude::*;

    use super::*;

    fn scores(values: &[Option<f64>], reasons: &[Option<&str>], units: Option<Vec<&str>>) -> Result<Scores> {
        let n = values.len();
        let questions: Vec<String> = (0..n).map(|i| format!("q{i}")).collect();
        let mut frame = df!(
            "system" => vec!["s"; n], "question_id" => questions, "attempt" => vec![1_i64; n],
            "metric" => vec!["f1"; n], "checker" => vec!["x"; n], "value" => values, "undefined" => reasons,
        )?;
        if let Some(units) = units {
            frame.with_column(Series::new("unit".into(), units).into())?;
        }
        Scores::new(frame)
    }

    #[test]
    fn undefined_values_are_counted_and_never_averaged() -> Result<()> {
        let scores = scores(
            &[Some(1.0), Some(0.0), None, None],
            &[None, None, Some("no_response_claims"), Some("failed")],
            None,
        )?;
        let summary = scores.by(&["system"])?;
        let row = summary.frame();
        assert_eq!(row.column("mean")?.f64()?.get(0), Some(0.5));
        for (column, expected) in [("n", 2), ("n_undefined", 1), ("n_failed", 1), ("n_clusters", 2)] {
            assert_eq!(row.column(column)?.i64()?.get(0), Some(expected), "{column}");
        }
        assert_eq!(row.column("few")?.bool()?.get(0), Some(true));
        Ok(())
    }

    #[test]
    fn questions_that_share_a_passage_are_drawn_together() -> Result<()> {
        let values: Vec<Option<f64>> = (0..60).map(|i| Some(f64::from(i / 10 % 2))).collect();
        let units: Vec<String> = (0..60).map(|i| format!("u{}", i / 10)).collect();
        let width = |units| -> Result<f64> {
            let summary = scores(&values, &vec![None; 60], units)?.by(&["system"])?;
            let of = |name| Ok::<_, crate::Error>(summary.frame().column(name)?.f64()?.get(0).unwrap_or_default());
            Ok(of("ci_high")? - of("ci_low")?)
        };
        let shared = units.iter().map(String::as_str).collect();
        assert!(width(Some(shared))? > 2.0 * width(None)?, "six passages are six draws, not sixty");
        Ok(())
    }

    #[test]
    fn a_number_that_is_not_one_leaves_no_mean() -> Result<()> {
        let scores = scores(&[Some(1.0), Some(f64::NAN)], &[None, None], None)?;
        assert_eq!(scores.by(&["system"])?.frame().column("mean")?.f64()?.get(0), None);
        Ok(())
    }
}
