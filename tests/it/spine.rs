//! The sample from files to scores.

use claimlab::prelude::*;
use claimlab::table::{floats, texts};

fn lab() -> (tempfile::TempDir, Lab) {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    (folder, lab)
}

fn evaluate(lab: &Lab) -> (Benchmark, Evaluation) {
    let sample = lab.sample().unwrap();
    let chunks = sample.chunks(&Chunking::tokens(150, 30).unwrap()).unwrap();
    let retrievers = [Retriever::bm25(&chunks).unwrap(), Retriever::random_indexing(&chunks).unwrap()];
    let generators = [Generator::extractive(), Generator::scripted()];
    let systems: Vec<System> = retrievers
        .iter()
        .flat_map(|retriever| generators.iter().map(move |generator| System::new(retriever, generator)))
        .collect();
    let evaluation = lab.evaluate(&sample, &systems, 5).unwrap();
    (sample, evaluation)
}

#[test]
fn the_sample_covers_every_category_persona_and_label() {
    let (_folder, lab) = lab();
    let sample = lab.sample().unwrap();
    let questions = sample.questions();
    for (column, values) in [
        ("language", &["en", "fr"][..]),
        ("persona", &["citizen", "civil_officer", "legal_expert"]),
        ("category", &["general_legal_research", "factual_recall", "false_premise", "jurisdiction_time_specific"]),
        ("hops", &["single", "multi"]),
    ] {
        for value in values {
            assert!(questions.only(column, value).unwrap().height() >= 6, "{column} = {value}");
        }
    }
    for language in ["en", "fr"] {
        assert!(questions.only("language", language).unwrap().height() >= 30);
        let claims = sample.labelled_claims().unwrap().only("language", language).unwrap();
        for label in ["entailment", "neutral", "contradiction"] {
            assert!(claims.only("label", label).unwrap().height() >= 12, "{language} {label}");
        }
    }
    assert_eq!(sample.acts()[0].provisions().len(), 42);
    assert_eq!(sample.acts()[1].provisions().len(), 120);
}

#[test]
fn every_metric_takes_telling_values_and_the_identities_hold() {
    let (_folder, lab) = lab();
    let (sample, evaluation) = evaluate(&lab);
    let scores = evaluation.scores();
    assert_eq!(scores.height(), sample.questions().height() * 4 * 11);
    let frame = scores.frame();
    let (metrics, values) = (texts(frame, "metric").unwrap(), floats(frame, "value").unwrap());
    for metric in Metric::ALL {
        let mut seen: Vec<f64> = metrics
            .iter()
            .zip(&values)
            .filter(|(name, _)| name.as_deref() == Some(metric.as_str()))
            .filter_map(|(_, value)| *value)
            .collect();
        seen.sort_by(f64::total_cmp);
        seen.dedup();
        assert!(seen.len() >= 3, "{metric} takes only {seen:?}");
        assert!(seen.iter().all(|value| (0.0..=1.0).contains(value)), "{metric}");
    }
    for rows in values.chunks(11) {
        if let [Some(precision), .., Some(relevant), Some(irrelevant), Some(hallucination), Some(own), Some(faithful)] =
            rows
        {
            assert!((faithful + hallucination + own - 1.0).abs() < 1e-9);
            assert!((precision + relevant + irrelevant + hallucination - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn a_second_run_reads_what_the_first_stored_and_agrees() {
    let (folder, lab) = lab();
    let (_, first) = evaluate(&lab);
    let stored = |kind: &str| std::fs::read_dir(folder.path().join("artifacts").join(kind)).unwrap().count();
    let counts = ["retrieval", "generation", "claims", "checks"].map(stored);
    // Claims of the reference answers and of four systems; checks in batches, a retriever's or a system's each.
    assert_eq!(counts[..3], [2, 4, 5]);
    assert!(counts[3] >= 6, "{counts:?}");
    let (_, second) = evaluate(&lab);
    assert_eq!(counts, ["retrieval", "generation", "claims", "checks"].map(stored));
    assert!(first.scores().frame().equals_missing(second.scores().frame()));
}

#[test]
fn an_index_on_disk_ranks_like_the_one_in_memory() {
    let (_folder, lab) = lab();
    let sample = lab.sample().unwrap();
    let chunks = sample.chunks(&Chunking::tokens(120, 0).unwrap()).unwrap();
    let questions = sample.questions();
    let memory = Retriever::bm25(&chunks).unwrap().retrieve(&questions, 5).unwrap();
    for _ in 0..2 {
        let disk = Retriever::bm25_on_disk(&lab, &chunks).unwrap().retrieve(&questions, 5).unwrap();
        assert!(memory.frame().equals_missing(disk.frame()));
    }
}

#[test]
fn a_page_escapes_what_comes_from_outside() {
    let (_folder, lab) = lab();
    let (_, evaluation) = evaluate(&lab);
    let worst = evaluation.worst(Metric::F1, 1).unwrap();
    let question = texts(&worst, "question_id").unwrap()[0].clone().unwrap();
    let system = texts(&worst, "system").unwrap()[0].clone().unwrap();
    let page = evaluation.open(&question, &system).unwrap();
    assert!(page.html().contains("Claims of the response"));
    assert!(evaluation.open("no/such", &system).unwrap_err().to_string().contains("no/such"));
    let frame = claimlab::polars::prelude::df!("a" => ["<script>alert(1)</script>"]).unwrap();
    assert!(!claimlab::table::frame_to_html(&frame, 5).contains("<script>"));
}

#[test]
fn a_figure_is_svg_with_every_metric_named() {
    let (_folder, lab) = lab();
    let (_, evaluation) = evaluate(&lab);
    let summary = evaluation.by(&["system", "language"]).unwrap();
    let figure = Figure::intervals(&summary, "system", "language").unwrap();
    assert!(figure.svg().starts_with("<svg"));
    for metric in Metric::ALL {
        assert!(figure.svg().contains(metric.label()), "{metric}");
    }
}
