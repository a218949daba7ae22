//! BM25 against Lucene's own rankings, where they are.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use claimlab::prelude::*;
use claimlab::retrieval::Bm25;
use claimlab::table::{FrameBuilder, floats, texts};

/// tantivy keeps the factor k1 + 1 that Lucene dropped.
const FACTOR: f64 = 2.2;
/// Lucene's scores that differ by no more than this tie.
const TIE: f64 = 1e-5;
/// Scores may differ by this share.
const SAME: f64 = 1e-4;

fn list(file: &Path) -> (Vec<String>, Vec<String>) {
    let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["id"].as_str().unwrap().to_owned(), one["text"].as_str().unwrap().to_owned()))
        .unzip()
}

type Ranking = Vec<(String, f64)>;

/// Documents and scores by question, as Lucene gave them.
fn lucene(file: &Path) -> BTreeMap<String, Ranking> {
    let mut rankings: BTreeMap<String, Ranking> = BTreeMap::new();
    for line in std::fs::read_to_string(file).unwrap().lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [question, _, document, score] = cells.as_slice() else { panic!("{line}") };
        rankings.entry((*question).to_owned()).or_default().push(((*document).to_owned(), score.parse().unwrap()));
    }
    rankings
}

/// The same as this library gives them.
fn ours(folder: &Path, language: &str, settings: &Bm25) -> BTreeMap<String, Ranking> {
    let (ids, passages) = list(&folder.join(format!("docs_{language}.json")));
    let (questions, asked) = list(&folder.join(format!("q_{language}.json")));
    let n = ids.len();
    let chunks = FrameBuilder::new()
        .text("chunk_id", &ids)
        .text("document_id", &vec!["act"; n])
        .integer("ordinal", &(0..n as i64).collect::<Vec<_>>())
        .integer("start", &vec![0; n])
        .integer("end", &vec![0; n])
        .integer("n_tokens", &vec![0; n])
        .text("text", &passages)
        .text("language", &vec![language; n]);
    let pairs =
        FrameBuilder::new().text("question_id", &questions).text("question", &asked).text("reference_answer", &asked);
    let chunks = Chunks::new(chunks.build().unwrap()).unwrap();
    let pairs = QaPairs::new(pairs.build().unwrap()).unwrap();
    let run = Retriever::bm25_with(&chunks, settings).unwrap().retrieve(&pairs, 10).unwrap();
    let mut rankings: BTreeMap<String, Ranking> = BTreeMap::new();
    let rows = texts(run.frame(), "question_id").unwrap().into_iter().zip(texts(run.frame(), "chunk_id").unwrap());
    for ((question, chunk), score) in rows.zip(floats(run.frame(), "score").unwrap()) {
        rankings.entry(question.unwrap()).or_default().push((chunk.unwrap(), score.unwrap() / FACTOR));
    }
    rankings
}

#[test]
fn opensearch_standard_ranks_and_scores_as_lucene_does() {
    match super::shared("vectors/lucene_bm25") {
        Some(folder) => parity(&folder),
        None => {
            let why = "the golden rankings are not beside the checkout";
            super::skip("opensearch_standard_ranks_and_scores_as_lucene_does", why, true);
        }
    }
}

/// Compares every ranking of both scorers with Lucene's, prints a table, and panics where one is not Lucene's.
pub fn parity(folder: &Path) {
    println!(
        "| scorer | language | questions | hits | at Lucene's rank | moved within a tie | greatest difference of scores |"
    );
    println!("|---|---|---|---|---|---|---|");
    for settings in [Bm25::opensearch(), Bm25::opensearch().exact()] {
        for language in ["en", "fr"] {
            let golden = lucene(&folder.join(format!("top10_{language}.tsv")));
            let found = ours(&folder, language, &settings);
            assert!(golden.len() > 200 && golden.keys().eq(found.keys()), "the same questions have hits");
            let (mut hits, mut same, mut moved, mut worst) = (0, 0, 0, 0.0_f64);
            for (question, golden) in &golden {
                let found = &found[question];
                assert_eq!(golden.len(), found.len(), "{question}");
                for ((_, theirs), (_, ours)) in golden.iter().zip(found) {
                    worst = worst.max((theirs - ours).abs() / theirs);
                }
                let mut start = 0;
                for tie in golden.chunk_by(|a, b| a.1 - b.1 <= TIE) {
                    let places = start..start + tie.len();
                    start = places.end;
                    let here = &found[places];
                    let names: HashSet<&String> = tie.iter().map(|(document, _)| document).collect();
                    // A tie at the end of the list goes on behind it, where any of its documents may be meant.
                    let open = start == golden.len() && start == 10;
                    for ((theirs, score), (document, own)) in tie.iter().zip(here) {
                        hits += 1;
                        let tied = names.contains(document) || open && (score - own).abs() <= TIE;
                        assert!(theirs == document || tied, "{question}: {document} for {theirs}");
                        same += usize::from(theirs == document);
                        moved += usize::from(theirs != document);
                    }
                }
            }
            let name = if settings == Bm25::opensearch() { "tantivy" } else { "exact" };
            println!("| {name} | {language} | {} | {hits} | {same} | {moved} | {worst:.1e} |", golden.len());
            assert!(worst <= SAME, "{name}, {language}: scores differ by {worst}");
        }
    }
}
