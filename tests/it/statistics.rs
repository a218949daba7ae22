//! Statistics against scipy, statsmodels, scikit-learn, ppi_py, rouge_score and sacreBLEU: `golden/statistics.json`,
//! which `golden/make_statistics.py` makes.

use claimlab::analysis::{
    Bootstrap, benjamini_hochberg, holm, mcnemar, minimum_detectable_difference, prediction_powered, sign_flip, wilson,
};
use claimlab::metrics::{Agreement, ConfusionMatrix, bleu, rouge_l};
use claimlab::polars;
use serde_json::Value;

fn golden(name: &str) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/statistics.json");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let rows = all[name].as_array().unwrap().clone();
    assert!(!rows.is_empty());
    rows
}

fn numbers(row: &Value, name: &str) -> Vec<f64> {
    row[name].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

fn close(found: f64, row: &Value, name: &str, tolerance: f64) {
    let expected = row[name].as_f64().unwrap();
    assert!((found - expected).abs() <= tolerance, "{name}: {found}, expected {expected}");
}

#[test]
fn wilson_intervals_are_those_of_statsmodels() {
    for row in golden("wilson") {
        let count = |name: &str| row[name].as_u64().unwrap();
        let (low, high) = wilson(count("count"), count("n"), row["level"].as_f64().unwrap()).unwrap();
        close(low, &row, "low", 1e-9);
        close(high, &row, "high", 1e-9);
    }
}

#[test]
fn exact_mcnemar_is_that_of_statsmodels() {
    for row in golden("mcnemar") {
        close(mcnemar(row["b"].as_u64().unwrap(), row["c"].as_u64().unwrap()), &row, "p", 1e-9);
    }
}

#[test]
fn adjusted_p_values_are_those_of_statsmodels() {
    for row in golden("adjusted") {
        for (adjusted, name) in [(holm(&numbers(&row, "p")), "holm"), (benjamini_hochberg(&numbers(&row, "p")), "bh")] {
            for (found, expected) in adjusted.into_iter().zip(numbers(&row, name)) {
                assert!((found.unwrap() - expected).abs() < 1e-12, "{name}: {found:?}, expected {expected}");
            }
        }
    }
}

#[test]
fn sign_flips_are_those_of_scipy() {
    for row in golden("sign_flip") {
        let differences: Vec<(f64, usize)> =
            numbers(&row, "differences").into_iter().enumerate().map(|(place, value)| (value, place)).collect();
        let test = sign_flip(&differences, 20_000, 3).unwrap();
        assert_eq!(test.exact, row["exact"].as_bool().unwrap());
        let p = row["p"].as_f64().unwrap();
        // Two drawn p-values differ by their own error, each of 20,000 draws.
        let tolerance = if test.exact { 1e-9 } else { 5.0 * (2.0 * p * (1.0 - p) / 20_000.0).sqrt() };
        close(test.p, &row, "p", tolerance);
    }
}

#[test]
fn bootstrap_intervals_are_those_of_scipy_within_their_error() {
    for row in golden("bootstrap") {
        let values: Vec<(f64, usize)> =
            numbers(&row, "values").into_iter().enumerate().map(|(place, value)| (value, place)).collect();
        let settings = Bootstrap::new().resamples(50_000);
        for (settings, name) in [(settings, "percentile"), (settings.bca(), "BCa")] {
            let found = settings.mean(&values).unwrap();
            let expected = numbers(&row, name);
            let width = expected[1] - expected[0];
            for (end, expected) in [(found.low, expected[0]), (found.high, expected[1])] {
                let error = (end.unwrap() - expected).abs() / width;
                assert!(error < 0.025, "{} {name}: {found:?}, expected {expected}", row["name"]);
            }
        }
    }
}

#[test]
fn agreement_is_that_of_scikit_learn_and_statsmodels() {
    let labels = ["entailment", "neutral", "contradiction"];
    for row in golden("classification") {
        let list = |name: &str| -> Vec<String> {
            row[name].as_array().unwrap().iter().map(|label| label.as_str().unwrap().to_owned()).collect()
        };
        let said: Vec<Option<String>> = list("said").into_iter().map(Some).collect();
        let matrix = ConfusionMatrix::new(&labels, &list("given"), &said).unwrap();
        let expected: Vec<Vec<u64>> = serde_json::from_value(row["matrix"].clone()).unwrap();
        assert_eq!(matrix.rows(), expected);
        for (place, label) in labels.iter().enumerate() {
            for (found, name) in
                [(matrix.precision(label), "precision"), (matrix.recall(label), "recall"), (matrix.f1(label), "f1")]
            {
                assert!((found.unwrap() - numbers(&row, name)[place]).abs() < 1e-12, "{label} {name}");
            }
        }
        for measure in
            [Agreement::MacroF1, Agreement::Accuracy, Agreement::BalancedAccuracy, Agreement::Kappa, Agreement::Mcc]
        {
            close(measure.of(&matrix).unwrap(), &row, measure.as_str(), 1e-9);
        }
        let pabak = (3.0 * matrix.accuracy().unwrap() - 1.0) / 2.0;
        assert!((matrix.pabak().unwrap() - pabak).abs() < 1e-12);
    }
}

#[test]
fn prediction_powered_means_are_those_of_ppi_py() {
    for row in golden("prediction_powered") {
        let labelled: Vec<(f64, f64)> = numbers(&row, "labels").into_iter().zip(numbers(&row, "predicted")).collect();
        let found = prediction_powered(&numbers(&row, "unlabelled"), &labelled, 0.95).unwrap();
        close(found.estimate, &row, "estimate", 1e-9);
        close(found.low, &row, "low", 1e-6);
        close(found.high, &row, "high", 1e-6);
    }
}

#[test]
fn detectable_differences_are_those_of_statsmodels() {
    for row in golden("detectable") {
        let n = usize::try_from(row["n"].as_u64().unwrap()).unwrap();
        let found = minimum_detectable_difference(row["sd"].as_f64().unwrap(), n, 0.05, 0.8).unwrap();
        // statsmodels counts rejections on the wrong side as power, too: a difference in the sixth decimal.
        close(found, &row, "difference", 1e-5);
    }
}

#[test]
fn text_overlap_is_that_of_rouge_score_and_sacrebleu() {
    for row in golden("overlap") {
        let text = |name: &str| row[name].as_str().unwrap().to_owned();
        close(rouge_l(&text("response"), &text("reference")).unwrap(), &row, "rouge_l", 1e-12);
        close(bleu(&text("response"), &text("reference")).unwrap(), &row, "bleu", 1e-9);
    }
}

#[test]
fn the_same_table_comes_out_on_any_number_of_threads() {
    use polars::prelude::*;
    let n = 90;
    let frame = df!(
        "system" => (0..n).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect::<Vec<_>>(),
        "question_id" => (0..n).map(|i| format!("q{}", i / 2)).collect::<Vec<_>>(),
        "attempt" => vec![1_i64; n], "metric" => vec!["f1"; n], "checker" => vec!["c"; n],
        "value" => (0..n).map(|i| Some((i * 37 % 101) as f64 / 100.0)).collect::<Vec<_>>(),
        "undefined" => vec![None::<&str>; n],
    )
    .unwrap();
    let scores = claimlab::table::Scores::new(frame).unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| (scores.by(&["system"]).unwrap().into_frame(), scores.compare(&[]).unwrap()))
    };
    let (one, many) = (on(1), on(5));
    assert!(one.0.equals_missing(&many.0) && one.1.equals_missing(&many.1));
}
