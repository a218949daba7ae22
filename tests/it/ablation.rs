//! An ablation of retrieval on the sample.

use std::sync::Arc;

use claimlab::metrics::{Judgements, score_ranking};
use claimlab::model::Embed;
use claimlab::prelude::*;
use claimlab::retrieval::{Bm25, Dense};
use claimlab::study::{Ablation, Plan};
use claimlab::table::{floats, integers, texts};

use super::retrieval::Counts;

/// Where the sample's passages lie in its acts.
fn passages(sample: &Benchmark) -> DataFrame {
    let chunks = sample.chunks(&Chunking::tokens(60, 10).unwrap()).unwrap();
    sample.relevance(&chunks).unwrap().passages().clone()
}

fn plan(model: &Arc<dyn Embed>) -> Ablation {
    let dense = Dense::new("Counts", model);
    Ablation::new(&[Plan::bm25(), Plan::dense(&dense), Plan::rrf(&[Plan::bm25(), Plan::dense(&dense)])])
        .lexical(&[Bm25::opensearch(), Bm25::legal()])
        .chunking("60 tokens", &Chunking::tokens(60, 10).unwrap())
        .chunking("200 tokens", &Chunking::tokens(200, 40).unwrap())
        .at(&[1, 5])
}

#[test]
fn one_call_gives_one_tidy_table_paired_differences_and_a_figure() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    let sample = lab.sample().unwrap();
    let passages = passages(&sample);
    let model: Arc<dyn Embed> = Arc::new(Counts);
    let plan = plan(&model);
    assert_eq!(plan.n_settings(), 10);
    let done = lab.ablate(&sample, &plan, &passages).unwrap();
    let table = done.table().unwrap();
    // Three metrics at two cut-offs, and two of the whole ranking.
    assert_eq!(table.height(), 10 * 8);
    assert_eq!(integers(&table, "k").unwrap().iter().filter(|k| k.is_none()).count(), 20);
    for (mean, (low, high)) in floats(&table, "mean")
        .unwrap()
        .iter()
        .zip(floats(&table, "ci_low").unwrap().iter().zip(floats(&table, "ci_high").unwrap()))
    {
        assert!(low.unwrap() <= mean.unwrap() && mean.unwrap() <= high.unwrap());
    }
    // One number of the table, made by hand from its parts.
    let chunks = sample.chunks(&Chunking::tokens(200, 40).unwrap()).unwrap();
    let run = Retriever::bm25_with(&chunks, &Bm25::legal()).unwrap().retrieve(&sample.questions(), 5).unwrap();
    let truth = Judgements::of_passages(&passages, &chunks, 0.5).unwrap();
    let by_hand = score_ranking(&sample.questions(), &run, &truth, &[5]).unwrap();
    let by_hand = by_hand.only("metric", "recall@5").unwrap().by(&["system"]).unwrap();
    let row = texts(&table, "lexical")
        .unwrap()
        .iter()
        .zip(texts(&table, "retriever").unwrap())
        .zip(texts(&table, "chunking").unwrap())
        .zip(texts(&table, "metric").unwrap().into_iter().zip(integers(&table, "k").unwrap()))
        .position(|(((lexical, retriever), chunking), (metric, k))| {
            lexical.as_deref() == Some("BM25 legal")
                && retriever.as_deref() == Some("BM25")
                && chunking.as_deref() == Some("200 tokens")
                && metric.as_deref() == Some("recall")
                && k == Some(5)
        })
        .unwrap();
    assert_eq!(floats(&table, "mean").unwrap()[row], floats(by_hand.frame(), "mean").unwrap()[0]);
    let gains = done.against("BM25", "BM25", "200 tokens").unwrap();
    assert_eq!(gains.height(), 9 * 8);
    assert!(integers(&gains, "n").unwrap().iter().all(|n| n.unwrap() > 40));
    assert!(done.against("BM25", "BM25", "9 tokens").unwrap_err().to_string().contains("200 tokens"));
    let french = done.only("language", "fr").unwrap();
    let gains = french.against("BM25", "BM25", "200 tokens").unwrap();
    let n_french = sample.questions().only("language", "fr").unwrap().height() as i64;
    assert!(integers(&gains, "n").unwrap().iter().all(|n| (n_french - 5..=n_french).contains(&n.unwrap())));
    assert!(done.only("language", "de").is_err());
    let figure = done.figure("recall").unwrap();
    assert!(figure.svg().contains("60 tokens") && figure.svg().contains("recall@5"));
    assert!(done.figure("faithfulness").is_err());
    // Again: every ranking is read from the lab.
    let stored = std::fs::read_dir(folder.path().join("artifacts/retrieval")).unwrap().count();
    assert_eq!(stored, 10);
    let again = lab.ablate(&sample, &plan, &passages).unwrap();
    assert!(again.table().unwrap().equals_missing(&table));
}

#[test]
fn a_plan_that_lacks_something_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    let sample = lab.sample().unwrap();
    let passages = passages(&sample);
    let chunking = Chunking::tokens(60, 10).unwrap();
    let whole = || Ablation::new(&[Plan::bm25()]).chunking("a", &chunking);
    for (plan, told) in [
        (Ablation::new(&[]).chunking("a", &chunking), "no retriever"),
        (Ablation::new(&[Plan::bm25()]), "no chunking"),
        (whole().at(&[]), "no cut-off"),
        (whole().at(&[5, 0]), "no cut-off"),
        (whole().lexical(&[]), "no setting of BM25"),
        (whole().chunking("a", &chunking), "two chunkings of one name"),
    ] {
        assert!(lab.ablate(&sample, &plan, &passages).unwrap_err().to_string().contains(told), "{told}");
    }
    let nowhere = passages.head(Some(0));
    assert!(lab.ablate(&sample, &whole(), &nowhere).unwrap_err().to_string().contains("no question has a passage"));
}
