use polars::prelude::df;
use proptest::prelude::*;

use super::*;
use crate::table::{Chunks, floats};

fn questions(ids: &[&str]) -> QaPairs {
    let n = ids.len();
    QaPairs::new(df!("question_id" => ids, "question" => vec![""; n], "reference_answer" => vec![""; n]).unwrap())
        .unwrap()
}

fn run(rows: &[(&str, &str)]) -> RetrievalRun {
    let mut ranks: HashMap<&str, i64> = HashMap::new();
    let ranks: Vec<i64> = rows
        .iter()
        .map(|(question, _)| {
            let rank = ranks.entry(question).or_default();
            *rank += 1;
            *rank
        })
        .collect();
    let frame = df!(
        "retriever" => vec!["r"; rows.len()], "question_id" => rows.iter().map(|row| row.0).collect::<Vec<_>>(),
        "chunk_id" => rows.iter().map(|row| row.1).collect::<Vec<_>>(),
        "score" => ranks.iter().map(|rank| -(*rank as f64)).collect::<Vec<_>>(), "rank" => ranks,
        "text" => vec![""; rows.len()],
    );
    RetrievalRun::new(frame.unwrap()).unwrap()
}

fn value(scores: &Scores, question: &str, metric: &str) -> Option<f64> {
    let one = scores.only("question_id", question).unwrap().only("metric", metric).unwrap();
    floats(one.frame(), "value").unwrap()[0]
}

#[test]
fn graded_judgements_give_what_trec_eval_gives() {
    // Figures of trec_eval through PyPI pytrec-eval-terrier 0.5.11 on the same run and judgements, to six decimals.
    let truth = Judgements::of_chunks(
        &df!("question_id" => ["a", "a", "a", "a", "b", "b"], "chunk_id" => ["c1", "c3", "c4", "c9", "c1", "c2"],
            "grade" => [1.0, 3.0, 2.0, 0.0, 1.0, 1.0])
        .unwrap(),
    )
    .unwrap();
    let run = run(&[("a", "c2"), ("a", "c3"), ("a", "c1"), ("a", "c9"), ("a", "c4"), ("b", "c7"), ("b", "c2")]);
    let scores = score_ranking(&questions(&["a", "b"]), &run, &truth, &[3, 5]).unwrap();
    for (question, metric, expected) in GOLDEN {
        let found = value(&scores, question, metric).unwrap();
        assert!((found - expected).abs() < 1e-6, "{question} {metric}: {found}, expected {expected}");
    }
}

const GOLDEN: [(&str, &str, f64); 16] = [
    ("a", "precision@3", 0.666667),
    ("a", "precision@5", 0.600000),
    ("a", "map", 0.588889),
    ("a", "ndcg@3", 0.502491),
    ("a", "ndcg@5", 0.664970),
    ("a", "recall@3", 0.666667),
    ("a", "recall@5", 1.000000),
    ("a", "mrr", 0.500000),
    ("b", "precision@3", 0.333333),
    ("b", "precision@5", 0.200000),
    ("b", "map", 0.250000),
    ("b", "ndcg@3", 0.386853),
    ("b", "ndcg@5", 0.386853),
    ("b", "recall@3", 0.500000),
    ("b", "recall@5", 0.500000),
    ("b", "mrr", 0.500000),
];

#[test]
fn nothing_relevant_is_undefined_and_nothing_found_is_zero() {
    let truth = Judgements::of_chunks(&df!("question_id" => ["a"], "chunk_id" => ["c"]).unwrap()).unwrap();
    let scores = score_ranking(&questions(&["a", "b"]), &run(&[("b", "c")]), &truth, &[1]).unwrap();
    for metric in ["recall@1", "precision@1", "ndcg@1", "mrr", "map"] {
        assert_eq!((value(&scores, "a", metric), value(&scores, "b", metric)), (Some(0.0), None), "{metric}");
    }
    let summary = scores.only("metric", "mrr").unwrap().by(&["system"]).unwrap();
    assert_eq!(integers(summary.frame(), "n_undefined").unwrap(), [Some(1)]);
}

#[test]
fn provisions_are_projected_by_the_characters_they_share() {
    // Chunks of 100 characters that overlap by 20; one provision of 30 characters inside the overlap of two chunks,
    // one of 300 over four, one that touches a chunk by a fifth only.
    let starts: Vec<i64> = (0..6).map(|at| at * 80).collect();
    let chunks = Chunks::new(
        df!("chunk_id" => starts.iter().map(|at| format!("c{at}")).collect::<Vec<_>>(), "document_id" => vec!["act"; 6],
            "ordinal" => (0..6_i64).collect::<Vec<_>>(), "start" => starts.clone(),
            "end" => starts.iter().map(|at| at + 100).collect::<Vec<_>>(), "n_tokens" => vec![20_i64; 6],
            "text" => vec![""; 6])
        .unwrap(),
    )
    .unwrap();
    let passages = df!("question_id" => ["q", "q", "r", "s"],
        "document_id" => [Some("act"), Some("act"), Some("act"), None],
        "start" => [Some(75_i64), Some(0), Some(170), None], "end" => [Some(105_i64), Some(300), Some(190), None])
    .unwrap();
    let truth = Judgements::of_passages(&passages, &chunks, 0.5).unwrap();
    let frame = truth.frame().unwrap();
    let found: Vec<String> = texts(&frame, "chunk_id").unwrap().into_iter().flatten().collect();
    assert_eq!(found, ["c0", "c160", "c240", "c80", "c160", "c80"]);
    // c0 holds both units of q: 25 of 30 characters of the short one, all its own of the long one.
    let scores = score_ranking(&questions(&["q", "s"]), &run(&[("q", "c0"), ("q", "c400")]), &truth, &[2]).unwrap();
    assert_eq!(value(&scores, "q", "recall@2"), Some(1.0));
    assert_eq!(value(&scores, "q", "precision@2"), Some(0.5));
    assert_eq!(value(&scores, "s", "recall@2"), None);
    assert!(Judgements::of_passages(&passages, &chunks, 0.0).is_err());
}

#[test]
fn broken_runs_are_refused() {
    let truth = Judgements::of_chunks(&df!("question_id" => ["a"], "chunk_id" => ["c"]).unwrap()).unwrap();
    let asked = questions(&["a"]);
    assert!(
        score_ranking(&asked, &run(&[("a", "c"), ("a", "c")]), &truth, &[1]).unwrap_err().to_string().contains("twice")
    );
    assert!(score_ranking(&asked, &run(&[]), &truth, &[1]).unwrap_err().to_string().contains("empty"));
    assert!(score_ranking(&asked, &run(&[("a", "c")]), &truth, &[0]).is_err());
}

proptest! {
    #[test]
    fn values_are_shares_and_a_relevant_chunk_moved_up_never_hurts(
        relevant in prop::collection::vec(any::<bool>(), 1..9), k in 1_usize..10, at in 0_usize..8
    ) {
        let names: Vec<String> = (0..relevant.len()).map(|place| format!("c{place}")).collect();
        let truth = Judged::binary(names.iter().zip(&relevant).filter(|(_, yes)| **yes).map(|(name, _)| name.clone()));
        let before = values(&names, &truth, &[k]);
        prop_assert!(before.iter().all(|value| (0.0..=1.0 + 1e-12).contains(value)));
        let at = at % relevant.len();
        if at > 0 && relevant[at] && !relevant[at - 1] {
            let mut better = names.clone();
            better.swap(at - 1, at);
            for (before, after) in before.iter().zip(values(&better, &truth, &[k])) {
                prop_assert!(after >= before - 1e-12);
            }
        }
    }
}
