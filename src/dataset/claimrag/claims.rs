//! Claim files.

use serde_json::{Map, Value};

use super::questions::{KnownQuestions, Question};
use super::source::{self, Extras, Source};
use super::{Problems, spelling};
use crate::dataset::unique::UniqueIds;
use crate::error::Result;
use crate::table::{FrameBuilder, LabelledClaims};

/// Keys of a record that are read here or stand in the question's own row.
const RECORD_KEYS: [&str; 5] = ["query_id", "query", "gt_answer", "relevant_chunk", "claims"];
/// Keys under which a claim itself may stand.
const CLAIM_KEYS: [&str; 5] = ["triplet", "triple", "claim", "claim_text", "text"];

/// Reads claims with their labels.
pub(super) fn read(sources: &[Source<'_>], known: &KnownQuestions, problems: &mut Problems) -> Result<LabelledClaims> {
    let mut rows = Rows::default();
    for source in sources {
        for (place, record) in source.records(problems)?.iter().enumerate() {
            let at = At { file: source.file, record: place + 1 };
            let Some(record) = record.as_object() else {
                problems.count();
                problems.drop_record(
                    at.file,
                    at.record,
                    "",
                    &format!("is {}, expected an object", source::kind(record)),
                );
                continue;
            };
            let Some(list) = record.get("claims").and_then(Value::as_array) else {
                problems.count();
                problems.drop_record(at.file, at.record, "claims", "is missing or not an array");
                continue;
            };
            let question = question(source, record, known, at, problems);
            let passage = match record.get("relevant_chunk") {
                Some(Value::String(text)) if !text.trim().is_empty() => Some(text.as_str()),
                _ => question.context_unit.as_deref(),
            };
            for (ordinal, claim) in list.iter().enumerate() {
                problems.count();
                let Some(passage) = passage else {
                    let reason = "is missing, and the question has no passage either";
                    problems.drop_record(at.file, at.record, "relevant_chunk", reason);
                    continue;
                };
                rows.push(source, &question.id, ordinal, claim, record, passage, at, problems);
            }
        }
    }
    rows.finish()
}

#[derive(Debug, Clone, Copy)]
struct At<'a> {
    file: &'a str,
    record: usize,
}

/// The question that a record belongs to, by its identifier or by its text.
fn question(
    source: &Source<'_>,
    record: &Map<String, Value>,
    known: &KnownQuestions,
    at: At<'_>,
    problems: &mut Problems,
) -> Question {
    let find = |key: String| known.get(&(source.source.to_owned(), key)).cloned();
    let id = source::query_id(record).map(|id| format!("{}/{id}", source.source));
    let by_text = source::text(record, "query").ok().and_then(|text| find(text.to_owned()));
    if let Some(question) = id.clone().ok().and_then(find).or(by_text) {
        return question;
    }
    let (id, reason) = match id {
        Ok(id) => (id, "names no question of the question files".to_owned()),
        Err(reason) => (format!("{}/record-{}", source.source, at.record), reason),
    };
    if !known.is_empty() {
        problems.note(at.file, at.record, "query_id", &reason, "read");
    }
    Question { id, context_unit: None }
}

/// A claim's parts: text, and subject, predicate and object where it is a triple.
type Claim = (String, [Option<String>; 3]);

fn claim_of(value: &Value) -> std::result::Result<Claim, String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Ok((text.trim().to_owned(), [None, None, None])),
        Value::Array(parts) => {
            let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
            let [subject, predicate, object] = parts.as_slice() else {
                return Err("must be an array of three texts".to_owned());
            };
            let triple = [subject, predicate, object].map(|part| Some((*part).to_owned()));
            Ok((format!("{subject} {predicate} {object}"), triple))
        }
        Value::Object(object) => {
            let part = |names: [&str; 3]| names.iter().find_map(|name| object.get(*name)?.as_str());
            let parts =
                (part(["subject", "s", "head"]), part(["predicate", "p", "relation"]), part(["object", "o", "tail"]));
            let (Some(subject), Some(predicate), Some(object)) = parts else {
                return Err("is an object without subject, predicate and object".to_owned());
            };
            let triple = [subject, predicate, object].map(|part| Some(part.to_owned()));
            Ok((format!("{subject} {predicate} {object}"), triple))
        }
        other => Err(format!("is {}, expected three texts or one", source::kind(other))),
    }
}

const NAMES: [&str; 13] = [
    "claim_id",
    "question_id",
    "text",
    "subject",
    "predicate",
    "object",
    "valid",
    "label",
    "context_unit",
    "language",
    "source",
    "valid_original",
    "label_original",
];

#[derive(Debug, Default)]
struct Rows {
    id: Vec<String>,
    question: Vec<String>,
    text: Vec<String>,
    triple: [Vec<Option<String>>; 3],
    valid: Vec<Option<bool>>,
    label: Vec<Option<&'static str>>,
    passage: Vec<String>,
    language: Vec<String>,
    source: Vec<String>,
    valid_original: Vec<Option<String>>,
    label_original: Vec<Option<String>>,
    extras: Extras,
}

impl Rows {
    #[allow(clippy::too_many_arguments)] // One call, and a struct for it would only rename these.
    fn push(
        &mut self,
        source: &Source<'_>,
        question: &str,
        ordinal: usize,
        value: &Value,
        record: &Map<String, Value>,
        passage: &str,
        at: At<'_>,
        problems: &mut Problems,
    ) {
        let field = |name: &str| format!("claims[{ordinal}].{name}, claim {}", ordinal + 1);
        let empty = Map::new();
        let object = value.as_object();
        let is_triple = object.is_some_and(|object| object.contains_key("subject") || object.contains_key("s"));
        let own = object.filter(|_| !is_triple);
        let key = own.and_then(|object| CLAIM_KEYS.iter().find(|key| object.contains_key(**key)));
        let held = match (own, key) {
            (Some(object), Some(key)) => object.get(*key),
            (Some(_), None) => None,
            (None, _) => Some(value),
        };
        let (text, triple) = match held.ok_or_else(|| "is missing".to_owned()).and_then(claim_of) {
            Ok(claim) => claim,
            Err(reason) => {
                problems.drop_record(at.file, at.record, &field(key.unwrap_or(&"triplet")), &reason);
                return;
            }
        };
        let labels = object.unwrap_or(&empty);
        let original = |name: &str, problems: &mut Problems| match labels.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Some(other) => {
                let reason = format!("is {}, expected text", source::kind(other));
                problems.note(at.file, at.record, &field(name), &reason, "left empty");
                Some(other.to_string())
            }
        };
        let valid_original = original("claim_correctness", problems);
        let label_original = original("claim_entailment", problems);
        let valid = valid_original.as_deref().and_then(spelling::correctness);
        if let (Some(found), None | Some("partially_correct")) = (&valid_original, valid) {
            let reason = format!("is {found:?}, expected Correct, Incorrect or nothing");
            problems.note(at.file, at.record, &field("claim_correctness"), &reason, "left empty");
        }
        let label = label_original.as_deref().and_then(spelling::label);
        if let (Some(found), None) = (&label_original, label) {
            let reason = format!("is {found:?}, expected Entailment, Neutral, Contradiction or nothing");
            problems.note(at.file, at.record, &field("claim_entailment"), &reason, "left empty");
        }
        self.id.push(format!("{question}/{ordinal}"));
        self.question.push(question.to_owned());
        self.text.push(text);
        for (column, part) in self.triple.iter_mut().zip(triple) {
            column.push(part);
        }
        self.valid.push(match valid {
            Some("correct") => Some(true),
            Some("incorrect") => Some(false),
            _ => None,
        });
        self.label.push(label.map(|label| label.as_str()));
        self.passage.push(passage.to_owned());
        self.language.push(source.language.to_owned());
        self.source.push(source.source.to_owned());
        self.valid_original.push(valid_original);
        self.label_original.push(label_original);
        let mut known: Vec<&str> = RECORD_KEYS.to_vec();
        known.extend(["claim_correctness", "claim_entailment"]);
        known.extend(key.copied());
        let records: Vec<&Map<String, Value>> = own.into_iter().chain([record]).collect();
        self.extras.push(&records, &known);
    }

    fn finish(mut self) -> Result<LabelledClaims> {
        // Records that repeat a question would repeat claim ids.
        let mut ids = UniqueIds::default();
        for id in &mut self.id {
            *id = ids.give(id);
        }
        let [subject, predicate, object] = self.triple;
        let mut builder = FrameBuilder::new()
            .text("claim_id", &self.id)
            .text("question_id", &self.question)
            .text("text", &self.text)
            .text_or_null("subject", &subject)
            .text_or_null("predicate", &predicate)
            .text_or_null("object", &object)
            .boolean("valid", &self.valid)
            .text_or_null("label", &self.label)
            .text("context_unit", &self.passage)
            .text("language", &self.language)
            .text("source", &self.source)
            .text_or_null("valid_original", &self.valid_original)
            .text_or_null("label_original", &self.label_original);
        for (name, column) in self.extras.finish(&NAMES) {
            builder = builder.text_or_null(&name, &column);
        }
        LabelledClaims::new(builder.build()?)
    }
}
