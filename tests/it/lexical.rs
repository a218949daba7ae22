//! The lexical checker against the labels of the sample's authors.

use claimlab::prelude::*;
use claimlab::table::texts;

const LABELS: [&str; 3] = ["entailment", "neutral", "contradiction"];

#[test]
fn the_lexical_checker_tells_the_three_labels_apart_better_than_one_label_for_all() {
    let folder = tempfile::tempdir().unwrap();
    let claims = Lab::at(folder.path()).unwrap().sample().unwrap().labelled_claims().unwrap();
    for language in ["en", "fr"] {
        let kept = claims.only("language", language).unwrap();
        let given = texts(kept.frame(), "label").unwrap();
        let checks = Checker::lexical().check_labelled(&kept).unwrap();
        let found = texts(checks.frame(), "label").unwrap();
        let mut matrix = [[0_usize; 3]; 3];
        for (given, found) in given.iter().zip(&found) {
            let place = |label: &Option<String>| LABELS.iter().position(|name| label.as_deref() == Some(name));
            if let (Some(row), Some(column)) = (place(given), place(found)) {
                matrix[row][column] += 1;
            }
        }
        let total: usize = matrix.iter().flatten().sum();
        let right: usize = (0..3).map(|place| matrix[place][place]).sum();
        let majority = matrix.iter().map(|row| row.iter().sum::<usize>()).max().unwrap();
        println!("{language}: rows are the authors' labels, columns the checker's ({LABELS:?})");
        for (row, name) in matrix.iter().zip(LABELS) {
            println!("  {name:13} {row:?}");
        }
        println!("  right: {right} of {total}; the majority label alone: {majority}");
        let recalls =
            matrix.iter().enumerate().map(|(place, row)| row[place] as f64 / row.iter().sum::<usize>() as f64);
        let balanced = recalls.sum::<f64>() / 3.0;
        println!("  balanced accuracy {balanced:.3}; one label for all has 0.333");
        assert!(balanced > 0.5, "{language}: {balanced}");
    }
}

/// The pairs that the checker's word lists and thresholds were tuned on: a guard against regressions, no accuracy.
#[test]
fn the_development_pairs_are_read_as_when_they_were_tuned_on() {
    use claimlab::claims::lexical::{check, extract};
    for (language, pairs) in
        [(Language::English, super::lexical_pairs::ENGLISH), (Language::French, super::lexical_pairs::FRENCH)]
    {
        let mut right = 0;
        for (gold, claim, premise) in pairs {
            let label = check(claim, premise, language).label;
            right += usize::from(label.as_str().to_uppercase().starts_with(*gold));
            for part in extract(premise, language) {
                assert_eq!(check(&part, premise, language).label, Label::Entailment, "{part} / {premise}");
            }
        }
        println!("{}: {right} of {} development pairs (the tuning set)", language.code(), pairs.len());
        assert!(right >= 82, "{right} of {}", pairs.len());
    }
}
