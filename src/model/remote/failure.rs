//! What a server's refusal means.

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::wait;
use crate::error::{Error, ErrorKind};

/// A call that did not succeed.
#[derive(Debug, Clone)]
pub(super) enum Failure {
    /// May pass: the same call can be tried again.
    Passing { what: String, wait: Option<std::time::Duration>, is_rate: bool },
    /// The answer was lost on the way: the call can be tried again, but may have been charged.
    Lost { what: String },
    /// The server does not know a field that was sent.
    Field { name: String, what: String },
    /// It will not pass.
    Final(Error),
}

/// Longest part of a server's message that is repeated.
const QUOTED: usize = 300;

/// The message, code, type and field of an error's body, in either dialect: `{"error": {…}}` of OpenAI, the same fields
/// at the top as some vLLM releases have it, or `{"detail": …}`.
struct Told {
    message: String,
    code: String,
    kind: String,
    field: String,
}

fn told(body: &str) -> Told {
    let parsed: Value = serde_json::from_str(body).unwrap_or(Value::Null);
    let inside = parsed.get("error").filter(|error| error.is_object()).unwrap_or(&parsed);
    let text = |name: &str| match inside.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let message = [text("message"), parsed.get("error").and_then(Value::as_str).unwrap_or_default().to_owned()]
        .into_iter()
        .find(|message| !message.is_empty())
        .or_else(|| parsed.get("detail").map(ToString::to_string))
        .unwrap_or_else(|| body.to_owned());
    Told { message, code: text("code"), kind: text("type"), field: text("param") }
}

/// Sorts a refusal. `secret` must not be repeated, whatever the server writes.
pub(super) fn sort(status: u16, headers: &HeaderMap, body: &str, secret: Option<&str>, server: &str) -> Failure {
    let told = told(body);
    let message = quoted(&told.message, secret);
    let what = format!("{server} answered {status}: {message}");
    let lower = told.message.to_lowercase();
    let final_as = |kind, help: &str| Failure::Final(Error::new(kind, what.clone()).help(help));
    let is_context = told.code == "context_length_exceeded"
        || told.kind == "exceed_context_size_error"
        || lower.contains("maximum context length")
        || lower.contains("context size")
        || lower.contains("context window");
    if is_context && (400..500).contains(&status) {
        return final_as(
            ErrorKind::Limit,
            "the prompt and the longest reply do not fit: give fewer passages or a lower max_tokens",
        );
    }
    let quota = ["insufficient_quota", "credit_balance", "spend_limit", "billing", "quota_exceeded"];
    if (status == 429 || status == 402 || status == 403)
        && quota.iter().any(|word| told.code.contains(word) || told.kind.contains(word))
    {
        return final_as(ErrorKind::Limit, "the account has no credit left; waiting does not help");
    }
    match status {
        _ if wait::advised(headers) == Some(false) => final_as(ErrorKind::Model, "the server says not to try again"),
        408 | 409 | 425 | 429 | 500..=599 => {
            let wait = wait::asked(headers, std::time::SystemTime::now());
            Failure::Passing { what, wait, is_rate: status == 429 || status == 503 }
        }
        _ if wait::advised(headers) == Some(true) => Failure::Passing { what, wait: None, is_rate: false },
        401 | 403 => final_as(ErrorKind::Input, "check the key in the environment, and what it may be used for"),
        404 => final_as(ErrorKind::NotFound, "check the model's name and that the URL ends in /v1"),
        400 | 422 => match refused_field(&told, &lower) {
            Some(name) => Failure::Field { name, what },
            None => final_as(ErrorKind::Input, "the server does not accept this request"),
        },
        _ => final_as(ErrorKind::Input, "this answer is not one of a model's server"),
    }
}

/// The field that the server does not accept, if that is its complaint.
fn refused_field(told: &Told, lower: &str) -> Option<String> {
    let is_refusal = ["unsupported", "unknown_parameter", "unrecognized"].iter().any(|word| told.code.contains(word))
        || [
            "unsupported",
            "not supported",
            "unrecognized",
            "unknown",
            "extra inputs",
            "not permitted",
            "does not support",
        ]
        .iter()
        .any(|word| lower.contains(word));
    if !is_refusal {
        return None;
    }
    let fields = ["max_completion_tokens", "max_tokens", "response_format", "temperature", "top_p", "seed", "stop"];
    let named = fields.iter().find(|field| told.field.split(['.', '[']).next() == Some(**field));
    named.or_else(|| fields.iter().find(|field| lower.contains(*field))).map(|field| (*field).to_owned())
}

/// A server's words, shortened, without the key and without anything that looks like one.
pub(super) fn quoted(text: &str, secret: Option<&str>) -> String {
    let mut text = text.to_owned();
    if let Some(secret) = secret.filter(|secret| !secret.is_empty()) {
        text = text.replace(secret, "[key]");
    }
    let words: Vec<&str> = text
        .split_whitespace()
        .map(|word| if word.contains("sk-") || word.contains("Bearer") { "[key]" } else { word })
        .collect();
    let text = words.join(" ");
    if text.chars().count() <= QUOTED {
        return text;
    }
    text.chars().take(QUOTED).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(status: u16, body: &str) -> Failure {
        sort(status, &HeaderMap::new(), body, Some("secret-key"), "server")
    }

    #[test]
    fn context_overflow_is_known_in_every_dialect() {
        for (status, body) in [
            (
                400,
                r#"{"error":{"message":"too long","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            ),
            (
                400,
                r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000","type":"BadRequestError","code":400}"#,
            ),
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 4096 tokens. However","type":"BadRequestError","param":null,"code":400}}"#,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
            ),
        ] {
            assert!(
                matches!(sorted(status, body), Failure::Final(error) if error.kind() == ErrorKind::Limit),
                "{body}"
            );
        }
    }

    #[test]
    fn a_quota_is_final_and_a_rate_passes() {
        let quota = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
        assert!(matches!(sorted(429, quota), Failure::Final(_)));
        let rate = r#"{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}"#;
        assert!(matches!(sorted(429, rate), Failure::Passing { is_rate: true, .. }));
        assert!(matches!(sorted(502, "<html>bad gateway</html>"), Failure::Passing { is_rate: false, .. }));
        for status in [400, 401, 403, 404, 422] {
            assert!(matches!(sorted(status, "no"), Failure::Final(_)), "{status}");
        }
    }

    #[test]
    fn a_refused_field_is_named() {
        let gpt = r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}"#;
        assert!(matches!(sorted(400, gpt), Failure::Field { name, .. } if name == "max_tokens"));
        let value = r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0","param":"temperature","code":"unsupported_value"}}"#;
        assert!(matches!(sorted(400, value), Failure::Field { name, .. } if name == "temperature"));
    }

    #[test]
    fn no_key_is_repeated() {
        let body = r#"{"error":{"message":"Incorrect API key provided: secret-key or sk-proj-***abcd."}}"#;
        let Failure::Final(error) = sorted(401, body) else { panic!("401 is final") };
        assert!(!error.to_string().contains("secret-key") && !error.to_string().contains("abcd"), "{error}");
    }
}
