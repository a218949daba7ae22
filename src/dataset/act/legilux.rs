//! Acts as JSON, article by article (schema `lex-articles/1`): each provision has an anchor, a number, a path and its
//! text as Markdown.

use serde_json::Value;

use super::builder::Builder;
use super::{Kind, Parsed, lines, markdown};
use crate::error::{Error, Result};

/// Reads an act.
///
/// # Errors
/// Names the provision and the field that is missing.
pub(super) fn parse(value: &Value) -> Result<Parsed> {
    let list = value.get("provisions").and_then(Value::as_array).ok_or_else(|| {
        Error::input("expected an object whose key \"provisions\" holds a list")
            .help("give the act's file of articles (schema lex-articles/1)")
    })?;
    let mut builder = Builder::new();
    let mut path: Vec<(String, usize)> = Vec::new();
    for (place, provision) in list.iter().enumerate() {
        let field = |name: &str| provision.get(name).and_then(Value::as_str);
        let need = |name: &str| {
            field(name).ok_or_else(|| {
                Error::input(format!("provision {}: field {name:?} is missing or no text", place + 1))
                    .help("each provision needs anchor and text_md (schema lex-articles/1)")
            })
        };
        let steps: Vec<&str> =
            provision.get("path").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        enter(&mut builder, &mut path, &steps);
        let kind = match field("type").unwrap_or("article") {
            "recital" => Kind::Recital,
            "annex" => Kind::Annex,
            _ => Kind::Article,
        };
        let part = builder.open(kind, need("anchor")?);
        for (name, is_number) in [("num", true), ("heading", false)] {
            if let Some(text) = field(name).filter(|text| !text.trim().is_empty()) {
                let mark = builder.mark();
                builder.text(text);
                let text = builder.since(mark).to_owned();
                if is_number {
                    builder.set_number(part, &text)
                } else {
                    builder.set_heading(part, &text)
                }
                builder.line();
            }
        }
        markdown::add(&mut builder, need("text_md")?);
        builder.close(part);
        builder.line();
    }
    let (text, parts) = builder.finish();
    if parts.is_empty() {
        return Err(Error::input("the list \"provisions\" is empty").help("get the act's file of articles again"));
    }
    let about = ["title", "language", "lex_id", "valid_from", "valid_to", "license", "attribution"]
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), value.get(key)?.as_str()?.to_owned())))
        .chain(
            value.pointer("/derived_from/source_uri").and_then(Value::as_str).map(|uri| ("source".into(), uri.into())),
        );
    Ok(Parsed { text, parts, about: about.collect() })
}

/// Closes the divisions that a provision's path leaves and opens those that it enters.
fn enter(builder: &mut Builder, path: &mut Vec<(String, usize)>, steps: &[&str]) {
    let same = path.iter().zip(steps).take_while(|((open, _), step)| open == *step).count();
    if let Some((_, first)) = path.get(same) {
        builder.close(*first);
    }
    path.truncate(same);
    for step in steps.iter().skip(same) {
        let part = builder.open(Kind::Division, &lines::slug(step));
        match step.split_once(" — ") {
            Some((number, heading)) => {
                builder.set_number(part, number.trim());
                builder.set_heading(part, heading.trim());
            }
            None => builder.set_heading(part, step),
        }
        builder.line();
        builder.text(step);
        builder.line();
        path.push(((*step).to_owned(), part));
    }
}
