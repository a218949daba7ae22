//! Everything that goes wrong with servers, from a server on the loopback that does it.
//!
//! Nothing is streamed: usage is always there, and a reply is whole or not there at all. So a stream that breaks off is
//! here an answer whose body is cut short, stalls, or is half a JSON text.

mod content;
mod money;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Endpoint;
use super::chat::RemoteChat;
use crate::error::{ErrorKind, Result};
use crate::lab::Lab;
use crate::model::{Generate, LanguageModel, Prompt, Reply};

/// Cargo sets this variable for every test; its value stands for a key here.
const KEY: &str = "CARGO_PKG_DESCRIPTION";

#[derive(Clone)]
enum Act {
    /// Status, headers, body.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// Promises more than it sends.
    Cut(String),
    /// The same, and then neither goes on nor hangs up.
    Stall(String, Duration),
    /// Hangs up without a word.
    HangUp,
    /// Waits, then hangs up.
    Silence(Duration),
}

struct Server {
    base: String,
    seen: Arc<Mutex<Vec<(String, Value)>>>,
    over: Arc<AtomicBool>,
}

impl Server {
    /// Does one act a request, the last one again and again.
    fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let (seen, over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (log, end) = (seen.clone(), over.clone());
        std::thread::spawn(move || {
            let place = Arc::new(Mutex::new(0));
            for stream in listener.incoming().flatten() {
                if end.load(Ordering::Relaxed) {
                    return;
                }
                let (acts, log, place) = (acts.clone(), log.clone(), place.clone());
                std::thread::spawn(move || serve(stream, &acts, &log, &place));
            }
        });
        Self { base, seen, over }
    }

    fn endpoint(&self) -> Endpoint {
        let mut endpoint = Endpoint::at(&self.base).unwrap().key_from(KEY);
        endpoint.patience = Duration::from_millis(2);
        endpoint
    }

    fn model(&self) -> LanguageModel {
        self.endpoint().language_model("m").unwrap()
    }

    fn asked(&self) -> Vec<Value> {
        self.seen.lock().unwrap().iter().map(|(_, body)| body.clone()).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.base.trim_start_matches("http://").trim_end_matches("/v1"));
    }
}

fn serve(mut stream: TcpStream, acts: &[Act], log: &Mutex<Vec<(String, Value)>>, place: &Mutex<usize>) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let (head, body) = loop {
        let Ok(n) = stream.read(&mut piece) else { return };
        if n == 0 {
            return;
        }
        bytes.extend_from_slice(&piece[..n]);
        let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..at]).into_owned();
        let length: usize = head
            .lines()
            .find_map(|line| line.to_lowercase().strip_prefix("content-length:").and_then(|n| n.trim().parse().ok()))
            .unwrap_or(0);
        if bytes.len() >= at + 4 + length {
            break (head, serde_json::from_slice(&bytes[at + 4..at + 4 + length]).unwrap_or(Value::Null));
        }
    };
    log.lock().unwrap().push((head, body));
    let act = {
        let mut place = place.lock().unwrap();
        *place += 1;
        acts[(*place - 1).min(acts.len() - 1)].clone()
    };
    match act {
        Act::Answer(status, headers, body) => {
            let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
            );
        }
        Act::Cut(body) => promise(&mut stream, &body),
        Act::Stall(body, time) => {
            promise(&mut stream, &body);
            std::thread::sleep(time);
        }
        Act::HangUp => {}
        Act::Silence(time) => std::thread::sleep(time),
    }
}

/// A head that announces more than the body.
fn promise(stream: &mut TcpStream, body: &str) {
    let length = body.len() + 50;
    let _ = write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
}

fn said(content: &Value, finish: &str) -> Act {
    let body = json!({"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 3}},
        "model": "m-2026-01-31", "system_fingerprint": "fp", "service_tier": null, "unknown_field": {"a": 1}});
    Act::Answer(200, vec![], body.to_string())
}

fn ok(text: &str) -> Act {
    said(&json!(text), "stop")
}

fn refusal(status: u16, headers: Vec<(&'static str, String)>, error: &Value) -> Act {
    Act::Answer(status, headers, json!({"error": error}).to_string())
}

fn one(model: &LanguageModel, prompt: Prompt) -> Result<Reply> {
    model.generate(&[prompt]).pop().unwrap()
}

#[test]
fn rate_limits_in_all_their_forms_are_waited_for() {
    let limit = json!({"message": "slow down", "code": "rate_limit_exceeded"});
    let soon = "Sun, 06 Nov 1994 08:49:37 GMT";
    for header in [
        ("retry-after", "0.02"),
        ("retry-after", "0"),
        ("retry-after-ms", "20"),
        ("retry-after", soon),
        ("x-other", "1"),
    ] {
        let server = Server::start(vec![refusal(429, vec![(header.0, header.1.into())], &limit), ok("yes")]);
        assert_eq!(one(&server.model(), Prompt::new("q")).unwrap().text, "yes", "{header:?}");
        assert_eq!(server.asked().len(), 2, "{header:?}");
    }
}

#[test]
fn a_retry_after_is_kept_to() {
    let server =
        Server::start(vec![refusal(429, vec![("retry-after-ms", "400".into())], &json!({"message": "x"})), ok("yes")]);
    let began = Instant::now();
    assert!(one(&server.model(), Prompt::new("q")).is_ok());
    assert!(began.elapsed() >= Duration::from_millis(400));
}

#[test]
fn an_empty_account_is_not_asked_again() {
    for code in ["insufficient_quota", "credit_balance_exhausted", "project_spend_limit_exceeded"] {
        let server = Server::start(vec![refusal(
            429,
            vec![("retry-after", "0".into())],
            &json!({"message": "no", "code": code}),
        )]);
        let error = one(&server.model(), Prompt::new("q")).unwrap_err();
        assert_eq!((error.kind(), server.asked().len()), (ErrorKind::Limit, 1), "{code}: {error}");
    }
}

#[test]
fn passing_failures_are_tried_again() {
    let status = |status| refusal(status, vec![], &json!({"message": "x"}));
    let acts = vec![
        status(500),
        status(502),
        Act::Answer(503, vec![], "<html>busy</html>".into()),
        status(504),
        status(408),
        status(409),
        Act::HangUp,
        Act::Cut("{\"choices\": [".into()),
        ok("yes"),
    ];
    let server = Server::start(acts);
    assert_eq!(one(&server.endpoint().retries(8).language_model("m").unwrap(), Prompt::new("q")).unwrap().text, "yes");
    assert_eq!(server.asked().len(), 9);
    // A whole answer that is half a JSON text, a proxy's page, and an error inside a 200.
    let half = Act::Answer(200, vec![], "{\"choices\": [".into());
    let page = Act::Answer(200, vec![], "<html>please wait</html>".into());
    let inside = Act::Answer(200, vec![], json!({"error": {"message": "overloaded", "code": 503}}).to_string());
    let server = Server::start(vec![half, page, inside, ok("yes")]);
    assert_eq!(one(&server.model(), Prompt::new("q")).unwrap().text, "yes");
    // What is final by its number is tried again if the server itself says so.
    let asks = refusal(400, vec![("x-should-retry", "true".into())], &json!({"message": "x"}));
    let server = Server::start(vec![asks, ok("yes")]);
    assert_eq!(one(&server.model(), Prompt::new("q")).unwrap().text, "yes");
}

#[test]
fn final_failures_are_not() {
    for (status, kind) in [
        (400, ErrorKind::Input),
        (401, ErrorKind::Input),
        (403, ErrorKind::Input),
        (404, ErrorKind::NotFound),
        (422, ErrorKind::Input),
        (302, ErrorKind::Input),
    ] {
        let server =
            Server::start(vec![refusal(status, vec![("location", "/elsewhere".into())], &json!({"message": "no"}))]);
        let error = one(&server.model(), Prompt::new("q")).unwrap_err();
        assert_eq!((error.kind(), server.asked().len()), (kind, 1), "{status}: {error}");
    }
    let server = Server::start(vec![refusal(500, vec![("x-should-retry", "false".into())], &json!({"message": "no"}))]);
    assert!(one(&server.model(), Prompt::new("q")).is_err());
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn silence_ends_and_is_tried_again() {
    for slow in [Act::Silence(Duration::from_secs(3)), Act::Stall("{\"choices\": [".into(), Duration::from_secs(3))] {
        let server = Server::start(vec![slow, ok("yes")]);
        let mut endpoint = server.endpoint();
        endpoint.timeout = Duration::from_millis(500);
        assert_eq!(one(&endpoint.language_model("m").unwrap(), Prompt::new("q")).unwrap().text, "yes");
        assert_eq!(server.asked().len(), 2);
    }
}

#[test]
fn retries_end_and_say_how_many_there_were() {
    let server = Server::start(vec![refusal(500, vec![], &json!({"message": "down"}))]);
    let error = one(&server.endpoint().retries(3).language_model("m").unwrap(), Prompt::new("q")).unwrap_err();
    assert_eq!((error.kind(), server.asked().len()), (ErrorKind::Io, 4));
    assert!(error.to_string().contains("tried 4 times") && error.is_retryable(), "{error}");
    // A server that is down costs a run its budget of retries, not every call its own.
    let prompts: Vec<Prompt> = (0..60).map(|n| Prompt::new(format!("{n}"))).collect();
    let before = server.asked().len();
    let results = server.endpoint().language_model("m").unwrap().generate(&prompts);
    assert!(results.iter().all(Result::is_err));
    assert!(server.asked().len() - before <= 60 + 40, "{}", server.asked().len() - before);
    let nowhere = Endpoint::at("http://127.0.0.1:9/v1").unwrap().retries(0).language_model("m").unwrap();
    assert!(one(&nowhere, Prompt::new("q")).unwrap_err().to_string().contains("no connection"));
}

#[test]
fn a_failing_call_fails_alone_and_a_rerun_makes_only_what_is_missing() -> Result<()> {
    let folder = tempfile::tempdir().map_err(|error| crate::Error::io("folder", &error))?;
    let lab = Lab::at(folder.path())?;
    let mut acts: Vec<Act> =
        (0..20).map(|n| if n == 7 { refusal(400, vec![], &json!({"message": "no"})) } else { ok("yes") }).collect();
    acts.push(ok("late"));
    let server = Server::start(acts);
    let model = server.endpoint().language_model("m")?.journaled(&lab)?;
    let prompts: Vec<Prompt> = (0..20).map(|n| Prompt::new(format!("{n}"))).collect();
    assert_eq!(model.generate(&prompts).iter().filter(|result| result.is_err()).count(), 1);
    assert!(model.generate(&prompts).iter().all(Result::is_ok));
    assert_eq!((server.asked().len(), lab.journal()?.len()), (21, 20));
    Ok(())
}

#[test]
fn concurrency_falls_when_the_server_has_enough() -> Result<()> {
    let busy = refusal(429, vec![("retry-after-ms", "1".into())], &json!({"message": "x"}));
    let server = Server::start(vec![busy, ok("yes")]);
    let chat = RemoteChat::new(&server.endpoint().concurrency(8), "m")?;
    assert!(chat.generate(&[Prompt::new("q")])[0].is_ok());
    assert_eq!(chat.client.limits.allowed(), 4);
    let prompts: Vec<Prompt> = (0..40).map(|n| Prompt::new(format!("{n}"))).collect();
    assert!(chat.generate(&prompts).iter().all(Result::is_ok));
    assert_eq!(chat.client.limits.allowed(), 8);
    Ok(())
}

#[test]
fn requests_and_counters_slow_a_run_down() {
    let server = Server::start(vec![ok("yes")]);
    let model = server.endpoint().requests_per_minute(120).language_model("m").unwrap();
    let prompts: Vec<Prompt> = (0..5).map(|n| Prompt::new(format!("{n}"))).collect();
    let began = Instant::now();
    assert!(model.generate(&prompts).iter().all(Result::is_ok));
    assert!(began.elapsed() >= Duration::from_millis(1200), "{:?}", began.elapsed());
    // The longest possible replies count, as OpenAI counts them: four of 50 tokens at 100 a second.
    let model = server.endpoint().tokens_per_minute(6000).language_model("m").unwrap();
    let long: Vec<Prompt> = prompts.iter().map(|prompt| prompt.clone().max_tokens(50)).collect();
    let began = Instant::now();
    assert!(model.generate(&long).iter().all(Result::is_ok));
    assert!(began.elapsed() >= Duration::from_millis(1000), "{:?}", began.elapsed());
    let Act::Answer(status, _, body) = ok("yes") else { return };
    let empty = vec![("x-ratelimit-remaining-requests", "0".into()), ("x-ratelimit-reset-requests", "600ms".into())];
    let server = Server::start(vec![Act::Answer(status, empty, body), ok("yes")]);
    let model = server.endpoint().concurrency(1).language_model("m").unwrap();
    let began = Instant::now();
    assert!(model.generate(&prompts[..2]).iter().all(Result::is_ok));
    assert!(began.elapsed() >= Duration::from_millis(500), "{:?}", began.elapsed());
}

#[test]
fn the_key_is_sent_and_appears_nowhere_else() -> Result<()> {
    let key = std::env::var(KEY).unwrap();
    let folder = tempfile::tempdir().map_err(|error| crate::Error::io("folder", &error))?;
    let lab = Lab::at(folder.path())?;
    let echo = refusal(401, vec![], &json!({"message": format!("Incorrect API key provided: {key}. Or sk-abc***xyz")}));
    let server = Server::start(vec![ok("yes"), echo]);
    let endpoint = server.endpoint();
    let model = endpoint.language_model("m")?.journaled(&lab)?;
    assert!(one(&model, Prompt::new("q")).is_ok());
    let error = one(&model, Prompt::new("r")).unwrap_err();
    let journal = std::fs::read_to_string(lab.journal()?.path()).unwrap();
    let shown = format!("{error} {error:?} {endpoint:?} {model:?} {} {journal}", model.spec());
    assert!(!shown.contains(&key) && !shown.contains("xyz"), "{shown}");
    let head = server.seen.lock().unwrap()[0].0.to_lowercase();
    assert!(head.contains(&format!("bearer {}", key.to_lowercase())));
    let lacking = endpoint.key_from("CLAIMLAB_NO_SUCH_KEY").language_model("m")?;
    assert!(one(&lacking, Prompt::new("q")).unwrap_err().to_string().contains("CLAIMLAB_NO_SUCH_KEY"));
    Ok(())
}

#[test]
fn passwords_in_urls_are_refused() {
    for odd in ["http://user:pass@host/v1", "ftp://host", "host:80", "http://", "http://h/v1?key=1"] {
        let error = Endpoint::at(odd).unwrap_err().to_string();
        assert!(!error.contains("pass@"), "{error}");
    }
}
