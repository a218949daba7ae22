//! What every retriever promises, whatever is behind it; and retrievers given bad input.

use std::collections::HashSet;
use std::sync::Arc;

use claimlab::model::{Classifier, Classify, Embed, Generate, LanguageModel, Pair, Probabilities, Prompt, Reply};
use claimlab::prelude::*;
use claimlab::retrieval::{Analyzer, Bm25, Dense, Found, Precision, Question};
use claimlab::table::{FrameBuilder, floats, texts};
use serde_json::{Value, json};

/// An act of 60 chunks in English and one of 40 in French, with repeated texts, so that scores tie.
pub fn chunks() -> Chunks {
    let subjects = ["controller", "processor", "tenant", "seller", "employer"];
    let duties = ["shall notify the breach", "must keep records", "may terminate the contract", "is liable for damage"];
    let sujets = ["l'employeur", "le bailleur", "l’acheteur", "le vendeur"];
    let devoirs = ["doit notifier la rupture", "ne peut pas résilier le bail", "répond du dommage (art. 1382)"];
    let mut rows: Vec<(String, &str, &str, String)> = Vec::new();
    for number in 0..60 {
        let text = format!("The {} {}.", subjects[number % 5], duties[number % 4]);
        rows.push((format!("act#{number:03}"), "act", "en", text));
    }
    for number in 0..40 {
        let text = format!("{} {}.", sujets[number % 4], devoirs[number % 3]);
        rows.push((format!("code#{number:03}"), "code", "fr", text));
    }
    let n = rows.len();
    Chunks::new(
        FrameBuilder::new()
            .text("chunk_id", &rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>())
            .text("document_id", &rows.iter().map(|row| row.1).collect::<Vec<_>>())
            .integer("ordinal", &(0..n as i64).collect::<Vec<_>>())
            .integer("start", &vec![0; n])
            .integer("end", &vec![1; n])
            .integer("n_tokens", &vec![6; n])
            .text("text", &rows.iter().map(|row| row.3.as_str()).collect::<Vec<_>>())
            .text("source", &rows.iter().map(|row| row.1).collect::<Vec<_>>())
            .text("language", &rows.iter().map(|row| row.2).collect::<Vec<_>>())
            .build()
            .unwrap(),
    )
    .unwrap()
}

pub fn ask(text: &str, source: &str) -> Question {
    Question { text: text.to_owned(), source: Some(source.to_owned()), language: None }
}

fn ids(found: &[Found]) -> Vec<&str> {
    found.iter().map(|one| one.passage.chunk_id.as_str()).collect()
}

/// The kit: what `Retrieve` promises. `ties` says that equal scores stand in the order of chunk ids, which rerankers
/// replace by the order of their first stage.
pub fn keeps_its_promises(retriever: &Retriever, ties: bool) {
    let name = retriever.name();
    let questions = [
        ask("Must the controller notify a breach?", "act"),
        ask("Le bailleur peut-il résilier le bail ?", "code"),
        ask("", "act"),
        ask("... — !? «»", "code"),
        ask("xylophone zeppelin", "act"),
        ask("+(a OR \"b\") -c: notify^2 text:* [1 TO 3] ~", "act"),
    ];
    let all = retriever.search(&questions, 10).unwrap();
    assert_eq!(all.len(), questions.len(), "{name}: one list a question");
    assert!(!all[0].is_empty() && !all[1].is_empty(), "{name} finds something");
    assert!(all[2].is_empty() && all[3].is_empty(), "{name}: nothing asked, nothing found");
    for (question, found) in questions.iter().zip(&all) {
        assert!(found.len() <= 10, "{name}: at most k");
        assert_eq!(ids(found).iter().collect::<HashSet<_>>().len(), found.len(), "{name}: each chunk once");
        for pair in found.windows(2) {
            let (better, worse) = (&pair[0], &pair[1]);
            assert!(better.score.is_finite() && better.score >= worse.score, "{name}: best first, finite");
            let ordered = better.score > worse.score || better.passage.chunk_id < worse.passage.chunk_id;
            assert!(ordered || !ties, "{name}: equal scores by chunk id: {:?}", ids(found));
        }
        let source = question.source.as_deref().unwrap();
        assert!(found.iter().all(|one| one.passage.source == source), "{name}: from the act that was asked");
        assert!(found.iter().all(|one| !one.passage.text.is_empty()), "{name}: with its text");
        // Alone or among others, asked for few or many: the same.
        let alone = retriever.search(std::slice::from_ref(question), 10).unwrap();
        assert_eq!(ids(&alone[0]), ids(found), "{name}: a question's answer depends on no other question");
        let few = retriever.search(std::slice::from_ref(question), 3).unwrap();
        assert_eq!(ids(&few[0]), ids(found)[..found.len().min(3)], "{name}: fewer are the first of more");
    }
    assert!(retriever.search(&questions, 0).unwrap().iter().all(Vec::is_empty), "{name}: k = 0");
    assert!(retriever.search(&[], 5).unwrap().is_empty(), "{name}: no question");
    let many = retriever.search(&questions[..2], 5000).unwrap();
    assert!(many[0].len() <= 60 && many[1].len() <= 40, "{name}: no more than there are");
    let long = "controller notify breach record ".repeat(12_500);
    assert!(!retriever.search(&[ask(&long, "act")], 5).unwrap()[0].is_empty(), "{name}: 50,000 words");
    assert!(retriever.spec().is_object() && retriever.spec() == retriever.spec(), "{name}: a stable spec");
    assert!(retriever.explain().to_string().contains(name), "{name}: the recipe has its name");
    let french = retriever.in_language("fr").search(&questions[..2], 5).unwrap();
    assert!(french[0].is_empty() && !french[1].is_empty(), "{name}: only passages of the language");
    let elsewhere = retriever.from_source("act").search(&[ask("The controller", "code")], 5).unwrap();
    assert!(elsewhere[0].iter().all(|one| one.passage.source == "act"), "{name}: only that act");
    let error = retriever.search(&[ask("?", "nowhere")], 5).unwrap_err().to_string();
    assert!(error.contains("nowhere") && error.contains("act") && error.contains("help:"), "{error}");
}

/// Vectors of word counts: no learning, no candle, all zeros for a text without words.
#[derive(Debug)]
pub struct Counts;

impl Embed for Counts {
    fn embed(&self, texts: &[String]) -> claimlab::Result<Vec<Vec<f32>>> {
        Ok(texts
            .iter()
            .map(|text| {
                let mut vector = vec![0.0_f32; 64];
                for word in text.to_lowercase().split(|letter: char| !letter.is_alphanumeric()).filter(|w| w.len() > 1)
                {
                    let place = word.bytes().fold(7_usize, |sum, byte| (sum * 31 + byte as usize) % 64);
                    vector[place] += 1.0;
                }
                let norm = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
                vector.iter_mut().for_each(|number| *number /= norm.max(1e-9));
                vector
            })
            .collect())
    }

    fn spec(&self) -> Value {
        json!("counts of words")
    }
}

/// Says that what is shorter follows from everything.
#[derive(Debug)]
struct Shorter;

impl Classify for Shorter {
    fn classify(&self, pairs: &[Pair]) -> Vec<claimlab::Result<Probabilities>> {
        pairs
            .iter()
            .map(|pair| {
                let entailment = 1.0 / pair.premise.len() as f64;
                Ok(Probabilities { entailment, neutral: 1.0 - entailment, contradiction: 0.0 })
            })
            .collect()
    }

    fn spec(&self) -> Value {
        json!("shorter")
    }
}

/// Grades passages about records 3 and others 1, and answers off the menu for those about damage.
#[derive(Debug)]
struct Grader;

impl Generate for Grader {
    fn generate(&self, prompts: &[Prompt]) -> Vec<claimlab::Result<Reply>> {
        prompts
            .iter()
            .map(|prompt| {
                let asked = &prompt.messages.last().unwrap().content;
                let passage = asked.split("Passage:").nth(1).unwrap();
                let text = match passage {
                    passage if passage.contains("records") => "{\"relevance\": 3}",
                    passage if passage.contains("damage") => "It is quite relevant!",
                    _ => "{\"relevance\": 1}",
                };
                Ok(Reply::new(text))
            })
            .collect()
    }

    fn spec(&self) -> Value {
        json!("grader")
    }
}

fn counts() -> Arc<dyn Embed> {
    Arc::new(Counts)
}

#[test]
fn lexical_retrievers_keep_their_promises() {
    let chunks = chunks();
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    keeps_its_promises(&Retriever::bm25(&chunks).unwrap(), true);
    for settings in
        [Bm25::legal(), Bm25::opensearch().exact(), Bm25::opensearch().k1(0.9).b(0.4), Bm25::legal().k1(0.0)]
    {
        keeps_its_promises(&Retriever::bm25_with(&chunks, &settings).unwrap(), true);
    }
    for _ in 0..2 {
        keeps_its_promises(&Retriever::bm25_on_disk(&lab, &chunks).unwrap(), true);
    }
}

#[test]
fn dense_retrievers_keep_their_promises() {
    let chunks = chunks();
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    keeps_its_promises(&Retriever::dense("Counts", &chunks, &counts()).unwrap(), true);
    keeps_its_promises(&Retriever::random_indexing(&chunks).unwrap(), true);
    let half = Dense::new("Counts", &counts()).precision(Precision::F16).without_instruction();
    for _ in 0..2 {
        keeps_its_promises(&Retriever::dense_on_disk(&lab, &chunks, &half).unwrap(), true);
    }
}

#[test]
fn combinations_keep_their_promises() {
    let chunks = chunks();
    let bm25 = Retriever::bm25(&chunks).unwrap();
    let dense = Retriever::dense("Counts", &chunks, &counts()).unwrap();
    keeps_its_promises(&Retriever::rrf(&[bm25.clone(), dense.clone()]).unwrap(), true);
    keeps_its_promises(&Retriever::weighted(&[(bm25.clone(), 3.0), (dense, 1.0)]).unwrap(), true);
    keeps_its_promises(&bm25.top(30), true);
    let classifier = Classifier::new("Shorter", Arc::new(Shorter));
    keeps_its_promises(&bm25.rerank(&classifier, 20).unwrap(), false);
    let model = LanguageModel::new("Grader", Arc::new(Grader));
    keeps_its_promises(&bm25.rerank_by_model(&model, 20).unwrap(), false);
}

#[test]
fn a_reranker_moves_what_it_likes_up_and_says_what_it_could_not_judge() {
    let bm25 = Retriever::bm25(&chunks()).unwrap();
    let model = LanguageModel::new("Grader", Arc::new(Grader));
    let graded = bm25.rerank_by_model(&model, 60).unwrap();
    let found = &graded.search(&[ask("Is the controller liable for damage?", "act")], 60).unwrap()[0];
    assert!(found[0].passage.text.contains("records") && found[0].score == 3.0);
    let last = found.last().unwrap();
    assert!(last.passage.text.contains("damage") && last.score < 0.0);
    assert!(last.note.as_deref().unwrap().contains("It is quite relevant!"));
    // The first stage's best of them stands first among them.
    let first_stage = &bm25.search(&[ask("Is the controller liable for damage?", "act")], 60).unwrap()[0];
    let best = first_stage.iter().find(|one| one.passage.text.contains("damage")).unwrap();
    let noted = found.iter().find(|one| one.note.is_some()).unwrap();
    assert_eq!(best.passage.chunk_id, noted.passage.chunk_id);
    let pairs = QaPairs::new(
        FrameBuilder::new()
            .text("question_id", &["q"])
            .text("question", &["Is the controller liable for damage?"])
            .text("reference_answer", &[""])
            .text("source", &["act"])
            .build()
            .unwrap(),
    )
    .unwrap();
    let run = graded.retrieve(&pairs, 60).unwrap();
    assert!(texts(run.frame(), "note").unwrap().iter().any(Option::is_some));
    assert!(bm25.rerank_by_model(&model, 0).is_err());
}

#[test]
fn fused_scores_are_those_of_the_formulas() {
    let chunks = chunks();
    let (bm25, dense) = (Retriever::bm25(&chunks).unwrap(), Retriever::dense("Counts", &chunks, &counts()).unwrap());
    let question = [ask("Must the tenant keep records of damage?", "act")];
    let lists = [&bm25, &dense].map(|part| part.search(&question, 100).unwrap().remove(0));
    let rank = |list: &[Found], id: &str| list.iter().position(|one| one.passage.chunk_id == id);
    for one in &Retriever::rrf(&[bm25.clone(), dense.clone()]).unwrap().search(&question, 20).unwrap()[0] {
        let worth =
            |list: &Vec<Found>| rank(list, &one.passage.chunk_id).map_or(0.0, |place| 1.0 / (61.0 + place as f64));
        assert!((one.score - lists.iter().map(worth).sum::<f64>()).abs() < 1e-12);
    }
    for one in &Retriever::weighted(&[(bm25, 3.0), (dense, 1.0)]).unwrap().search(&question, 20).unwrap()[0] {
        let worth = |list: &Vec<Found>| {
            let (best, worst) = (list[0].score, list.last().unwrap().score);
            rank(list, &one.passage.chunk_id).map_or(0.0, |place| (list[place].score - worst) / (best - worst))
        };
        assert!((one.score - 0.75 * worth(&lists[0]) - 0.25 * worth(&lists[1])).abs() < 1e-9);
    }
}

#[test]
fn the_exact_scorer_agrees_with_tantivy() {
    let sample_folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(sample_folder.path()).unwrap();
    let sample = lab.sample().unwrap();
    let chunks = sample.chunks(&Chunking::tokens(120, 20).unwrap()).unwrap();
    for settings in [Bm25::opensearch(), Bm25::legal(), Bm25::with(Analyzer::LegalFr)] {
        let fast = Retriever::bm25_with(&chunks, &settings).unwrap().retrieve(&sample.questions(), 10).unwrap();
        let exact =
            Retriever::bm25_with(&chunks, &settings.exact()).unwrap().retrieve(&sample.questions(), 10).unwrap();
        let (fast, exact) = (fast.frame(), exact.frame());
        assert_eq!(texts(fast, "chunk_id").unwrap(), texts(exact, "chunk_id").unwrap(), "{}", settings.name());
        for (fast, exact) in floats(fast, "score").unwrap().iter().zip(floats(exact, "score").unwrap()) {
            let (fast, exact) = (fast.unwrap(), exact.unwrap());
            assert!((fast - exact).abs() <= 1e-4 * exact, "{}: {fast} and {exact}", settings.name());
        }
    }
}

#[test]
fn a_score_is_explained_term_by_term_by_both_scorers() {
    let chunks = chunks();
    let question = "Must the controller, the processor and the controller notify xylophones?";
    let mut tables = Vec::new();
    for settings in [Bm25::opensearch(), Bm25::opensearch().exact()] {
        let retriever = Retriever::bm25_with(&chunks, &settings).unwrap();
        let found = &retriever.search(&[ask(question, "act")], 1).unwrap()[0][0];
        let table = retriever.explain_score(question, &found.passage.chunk_id).unwrap();
        let scores = floats(&table, "score").unwrap();
        let sum = scores.last().unwrap().unwrap();
        assert!((sum - found.score).abs() < 1e-5, "{sum} and {}", found.score);
        let terms: Vec<String> = texts(&table, "term").unwrap().into_iter().flatten().collect();
        assert_eq!(terms, ["must", "the", "controller", "processor", "and", "notify", "xylophones", "(sum)"]);
        assert!(retriever.explain_score(question, "act#999").unwrap_err().to_string().contains("act#999"));
        tables.push(scores);
    }
    for (one, other) in tables[0].iter().zip(&tables[1]) {
        assert!((one.unwrap() - other.unwrap()).abs() < 1e-5);
    }
    let dense = Retriever::dense("Counts", &chunks, &counts()).unwrap();
    assert!(dense.explain_score(question, "act#000").unwrap_err().to_string().contains("help:"));
}

#[test]
fn negations_and_citations_find_their_passages_in_french() {
    let legal = Retriever::bm25_with(&chunks(), &Bm25::legal()).unwrap();
    let found = &legal.search(&[ask("Que dit l'article 1382 ?", "code")], 3).unwrap()[0];
    assert!(found[0].passage.text.contains("art. 1382"));
    let standard = Retriever::bm25(&chunks()).unwrap();
    // What is the same word to a reader is another to OpenSearch's default analyzer.
    assert!(standard.search(&[ask("employeur", "code")], 3).unwrap()[0].is_empty());
    assert!(legal.search(&[ask("employeur", "code")], 3).unwrap()[0][0].passage.text.contains("employeur"));
}

#[test]
fn what_cannot_be_built_is_said() {
    let empty = Chunks::new(chunks().into_frame().head(Some(0))).unwrap();
    for error in [
        Retriever::bm25(&empty).unwrap_err(),
        Retriever::bm25_with(&empty, &Bm25::opensearch().exact()).unwrap_err(),
        Retriever::dense("Counts", &empty, &counts()).unwrap_err(),
    ] {
        assert!(error.to_string().contains("there are no chunks"), "{error}");
    }
    let twice = chunks().into_frame();
    let twice = Chunks::new(twice.vstack(&twice).unwrap()).unwrap();
    assert!(Retriever::bm25(&twice).unwrap_err().to_string().contains("act#000"));
    for settings in [Bm25::opensearch().k1(-1.0), Bm25::opensearch().b(1.5), Bm25::opensearch().k1(f64::NAN)] {
        assert!(Retriever::bm25_with(&chunks(), &settings).unwrap_err().to_string().contains("k1 is at least 0"));
    }
    let german = chunks().into_frame();
    let german = Chunks::new(german.lazy().with_column(lit("de").alias("language")).collect().unwrap()).unwrap();
    assert!(Retriever::bm25_with(&german, &Bm25::legal()).unwrap_err().to_string().contains("\"de\""));
    let bm25 = Retriever::bm25(&chunks()).unwrap();
    assert!(Retriever::rrf(&[bm25.clone()]).is_err());
    assert!(Retriever::weighted(&[(bm25.clone(), 0.0), (bm25.clone(), 0.0)]).is_err());
    assert!(Retriever::weighted(&[(bm25.clone(), 1.0), (bm25, -1.0)]).is_err());
}

/// Gives vectors that are broken in one way.
#[derive(Debug)]
struct Broken(&'static str);

impl Embed for Broken {
    fn embed(&self, texts: &[String]) -> claimlab::Result<Vec<Vec<f32>>> {
        Ok(match self.0 {
            "nan" => vec![vec![f32::NAN; 4]; texts.len()],
            "few" => vec![vec![1.0; 4]; texts.len() - 1],
            "empty" => vec![Vec::new(); texts.len()],
            _ => (0..texts.len()).map(|place| vec![1.0; 3 + place % 2]).collect(),
        })
    }

    fn embed_questions(&self, texts: &[String]) -> claimlab::Result<Vec<Vec<f32>>> {
        Ok(vec![vec![1.0; 5]; texts.len()])
    }

    fn spec(&self) -> Value {
        json!(self.0)
    }
}

#[test]
fn broken_vectors_are_refused_with_the_chunk_that_they_belong_to() {
    for (fault, told) in [
        ("nan", "number 0 of the vector is NaN"),
        ("few", "the model gave 59 vectors for 60 texts"),
        ("empty", "no numbers"),
        ("widths", "expected a vector of 3 numbers, found 4"),
    ] {
        let model: Arc<dyn Embed> = Arc::new(Broken(fault));
        let error = Retriever::dense("Broken", &chunks(), &model).unwrap_err().to_string();
        assert!(error.contains(told) && error.contains("building Broken over act"), "{error}");
    }
}

#[test]
fn an_index_on_disk_that_was_cut_or_changed_is_named_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    let chunks = Chunks::new(chunks().only("source", "act").unwrap().into_frame()).unwrap();
    Retriever::bm25_on_disk(&lab, &chunks).unwrap();
    let index = std::fs::read_dir(folder.path().join("artifacts/bm25")).unwrap().next().unwrap().unwrap().path();
    let files: Vec<_> = std::fs::read_dir(&index)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.file_name().unwrap() != "spec.json" && !path.file_name().unwrap().to_str().unwrap().starts_with('.')
        })
        .collect();
    assert!(files.len() > 4 && index.join("spec.json").is_file());
    for file in files {
        let whole = std::fs::read(&file).unwrap();
        for broken in [whole[..whole.len() / 2].to_vec(), Vec::new()] {
            std::fs::remove_file(&file).unwrap();
            std::fs::write(&file, &broken).unwrap();
            let name = file.file_name().unwrap().to_str().unwrap();
            // `.managed.json` only serves removals; every other file is needed.
            let error = Retriever::bm25_on_disk(&lab, &chunks).unwrap_err().to_string();
            let folder = index.display().to_string();
            assert!(error.contains(&folder) && error.contains("remove that folder"), "{name}: {error}");
            assert_eq!(std::fs::read(&file).unwrap(), broken, "{name} is left alone");
        }
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, &whole).unwrap();
    }
    Retriever::bm25_on_disk(&lab, &chunks).unwrap();
}
