//! What calls cost, and may have cost.

use std::sync::Arc;

use serde_json::json;

use super::{Act, Server, ok, one, refusal};
use crate::error::{ErrorKind, Result};
use crate::lab::Lab;
use crate::model::remote::chat::RemoteChat;
use crate::model::{Generate, LanguageModel, Prompt};

#[test]
fn the_cost_limit_is_kept_and_what_was_paid_for_is_kept_too() -> Result<()> {
    let folder = tempfile::tempdir().map_err(|error| crate::Error::io("folder", &error))?;
    let lab = Lab::at(folder.path())?;
    let server = Server::start(vec![ok("yes")]);
    // 10 tokens read and 5 written at a dollar each: 15 dollars a call; at its longest, 17 bytes and 100 tokens.
    let endpoint = server.endpoint().price("m", 1e6, 1e6)?.cost_limit(300.0)?.concurrency(3);
    let chat = RemoteChat::new(&endpoint, "m")?;
    let model = LanguageModel::new("m", Arc::new(chat.clone())).journaled(&lab)?;
    let prompts: Vec<Prompt> = (0..40).map(|n| Prompt::new(format!("{}", n % 10 + n * 10)).max_tokens(100)).collect();
    let results = model.generate(&prompts);
    let paid = results.iter().filter(|result| result.is_ok()).count();
    assert!(paid >= 12 && chat.client.limits.spent() <= 300.0, "{paid} calls, {} USD", chat.client.limits.spent());
    assert!((chat.client.limits.spent() - 15.0 * paid as f64).abs() < 1e-6);
    assert_eq!((server.asked().len(), lab.journal()?.len()), (paid, paid));
    let stopped = results.iter().find_map(|result| result.as_ref().err()).unwrap();
    assert!(stopped.kind() == ErrorKind::Limit && stopped.to_string().contains("cost limit"), "{stopped}");
    assert_eq!(results[0].as_ref().unwrap().cost_usd, Some(15.0));
    assert!(server.endpoint().cost_limit(1.0)?.language_model("m").is_err());
    Ok(())
}

/// An answer that the server did not count.
fn uncounted(text: &str) -> Act {
    let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]});
    Act::Answer(200, vec![], body.to_string())
}

/// At its longest a call of these costs 117 dollars at a dollar a token: 1 byte, 16 for its frame, 100 tokens written.
fn prompts(n: usize) -> Vec<Prompt> {
    (0..n).map(|n| Prompt::new(format!("{n}")).max_tokens(100)).collect()
}

fn chat(server: &Server, limit: f64) -> Result<RemoteChat> {
    let endpoint = server.endpoint().price("m", 1e6, 1e6)?.cost_limit(limit)?.concurrency(1);
    RemoteChat::new(&endpoint, "m")
}

#[test]
fn an_answer_without_a_count_is_not_free() -> Result<()> {
    let server = Server::start(vec![uncounted("yes")]);
    let chat = chat(&server, 300.0)?;
    let results = chat.generate(&prompts(5));
    assert_eq!((results.iter().filter(|result| result.is_ok()).count(), server.asked().len()), (2, 2));
    assert_eq!(results[4].as_ref().unwrap_err().kind(), ErrorKind::Limit);
    assert!((chat.client.limits.spent() - 234.0).abs() < 1e-6, "{}", chat.client.limits.spent());
    let reply = results[0].as_ref().unwrap();
    assert_eq!((reply.cost_usd, reply.prompt_tokens, reply.completion_tokens), (None, None, None));
    let note = reply.note.clone().unwrap_or_default();
    assert!(note.contains("no usage") && note.contains("at most 117.000000 USD"), "{note}");
    // Without a price there is nothing to fear, but the tokens are unknown all the same.
    let free = one(&server.model(), Prompt::new("q"))?;
    assert!(free.note.is_some_and(|note| note.contains("no usage") && !note.contains("cost")));
    let counted = Server::start(vec![ok("yes")]);
    assert_eq!(one(&counted.model(), Prompt::new("q"))?.note, None);
    // Half a count is none.
    let half = json!({"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": 3}});
    let server = Server::start(vec![Act::Answer(200, vec![], half.to_string())]);
    assert_eq!(one(&server.model(), Prompt::new("q"))?.prompt_tokens, None);
    Ok(())
}

#[test]
fn an_answer_that_was_lost_may_have_been_charged() -> Result<()> {
    for lost in [Act::Cut("{\"choices\": [".into()), Act::HangUp, Act::Answer(200, vec![], "{\"choi".into())] {
        let server = Server::start(vec![lost.clone(), ok("yes")]);
        let rich = chat(&server, 1000.0)?;
        let reply = rich.generate(&prompts(1)).pop().unwrap()?;
        assert_eq!(reply.cost_usd, None);
        assert!(reply.note.is_some_and(|note| note.contains("lost on the way")));
        // What is known of the second, and the most that the first can have been.
        assert!((rich.client.limits.spent() - (117.0 + 15.0)).abs() < 1e-6, "{}", rich.client.limits.spent());
        let server = Server::start(vec![lost, ok("yes")]);
        let poor = chat(&server, 200.0)?;
        let error = poor.generate(&prompts(1)).pop().unwrap().unwrap_err();
        assert!(error.kind() == ErrorKind::Limit && error.to_string().contains("lost"), "{error}");
        assert_eq!((server.asked().len(), poor.client.limits.spent()), (1, 117.0));
    }
    // A refusal costs nothing.
    let server = Server::start(vec![refusal(500, vec![], &json!({"message": "x"})), ok("yes")]);
    let chat = chat(&server, 200.0)?;
    assert_eq!(chat.generate(&prompts(1)).pop().unwrap()?.cost_usd, Some(15.0));
    Ok(())
}
