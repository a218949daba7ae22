//! One kind of broken file after the other, for every reader of files.

use claimlab::dataset::{ColumnMap, RagCheckerFile, read_frame};
use claimlab::prelude::*;
use claimlab::table::{integers, texts};

use super::readers::{Form, READERS, Reader, read, refusal};

fn of(forms: &[Form]) -> impl Iterator<Item = &'static Reader> {
    READERS.iter().filter(move |reader| forms.contains(&reader.form))
}

fn reader(file: &str) -> &'static Reader {
    READERS.iter().find(|reader| reader.file == file).unwrap()
}

/// The same bytes with one piece of text replaced, which must be there.
fn changed(reader: &Reader, from: &str, to: &str) -> String {
    assert!(reader.sound.contains(from), "{} holds no {from}", reader.file);
    reader.sound.replacen(from, to, 1)
}

#[test]
fn marks_utf_16_latin_1_and_line_ends_of_windows_change_nothing() {
    for reader in &READERS {
        let text = reader.sound;
        let expected = read(reader, text.as_bytes()).unwrap();
        assert!(expected.contains(['é', 'É']) || expected.contains("\\u00e9"), "{}: {expected}", reader.file);
        let wide = |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
        let latin: Vec<u8> = text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
        for (encoding, bytes) in [
            ("UTF-8 with a mark", [b"\xef\xbb\xbf", text.as_bytes()].concat()),
            ("UTF-16LE with a mark", [b"\xff\xfe".to_vec(), wide(u16::to_le_bytes)].concat()),
            ("UTF-16BE with a mark", [b"\xfe\xff".to_vec(), wide(u16::to_be_bytes)].concat()),
            ("UTF-16LE", wide(u16::to_le_bytes)),
            ("Latin-1", latin),
            ("CRLF", text.replace('\n', "\r\n").into_bytes()),
        ] {
            let found = read(reader, &bytes).unwrap_or_else(|error| panic!("{}, {encoding}: {error}", reader.file));
            assert_eq!(found, expected, "{}, {encoding}", reader.file);
        }
    }
}

#[test]
fn what_is_another_kind_of_file_is_named() {
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 806864\n";
    for reader in &READERS {
        for (bytes, words) in [
            (&b""[..], "is empty"),
            (b" \r\n\t\n", "is empty"),
            (b"PK\x03\x04\x14\x00\x06\x00", "is a ZIP archive"),
            (b"%PDF-1.7\n%\xe2\xe3", "is a PDF"),
            (b"\x1f\x8b\x08\x00", "is a gzip archive"),
            (pointer, "is a Git LFS pointer"),
        ] {
            let told = refusal(reader, bytes);
            assert!(told.contains(words), "{words} not in {told}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(reader.file);
        std::fs::create_dir(&path).unwrap();
        let told = (reader.read)(&path).unwrap_err().to_string();
        assert!(told.contains("is a folder, expected a file") && told.contains("help:"), "{told}");
    }
}

#[test]
fn an_error_page_in_the_place_of_a_file_is_named() {
    for page in [
        "<!doctype html>\n<html><head><title>503 Service Unavailable</title></head><body><h1>Try again later</h1></body></html>",
        "<html><head><title>404 Not Found</title></head><body><p>nginx</p></body></html>",
    ] {
        for reader in &READERS {
            let told = refusal(reader, page.as_bytes());
            assert!(told.contains("error page") || told.contains("found a page of HTML"), "{}: {told}", reader.file);
        }
    }
}

#[test]
fn json_that_is_cut_short_is_told_with_its_place() {
    for reader in of(&[Form::Json, Form::Lines]) {
        for part in [2, 3] {
            let mut end = reader.sound.len() * (part - 1) / part;
            while !reader.sound.is_char_boundary(end) {
                end -= 1;
            }
            let told = refusal(reader, &reader.sound.as_bytes()[..end]);
            assert!(told.contains("not JSON") && told.contains("line ") && told.contains("cut short"), "{told}");
        }
    }
    let act = reader("act.xhtml");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(act.file);
    std::fs::write(&path, act.sound.split("<p>Et").next().unwrap()).unwrap();
    let cut = Corpus::read("act", "fr", &path).unwrap();
    assert!(cut.notes().iter().any(|note| note.contains("cut short")), "{:?}", cut.notes());
    std::fs::write(&path, act.sound).unwrap();
    let whole = Corpus::read("act", "fr", &path).unwrap();
    assert!(whole.notes().is_empty(), "{:?}", whole.notes());
}

#[test]
fn nesting_beyond_all_measure_is_an_error_of_every_reader_of_json() {
    let deep = format!("{{\"provisions\": {}1{}}}", "[".repeat(500_000), "]".repeat(500_000));
    for reader in of(&[Form::Json, Form::Lines]) {
        let told = refusal(reader, deep.as_bytes());
        assert!(told.contains("recursion"), "{told}");
    }
}

#[test]
fn bombs_of_markup_and_of_entities_cost_nothing_and_lose_nothing() {
    let deep = |tag: &str| format!("<{tag}>").repeat(300_000);
    let xml = format!(
        "<akomaNtoso><act><body><article id=\"art_1\"><num>Art. 1</num><p>one</p>{}<p>two</p>",
        deep("paragraph")
    );
    let act = Corpus::from_akoma_ntoso("bomb", "fr", &xml).unwrap();
    assert!(act.text().contains("one"), "{}", act.text());
    // What is nested beyond reason adds no parts, and their paths stay short.
    assert!(act.parts().len() < 30, "{}", act.parts().len());
    let paths: usize = act.parts().iter().flat_map(|part| &part.path).map(String::len).sum();
    assert!(paths < 100_000, "{paths}");
    let html = format!("<p>one</p>{}<p>two</p>", deep("div"));
    assert_eq!(Corpus::from_plain_html("bomb", "en", &html).unwrap().text(), "one\ntwo");
    // Entities that hold entities are not expanded.
    let laughs: String = (1..30).map(|level| format!("<!ENTITY l{level} \"&l{0};&l{0};\">", level - 1)).collect();
    let xml = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY l0 \"lol\">{laughs}]><akomaNtoso><article id=\"art_1\"><p>a &l29; b</p></article>\
         </akomaNtoso>"
    );
    let act = Corpus::from_akoma_ntoso("bomb", "fr", &xml).unwrap();
    assert!(act.text().len() < 5000 && act.text().contains("a &l29; b"), "{}", act.text());
}

#[test]
fn entities_and_unclosed_tags_are_read_in_every_markup() {
    let act = Corpus::from_akoma_ntoso(
        "act",
        "fr",
        "<akomaNtoso><article id=\"art_1\"><num>Art. 1.</num><p>a &amp; b &lt;c&gt; &#233;&#xE9; &nosuch;<p>d",
    )
    .unwrap();
    assert_eq!(act.text(), "Art. 1.\na & b <c> éé &nosuch;\nd");
    let page = Corpus::from_plain_html("page", "fr", "<p>&eacute;&#233;&bogus; <b>x<p>y<table><tr><td>z").unwrap();
    assert_eq!(page.text(), "éé&bogus; x\ny\nz");
    let text = Corpus::from_markdown("text", "fr", "# T &amp; U\n\n&eacute; <b>x\n").unwrap();
    assert!(text.text().starts_with("T & U\né") && text.text().contains('x'), "{}", text.text());
}

#[test]
fn nul_bytes_are_kept_refused_or_told() {
    for reader in of(&[Form::Json, Form::Lines]) {
        // JSON holds no bare NUL.
        let told = refusal(reader, reader.sound.replacen('é', "e\0", 1).as_bytes());
        assert!(told.contains("control character"), "{told}");
    }
    for file in ["rows.csv", "rows.tsv", "act.md", "page.html", "act.xml", "act.xhtml"] {
        let reader = reader(file);
        let found = read(reader, reader.sound.replacen("État", "Et\0at", 1).replacen("Quand", "Qu\0and", 1).as_bytes());
        let found = found.unwrap();
        assert!(["Et\0at", "Et\u{fffd}at", "Qu\\0and"].iter().any(|kept| found.contains(kept)), "{file}: {found:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("CIVIL-RAG-LAW.json");
    std::fs::write(&path, reader("CIVIL-RAG-LAW.json").sound.replacen("protège", "pro\\u0000tège", 1)).unwrap();
    let kept = Benchmark::claimrag_law(folder.path()).unwrap();
    assert!(texts(kept.questions().frame(), "question").unwrap()[0].as_ref().unwrap().contains('\0'));
}

#[test]
fn a_hundred_megabytes_in_one_line_are_one_row() {
    let long = "word ".repeat(20_000_000);
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("x.jsonl", format!("{{\"question_id\": \"a\", \"question\": \"{long}\", \"reference_answer\": \"b\"}}")),
        ("x.json", format!("[{{\"question_id\": \"a\", \"question\": \"{long}\", \"reference_answer\": \"b\"}}]")),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let questions = ColumnMap::new().questions(&read_frame(&path).unwrap()).unwrap();
        assert_eq!(questions.height(), 1, "{name}");
        let question = questions.frame().column("question").unwrap().str().unwrap().get(0).unwrap();
        assert_eq!(question.len(), long.len(), "{name}");
    }
}

#[test]
fn duplicate_ids_are_told_apart_or_named() {
    // RefChecker: one record twice.
    let refchecker = reader("answers.json");
    let record = refchecker.sound.trim().trim_start_matches('[').trim_end_matches(']');
    let found = read(refchecker, format!("[{record},{record}]").as_bytes()).unwrap();
    assert!(found.contains("q1/0\"") && found.contains("q1/0~2\""), "{found}");
    // RAGChecker: named as a problem.
    let result = r#"{"query_id": 1, "query": "a", "gt_answer": "b", "response": "c"}"#;
    let file = RagCheckerFile::from_json("x", &format!("{{\"results\": [{result}, {result}]}}")).unwrap();
    assert_eq!(texts(&file.problems().unwrap(), "fault").unwrap(), [Some("result 1 has the same id".to_owned())]);
    // Tables: refused.
    for file in ["rows.json", "rows.jsonl"] {
        let told = read(reader(file), changed(reader(file), "\"b\"", "\"a\"").as_bytes()).unwrap_err().to_string();
        assert!(told.contains("two rows have the question_id \"a\"") && told.contains("help:"), "{told}");
    }
    let told = read(reader("rows.csv"), changed(reader("rows.csv"), "\nb,", "\na,").as_bytes()).unwrap_err();
    assert!(told.to_string().contains("two rows"), "{told}");
    // Acts: each part has its own id, whatever the publication says.
    let article = r#"<div id="art_1"><p class="oj-ti-art">Article 1</p><p>Text.</p></div>"#;
    let act = Corpus::from_html("act", "en", &format!("{article}{article}<div id='art_1~2'><p>x</p></div>{article}"))
        .unwrap();
    let ids: Vec<&str> = act.provisions().iter().map(|part| part.id.as_str()).collect();
    assert_eq!(ids.len(), ids.iter().collect::<std::collections::HashSet<_>>().len(), "{ids:?}");
    assert!(ids.len() >= 3 && ids[0] == "art_1", "{ids:?}");
    let provision = r#"{"anchor": "art_1", "text_md": "Text."}"#;
    let act =
        Corpus::from_articles_json("act", "fr", &format!("{{\"provisions\": [{provision}, {provision}]}}")).unwrap();
    assert_eq!(act.provisions().iter().map(|part| part.id.as_str()).collect::<Vec<_>>(), ["art_1", "art_1~2"]);
}

#[test]
fn missing_ids_are_named_or_numbered() {
    for (file, from, to, words) in [
        ("answers.json", "\"id\": \"q1\", ", "", "field \"id\" is missing"),
        ("answers_kg.json", "\"id\": \"q1\", ", "", "\"id\" is missing"),
        ("wice.jsonl", "\"id\": \"1\", ", "", "\"id\" is missing"),
        ("articles.json", "\"anchor\": \"art_1\", ", "", "\"anchor\" is missing"),
        ("rte3.tsv", "id\tpremise", "nr\tpremise", "\"id\""),
    ] {
        let reader = reader(file);
        let told = read(reader, changed(reader, from, to).as_bytes()).unwrap_err().to_string();
        assert!(told.contains(words) && told.contains(reader.file), "{told}");
    }
    let file =
        RagCheckerFile::from_json("x", r#"{"results": [{"query": "a", "gt_answer": "b", "response": "c"}]}"#).unwrap();
    assert_eq!(texts(&file.problems().unwrap(), "fault").unwrap(), [Some("is missing".to_owned())]);
    assert_eq!(texts(file.questions().unwrap().frame(), "question_id").unwrap(), [Some("result-1".to_owned())]);
    for file in ["rows.csv", "rows.tsv", "rows.json", "rows.jsonl"] {
        let reader = reader(file);
        let found = read(reader, reader.sound.replace("question_id", "nr").as_bytes()).unwrap();
        assert!(found.contains("row-1") && found.contains("row-2"), "{found}");
    }
    let found =
        read(reader("CIVIL-RAG-LAW.json"), changed(reader("CIVIL-RAG-LAW.json"), "\"query_id\": 1, ", "").as_bytes());
    assert!(found.unwrap().contains("CIVIL/record-1"));
}

#[test]
fn nan_is_a_missing_value_in_every_json() {
    for (file, from) in [
        ("answers.json", "\"human_label\": \"Entailment\""),
        ("CIVIL-CLAIM-LAW.json", "\"claim_entailment\": \"Neutral\""),
    ] {
        let reader = reader(file);
        let name = from.split(": ").next().unwrap();
        let found = read(reader, changed(reader, from, &format!("{name}: NaN")).as_bytes()).unwrap();
        assert!(found.contains("[None]"), "{found}");
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("x.json", "[{\"n\": 1, \"t\": \"NaN\"}, {\"n\": NaN}, {\"n\": -Infinity}]"),
        ("x.jsonl", "{\"n\": 1, \"t\": \"NaN\"}\n{\"n\": NaN}\n{\"n\": -Infinity}\n"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let frame = read_frame(&path).unwrap();
        assert_eq!(integers(&frame, "n").unwrap(), [Some(1), None, None], "{name}");
        assert_eq!(texts(&frame, "t").unwrap()[0].as_deref(), Some("NaN"), "{name}");
    }
    // Where a value must be there, a missing one is refused.
    let told = read(reader("rows.json"), changed(reader("rows.json"), "\"Où?\"", "NaN").as_bytes()).unwrap_err();
    assert!(told.to_string().contains("\"question\" lacks a value in 1 of 2 rows"), "{told}");
}

#[test]
fn numbers_where_text_belongs_are_named_or_written_out() {
    for (file, from, to, words) in [
        ("checking.json", "\"Qui?\"", "12", "field \"query\" is missing or not text"),
        ("answers.json", "\"est\"", "12", "triplet 1"),
        ("answers_kg.json", "\"est\"", "12", "triplet"),
        ("wice.jsonl", "\"claim\": \"Où est l'été?\"", "\"claim\": 12", "\"claim\""),
        ("articles.json", "\"L'État à l'été.\"", "12", "\"text_md\" is missing or no text"),
        ("CIVIL-RAG-LAW.json", "\"L'armée.\"", "12", "is a number, expected text"),
        (
            "CIVIL-CLAIM-LAW.json",
            "[\"l'État\", \"protège\", \"l'été\"]",
            "12",
            "is a number, expected three texts or one",
        ),
    ] {
        let reader = reader(file);
        let told = refusal(reader, changed(reader, from, to).as_bytes());
        assert!(told.contains(words), "{words} not in {told}");
    }
    for file in ["rows.json", "rows.jsonl"] {
        let reader = reader(file);
        let numbers = reader.sound.replace("\"Où?\"", "12").replace("\"Quand?\"", "13");
        assert!(read(reader, numbers.as_bytes()).unwrap().contains("[Some(\"12\"), Some(\"13\")]"), "{file}");
        let mixed = changed(reader, "\"Où?\"", "12");
        assert!(read(reader, mixed.as_bytes()).unwrap().contains("[Some(\"12\"), Some(\"Quand?\")]"), "{file}");
    }
    for file in ["rows.csv", "rows.tsv"] {
        let reader = reader(file);
        let numbers = reader.sound.replace("Où?", "12").replace("Quand?", "13");
        assert!(read(reader, numbers.as_bytes()).unwrap().contains("[Some(\"12\"), Some(\"13\")]"), "{file}");
    }
}
