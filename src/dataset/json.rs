//! JSON as other tools write it: one way to read it for every benchmark.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::signal::{self, Progress};

/// What a JSON text holds.
#[derive(Debug)]
pub(super) struct Read {
    pub value: Value,
    /// How many bare `NaN` and `Infinity`, which are no JSON, became null.
    pub nan: usize,
}

/// Reads the JSON text of a file; a long list of records shows its progress. `name` is for messages.
///
/// # Errors
/// When the text is no JSON (a page in its place is named), or the user interrupts.
pub(super) fn read(name: &str, text: &str) -> Result<Read> {
    let (clean, nan) = without_nan(text);
    let progress = Progress::new(&format!("Parsing {name} (records)"), 0);
    let stopped = RefCell::new(None);
    let mut parser = serde_json::Deserializer::from_str(&clean);
    let watch = Watch { progress: &progress, stopped: &stopped, is_outermost: true };
    let value = watch.deserialize(&mut parser).and_then(|value| parser.end().map(|()| value));
    match value {
        Ok(value) => Ok(Read { value, nan }),
        Err(error) => Err(stopped.take().unwrap_or_else(|| refused(name, text, &error))),
    }
}

/// The error about a text that is no JSON.
fn refused(name: &str, text: &str, error: &serde_json::Error) -> Error {
    if text.trim_start().starts_with('<') {
        return Error::input(format!("{name}: expected JSON, found a page of HTML or XML"))
            .help("fetch the file itself, not the page that shows it or says that it is not there");
    }
    Error::input(format!("{name}: not JSON: {error}")).help("the file may be cut short; get it again")
}

/// The same about one line (from 1) of a file with an object a line.
pub(super) fn refused_line(name: &str, number: usize, line: &str, error: &serde_json::Error) -> Error {
    let name = format!("{name}, line {number}");
    if line.trim_start().starts_with('<') {
        return refused(&name, line, error);
    }
    // The parser was given the line alone.
    let told = error.to_string().replace(" at line 1 column ", " at column ");
    Error::input(format!("{name}: not JSON: {told}")).help("the file may be cut short; get it again")
}

/// What a JSON value is, in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// JSON from other tools' writers may hold bare `NaN` and `Infinity`, which are no JSON. Outside of strings they
/// become null; the number of them is returned.
pub(super) fn without_nan(text: &str) -> (Cow<'_, str>, usize) {
    if !["NaN", "Infinity"].iter().any(|token| text.contains(token)) {
        return (text.into(), 0);
    }
    let mut clean = String::with_capacity(text.len());
    let (mut count, mut rest, mut in_string) = (0, text, false);
    while let Some(first) = rest.chars().next() {
        let token = ["NaN", "-Infinity", "Infinity"].into_iter().find(|token| !in_string && rest.starts_with(token));
        let step = match (token, first) {
            (Some(token), _) => {
                clean.push_str("null");
                count += 1;
                rest = &rest[token.len()..];
                continue;
            }
            (None, '\\') if in_string => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            (None, '"') => {
                in_string = !in_string;
                1
            }
            (None, other) => other.len_utf8(),
        };
        clean.push_str(&rest[..step]);
        rest = &rest[step..];
    }
    (clean.into(), count)
}

/// Builds a value as serde_json does, and between the entries of the outer lists counts them and looks whether the user
/// asked to stop: that is where a large file's time goes.
struct Watch<'a> {
    progress: &'a Progress,
    stopped: &'a RefCell<Option<Error>>,
    is_outermost: bool,
}

impl Watch<'_> {
    fn step<E: serde::de::Error>(&self) -> std::result::Result<(), E> {
        self.progress.advance(1);
        signal::check("the file stays where it is").map_err(|stop| {
            *self.stopped.borrow_mut() = Some(stop);
            E::custom("interrupted")
        })
    }
}

impl<'de> DeserializeSeed<'de> for Watch<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Watch<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> std::result::Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = entries.next_element()? {
            list.push(value);
            self.step::<A::Error>()?;
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> std::result::Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = if self.is_outermost {
                // A file's records may stand in a list under a key.
                entries.next_value_seed(Watch { is_outermost: false, ..self })?
            } else {
                entries.next_value()?
            };
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_becomes_null_outside_of_strings_only() {
        let (clean, count) = without_nan(r#"{"a": NaN, "b": "NaN \" NaN", "c": [-Infinity, Infinity]}"#);
        assert_eq!((&*clean, count), (r#"{"a": null, "b": "NaN \" NaN", "c": [null, null]}"#, 3));
        assert_eq!(without_nan("{}").1, 0);
    }

    #[test]
    fn values_are_those_of_serde_json_and_so_are_refusals() {
        for text in [
            r#"{"input_data": [{"b": 1, "a": [true, null, -3, 0.1, 1e300, "é\n\"\ud835\udd38"]}, []], "n": {"x": {"y": [1]}}}"#,
            r#"[{"a": 18446744073709551615, "b": -9223372036854775808, "a": 2}, [[[]]], "x", 7, -0.0]"#,
            "12",
            " \"text\" ",
            "null",
            "[]",
            "{}",
            "[1, 2",
            "[1, 2]]",
            "{\"a\": [1}, ",
            "{\"a\" 1}",
            "[1e999]",
            "",
        ] {
            match serde_json::from_str::<Value>(text) {
                Ok(expected) => assert_eq!(read("x", text).unwrap().value, expected, "{text}"),
                Err(error) => {
                    let told = read("x", text).unwrap_err().to_string();
                    assert!(told.starts_with(&format!("x: not JSON: {error}")) && told.contains("help:"), "{told}");
                }
            }
        }
        let order: Vec<String> =
            read("x", r#"{"z": 1, "a": 2}"#).unwrap().value.as_object().unwrap().keys().cloned().collect();
        assert_eq!(order, ["z", "a"]);
    }

    #[test]
    fn a_page_in_the_place_of_json_is_called_a_page() {
        let error = read("rows.json", "\n<!doctype html><title>404</title>").unwrap_err().to_string();
        assert!(error.contains("rows.json: expected JSON, found a page") && error.contains("help:"), "{error}");
        let (line, page) = ("{\"a\": ", "<html>");
        let told = |line| {
            let error = serde_json::from_str::<Value>(line).unwrap_err();
            refused_line("rows.jsonl", 7, line, &error).to_string()
        };
        assert!(
            told(line).starts_with("rows.jsonl, line 7: not JSON: EOF while parsing a value at column 6"),
            "{}",
            told(line)
        );
        assert!(told(page).starts_with("rows.jsonl, line 7: expected JSON, found a page"), "{}", told(page));
    }
}
