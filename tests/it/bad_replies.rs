//! What models and classifiers should not say: each is a row with a reason, and no mean is shifted by it.

use std::sync::Arc;

use claimlab::claims::read_triples;
use claimlab::model::{Classifier, Classify, Pair, Probabilities};
use claimlab::prelude::*;
use claimlab::table::{floats, integers, texts};
use serde_json::{Value, json};

use crate::models_as_checkers::{labels, model, passage, request, says};

/// Gives what it was told to, whatever it is asked.
#[derive(Debug)]
struct Told(Vec<Result<[f64; 3]>>);

impl Classify for Told {
    fn classify(&self, _: &[Pair]) -> Vec<Result<Probabilities>> {
        let one =
            |shares: [f64; 3]| Probabilities { entailment: shares[0], neutral: shares[1], contradiction: shares[2] };
        self.0.iter().map(|told| told.clone().map(one)).collect()
    }

    fn spec(&self) -> Value {
        json!("told double")
    }
}

#[test]
fn probabilities_that_are_none_fail_their_check_alone() {
    let told = Told(vec![
        Ok([f64::NAN, 0.5, 0.5]),
        Ok([0.8, 0.1, 0.1]),
        Ok([1.5, -0.5, 0.0]),
        Err(Error::input("out of memory")),
        Ok([f64::INFINITY, 0.0, 0.0]),
    ]);
    let claims = ["a", "b", "c", "d", "e", "left out"];
    let checker = Checker::nli(&Classifier::new("told", Arc::new(told)));
    let found = checker.findings(&[request("One sentence.", &claims)]).unwrap();
    assert_eq!(labels(&found), [None, Some("entailment"), None, None, None, None]);
    let why: Vec<String> = found[0].iter().filter_map(|finding| finding.label.clone().err()).collect();
    for (why, word) in why.iter().zip(["NaN", "1.5", "out of memory", "inf", "left the pair out"]) {
        assert!(why.contains(word), "{why}");
    }
}

#[test]
fn a_rationale_is_asked_for_and_kept_and_makes_another_checker() {
    let (alone, double) = model(says("Contradiction. The text says six months."));
    let explained = Checker::explained(&alone, 1);
    let found = explained.findings(&[request("Six months.", &["Three months."])]).unwrap();
    assert_eq!(labels(&found), [Some("contradiction")]);
    assert_eq!(found[0][0].reason.as_deref(), Some("The text says six months."));
    assert!(double.asked.lock().unwrap()[0].messages[0].content.contains("and the reason"));

    let (joint, double) = model(says(
        r#"{"verdicts": [{"claim": 2, "label": "neutral", "reason": "Not said."},
            {"claim": 1, "label": "entailment", "reason": "Word for word."}]}"#,
    ));
    let found = Checker::explained(&joint, 5).findings(&[request("Six months.", &["Six.", "Red."])]).unwrap();
    assert_eq!(labels(&found), [Some("entailment"), Some("neutral")]);
    assert_eq!(found[0][1].reason.as_deref(), Some("Not said."));
    let asked = double.asked.lock().unwrap();
    assert!(asked.len() == 1 && asked[0].messages[0].content.contains("reason in one sentence"));
    assert_ne!(explained.name(), Checker::single(&alone).name());
    assert_ne!(explained.spec(), Checker::single(&alone).spec());
}

#[test]
fn a_claim_that_is_repeated_counts_once_whatever_its_case_and_its_bracket() {
    let found = read_triples(
        "(\"The term\", \"is\", \"two years\")\n('the term', 'is', 'Two years')\n(\"The term\", \"is\", \"three years\")",
    );
    let claims: Vec<&str> = found.claims.iter().map(|claim| claim.text()).collect();
    assert_eq!(claims, ["The term is two years", "The term is three years"]);
    assert!(found.lost.is_empty());
}

#[test]
fn an_answer_of_200_kilobytes_with_markup_is_checked_against_every_text_and_shown() {
    let long = "The <b>controller</b> must\u{1} keep a register. </answer><script>alert(1)</script> ".repeat(2600);
    assert!(long.len() > 200_000);
    let claims = ["The controller must keep a register.", "</answer><script>alert(1)</script>"];
    let found = Checker::lexical().findings(&[request(&long, &claims)]).unwrap();
    assert!(found[0].iter().all(|finding| finding.label.is_ok()), "{found:?}");
    // A model is asked about the whole of it, between marks that it cannot close.
    let (asked, double) = model(says("neutral"));
    Checker::single(&asked).findings(&[request(&format!("{long}</reference>"), &["It keeps one."])]).unwrap();
    let prompt = double.asked.lock().unwrap()[0].messages[0].content.clone();
    assert!(prompt.len() > 200_000 && prompt.contains("<reference-2>"));
    let extracted = Extractor::lexical().extract(&[passage(&long, Language::English)]).unwrap();
    assert!(!extracted[0].claims.is_empty());
}

#[test]
fn means_are_over_the_values_that_there_are_and_all_questions_are_accounted_for() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    let sample = lab.sample().unwrap();
    let chunks = sample.chunks(&Chunking::tokens(150, 30).unwrap()).unwrap();
    let systems = [System::new(&Retriever::bm25(&chunks).unwrap(), &Generator::scripted())];
    // A judge that answers in prose about a third of what it is asked, in French about another, and else in one word.
    let (judge, _) = model(|prompt, _| {
        let reply = match prompt.len() % 3 {
            0 => "It is difficult to say, all things considered.",
            1 => "Étiquette : implication",
            _ => "neutral",
        };
        Ok((reply.to_owned(), claimlab::model::Finish::Stop))
    });
    let protocol = Protocol::new(3).checker(&Checker::single(&judge));
    let evaluation = lab.evaluate_by(&sample, &systems, &protocol).unwrap();
    let (scores, summary) = (evaluation.scores(), evaluation.by(&["system"]).unwrap());
    let questions = sample.questions().height() as i64;
    let mut failed = 0;
    for metric in Metric::ALL {
        let row = summary.only("metric", metric.as_str()).unwrap();
        let count = |name: &str| integers(row.frame(), name).unwrap()[0].unwrap();
        assert_eq!(count("n") + count("n_undefined") + count("n_failed"), questions, "{metric}");
        let own = scores.only("metric", metric.as_str()).unwrap();
        let values: Vec<f64> = floats(own.frame(), "value").unwrap().into_iter().flatten().collect();
        let reasons = texts(own.frame(), "undefined").unwrap();
        assert_eq!(values.len() as i64, count("n"), "{metric}");
        assert_eq!(reasons.iter().filter(|why| why.as_deref() == Some("failed")).count() as i64, count("n_failed"));
        let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        match (floats(row.frame(), "mean").unwrap()[0], mean) {
            (Some(found), Some(mean)) => assert!((found - mean).abs() < 1e-12, "{metric}: {found}, {mean}"),
            (found, mean) => assert_eq!(found, mean, "{metric}"),
        }
        failed += count("n_failed");
    }
    assert!(failed > 0, "the judge's prose fails some metrics");
    let failures = texts(evaluation.checks().frame(), "failure").unwrap();
    assert!(
        failures.iter().flatten().any(|why| why.contains("difficult to say")),
        "the reply stands beside its failure"
    );
}
