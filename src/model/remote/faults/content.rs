//! What answers say, and what servers do not accept.

use serde_json::{Value, json};

use super::{Act, Server, ok, one, refusal, said};
use crate::error::{ErrorKind, Result};
use crate::lab::Lab;
use crate::model::{Endpoint, Finish, Prompt, Served};

#[test]
fn fields_that_a_server_refuses_are_changed_or_left_out_once() {
    let unsupported = |field: &str| {
        let message = format!("Unsupported parameter: '{field}' is not supported with this model.");
        refusal(400, vec![], &json!({"message": message, "param": field, "code": "unsupported_parameter"}))
    };
    let server = Server::start(vec![unsupported("max_tokens"), unsupported("temperature"), ok("one"), ok("two")]);
    let model = server.model();
    assert_eq!(one(&model, Prompt::new("q")).unwrap().text, "one");
    assert_eq!(one(&model, Prompt::new("r")).unwrap().text, "two");
    let asked = server.asked();
    assert_eq!(asked.len(), 4);
    assert!(asked[0].get("max_tokens").is_some() && asked[0].get("temperature").is_some());
    assert!(asked[3].get("max_tokens").is_none() && asked[3].get("temperature").is_none());
    assert_eq!(asked[3]["max_completion_tokens"], json!(1024));
}

#[test]
fn a_value_that_a_server_refuses_and_a_schema_that_it_does_not_know_are_left_out() {
    let unsupported = |field: &str, code: &str| {
        let message = format!("Unsupported value: '{field}' does not support this with this model.");
        refusal(400, vec![], &json!({"message": message, "param": field, "code": code}))
    };
    let server = Server::start(vec![
        unsupported("temperature", "unsupported_value"),
        unsupported("response_format", "unsupported_parameter"),
        ok("{\"label\": \"yes\"}"),
        ok("no JSON at all"),
    ]);
    let schema = json!({"type": "object", "required": ["label"]});
    let model = server.model();
    assert!(one(&model, Prompt::new("q").schema(schema.clone())).is_ok());
    // Without the server's promise the reply is validated here all the same.
    assert_eq!(one(&model, Prompt::new("r").schema(schema)).unwrap_err().kind(), ErrorKind::Model);
    let asked = server.asked();
    assert!(asked[0].get("response_format").is_some() && asked[0]["temperature"] == json!(0.0));
    assert!(asked[2].get("response_format").is_none() && asked[2].get("temperature").is_none());
}

#[test]
fn sampling_and_seed_are_always_said() {
    let server = Server::start(vec![ok("yes")]);
    let prompt = Prompt { seed: Some(7), temperature: 0.5, stop: vec!["</answer>".into()], ..Prompt::new("q") };
    assert!(one(&server.model(), prompt).is_ok());
    let asked = &server.asked()[0];
    assert_eq!((&asked["seed"], &asked["temperature"], &asked["top_p"]), (&json!(7), &json!(0.5), &json!(1.0)));
    assert_eq!(asked["stop"], json!(["</answer>"]));
}

#[test]
fn reasoning_that_eats_the_reply_gets_more_room_once() {
    let server = Server::start(vec![said(&json!(""), "length"), ok("yes")]);
    assert_eq!(one(&server.model(), Prompt::new("q").max_tokens(100)).unwrap().text, "yes");
    assert_eq!(
        server.asked().iter().map(|body| body["max_tokens"].clone()).collect::<Vec<_>>(),
        [json!(100), json!(400)]
    );
    let server = Server::start(vec![said(&Value::Null, "length")]);
    let error = one(&server.model(), Prompt::new("q")).unwrap_err();
    assert_eq!((error.kind(), server.asked().len()), (ErrorKind::Model, 2));
    assert!(error.to_string().contains("reasoning"), "{error}");
}

#[test]
fn refusals_filters_and_odd_reasons_are_told_apart() {
    let refused =
        json!({"choices": [{"message": {"content": null, "refusal": "I will not"}, "finish_reason": "stop"}]});
    let server = Server::start(vec![Act::Answer(200, vec![], refused.to_string())]);
    let error = one(&server.model(), Prompt::new("q")).unwrap_err();
    assert!(error.kind() == ErrorKind::Model && error.to_string().contains("refused"), "{error}");
    let server = Server::start(vec![said(&json!("half"), "content_filter")]);
    assert!(one(&server.model(), Prompt::new("q")).unwrap_err().to_string().contains("filter"));
    let server = Server::start(vec![said(&json!("x"), "eos_token_of_the_future")]);
    assert_eq!(one(&server.model(), Prompt::new("q")).unwrap().finish, Finish::Stop);
    let server = Server::start(vec![said(&json!("cut"), "length")]);
    assert_eq!(one(&server.model(), Prompt::new("q")).unwrap().finish, Finish::Length);
}

#[test]
fn replies_to_a_schema_are_checked_here_too() {
    let schema = json!({"type": "object", "properties": {"label": {"enum": ["yes", "no"]}}, "required": ["label"]});
    let server =
        Server::start(vec![ok("{\"label\": \"yes\"}"), ok("{\"label\": \"perhaps\"}"), ok("Sure! Here it is")]);
    let model = server.endpoint().concurrency(1).language_model("m").unwrap();
    let prompts: Vec<Prompt> = (0..3).map(|n| Prompt::new(format!("{n}")).schema(schema.clone())).collect();
    let results = model.generate(&prompts);
    assert!(results[0].is_ok() && results[1].is_err() && results[2].is_err());
    assert_eq!(server.asked()[0]["response_format"]["json_schema"]["schema"], schema);
    // JSON cut at the limit of tokens is told as such.
    let server = Server::start(vec![said(&json!("{\"label\": "), "length")]);
    let error = one(&server.model(), Prompt::new("q").schema(schema)).unwrap_err();
    assert!(error.kind() == ErrorKind::Model && error.to_string().contains("cut"), "{error}");
}

#[test]
fn an_overlong_prompt_is_known_in_both_dialects() {
    let openai = refusal(400, vec![], &json!({"message": "too long", "code": "context_length_exceeded"}));
    let vllm = Act::Answer(400, vec![], json!({"object": "error", "message": "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens", "code": 400}).to_string());
    for act in [openai, vllm] {
        let server = Server::start(vec![act]);
        let error = one(&server.model(), Prompt::new("q")).unwrap_err();
        assert_eq!((error.kind(), server.asked().len()), (ErrorKind::Limit, 1), "{error}");
    }
}

#[test]
fn what_the_server_says_of_itself_is_kept_in_the_journal() -> Result<()> {
    let folder = tempfile::tempdir().map_err(|error| crate::Error::io("folder", &error))?;
    let lab = Lab::at(folder.path())?;
    let server = Server::start(vec![ok("yes")]);
    let model = server.model().journaled(&lab)?;
    let reply = one(&model, Prompt::new("q"))?;
    let expected = Served {
        model: Some("m-2026-01-31".into()),
        system_fingerprint: Some("fp".into()),
        service_tier: None,
        cached_tokens: None,
        reasoning_tokens: Some(3),
    };
    assert_eq!(reply.served.as_ref(), Some(&expected));
    assert_eq!(one(&model, Prompt::new("q"))?, reply, "from the journal, to the last field");
    let written = std::fs::read_to_string(lab.journal()?.path()).unwrap();
    assert!(written.contains("m-2026-01-31") && written.contains("\"system_fingerprint\":\"fp\""), "{written}");
    assert_eq!(server.asked().len(), 1);
    Ok(())
}

#[test]
fn a_remote_model_with_a_tokenizer_can_be_measured() -> Result<()> {
    let folder = tempfile::tempdir().map_err(|error| crate::Error::io("folder", &error))?;
    let file = folder.path().join("tokenizer.json");
    let tokenizer = json!({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "a"}});
    std::fs::write(&file, tokenizer.to_string()).unwrap();
    let endpoint = Endpoint::at("http://127.0.0.1:9/v1")?;
    let prompt = Prompt::new("a b a").system("b b");
    let unmeasured = endpoint.clone().language_model("m")?;
    assert_eq!((unmeasured.prompt_tokens(&prompt), unmeasured.context_length()), (None, None));
    let model = endpoint.clone().tokenizer(&file, 4096)?.language_model("m")?.journaled(&Lab::at(folder.path())?)?;
    // Five words, and something around each message.
    let counted = model.prompt_tokens(&prompt).unwrap_or(0);
    assert!((6..40).contains(&counted), "{counted}");
    assert_eq!(model.context_length(), Some(4096));
    let settings = json!({"chat_template": "{% for m in messages %}{{ m.content }} {% endfor %}"});
    std::fs::write(folder.path().join("tokenizer_config.json"), settings.to_string()).unwrap();
    let exact = endpoint.clone().tokenizer(&file, 4096)?.language_model("m")?;
    assert_eq!(exact.prompt_tokens(&prompt), Some(5));
    std::fs::write(&file, "{}").unwrap();
    assert!(endpoint.clone().tokenizer(&file, 4096).unwrap_err().to_string().contains("not a tokenizer"));
    assert!(endpoint.tokenizer(folder.path().join("none.json"), 4096).is_err());
    Ok(())
}

#[test]
fn embeddings_are_put_in_order() -> Result<()> {
    let body = json!({"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 4]}], "usage": {"prompt_tokens": 4}});
    let server =
        Server::start(vec![refusal(503, vec![], &json!({"message": "x"})), Act::Answer(200, vec![], body.to_string())]);
    let embedder = server.endpoint().embedder("e", "query: ")?;
    assert_eq!(embedder.embed_questions(&["a".into(), "b".into()])?, [vec![0.6, 0.8], vec![0.0, 1.0]]);
    assert_eq!(server.asked()[1]["input"], json!(["query: a", "query: b"]));
    Ok(())
}

#[test]
fn a_batch_goes_out_and_comes_back_into_the_journal() -> Result<()> {
    let folder = tempfile::tempdir().map_err(|error| crate::Error::io("folder", &error))?;
    let lab = Lab::at(folder.path())?;
    let server = Server::start(vec![ok("asked")]);
    let endpoint = server.endpoint();
    let prompts: Vec<Prompt> = (0..4).map(|n| Prompt::new(format!("{n}"))).collect();
    let model = endpoint.language_model("m")?.journaled(&lab)?;
    assert!(one(&model, prompts[0].clone()).is_ok());
    let (out, back) = (folder.path().join("out.jsonl"), folder.path().join("back.jsonl"));
    assert_eq!(endpoint.export_batch("m", &prompts, &lab, &out)?, 3);
    let text = std::fs::read_to_string(&out).unwrap();
    let mut results: Vec<Value> = text
        .lines()
        .map(|line| {
            let request: Value = serde_json::from_str(line).unwrap();
            let told = format!("reply to {}", request["body"]["messages"][0]["content"].as_str().unwrap());
            json!({"custom_id": request["custom_id"], "response": {"status_code": 200, "body":
                {"choices": [{"message": {"content": told}, "finish_reason": "stop"}]}}})
        })
        .collect();
    results.reverse();
    results[0]["response"]["status_code"] = json!(500);
    results.push(json!({"custom_id": "somebody else's"}));
    std::fs::write(&back, results.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    let imported = endpoint.import_batch("m", &prompts, &lab, &back)?;
    assert_eq!((imported.recorded, imported.failures.len()), (2, 2), "{imported:?}");
    assert_eq!(
        model.generate(&prompts[1..3]).into_iter().flatten().map(|reply| reply.text).collect::<Vec<_>>(),
        ["reply to 1", "reply to 2"]
    );
    let reply = one(&model, prompts[1].clone())?;
    assert_eq!((reply.latency_ms, reply.cost_usd), (None, None), "a batch tells neither");
    assert!(reply.note.is_some_and(|note| note.contains("batch")));
    assert_eq!(server.asked().len(), 1);
    Ok(())
}
