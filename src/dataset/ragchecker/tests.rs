use serde_json::{Value, json};

use super::*;
use crate::table::texts;

fn result() -> Value {
    json!({"query_id": 7, "query": "Who?", "gt_answer": "Zoé.", "response": "Zoé did.", "lang": "fr",
        "retrieved_context": [{"doc_id": "a", "text": "Zoé was there.", "score": 1.5}, {"text": "Nobody."}],
        "response_claims": [["Zoé", "did", "it"], "Nobody else did."], "gt_answer_claims": [["Zoé", "is", "who"]],
        "answer2response": ["Entailment", "Neutral"], "response2answer": ["Entailment"],
        "retrieved2response": [["Neutral", "Contradiction"], ["Neutral", "Neutral"]],
        "retrieved2answer": [["Entailment", "Neutral"]], "metrics": {"precision": 0.5}})
}

fn file(change: impl Fn(&mut Value)) -> RagCheckerFile {
    let mut result = result();
    change(&mut result);
    RagCheckerFile::from_json(
        "test.json",
        &json!({"results": [result], "metrics": {"overall": {"f1": 1.0}}}).to_string(),
    )
    .unwrap()
}

#[test]
fn a_file_becomes_tables() {
    let file = file(|_| ());
    assert_eq!(file.problems().unwrap().height(), 0, "{}", file.problems().unwrap());
    assert_eq!(texts(file.questions().unwrap().frame(), "question_id").unwrap(), [Some("7".to_owned())]);
    assert_eq!(file.retrieval().unwrap().height(), 2);
    let claims = file.claims().unwrap();
    assert_eq!(texts(claims.frame(), "subject").unwrap(), [Some("Zoé".to_owned()), None, Some("Zoé".to_owned())]);
    let checks = file.checks().unwrap();
    assert_eq!(checks.height(), 2 + 1 + 4 + 2);
    assert_eq!(
        checks.only("direction", "reference_vs_chunks").unwrap().frame().column("system").unwrap().null_count(),
        2
    );
    assert_eq!(file.responses().unwrap().height(), 1);
}

#[test]
fn unknown_fields_survive_and_groups_get_their_present_names() {
    let original = file(|_| ());
    let text = original.to_json();
    assert!(text.is_ascii() && text.contains("Zo\\u00e9") && text.contains("overall_metrics"), "{text}");
    let again = RagCheckerFile::from_json("again", &text).unwrap();
    assert_eq!(again.results(), original.results());
    assert_eq!(again.results()[0]["lang"], "fr");
    assert_eq!(again.results()[0]["retrieved_context"][0]["score"], 1.5);
    assert_eq!(again.stated("overall_metrics", "f1"), Some(1.0));
    let first = text.find("\"query_id\"").unwrap();
    assert!(
        first < text.find("\"metrics\"").unwrap() && text.find("\"metrics\"").unwrap() < text.find("\"lang\"").unwrap()
    );
    let bare = again.without_metrics();
    assert!(!bare.to_json().contains("precision") && bare.to_json().contains("\"lang\""));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.json");
    original.write(&path).unwrap();
    assert_eq!(RagCheckerFile::read(&path).unwrap().to_json(), text);
}

#[test]
fn malformed_shapes_are_named() {
    let fault = |change: &dyn Fn(&mut Value)| {
        let problems = file(change).problems().unwrap();
        let field = texts(&problems, "field").unwrap().remove(0).unwrap();
        format!("{field} {}", texts(&problems, "fault").unwrap().remove(0).unwrap())
    };
    for (change, wanted) in [
        (
            &(|one: &mut Value| one["answer2response"] = json!(["Neutral"])) as &dyn Fn(&mut Value),
            "repeats a single entry",
        ),
        (&|one: &mut Value| one["retrieved2answer"] = json!([["Neutral"]]), "1 labels for 2 chunks"),
        (
            &|one: &mut Value| one["retrieved2response"] = json!([["Neutral", "Neutral"], ["Neutral"]]),
            "1 labels for 2 chunks",
        ),
        (&|one: &mut Value| one["response2answer"] = json!([" entailment"]), "another spelling"),
        (&|one: &mut Value| one["response2answer"] = json!("Entailment"), "is text, expected a list of labels"),
        (&|one: &mut Value| one["retrieved_context"] = json!(["plain", "texts"]), "is text, expected an object"),
        (&|one: &mut Value| one["gt_answer_claims"] = json!([["a", "b"]]), "a list of 2 entries"),
        (&|one: &mut Value| one["gt_answer"] = Value::Null, "is null, expected text"),
        (&|one: &mut Value| drop(one.as_object_mut().unwrap().remove("query_id")), "query_id is missing"),
        (&|one: &mut Value| one["answer2response"] = Value::Null, "RAGChecker fails"),
    ] {
        let found = fault(change);
        assert!(found.contains(wanted), "{wanted} not in {found}");
    }
    let error = file(|one| one["retrieved2answer"] = json!([["Neutral"]])).checks().unwrap_err().to_string();
    assert!(error.contains("retrieved2answer[0] has 1 entries for 2 chunks"), "{error}");
}

#[test]
fn off_menu_labels_are_failures_and_bare_nan_is_read() {
    let checks = file(|one| one["response2answer"] = json!(["Abstain"])).checks().unwrap();
    let row = checks.only("direction", "reference_vs_response").unwrap();
    assert!(texts(row.frame(), "label").unwrap()[0].is_none());
    assert!(texts(row.frame(), "failure").unwrap()[0].as_ref().unwrap().contains("Abstain"));
    let text = r#"{"results": [], "metrics": {"overall_metrics": {"f1": NaN}}}"#;
    assert_eq!(RagCheckerFile::from_json("x", text).unwrap().stated("overall_metrics", "f1"), None);
    for (text, found) in [
        ("{}", "without it"),
        ("[]", "an array"),
        (r#"{"results": {}}"#, "an object"),
        (r#"{"results": [1]}"#, "result 1"),
    ] {
        let error = RagCheckerFile::from_json("x", text).unwrap_err().to_string();
        assert!(error.contains(found), "{error}");
    }
}

#[test]
fn a_run_becomes_an_input_file() {
    let original = file(|_| ());
    let made = RagCheckerFile::of_run(
        &original.questions().unwrap(),
        &original.retrieval().unwrap(),
        &original.responses().unwrap(),
        "ragchecker file",
    )
    .unwrap();
    assert_eq!(made.results()[0]["query"], "Who?");
    assert_eq!(made.results()[0]["retrieved_context"][0], json!({"doc_id": "a", "text": "Zoé was there."}));
    assert!(RagCheckerFile::from_json("made", &made.to_json()).unwrap().problems().unwrap().height() == 0);
}
