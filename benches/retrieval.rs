//! Retrieval measured against named rivals, in one run on one thread, and its parity with Lucene.
//!
//! `cargo bench --profile dev --bench retrieval` prints everything. The texts of the acts are read in place from `../shared`; PyPI
//! `bm25s` (with `numba`) runs in the Python that `CLAIMLAB_PYTHON` names (default `python3`), and Lucene where
//! `CLAIMLAB_LUCENE` names a class path with `lucene-core` and `lucene-analysis-common` (PyPI `pyserini`'s jar holds both)
//! and `java` is a JDK. `-- 1000000` measures at a million chunks too.

#[path = "../tests/it/lucene.rs"]
mod lucene;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use claimlab::model::Embed;
use claimlab::prelude::*;
use claimlab::retrieval::{Dense, Precision, Question};
use claimlab::table::FrameBuilder;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Words of a synthetic chunk.
const WORDS: usize = 115;
const SEED: u64 = 20_310_617;
/// Hits a question.
const K: usize = 10;
/// Runs of every timing; the best counts, since everything else on the machine only slows one down.
const RUNS: usize = 3;

fn main() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/vectors/lucene_bm25");
    if !folder.exists() {
        println!("SKIPPED: the acts and Lucene's rankings are not beside the checkout ({})", folder.display());
        return;
    }
    // One thread for everything, in this process and in the rivals.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
    println!("## Parity with Lucene 9.9.1\n");
    lucene::parity(&folder);
    let mut sizes = vec![200_000];
    sizes.extend(std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok()));
    for size in sizes {
        lexical(&folder, size);
    }
    dense();
}

fn texts(folder: &Path, name: &str) -> Vec<String> {
    let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap();
    value.as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap().to_owned()).collect()
}

/// Chunks of sentences of both acts, drawn at random.
fn synthetic(folder: &Path, size: usize) -> Vec<String> {
    let acts = [texts(folder, "docs_en.json"), texts(folder, "docs_fr.json")].concat();
    let sentences: Vec<&str> = acts.iter().flat_map(|text| text.split_inclusive(". ")).map(str::trim).collect();
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    (0..size)
        .map(|_| {
            let (mut chunk, mut words) = (String::new(), 0);
            while words < WORDS - 24 {
                let sentence = sentences[random.random_range(0..sentences.len())];
                words += sentence.split_whitespace().count();
                chunk.push_str(sentence);
                chunk.push(' ');
            }
            chunk
        })
        .collect()
}

fn best(mut run: impl FnMut()) -> f64 {
    (0..RUNS)
        .map(|_| {
            let began = Instant::now();
            run();
            began.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

fn chunks(texts: &[String]) -> Chunks {
    let n = texts.len();
    let ids: Vec<String> = (0..n).map(|at| format!("{at:07}")).collect();
    Chunks::new(
        FrameBuilder::new()
            .text("chunk_id", &ids)
            .text("document_id", &vec!["synthetic"; n])
            .integer("ordinal", &vec![0; n])
            .integer("start", &vec![0; n])
            .integer("end", &vec![0; n])
            .integer("n_tokens", &vec![0; n])
            .text("text", texts)
            .build()
            .unwrap(),
    )
    .unwrap()
}

fn lexical(folder: &Path, size: usize) {
    let texts = synthetic(folder, size);
    let words: usize = texts.iter().map(|text| text.split_whitespace().count()).sum();
    println!("\n## BM25, {size} chunks of {:.0} words, top {K}, one thread\n", words as f64 / size as f64);
    let questions = [self::texts(folder, "q_en.json"), self::texts(folder, "q_fr.json")].concat();
    let asked: Vec<Question> = questions.iter().map(Question::new).collect();
    println!("| engine | index, s | questions/s | index, MB |\n|---|---|---|---|");
    let table = chunks(&texts);
    let mut built = None;
    let index = best(|| built = Some(Retriever::bm25(&table).unwrap()));
    let retriever = built.unwrap();
    drop(table);
    let search = best(|| drop(retriever.search(&asked, K).unwrap()));
    let bytes = retriever.index_bytes().unwrap_or_default() as f64 / 1e6;
    println!(
        "| ClaimLab (tantivy, opensearch_standard) | {index:.1} | {:.0} | {bytes:.0} |",
        asked.len() as f64 / search
    );
    drop(retriever);
    let data = tempfile::tempdir().unwrap();
    let (corpus, asked) = (data.path().join("corpus.jsonl"), data.path().join("questions.jsonl"));
    for (file, lines) in [(&corpus, &texts), (&asked, &questions)] {
        let json: Vec<String> = lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
        std::fs::write(file, json.join("\n")).unwrap();
    }
    drop(texts);
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches");
    let python = std::env::var("CLAIMLAB_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    rival("bm25s", Command::new(python).arg(here.join("bm25s_rival.py")).arg(&corpus).arg(&asked));
    match std::env::var("CLAIMLAB_LUCENE") {
        Ok(jar) => {
            let source = here.join("LuceneRival.java");
            rival("Lucene", Command::new("java").arg("-cp").arg(jar).arg(source).arg(&corpus).arg(&asked));
        }
        Err(_) => println!("SKIPPED Lucene: CLAIMLAB_LUCENE is not set"),
    }
}

/// Lets a rival print its own rows.
fn rival(name: &str, command: &mut Command) {
    for variable in ["OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
        command.env(variable, "1");
    }
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => println!("SKIPPED {name}: it ended with {status}"),
        Err(error) => println!("SKIPPED {name}: {error}"),
    }
}

/// Gives every text a vector of its own at no cost.
#[derive(Debug)]
struct Noise(usize);

impl Embed for Noise {
    fn embed(&self, texts: &[String]) -> claimlab::Result<Vec<Vec<f32>>> {
        Ok(texts
            .iter()
            .map(|text| {
                let mut state = text.bytes().fold(1_u32, |sum, byte| sum.wrapping_mul(16_777_619) ^ u32::from(byte));
                (0..self.0)
                    .map(|_| {
                        state ^= state << 13;
                        state ^= state >> 17;
                        state ^= state << 5;
                        state as f32 / u32::MAX as f32 - 0.5
                    })
                    .collect()
            })
            .collect())
    }

    fn spec(&self) -> serde_json::Value {
        serde_json::json!("noise")
    }
}

/// Exact dense search against reading as many bytes.
fn dense() {
    const ROWS: usize = 250_000;
    const WIDTH: usize = 1024;
    println!("\n## Exact dense search, {ROWS} vectors of {WIDTH} numbers, top {K}, one thread\n");
    println!("| precision | ms a question | GB/s | reading alone, GB/s | ratio |\n|---|---|---|---|---|");
    let numbers: Vec<u64> = (0..ROWS as u64 * WIDTH as u64 / 2).collect();
    let read = best(|| {
        std::hint::black_box(numbers.iter().fold(0_u64, |sum, number| sum.wrapping_add(*number)));
    });
    let bandwidth = (numbers.len() * 8) as f64 / read / 1e9;
    drop(numbers);
    let table = chunks(&(0..ROWS).map(|at| at.to_string()).collect::<Vec<_>>());
    for (name, precision) in [("f32", Precision::F32), ("f16", Precision::F16)] {
        let model: Arc<dyn Embed> = Arc::new(Noise(WIDTH));
        let retriever = Retriever::dense_with(&table, &Dense::new("noise", &model).precision(precision)).unwrap();
        let search = best(|| drop(retriever.search(&[Question::new("one question")], K).unwrap()));
        let speed = retriever.index_bytes().unwrap_or_default() as f64 / search / 1e9;
        let ratio = bandwidth / speed;
        println!("| {name} | {:.1} | {speed:.1} | {bandwidth:.1} | {ratio:.2} |", search * 1e3);
    }
}
