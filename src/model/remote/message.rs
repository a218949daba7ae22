//! Requests and replies of the chat interface.

use serde_json::{Map, Value, json};

use super::capability::Capability;
use super::endpoint::Endpoint;
use super::price::Usage;
use super::schema::violation;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Finish, Prompt, Served};

/// What is sent for a prompt. Sampling is always said, for servers have defaults of their own; what a model refuses is
/// left out, for some refuse even null.
pub(super) fn request(
    model: &str,
    prompt: &Prompt,
    capability: &Capability,
    endpoint: &Endpoint,
    factor: u32,
) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(model));
    body.insert("messages".into(), json!(prompt.messages));
    body.insert(capability.limit().into(), json!(prompt.max_tokens.saturating_mul(factor)));
    for (field, value) in [
        ("temperature", Some(json!(prompt.temperature))),
        ("top_p", Some(json!(1.0))),
        ("seed", prompt.seed.map(|seed| json!(seed))),
        ("stop", if prompt.stop.is_empty() { None } else { Some(json!(prompt.stop)) }),
        ("response_format", prompt.schema.as_ref().map(|schema| {
            json!({"type": "json_schema", "json_schema": {"name": "reply", "strict": true, "schema": schema}})
        })),
    ] {
        if let Some(value) = value
            && capability.accepts(field)
        {
            body.insert(field.into(), value);
        }
    }
    for (name, value) in &endpoint.parameters {
        body.insert(name.clone(), value.clone());
    }
    Value::Object(body)
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    Text {
        text: String,
        finish: Finish,
    },
    /// Nothing was written before the limit was reached: all of it went into reasoning.
    Exhausted,
}

/// Tokens as the server counts them; `None` if it does not say how many were read. Nothing is written for embeddings,
/// and details that a server leaves out are none.
pub(super) fn usage(body: &Value) -> Option<Usage> {
    let usage = body.get("usage").filter(|usage| usage.is_object())?;
    let number = |path: &[&str]| path.iter().try_fold(usage, |inside, name| inside.get(*name)).and_then(Value::as_u64);
    Some(Usage {
        prompt: number(&["prompt_tokens"])?,
        cached: number(&["prompt_tokens_details", "cached_tokens"]).unwrap_or(0),
        completion: number(&["completion_tokens"]).or_else(|| body.get("data").map(|_| 0))?,
        reasoning: number(&["completion_tokens_details", "reasoning_tokens"]).unwrap_or(0),
    })
}

/// What the server says of itself and of this reply.
pub(super) fn served(body: &Value) -> Served {
    let text = |name: &str| body.get(name).and_then(Value::as_str).map(|text| super::failure::quoted(text, None));
    let number = |path: &str| body.pointer(path).and_then(Value::as_u64);
    Served {
        model: text("model"),
        system_fingerprint: text("system_fingerprint"),
        service_tier: text("service_tier"),
        cached_tokens: number("/usage/prompt_tokens_details/cached_tokens"),
        reasoning_tokens: number("/usage/completion_tokens_details/reasoning_tokens"),
    }
}

/// Reads a reply; refusals, filters and replies that are not what was asked for are errors.
pub(super) fn answer(body: &Value, prompt: &Prompt) -> Result<Answer> {
    let broken = |what: &str| Error::new(ErrorKind::Model, format!("the server's reply {what}"));
    let choice = body
        .get("choices")
        .and_then(Value::as_array)
        .and_then(|choices| choices.first())
        .ok_or_else(|| broken("holds no choice"))?;
    let message = choice.get("message").ok_or_else(|| broken("holds no message"))?;
    let finish = choice.get("finish_reason").and_then(Value::as_str).unwrap_or("stop");
    if let Some(refusal) = message.get("refusal").and_then(Value::as_str).filter(|refusal| !refusal.is_empty()) {
        return Err(Error::new(
            ErrorKind::Model,
            format!("the model refused: {}", super::failure::quoted(refusal, None)),
        ));
    }
    if finish == "content_filter" {
        return Err(Error::new(ErrorKind::Model, "the provider's content filter withheld the reply"));
    }
    let text = message.get("content").and_then(Value::as_str).unwrap_or_default().to_owned();
    let finish = if finish == "length" { Finish::Length } else { Finish::Stop };
    if text.trim().is_empty() {
        return match finish {
            Finish::Length => Ok(Answer::Exhausted),
            Finish::Stop => Err(broken("is empty")),
        };
    }
    if let Some(schema) = &prompt.schema {
        if finish == Finish::Length {
            return Err(broken("is JSON cut at the limit of tokens").help("raise max_tokens"));
        }
        let value: Value =
            serde_json::from_str(&text).map_err(|error| broken(&format!("is not the JSON asked for: {error}")))?;
        if let Some(what) = violation(&value, schema) {
            return Err(broken(&format!("does not satisfy the schema: {what}")));
        }
    }
    Ok(Answer::Text { text, finish })
}

#[cfg(test)]
mod tests {
    use super::super::endpoint::Parameters;
    use super::*;

    #[test]
    fn sampling_is_said_and_what_a_model_refuses_is_left_out() -> Result<()> {
        let prompt = Prompt::new("q").max_tokens(7).schema(json!({"type": "object"}));
        let endpoint = Endpoint::at("http://localhost:1/v1")?.parameter("reasoning_effort", json!("low"));
        let plain = request("llama", &prompt, &Capability::of("llama", &Parameters::new()), &endpoint, 1);
        assert_eq!((&plain["temperature"], &plain["max_tokens"]), (&json!(0.0), &json!(7)));
        assert_eq!(plain["response_format"]["json_schema"]["strict"], json!(true));
        let thinking = request("gpt-5", &prompt, &Capability::of("gpt-5", &Parameters::new()), &endpoint, 4);
        assert!(thinking.get("temperature").is_none() && thinking.get("seed").is_none());
        assert_eq!((&thinking["max_completion_tokens"], &thinking["reasoning_effort"]), (&json!(28), &json!("low")));
        Ok(())
    }

    #[test]
    fn replies_are_told_apart() {
        let prompt = Prompt::new("q");
        let with = |message: Value, finish: &str| {
            answer(&json!({"choices": [{"message": message, "finish_reason": finish}]}), &prompt)
        };
        let text = |text: &str, finish| Ok(Answer::Text { text: text.into(), finish });
        let same = |a: Result<Answer>, b: Result<Answer>| a.ok() == b.ok();
        assert!(same(with(json!({"content": "yes"}), "stop"), text("yes", Finish::Stop)));
        assert!(same(with(json!({"content": "ye"}), "length"), text("ye", Finish::Length)));
        assert!(same(with(json!({"content": "yes"}), "some_new_reason"), text("yes", Finish::Stop)));
        assert!(same(with(json!({"content": ""}), "length"), Ok(Answer::Exhausted)));
        assert!(same(with(json!({"content": null}), "length"), Ok(Answer::Exhausted)));
        for (message, finish, told) in [
            (json!({"content": null, "refusal": "I cannot"}), "stop", "refused"),
            (json!({"content": ""}), "stop", "empty"),
            (json!({"content": "x"}), "content_filter", "filter"),
        ] {
            let error = with(message, finish).unwrap_err();
            assert!(error.to_string().contains(told), "{error}");
        }
        assert!(answer(&json!({"choices": []}), &prompt).is_err());
        let asked = Prompt::new("q").schema(json!({"type": "object", "required": ["a"]}));
        let cut = json!({"choices": [{"message": {"content": "{\"a\": "}, "finish_reason": "length"}]});
        assert!(answer(&cut, &asked).unwrap_err().to_string().contains("cut"));
        let other = json!({"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]});
        assert!(answer(&other, &asked).unwrap_err().to_string().contains("\"a\""));
    }
}
