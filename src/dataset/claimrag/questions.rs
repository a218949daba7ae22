//! Question files.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::source::{self, Extras, Source};
use super::{Problems, spelling};
use crate::dataset::unique::UniqueIds;
use crate::error::Result;
use crate::table::{FrameBuilder, QaPairs};

/// A question that claims may belong to.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub id: String,
    pub context_unit: Option<String>,
}

/// Questions by source and their text or identifier in the file.
pub(super) type KnownQuestions = HashMap<(String, String), Question>;

const NAMES: [&str; 13] = [
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
    "persona_original",
    "category_original",
    "answer_correctness_original",
];

/// Reads questions. A record's passage is its `relevant_chunk`, or else the text of its `articles` in the act.
pub(super) fn read(sources: &[Source<'_>], problems: &mut Problems) -> Result<(QaPairs, KnownQuestions)> {
    let mut columns: Vec<Vec<Option<String>>> = vec![Vec::new(); NAMES.len()];
    let mut extras = Extras::default();
    let mut known = KnownQuestions::new();
    let mut ids = UniqueIds::default();
    for source in sources {
        for (place, record) in source.records(problems)?.iter().enumerate() {
            problems.count();
            let number = place + 1;
            let Some(record) = record.as_object() else {
                let reason = format!("is {}, expected an object", source::kind(record));
                problems.drop_record(source.file, number, "", &reason);
                continue;
            };
            let reader = Reader { source, number, record };
            let Some((id_in_file, mut row)) = reader.row(problems) else { continue };
            // Two records with one identifier both stay, and the second says so.
            let id = ids.give(&id_in_file);
            if id != id_in_file {
                let reason = format!("{id_in_file:?} is the id of an earlier question too");
                problems.note(source.file, number, "query_id", &reason, "renamed");
                row[0] = Some(id.clone());
            }
            let question = Question { id, context_unit: row[7].clone() };
            for key in [id_in_file, row[1].clone().unwrap_or_default()] {
                known.entry((source.source.to_owned(), key)).or_insert_with(|| question.clone());
            }
            for (column, value) in columns.iter_mut().zip(row) {
                column.push(value);
            }
            let persona = spelling::persona_key(record).unwrap_or_default();
            let used = [
                "query_id",
                "query",
                "gt_answer",
                "relevant_chunk",
                "articles",
                "question_category",
                "answer_correctness",
                "hops",
                persona,
            ];
            extras.push(&[record], &used);
        }
    }
    let mut builder = FrameBuilder::new();
    for (name, column) in NAMES.iter().zip(&columns) {
        builder = builder.text_or_null(name, column);
    }
    for (name, column) in extras.finish(&NAMES) {
        builder = builder.text_or_null(&name, &column);
    }
    Ok((QaPairs::new(builder.build()?)?, known))
}

struct Reader<'a> {
    source: &'a Source<'a>,
    number: usize,
    record: &'a Map<String, Value>,
}

impl Reader<'_> {
    /// The row of a record with its identifier, or a problem.
    fn row(&self, problems: &mut Problems) -> Option<(String, Vec<Option<String>>)> {
        let need = |field: &str, problems: &mut Problems| match source::text(self.record, field) {
            Ok(text) => Some(text.to_owned()),
            Err(reason) => {
                problems.drop_record(self.source.file, self.number, field, &reason);
                None
            }
        };
        let question = need("query", problems)?;
        let answer = need("gt_answer", problems)?;
        let id = match source::query_id(self.record) {
            Ok(id) => id,
            Err(reason) => {
                problems.note(self.source.file, self.number, "query_id", &reason, "renamed");
                format!("record-{}", self.number)
            }
        };
        let id = format!("{}/{id}", self.source.source);
        let passage = self.passage(problems);
        let persona_key = spelling::persona_key(self.record).unwrap_or("user_persona").to_owned();
        let (persona, persona_original) = self.choice(&persona_key, spelling::persona, problems);
        let (category, category_original) = self.choice("question_category", spelling::category, problems);
        let (correctness, correctness_original) = self.choice("answer_correctness", spelling::correctness, problems);
        // Only some benchmarks say how many hops a question takes.
        let hops =
            if self.record.contains_key("hops") { self.choice("hops", spelling::hops, problems).0 } else { None };
        let row = vec![
            Some(id.clone()),
            Some(question),
            Some(answer),
            Some(self.source.language.to_owned()),
            persona,
            category,
            Some(self.source.source.to_owned()),
            passage,
            correctness,
            hops,
            persona_original,
            category_original,
            correctness_original,
        ];
        Some((id, row))
    }

    fn passage(&self, problems: &mut Problems) -> Option<String> {
        let found = match (self.record.get("articles").and_then(Value::as_array), self.source.act) {
            (Some(list), Some(act)) => {
                let ids: Vec<String> = list.iter().filter_map(Value::as_str).map(str::to_owned).collect();
                act.passage(&ids).map_err(|error| ("articles", format!("cannot be looked up: {error}")))
            }
            _ => source::text(self.record, "relevant_chunk").map(str::to_owned).map_err(|why| ("relevant_chunk", why)),
        };
        match found {
            Ok(passage) => Some(passage),
            Err((field, reason)) => {
                problems.note(self.source.file, self.number, field, &reason, "left empty");
                None
            }
        }
    }

    /// A value of a closed list in the library's spelling, and as the file spells it.
    fn choice(
        &self,
        field: &str,
        parse: fn(&str) -> Option<&'static str>,
        problems: &mut Problems,
    ) -> (Option<String>, Option<String>) {
        let original = match source::text(self.record, field) {
            Ok(text) => text,
            Err(reason) => {
                problems.note(self.source.file, self.number, field, &reason, "left empty");
                return (None, None);
            }
        };
        let found = parse(original);
        if found.is_none() {
            let reason = format!("is {original:?}, which is none of the known values");
            problems.note(self.source.file, self.number, field, &reason, "left empty");
        }
        (found.map(str::to_owned), Some(original.to_owned()))
    }
}
