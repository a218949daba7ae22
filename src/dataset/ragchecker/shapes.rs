//! The shapes that RAGChecker's fields must have, and names for what is malformed.
//!
//! RAGChecker itself checks none of this: a list of length one is silently repeated to fit, other lengths raise numpy's
//! errors far from the cause, and a label in another spelling counts as not entailed.

use polars::prelude::DataFrame;
use serde_json::{Map, Value};

use super::RagCheckerFile;
use crate::dataset::json::kind;
use crate::error::Result;
use crate::table::{FrameBuilder, Label};

/// The label lists of a result: name, whose claims, and whether there is one row a claim and one label a chunk.
pub(super) const LISTS: [(&str, &str, bool); 4] = [
    ("answer2response", "response_claims", false),
    ("response2answer", "gt_answer_claims", false),
    ("retrieved2response", "response_claims", true),
    ("retrieved2answer", "gt_answer_claims", true),
];

impl RagCheckerFile {
    /// What is malformed: one row a fault with `result` (from 1), `query_id`, `field` and `fault`. Empty for a sound file.
    /// Missing lists are no fault: they are still to be computed.
    ///
    /// # Errors
    /// When the columns do not fit together.
    pub fn problems(&self) -> Result<DataFrame> {
        let mut found: Vec<(i64, String, String, String)> = Vec::new();
        let mut ids: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
        for (place, result) in self.results.iter().enumerate() {
            let Some(result) = result.as_object() else { continue };
            let id = result.get("query_id").map(id_text).unwrap_or_default();
            let mut add = |field: &str, fault: String| {
                found.push((place as i64 + 1, id.clone(), field.to_owned(), fault));
            };
            check_texts(result, &mut add);
            if !id.is_empty()
                && let Some(first) = ids.insert(id.clone(), place + 1)
            {
                add("query_id", format!("result {first} has the same id"));
            }
            check_chunks(result, &mut add);
            for field in ["response_claims", "gt_answer_claims"] {
                check_claims(result, field, &mut add);
            }
            check_labels(result, &mut add);
        }
        FrameBuilder::new()
            .integer("result", &found.iter().map(|row| row.0).collect::<Vec<_>>())
            .text("query_id", &found.iter().map(|row| row.1.as_str()).collect::<Vec<_>>())
            .text("field", &found.iter().map(|row| row.2.as_str()).collect::<Vec<_>>())
            .text("fault", &found.iter().map(|row| row.3.as_str()).collect::<Vec<_>>())
            .build()
    }
}

/// An identifier as text.
pub(super) fn id_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn check_texts(result: &Map<String, Value>, add: &mut dyn FnMut(&str, String)) {
    for field in ["query_id", "query", "gt_answer", "response"] {
        match result.get(field) {
            Some(Value::String(text)) if text.trim().is_empty() && field != "response" => {
                add(field, "is empty".to_owned())
            }
            Some(Value::String(_)) => {}
            Some(Value::Number(_)) if field == "query_id" => {}
            Some(other) => add(field, format!("is {}, expected text", kind(other))),
            None => add(field, "is missing".to_owned()),
        }
    }
}

fn check_chunks(result: &Map<String, Value>, add: &mut dyn FnMut(&str, String)) {
    match result.get("retrieved_context") {
        None | Some(Value::Null) => {}
        Some(Value::Array(chunks)) => {
            for (place, chunk) in chunks.iter().enumerate() {
                let field = format!("retrieved_context[{place}]");
                match chunk {
                    Value::Object(chunk) if chunk.get("text").is_some_and(Value::is_string) => {}
                    Value::Object(_) => add(&field, "has no text".to_owned()),
                    other => add(&field, format!("is {}, expected an object with doc_id and text", kind(other))),
                }
            }
        }
        Some(other) => add("retrieved_context", format!("is {}, expected a list of chunks", kind(other))),
    }
}

fn check_claims(result: &Map<String, Value>, field: &str, add: &mut dyn FnMut(&str, String)) {
    match result.get(field) {
        None | Some(Value::Null) => {}
        Some(Value::Array(claims)) => {
            for (place, claim) in claims.iter().enumerate() {
                let is_triple =
                    claim.as_array().is_some_and(|parts| parts.len() == 3 && parts.iter().all(Value::is_string));
                if !is_triple && !claim.is_string() {
                    let found = claim
                        .as_array()
                        .map_or_else(|| kind(claim).to_owned(), |parts| format!("a list of {} entries", parts.len()));
                    add(&format!("{field}[{place}]"), format!("is {found}, expected three texts or one"));
                }
            }
        }
        Some(other) => add(field, format!("is {}, expected a list of claims", kind(other))),
    }
}

fn check_labels(result: &Map<String, Value>, add: &mut dyn FnMut(&str, String)) {
    let length = |field: &str| result.get(field).and_then(Value::as_array).map(Vec::len);
    let n_chunks = length("retrieved_context");
    for (field, claims, is_matrix) in LISTS {
        let rows = match result.get(field) {
            None => continue,
            // Null stands for "not computed", as in RAGChecker's own output.
            Some(Value::Null) => continue,
            Some(Value::Array(rows)) => rows,
            Some(other) => {
                add(field, format!("is {}, expected a list of labels", kind(other)));
                continue;
            }
        };
        if let Some(n_claims) = length(claims)
            && n_claims != rows.len()
        {
            let note = if rows.len() == 1 { "; RAGChecker repeats a single entry silently" } else { "" };
            add(field, format!("has {} entries for {n_claims} claims in {claims}{note}", rows.len()));
        }
        for (place, row) in rows.iter().enumerate() {
            let here = format!("{field}[{place}]");
            if !is_matrix {
                check_label(&here, row, add);
                continue;
            }
            let Some(labels) = row.as_array() else {
                add(&here, format!("is {}, expected a list with one label a chunk", kind(row)));
                continue;
            };
            if let Some(n_chunks) = n_chunks
                && n_chunks != labels.len()
            {
                let note = if labels.len() == 1 { "; RAGChecker repeats a single entry silently" } else { "" };
                add(&here, format!("has {} labels for {n_chunks} chunks{note}", labels.len()));
            }
            for (chunk, label) in labels.iter().enumerate() {
                check_label(&format!("{here}[{chunk}]"), label, add);
            }
        }
        if is_matrix {
            let widths: std::collections::BTreeSet<usize> =
                rows.iter().filter_map(|row| Some(row.as_array()?.len())).collect();
            if widths.len() > 1 {
                add(field, format!("has rows of different lengths: {widths:?}"));
            }
        }
    }
    check_against_each_other(result, add);
}

/// Lists that must have one length even where claims and chunks are not in the file.
fn check_against_each_other(result: &Map<String, Value>, add: &mut dyn FnMut(&str, String)) {
    let rows = |field: &str| result.get(field).and_then(Value::as_array);
    let pairs = [("answer2response", "retrieved2response"), ("response2answer", "retrieved2answer")];
    for (list, matrix) in pairs {
        if let (Some(labels), Some(table)) = (rows(list), rows(matrix))
            && labels.len() != table.len()
        {
            add(list, format!("has {} entries, {matrix} has {}", labels.len(), table.len()));
        }
    }
    let width = |field: &str| rows(field)?.first()?.as_array().map(Vec::len);
    if let (Some(one), Some(other)) = (width("retrieved2response"), width("retrieved2answer"))
        && one != other
    {
        add("retrieved2answer", format!("has rows of {other} chunks, retrieved2response of {one}"));
    }
    for (list, matrix) in pairs {
        let is_null = |field: &str| result.get(field).is_some_and(Value::is_null);
        for (absent, present) in [(list, matrix), (matrix, list)] {
            if is_null(absent) && rows(present).is_some() {
                add(
                    absent,
                    format!("is null while {present} is there: RAGChecker fails on every metric that needs it"),
                );
            }
        }
    }
}

fn check_label(field: &str, label: &Value, add: &mut dyn FnMut(&str, String)) {
    match label.as_str() {
        Some("Entailment" | "Neutral" | "Contradiction") => {}
        Some(text) => {
            let close = Label::parse(&text.trim().to_lowercase());
            let meant = close.map_or(String::new(), |label| format!(" ({label} in another spelling)"));
            add(field, format!("is {text:?}{meant}: RAGChecker counts it as not entailed"));
        }
        None => add(field, format!("is {}, expected Entailment, Neutral or Contradiction", kind(label))),
    }
}
