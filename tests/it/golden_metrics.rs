//! Parity with RAGChecker v0.1.9: every number of `tests/golden/ragchecker_vectors.jsonl`, bit for bit.
#![allow(clippy::unwrap_used)]

use claimlab::metrics::{LabelMatrices, Metric, Mode, Outcome, RagCheckerLabels, ReadError, percent, score};
use serde_json::Value;

fn vectors(kind: &str) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/ragchecker_vectors.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|vector| vector["kind"] == kind).collect()
}

fn read(vector: &Value, mode: Mode) -> Result<LabelMatrices, ReadError> {
    let labels: RagCheckerLabels = serde_json::from_value(vector.clone()).unwrap();
    let n_chunks = vector.get("n_chunks").map(|n| n.as_u64().unwrap() as usize);
    LabelMatrices::from_ragchecker(&labels, n_chunks, mode)
}

/// The eleven values of one result, each compared with the recorded bits.
fn compare(result: &Value, name: &str) -> [f64; 11] {
    let labels = read(result, Mode::RagChecker).unwrap();
    score(&labels, Mode::RagChecker).unwrap().map(|(metric, outcome)| {
        let expected = result["metrics"][metric.as_str()].as_f64().unwrap();
        let value = outcome.value().unwrap_or_else(|| panic!("{name}: {metric} is {outcome}"));
        assert_eq!(value.to_bits(), expected.to_bits(), "{name}: {metric} is {value}, RAGChecker says {expected}");
        assert_eq!(metric.of(&labels, Mode::RagChecker), Ok(outcome), "{name}");
        value
    })
}

/// The rounded percentages of a data set, each compared with the recorded block.
fn compare_aggregate(values: &[[f64; 11]], block: &Value, name: &str) {
    for (i, metric) in Metric::ALL.into_iter().enumerate() {
        let column: Vec<f64> = values.iter().map(|row| row[i]).collect();
        let group = format!("{}_metrics", metric.group().as_str());
        assert_eq!(percent(&column), block[&group][metric.as_str()].as_f64(), "{name}: {metric}");
    }
}

#[test]
fn json_numbers_are_read_exactly() {
    // Without serde_json's feature `float_roundtrip` the last bit of such numbers may differ.
    for text in ["0.22727272727272727", "0.18181818181818182", "0.045454545454545456"] {
        let read: f64 = serde_json::from_str(text).unwrap();
        assert_eq!(read.to_bits(), text.parse::<f64>().unwrap().to_bits(), "enable serde_json/float_roundtrip");
    }
}

#[test]
fn every_single_result_is_bit_equal() {
    let vectors = vectors("single");
    assert_eq!(vectors.len(), 352);
    for vector in &vectors {
        let name = format!("{} {}", vector["id"], vector["tag"]);
        let values = compare(vector, &name);
        compare_aggregate(&[values], &vector["aggregate"], &name);
    }
}

#[test]
fn every_data_set_is_bit_equal_and_its_percentages_equal() {
    let vectors = vectors("multi");
    assert_eq!(vectors.len(), 8);
    for vector in &vectors {
        let name = format!("{} {}", vector["id"], vector["tag"]);
        let results = vector["results"].as_array().unwrap();
        let values: Vec<_> = results.iter().map(|result| compare(result, &name)).collect();
        compare_aggregate(&values, &vector["metrics"], &name);
    }
}

#[test]
fn every_inconsistent_vector_is_an_error_that_names_the_matrix() {
    let expected = [
        ("chunk_count_mismatch_2_vs_3", "reference_vs_chunks: row 0 has 2 labels, but 3 chunks were retrieved"),
        (
            "chunk_count_mismatch_1_vs_3_silently_broadcasts",
            "reference_vs_chunks: row 0 has 1 label, but 3 chunks were retrieved",
        ),
        (
            "answer2response_shorter_than_retrieved2response",
            "response_vs_chunks: 3 rows, but the response has 2 claims",
        ),
        ("answer2response_len1_silently_broadcasts", "response_vs_chunks: 3 rows, but the response has 1 claim"),
        ("retrieved2response_empty_list_but_claims", "response_vs_chunks: 0 rows, but the response has 2 claims"),
        (
            "retrieved2answer_rows_empty_but_response_rows_not",
            "reference_vs_chunks: row 0 has 0 labels, but 2 chunks were retrieved",
        ),
        ("response2answer_shorter", "reference_vs_chunks: 3 rows, but the reference has 2 claims"),
        ("response2answer_len1_silently_broadcasts", "reference_vs_chunks: 3 rows, but the reference has 1 claim"),
        ("ragged_retrieved2answer", "reference_vs_chunks: row 1 has 1 label, but 2 chunks were retrieved"),
        ("null_retrieved2answer", "reference_vs_chunks (retrieved2answer) is missing"),
        ("null_answer2response", "response_vs_reference (answer2response) is missing"),
    ];
    let vectors = vectors("inconsistent");
    assert_eq!(vectors.len(), expected.len());
    for (vector, (tag, message)) in vectors.iter().zip(expected) {
        assert_eq!(vector["tag"], tag);
        let error = read(vector, Mode::RagChecker).unwrap_err();
        assert!(matches!(error, ReadError::Shape(_)), "{tag}: {error}");
        assert!(error.to_string().starts_with(message), "{tag}: {error}");
        assert!(error.to_string().contains("; "), "{tag} gives no way out: {error}");
    }
}

#[test]
fn strict_differs_from_ragchecker_only_where_it_should() {
    for vector in vectors("single") {
        let name = format!("{} {}", vector["id"], vector["tag"]);
        let labels = read(&vector, Mode::RagChecker).unwrap();
        let (strict, legacy) = (score(&labels, Mode::Strict).unwrap(), score(&labels, Mode::RagChecker).unwrap());
        let degenerate = labels.n_response_claims == 0 || labels.n_reference_claims == 0 || labels.n_chunks == 0;
        for ((metric, strict), (_, legacy)) in strict.into_iter().zip(legacy) {
            match strict {
                Outcome::Failed => panic!("{name}: {metric} failed"),
                Outcome::Undefined(_) => assert_eq!(legacy, Outcome::Value(0.0), "{name}: {metric}"),
                Outcome::Value(_) if !degenerate => assert_eq!(strict, legacy, "{name}: {metric}"),
                Outcome::Value(value) => assert!((0.0..=1.0).contains(&value), "{name}: {metric}"),
            }
        }
    }
}

#[test]
fn labels_that_are_none_are_refused_by_the_strict_reading() {
    let refused: Vec<String> =
        vectors("single").iter().filter_map(|vector| Some(read(vector, Mode::Strict).err()?.to_string())).collect();
    assert_eq!(refused.len(), 3, "{refused:?}"); // ENTAILMENT, Abstain, a label with spaces
    assert!(refused[0].starts_with("response2answer[0]: \"ENTAILMENT\" is not a label; use "), "{}", refused[0]);
}
