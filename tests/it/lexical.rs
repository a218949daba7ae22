//! The lexical checker against the labels of the sample's authors, and against the pairs it was tuned on.

use claimlab::claims::lexical::{check, extract};
use claimlab::metrics::ConfusionMatrix;
use claimlab::prelude::*;
use claimlab::study::{CheckerReport, human_labels};
use serde_json::Value;

#[test]
fn the_lexical_checker_tells_the_three_labels_apart_better_than_one_label_for_all() {
    let folder = tempfile::tempdir().unwrap();
    let claims = Lab::at(folder.path()).unwrap().sample().unwrap().labelled_claims().unwrap();
    for language in ["en", "fr"] {
        let kept = claims.only("language", language).unwrap();
        let checks = Checker::lexical().check_labelled(&kept).unwrap();
        let matrix: ConfusionMatrix = CheckerReport::new(&checks, &human_labels(&kept).unwrap()).unwrap().confusion();
        let balanced = matrix.balanced_accuracy().unwrap();
        assert!(balanced > 0.5, "{language}: {balanced}");
    }
}

/// The pairs that the checker's word lists and thresholds were tuned on: a guard against regressions, no accuracy.
#[test]
fn the_development_pairs_are_read_as_when_they_were_tuned_on() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/lexical_pairs.json");
    let pairs: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for (code, language) in [("en", Language::English), ("fr", Language::French)] {
        let pairs = pairs[code].as_array().unwrap();
        assert_eq!(pairs.len(), 88);
        let mut right = 0;
        for pair in pairs {
            let text = |field: &str| pair[field].as_str().unwrap();
            right += usize::from(check(text("claim"), text("premise"), language).label.as_str() == text("label"));
            for part in extract(text("premise"), language) {
                assert_eq!(check(&part, text("premise"), language).label, Label::Entailment, "{part}");
            }
        }
        println!("{code}: {right} of {} development pairs (the tuning set)", pairs.len());
        assert!(right >= 82, "{right} of {}", pairs.len());
    }
}
