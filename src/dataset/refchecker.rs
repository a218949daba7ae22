//! RefChecker's files of triplets with human labels.

use std::path::Path;

use serde_json::Value;

use super::claimrag::spelling_label;
use super::unique::UniqueIds;
use super::{bytes, json};
use crate::error::{Error, Result};
use crate::table::{FrameBuilder, LabelledClaims};

/// Reads a file of RefChecker's benchmark: a list of records with `id`, `response`, `question`, `context` (a text or a list
/// of passages) and one key that ends in `_response_kg` and holds triplets with a `human_label`.
///
/// The claims' context unit is the context, its passages parted by empty lines. Labels that are none of the three are null,
/// and `label_original` keeps them. Further columns: `question`, `response`, `n_passages`. Claims of records that share
/// an id are told apart (`q1/0`, `q1/0~2`).
///
/// # Errors
/// Names the record and the field that is missing.
///
/// ```
/// # let folder = tempfile::tempdir().map_err(|e| claimlab::Error::io("temporary folder", &e))?;
/// let path = folder.path().join("answers.json");
/// std::fs::write(&path, r#"[{"id": "q1", "response": "It is.", "question": "Is it?", "context": ["It is so."],
///     "x_response_kg": [{"triplet": ["it", "is", "so"], "human_label": "Entailment"}]}]"#)
///     .map_err(|e| claimlab::Error::io("writing", &e))?;
/// let claims = claimlab::dataset::read_refchecker(&path)?;
/// assert_eq!(claims.height(), 1);
/// # Ok::<(), claimlab::Error>(())
/// ```
pub fn read_refchecker(path: impl AsRef<Path>) -> Result<LabelledClaims> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let text = bytes::read_text(path)?.text;
    let value = json::read(&name, &text)?.value;
    let records = value.as_array().ok_or_else(|| {
        Error::input(format!("{name}: expected a list of records")).help("give a file like msmarco_*_answers.json")
    })?;
    let mut rows = Rows::default();
    for (place, record) in records.iter().enumerate() {
        rows.add(record).map_err(|error| error.context(format!("{name}, record {}", place + 1)))?;
    }
    rows.finish()
}

#[derive(Debug, Default)]
struct Rows {
    ids: UniqueIds,
    id: Vec<String>,
    question_id: Vec<String>,
    text: Vec<String>,
    triple: [Vec<Option<String>>; 3],
    label: Vec<Option<&'static str>>,
    label_original: Vec<Option<String>>,
    context: Vec<String>,
    question: Vec<Option<String>>,
    response: Vec<Option<String>>,
    n_passages: Vec<i64>,
}

impl Rows {
    fn add(&mut self, record: &Value) -> Result<()> {
        let missing = |field: &str| {
            Error::input(format!("field {field:?} is missing or of a wrong type"))
                .help("a record needs id, context, and a key …_response_kg with {\"triplet\": [three texts], \"human_label\": …}")
        };
        let object = record.as_object().ok_or_else(|| {
            Error::input(format!("is {}, expected an object", json::kind(record))).help("each record is one answer")
        })?;
        let id = match object.get("id") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => return Err(missing("id")),
        };
        let (context, n_passages) = match object.get("context") {
            Some(Value::String(text)) => (text.clone(), 1),
            Some(Value::Array(passages)) => {
                let passages: Vec<&str> = passages.iter().filter_map(Value::as_str).collect();
                (passages.join("\n\n"), passages.len() as i64)
            }
            _ => return Err(missing("context")),
        };
        let triplets = object.iter().find(|(key, _)| key.ends_with("response_kg")).map(|(_, list)| list);
        let triplets = triplets.and_then(Value::as_array).ok_or_else(|| missing("…_response_kg"))?;
        for (ordinal, entry) in triplets.iter().enumerate() {
            let parts: Option<Vec<&str>> = entry
                .get("triplet")
                .and_then(Value::as_array)
                .and_then(|parts| parts.iter().map(Value::as_str).collect());
            let Some([subject, predicate, object_part]) = parts.as_deref() else {
                return Err(missing(&format!("triplet {}", ordinal + 1)));
            };
            let original = entry.get("human_label").and_then(Value::as_str);
            self.id.push(self.ids.give(&format!("{id}/{ordinal}")));
            self.question_id.push(id.clone());
            self.text.push(format!("{subject} {predicate} {object_part}"));
            for (column, part) in self.triple.iter_mut().zip([subject, predicate, object_part]) {
                column.push(Some((*part).to_owned()));
            }
            self.label.push(original.and_then(spelling_label).map(|label| label.as_str()));
            self.label_original.push(original.map(str::to_owned));
            self.context.push(context.clone());
            let text = |field: &str| object.get(field).and_then(Value::as_str).map(str::to_owned);
            self.question.push(text("question"));
            self.response.push(text("response"));
            self.n_passages.push(n_passages);
        }
        Ok(())
    }

    fn finish(self) -> Result<LabelledClaims> {
        let [subject, predicate, object] = self.triple;
        LabelledClaims::new(
            FrameBuilder::new()
                .text("claim_id", &self.id)
                .text("question_id", &self.question_id)
                .text("text", &self.text)
                .text_or_null("subject", &subject)
                .text_or_null("predicate", &predicate)
                .text_or_null("object", &object)
                .boolean("valid", &vec![None; self.text.len()])
                .text_or_null("label", &self.label)
                .text("context_unit", &self.context)
                .text_or_null("label_original", &self.label_original)
                .text_or_null("question", &self.question)
                .text_or_null("response", &self.response)
                .integer("n_passages", &self.n_passages)
                .build()?,
        )
    }
}
