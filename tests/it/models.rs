//! Real small models: all-MiniLM-L6-v2 and SmolLM2-135M-Instruct. `tests/fetch-parts` fetches them.

use std::path::PathBuf;
use std::sync::Arc;

use claimlab::ErrorKind;
use claimlab::model::{Finish, Local, Prompt};
use claimlab::prelude::*;
use serde_json::Value;

use crate::skip;

/// A fetched part, or a message that its test was skipped.
fn part(name: &str, test: &str) -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/claimlab/parts"));
    let folder = std::env::var_os("CLAIMLAB_PARTS").map(PathBuf::from).or_else(home)?;
    let found = folder.join(name);
    if found.exists() {
        return Some(found);
    }
    skip(test, &format!("{} is not there; run tests/fetch-parts", found.display()), false);
    None
}

fn golden(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[test]
fn minilm_agrees_with_sentence_transformers() {
    let Some(folder) = part("minilm", "minilm_agrees_with_sentence_transformers") else { return };
    let golden = golden("parity/minilm_embeddings.json");
    let texts: Vec<String> =
        golden["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect();
    let model = Local::at(&folder).embedder().unwrap();
    let ours = model.embed(&texts).unwrap();
    for (place, (ours, theirs)) in ours.iter().zip(golden["embeddings"].as_array().unwrap()).enumerate() {
        let theirs: Vec<f32> = theirs.as_array().unwrap().iter().map(|value| value.as_f64().unwrap() as f32).collect();
        let difference = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        // What sentence-transformers cuts at 256 tokens is read on here, in windows.
        if golden["input_ids"][place].as_array().unwrap().len() >= 256 {
            assert!(cosine(ours, &theirs) > 0.9, "{}", texts[place]);
            continue;
        }
        assert!(difference < 1e-4 && cosine(ours, &theirs) > 0.9999, "{}: {difference}", texts[place]);
    }
    // Alone or in a batch, and longer than the model reads at once.
    let alone = model.embed(&texts[1..2]).unwrap();
    assert!(cosine(&alone[0], &ours[1]) > 0.99999);
    let long = texts[1].repeat(60);
    let windowed = model.embed(&[long]).unwrap();
    assert!(cosine(&windowed[0], &ours[1]) > 0.8 && (cosine(&windowed[0], &windowed[0]) - 1.0).abs() < 1e-4);
    let spec = model.spec();
    assert!(spec["embedder"]["weights_sha256"][0].as_str().unwrap().len() == 64 && spec["pooling"] == "mean");
}

#[test]
fn smollm2_reads_and_writes_as_llama_cpp_does() {
    let test = "smollm2_reads_and_writes_as_llama_cpp_does";
    let Some(folder) = part("smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", test) else { return };
    let golden = golden("smollm2_llama_cpp.json");
    let model = Local::at(&folder).language_model("SmolLM2").unwrap();
    let question = golden["conversation"].as_str().unwrap();
    let prompt = Prompt::new(question).max_tokens(12);
    assert_eq!(model.prompt_tokens(&prompt), Some(golden["prompt_ids"].as_array().unwrap().len()));
    assert_eq!(model.context_length(), Some(8192));
    let reply = model.generate(std::slice::from_ref(&prompt)).pop().unwrap().unwrap();
    println!("ours: {:?}; llama.cpp: {}", reply.text, golden["greedy_text"]);
    let (yes, no) = ("The capital of France is Paris", "The capital of France is Berlin");
    let told = model.log_probabilities(&prompt, &[yes, no]).unwrap();
    assert!(told[0] > told[1], "{told:?}");
}

#[test]
fn smollm2_stops_where_it_is_told_and_repeats_itself_exactly() {
    let test = "smollm2_stops_where_it_is_told_and_repeats_itself_exactly";
    let Some(file) = part("smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", test) else { return };
    let model = Local::at(&file).slots(3).language_model("SmolLM2").unwrap();
    let ask = |prompts: &[Prompt]| -> Vec<claimlab::model::Reply> {
        model.generate(prompts).into_iter().map(Result::unwrap).collect()
    };
    let prompts: Vec<Prompt> =
        ["Name three colours.", "Name two fruits.", "What is a contract?", "Count from 1 to 20."]
            .iter()
            .map(|question| Prompt::new(*question).max_tokens(24))
            .collect();
    let first = ask(&prompts);
    assert!(first.iter().all(|reply| reply.completion_tokens <= Some(24) && reply.prompt_tokens > Some(10)));
    assert!(first.iter().any(|reply| reply.finish == Finish::Length));
    let again = ask(&prompts);
    // Prefixes are reused the second time, and neighbours may differ: the texts do not.
    assert_eq!(
        first.iter().map(|reply| &reply.text).collect::<Vec<_>>(),
        again.iter().map(|reply| &reply.text).collect::<Vec<_>>()
    );
    let mut stopped = prompts[3].clone();
    stopped.stop = vec![first[3].text.chars().skip(6).take(4).collect()];
    let cut = ask(&[stopped.clone()]).remove(0);
    assert!(cut.finish == Finish::Stop && first[3].text.starts_with(&cut.text) && !cut.text.contains(&stopped.stop[0]));
    let mut sampled = prompts[2].clone();
    sampled.temperature = 1.0;
    let (a, b) = (ask(&[sampled.clone()]).remove(0), ask(&[sampled.clone()]).remove(0));
    let c = ask(&[sampled.attempt(2)]).remove(0);
    assert_eq!(a.text, b.text);
    assert_ne!(a.text, c.text);
    let long = Prompt::new("word ".repeat(9000));
    let error = model.generate(&[long]).pop().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[test]
fn smollm2_answers_the_samples_questions_through_the_journal() {
    let test = "smollm2_answers_the_samples_questions_through_the_journal";
    let Some(file) = part("smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", test) else { return };
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    let sample = lab.sample().unwrap();
    let chunks = sample.chunks(&Chunking::tokens(60, 0).unwrap()).unwrap();
    let questions = QaPairs::new(sample.questions().head(3)).unwrap();
    let found = Retriever::bm25(&chunks).unwrap().retrieve(&questions, 2).unwrap();
    let model = Local::at(&file).language_model("SmolLM2").unwrap().journaled(&lab).unwrap();
    let template = folder.path().join("prompt.txt");
    std::fs::write(&template, "{context}\n\n{question}").unwrap();
    let generator = Generator::model_with_template(&model, &template, 24).unwrap();
    let run = generator.answer(&questions, &found).unwrap();
    assert_eq!((run.height(), lab.journal().unwrap().len()), (3, 3));
    let tokens = claimlab::table::integers(run.frame(), "prompt_tokens").unwrap();
    assert!(tokens.iter().flatten().all(|tokens| *tokens > 50));
    let began = std::time::Instant::now();
    let again = generator.answer(&questions, &found).unwrap();
    assert!(run.frame().equals_missing(again.frame()), "the second run comes from the journal, latencies included");
    assert!(began.elapsed().as_secs_f64() < 1.0);
}

#[test]
fn minilm_ranks_passages_for_questions() {
    let Some(folder) = part("minilm", "minilm_ranks_passages_for_questions") else { return };
    let model: Arc<dyn claimlab::model::Embed> = Local::at(&folder).embedder().unwrap();
    let passages = [
        "The buyer pays the price on delivery.",
        "A breach of personal data is notified within 72 hours.",
        "Cats sleep.",
    ];
    let vectors = model.embed(&passages.map(str::to_owned)).unwrap();
    let question = model.embed_questions(&["When must a data breach be reported?".to_owned()]).unwrap();
    let scores: Vec<f32> = vectors.iter().map(|vector| cosine(vector, &question[0])).collect();
    assert!(scores[1] > scores[0] && scores[1] > scores[2], "{scores:?}");
}
