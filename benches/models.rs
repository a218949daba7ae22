//! Speed and memory of models, beside named rivals, in one run: `cargo bench --profile dev --bench models`.
//!
//! `tests/fetch-parts --rival` fetches the models and llama.cpp. With `CLAIMLAB_PYTHON` set to a Python that has
//! sentence-transformers, MiniLM is compared with that too. What is missing is said and left out. Everything computes on
//! as many threads as the machine has, ours and the rivals'; `RAYON_NUM_THREADS` sets another number. A machine is not
//! equally fast all the time: ours and a rival are measured in turns, and the ratio is the median of the turns' ratios.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
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
const TURNS: usize = 11;
/// Between two turns: threads of the one that has had its turn may look out for work for a while.
const REST: Duration = Duration::from_millis(300);
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

/// Ours beside a rival's, in the same unit, turn by turn; more is better.
fn beside(what: &str, ours: Vec<f64>, rival: &str, theirs: Vec<f64>, unit: &str, wanted: f64) {
    let ratio = median(ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect());
    let (ours, theirs) = (median(ours), median(theirs));
    println!("{what}: {ours:.1} {unit}, {rival} {theirs:.1}; ratio {ratio:.2} (wanted: {wanted} or more)");
}

/// Another program that measures itself once for every line that it is sent.
struct Rival {
    name: String,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Rival {
    /// Starts it, with a first line; `None` if it cannot be had.
    fn start(command: &mut Command, first: &str) -> Option<Self> {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().ok()?;
        let (mut input, output) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        // A script that cannot begin does not read; then it has no name either.
        let _ = input.write_all(first.as_bytes());
        let mut rival = Self { name: String::new(), child, input, output };
        rival.name = rival.line()?["rival"].as_str()?.to_owned();
        Some(rival)
    }

    fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    /// One round; what was measured has these names.
    fn round<const N: usize>(&mut self, names: [&str; N]) -> [f64; N] {
        std::thread::sleep(REST);
        let _ = self.input.write_all(b"\n");
        let told = self.line().unwrap_or_default();
        std::thread::sleep(REST);
        names.map(|name| told[name].as_f64().unwrap_or(f64::NAN))
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn words(n: usize) -> String {
    let sentence = "The controller shall notify the authority of a breach within seventy two hours of learning of it. ";
    sentence.repeat(n / 17 + 1)
}

/// Tokens of a prompt of so many words, and tokens a second while reading it and while writing after it. Prompts begin
/// differently, so that none profits from another's beginning; the second and third call do, and so measure writing alone.
fn speeds(model: &LanguageModel, n: usize, salt: usize) -> (u64, f64, f64) {
    let ask = |max_tokens: u32| {
        let prompt = Prompt::new(words(n)).system(salt.to_string()).max_tokens(max_tokens);
        let reply = model.generate(&[prompt]).pop().unwrap().unwrap();
        (reply.prompt_tokens.unwrap(), reply.completion_tokens.unwrap() as f64, reply.latency_ms.unwrap() / 1000.0)
    };
    let (tokens, _, reading) = ask(1);
    let (_, _, one) = ask(1);
    let (_, written, many) = ask(WRITTEN + 1);
    (tokens, tokens as f64 / reading, (written - 1.0) / (many - one).max(1e-9))
}

fn decoder(file: &Path, parts: &Path) {
    const SHORT: usize = 16;
    let model = Local::at(file).slots(1).language_model("SmolLM2").unwrap();
    let (short, ..) = speeds(&model, SHORT, 0);
    let numbers = [short as usize, READ, WRITTEN as usize, threads()].map(|number| number.to_string());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/llama_cpp.mjs");
    let mut command = Command::new("node");
    let mut rival = Rival::start(command.arg(script).arg(file).args(&numbers).current_dir(parts.join("rival")), "");
    if rival.is_none() {
        println!("llama.cpp is not there, left out; run tests/fetch-parts --rival (needs node)");
    }
    let what = [format!("reading {READ} tokens"), format!("writing after {short}"), format!("writing after {READ}")];
    let (mut ours, mut theirs) = ([const { Vec::new() }; 3], [const { Vec::new() }; 3]);
    for turn in 1..=TURNS {
        let (_, _, writing) = speeds(&model, SHORT, 10 * turn);
        let (_, reading, writing_after) = speeds(&model, READ, 10 * turn + 1);
        let names = ["reading", "writing", "writing_after"];
        let other = rival.as_mut().map_or([f64::NAN; 3], |rival| rival.round(names));
        for (place, (one, other)) in [reading, writing, writing_after].into_iter().zip(other).enumerate() {
            ours[place].push(one);
            theirs[place].push(other);
        }
    }
    let name = rival.as_ref().map_or("llama.cpp", |rival| &rival.name);
    for ((what, ours), theirs) in what.iter().zip(ours).zip(theirs) {
        beside(&format!("SmolLM2-135M Q4_1, {what}"), ours, name, theirs, "tokens/s", 0.7);
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
    let models = [1, 8].map(|slots| Local::at(folder.path()).slots(slots).language_model("random").unwrap());
    let rate = |slots: usize, round: usize| {
        let first = 10 + round * slots;
        let prompts: Vec<Prompt> =
            (0..slots).map(|n| Prompt::new(format!("w{} w7 w9", first + n)).max_tokens(32)).collect();
        let began = Instant::now();
        let replies = models[usize::from(slots > 1)].generate(&prompts);
        let written: u64 = replies.into_iter().map(|reply| reply.unwrap().completion_tokens.unwrap()).sum();
        written as f64 / began.elapsed().as_secs_f64()
    };
    let _ = (rate(1, ROUNDS), rate(8, ROUNDS));
    let (one, eight) = (0..ROUNDS).map(|round| (rate(1, round), rate(8, round))).unzip();
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
    let mut command = Command::new(&python);
    command.arg(script).arg(folder).arg(threads().to_string()).env("OMP_NUM_THREADS", threads().to_string());
    let mut rival = Rival::start(&mut command, &format!("{}\n", json!(texts)));
    if rival.is_none() {
        println!("sentence-transformers is not there, left out; set CLAIMLAB_PYTHON to a Python that has it");
    }
    let (ours, theirs) = (0..TURNS)
        .map(|_| {
            let began = Instant::now();
            model.embed(&texts).unwrap();
            let ours = texts.len() as f64 / began.elapsed().as_secs_f64();
            (ours, rival.as_mut().map_or(f64::NAN, |rival| rival.round(["embedding"])[0]))
        })
        .unzip();
    let name = rival.as_ref().map_or("sentence-transformers", |rival| &rival.name);
    beside("MiniLM, chunks of 115 words", ours, name, theirs, "chunks/s", 1.0);
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
