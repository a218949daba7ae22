//! The benchmark's JSON files, as ClaimRAG-LAW shapes them, read field by field with an error that names the place.

use serde_json::Value;

use super::Corpus;
use crate::error::{Error, Result};
use crate::table::{FrameBuilder, Label, LabelledClaims, QaPairs};

/// One file's JSON text and what to call it in errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub file: &'a str,
    pub text: &'a str,
    pub act: &'a Corpus,
}

impl Source<'_> {
    fn records(&self) -> Result<Vec<Value>> {
        let value: Value = serde_json::from_str(self.text).map_err(|error| {
            Error::input(format!("{}: not JSON: {error}", self.file)).help("the file may be cut short; fetch it again")
        })?;
        let list = value.get("input_data").unwrap_or(&value);
        list.as_array().cloned().ok_or_else(|| {
            Error::input(format!(
                "{}: expected an array of records, or an object whose key \"input_data\" holds one",
                self.file
            ))
        })
    }

    fn place(&self, index: usize) -> String {
        format!("{}, record {}", self.file, index + 1)
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn text<'a>(record: &'a Value, field: &str, place: &str) -> Result<&'a str> {
    match record.get(field) {
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(Error::input(format!("{place}: field {field:?} is {}, expected text", kind(other)))),
        None => Err(Error::input(format!("{place}: field {field:?} is missing")).help(
            "a question needs query_id, query, gt_answer, question_category and user_persona; a claim record \
             query_id, relevant_chunk and claims",
        )),
    }
}

fn query_id(record: &Value, act: &Corpus, place: &str) -> Result<String> {
    match record.get("query_id") {
        Some(Value::Number(number)) => Ok(format!("{}/{number}", act.source())),
        Some(Value::String(text)) if !text.is_empty() => Ok(format!("{}/{text}", act.source())),
        Some(other) => {
            Err(Error::input(format!("{place}: field \"query_id\" is {}, expected a number or text", kind(other))))
        }
        None => Err(Error::input(format!("{place}: field \"query_id\" is missing"))),
    }
}

/// One of the allowed values, compared without case and punctuation, in the library's spelling.
fn choice(record: &Value, field: &str, allowed: &[&'static str], place: &str) -> Result<&'static str> {
    let found = text(record, field, place)?;
    let plain: String = found.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    allowed
        .iter()
        .copied()
        .find(|name| name.replace('_', "") == plain)
        .ok_or_else(|| Error::input(format!("{place}: field {field:?} is {found:?}, expected one of {allowed:?}")))
}

const CATEGORIES: [&str; 4] =
    ["general_legal_research", "factual_recall", "false_premise", "jurisdiction_time_specific"];
const PERSONAS: [&str; 3] = ["citizen", "civil_officer", "legal_expert"];
const CORRECTNESS: [&str; 3] = ["correct", "partially_correct", "incorrect"];
const HOPS: [&str; 2] = ["single", "multi"];

/// Reads questions. A record's passage is its `relevant_chunk`, or else the text of its `articles` in the act.
pub(super) fn questions(sources: &[Source<'_>]) -> Result<QaPairs> {
    let mut columns: [Vec<String>; 10] = Default::default();
    for source in sources {
        for (index, record) in source.records()?.iter().enumerate() {
            let place = source.place(index);
            let passage = match record.get("articles").and_then(Value::as_array) {
                Some(list) => {
                    let ids: Vec<String> = list.iter().filter_map(Value::as_str).map(str::to_owned).collect();
                    source.act.passage(&ids).map_err(|error| error.context(place.clone()))?
                }
                None => text(record, "relevant_chunk", &place)?.to_owned(),
            };
            let row = [
                query_id(record, source.act, &place)?,
                text(record, "query", &place)?.to_owned(),
                text(record, "gt_answer", &place)?.to_owned(),
                source.act.language().to_owned(),
                choice(record, "user_persona", &PERSONAS, &place)?.to_owned(),
                choice(record, "question_category", &CATEGORIES, &place)?.to_owned(),
                source.act.source().to_owned(),
                passage,
                choice(record, "answer_correctness", &CORRECTNESS, &place)?.to_owned(),
                choice(record, "hops", &HOPS, &place)?.to_owned(),
            ];
            for (column, value) in columns.iter_mut().zip(row) {
                column.push(value);
            }
        }
    }
    let names = [
        "question_id",
        "question",
        "reference_answer",
        "language",
        "persona",
        "category",
        "source",
        "context_unit",
        "answer_correctness",
        "hops",
    ];
    let mut seen = std::collections::HashSet::new();
    if let Some(twice) = columns[0].iter().find(|id| !seen.insert(id.as_str())) {
        return Err(
            Error::input(format!("two questions have the id {twice:?}")).help("make query_id unique in its file")
        );
    }
    let builder =
        names.iter().zip(&columns).fold(FrameBuilder::new(), |table, (name, values)| table.text(name, values));
    QaPairs::new(builder.build()?)
}

/// Reads claims with their labels.
pub(super) fn claims(sources: &[Source<'_>]) -> Result<LabelledClaims> {
    let mut rows = ClaimRows::default();
    for source in sources {
        for (index, record) in source.records()?.iter().enumerate() {
            let place = source.place(index);
            let question = query_id(record, source.act, &place)?;
            let passage = text(record, "relevant_chunk", &place)?;
            let list = record
                .get("claims")
                .and_then(Value::as_array)
                .ok_or_else(|| Error::input(format!("{place}: field \"claims\" is missing or not an array")))?;
            for (ordinal, claim) in list.iter().enumerate() {
                let place = format!("{place}, claim {}", ordinal + 1);
                rows.push(&question, ordinal, claim, passage, source.act, &place)?;
            }
        }
    }
    rows.finish()
}

#[derive(Debug, Default)]
struct ClaimRows {
    id: Vec<String>,
    question: Vec<String>,
    text: Vec<String>,
    triple: [Vec<String>; 3],
    valid: Vec<Option<bool>>,
    label: Vec<Option<&'static str>>,
    passage: Vec<String>,
    language: Vec<String>,
    source: Vec<String>,
}

impl ClaimRows {
    fn push(
        &mut self,
        question: &str,
        ordinal: usize,
        claim: &Value,
        passage: &str,
        act: &Corpus,
        place: &str,
    ) -> Result<()> {
        let triple: Vec<&str> = claim
            .get("triplet")
            .and_then(Value::as_array)
            .map(|parts| parts.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let [subject, predicate, object] = triple.as_slice() else {
            return Err(Error::input(format!("{place}: field \"triplet\" must be an array of three texts"))
                .help("write a claim as [\"subject\", \"predicate\", \"object\"]"));
        };
        let label = match text(claim, "claim_entailment", place)? {
            "" => None,
            found => Some(Label::parse(found).ok_or_else(|| {
                Error::input(format!(
                    "{place}: field \"claim_entailment\" is {found:?}, expected Entailment, Neutral, Contradiction or nothing"
                ))
            })?),
        };
        self.id.push(format!("{question}/{ordinal}"));
        self.question.push(question.to_owned());
        self.text.push(format!("{subject} {predicate} {object}"));
        for (column, part) in self.triple.iter_mut().zip([subject, predicate, object]) {
            column.push((*part).to_owned());
        }
        self.valid.push(Some(choice(claim, "claim_correctness", &["correct", "incorrect"], place)? == "correct"));
        self.label.push(label.map(Label::as_str));
        self.passage.push(passage.to_owned());
        self.language.push(act.language().to_owned());
        self.source.push(act.source().to_owned());
        Ok(())
    }

    fn finish(self) -> Result<LabelledClaims> {
        let [subject, predicate, object] = self.triple;
        LabelledClaims::new(
            FrameBuilder::new()
                .text("claim_id", &self.id)
                .text("question_id", &self.question)
                .text("text", &self.text)
                .text("subject", &subject)
                .text("predicate", &predicate)
                .text("object", &object)
                .boolean("valid", &self.valid)
                .text_or_null("label", &self.label)
                .text("context_unit", &self.passage)
                .text("language", &self.language)
                .text("source", &self.source)
                .build()?,
        )
    }
}
