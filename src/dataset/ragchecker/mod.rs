//! RAGChecker's own files: read, described, turned into tables, made from tables, and written back.

mod shapes;
mod tables;
mod write;

use std::path::Path;

use polars::prelude::DataFrame;
use serde_json::Value;

use super::{bytes, json};
use crate::error::{Error, Result};
use crate::table::{FrameBuilder, Show};

/// A file of RAGChecker: its input (questions, answers, chunks) or its output (with claims, label matrices, metrics).
///
/// Every field of the file is kept, unknown ones too, and written back. RAGChecker itself drops what it does not know.
#[derive(Debug, Clone)]
pub struct RagCheckerFile {
    name: String,
    results: Vec<Value>,
    metrics: Option<Value>,
    /// Keys of the file besides `results` and `metrics`.
    rest: serde_json::Map<String, Value>,
}

impl RagCheckerFile {
    /// Reads a file.
    ///
    /// RAGChecker writes a bare `NaN` where it averages nothing, which is no JSON: it is read as null.
    ///
    /// # Errors
    /// When it cannot be read, is not JSON, or holds no list `results` of objects.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_json(&path.display().to_string(), &bytes::read_text(path)?.text)
    }

    /// Reads the text of such a file; `name` is for messages.
    ///
    /// # Errors
    /// As [`RagCheckerFile::read`].
    ///
    /// ```
    /// use claimlab::dataset::RagCheckerFile;
    /// let error = RagCheckerFile::from_json("in.json", "[1, 2]").unwrap_err().to_string();
    /// assert!(error.contains("results") && error.contains("an array"), "{error}");
    /// ```
    pub fn from_json(name: &str, text: &str) -> Result<Self> {
        let value = json::read(name, text)?.value;
        let help =
            "give the file that RAGChecker wrote, or its input: {\"results\": [{\"query_id\": …, \"query\": …}]}";
        let wrong = |found: &str| {
            Error::input(format!("{name}: expected an object whose key \"results\" holds a list, found {found}"))
                .help(help)
        };
        let Value::Object(mut rest) = value else { return Err(wrong(json::kind(&value))) };
        let results = match rest.remove("results") {
            Some(Value::Array(list)) => list,
            Some(other) => return Err(wrong(&format!("\"results\" that is {}", json::kind(&other)))),
            None => return Err(wrong("an object without it")),
        };
        if let Some(place) = results.iter().position(|result| !result.is_object()) {
            return Err(wrong(&format!("a result {} that is {}", place + 1, json::kind(&results[place]))));
        }
        let metrics = rest.remove("metrics").filter(|metrics| !metrics.is_null());
        Ok(Self { name: name.to_owned(), results, metrics, rest })
    }

    /// The file's path.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One JSON object a question, as in the file.
    #[must_use]
    pub fn results(&self) -> &[Value] {
        &self.results
    }

    /// The aggregate that the file itself states for a metric, in percent, under either spelling of the group keys.
    #[must_use]
    pub fn stated(&self, group: &str, metric: &str) -> Option<f64> {
        let metrics = self.metrics.as_ref()?;
        let old = group.strip_suffix("_metrics").unwrap_or(group);
        [group, old].iter().find_map(|key| metrics.get(*key)?.get(metric)?.as_f64())
    }

    /// Compares aggregates computed here with those that the file states: one row a metric.
    ///
    /// # Errors
    /// When the columns do not fit together.
    pub fn beside(&self, computed: &[(String, String, Option<f64>)]) -> Result<DataFrame> {
        let names: Vec<&str> = computed.iter().map(|(_, metric, _)| metric.as_str()).collect();
        let ours: Vec<Option<f64>> = computed.iter().map(|(_, _, value)| *value).collect();
        let stated: Vec<Option<f64>> = computed.iter().map(|(group, metric, _)| self.stated(group, metric)).collect();
        FrameBuilder::new()
            .text("metric", &names)
            .number("computed here", &ours)
            .number("stated in the file", &stated)
            .build()
    }

    /// Shows how many results there are and what is wrong with their shapes.
    pub fn evcxr_display(&self) {
        match self.problems() {
            Ok(problems) if problems.height() > 0 => problems.evcxr_display(),
            _ => crate::signal::display(
                None,
                None,
                &format!("{}: {} results, no malformed shape", self.name, self.results.len()),
            ),
        }
    }
}

#[cfg(test)]
mod tests;
