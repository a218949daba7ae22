//! Files that are broken, or are something else than they should be: each has an error that names the file, says what it
//! is, and offers one way out; none panics.

mod every_reader;
pub mod readers;

use std::path::Path;

use claimlab::dataset::{RagCheckerFile, read_frame};
use claimlab::prelude::*;
use claimlab::table::texts;

fn written(name: &str, bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn act_error(name: &str, bytes: &[u8]) -> String {
    let (_folder, path) = written(name, bytes);
    let error = Corpus::read_html("act", "en", &path).unwrap_err().to_string();
    assert!(error.contains(name) && error.contains("help:"), "{error}");
    error
}

#[test]
fn what_is_no_act_is_named() {
    assert!(act_error("act.html", b"").contains("empty"));
    assert!(act_error("act.html", b"PK\x03\x04\x14\x00").contains("ZIP archive"));
    assert!(act_error("act.html", b"%PDF-1.7\n").contains("PDF"));
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 806864\n";
    assert!(act_error("act.html", pointer).contains("Git LFS pointer"));
    let page = b"<!doctype html><html><head><title>503 Service Unavailable</title></head><body><h1>Try again</h1></body></html>";
    assert!(act_error("act.html", page).contains("error page"));
    let folder = tempfile::tempdir().unwrap();
    let error = Corpus::read("act", "en", folder.path()).unwrap_err().to_string();
    assert!(error.contains("is a folder, expected a file"), "{error}");
    assert!(Corpus::read("act", "en", folder.path().join("none.html")).unwrap_err().to_string().contains("none.html"));
}

#[test]
fn a_bomb_of_tags_and_a_line_of_a_hundred_megabytes_are_read() {
    let open = "<div><b><table><tr><td>".repeat(200_000);
    let html = format!("<div id=\"art_1\"><p class=\"oj-ti-art\">Article 1</p><p>one</p>{open}<p>two</p>");
    let act = Corpus::from_html("bomb", "en", &html).unwrap();
    assert!(act.text().ends_with("two"), "{:?}", &act.text()[..40]);
    let long = format!("<p>{}</p>", "word ".repeat(20_000_000));
    assert!(long.len() > 100_000_000);
    let act = Corpus::from_plain_html("long", "en", &long).unwrap();
    assert_eq!(act.parts().len(), 1);
    assert_eq!(act.text().len(), 5 * 20_000_000 - 1);
    drop(act);
    let json = format!("{{\"results\": [{{\"query_id\": \"1\", \"query\": \"{}\"}}]}}", "x".repeat(100_000_000));
    assert_eq!(RagCheckerFile::from_json("long.json", &json).unwrap().results().len(), 1);
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    let deep = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert!(RagCheckerFile::from_json("deep.json", &deep).unwrap_err().to_string().contains("recursion"));
    let (_folder, path) = written("deep.json", deep.as_bytes());
    assert!(read_frame(&path).unwrap_err().to_string().contains("recursion"));
    let quotes = format!("# A\n\n{}x", "> ".repeat(20_000));
    assert!(Corpus::from_markdown("deep", "en", &quotes).unwrap().text().contains('x'));
    let lists = format!("{}x", "- ".repeat(20_000));
    assert!(Corpus::from_markdown("deep", "en", &lists).is_ok());
}

#[test]
fn nul_bytes_entities_and_unclosed_tags_lose_nothing() {
    let act =
        Corpus::from_html("act", "en", "<div id=art_1><p class=ti-art>Article 1<p>a\0b &eacute;&#x41;&bogus; <b>c")
            .unwrap();
    assert_eq!(act.text(), "Article 1\na\u{fffd}b éA&bogus; c");
    let (_folder, path) = written("text.txt", b"one\0two\n");
    let act = Corpus::read("text", "en", path).unwrap();
    assert!(act.text().contains('\0') && act.notes()[0].contains("NUL"), "{:?}", act.notes());
}

/// ClaimRAG-LAW's files in a folder, as far as given.
fn benchmark(files: &[(&str, &str)]) -> Result<Benchmark> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    Benchmark::claimrag_law(folder.path())
}

fn question(id: &str, more: &str) -> String {
    format!(
        r##"{{"query_id": {id}, "query": "Who {id}?", "gt_answer": "They.", "relevant_chunk": "# Article 1\nThey do.",
        "answer_correctness": "Correct", "question_category": "False premise", "user_persona": "Citizen"{more}}}"##
    )
}

fn problems(benchmark: &Benchmark) -> Vec<String> {
    let frame = benchmark.problems();
    let column = |name: &str| texts(&frame, name).unwrap().into_iter().map(Option::unwrap).collect::<Vec<_>>();
    let rows = column("file").into_iter().zip(column("field")).zip(column("reason")).zip(column("effect"));
    rows.map(|(((file, field), reason), effect)| format!("{file} | {field} | {reason} | {effect}")).collect()
}

#[test]
fn a_benchmark_with_a_few_bad_records_loads_and_lists_them() {
    let good: Vec<String> = (1..=60).map(|id| question(&id.to_string(), "")).collect();
    let bad = [
        question("7", ", \"reviewer\": \"Jo\""),
        question("61", "").replace("\"Who 61?\"", "61"),
        question("62", "").replace("\"query_id\": 62, ", ""),
        question("63", "").replace("\"They.\"", "NaN"),
        question("64", "").replace("False premise", "Banana"),
        "12".to_owned(),
    ];
    let text = format!("{{\"input_data\": [{},{}]}}", good.join(","), bad.join(","));
    let loaded = benchmark(&[("GDPR-RAG-LAW.json", &text)]).unwrap();
    let told = problems(&loaded);
    for wanted in [
        "query_id | \"GDPR/7\" is the id of an earlier question too | renamed",
        "query | is a number, expected text | dropped",
        "query_id | is missing | renamed",
        "gt_answer | is null, expected text | dropped",
        "question_category | is \"Banana\", which is none of the known values | left empty",
        "is a number, expected an object | dropped",
        "CIVIL-RAG-LAW.json |  | the file is not in the folder | left out",
        "the file has the SHA-256",
        "bare NaN",
    ] {
        assert!(told.iter().any(|row| row.contains(wanted)), "{wanted} not in {told:#?}");
    }
    assert_eq!(loaded.questions().height(), 63);
    let ids = texts(loaded.questions().frame(), "question_id").unwrap();
    assert!(ids.contains(&Some("GDPR/7~2".to_owned())) && ids.contains(&Some("GDPR/record-63".to_owned())), "{ids:?}");
    assert_eq!(texts(loaded.questions().frame(), "reviewer").unwrap().iter().flatten().count(), 1);
    let flags = loaded.flags().unwrap();
    assert_eq!(texts(&flags, "where").unwrap().len(), 2, "{flags}");
}

#[test]
fn too_many_bad_records_fail_the_load_with_the_share_and_the_first() {
    let text = format!("[{},{}]", question("1", ""), question("2", "").replace("gt_answer", "answer"));
    let error = benchmark(&[("GDPR-RAG-LAW.json", &text)]).unwrap_err().to_string();
    assert!(error.contains("1 of 2 records") && error.contains("record 2") && error.contains("gt_answer"), "{error}");
    assert!(benchmark(&[]).unwrap_err().to_string().contains("no question file"));
    let cut = benchmark(&[("GDPR-RAG-LAW.json", &text[..text.len() / 2])]).unwrap_err().to_string();
    assert!(cut.contains("not JSON") && cut.contains("GDPR-RAG-LAW.json"), "{cut}");
    assert!(benchmark(&[("GDPR-RAG-LAW.json", "{\"a\": 1}")]).unwrap_err().to_string().contains("expected an array"));
}

#[test]
fn claims_are_read_in_every_form_that_the_schema_allows() {
    let rag = format!("{{\"input_data\": [{}]}}", question("\"q1\"", ""));
    let claims = r#"[{"query_id": "q1", "note": "x", "claims": [
        {"triplet": ["a", "b", "c"], "claim_correctness": "Correct", "claim_entailment": "Entailment", "hint": "h"},
        {"claim": {"subject": "a", "predicate": "b", "object": "d"}, "claim_correctness": "Correct", "claim_entailment": "neutral"},
        {"text": "A plain claim.", "claim_correctness": "Incorrect", "claim_entailment": ""},
        {"triple": ["a", "b", "e"], "claim_correctness": "Correct", "claim_entailment": "Doesn't Make Sense"},
        ["a", "b", "f"]]},
        {"query": "Who \"q1\"?", "claims": [{"claim": "Another."}]}]"#;
    let rag = rag.replace("Who \"q1\"?", "Who q1?");
    let claims = claims.replace("Who \\\"q1\\\"?", "Who q1?").replace("\"Who \"q1\"?\"", "\"Who q1?\"");
    let loaded = benchmark(&[("GDPR-RAG-LAW.json", &rag), ("GDPR-CLAIM-LAW.json", &claims)]).unwrap();
    let table = loaded.labelled_claims().unwrap();
    assert_eq!(table.height(), 6);
    let column = |name: &str| texts(table.frame(), name).unwrap();
    assert_eq!(column("object")[..4], [Some("c".into()), Some("d".into()), None, Some("e".into())]);
    assert_eq!(column("label")[..4], [Some("entailment".into()), Some("neutral".into()), None, None]);
    assert_eq!(column("label_original")[3].as_deref(), Some("Doesn't Make Sense"));
    assert_eq!(column("hint")[0].as_deref(), Some("h"));
    assert_eq!(column("note")[4].as_deref(), Some("x"));
    assert!(column("question_id").iter().all(|id| id.as_deref() == Some("GDPR/q1")), "{:?}", column("question_id"));
    let ids: std::collections::HashSet<_> = column("claim_id").into_iter().collect();
    assert_eq!(ids.len(), 6);
    assert!(problems(&loaded).iter().any(|row| row.contains("Doesn't Make Sense")));
    let quality = loaded.gold_quality().unwrap();
    assert_eq!(quality.height(), 1);
    assert!(loaded.card().unwrap().contains("GDPR-CLAIM-LAW.json"));
}

#[test]
fn a_folder_where_a_file_should_be_is_said() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("GDPR-RAG-LAW.json")).unwrap();
    let error = Benchmark::claimrag_law(folder.path()).unwrap_err().to_string();
    assert!(error.contains("is a folder"), "{error}");
    assert!(Benchmark::claimrag_law(Path::new("/nowhere")).is_err());
}
