//! Means over questions, by slice.

use std::collections::{BTreeMap, HashMap};

use super::cluster_bootstrap;
use crate::error::Result;
use crate::table::{FrameBuilder, Scores, Summary, floats, texts};

/// Bootstrap resamples behind every interval.
const RESAMPLES: usize = 2000;
/// Coverage that intervals aim at.
const LEVEL: f64 = 0.95;
/// Every interval of every run is drawn from this seed, so that a table is the same tomorrow.
pub(super) const SEED: u64 = 20_310_617;

impl Scores {
    /// Means by metric and by these columns, each with a 95 % interval (cluster bootstrap over questions, see
    /// [`cluster_bootstrap`]) and the number of values it is over, undefined and failed ones counted apart.
    ///
    /// # Errors
    /// When a column does not exist or does not hold text.
    pub fn by(&self, slices: &[&str]) -> Result<Summary> {
        summarize(self, slices)
    }
}

/// What one slice and metric holds.
#[derive(Debug, Default)]
struct Cell {
    values: Vec<(f64, usize)>,
    undefined: i64,
    failed: i64,
}

/// See [`Scores::by`]. Rows are in the order in which slices and metrics first appear.
///
/// # Errors
/// When a column does not exist or does not hold text.
pub fn summarize(scores: &Scores, slices: &[&str]) -> Result<Summary> {
    let frame = scores.frame();
    let keys: Vec<Vec<Option<String>>> = slices.iter().map(|name| texts(frame, name)).collect::<Result<_>>()?;
    let metrics = texts(frame, "metric")?;
    let values = floats(frame, "value")?;
    let reasons = texts(frame, "undefined")?;
    let mut clusters: HashMap<String, usize> = HashMap::new();
    let mut order: BTreeMap<Vec<Option<String>>, usize> = BTreeMap::new();
    let mut cells: Vec<(Vec<Option<String>>, Cell)> = Vec::new();
    for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
        let next = clusters.len();
        let cluster = *clusters.entry(question.unwrap_or_default()).or_insert(next);
        let key: Vec<Option<String>> =
            keys.iter().map(|column| column[row].clone()).chain([metrics[row].clone()]).collect();
        let place = *order.entry(key.clone()).or_insert_with(|| {
            cells.push((key, Cell::default()));
            cells.len() - 1
        });
        let cell = &mut cells[place].1;
        match (values[row], reasons[row].as_deref()) {
            (Some(value), _) => cell.values.push((value, cluster)),
            (None, Some("failed")) => cell.failed += 1,
            (None, _) => cell.undefined += 1,
        }
    }
    build(slices, &cells)
}

fn build(slices: &[&str], cells: &[(Vec<Option<String>>, Cell)]) -> Result<Summary> {
    let intervals: Vec<_> =
        cells.iter().map(|(_, cell)| cluster_bootstrap(&cell.values, RESAMPLES, LEVEL, SEED)).collect();
    let mut table = FrameBuilder::new();
    for (place, name) in slices.iter().chain(&["metric"]).enumerate() {
        let column: Vec<Option<String>> = cells.iter().map(|(key, _)| key[place].clone()).collect();
        table = table.text_or_null(name, &column);
    }
    let n: Vec<i64> = cells.iter().map(|(_, cell)| cell.values.len() as i64).collect();
    let undefined: Vec<i64> = cells.iter().map(|(_, cell)| cell.undefined).collect();
    let failed: Vec<i64> = cells.iter().map(|(_, cell)| cell.failed).collect();
    Summary::new(
        table
            .number("mean", &intervals.iter().map(|found| found.map(|one| one.mean)).collect::<Vec<_>>())
            .number("ci_low", &intervals.iter().map(|found| found.and_then(|one| one.low)).collect::<Vec<_>>())
            .number("ci_high", &intervals.iter().map(|found| found.and_then(|one| one.high)).collect::<Vec<_>>())
            .integer("n", &n)
            .integer("n_undefined", &undefined)
            .integer("n_failed", &failed)
            .build()?,
    )
}

#[cfg(test)]
mod tests {
    use polars::prelude::*;

    use crate::table::Scores;

    #[test]
    fn undefined_values_are_counted_and_never_averaged() -> crate::Result<()> {
        let scores = Scores::new(df!(
            "system" => ["s"; 4], "question_id" => ["a", "b", "c", "d"], "attempt" => [1_i64; 4],
            "metric" => ["f1"; 4], "checker" => ["x"; 4],
            "value" => [Some(1.0), Some(0.0), None, None],
            "undefined" => [None, None, Some("no_response_claims"), Some("failed")],
        )?)?;
        let summary = scores.by(&["system"])?;
        let row = summary.frame();
        assert_eq!(row.column("mean")?.f64()?.get(0), Some(0.5));
        assert_eq!(row.column("n")?.i64()?.get(0), Some(2));
        assert_eq!(row.column("n_undefined")?.i64()?.get(0), Some(1));
        assert_eq!(row.column("n_failed")?.i64()?.get(0), Some(1));
        Ok(())
    }
}
