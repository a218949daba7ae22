//! Tables as files that other programs read: CSV, JSON lines and Parquet.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use polars::prelude::{
    AnyValue, Column as Values, CsvReadOptions, CsvWriter, DataFrame, DataType, NamedFrom, Schema, SerReader,
    SerWriter, Series,
};
use serde_json::{Map, Number, Value};

use super::{Column, Kind, read_parquet, write_parquet};
use crate::error::{Error, Result};

/// Reads a file into a frame whose known columns have the types that `columns` says; others are guessed from all
/// their values. The file's ending decides: `.csv`, `.jsonl` or `.parquet`.
///
/// # Errors
/// When the file cannot be read, a value has the wrong type (with its line, for JSON lines), or the ending is another.
pub fn read_table(columns: &[Column], path: &Path) -> Result<DataFrame> {
    match ending(path) {
        "csv" => read_csv(columns, path),
        "jsonl" => {
            let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
            read_jsonl_text(columns, &text, &path.display().to_string())
        }
        "parquet" => read_parquet(path),
        _ => Err(unknown_ending(path)),
    }
}

/// Writes a frame so that the file stands complete or not at all.
///
/// # Errors
/// When the file cannot be written, or its name ends otherwise than [`read_table`] knows.
pub fn write_table(frame: &DataFrame, path: &Path) -> Result<()> {
    let bytes = match ending(path) {
        "csv" => {
            let mut bytes = Vec::new();
            CsvWriter::new(&mut bytes).finish(&mut frame.clone())?;
            bytes
        }
        "jsonl" => jsonl(frame)?.into_bytes(),
        "parquet" => return write_parquet(frame, path),
        _ => return Err(unknown_ending(path)),
    };
    let temporary = path.with_extension(format!("tmp{}", std::process::id()));
    let mut file = File::create(&temporary).map_err(|error| Error::file(&temporary, &error))?;
    file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(|error| Error::file(&temporary, &error))?;
    std::fs::rename(&temporary, path).map_err(|error| Error::file(path, &error))
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

fn unknown_ending(path: &Path) -> Error {
    Error::input(format!("{}: the ending says no format that tables have", path.display()))
        .help("use .csv, .jsonl or .parquet")
}

fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Text => DataType::String,
        Kind::Integer => DataType::Int64,
        Kind::Number => DataType::Float64,
        Kind::Boolean => DataType::Boolean,
    }
}

fn read_csv(columns: &[Column], path: &Path) -> Result<DataFrame> {
    let file = File::open(path).map_err(|error| Error::file(path, &error))?;
    let types: Schema = columns.iter().map(|column| (column.name.into(), data_type(column.kind))).collect();
    CsvReadOptions::default()
        .with_has_header(true)
        .with_infer_schema_length(None)
        .with_schema_overwrite(Some(Arc::new(types)))
        .into_reader_with_file_handle(file)
        .finish()
        .map_err(|error| {
            Error::input(format!("{}: not such a table as CSV: {error}", path.display()))
                .help("the first line names the columns; texts with commas or line ends stand in double quotes")
        })
}

/// Reads JSON lines from text, as [`read_table`] does from a file; errors call it `name`.
///
/// # Errors
/// When a line is no JSON object, or a value has the wrong type.
pub fn read_jsonl_text(columns: &[Column], text: &str, name: &str) -> Result<DataFrame> {
    let origin = name;
    let mut names: Vec<String> = Vec::new();
    let mut rows: Vec<(usize, Map<String, Value>)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let row: Map<String, Value> = serde_json::from_str(line).map_err(|error| {
            Error::input(format!("{origin}, line {}: not a JSON object: {error}", number + 1))
                .help("one JSON object a line")
        })?;
        for name in row.keys() {
            if !names.iter().any(|known| known == name) {
                names.push(name.clone());
            }
        }
        rows.push((number + 1, row));
    }
    let mut found: Vec<Values> = Vec::new();
    for name in &names {
        let kind = columns.iter().find(|column| column.name == name).map(|column| column.kind);
        let kind = kind.unwrap_or_else(|| guess(rows.iter().filter_map(|(_, row)| row.get(name))));
        found.push(column(name, kind, &rows, origin)?);
    }
    Ok(DataFrame::new_infer_height(found)?)
}

fn guess<'a>(values: impl Iterator<Item = &'a Value>) -> Kind {
    let mut kind = None;
    for value in values {
        let one = match value {
            Value::Null => continue,
            Value::Bool(_) => Kind::Boolean,
            Value::Number(number) if number.is_i64() => Kind::Integer,
            Value::Number(_) => Kind::Number,
            _ => Kind::Text,
        };
        kind = Some(match (kind, one) {
            (None, one) => one,
            (Some(Kind::Integer), Kind::Number) | (Some(Kind::Number), Kind::Integer) => Kind::Number,
            (Some(known), one) if known == one => known,
            _ => Kind::Text,
        });
    }
    kind.unwrap_or(Kind::Text)
}

fn column(name: &str, kind: Kind, rows: &[(usize, Map<String, Value>)], origin: &str) -> Result<Values> {
    let wrong = |line: usize, found: &Value| {
        Error::input(format!("{origin}, line {line}: {name:?} is {found}, expected {}", data_type(kind)))
    };
    let values = rows.iter().map(|(line, row)| (*line, row.get(name).filter(|value| !value.is_null())));
    let series = match kind {
        Kind::Text => {
            let known = values
                .map(|(_, value)| value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
            Series::new(name.into(), known.collect::<Vec<Option<String>>>())
        }
        Kind::Integer => {
            let known: Vec<Option<i64>> = values
                .map(|(line, value)| value.map(|value| value.as_i64().ok_or_else(|| wrong(line, value))).transpose())
                .collect::<Result<_>>()?;
            Series::new(name.into(), known)
        }
        Kind::Number => {
            let known: Vec<Option<f64>> = values
                .map(|(line, value)| value.map(|value| value.as_f64().ok_or_else(|| wrong(line, value))).transpose())
                .collect::<Result<_>>()?;
            Series::new(name.into(), known)
        }
        Kind::Boolean => {
            let known: Vec<Option<bool>> = values
                .map(|(line, value)| value.map(|value| value.as_bool().ok_or_else(|| wrong(line, value))).transpose())
                .collect::<Result<_>>()?;
            Series::new(name.into(), known)
        }
    };
    Ok(series.into())
}

fn jsonl(frame: &DataFrame) -> Result<String> {
    let mut text = String::new();
    for row in 0..frame.height() {
        let mut object = Map::new();
        for column in frame.columns() {
            let value = match column.get(row)? {
                AnyValue::Null => Value::Null,
                AnyValue::Boolean(value) => Value::Bool(value),
                AnyValue::String(value) => Value::String(value.to_owned()),
                AnyValue::StringOwned(value) => Value::String(value.to_string()),
                AnyValue::Int64(value) => Value::from(value),
                AnyValue::Float64(value) => Number::from_f64(value).map_or(Value::Null, Value::Number),
                other if other.is_primitive_numeric() => {
                    other.extract::<f64>().and_then(Number::from_f64).map_or(Value::Null, Value::Number)
                }
                other => Value::String(other.to_string()),
            };
            object.insert(column.name().to_string(), value);
        }
        text.push_str(&Value::Object(object).to_string());
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use polars::prelude::*;

    use crate::table::{Criteria, Tasks};

    fn criteria() -> crate::Result<Criteria> {
        Criteria::new(df!(
            "criterion_id" => ["01", "02"], "task_id" => ["7", "7"], "kind" => ["substance", "form"],
            "text" => ["says \"no\", plainly;\nwith a line end", "est structurée à l'été"],
            "weight" => [Some(2.0), None], "seen" => [1_i64, 2],
        )?)
    }

    #[test]
    fn a_table_survives_every_format_with_its_types() -> crate::Result<()> {
        let folder = tempfile::tempdir().map_err(|error| crate::Error::io("temporary folder", &error))?;
        for name in ["t.csv", "t.jsonl", "t.parquet"] {
            let path = folder.path().join(name);
            criteria()?.write(&path)?;
            let back = Criteria::read(&path)?;
            assert!(back.frame().equals_missing(criteria()?.frame()), "{name}: {}", back.frame());
        }
        Ok(())
    }

    #[test]
    fn a_broken_line_is_named_with_its_number() -> crate::Result<()> {
        let folder = tempfile::tempdir().map_err(|error| crate::Error::io("temporary folder", &error))?;
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, "{\"task_id\":\"a\",\"request\":\"r\"}\n{\"task_id\":")
            .map_err(|e| crate::Error::file(&path, &e))?;
        let error = Tasks::read(&path).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("line 2: not a JSON object"), "{error}");
        let error = Tasks::read(folder.path().join("t.xlsx")).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(".jsonl"), "{error}");
        Ok(())
    }
}
