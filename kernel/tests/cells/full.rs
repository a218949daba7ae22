//! Notebooks 05 to 07 with `LAB_FULL=1`: the paper's systems, as the shelf names them, on a server of this machine that
//! answers by rule. It shows that the cells are wired, and nothing about any model.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{able, claimlab, one_at_a_time, root};

/// A server like OpenAI's; the thread ends with the test's process.
fn serve() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let count = counted.clone();
            std::thread::spawn(move || answer(stream, &count));
        }
    });
    (address, count)
}

fn answer(stream: TcpStream, count: &AtomicUsize) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    count.fetch_add(1, Ordering::SeqCst);
    let asked: Value = serde_json::from_slice(&body).ok()?;
    let told = if first.contains("/embeddings") { embeddings(&asked) } else { chat(&asked) }.to_string();
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{told}",
        told.len()
    )
    .ok()
}

/// Words counted in a few places: nearer for texts that share words.
fn embeddings(asked: &Value) -> Value {
    let vector = |text: &str| {
        let mut places = [0.01_f64; 64];
        for word in text.to_lowercase().split(|letter: char| !letter.is_alphanumeric()) {
            let hash = word.bytes().fold(7_usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte)));
            places[hash % 64] += 1.0;
        }
        places
    };
    let texts = asked["input"].as_array().cloned().unwrap_or_default();
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(place, text)| json!({"index": place, "embedding": vector(text.as_str().unwrap_or_default()).to_vec()}))
        .collect();
    json!({"data": data, "usage": {"prompt_tokens": 1}})
}

fn chat(asked: &Value) -> Value {
    let messages = asked["messages"].as_array().cloned().unwrap_or_default();
    let text = messages.last().and_then(|message| message["content"].as_str()).unwrap_or_default().to_owned();
    let is_generation = messages.first().is_some_and(|message| message["role"] == "system");
    let schema = asked["response_format"].to_string();
    let content = if schema.contains("claims") {
        json!({"claims": [{"subject": "The register", "predicate": "is kept for", "object": "two years"}]}).to_string()
    } else if is_generation {
        // The beginning of the first passage, so that answers differ with what was found.
        let passage: String = text
            .lines()
            .find(|line| line.starts_with("[1]"))
            .unwrap_or("[1] Nothing")
            .chars()
            .skip(4)
            .take(120)
            .collect();
        format!("<answer>{passage}</answer>")
    } else if text.contains("<claims>") || text.contains("<affirmations>") {
        let numbers = (1..=5).take_while(|number| text.contains(&format!("\n{number}: ")));
        numbers.map(|number| format!("{number}: {}\n", verdict(&text))).collect()
    } else {
        verdict(&text).to_owned()
    };
    json!({"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5}})
}

/// Entailed when most of the claim's longer words stand in the reference.
fn verdict(text: &str) -> &'static str {
    let halves = text.rsplit_once("<claim").or_else(|| text.rsplit_once("<affirmation"));
    let (reference, claim) = halves.unwrap_or((text, ""));
    let claim = claim.split("</").next().unwrap_or_default().to_lowercase();
    let reference = reference.to_lowercase();
    let words: Vec<&str> =
        claim.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.len() > 4).collect();
    let shared = words.iter().filter(|word| reference.contains(**word)).count();
    match (shared * 4 >= words.len() * 3, words.len() % 2) {
        (true, _) => "entailment",
        (false, 0) => "neutral",
        _ => "contradiction",
    }
}

#[test]
fn the_papers_systems_run_in_the_same_notebooks() {
    let _one = one_at_a_time();
    if !able("the_papers_systems_run_in_the_same_notebooks") {
        return;
    }
    let (address, count) = serve();
    let folder = tempfile::tempdir().unwrap();
    let lab = folder.path().join("lab");
    std::fs::create_dir_all(&lab).unwrap();
    let names = ["e5-mistral", "llama-3.1-8b", "mixtral-8x7b", "gpt-4o", "gpt-5", "gpt-4-0613"];
    let shelf: String = names.iter().map(|name| format!("[models.{name:?}]\nendpoint = {address:?}\n")).collect();
    std::fs::write(lab.join("lab.toml"), shelf).unwrap();
    let run = |name: &str| {
        let out = folder.path().join(name);
        let run = claimlab(&["run", "--output"])
            .arg(&out)
            .arg(root().join("notebooks").join(name))
            .env("CLAIMLAB_HOME", &lab)
            .env("LAB_FULL", "1")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.success(), "{told}");
        println!("{name}: {} calls so far; {}", count.load(Ordering::SeqCst), told.lines().last().unwrap_or_default());
        std::fs::read_to_string(&out).unwrap()
    };
    let accuracy = run("05-rq1-accuracy.ipynb");
    for system in ["BM25 + llama-3.1-8b", "E5-Mistral + mixtral-8x7b", "E5-Mistral + gpt-4o", "BM25 + gpt-5"] {
        assert!(accuracy.contains(system), "{system}");
    }
    assert!(!accuracy.contains("RandomIndexing"), "no baseline stands in");
    let calls = count.load(Ordering::SeqCst);
    let analysis = run("07-error-analysis.ipynb");
    assert!(analysis.contains("E5-Mistral + gpt-5"));
    assert_eq!(count.load(Ordering::SeqCst), calls, "everything was in the lab already");
    assert!(run("06-rq2-checkers.ipynb").contains("gpt-4-0613"));
    assert!(count.load(Ordering::SeqCst) > calls);
}

#[test]
fn a_shelf_without_the_papers_models_is_named_at_once() {
    let _one = one_at_a_time();
    if !able("a_shelf_without_the_papers_models_is_named_at_once") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = claimlab(&["run", "--output"])
        .arg(folder.path().join("out.ipynb"))
        .arg(root().join("notebooks/06-rq2-checkers.ipynb"))
        .env("CLAIMLAB_HOME", folder.path().join("lab"))
        .env("LAB_FULL", "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success() && told.contains("gpt-4-0613") && told.contains("lab.toml"), "{told}");
}
