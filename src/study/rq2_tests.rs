use polars::prelude::*;

use super::*;

fn checks(labels: &[Option<&str>]) -> Checks {
    let n = labels.len();
    let ids: Vec<String> = (0..n).map(|i| format!("c{i}")).collect();
    let questions: Vec<String> = (0..n).map(|i| format!("q{}", i / 2)).collect();
    let failures: Vec<Option<&str>> = labels.iter().map(|label| label.is_none().then_some("no verdict")).collect();
    let frame = df!(
        "checker" => vec!["c"; n], "direction" => vec!["claim_vs_context_unit"; n], "question_id" => questions,
        "claim_id" => ids, "system" => vec![None::<&str>; n], "attempt" => vec![None::<i64>; n],
        "retriever" => vec![None::<&str>; n], "chunk_id" => vec![None::<&str>; n], "label" => labels,
        "failure" => failures,
    );
    Checks::new(frame.unwrap()).unwrap()
}

fn labels(rows: &[(&str, &str, Option<&str>)]) -> HumanLabels {
    let frame = df!(
        "item_id" => rows.iter().map(|row| row.0).collect::<Vec<_>>(),
        "annotator" => rows.iter().map(|row| row.1).collect::<Vec<_>>(),
        "label" => rows.iter().map(|row| row.2).collect::<Vec<_>>(),
    );
    HumanLabels::new(frame.unwrap()).unwrap()
}

#[test]
fn annotators_who_differ_and_claims_without_labels_are_left_out_and_counted() {
    let labels = labels(&[
        ("c0", "a", Some("entailment")),
        ("c0", "b", Some("entailment")),
        ("c1", "a", Some("neutral")),
        ("c1", "b", Some("contradiction")),
        ("c2", "a", Some("contradiction")),
        ("c2", "b", None),
        ("c3", "a", Some("neutral")),
    ]);
    let said = [Some("entailment"), Some("neutral"), Some("neutral"), None, Some("entailment")];
    let report = CheckerReport::new(&checks(&said), &labels).unwrap();
    assert_eq!(report.left_out(), (1, 2)); // c1 is disputed; c1 and c4 have no label to compare with
    let matrix = report.confusion();
    assert_eq!((matrix.total(), matrix.unanswered(), matrix.correct()), (2, 1, 1));
    let agreement = report.agreement().unwrap();
    assert_eq!(agreement.column("n_failed").unwrap().i64().unwrap().get(0), Some(1));
    assert_eq!(report.entailed_or_not().unwrap().accuracy(), Some(1.0));
}

#[test]
fn labels_off_the_menu_and_strangers_are_named() {
    let good = labels(&[("c0", "a", Some("entailment"))]);
    assert!(CheckerReport::new(&checks(&[Some("perhaps")]), &good).unwrap_err().to_string().contains("\"perhaps\""));
    let other = labels(&[("x", "a", Some("entailment"))]);
    assert!(CheckerReport::new(&checks(&[Some("neutral")]), &other).unwrap_err().to_string().contains("claim_id"));
    let off = labels(&[("c0", "a", Some("Supported"))]);
    assert!(CheckerReport::new(&checks(&[Some("neutral")]), &off).is_err());
}

#[test]
fn errors_are_shown_with_their_texts_escaped() {
    let report = CheckerReport::new(
        &checks(&[Some("neutral"), Some("neutral"), None]),
        &labels(&[("c0", "a", Some("entailment")), ("c1", "a", Some("neutral")), ("c2", "a", Some("neutral"))]),
    )
    .unwrap();
    let claims = LabelledClaims::new(
        df!("claim_id" => ["c0", "c1", "c2"], "question_id" => ["q0", "q0", "q1"],
            "text" => ["<b>bold</b>", "x", "y"], "subject" => [None::<&str>; 3], "predicate" => [None::<&str>; 3],
            "object" => [None::<&str>; 3], "valid" => [Some(true), Some(false), None],
            "label" => [Some("entailment"), Some("neutral"), None], "context_unit" => ["p", "p", "p"])
        .unwrap(),
    )
    .unwrap();
    assert_eq!(report.errors(&claims).unwrap().height(), 2);
    let page = report.errors_page(&claims).unwrap();
    assert!(page.html().contains("&lt;b&gt;bold") && !page.html().contains("<b>bold"), "{}", page.html());
    let accuracy = claims.extraction_accuracy().unwrap();
    let of = |name: &str| accuracy.column(name).unwrap().i64().unwrap().get(0);
    assert_eq!((of("claims"), of("valid"), of("n_unjudged")), (Some(2), Some(1), Some(1)));
    assert_eq!(human_labels(&claims).unwrap().height(), 1);
}
