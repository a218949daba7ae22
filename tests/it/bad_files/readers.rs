//! The readers of files, each with a small sound file, so that one fault can be tried on all of them.

use std::path::Path;

use claimlab::dataset::{ColumnMap, RagCheckerFile, checking_sets, read_frame, read_refchecker};
use claimlab::polars::prelude::DataFrame;
use claimlab::prelude::*;
use claimlab::table::texts;

/// What a sound file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One JSON value.
    Json,
    /// One JSON object a line.
    Lines,
    /// A table with a header.
    Table,
    /// HTML or XML.
    Markup,
    /// Prose.
    Prose,
}

#[derive(Debug, Clone, Copy)]
pub struct Reader {
    /// The file's name, whose ending some readers go by.
    pub file: &'static str,
    pub form: Form,
    pub sound: &'static str,
    /// What was read, as text.
    pub read: fn(&Path) -> Result<String>,
}

fn told(frame: &DataFrame, columns: &[&str]) -> Result<String> {
    let columns: Vec<_> = columns.iter().map(|column| texts(frame, column)).collect::<Result<_>>()?;
    Ok(format!("{columns:?}"))
}

const QUESTIONS: &str = r##"{"input_data": [
  {"query_id": 1, "query": "Qui protège l'État?", "gt_answer": "L'armée.", "relevant_chunk": "# Article 1",
   "answer_correctness": "Correct", "question_category": "False premise", "user_persona": "Citizen"}]}"##;

fn questions(path: &Path) -> Result<String> {
    let read = Benchmark::claimrag_law(path.parent().unwrap())?;
    told(read.questions().frame(), &["question_id", "question", "reference_answer"])
}

fn claims(path: &Path) -> Result<String> {
    std::fs::write(path.with_file_name("CIVIL-RAG-LAW.json"), QUESTIONS).unwrap();
    let read = Benchmark::claimrag_law(path.parent().unwrap())?;
    told(read.labelled_claims()?.frame(), &["claim_id", "text", "label"])
}

fn ragchecker(path: &Path) -> Result<String> {
    let file = RagCheckerFile::read(path)?;
    file.questions()?;
    Ok(file.to_json())
}

fn refchecker(path: &Path) -> Result<String> {
    told(read_refchecker(path)?.frame(), &["claim_id", "text", "label", "context_unit"])
}

fn table(path: &Path) -> Result<String> {
    let map = ColumnMap::new().column("question", "frage").column("reference_answer", "gold");
    told(map.questions(&read_frame(path)?)?.frame(), &["question_id", "question", "reference_answer"])
}

fn wice(path: &Path) -> Result<String> {
    told(checking_sets::wice(path)?.frame(), &["claim_id", "text", "label"])
}

fn labelled_answers(path: &Path) -> Result<String> {
    told(checking_sets::refchecker(path)?.frame(), &["claim_id", "text", "label"])
}

fn rte3(path: &Path) -> Result<String> {
    told(checking_sets::rte3_french(path)?.frame(), &["claim_id", "text", "label"])
}

fn act(path: &Path) -> Result<String> {
    Ok(Corpus::read("act", "fr", path)?.text().to_owned())
}

fn published(path: &Path) -> Result<String> {
    Ok(Corpus::read_html("act", "fr", path)?.text().to_owned())
}

const REFCHECKER: &str = r#"[
  {"id": "q1", "response": "Oui.", "question": "Est-ce vrai?", "context": ["C'est vrai à l'été."],
   "x_response_kg": [{"triplet": ["l'été", "est", "vrai"], "human_label": "Entailment"}]}]"#;

const OFFICIAL: &str = "<html><body><div id=\"art_1\"><p class=\"oj-ti-art\">Article 1</p>\n<p>L'État protège l'été.</p>\n\
    <p>Et l'hiver.</p></div></body></html>\n";

/// All readers that take a path.
pub static READERS: [Reader; 16] = [
    Reader { file: "CIVIL-RAG-LAW.json", form: Form::Json, sound: QUESTIONS, read: questions },
    Reader {
        file: "CIVIL-CLAIM-LAW.json",
        form: Form::Json,
        sound: r#"[
  {"query_id": 1, "claims": [{"triplet": ["l'État", "protège", "l'été"], "claim_correctness": "Correct", "claim_entailment": "Neutral"}]}]"#,
        read: claims,
    },
    Reader {
        file: "checking.json",
        form: Form::Json,
        sound: r#"{"results": [
  {"query_id": "1", "query": "Qui?", "gt_answer": "L'État à l'été.", "response": "Lui."}]}"#,
        read: ragchecker,
    },
    Reader { file: "answers.json", form: Form::Json, sound: REFCHECKER, read: refchecker },
    Reader { file: "answers_kg.json", form: Form::Json, sound: REFCHECKER, read: labelled_answers },
    Reader {
        file: "rows.json",
        form: Form::Json,
        sound: r#"[
  {"question_id": "a", "frage": "Où?", "gold": "À Esch."},
  {"question_id": "b", "frage": "Quand?", "gold": "En été."}]"#,
        read: table,
    },
    Reader {
        file: "rows.jsonl",
        form: Form::Lines,
        sound: "{\"question_id\": \"a\", \"frage\": \"Où?\", \"gold\": \"À Esch.\"}\n{\"question_id\": \"b\", \"frage\": \"Quand?\", \"gold\": \"En été.\"}\n",
        read: table,
    },
    Reader {
        file: "wice.jsonl",
        form: Form::Lines,
        sound: "{\"label\": \"supported\", \"claim\": \"Où est l'été?\", \"evidence\": [\"Là à l'été.\"], \"meta\": {\"id\": \"1\", \"claim_title\": \"t\"}}\n",
        read: wice,
    },
    Reader {
        file: "rows.csv",
        form: Form::Table,
        sound: "question_id,frage,gold\na,Où?,\"À Esch, là.\"\nb,Quand?,En été.\n",
        read: table,
    },
    Reader {
        file: "rows.tsv",
        form: Form::Table,
        sound: "question_id\tfrage\tgold\na\tOù?\tÀ \"Esch\".\nb\tQuand?\tEn été.\n",
        read: table,
    },
    Reader {
        file: "rte3.tsv",
        form: Form::Table,
        sound: "id\tpremise\thypothesis\tlabel_text\n1\tIl pleut à Esch.\tÀ Esch, l'été, il pleut.\tentailment\n",
        read: rte3,
    },
    Reader { file: "act.xhtml", form: Form::Markup, sound: OFFICIAL, read: published },
    Reader {
        file: "act.xml",
        form: Form::Markup,
        sound: "<akomaNtoso><act><body><article id=\"art_1\"><num>Art. 1.</num>\n<alinea><content><p>L'État à l'été.</p></content></alinea>\
            </article></body></act></akomaNtoso>\n",
        read: act,
    },
    Reader {
        file: "articles.json",
        form: Form::Json,
        sound: "{\"provisions\": [\n{\"anchor\": \"art_1\", \"num\": \"Art. 1.\", \"text_md\": \"L'État à l'été.\"}]}",
        read: act,
    },
    Reader {
        file: "page.html",
        form: Form::Markup,
        sound: "<html><body><h1>Été</h1>\n<p>L'État là.</p></body></html>\n",
        read: act,
    },
    Reader {
        file: "act.md", form: Form::Prose, sound: "# Été\n\nL'État protège.\n\n## Là\n\nEt après.\n", read: act
    },
];

/// Writes a file for a reader and lets it read.
pub fn read(reader: &Reader, bytes: &[u8]) -> Result<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(reader.file);
    std::fs::write(&path, bytes).unwrap();
    (reader.read)(&path)
}

/// The refusal of such a file, which must name the file and a way out.
pub fn refusal(reader: &Reader, bytes: &[u8]) -> String {
    match read(reader, bytes) {
        Ok(found) => panic!("{} was read: {found}", reader.file),
        Err(error) => {
            let told = error.to_string();
            assert!(told.contains(reader.file) && told.contains("help:"), "{}: {told}", reader.file);
            told
        }
    }
}
