//! Summaries as figures read them.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::figure::FEW;
use crate::metrics::Metric;
use crate::table::{Summary, distinct, floats, integers, texts};

/// One mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mean {
    pub(super) mean: Option<f64>,
    pub(super) interval: Option<(f64, f64)>,
    pub(super) n: i64,
}

impl Mean {
    /// Whether it rests on too little to be leaned on.
    pub(super) fn is_thin(&self) -> bool {
        self.n < FEW
    }
}

/// The rows of a summary, each with the values of these columns.
pub(super) fn read(summary: &Summary, columns: &[&str]) -> Result<Vec<(Vec<String>, Mean)>> {
    let frame = summary.frame();
    let keys: Vec<Vec<Option<String>>> = columns.iter().map(|name| texts(frame, name)).collect::<Result<_>>()?;
    let (means, lows, highs) = (floats(frame, "mean")?, floats(frame, "ci_low")?, floats(frame, "ci_high")?);
    let counts = integers(frame, "n")?;
    let mut seen = HashSet::new();
    let mut rows = Vec::new();
    for row in 0..frame.height() {
        let key: Vec<String> = keys.iter().map(|column| named(column[row].as_deref())).collect();
        for (name, value) in [("mean", means[row]), ("ci_low", lows[row]), ("ci_high", highs[row])] {
            if value.is_some_and(|value| !value.is_finite()) {
                return Err(Error::input(format!("the summary's {name} is {value:?} where {columns:?} is {key:?}"))
                    .help("a mean that does not exist is null"));
            }
        }
        if !seen.insert(key.clone()) {
            return Err(Error::input(format!("the summary holds several rows where {columns:?} is {key:?}"))
                .help("summarise by just these columns, or keep one of the others' values with .only(column, value)"));
        }
        rows.push((key, Mean { mean: means[row], interval: lows[row].zip(highs[row]), n: counts[row].unwrap_or(0) }));
    }
    if rows.is_empty() {
        return Err(Error::input("the summary has no rows, so there is nothing to draw"));
    }
    Ok(rows)
}

fn named(value: Option<&str>) -> String {
    value.unwrap_or("(none)").to_owned()
}

/// The values of one column in the order of their appearance.
pub(super) fn values(rows: &[(Vec<String>, Mean)], column: usize) -> Vec<String> {
    let mut seen = HashSet::new();
    rows.iter().map(|(key, _)| key[column].clone()).filter(|value| seen.insert(value.clone())).collect()
}

/// The row with these values.
pub(super) fn find(rows: &[(Vec<String>, Mean)], key: &[&str]) -> Option<Mean> {
    rows.iter().find(|(found, _)| found.iter().map(String::as_str).eq(key.iter().copied())).map(|(_, mean)| *mean)
}

/// The one metric of a summary.
pub(super) fn only_metric(summary: &Summary) -> Result<String> {
    let metrics = distinct(summary.frame(), "metric")?;
    match metrics.as_slice() {
        [one] => Ok(one.clone()),
        several => Err(Error::input(format!("the summary holds {} metrics, this figure shows one", several.len()))
            .help("keep one with .only(\"metric\", \"f1\")")),
    }
}

/// A value of a column as a reader would write it.
pub(super) fn shown(column: &str, value: &str) -> String {
    match (column, value) {
        ("metric", name) => Metric::parse(name).map_or_else(|| spelled(name), |metric| metric.label().to_owned()),
        ("language", "en") => "English".to_owned(),
        ("language", "fr") => "French".to_owned(),
        _ => spelled(value),
    }
}

/// The same for a metric, with an arrow where less is better.
pub(super) fn directed(column: &str, value: &str) -> String {
    let label = shown(column, value);
    match Metric::parse(value) {
        Some(metric) if column == "metric" && !metric.higher_is_better() => format!("{label} ↓"),
        _ => label,
    }
}

/// `civil_officer` as `Civil officer`; anything that is not such a code stays as it is.
pub(super) fn spelled(name: &str) -> String {
    let is_code = name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    if !is_code {
        return name.to_owned();
    }
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_words_and_names_stay() {
        assert_eq!(shown("persona", "civil_officer"), "Civil officer");
        assert_eq!(shown("metric", "f1"), "F1");
        assert_eq!(shown("system", "BM25 + Extractive"), "BM25 + Extractive");
        assert_eq!(shown("source", "Code civil luxembourgeois"), "Code civil luxembourgeois");
        assert_eq!(directed("metric", "hallucination"), "Hallucination ↓");
        assert_eq!(spelled(""), "");
    }
}
