//! What RefChecker's parsers lose: `golden/parse_vectors.jsonl` has, beside what the original makes of a reply, what is
//! right and why.

use claimlab::claims::{Merge, read_label, read_numbered_labels, read_triples};
use claimlab::table::Label;
use serde_json::{Value, json};

fn vectors(kind: &str) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/parse_vectors.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let all: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(all.iter().all(|vector| !vector["why"].as_str().unwrap().is_empty()));
    let found: Vec<Value> = all.into_iter().filter(|vector| vector["kind"] == kind).collect();
    assert!(!found.is_empty(), "{kind}");
    found
}

#[test]
fn no_triple_is_lost_unsaid() {
    let vectors = vectors("triplets");
    assert_eq!(vectors.len(), 28);
    for vector in vectors {
        let found = read_triples(vector["text"].as_str().unwrap());
        let triples: Vec<Value> =
            found.claims.iter().map(|claim| json!(claim.parts().expect("a triple").to_vec())).collect();
        assert_eq!(json!(triples), vector["right"], "{}: {}", vector["tag"], vector["why"]);
        assert_eq!(json!(found.lost.len()), vector["lost"], "{}: {:?}", vector["tag"], found.lost);
        assert!(found.lost.iter().all(|lost| !lost.reason.is_empty()));
    }
}

#[test]
fn a_single_verdict_is_on_the_menu_or_none() {
    for vector in vectors("single_label") {
        let found = read_label(vector["text"].as_str().unwrap()).map(|said| said.label.as_str());
        assert_eq!(json!(found), vector["right"], "{}: {}", vector["text"], vector["why"]);
    }
}

#[test]
fn joint_verdicts_are_matched_by_number() {
    for vector in vectors("joint_labels") {
        let n = usize::try_from(vector["n_claims"].as_u64().unwrap()).unwrap();
        let found = read_numbered_labels(vector["text"].as_str().unwrap(), n);
        let found: serde_json::Map<String, Value> =
            found.into_iter().map(|(number, said)| (number.to_string(), json!(said.label.as_str()))).collect();
        assert_eq!(Value::Object(found), vector["right"], "{}: {}", vector["text"], vector["why"]);
    }
}

#[test]
fn labels_of_several_references_are_merged_claim_by_claim() {
    let labels = |value: &Value| -> Vec<Option<Label>> {
        value.as_array().unwrap().iter().map(|label| Label::parse(label.as_str().unwrap())).collect()
    };
    let merged = |mode: &Value, labels: &[Option<Label>]| match mode.as_str().unwrap() {
        "strict" => json!(Merge::Strict.of(labels).map(Label::as_str)),
        "major" => json!(Merge::Majority.of(labels).map(Label::as_str)),
        _ => json!(Merge::shares(labels)),
    };
    for vector in vectors("aggregate") {
        assert_eq!(merged(&vector["mode"], &labels(&vector["labels"])), vector["right"], "{vector}");
    }
    for vector in vectors("aggregate_per_claim") {
        let rows = vector["labels"].as_array().unwrap();
        let found: Vec<Value> = rows.iter().map(|row| merged(&vector["mode"], &labels(row))).collect();
        assert_eq!(json!(found), vector["right"], "{vector}");
    }
}
