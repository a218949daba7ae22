//! JSON.

use polars::prelude::{Column, DataFrame, IntoColumn, NamedFrom, Series};
use serde_json::Value;

use crate::dataset::json;
use crate::error::{Error, Result};

/// Reads a list of objects, or an object that holds exactly one list.
pub(super) fn parse(name: &str, text: &str) -> Result<DataFrame> {
    let help = "each row is an object: [{\"column\": value, …}, …]";
    match json::read(name, text)?.value {
        Value::Array(rows) => of_values(name, rows),
        Value::Object(object) => {
            let mut lists = object
                .into_iter()
                .filter_map(|(_, value)| if let Value::Array(rows) = value { Some(rows) } else { None });
            match (lists.next(), lists.next()) {
                (Some(rows), None) => of_values(name, rows),
                _ => Err(Error::input(format!(
                    "{name}: expected a list of objects, or an object that holds exactly one list"
                ))
                .help(help)),
            }
        }
        other => {
            Err(Error::input(format!("{name}: expected a list of objects, found {}", json::kind(&other))).help(help))
        }
    }
}

/// A table from JSON objects: a column is numbers, true and false, or text; whatever is mixed or nested becomes text.
pub(super) fn of_values(name: &str, rows: Vec<Value>) -> Result<DataFrame> {
    let mut names: Vec<String> = Vec::new();
    let mut places: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    let mut columns: Vec<Vec<Value>> = Vec::new();
    let height = rows.len();
    for (place, row) in rows.into_iter().enumerate() {
        let Value::Object(row) = row else {
            return Err(Error::input(format!("{name}: row {} is {}, expected an object", place + 1, json::kind(&row)))
                .help("each row is {\"column\": value, …}"));
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
