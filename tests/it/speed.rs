//! Measurements, not tests: they print, and assert nothing about time. `benches/metrics.py` runs them beside RAGChecker.
//!
//! `cargo test --test it speed -- --ignored --nocapture --test-threads 1`

use std::time::Instant;

use claimlab::analysis::Bootstrap;
use claimlab::metrics::{LabelMatrices, Mode, score_all, score_run};
use claimlab::polars::prelude::df;
use claimlab::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const QUESTIONS: usize = 10_000;
const CLAIMS: usize = 10;
const CHUNKS: usize = 10;

fn report(what: &str, (seconds, cpu): (f64, f64)) {
    println!("MEASURED\t{what}\t{seconds}\t{cpu}");
}

/// Processor time of this process in seconds, where the system tells it (hundredths of a second on Linux).
fn processor() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> = text
        .rsplit(')')
        .next()
        .into_iter()
        .flat_map(str::split_whitespace)
        .map(|field| field.parse().unwrap_or(0.0))
        .collect();
    fields.get(11).zip(fields.get(12)).map_or(f64::NAN, |(user, system)| (user + system) / 100.0)
}

/// The shortest of a few runs in seconds, and the processor time of one on average.
fn shortest<T>(mut run: impl FnMut() -> T) -> (f64, f64) {
    const RUNS: usize = 8;
    let mut best = f64::INFINITY;
    let before = processor();
    for _ in 0..RUNS {
        let began = Instant::now();
        std::hint::black_box(run());
        best = best.min(began.elapsed().as_secs_f64());
    }
    (best, (processor() - before) / RUNS as f64)
}

fn random_matrices(n: usize) -> Vec<LabelMatrices> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut label = || Some(Label::ALL[random.random_range(0..3)]);
    (0..n)
        .map(|_| LabelMatrices {
            response_vs_reference: (0..CLAIMS).map(|_| label()).collect(),
            reference_vs_response: (0..CLAIMS).map(|_| label()).collect(),
            response_vs_chunks: (0..CLAIMS).map(|_| (0..CHUNKS).map(|_| label()).collect()).collect(),
            reference_vs_chunks: (0..CLAIMS).map(|_| (0..CHUNKS).map(|_| label()).collect()).collect(),
            n_response_claims: CLAIMS,
            n_reference_claims: CLAIMS,
            n_chunks: CHUNKS,
        })
        .collect()
}

struct Tables {
    questions: QaPairs,
    found: RetrievalRun,
    run: GenerationRun,
    reference: Claims,
    response: Claims,
    checks: Checks,
}

/// The tables of a run of one system whose checks are these matrices.
fn tables(matrices: &[LabelMatrices]) -> Tables {
    let n = matrices.len();
    let ids: Vec<String> = (0..n).map(|i| format!("act/{i}")).collect();
    let each =
        |copies: usize| ids.iter().flat_map(move |id| std::iter::repeat_n(id.as_str(), copies)).collect::<Vec<_>>();
    let claims = |side: &str, system: Option<&str>| {
        let owner = system.map(|system| format!("{system}/1/")).unwrap_or_default();
        let names: Vec<String> = ids
            .iter()
            .flat_map(|id| (0..CLAIMS).map(|claim| format!("{id}/{side}/{owner}{claim}")).collect::<Vec<_>>())
            .collect();
        let height = n * CLAIMS;
        let frame = df!("claim_id" => &names, "extractor" => vec!["x"; height], "question_id" => each(CLAIMS),
            "side" => vec![side; height], "system" => vec![system; height],
            "attempt" => vec![system.map(|_| 1_i64); height], "ordinal" => vec![0_i64; height],
            "text" => vec!["a claim"; height]);
        (Claims::new(frame.unwrap()).unwrap(), names)
    };
    let (reference, reference_ids) = claims("reference", None);
    let (response, response_ids) = claims("response", Some("BM25 + Extractive"));
    let chunk = |question: usize, chunk: usize| format!("chunk {}", (question * 7 + chunk * 31) % 5000);
    let chunks: Vec<String> = (0..n).flat_map(|q| (0..CHUNKS).map(move |k| chunk(q, k)).collect::<Vec<_>>()).collect();
    let mut rows: Vec<(&str, usize, &str, bool, Option<String>, Label)> = Vec::new();
    for (question, labels) in matrices.iter().enumerate() {
        for k in 0..CHUNKS {
            for (claim, row) in labels.reference_vs_chunks.iter().enumerate() {
                let id = &reference_ids[question * CLAIMS + claim];
                rows.push(("reference_vs_chunks", question, id, false, Some(chunk(question, k)), row[k].unwrap()));
            }
        }
    }
    for (question, labels) in matrices.iter().enumerate() {
        for (claim, label) in labels.response_vs_reference.iter().enumerate() {
            let id = &response_ids[question * CLAIMS + claim];
            rows.push(("response_vs_reference", question, id, true, None, label.unwrap()));
        }
        for (claim, label) in labels.reference_vs_response.iter().enumerate() {
            let id = &reference_ids[question * CLAIMS + claim];
            rows.push(("reference_vs_response", question, id, true, None, label.unwrap()));
        }
        for k in 0..CHUNKS {
            for (claim, row) in labels.response_vs_chunks.iter().enumerate() {
                let id = &response_ids[question * CLAIMS + claim];
                rows.push(("response_vs_chunks", question, id, true, Some(chunk(question, k)), row[k].unwrap()));
            }
        }
    }
    let checks = df!(
        "checker" => vec!["lexical"; rows.len()],
        "direction" => rows.iter().map(|row| row.0).collect::<Vec<_>>(),
        "question_id" => rows.iter().map(|row| ids[row.1].as_str()).collect::<Vec<_>>(),
        "claim_id" => rows.iter().map(|row| row.2).collect::<Vec<_>>(),
        "system" => rows.iter().map(|row| row.3.then_some("BM25 + Extractive")).collect::<Vec<_>>(),
        "attempt" => rows.iter().map(|row| row.3.then_some(1_i64)).collect::<Vec<_>>(),
        "retriever" => rows.iter().map(|row| row.4.as_ref().map(|_| "BM25")).collect::<Vec<_>>(),
        "chunk_id" => rows.iter().map(|row| row.4.clone()).collect::<Vec<_>>(),
        "label" => rows.iter().map(|row| Some(row.5.as_str())).collect::<Vec<_>>(),
        "failure" => vec![None::<&str>; rows.len()],
    );
    let found = df!("retriever" => vec!["BM25"; n * CHUNKS], "question_id" => each(CHUNKS),
        "rank" => (0..n * CHUNKS).map(|i| (i % CHUNKS) as i64 + 1).collect::<Vec<_>>(), "chunk_id" => &chunks,
        "score" => vec![1.0; n * CHUNKS], "text" => vec!["a chunk"; n * CHUNKS]);
    let run = df!("system" => vec!["BM25 + Extractive"; n], "question_id" => &ids, "attempt" => vec![1_i64; n],
        "retriever" => vec!["BM25"; n], "generator" => vec!["Extractive"; n], "response" => vec!["an answer"; n],
        "finish_reason" => vec!["stop"; n], "prompt_tokens" => vec![None::<i64>; n],
        "completion_tokens" => vec![None::<i64>; n], "latency_ms" => vec![None::<f64>; n],
        "failure" => vec![None::<&str>; n]);
    let questions = df!("question_id" => &ids, "question" => vec!["?"; n], "reference_answer" => vec!["a"; n],
        "language" => vec!["en"; n], "persona" => vec!["citizen"; n], "category" => vec!["factual_recall"; n],
        "context_unit" => &ids);
    Tables {
        questions: QaPairs::new(questions.unwrap()).unwrap(),
        found: RetrievalRun::new(found.unwrap()).unwrap(),
        run: GenerationRun::new(run.unwrap()).unwrap(),
        reference,
        response,
        checks: Checks::new(checks.unwrap()).unwrap(),
    }
}

#[test]
#[ignore = "a measurement"]
fn eleven_metrics_from_matrices_and_from_tables() {
    let matrices = random_matrices(QUESTIONS);
    report(
        "eleven metrics, 10,000 questions, from matrices",
        shortest(|| score_all(&matrices, Mode::RagChecker).unwrap()),
    );
    let tables = tables(&matrices);
    println!("{} rows of checks", tables.checks.height());
    let score = || {
        let claims = (&tables.reference, &tables.response);
        score_run(&tables.questions, &tables.found, &tables.run, claims, &tables.checks, Mode::RagChecker).unwrap()
    };
    report("eleven metrics, 10,000 questions, from the table of checks", shortest(score));
    let values = claimlab::table::floats(score().frame(), "value").unwrap();
    for (labels, values) in matrices.iter().zip(values.chunks(11)) {
        let expected = claimlab::metrics::score(labels, Mode::RagChecker).unwrap().map(|(_, outcome)| outcome.value());
        assert_eq!(values, expected, "tables and matrices differ");
    }
}

/// Scores of 8 systems on 317 questions with the paper's numbers of languages, personas, categories and hops.
fn scores() -> Scores {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let (n, systems) = (317, 8);
    let height = n * systems * 11;
    let question = |row: usize| row / 11 % n;
    let pick = |names: &[&'static str], stride: usize| {
        (0..height).map(|row| names[question(row) / stride % names.len()]).collect::<Vec<_>>()
    };
    let frame = df!(
        "system" => (0..height).map(|row| format!("system {}", row / 11 / n)).collect::<Vec<_>>(),
        "question_id" => (0..height).map(|row| format!("q{}", question(row))).collect::<Vec<_>>(),
        "attempt" => vec![1_i64; height],
        "metric" => (0..height).map(|row| Metric::ALL[row % 11].as_str()).collect::<Vec<_>>(),
        "checker" => vec!["c"; height],
        "value" => (0..height).map(|_| random.random_bool(0.97).then(|| f64::from(random.random_range(0..=10)) / 10.0)).collect::<Vec<_>>(),
        "undefined" => vec![None::<&str>; height],
        "all" => vec!["all"; height],
        "language" => pick(&["en", "fr"], 1),
        "persona" => pick(&["citizen", "civil_officer", "legal_expert"], 2),
        "category" => pick(&["cg1", "cg2", "cg3", "cg4"], 6),
        "hops" => pick(&["single", "multi"], 24),
    );
    Scores::new(frame.unwrap()).unwrap()
}

#[test]
#[ignore = "a measurement"]
fn ten_thousand_replicates_over_systems_and_slices() {
    let scores = scores();
    let settings = Bootstrap::new().resamples(10_000);
    let mut slices = 0;
    let seconds = shortest(|| {
        slices = 0;
        for column in ["all", "language", "persona", "category", "hops"] {
            slices += scores.by_with(&["system", column], &settings).unwrap().height() / 88;
        }
    });
    assert_eq!(slices, 12);
    report("10,000 bootstrap replicates, 11 metrics, 317 questions, 8 systems, 12 slices", seconds);
}

#[test]
#[ignore = "a measurement"]
fn the_quickstarts_evaluation() {
    let sample = {
        let folder = tempfile::tempdir().unwrap();
        Lab::at(folder.path()).unwrap().sample().unwrap()
    };
    let chunks = sample.chunks(&Chunking::tokens(150, 30).unwrap()).unwrap();
    let retrievers = [Retriever::bm25(&chunks).unwrap(), Retriever::random_indexing(&chunks).unwrap()];
    let generators = [Generator::extractive(), Generator::scripted()];
    let systems: Vec<System> =
        retrievers.iter().flat_map(|one| generators.iter().map(move |other| System::new(one, other))).collect();
    let seconds = shortest(|| {
        let folder = tempfile::tempdir().unwrap();
        let lab = Lab::at(folder.path()).unwrap();
        lab.evaluate(&sample, &systems, 5).unwrap().by(&["system", "language"]).unwrap()
    });
    report(&format!("evaluation of {} questions, 4 systems, and its summary", sample.questions().height()), seconds);
}

/// Counted, not timed: eight systems on two retrievers at 10 response claims, 6 reference claims, 10 chunks, joint 5.
#[test]
fn eight_systems_on_two_retrievers_need_a_third_fewer_calls_than_ragchecker_makes() {
    let (n, systems, retrievers) = (3, 8, 2);
    let ids: Vec<String> = (0..n).map(|i| format!("q{i}")).collect();
    let claim_rows = |side: &str, count: usize, owners: &[Option<String>]| {
        let rows: Vec<(String, &str, Option<&str>)> = owners
            .iter()
            .flat_map(|owner| ids.iter().map(move |id| (owner.as_deref(), id)))
            .flat_map(|(owner, id)| (0..count).map(move |i| (format!("{id} {side} {owner:?} {i}"), id.as_str(), owner)))
            .collect();
        let frame = df!("claim_id" => rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(),
            "extractor" => vec!["x"; rows.len()], "question_id" => rows.iter().map(|row| row.1).collect::<Vec<_>>(),
            "side" => vec![side; rows.len()], "system" => rows.iter().map(|row| row.2).collect::<Vec<_>>(),
            "attempt" => rows.iter().map(|row| row.2.map(|_| 1_i64)).collect::<Vec<_>>(),
            "ordinal" => vec![0_i64; rows.len()], "text" => rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>());
        Claims::new(frame.unwrap()).unwrap()
    };
    let names: Vec<Option<String>> = (0..systems).map(|system| Some(format!("system {system}"))).collect();
    let (reference, response) = (claim_rows("reference", 6, &[None]), claim_rows("response", 10, &names));
    let found: Vec<(String, &str, String)> = (0..retrievers)
        .flat_map(|retriever| ids.iter().map(move |id| (retriever, id)))
        .flat_map(|(retriever, id)| {
            (0..10).map(move |k| (format!("r{retriever}"), id.as_str(), format!("{retriever} {id} {k}")))
        })
        .collect();
    let found = RetrievalRun::new(
        df!("retriever" => found.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(),
            "question_id" => found.iter().map(|row| row.1).collect::<Vec<_>>(), "rank" => vec![1_i64; found.len()],
            "chunk_id" => found.iter().map(|row| row.2.as_str()).collect::<Vec<_>>(), "score" => vec![1.0; found.len()],
            "text" => found.iter().map(|row| row.2.as_str()).collect::<Vec<_>>())
        .unwrap(),
    )
    .unwrap();
    let run: Vec<(usize, &str)> =
        (0..systems).flat_map(|system| ids.iter().map(move |id| (system, id.as_str()))).collect();
    let answers: Vec<String> = run.iter().map(|(system, id)| format!("answer of {system} to {id}")).collect();
    let run = GenerationRun::new(
        df!("system" => run.iter().map(|row| format!("system {}", row.0)).collect::<Vec<_>>(),
            "question_id" => run.iter().map(|row| row.1).collect::<Vec<_>>(), "attempt" => vec![1_i64; run.len()],
            "retriever" => run.iter().map(|row| format!("r{}", row.0 % retrievers)).collect::<Vec<_>>(),
            "generator" => vec!["g"; run.len()], "response" => &answers, "finish_reason" => vec!["stop"; run.len()],
            "prompt_tokens" => vec![None::<i64>; run.len()], "completion_tokens" => vec![None::<i64>; run.len()],
            "latency_ms" => vec![None::<f64>; run.len()], "failure" => vec![None::<&str>; run.len()])
        .unwrap(),
    )
    .unwrap();
    let questions = QaPairs::new(
        df!("question_id" => &ids, "question" => &ids,
            "reference_answer" => ids.iter().map(|id| format!("reference of {id}")).collect::<Vec<_>>())
        .unwrap(),
    )
    .unwrap();
    let work = Checker::work(&questions, &found, &run, &reference, &response, 5).unwrap();
    // By hand: 8 · (2 + 2 + 10 · 2) calls of their own and 2 · 10 · 2 shared ones a question.
    assert_eq!(work.calls, n * (systems * 24 + retrievers * 20));
    assert_eq!(work.checks, n * (systems * (10 + 6 + 100) + retrievers * 60));
    let ragchecker = n * systems * 11 * (2 + 2);
    let saved = 1.0 - work.calls as f64 / ragchecker as f64;
    println!("{} calls, RAGChecker makes {ragchecker}: {:.1} % fewer", work.calls, saved * 100.0);
    assert!((0.33..0.35).contains(&saved));
    // A retriever that finds what the other found adds no check of a reference claim.
    let same =
        RetrievalRun::new(found.frame().clone().lazy().with_column(lit("same text").alias("text")).collect().unwrap())
            .unwrap();
    let work = Checker::work(&questions, &same, &run, &reference, &response, 5).unwrap();
    assert_eq!(work.checks, n * (systems * (10 + 6 + 10) + 6));
}
