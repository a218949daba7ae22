//! Speed and memory of models, beside named rivals, in one run: `cargo bench --profile dev --bench models`.
//!
//! `tests/fetch-parts --rival` fetches the models and llama.cpp. With `CLAIMLAB_PYTHON` set to a Python that has
//! sentence-transformers, MiniLM is compared with that too. What is missing is said and left out. Everything computes on
//! as many threads as the machine has, ours and the rivals'; `RAYON_NUM_THREADS` sets another number. Ours and a rival are
//! measured in turns, since a machine is not equally fast all the time; medians count.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use candle_core::{Device, Tensor};
use claimlab::model::{LanguageModel, Local, Prompt};
use claimlab::prelude::{Endpoint, Lab};
use serde_json::{Value, json};

/// Tokens of the long prompt, and of a reply.
const READ: usize = 1500;
const WRITTEN: u32 = 64;
const ROUNDS: usize = 3;
/// Turns of ours and a rival.
const TURNS: usize = 5;
/// What both libraries of threads look for when they start.
const THREADS: [&str; 2] = ["RAYON_NUM_THREADS", "CANDLE_NUM_THREADS"];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    if THREADS.iter().any(|name| std::env::var_os(name).is_none()) {
        // Threads are counted once, when a process starts; so a process is started that has the number.
        let number = std::env::var(THREADS[0]).unwrap_or_else(|_| threads().to_string());
        let mut again = Command::new(std::env::current_exe().unwrap());
        let status = again.args(&arguments[1..]).envs(THREADS.map(|name| (name, &number))).status().unwrap();
        std::process::exit(status.code().unwrap_or(1));
    }
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/claimlab/parts"));
    let parts = std::env::var_os("CLAIMLAB_PARTS").map(PathBuf::from).or(home).unwrap_or_default();
    let smollm2 = parts.join("smollm2/SmolLM2-135M-Instruct.Q4_1.gguf");
    if arguments.iter().any(|argument| argument == "--memory") {
        return memory(&smollm2);
    }
    println!("claimlab {}: {}", env!("CARGO_PKG_VERSION"), claimlab::model::Device::Cpu.chosen());
    if smollm2.is_file() {
        decoder(&smollm2, &parts);
        let told = Command::new(std::env::current_exe().unwrap()).arg("--memory").output().unwrap();
        print!("{}", String::from_utf8_lossy(&told.stdout));
    } else {
        println!("SmolLM2: {} is not there, left out; run tests/fetch-parts", smollm2.display());
    }
    batch_of_eight();
    minilm(&parts.join("minilm"));
    journal();
    remote();
}

fn threads() -> usize {
    let asked = std::env::var(THREADS[0]).ok().and_then(|number| number.parse().ok());
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Ours beside a rival's, in the same unit; more is better.
fn beside(what: &str, ours: f64, rival: &str, theirs: f64, unit: &str, wanted: f64) {
    println!("{what}: {ours:.1} {unit}, {rival} {theirs:.1}; ratio {:.2} (wanted: {wanted} or more)", ours / theirs);
}

fn words(n: usize) -> String {
    let sentence = "The controller shall notify the authority of a breach within seventy two hours of learning of it. ";
    sentence.repeat(n / 17 + 1)
}

/// Tokens a second while reading a prompt of about `read` tokens, and while writing after it. Prompts begin differently,
/// so that none profits from another's beginning; the second and third call of a round do, and so measure writing alone.
fn speeds(model: &LanguageModel, read: usize, salt: usize) -> (f64, f64) {
    let ask = |round: usize, max_tokens: u32| {
        let prompt = Prompt::new(words(read)).system(format!("{} {round}", salt + round)).max_tokens(max_tokens);
        let reply = model.generate(&[prompt]).pop().unwrap().unwrap();
        let seconds = reply.latency_ms.unwrap() / 1000.0;
        (reply.prompt_tokens.unwrap() as f64, reply.completion_tokens.unwrap() as f64, seconds)
    };
    let rounds: Vec<(f64, f64)> = (0..ROUNDS)
        .map(|round| {
            let (tokens, _, reading) = ask(round, 1);
            let (_, _, one) = ask(round, 1);
            let (_, written, many) = ask(round, WRITTEN + 1);
            (tokens / reading, (written - 1.0) / (many - one).max(1e-9))
        })
        .collect();
    (median(rounds.iter().map(|round| round.0).collect()), median(rounds.iter().map(|round| round.1).collect()))
}

fn decoder(file: &Path, parts: &Path) {
    let model = Local::at(file).slots(1).language_model("SmolLM2").unwrap();
    let _ = model.ask("Warm up.");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/llama_cpp.mjs");
    let numbers = [READ, WRITTEN as usize, threads(), 1].map(|number| number.to_string());
    // Of each turn: reading, writing, writing after it; ours and theirs.
    let (mut ours, mut theirs) = ([const { Vec::new() }; 3], [const { Vec::new() }; 3]);
    let mut rival = "llama.cpp".to_owned();
    for turn in 0..TURNS {
        let (_, decode) = speeds(&model, 16, 100 + 1000 * turn);
        let (prefill, decode_after) = speeds(&model, READ, 200 + 1000 * turn);
        let mut command = Command::new("node");
        let output = command.arg(script).arg(file).args(&numbers).current_dir(parts.join("rival")).output();
        let told: Option<Value> = output.ok().and_then(|output| serde_json::from_slice(&output.stdout).ok());
        let told = told.unwrap_or_else(|| {
            println!("llama.cpp is not there, left out; run tests/fetch-parts --rival (needs node)");
            Value::Null
        });
        rival = told["rival"].as_str().map_or(rival, str::to_owned);
        for (all, one) in ours.iter_mut().zip([prefill, decode, decode_after]) {
            all.push(one);
        }
        for (all, name) in theirs.iter_mut().zip(["prefill", "decode", "decode_after"]) {
            all.push(told[name].as_f64().unwrap_or(f64::NAN));
        }
    }
    let what = [format!("reading {READ} tokens"), "writing".to_owned(), format!("writing after {READ} tokens")];
    for ((what, ours), theirs) in what.iter().zip(ours).zip(theirs) {
        let what = format!("SmolLM2-135M Q4_1, {what}");
        beside(&what, median(ours), &rival, median(theirs), "tokens/s", 0.7);
    }
}

/// Peak resident memory of a process that loads SmolLM2, reads the long prompt and answers.
fn memory(file: &Path) {
    let model = Local::at(file).slots(1).language_model("SmolLM2").unwrap();
    let _ = model.generate(&[Prompt::new(words(READ)).max_tokens(16)]);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).and_then(|line| line.split_whitespace().nth(1));
    let megabytes = peak.and_then(|kib| kib.parse::<f64>().ok()).map(|kib| kib * 1024.0 / 1e6);
    println!(
        "SmolLM2-135M Q4_1, peak memory of a process that reads {READ} tokens: {:.0} MB (wanted: below 400)",
        megabytes.unwrap_or(f64::NAN)
    );
}

/// The shape of SmolLM2-135M in f32 with random weights: eight replies at a time against one.
fn batch_of_eight() {
    let folder = tempfile::tempdir().unwrap();
    random_model(folder.path());
    let rate = |slots: usize| {
        let model = Local::at(folder.path()).slots(slots).language_model("random").unwrap();
        let ask = |round: usize| {
            let first = 10 + round * slots;
            let prompts: Vec<Prompt> =
                (0..slots).map(|n| Prompt::new(format!("w{} w7 w9", first + n)).max_tokens(32)).collect();
            let began = Instant::now();
            let replies = model.generate(&prompts);
            let written: u64 = replies.into_iter().map(|reply| reply.unwrap().completion_tokens.unwrap()).sum();
            written as f64 / began.elapsed().as_secs_f64()
        };
        let _ = ask(ROUNDS);
        median((0..ROUNDS).map(ask).collect())
    };
    let (one, eight) = (rate(1), rate(8));
    beside("135M in f32, random weights, writing 8 replies at a time", eight, "1 at a time", one, "tokens/s", 3.0);
}

fn random_model(folder: &Path) {
    let (hidden, inner, heads, shared, layers, vocabulary) = (576, 1536, 9, 3, 30, 49152);
    let mut tensors: HashMap<String, Tensor> = HashMap::new();
    let mut put = |name: &str, rows: usize, width: usize| {
        tensors.insert(name.to_owned(), Tensor::randn(0_f32, 0.04, (rows, width), &Device::Cpu).unwrap());
    };
    put("model.embed_tokens.weight", vocabulary, hidden);
    for layer in 0..layers {
        let width = hidden / heads * shared;
        for (name, rows, columns) in [
            ("self_attn.q_proj", hidden, hidden),
            ("self_attn.k_proj", width, hidden),
            ("self_attn.v_proj", width, hidden),
            ("self_attn.o_proj", hidden, hidden),
            ("mlp.gate_proj", inner, hidden),
            ("mlp.up_proj", inner, hidden),
            ("mlp.down_proj", hidden, inner),
        ] {
            put(&format!("model.layers.{layer}.{name}.weight"), rows, columns);
        }
    }
    let ones = Tensor::ones(hidden, candle_core::DType::F32, &Device::Cpu).unwrap();
    tensors.insert("model.norm.weight".into(), ones.clone());
    for layer in 0..layers {
        for name in ["input_layernorm", "post_attention_layernorm"] {
            tensors.insert(format!("model.layers.{layer}.{name}.weight"), ones.clone());
        }
    }
    candle_core::safetensors::save(&tensors, folder.join("model.safetensors")).unwrap();
    let config = json!({"model_type": "llama", "hidden_size": hidden, "intermediate_size": inner, "num_attention_heads": heads,
        "num_key_value_heads": shared, "num_hidden_layers": layers, "vocab_size": vocabulary, "rope_theta": 1e5,
        "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "tie_word_embeddings": true});
    let vocabulary: serde_json::Map<String, Value> = (0..vocabulary).map(|id| (format!("w{id}"), json!(id))).collect();
    let tokenizer = json!({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "w0"}});
    let settings = json!({"chat_template": "{% for m in messages %}{{ m.content }} {% endfor %}"});
    for (name, value) in [("config.json", config), ("tokenizer.json", tokenizer), ("tokenizer_config.json", settings)] {
        std::fs::write(folder.join(name), value.to_string()).unwrap();
    }
}

fn minilm(folder: &Path) {
    if !folder.is_dir() {
        return println!("MiniLM: {} is not there, left out; run tests/fetch-parts", folder.display());
    }
    let model = Local::at(folder).embedder().unwrap();
    let text = |n: usize| {
        let words =
            "whoever processes personal data states the purpose and the period for which they are kept".split(' ');
        words.cycle().skip(n % 15).take(114).chain([n.to_string().as_str()]).collect::<Vec<_>>().join(" ")
    };
    let texts: Vec<String> = (0..96).map(text).collect();
    let _ = model.embed(&texts[..8]);
    let python = std::env::var_os("CLAIMLAB_PYTHON").unwrap_or_else(|| "python3".into());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/sentence_transformers_rival.py");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut rival = "sentence-transformers".to_owned();
    for _ in 0..TURNS {
        let time = |_| {
            let began = Instant::now();
            model.embed(&texts).unwrap();
            texts.len() as f64 / began.elapsed().as_secs_f64()
        };
        ours.push(median((0..ROUNDS).map(time).collect()));
        let child = Command::new(&python)
            .arg(script)
            .arg(folder)
            .args([threads(), ROUNDS].map(|number| number.to_string()))
            .env("OMP_NUM_THREADS", threads().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let told = child.ok().and_then(|mut child| {
            // A script that cannot begin does not read; that is told below.
            let _ = serde_json::to_writer(child.stdin.take()?, &texts);
            serde_json::from_slice::<Value>(&child.wait_with_output().ok()?.stdout).ok()
        });
        let told = told.unwrap_or_else(|| {
            println!("sentence-transformers is not there, left out; set CLAIMLAB_PYTHON to a Python that has it");
            Value::Null
        });
        theirs.push(told["chunks_per_second"].as_f64().unwrap_or(f64::NAN));
        rival = told["rival"].as_str().map_or(rival, str::to_owned);
    }
    beside("MiniLM, chunks of 115 words", median(ours), &rival, median(theirs), "chunks/s", 1.0);
}

fn journal() {
    let folder = tempfile::tempdir().unwrap();
    let model =
        LanguageModel::scripted("m", |_| Ok("A reply of about the length that a checker's verdict has.".into()));
    let prompts: Vec<Prompt> = (0..5000).map(|n| Prompt::new(format!("{n} {}", words(300)))).collect();
    let time = |model: &LanguageModel| {
        let began = Instant::now();
        let _ = model.generate(&prompts);
        began.elapsed().as_secs_f64() * 1000.0 / prompts.len() as f64
    };
    let journaled = model.journaled(&Lab::at(folder.path()).unwrap()).unwrap();
    let (plain, first, again) = (time(&model), time(&journaled), time(&journaled));
    println!(
        "journal: {:.3} ms a call more when it is written, {:.3} when it is read again (wanted: below 1)",
        first - plain,
        again - plain
    );
}

/// A server on the loopback that takes 50 ms for each answer, on connections that stay open. Returns its address.
fn slow_server() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

fn serve(mut stream: TcpStream) {
    let body = json!({"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1}});
    let body = body.to_string();
    let answer =
        format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let _ = stream.set_nodelay(true);
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            match stream.read(&mut piece) {
                Ok(n) if n > 0 => bytes.extend_from_slice(&piece[..n]),
                _ => return,
            }
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..at]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
        let whole = at + 4 + length.unwrap_or(0);
        while bytes.len() < whole {
            match stream.read(&mut piece) {
                Ok(n) if n > 0 => bytes.extend_from_slice(&piece[..n]),
                _ => return,
            }
        }
        bytes.drain(..whole);
        std::thread::sleep(Duration::from_millis(50));
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// 10,000 calls of 50 ms, 64 at a time.
fn remote() {
    const CALLS: usize = 10_000;
    let address = slow_server();
    let model = Endpoint::at(&format!("http://{address}/v1")).unwrap().concurrency(64).language_model("m").unwrap();
    let prompts: Vec<Prompt> = (0..CALLS).map(|n| Prompt::new(format!("question {n}"))).collect();
    let folder = tempfile::tempdir().unwrap();
    let journaled = model.journaled(&Lab::at(folder.path()).unwrap()).unwrap();
    let ideal = CALLS as f64 / 64.0 * 0.05;
    for (name, model) in [("plain", &model), ("journaled", &journaled)] {
        let began = Instant::now();
        let answered = model.generate(&prompts).iter().filter(|reply| reply.is_ok()).count();
        let took = began.elapsed().as_secs_f64();
        println!(
            "{answered} of {CALLS} calls of 50 ms, 64 at a time, {name}: {took:.1} s, ideal {ideal:.1}; ratio {:.2} (wanted: 1.3 or less)",
            took / ideal
        );
    }
}
