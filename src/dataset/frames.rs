//! Tables of one's own: CSV, TSV, JSON, JSON lines, Parquet, and how their columns are called here.

use std::io::Cursor;
use std::path::Path;

use polars::prelude::{
    Column, CsvParseOptions, CsvReadOptions, DataFrame, DataType, IntoColumn, JsonFormat, JsonReader, NamedFrom,
    SerReader, Series,
};
use serde_json::Value;

use super::{bytes, claimrag};
use crate::error::{Error, Result};
use crate::table::{LabelledClaims, QaPairs, read_parquet, texts};

/// Reads a table from `.csv`, `.tsv`, `.json` (a list of objects, or an object that holds one), `.jsonl`, `.ndjson` or
/// `.parquet`. Nested values of JSON become JSON text.
///
/// # Errors
/// When the file is absent, of another kind, cut short, or not a table; names the line where it can.
pub fn read_frame(path: impl AsRef<Path>) -> Result<DataFrame> {
    let path = path.as_ref();
    let kind = path.extension().map(|kind| kind.to_string_lossy().to_lowercase()).unwrap_or_default();
    let context = |error: Error| error.context(format!("reading {}", path.display()));
    match kind.as_str() {
        "parquet" => {
            bytes::read(path)?;
            read_parquet(path)
        }
        "csv" => csv(&bytes::read_text(path)?.text, b',').map_err(context),
        "tsv" | "tab" => csv(&bytes::read_text(path)?.text, b'\t').map_err(context),
        "jsonl" | "ndjson" => json_lines(&bytes::read_text(path)?.text).map_err(context),
        "json" => json(&bytes::read_text(path)?.text).map_err(context),
        other => Err(Error::input(format!("{}: no reader for files that end in {other:?}", path.display()))
            .help("rename the file after its content: .csv, .tsv, .json, .jsonl, .ndjson or .parquet")),
    }
}

fn csv(text: &str, separator: u8) -> Result<DataFrame> {
    // Tab-separated files of datasets quote nothing; a quotation mark is a letter there.
    let quote = (separator != b'\t').then_some(b'"');
    let options =
        CsvParseOptions::default().with_separator(separator).with_quote_char(quote).with_truncate_ragged_lines(false);
    let frame = CsvReadOptions::default()
        .with_has_header(true)
        .with_infer_schema_length(None)
        .with_parse_options(options)
        .into_reader_with_file_handle(Cursor::new(text.as_bytes()))
        .finish()
        .map_err(|error| {
            Error::input(format!("not a table: {error}")).help("each line needs as many fields as the header")
        })?;
    Ok(frame)
}

fn json_lines(text: &str) -> Result<DataFrame> {
    // The fast reader first; what it cannot read (nested or mixed values, NaN) is read value by value.
    let fast = JsonReader::new(Cursor::new(text.as_bytes()))
        .with_json_format(JsonFormat::JsonLines)
        .infer_schema_len(std::num::NonZeroUsize::new(1000))
        .finish();
    if let Ok(frame) = fast
        && frame.height() == text.lines().filter(|line| !line.trim().is_empty()).count()
        && frame.columns().iter().all(|column| is_flat(column.dtype()))
    {
        return Ok(frame);
    }
    let mut rows = Vec::new();
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (clean, _) = bytes::without_nan(line);
        rows.push(serde_json::from_str(&clean).map_err(|error| {
            Error::input(format!("line {}: not JSON: {error}", place + 1))
                .help("the file may be cut short; fetch it again")
        })?);
    }
    of_values(rows)
}

fn is_flat(kind: &DataType) -> bool {
    matches!(kind, DataType::String | DataType::Boolean | DataType::Null) || kind.is_primitive_numeric()
}

fn json(text: &str) -> Result<DataFrame> {
    let (clean, _) = bytes::without_nan(text);
    let value: Value = serde_json::from_str(&clean).map_err(|error| {
        Error::input(format!("not JSON: {error}")).help("the file may be cut short; fetch it again")
    })?;
    match value {
        Value::Array(rows) => of_values(rows),
        Value::Object(object) => {
            let mut lists = object
                .into_iter()
                .filter_map(|(_, value)| if let Value::Array(rows) = value { Some(rows) } else { None });
            match (lists.next(), lists.next()) {
                (Some(rows), None) => of_values(rows),
                _ => Err(Error::input("expected a list of objects, or an object that holds exactly one list")),
            }
        }
        _ => Err(Error::input("expected a list of objects")),
    }
}

/// A table from JSON objects: a column is numbers, true and false, or text; whatever is mixed or nested becomes text.
fn of_values(rows: Vec<Value>) -> Result<DataFrame> {
    let mut names: Vec<String> = Vec::new();
    let mut places: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    let mut columns: Vec<Vec<Value>> = Vec::new();
    let height = rows.len();
    for (place, row) in rows.into_iter().enumerate() {
        let Value::Object(row) = row else {
            return Err(
                Error::input(format!("row {} is no object", place + 1)).help("each row is {\"column\": value, …}")
            );
        };
        for (name, value) in row {
            let at = *places.entry(name.clone()).or_insert_with(|| {
                names.push(name);
                columns.push(Vec::new());
                columns.len() - 1
            });
            if let Some(column) = columns.get_mut(at) {
                column.resize(place, Value::Null);
                column.push(value);
            }
        }
    }
    let made = names.iter().zip(columns).map(|(name, mut values)| {
        values.resize(height, Value::Null);
        column_of(name, &values)
    });
    Ok(DataFrame::new_infer_height(made.collect())?)
}

fn column_of(name: &str, values: &[Value]) -> Column {
    let all = |is_kind: &dyn Fn(&Value) -> bool| values.iter().all(|value| value.is_null() || is_kind(value));
    let series = if all(&|value| value.is_i64()) && !values.iter().all(Value::is_null) {
        Series::new(name.into(), values.iter().map(Value::as_i64).collect::<Vec<_>>())
    } else if all(&Value::is_number) && !values.iter().all(Value::is_null) {
        Series::new(name.into(), values.iter().map(Value::as_f64).collect::<Vec<_>>())
    } else if all(&Value::is_boolean) && !values.iter().all(Value::is_null) {
        Series::new(name.into(), values.iter().map(Value::as_bool).collect::<Vec<_>>())
    } else {
        let text = |value: &Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        Series::new(name.into(), values.iter().map(text).collect::<Vec<Option<String>>>())
    };
    series.into_column()
}

/// How the columns of a file are called here. Columns that are not named stay as they are.
///
/// ```
/// use claimlab::dataset::ColumnMap;
/// use claimlab::polars::prelude::*;
/// let file = df!("nr" => [1_i64, 2], "frage" => ["Who?", "When?"], "gold" => ["Ann", "1804"])?;
/// let map = ColumnMap::new().column("question_id", "nr").column("question", "frage").column("reference_answer", "gold");
/// let questions = map.constant("language", "en").questions(&file)?;
/// assert_eq!(questions.height(), 2);
/// let error = ColumnMap::new().questions(&file).unwrap_err().to_string();
/// assert!(error.contains("question") && error.contains("frage"), "{error}");
/// # Ok::<(), claimlab::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ColumnMap {
    columns: Vec<(String, String)>,
    values: Vec<(String, String, String)>,
    constants: Vec<(String, String)>,
}

impl ColumnMap {
    /// A map that changes nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The column that is called `name` here is `theirs` in the file.
    #[must_use]
    pub fn column(mut self, name: &str, theirs: &str) -> Self {
        self.columns.push((name.to_owned(), theirs.to_owned()));
        self
    }

    /// In the column `name`, the value `theirs` means `value`. Text values only; others stay as they are.
    #[must_use]
    pub fn value(mut self, name: &str, theirs: &str, value: &str) -> Self {
        self.values.push((name.to_owned(), theirs.to_owned(), value.to_owned()));
        self
    }

    /// Adds a column that holds one value.
    #[must_use]
    pub fn constant(mut self, name: &str, value: &str) -> Self {
        self.constants.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The file's table as questions. Without a column of ids, rows are called `row-1`, `row-2`, ….
    ///
    /// # Errors
    /// When a column is missing, lacks a value, or two questions share an id.
    pub fn questions(&self, file: &DataFrame) -> Result<QaPairs> {
        let known: Vec<&str> = QaPairs::COLUMNS.iter().map(|column| column.name).collect();
        QaPairs::new(unique(self.apply(file, "question_id", &known)?, "question_id")?)
    }

    /// The file's table as labelled claims: `text` is the claim, `context_unit` the premise, `label` the label in any case;
    /// labels that are none of the three are null, and `label_original` keeps them. Without `claim_id` and `question_id`,
    /// rows are called `row-1`, `row-2`, ….
    ///
    /// # Errors
    /// As [`ColumnMap::questions`].
    pub fn claims(&self, file: &DataFrame) -> Result<LabelledClaims> {
        let known: Vec<&str> =
            LabelledClaims::COLUMNS.iter().map(|column| column.name).filter(|name| *name != "valid").collect();
        let mut frame = self.apply(file, "claim_id", &known)?;
        let height = frame.height();
        let ids = texts(&frame, "claim_id")?;
        for name in ["subject", "predicate", "object", "label"] {
            if frame.column(name).is_err() {
                frame.with_column(Series::new(name.into(), vec![None::<String>; height]).into_column())?;
            }
        }
        if frame.column("question_id").is_err() {
            frame.with_column(Series::new("question_id".into(), ids).into_column())?;
        }
        if frame.column("valid").is_err() {
            frame.with_column(Series::new("valid".into(), vec![None::<bool>; height]).into_column())?;
        }
        let original = texts(&frame, "label")?;
        let labels: Vec<Option<&str>> = original
            .iter()
            .map(|label| label.as_deref().and_then(claimrag::spelling_label).map(|label| label.as_str()))
            .collect();
        frame.with_column(Series::new("label_original".into(), original.clone()).into_column())?;
        frame.with_column(Series::new("label".into(), labels).into_column())?;
        LabelledClaims::new(unique(frame, "claim_id")?)
    }

    fn apply(&self, file: &DataFrame, id: &str, known: &[&str]) -> Result<DataFrame> {
        let mut frame = file.clone();
        for (name, theirs) in &self.columns {
            if frame.column(theirs).is_err() {
                let present: Vec<&str> = file.get_column_names().iter().map(|name| name.as_str()).collect();
                return Err(Error::input(format!("the file has no column {theirs:?}; its columns are {present:?}"))
                    .help(format!("name the column that holds {name:?} as the file does")));
            }
            // What stood under our name before makes room.
            if name != theirs && frame.column(name).is_ok() {
                frame.rename(name, format!("file_{name}").as_str().into())?;
            }
            frame.rename(theirs, name.as_str().into())?;
        }
        let height = frame.height();
        for (name, value) in &self.constants {
            frame.with_column(Series::new(name.as_str().into(), vec![value.as_str(); height]).into_column())?;
        }
        if frame.column(id).is_err() {
            let ids: Vec<String> = (1..=height).map(|row| format!("row-{row}")).collect();
            frame.with_column(Series::new(id.into(), ids).into_column())?;
        }
        for name in known {
            // Numbers where text belongs, as in ids, are written out.
            if let Ok(column) = frame.column(name)
                && *column.dtype() != DataType::String
            {
                let cast = column.cast(&DataType::String)?;
                frame.with_column(cast)?;
            }
        }
        for (name, theirs, value) in &self.values {
            let replaced: Vec<Option<String>> = texts(&frame, name)?
                .into_iter()
                .map(|found| if found.as_deref() == Some(theirs) { Some(value.clone()) } else { found })
                .collect();
            frame.with_column(Series::new(name.as_str().into(), replaced).into_column())?;
        }
        Ok(frame)
    }
}

fn unique(frame: DataFrame, id: &str) -> Result<DataFrame> {
    let column = frame.column(id)?;
    let ids = column.str()?;
    let mut seen = std::collections::HashSet::with_capacity(ids.len());
    if let Some(twice) = ids.iter().flatten().find(|id| !seen.insert(*id)) {
        return Err(Error::input(format!("two rows have the {id} {twice:?}"))
            .help("make the ids unique, or leave the column out to have the rows numbered"));
    }
    drop(seen);
    Ok(frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::FrameBuilder;

    fn read(name: &str, content: &[u8]) -> Result<DataFrame> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        read_frame(&path)
    }

    #[test]
    fn the_same_table_comes_from_every_format() {
        let expected = FrameBuilder::new().text("id", &["a", "b"]).integer("n", &[1, 2]).build().unwrap();
        for (name, content) in [
            ("x.csv", "id,n\na,1\nb,2\n"),
            ("x.tsv", "id\tn\r\na\t1\r\nb\t2\r\n"),
            ("x.json", r#"[{"id": "a", "n": 1}, {"id": "b", "n": 2}]"#),
            ("x.json", r#"{"data": [{"id": "a", "n": 1}, {"id": "b", "n": 2}], "version": 1}"#),
            ("x.jsonl", "{\"id\": \"a\", \"n\": 1}\n\n{\"id\": \"b\", \"n\": 2}"),
        ] {
            assert_eq!(read(name, content.as_bytes()).unwrap(), expected, "{name}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        crate::table::write_parquet(&expected, &path).unwrap();
        assert_eq!(read_frame(&path).unwrap(), expected);
    }

    #[test]
    fn mixed_and_nested_values_become_text_and_nan_null() {
        let frame =
            read("x.jsonl", b"{\"a\": 1, \"b\": [1, 2]}\n{\"a\": \"x\", \"b\": {\"c\": 1}}\n{\"a\": NaN}").unwrap();
        assert_eq!(texts(&frame, "a").unwrap(), [Some("1".to_owned()), Some("x".to_owned()), None]);
        assert_eq!(texts(&frame, "b").unwrap()[1].as_deref(), Some("{\"c\":1}"));
    }

    #[test]
    fn a_fault_is_told_with_file_and_line() {
        let error = read("x.jsonl", b"{\"a\": 1}\n{\"a\": ").unwrap_err().to_string();
        assert!(error.contains("x.jsonl") && error.contains("line 2"), "{error}");
        assert!(read("x.xlsx", b"x").unwrap_err().to_string().contains("xlsx"));
        assert!(read("x.parquet", b"PAR1 no").unwrap_err().to_string().contains("not a Parquet file"));
        assert!(read("x.csv", b"PK\x03\x04").unwrap_err().to_string().contains("ZIP"));
        let twice = read("x.csv", b"question_id,question,reference_answer\n1,a,b\n1,c,d\n").unwrap();
        assert!(ColumnMap::new().questions(&twice).unwrap_err().to_string().contains("two rows"));
    }

    #[test]
    fn labels_are_mapped_and_originals_kept() {
        let file = read(
            "x.tsv",
            "premise\thypothesis\tlabel_text\nIl \"pleut\".\tIl pleut.\tENTAILMENT\nA.\tB.\tcompatibles\n".as_bytes(),
        )
        .unwrap();
        let map = ColumnMap::new()
            .column("text", "hypothesis")
            .column("context_unit", "premise")
            .column("label", "label_text");
        let claims = map.claims(&file).unwrap();
        assert_eq!(texts(claims.frame(), "label").unwrap(), [Some("entailment".to_owned()), None]);
        let mapped = map.value("label", "compatibles", "neutral").claims(&file).unwrap();
        assert_eq!(texts(mapped.frame(), "label").unwrap()[1].as_deref(), Some("neutral"));
        assert_eq!(texts(mapped.frame(), "claim_id").unwrap()[1].as_deref(), Some("row-2"));
    }
}
