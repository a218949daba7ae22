//! Broken files: the message says what, where and what to do.

use std::path::Path;

use claimlab::prelude::*;

/// A copy of the sample in which one file is changed.
fn changed(file: &str, change: impl Fn(&str) -> String) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample");
    for entry in std::fs::read_dir(sample).unwrap().flatten() {
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let path = folder.path().join(file);
    std::fs::write(&path, change(&std::fs::read_to_string(&path).unwrap())).unwrap();
    Benchmark::read_folder(folder.path()).unwrap_err()
}

#[test]
fn a_missing_field_is_named_with_file_and_record() {
    let error = changed("CIVIL-RAG.json", |text| text.replacen("\"gt_answer\"", "\"answer\"", 1)).to_string();
    assert!(error.contains("CIVIL-RAG.json, record 1") && error.contains("gt_answer"), "{error}");
    assert!(error.contains("help:"), "{error}");
}

#[test]
fn a_wrong_type_is_named_with_what_was_found() {
    let error = changed("REGULATION-RAG.json", |text| {
        let at = text.find("\"gt_answer\":").unwrap();
        let end = at + text[at..].find('\n').unwrap();
        format!("{}\"gt_answer\": 12,{}", &text[..at], &text[end..])
    });
    let error = error.to_string();
    assert!(error.contains("is a number, expected text"), "{error}");
}

#[test]
fn an_unknown_label_is_named_with_the_allowed_ones() {
    let error = changed("CIVIL-CLAIM.json", |text| text.replacen("\"Entailment\"", "\"Perhaps\"", 1)).to_string();
    assert!(error.contains("Perhaps") && error.contains("Contradiction") && error.contains("claim"), "{error}");
}

#[test]
fn cut_json_and_other_html_are_named() {
    let error = changed("CIVIL-RAG.json", |text| text[..text.len() / 2].to_owned()).to_string();
    assert!(error.contains("CIVIL-RAG.json: not JSON"), "{error}");
    let error = changed("regulation-en.html", |_| "<p>nothing</p>".to_owned()).to_string();
    assert!(error.contains("regulation-en") && error.contains("art_1"), "{error}");
}

#[test]
fn a_table_names_the_missing_column_and_the_wrong_type() {
    use claimlab::polars::prelude::df;
    let frame = df!("question_id" => ["q"], "question" => [1_i64], "reference_answer" => ["a"]).unwrap();
    let error = QaPairs::new(frame).unwrap_err().to_string();
    assert!(error.contains("\"question\" holds i64, expected text"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.parquet");
    std::fs::write(&file, b"not parquet").unwrap();
    assert!(claimlab::table::read_parquet(&file).unwrap_err().to_string().contains("x.parquet"));
}
