//! RAGChecker's own results, scored again.

use polars::prelude::DataFrame;

use crate::dataset::RagCheckerFile;
use crate::error::{Error, Result};
use crate::metrics::{LabelMatrices, Metric, Mode, RagCheckerLabels, percent, score};

/// The aggregate of every metric, computed here from a file's label matrices with RAGChecker's own rules and
/// rounding, beside what the file states: one row a metric, in percent.
///
/// # Errors
/// Names the result and matrix that is missing or misshapen.
pub fn rescore(file: &RagCheckerFile) -> Result<DataFrame> {
    let mut values = vec![Vec::new(); Metric::ALL.len()];
    for (place, result) in file.results().iter().enumerate() {
        let wrong = |error: String| Error::input(format!("{}, result {}: {error}", file.name(), place + 1));
        let labels: RagCheckerLabels =
            serde_json::from_value(result.clone()).map_err(|error| wrong(error.to_string()))?;
        let n_chunks = result.get("retrieved_context").and_then(serde_json::Value::as_array).map(Vec::len);
        let matrices = LabelMatrices::from_ragchecker(&labels, n_chunks, Mode::RagChecker)
            .map_err(|error| wrong(error.to_string()))?;
        let scores = score(&matrices, Mode::RagChecker).map_err(|error| wrong(error.to_string()))?;
        for (column, (_, outcome)) in values.iter_mut().zip(scores) {
            column.extend(outcome.value());
        }
    }
    let rows: Vec<_> = Metric::ALL
        .iter()
        .zip(&values)
        .map(|(metric, column)| {
            (format!("{}_metrics", metric.group().as_str()), metric.as_str().to_owned(), percent(column))
        })
        .collect();
    file.beside(&rows)
}
