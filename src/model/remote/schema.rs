//! Whether JSON satisfies a schema: the keywords that structured outputs know. Servers promise it and do not always
//! keep it.

use serde_json::Value;

/// The first violation of a JSON schema, in words; `None` if there is none. Keywords beyond `type`, `enum`, `const`,
/// `properties`, `required`, `additionalProperties`, `items`, `minItems`, `maxItems`, `minimum`, `maximum`, `anyOf` and
/// `$ref` to `#/$defs` are not looked at.
///
/// ```
/// use claimlab::model::violation;
/// use serde_json::json;
/// let schema = json!({"type": "object", "required": ["label"], "properties": {"label": {"enum": ["yes", "no"]}}});
/// assert_eq!(violation(&json!({"label": "yes"}), &schema), None);
/// assert!(violation(&json!({"label": "maybe"}), &schema).unwrap().contains("maybe"));
/// ```
#[must_use]
pub fn violation(value: &Value, schema: &Value) -> Option<String> {
    violates(value, schema, schema, "$", 0)
}

/// References may lead in a circle; JSON of a reply is never this deep.
const DEEPEST: usize = 64;

fn violates(value: &Value, schema: &Value, root: &Value, at: &str, depth: usize) -> Option<String> {
    if depth > DEEPEST {
        return Some(format!("{at} is nested too deeply"));
    }
    let below = |value: &Value, schema: &Value, at: &str| violates(value, schema, root, at, depth + 1);
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = reference.strip_prefix('#').and_then(|path| root.pointer(path));
        return match target {
            Some(target) => below(value, target, at),
            None => Some(format!("the schema refers to {reference:?}, which it does not hold")),
        };
    }
    if let Some(kinds) = schema.get("type") {
        let kinds: Vec<&str> = match kinds {
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        if !kinds.is_empty() && !kinds.iter().any(|kind| is_of(value, kind)) {
            return Some(format!("{at} is {}, expected {}", shown(value), kinds.join(" or ")));
        }
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        return Some(format!("{at} is {}, expected one of {}", shown(value), shown(&Value::Array(allowed.clone()))));
    }
    if let Some(only) = schema.get("const")
        && only != value
    {
        return Some(format!("{at} is {}, expected {}", shown(value), shown(only)));
    }
    if let Some(several) = schema.get("anyOf").and_then(Value::as_array)
        && several.iter().all(|one| below(value, one, at).is_some())
    {
        return Some(format!("{at} is {}, which is none of what is allowed", shown(value)));
    }
    match value {
        Value::Object(fields) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
            {
                if !fields.contains_key(name) {
                    return Some(format!("{at} lacks {name:?}"));
                }
            }
            let others = schema.get("additionalProperties");
            fields.iter().find_map(|(name, field)| {
                let at = format!("{at}.{name}");
                match (properties.and_then(|known| known.get(name)), others) {
                    (Some(schema), _) => below(field, schema, &at),
                    (None, Some(Value::Bool(false))) => Some(format!("{at} is not allowed")),
                    (None, Some(schema)) if schema.is_object() => below(field, schema, &at),
                    _ => None,
                }
            })
        }
        Value::Array(items) => {
            let count = |name: &str| schema.get(name).and_then(Value::as_u64);
            let n = items.len() as u64;
            if count("minItems").is_some_and(|least| n < least) || count("maxItems").is_some_and(|most| n > most) {
                return Some(format!("{at} has {n} items"));
            }
            let each = schema.get("items")?;
            items.iter().enumerate().find_map(|(place, item)| below(item, each, &format!("{at}[{place}]")))
        }
        Value::Number(number) => {
            let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
            let number = number.as_f64()?;
            let is_out = bound("minimum").is_some_and(|least| number < least)
                || bound("maximum").is_some_and(|most| number > most);
            is_out.then(|| format!("{at} is {number}, out of bounds"))
        }
        _ => None,
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 { text } else { text.chars().take(60).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn violations_are_found_wherever_they_are() {
        let schema = json!({"type": "object", "additionalProperties": false, "required": ["claims", "n"],
            "properties": {"claims": {"type": "array", "items": {"$ref": "#/$defs/claim"}, "maxItems": 2},
                "n": {"type": ["integer", "null"], "minimum": 0}},
            "$defs": {"claim": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}});
        assert_eq!(violation(&json!({"claims": [{"text": "a"}], "n": null}), &schema), None);
        for (value, told) in [
            (json!({"claims": []}), "\"n\""),
            (json!({"claims": [{"text": 1}], "n": 1}), "$.claims[0].text"),
            (json!({"claims": [{}], "n": 1}), "\"text\""),
            (json!({"claims": [], "n": -1}), "bounds"),
            (json!({"claims": [], "n": 1.5}), "integer"),
            (json!({"claims": [], "n": 1, "more": 2}), "$.more"),
            (json!({"claims": [{"text": ""}, {"text": ""}, {"text": ""}], "n": 1}), "3 items"),
            (json!([]), "object"),
        ] {
            let found = violation(&value, &schema).unwrap_or_default();
            assert!(found.contains(told), "{value}: {found:?}");
        }
        let circle = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}});
        assert!(violation(&json!(1), &circle).is_some());
    }
}
