//! BM25 against Lucene's own rankings, where they are.

use std::collections::HashMap;

use claimlab::prelude::*;
use claimlab::table::{FrameBuilder, texts};

fn list(file: &std::path::Path) -> (Vec<String>, Vec<String>) {
    let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["id"].as_str().unwrap().to_owned(), one["text"].as_str().unwrap().to_owned()))
        .unzip()
}

#[test]
fn the_first_hit_is_mostly_lucenes() {
    let Some(folder) = super::shared("vectors/lucene_bm25") else {
        return super::skip("the_first_hit_is_mostly_lucenes", "the golden rankings are not beside the checkout", true);
    };
    for language in ["en", "fr"] {
        let (ids, passages) = list(&folder.join(format!("docs_{language}.json")));
        let (questions, asked) = list(&folder.join(format!("q_{language}.json")));
        let n = ids.len();
        let chunks = Chunks::new(
            FrameBuilder::new()
                .text("chunk_id", &ids)
                .text("document_id", &vec!["act"; n])
                .integer("ordinal", &(0..n as i64).collect::<Vec<_>>())
                .integer("start", &vec![0; n])
                .integer("end", &vec![0; n])
                .integer("n_tokens", &vec![0; n])
                .text("text", &passages)
                .build()
                .unwrap(),
        )
        .unwrap();
        let pairs = QaPairs::new(
            FrameBuilder::new()
                .text("question_id", &questions)
                .text("question", &asked)
                .text("reference_answer", &asked)
                .build()
                .unwrap(),
        )
        .unwrap();
        let run = Retriever::bm25(&chunks).unwrap().retrieve(&pairs, 1).unwrap();
        let found: HashMap<String, String> = texts(run.frame(), "question_id")
            .unwrap()
            .into_iter()
            .flatten()
            .zip(texts(run.frame(), "chunk_id").unwrap().into_iter().flatten())
            .collect();
        let golden = std::fs::read_to_string(folder.join(format!("top10_{language}.tsv"))).unwrap();
        let (mut same, mut all) = (0, 0);
        for line in golden.lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            if let [question, "1", document, _] = cells.as_slice() {
                all += 1;
                same += usize::from(found.get(*question).is_some_and(|id| id == document));
            }
        }
        println!("{language}: first hit as Lucene's for {same} of {all} questions");
        // Our words split at apostrophes and hyphens, Lucene's do not; the analyzer that matches comes with retrieval.
        assert!(all > 50 && same * 100 >= all * 85, "{language}: {same} of {all}");
    }
}
