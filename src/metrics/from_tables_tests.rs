use polars::prelude::*;

use super::*;
use crate::table::texts;

/// One question, one retriever with two chunks, one system, two response claims and one reference claim.
struct Run {
    questions: QaPairs,
    found: RetrievalRun,
    run: GenerationRun,
    reference: Claims,
    response: Claims,
    checks: Checks,
}

fn claims(ids: &[&str], side: &str, system: Option<&str>, texts: &[Option<&str>]) -> Claims {
    let n = ids.len();
    let frame = df!(
        "claim_id" => ids, "extractor" => vec!["x"; n], "question_id" => vec!["q"; n], "side" => vec![side; n],
        "system" => vec![system; n], "attempt" => vec![system.map(|_| 1_i64); n],
        "ordinal" => (0..n as i64).collect::<Vec<_>>(), "text" => texts,
    );
    Claims::new(frame.unwrap()).unwrap()
}

fn example() -> Run {
    let checks = df!(
        "checker" => ["c"; 9],
        "direction" => ["reference_vs_chunks", "reference_vs_chunks", "reference_vs_response", "response_vs_reference",
            "response_vs_reference", "response_vs_chunks", "response_vs_chunks", "response_vs_chunks", "response_vs_chunks"],
        "question_id" => ["q"; 9],
        "claim_id" => ["g0", "g0", "g0", "r0", "r1", "r0", "r1", "r0", "r1"],
        "system" => [None, None, Some("s"), Some("s"), Some("s"), Some("s"), Some("s"), Some("s"), Some("s")],
        "attempt" => [None, None, Some(1_i64), Some(1), Some(1), Some(1), Some(1), Some(1), Some(1)],
        "retriever" => [Some("b"), Some("b"), None, None, None, Some("b"), Some("b"), Some("b"), Some("b")],
        "chunk_id" => [Some("k0"), Some("k1"), None, None, None, Some("k0"), Some("k0"), Some("k1"), Some("k1")],
        "label" => ["entailment", "neutral", "entailment", "entailment", "neutral", "entailment", "neutral", "neutral",
            "entailment"],
        "failure" => [None::<&str>; 9],
    );
    Run {
        questions: QaPairs::new(
            df!("question_id" => ["q"], "question" => ["?"], "reference_answer" => ["a"], "context_unit" => ["u"])
                .unwrap(),
        )
        .unwrap(),
        found: RetrievalRun::new(
            df!("retriever" => ["b", "b"], "question_id" => ["q", "q"], "rank" => [1_i64, 2],
                "chunk_id" => ["k0", "k1"], "score" => [2.0, 1.0], "text" => ["t", "t"])
            .unwrap(),
        )
        .unwrap(),
        run: GenerationRun::new(
            df!("system" => ["s"], "question_id" => ["q"], "attempt" => [1_i64], "retriever" => ["b"],
                "generator" => ["g"], "response" => [Some("r")], "finish_reason" => [Some("stop")],
                "prompt_tokens" => [None::<i64>], "completion_tokens" => [None::<i64>], "latency_ms" => [None::<f64>],
                "failure" => [None::<&str>])
            .unwrap(),
        )
        .unwrap(),
        reference: claims(&["g0"], "reference", None, &[Some("g")]),
        response: claims(&["r0", "r1"], "response", Some("s"), &[Some("r"), Some("r")]),
        checks: Checks::new(checks.unwrap()).unwrap(),
    }
}

impl Run {
    fn score(&self) -> Result<Scores> {
        score_run(
            &self.questions,
            &self.found,
            &self.run,
            (&self.reference, &self.response),
            &self.checks,
            Mode::Strict,
        )
    }

    fn outcomes(&self) -> Vec<(Option<f64>, Option<String>)> {
        let scores = self.score().unwrap();
        let values = scores.frame().column("value").unwrap().f64().unwrap().iter().collect::<Vec<_>>();
        values.into_iter().zip(texts(scores.frame(), "undefined").unwrap()).collect()
    }

    fn failed(&self) -> Vec<&'static str> {
        let outcomes = self.outcomes();
        let failed = |outcome: &(Option<f64>, Option<String>)| outcome.1.as_deref() == Some("failed");
        Metric::ALL.iter().zip(&outcomes).filter(|(_, one)| failed(one)).map(|(metric, _)| metric.as_str()).collect()
    }
}

#[test]
fn rows_in_any_order_give_the_matrices() {
    let mut run = example();
    let expected = LabelMatrices::from_letters("en", "e", "en ne", "en").unwrap();
    let matrices = |run: &Run| {
        matrices_of_run(&run.found, &run.run, (&run.reference, &run.response), &run.checks).unwrap()[0].3.clone()
    };
    assert_eq!(matrices(&run), expected);
    let backwards = run.checks.frame().reverse();
    run.checks = Checks::new(backwards.clone()).unwrap();
    assert_eq!(matrices(&run), expected);
    // A table that came together from batches, and one whose response claims are known by their ids alone.
    let mut batches = backwards.slice(0, 2);
    for row in 2..9 {
        batches.vstack_mut(&backwards.slice(row, 1)).unwrap();
    }
    assert_eq!(batches.column("label").unwrap().n_chunks(), 8);
    run.checks = Checks::new(batches.clone()).unwrap();
    assert_eq!(matrices(&run), expected);
    let direction = texts(&batches, "direction").unwrap();
    let systems: Vec<Option<&str>> =
        direction.iter().map(|name| (name.as_deref() == Some("reference_vs_response")).then_some("s")).collect();
    batches.with_column(Series::new("system".into(), systems).into()).unwrap();
    run.checks = Checks::new(batches).unwrap();
    assert_eq!(matrices(&run), expected);
    assert_eq!(run.failed(), [""; 0]);
    assert_eq!(run.outcomes()[0], (Some(0.5), None));
    assert_eq!(texts(run.score().unwrap().frame(), "unit").unwrap()[0].as_deref(), Some("q"));
}

#[test]
fn a_response_whose_claims_could_not_be_had_fails_all_but_the_retrievers_metrics() {
    let mut run = example();
    run.response = claims(&["lost"], "response", Some("s"), &[None]);
    let outcomes = run.outcomes();
    assert_eq!(run.failed().len(), 9);
    assert_eq!(outcomes[3], (Some(1.0), None), "claim recall does not hinge on the response");
    assert_eq!(outcomes[4], (Some(0.5), None));
    // One claim lost of three is as bad: the share of correct ones is not known.
    run.response = claims(&["r0", "r1", "lost"], "response", Some("s"), &[Some("r"), Some("r"), None]);
    assert_eq!(run.failed().len(), 9);
}

#[test]
fn a_reference_whose_claims_could_not_be_had_fails_what_needs_them() {
    let mut run = example();
    run.reference = claims(&["lost"], "reference", None, &[None]);
    let failed = [
        "recall",
        "f1",
        "claim_recall",
        "context_precision",
        "context_utilization",
        "noise_sensitivity_in_relevant",
        "noise_sensitivity_in_irrelevant",
    ];
    assert_eq!(run.failed(), failed);
}

#[test]
fn a_failed_call_is_failed_and_no_claims_are_undefined() {
    let mut run = example();
    run.response = claims(&[], "response", Some("s"), &[]);
    let reasons: Vec<Option<String>> = run.outcomes().into_iter().map(|(_, reason)| reason).collect();
    assert_eq!(reasons[0].as_deref(), Some("no_response_claims"));
    let mut frame = run.run.frame().clone();
    frame.with_column(Series::new("response".into(), [None::<&str>]).into()).unwrap();
    run.run = GenerationRun::new(frame).unwrap();
    assert_eq!(run.failed().len(), 9);
}

#[test]
fn labels_off_the_menu_two_verdicts_and_repeated_responses_are_errors() {
    let changed = |row: usize, label: &str| {
        let mut run = example();
        let mut labels = texts(run.checks.frame(), "label").unwrap();
        labels[row] = Some(label.to_owned());
        let mut frame = run.checks.frame().clone();
        frame.with_column(Series::new("label".into(), labels).into()).unwrap();
        run.checks = Checks::new(frame).unwrap();
        run
    };
    let error = changed(4, "Perhaps").score().unwrap_err().to_string();
    assert!(error.contains("row 4") && error.contains("\"Perhaps\" is not a label"), "{error}");

    let mut run = example();
    let twice = run.checks.frame().vstack(changed(3, "contradiction").checks.frame()).unwrap();
    run.checks = Checks::new(twice).unwrap();
    let error = run.score().unwrap_err().to_string();
    assert!(error.contains("\"r0\"") && error.contains("two different verdicts"), "{error}");

    let mut run = example();
    run.run = GenerationRun::new(run.run.frame().vstack(run.run.frame()).unwrap()).unwrap();
    assert!(run.score().unwrap_err().to_string().contains("two responses"));
}

#[test]
fn a_missing_check_is_unknown_and_checks_of_others_are_left_aside() {
    let mut run = example();
    run.checks = Checks::new(run.checks.frame().slice(0, 4)).unwrap();
    assert!(run.failed().contains(&"precision"));
    assert!(!run.failed().contains(&"recall"));
    run.response = claims(&["r0"], "response", Some("s"), &[Some("r")]);
    assert!(!run.failed().contains(&"precision"));
}

#[test]
fn a_response_of_many_claims_finds_each_of_them_in_any_order() {
    let mut run = example();
    let n = 150;
    let ids: Vec<String> = (0..n).map(|claim| format!("claim {claim}")).collect();
    let names: Vec<&str> = ids.iter().map(String::as_str).collect();
    run.response = claims(&names, "response", Some("s"), &vec![Some("r"); n]);
    // Every seventh one after the other, so that no neighbour is the next row's claim.
    let order: Vec<usize> = (0..n).map(|row| row * 7 % n).collect();
    let label = |claim: usize| if claim % 3 == 0 { "entailment" } else { "neutral" };
    let checks = df!(
        "checker" => vec!["c"; n], "direction" => vec!["response_vs_reference"; n], "question_id" => vec!["q"; n],
        "claim_id" => order.iter().map(|claim| names[*claim]).collect::<Vec<_>>(), "system" => vec!["s"; n],
        "attempt" => vec![1_i64; n], "retriever" => vec![None::<&str>; n], "chunk_id" => vec![None::<&str>; n],
        "label" => order.iter().map(|claim| label(*claim)).collect::<Vec<_>>(), "failure" => vec![None::<&str>; n],
    );
    run.checks = Checks::new(checks.unwrap()).unwrap();
    let claims = (&run.reference, &run.response);
    let matrices = matrices_of_run(&run.found, &run.run, claims, &run.checks).unwrap()[0].3.clone();
    let found: Vec<&str> = matrices.response_vs_reference.iter().map(|label| label.unwrap().as_str()).collect();
    assert_eq!(found, (0..n).map(label).collect::<Vec<_>>());
}

#[test]
fn scores_carry_what_is_known_of_their_question_and_nothing_of_an_unknown_one() {
    let mut run = example();
    run.questions = QaPairs::new(
        df!("question_id" => ["p", "q"], "question" => ["?", "?"], "reference_answer" => ["a", "a"],
            "language" => [Some("fr"), Some("en")], "persona" => [None::<&str>; 2], "context_unit" => ["u", "u"])
        .unwrap(),
    )
    .unwrap();
    let column = |run: &Run, name: &str| texts(run.score().unwrap().frame(), name).unwrap()[10].clone();
    assert_eq!(column(&run, "language").as_deref(), Some("en"));
    assert_eq!(column(&run, "persona"), None);
    assert_eq!(column(&run, "unit").as_deref(), Some("p"), "the first question with this passage");
    assert_eq!(column(&run, "metric").as_deref(), Some("faithfulness"));
    run.questions = QaPairs::new(run.questions.frame().head(Some(1))).unwrap();
    assert_eq!((column(&run, "language"), column(&run, "unit")), (None, None));
}
