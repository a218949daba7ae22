//! Files written back as RAGChecker writes them.

use std::io::Write;
use std::path::Path;

use serde_json::{Map, Value};

use super::RagCheckerFile;
use crate::error::{Error, Result};

/// RAGChecker's order of fields; others follow as they came.
const ORDER: [&str; 12] = [
    "query_id",
    "query",
    "gt_answer",
    "response",
    "retrieved_context",
    "response_claims",
    "gt_answer_claims",
    "answer2response",
    "response2answer",
    "retrieved2response",
    "retrieved2answer",
    "metrics",
];

/// The older spelling of the groups of metrics, and the present one.
const GROUPS: [(&str, &str); 3] =
    [("overall", "overall_metrics"), ("retriever", "retriever_metrics"), ("generator", "generator_metrics")];

impl RagCheckerFile {
    /// The file as RAGChecker 0.1.9 writes it: its order of fields, two spaces of indentation, letters beyond ASCII
    /// escaped, the present spelling of the group keys. Fields that RAGChecker does not know follow those it knows.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut file = Map::new();
        file.insert("results".to_owned(), Value::Array(self.results.iter().map(in_order).collect()));
        if let Some(metrics) = &self.metrics {
            file.insert("metrics".to_owned(), present_groups(metrics));
        }
        file.extend(self.rest.clone());
        ascii(&format!("{:#}", Value::Object(file)))
    }

    /// Writes the file so that it stands complete or not at all.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let temporary = path.with_extension(format!("tmp{}", std::process::id()));
        let refused = |error: std::io::Error| Error::file(&temporary, &error);
        let mut file = std::fs::File::create(&temporary).map_err(refused)?;
        file.write_all(self.to_json().as_bytes()).and_then(|()| file.sync_all()).map_err(refused)?;
        std::fs::rename(&temporary, path).map_err(|error| Error::file(path, &error))
    }

    /// The same without the metrics that it states, so that RAGChecker computes them anew: it keeps any that it finds,
    /// even where labels changed.
    #[must_use]
    pub fn without_metrics(&self) -> Self {
        let mut copy = self.clone();
        copy.metrics = None;
        for result in &mut copy.results {
            if let Some(result) = result.as_object_mut() {
                result.shift_remove("metrics");
            }
        }
        copy
    }
}

fn in_order(result: &Value) -> Value {
    let Some(result) = result.as_object() else { return result.clone() };
    let known = ORDER.iter().filter_map(|key| Some(((*key).to_owned(), result.get(*key)?.clone())));
    let others = result.iter().filter(|(key, _)| !ORDER.contains(&key.as_str()));
    Value::Object(known.chain(others.map(|(key, value)| (key.clone(), value.clone()))).collect())
}

fn present_groups(metrics: &Value) -> Value {
    let Some(groups) = metrics.as_object() else { return metrics.clone() };
    let renamed = groups.iter().map(|(key, value)| {
        let present = GROUPS.iter().find(|(old, _)| old == key).map_or(key.as_str(), |(_, present)| present);
        (present.to_owned(), value.clone())
    });
    Value::Object(renamed.collect())
}

/// Escapes what is not ASCII, as Python's writer does.
fn ascii(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter.is_ascii() {
            escaped.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    escaped
}
