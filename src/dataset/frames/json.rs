//! JSON and JSON lines.

use std::io::Cursor;

use polars::prelude::{Column, DataFrame, DataType, IntoColumn, JsonFormat, JsonReader, NamedFrom, SerReader, Series};
use serde_json::Value;

use crate::dataset::bytes;
use crate::error::{Error, Result};

/// Rows that the fast reader looks at to guess the columns.
const GUESS: usize = 1000;

/// Reads one object a line.
pub(super) fn lines(text: &str) -> Result<DataFrame> {
    // polars' reader is fast, but guesses columns from the first lines and silently drops what does not fit later. Its
    // result stands where every line has those columns and kinds; else each value is read for itself.
    let fast = JsonReader::new(Cursor::new(text.as_bytes()))
        .with_json_format(JsonFormat::JsonLines)
        .infer_schema_len(std::num::NonZeroUsize::new(GUESS))
        .finish();
    if let Ok(frame) = fast
        && fits(text, &frame)
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

/// Which first letters a value of a column may have, and whether it must be a whole number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    Whole,
    Number,
    Truth,
    Nothing,
}

/// Whether every line is a flat object with the frame's columns and kinds.
fn fits(text: &str, frame: &DataFrame) -> bool {
    let shape = |kind: &DataType| match kind {
        DataType::String => Some(Shape::Text),
        DataType::Boolean => Some(Shape::Truth),
        DataType::Null => Some(Shape::Nothing),
        kind if kind.is_integer() => Some(Shape::Whole),
        kind if kind.is_primitive_numeric() => Some(Shape::Number),
        _ => None,
    };
    let columns: Option<Vec<(&[u8], Shape)>> =
        frame.columns().iter().map(|column| Some((column.name().as_bytes(), shape(column.dtype())?))).collect();
    let Some(columns) = columns else { return false };
    let mut n_lines = 0;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        n_lines += 1;
        if !line_fits(line.as_bytes(), &columns) {
            return false;
        }
    }
    n_lines == frame.height()
}

fn line_fits(line: &[u8], columns: &[(&[u8], Shape)]) -> bool {
    let Some(mut rest) = line.strip_prefix(b"{") else { return false };
    let mut place = 0;
    loop {
        rest = rest.trim_ascii_start();
        let Some(after) = rest.strip_prefix(b"\"") else { return rest == b"}" && place == 0 };
        let Some(end) = end_of_string(after) else { return false };
        let (key, after) = after.split_at(end);
        // The next column is the likely one.
        let likely = columns.get(place).filter(|column| column.0 == key);
        let Some((_, shape)) = likely.or_else(|| columns.iter().find(|column| column.0 == key)) else { return false };
        place += 1;
        let Some(value) = after.get(1..).map(<[u8]>::trim_ascii_start).and_then(|after| after.strip_prefix(b":"))
        else {
            return false;
        };
        let value = value.trim_ascii_start();
        let length = match (value.first(), shape) {
            (Some(b'"'), Shape::Text) => match value.get(1..).and_then(end_of_string) {
                Some(end) => end + 2,
                None => return false,
            },
            (Some(b'n'), _) => 4,
            (Some(b't'), Shape::Truth) => 4,
            (Some(b'f'), Shape::Truth) => 5,
            (Some(b'-' | b'0'..=b'9'), Shape::Whole) => value.iter().take_while(|byte| is_digit(**byte)).count(),
            (Some(b'-' | b'0'..=b'9'), Shape::Number) => {
                value.iter().take_while(|byte| is_digit(**byte) || b".eE+".contains(byte)).count()
            }
            _ => return false,
        };
        let Some(after) = value.get(length..).map(<[u8]>::trim_ascii_start) else { return false };
        match after.split_first() {
            Some((b',', next)) => rest = next,
            Some((b'}', next)) => return next.is_empty(),
            _ => return false,
        }
    }
}

fn is_digit(byte: u8) -> bool {
    byte == b'-' || byte.is_ascii_digit()
}

/// Where a string ends whose first quotation mark was read.
fn end_of_string(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        if text.get(at) == Some(&b'"') {
            return Some(at);
        }
        from = at + 2;
    }
}

pub(super) fn parse(text: &str) -> Result<DataFrame> {
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
