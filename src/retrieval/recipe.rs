//! A recipe in words.

use std::fmt;

use serde_json::Value;

use crate::signal;

/// What a retriever does, from the last step to the first, one line a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe(String);

impl Recipe {
    pub(super) fn of(spec: &Value, index_bytes: Option<u64>) -> Self {
        let mut text = String::new();
        write(spec, 0, &mut text);
        if let Some(bytes) = index_bytes {
            text += &format!("index: {:.1} MB without the texts\n", bytes as f64 / 1e6);
        }
        Self(text.trim_end().to_owned())
    }

    /// Shows the recipe.
    pub fn evcxr_display(&self) {
        signal::display(None, None, &self.0);
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Objects as indented lines; lists numbered.
fn write(value: &Value, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    let mut line = |name: &str, value: &Value| {
        *text += &format!("{indent}{name}:");
        if value.is_object() && value.as_object().is_some_and(|fields| !fields.is_empty())
            || value.as_array().is_some_and(|items| items.iter().any(Value::is_object))
        {
            *text += "\n";
            write(value, depth + 1, text);
        } else {
            let plain = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            *text += &format!(" {plain}\n");
        }
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| line(&name.replace('_', " "), value)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(place, item)| line(&(place + 1).to_string(), item));
        }
        other => *text += &format!("{indent}{other}\n"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Recipe;

    #[test]
    fn every_setting_has_a_line() {
        let spec =
            json!({"retriever": "RRF", "fusion": {"constant": 60.0}, "parts": [{"retriever": "BM25", "k1": 1.2}]});
        let expected = "retriever: RRF\nfusion:\n  constant: 60.0\nparts:\n  1:\n    retriever: BM25\n    k1: 1.2\n\
                        index: 2.5 MB without the texts";
        assert_eq!(Recipe::of(&spec, Some(2_500_000)).to_string(), expected);
    }
}
