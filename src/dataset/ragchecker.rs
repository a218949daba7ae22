//! RAGChecker's own files, read to be scored again.

use std::path::Path;

use serde_json::Value;

use crate::error::{Error, Result};

/// A file of checked results as RAGChecker writes it.
#[derive(Debug, Clone)]
pub struct RagCheckerFile {
    name: String,
    results: Vec<Value>,
    metrics: Option<Value>,
}

impl RagCheckerFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is not JSON, or holds no list `results`.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
        let value: Value =
            serde_json::from_str(&text).map_err(|error| Error::input(format!("{name}: not JSON: {error}")))?;
        let results = value.get("results").and_then(Value::as_array).cloned().ok_or_else(|| {
            Error::input(format!("{name}: expected an object whose key \"results\" holds a list"))
                .help("give the file that RAGChecker wrote, or its input with the four label matrices filled in")
        })?;
        Ok(Self { name, results, metrics: value.get("metrics").cloned() })
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
}
