//! A file's records and the fields of a record.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Problems;
pub(super) use crate::dataset::json::kind;
use crate::dataset::unique::UniqueIds;
use crate::dataset::{Corpus, json};
use crate::error::{Error, Result};

/// One file's JSON text and what to call it in errors.
#[derive(Debug, Clone, Copy)]
pub(in crate::dataset) struct Source<'a> {
    pub file: &'a str,
    pub text: &'a str,
    /// Names the act in the tables.
    pub source: &'a str,
    pub language: &'a str,
    /// Where `articles` of a record are looked up.
    pub act: Option<&'a Corpus>,
}

impl Source<'_> {
    /// The file's records: an array, or an object whose key `input_data` holds one.
    pub fn records(&self, problems: &mut Problems) -> Result<Vec<Value>> {
        let read = json::read(self.file, self.text)?;
        if read.nan > 0 {
            let reason = format!("{} bare NaN or Infinity, which are no JSON", read.nan);
            problems.note(self.file, 0, "", &reason, "left empty");
        }
        let list = match read.value {
            Value::Object(mut object) => object.remove("input_data").unwrap_or(Value::Object(object)),
            other => other,
        };
        match list {
            Value::Array(list) => Ok(list),
            other => Err(Error::input(format!(
                "{}: expected an array of records, or an object whose key \"input_data\" holds one; found {}",
                self.file,
                kind(&other)
            ))
            .help("give the dataset's own file, not a page or an index of it")),
        }
    }
}

/// A text field, or why there is none.
pub(super) fn text<'a>(record: &'a Map<String, Value>, field: &str) -> std::result::Result<&'a str, String> {
    match record.get(field) {
        Some(Value::String(text)) if text.trim().is_empty() => Err("is empty, expected text".to_owned()),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(format!("is {}, expected text", kind(other))),
        None => Err("is missing".to_owned()),
    }
}

/// The identifier of a record's question: a number or a text.
pub(super) fn query_id(record: &Map<String, Value>) -> std::result::Result<String, String> {
    match record.get("query_id") {
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        Some(Value::String(_)) => Err("is empty, expected a number or text".to_owned()),
        Some(other) => Err(format!("is {}, expected a number or text", kind(other))),
        None => Err("is missing".to_owned()),
    }
}

/// Columns for keys that no reader knows: text as it is, anything else as JSON.
#[derive(Debug, Default)]
pub(super) struct Extras {
    columns: BTreeMap<String, Vec<Option<String>>>,
    rows: usize,
}

impl Extras {
    /// Adds one row with the fields of some records that are not among `known`.
    pub fn push(&mut self, records: &[&Map<String, Value>], known: &[&str]) {
        for record in records {
            for (key, value) in record.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
                let column = self.columns.entry(key.clone()).or_default();
                // The first record that has a key gives the row its value.
                if column.len() > self.rows {
                    continue;
                }
                column.resize(self.rows, None);
                column.push(match value {
                    Value::Null => None,
                    Value::String(text) => Some(text.clone()),
                    other => Some(other.to_string()),
                });
            }
        }
        self.rows += 1;
    }

    /// The columns, each as long as there are rows. A name that the table has already gets `extra_` before it.
    pub fn finish(mut self, taken: &[&str]) -> Vec<(String, Vec<Option<String>>)> {
        let rows = self.rows;
        let mut names = UniqueIds::default();
        taken.iter().for_each(|name| drop(names.give(name)));
        let columns = std::mem::take(&mut self.columns).into_iter().map(|(name, mut column)| {
            column.resize(rows, None);
            let name = if taken.contains(&name.as_str()) { format!("extra_{name}") } else { name };
            (names.give(&name), column)
        });
        columns.collect()
    }
}
