//! RAGChecker's own results, scored again.

use polars::prelude::DataFrame;

use crate::dataset::RagCheckerFile;
use crate::error::{Error, Result};
use crate::metrics::{LabelMatrices, Metric, Mode, Outcome, RagCheckerLabels, percent, score};
use crate::table::FrameBuilder;

/// The aggregate of every metric, computed here from a file's label matrices with RAGChecker's own rules and
/// rounding, beside what the file states, in percent; and the strict mean, with over how many results it is and how many
/// have no value.
///
/// # Errors
/// Names the result and matrix that is missing or misshapen.
pub fn rescore(file: &RagCheckerFile) -> Result<DataFrame> {
    let mut columns: Vec<Column> = (0..Metric::ALL.len()).map(|_| Column::default()).collect();
    for (place, result) in file.results().iter().enumerate() {
        let wrong = |error: String| Error::input(format!("{}, result {}: {error}", file.name(), place + 1));
        let labels: RagCheckerLabels =
            serde_json::from_value(result.clone()).map_err(|error| wrong(error.to_string()))?;
        let n_chunks = result.get("retrieved_context").and_then(serde_json::Value::as_array).map(Vec::len);
        let matrices = LabelMatrices::from_ragchecker(&labels, n_chunks, Mode::RagChecker)
            .map_err(|error| wrong(error.to_string()))?;
        let theirs = score(&matrices, Mode::RagChecker).map_err(|error| wrong(error.to_string()))?;
        let strict = score(&matrices, Mode::Strict).map_err(|error| wrong(error.to_string()))?;
        for (column, ((_, theirs), (_, strict))) in columns.iter_mut().zip(theirs.into_iter().zip(strict)) {
            column.theirs.extend(theirs.value());
            match strict {
                Outcome::Value(value) => column.strict.push(value),
                Outcome::Undefined(_) => column.undefined += 1,
                Outcome::Failed => column.failed += 1,
            }
        }
    }
    let stated = |metric: &Metric| file.stated(&format!("{}_metrics", metric.group().as_str()), metric.as_str());
    FrameBuilder::new()
        .text("metric", &Metric::ALL.map(Metric::as_str))
        .number("computed here", &columns.iter().map(|column| percent(&column.theirs)).collect::<Vec<_>>())
        .number("stated in the file", &Metric::ALL.iter().map(stated).collect::<Vec<_>>())
        .number("strict mean", &columns.iter().map(|column| percent(&column.strict)).collect::<Vec<_>>())
        .integer("n", &columns.iter().map(|column| column.strict.len() as i64).collect::<Vec<_>>())
        .integer("n_undefined", &columns.iter().map(|column| column.undefined).collect::<Vec<_>>())
        .integer("n_failed", &columns.iter().map(|column| column.failed).collect::<Vec<_>>())
        .build()
}

/// One metric over the results.
#[derive(Debug, Default)]
struct Column {
    theirs: Vec<f64>,
    strict: Vec<f64>,
    undefined: i64,
    failed: i64,
}
