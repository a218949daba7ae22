//! What is fuzzed: each reader with sound files to begin from, and what must hold of anything that it reads.

use std::path::Path;

use claimlab::dataset::{ColumnMap, RagCheckerFile, published, read_frame, stream_html};
use claimlab::polars::prelude::{DataFrame, df};
use claimlab::prelude::*;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use super::{assert_covered, assert_parts, chunkings};
use crate::bad_files::readers::{Form, READERS};

#[derive(Debug)]
pub struct Target {
    pub name: &'static str,
    pub file: &'static str,
    pub form: Form,
    /// What stands before an excerpt of a real file.
    prefix: &'static str,
    /// Real files, from the project's root.
    real: &'static [&'static str],
    /// Reads a file and checks what was read.
    pub examine: fn(&Path) -> Result<()>,
}

const OFFICIAL: &[&str] = &[
    "../shared/data/gdpr/gdpr_32016R0679_oj_en.xhtml",
    "../shared/data/gdpr/gdpr_32016R0679_oj_fr.xhtml",
    "../shared/data/gdpr/gdpr_02016R0679-20160504_consolidated_en.html",
    "data/sample/regulation-en.html",
    "data/sample/code-civil-fr.html",
];
const LABELLED: &[&str] = &[
    "../shared/data/claim_checking/msmarco_gpt4_answers.json",
    "../shared/data/claim_checking/msmarco_alpaca_7B_answers.json",
];
const WICE: &[&str] = &["../shared/data/claim_checking/wice_dev.jsonl"];
const CODE_CIVIL: &[&str] = &["../shared/data/code_civil_lu/code_civil_lu_2025-12-26.md"];

const fn target(
    name: &'static str,
    file: &'static str,
    form: Form,
    real: &'static [&'static str],
    examine: fn(&Path) -> Result<()>,
) -> Target {
    Target { name, file, form, prefix: "", real, examine }
}

pub static TARGETS: [Target; 20] = [
    target(
        "ClaimRAG-LAW, questions",
        "CIVIL-RAG-LAW.json",
        Form::Json,
        &["data/sample/CIVIL-RAG.json", "data/sample/REGULATION-RAG.json", "data/gdpr/GDPR-QUESTIONS.json"],
        benchmark,
    ),
    target(
        "ClaimRAG-LAW, claims",
        "CIVIL-CLAIM-LAW.json",
        Form::Json,
        &["data/sample/CIVIL-CLAIM.json", "data/sample/REGULATION-CLAIM.json"],
        benchmark_with_claims,
    ),
    target(
        "RAGChecker",
        "checking.json",
        Form::Json,
        &["../shared/data/claim_checking/checking_inputs.json", "../shared/data/claim_checking/checking_outputs.json"],
        ragchecker,
    ),
    target("RefChecker", "answers.json", Form::Json, LABELLED, by_path),
    target("RefChecker, for scoring checkers", "answers_kg.json", Form::Json, LABELLED, by_path),
    target(
        "table as JSON",
        "rows.json",
        Form::Json,
        &["../shared/data/judge/Natural.json", "../shared/data/legal_retrieval/lex_retrieval_cases.json"],
        table,
    ),
    target("table as JSON lines", "rows.jsonl", Form::Lines, WICE, table),
    target("WiCE", "wice.jsonl", Form::Lines, WICE, by_path),
    target("table as CSV", "rows.csv", Form::Table, &["../shared/data/judge/annotation_df.csv"], table),
    target("table as TSV", "rows.tsv", Form::Table, &["../shared/data/nli_fr/daccord_dataset.tsv"], table),
    target("RTE-3", "rte3.tsv", Form::Table, &["../shared/data/nli_fr/RTE3-FR-dev-set-3class.tsv"], by_path),
    // Its bytes are made here, see `Seeds`.
    target("table as Parquet", "rows.parquet", Form::Table, &[], table),
    Target {
        prefix: "<html><body><div id=\"art_1\"><p class=\"oj-ti-art\">Article 1</p>",
        ..target("act of the Official Journal or EUR-Lex", "act.xhtml", Form::Markup, OFFICIAL, act)
    },
    Target {
        prefix: "<akomaNtoso><act><body><article id=\"art_1\"><num>Art. 1</num>",
        ..target(
            "act as Akoma Ntoso",
            "act.xml",
            Form::Markup,
            &[
                "../shared/data/code_civil_lu/sample_akn_constitution_fr.xml",
                "../shared/data/code_civil_lu/sample_akn_loi-2018-08-01-a686_dataprotection_fr.xml",
            ],
            act,
        )
    },
    target(
        "act as articles in JSON",
        "articles.json",
        Form::Json,
        &[
            "../shared/data/code_civil_lu/code_civil_lu_2025-12-26.json",
            "../shared/data/gdpr/gdpr_articles_2016-05-04_en.json",
        ],
        act,
    ),
    target("document as HTML", "page.html", Form::Markup, OFFICIAL, page),
    target("HTML as a stream", "page.html", Form::Markup, OFFICIAL, stream),
    target("document as Markdown", "act.md", Form::Prose, CODE_CIVIL, act),
    target("document as text", "act.txt", Form::Prose, CODE_CIVIL, act),
    target(
        "published tables",
        "rows.csv",
        Form::Table,
        &[
            "data/published/table1_dataset_statistics.csv",
            "data/published/table2_ragchecker_metrics.csv",
            "data/published/counts.csv",
        ],
        published_table,
    ),
];

fn by_path(path: &Path) -> Result<()> {
    let name = path.file_name().unwrap();
    let reader = READERS.iter().find(|reader| name == reader.file).unwrap();
    (reader.read)(path).map(drop)
}

fn benchmark(path: &Path) -> Result<()> {
    let read = Benchmark::claimrag_law(path.parent().unwrap())?;
    let sums = read.statistics()?.sums()?;
    assert!(sums.column("agrees").unwrap().bool().unwrap().iter().all(|agrees| agrees == Some(true)), "{sums}");
    let questions = read.questions();
    assert_unique(questions.frame(), "question_id");
    assert!(read.card()?.contains("## Problems"));
    read.context_units()?;
    read.flags().map(drop)
}

fn benchmark_with_claims(path: &Path) -> Result<()> {
    let sound = READERS.iter().find(|reader| reader.file == "CIVIL-RAG-LAW.json").unwrap().sound;
    std::fs::write(path.with_file_name("CIVIL-RAG-LAW.json"), sound).unwrap();
    benchmark(path)?;
    let claims = Benchmark::claimrag_law(path.parent().unwrap())?.labelled_claims()?;
    assert_unique(claims.frame(), "claim_id");
    Ok(())
}

fn assert_unique(frame: &DataFrame, column: &str) {
    let values = claimlab::table::texts(frame, column).unwrap();
    let distinct: std::collections::HashSet<_> = values.iter().collect();
    assert_eq!(distinct.len(), values.len(), "{column} repeats in {frame}");
}

fn ragchecker(path: &Path) -> Result<()> {
    let file = RagCheckerFile::read(path)?;
    let again = RagCheckerFile::from_json("again", &file.to_json()).unwrap();
    assert_eq!(again.results(), file.results(), "fields were lost");
    file.problems().unwrap();
    file.responses()?;
    file.questions()?;
    file.retrieval()?;
    file.claims()?;
    file.checks().map(drop)
}

fn table(path: &Path) -> Result<()> {
    let frame = read_frame(path)?;
    assert!(frame.columns().iter().all(|column| column.len() == frame.height()), "{frame}");
    let map = ColumnMap::new().column("question", "frage").column("reference_answer", "gold");
    // Whether the columns are there is luck; what comes out must hold what the table promises.
    if let Ok(questions) = map.questions(&frame) {
        assert_unique(questions.frame(), "question_id");
        assert_eq!(questions.height(), frame.height());
    }
    let _ = ColumnMap::new().column("text", "claim").column("context_unit", "evidence").claims(&frame);
    Ok(())
}

/// The parts of an act, and its text cut in one of the ways.
fn examined(act: &Corpus) -> Result<()> {
    assert_parts(act);
    let ways = chunkings();
    assert_covered(act, &ways[act.text().len() % ways.len()]);
    act.outline()?;
    act.accounting().map(drop)
}

fn act(path: &Path) -> Result<()> {
    examined(&Corpus::read("act", "fr", path)?)
}

fn text_of(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
}

fn page(path: &Path) -> Result<()> {
    examined(&Corpus::from_plain_html("page", "fr", &text_of(path))?)
}

fn stream(path: &Path) -> Result<()> {
    let text = text_of(path);
    let mut lines = Vec::new();
    let bytes = stream_html(&mut text.as_bytes(), &mut |line| {
        lines.push(line.to_owned());
        Ok(())
    })?;
    assert_eq!(bytes as usize, text.len());
    // The stream takes a byte order mark away, and is never read as XML.
    let marked = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if let Ok(whole) = Corpus::from_plain_html("page", "fr", marked)
        && !marked.trim_start().starts_with("<?xml")
    {
        assert_eq!(lines.join("\n"), whole.text());
    }
    Ok(())
}

fn published_table(path: &Path) -> Result<()> {
    let table = read_frame(path)?;
    for rule in
        [published::conservation, published::retriever_metrics, published::counts_disagree, published::shares_of_labels]
    {
        // A table that lacks a rule's columns is refused by it; findings always have the same columns.
        if let Ok(findings) = rule(&table) {
            assert_eq!(findings.width(), 5);
        }
    }
    Ok(())
}

/// The sound files of a target.
#[derive(Debug)]
pub struct Seeds {
    small: String,
    real: Vec<Real>,
    pub n_real: usize,
}

#[derive(Debug)]
enum Real {
    Text(String),
    Json(Value),
}

impl Seeds {
    pub fn of(target: &Target) -> Self {
        let small = READERS.iter().find(|reader| reader.file == target.file);
        let small = small.map_or("Un seul.\nDeux.\n\nTrois.", |reader| reader.sound).to_owned();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let texts = target.real.iter().filter_map(|path| std::fs::read_to_string(root.join(path)).ok());
        let real: Vec<Real> = texts
            .map(|text| match target.form {
                Form::Json => Real::Json(serde_json::from_str(&text).unwrap()),
                _ => Real::Text(text),
            })
            .collect();
        Self { small, n_real: real.len(), real }
    }

    /// A sound file: the small one, or an excerpt of a real one.
    pub fn pick(&self, target: &Target, random: &mut ChaCha8Rng) -> String {
        if self.real.is_empty() || random.random_ratio(1, 3) {
            return self.small.clone();
        }
        match self.real.choose(random).unwrap() {
            Real::Json(value) => records(value, random).to_string(),
            Real::Text(text) => match target.form {
                Form::Lines => some(&text.lines().collect::<Vec<_>>(), 3, random).join("\n"),
                Form::Table => {
                    let lines: Vec<&str> = text.lines().collect();
                    let (header, rows) = lines.split_first().unwrap();
                    [vec![*header], some(rows, 6, random)].concat().join("\n")
                }
                _ => format!("{}{}", target.prefix, window(text, random)),
            },
        }
    }
}

/// Parquet is not made of text: a small table, written by the library.
pub fn parquet(path: &Path) -> Vec<u8> {
    let frame = df!("question_id" => ["a", "b", "c"], "frage" => ["Où?", "Quand?", "Qui?"], "gold" => [Some("Là."), None, Some("Été.")],
        "n" => [1_i64, 2, 3], "x" => [Some(0.5), None, Some(2.0)], "t" => [true, false, true]);
    claimlab::table::write_parquet(&frame.unwrap(), path).unwrap();
    std::fs::read(path).unwrap()
}

fn some<'a>(list: &[&'a str], most: usize, random: &mut ChaCha8Rng) -> Vec<&'a str> {
    let count = random.random_range(1..=most);
    (0..count).filter_map(|_| list.choose(random).copied()).collect()
}

/// The same file with some of its records only.
fn records(value: &Value, random: &mut ChaCha8Rng) -> Value {
    match value {
        Value::Array(list) => {
            Value::Array((0..random.random_range(1..4)).filter_map(|_| list.choose(random).cloned()).collect())
        }
        Value::Object(map) => {
            let fewer = |(key, held): (&String, &Value)| match held {
                Value::Array(_) => (key.clone(), records(held, random)),
                other => (key.clone(), other.clone()),
            };
            Value::Object(map.iter().map(fewer).collect())
        }
        other => other.clone(),
    }
}

/// Some kilobytes of a text, from the beginning of a tag or a line on.
fn window<'a>(text: &'a str, random: &mut ChaCha8Rng) -> &'a str {
    let begins: Vec<usize> =
        text.char_indices().filter(|(_, letter)| matches!(letter, '<' | '\n')).map(|(place, _)| place).collect();
    let from = begins.choose(random).copied().unwrap_or(0);
    let mut to = (from + random.random_range(100..8000)).min(text.len());
    while !text.is_char_boundary(to) {
        to -= 1;
    }
    &text[from..to]
}
