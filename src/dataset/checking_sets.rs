//! Public sets of human-labelled claims, in their own files' shapes, for scoring claim checkers. The files are the
//! user's to get; none is part of this project.

use std::path::Path;

use polars::prelude::{CsvParseOptions, CsvReadOptions, DataFrame, SerReader};
use serde_json::Value;

use super::{bytes, json};
use crate::error::{Error, Result};
use crate::table::{FrameBuilder, LabelledClaims, texts};

/// RefChecker's triplets with the labels of its annotators (`msmarco_…_answers.json`): each against all passages of its
/// question together. English.
///
/// # Errors
/// When the file cannot be read, or a record lacks a field or has a label off the menu.
pub fn refchecker(path: impl AsRef<Path>) -> Result<LabelledClaims> {
    let path = path.as_ref();
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let read = json::read(&path.display().to_string(), &read(path)?)?;
    let records = read.value.as_array().ok_or_else(|| {
        Error::input(format!("{}: expected a list of records, found {}", path.display(), json::kind(&read.value)))
            .help("give the file as its authors publish it")
    })?;
    let mut rows = Rows::new(path, "en");
    for (place, record) in records.iter().enumerate() {
        let text = |field: &str| record[field].as_str().map(str::to_owned).ok_or_else(|| rows.lacks(place, field));
        let (id, question) = (text("id")?, text("question")?);
        let passages: Option<Vec<&str>> =
            record["context"].as_array().and_then(|list| list.iter().map(Value::as_str).collect());
        let passage = passages.ok_or_else(|| rows.lacks(place, "context"))?.join("\n\n");
        let claims = record.as_object().into_iter().flatten().find(|(key, _)| key.ends_with("_kg"));
        let claims = claims.and_then(|(_, list)| list.as_array()).ok_or_else(|| rows.lacks(place, "…_kg"))?;
        for (ordinal, claim) in claims.iter().enumerate() {
            let parts: Option<Vec<&str>> =
                claim["triplet"].as_array().and_then(|list| list.iter().map(Value::as_str).collect());
            let parts = parts.filter(|parts| parts.len() == 3).ok_or_else(|| rows.lacks(place, "triplet"))?;
            let label = match claim["human_label"].as_str() {
                Some("Entailment") => "entailment",
                Some("Neutral") => "neutral",
                Some("Contradiction") => "contradiction",
                _ => return Err(rows.lacks(place, "human_label")),
            };
            rows.push(Row {
                id: format!("{name}/{id}/{ordinal}"),
                answer: format!("{name}/{id}"),
                question: question.clone(),
                text: parts.join(" "),
                triple: Some([parts[0].to_owned(), parts[1].to_owned(), parts[2].to_owned()]),
                label,
                passage: passage.clone(),
            });
        }
    }
    rows.finish()
}

/// WiCE (Kamoi et al. 2023; `dev.jsonl`, claims): claims of Wikipedia against the articles they cite. `supported` becomes
/// entailment, the other two neutral, since WiCE does not tell silence from contradiction: only the view of entailed or
/// not says something. English.
///
/// # Errors
/// As [`refchecker`].
pub fn wice(path: impl AsRef<Path>) -> Result<LabelledClaims> {
    let path = path.as_ref();
    let mut rows = Rows::new(path, "en");
    for (place, line) in read(path)?.lines().enumerate() {
        let record: Value = serde_json::from_str(line)
            .map_err(|error| json::refused_line(&path.display().to_string(), place + 1, line, &error))?;
        let text = |value: &Value, field: &str| {
            value[field].as_str().map(str::to_owned).ok_or_else(|| rows.lacks(place, field))
        };
        let evidence: Option<Vec<&str>> =
            record["evidence"].as_array().and_then(|list| list.iter().map(Value::as_str).collect());
        let passage = evidence.ok_or_else(|| rows.lacks(place, "evidence"))?.join("\n");
        let label = match record["label"].as_str() {
            Some("supported") => "entailment",
            Some("partially_supported" | "not_supported") => "neutral",
            _ => return Err(rows.lacks(place, "label")),
        };
        rows.push(Row {
            id: text(&record["meta"], "id")?,
            answer: text(&record["meta"], "claim_title")?,
            question: String::new(),
            text: text(&record, "claim")?,
            triple: None,
            label,
            passage,
        });
    }
    rows.finish()
}

/// RTE-3 in French with three labels (Skandalis et al. 2023; `RTE3-FR-…-3class.tsv`).
///
/// # Errors
/// As [`refchecker`].
pub fn rte3_french(path: impl AsRef<Path>) -> Result<LabelledClaims> {
    pairs(path.as_ref(), &[("entailment", "entailment"), ("neutral", "neutral"), ("contradiction", "contradiction")])
}

/// DACCORD (Skandalis et al. 2023; `daccord_dataset.tsv`): French pairs that contradict each other or do not.
/// `compatibles` becomes neutral, and may well be entailed: only the view of contradicted or not says something.
///
/// # Errors
/// As [`refchecker`].
pub fn daccord(path: impl AsRef<Path>) -> Result<LabelledClaims> {
    pairs(path.as_ref(), &[("compatibles", "neutral"), ("contradiction", "contradiction")])
}

/// Tab-separated premises and hypotheses.
fn pairs(path: &Path, menu: &[(&str, &'static str)]) -> Result<LabelledClaims> {
    let options = CsvReadOptions::default()
        .with_has_header(true)
        .with_infer_schema_length(Some(0))
        .with_parse_options(CsvParseOptions::default().with_separator(b'\t'));
    let text = read(path)?;
    if bytes::is_page(&text) {
        return Err(Error::input(format!("{}: expected a table, found a page of HTML", path.display()))
            .help("give the file as its authors publish it"));
    }
    let frame: DataFrame =
        options.into_reader_with_file_handle(std::io::Cursor::new(text.as_bytes())).finish().map_err(|error| {
            Error::input(format!("{}: not a table: {error}", path.display()))
                .help("each line needs as many fields as the header, parted by tabs")
        })?;
    let column = |name: &str| -> Result<Vec<String>> {
        let values = texts(&frame, name).map_err(|error| {
            error.context(path.display().to_string()).help("give the file as its authors publish it")
        })?;
        Ok(values.into_iter().map(Option::unwrap_or_default).collect())
    };
    let mut rows = Rows::new(path, "fr");
    let (ids, premises, hypotheses) = (column("id")?, column("premise")?, column("hypothesis")?);
    for (place, label) in column("label_text")?.iter().enumerate() {
        let known = menu.iter().find(|(name, _)| *name == label.trim());
        let label = known.map(|(_, label)| *label).ok_or_else(|| rows.lacks(place, "label_text"))?;
        rows.push(Row {
            id: ids[place].clone(),
            // Pairs with one premise are alike; they are resampled together.
            answer: premises[place].clone(),
            question: String::new(),
            text: hypotheses[place].trim().to_owned(),
            triple: None,
            label,
            passage: premises[place].trim().to_owned(),
        });
    }
    rows.finish()
}

fn read(path: &Path) -> Result<String> {
    Ok(bytes::read_text(path)?.text)
}

struct Row {
    id: String,
    /// What its claim is resampled with.
    answer: String,
    question: String,
    text: String,
    triple: Option<[String; 3]>,
    label: &'static str,
    passage: String,
}

struct Rows {
    file: String,
    language: &'static str,
    rows: Vec<Row>,
}

impl Rows {
    fn new(path: &Path, language: &'static str) -> Self {
        Self { file: path.display().to_string(), language, rows: Vec::new() }
    }

    fn lacks(&self, place: usize, field: &str) -> Error {
        Error::input(format!(
            "{}, record {}: the field {field:?} is missing or not what it must be",
            self.file,
            place + 1
        ))
        .help("give the file as its authors publish it")
    }

    fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    fn finish(self) -> Result<LabelledClaims> {
        let n = self.rows.len();
        let of = |pick: fn(&Row) -> &str| self.rows.iter().map(pick).collect::<Vec<_>>();
        let part = |place: usize| -> Vec<Option<&str>> {
            self.rows.iter().map(|row| row.triple.as_ref().map(|parts| parts[place].as_str())).collect()
        };
        LabelledClaims::new(
            FrameBuilder::new()
                .text("claim_id", &of(|row| &row.id))
                .text("question_id", &of(|row| &row.answer))
                .text("question", &of(|row| &row.question))
                .text("text", &of(|row| &row.text))
                .text_or_null("subject", &part(0))
                .text_or_null("predicate", &part(1))
                .text_or_null("object", &part(2))
                .boolean("valid", &vec![Some(true); n])
                .text_or_null("label", &self.rows.iter().map(|row| Some(row.label)).collect::<Vec<_>>())
                .text("context_unit", &of(|row| &row.passage))
                .text("language", &vec![self.language; n])
                .build()?,
        )
    }
}
