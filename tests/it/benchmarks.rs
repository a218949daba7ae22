//! Real benchmark files, read in place where they are, and ClaimRAG-LAW from a local hub.

use std::path::{Path, PathBuf};

use claimlab::dataset::{ColumnMap, Kind, RagCheckerFile, read_frame, read_refchecker};
use claimlab::polars::prelude::DataFrame;
use claimlab::prelude::*;
use claimlab::table::texts;

fn file(test: &str, path: &str) -> Option<PathBuf> {
    let found = super::shared(&format!("data/{path}"));
    if found.is_none() {
        super::skip(test, &format!("{path} is not beside the checkout"), true);
    }
    found
}

fn count(frame: &DataFrame, column: &str, value: &str) -> usize {
    texts(frame, column).unwrap().iter().filter(|found| found.as_deref() == Some(value)).count()
}

#[test]
fn ragcheckers_own_files_are_read_described_and_written_back() {
    let test = "ragcheckers_own_files_are_read_described_and_written_back";
    let Some(path) = file(test, "claim_checking/checking_outputs.json") else { return };
    let output = RagCheckerFile::read(&path).unwrap();
    assert_eq!(output.problems().unwrap().height(), 0, "{}", output.problems().unwrap());
    assert_eq!(output.stated("overall_metrics", "f1"), Some(68.3));
    let again = RagCheckerFile::from_json("again", &output.to_json()).unwrap();
    assert_eq!(again.results(), output.results());
    assert_eq!(again.stated("generator_metrics", "faithfulness"), Some(68.2));
    // With its metrics removed and its groups in the present spelling, the file scores the same again.
    let ours = claimlab::study::rescore(&again.without_metrics()).unwrap();
    let theirs = claimlab::study::rescore(&output).unwrap();
    assert_eq!(ours.column("computed here").unwrap(), theirs.column("computed here").unwrap());
    let claims = output.claims().unwrap();
    assert_eq!(count(claims.frame(), "side", "response") + count(claims.frame(), "side", "reference"), claims.height());
    assert_eq!(output.checks().unwrap().frame().column("label").unwrap().null_count(), 0);
    let Some(path) = file(test, "claim_checking/checking_inputs.json") else { return };
    let input = RagCheckerFile::read(path).unwrap();
    assert_eq!(input.problems().unwrap().height(), 0);
    assert_eq!(input.questions().unwrap().height(), input.results().len());
    let made = RagCheckerFile::of_run(
        &input.questions().unwrap(),
        &input.retrieval().unwrap(),
        &input.responses().unwrap(),
        "ragchecker file",
    );
    for (ours, theirs) in made.unwrap().results().iter().zip(input.results()) {
        for field in ["query_id", "query", "gt_answer", "response", "retrieved_context"] {
            assert_eq!(ours[field], theirs[field], "{field}");
        }
    }
}

#[test]
fn each_malformed_vector_is_named_as_malformed_and_no_sound_one_is() {
    let test = "each_malformed_vector_is_named_as_malformed_and_no_sound_one_is";
    let Some(path) = super::shared("vectors/ragchecker_vectors.jsonl") else {
        return super::skip(test, "the vectors are not beside the checkout", true);
    };
    let (mut malformed, mut sound) = (0, 0);
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let vector: serde_json::Value = serde_json::from_str(line).unwrap();
        let kind = vector["kind"].as_str().unwrap();
        if kind == "multi" {
            continue;
        }
        let mut result = serde_json::json!({"query_id": "1", "query": "q", "gt_answer": "a", "response": "r"});
        for field in ["answer2response", "response2answer", "retrieved2response", "retrieved2answer"] {
            result[field] = vector[field].clone();
        }
        let file = serde_json::json!({"results": [result]}).to_string();
        let problems = RagCheckerFile::from_json("vector", &file).unwrap().problems().unwrap();
        let is_off_menu = line.contains("ntailment ") || vector["tag"].as_str().unwrap_or_default().contains("label");
        if kind == "inconsistent" {
            assert!(problems.height() > 0, "{}", vector["tag"]);
            malformed += 1;
        } else if problems.height() > 0 && !is_off_menu {
            let told = texts(&problems, "fault").unwrap();
            assert!(told.iter().flatten().all(|fault| fault.contains("not entailed")), "{}: {told:?}", vector["tag"]);
        } else {
            sound += 1;
        }
    }
    assert_eq!(malformed, 11);
    assert!(sound > 300, "{sound}");
}

#[test]
fn refcheckers_labelled_triplets_are_read() {
    let test = "refcheckers_labelled_triplets_are_read";
    let mut total = 0;
    for system in ["alpaca_7B", "chatgpt", "claude2", "davinci001", "gpt4"] {
        let Some(path) = file(test, &format!("claim_checking/msmarco_{system}_answers.json")) else { return };
        let claims = read_refchecker(&path).unwrap();
        let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let listed: usize = value
            .as_array()
            .unwrap()
            .iter()
            .map(|record| {
                let list = record.as_object().unwrap().iter().find(|(key, _)| key.ends_with("response_kg")).unwrap().1;
                list.as_array().unwrap().len()
            })
            .sum();
        assert_eq!(claims.height(), listed, "{system}");
        let labels = ["entailment", "neutral", "contradiction"].map(|label| count(claims.frame(), "label", label));
        let unlabelled = claims.frame().column("label").unwrap().null_count();
        assert_eq!(labels.iter().sum::<usize>() + unlabelled, listed);
        println!("{system}: {listed} triplets, {labels:?} entailed, neutral, contradicted, {unlabelled} without");
        total += listed;
    }
    assert!(total > 2000, "{total}");
}

#[test]
fn every_other_benchmark_beside_the_checkout_loads() {
    let test = "every_other_benchmark_beside_the_checkout_loads";
    let Some(path) = file(test, "nli_fr/RTE3-FR-dev-set-3class.tsv") else { return };
    let nli =
        ColumnMap::new().column("text", "hypothesis").column("context_unit", "premise").column("label", "label_text");
    let rte = nli.clone().column("claim_id", "id").claims(&read_frame(path).unwrap()).unwrap();
    let labels = ["entailment", "neutral", "contradiction"].map(|label| count(rte.frame(), "label", label));
    assert_eq!((rte.height(), labels.iter().sum::<usize>()), (800, 800), "{labels:?}");
    let Some(path) = file(test, "nli_fr/daccord_dataset.tsv") else { return };
    let daccord = nli.column("claim_id", "id").claims(&read_frame(path).unwrap()).unwrap();
    assert_eq!(daccord.height(), 1034);
    assert_eq!(
        count(daccord.frame(), "label", "contradiction") + count(daccord.frame(), "label_original", "compatibles"),
        1034
    );
    let Some(path) = file(test, "claim_checking/wice_dev.jsonl") else { return };
    let wice = ColumnMap::new()
        .column("text", "claim")
        .column("context_unit", "evidence")
        .value("label", "supported", "entailment")
        .value("label", "not_supported", "neutral")
        .claims(&read_frame(path).unwrap())
        .unwrap();
    assert_eq!(wice.height(), 349);
    // Part of a claim being supported is none of the three labels, and stays so.
    assert!(count(wice.frame(), "label_original", "partially_supported") > 0);
    assert_eq!(
        wice.frame().column("label").unwrap().null_count(),
        count(wice.frame(), "label_original", "partially_supported")
    );
    let Some(path) = file(test, "judge/benchmark_df.csv") else { return };
    let answers =
        ColumnMap::new().column("reference_answer", "grading_notes").questions(&read_frame(path).unwrap()).unwrap();
    assert_eq!(answers.height(), 160);
    for (name, rows) in [
        ("judge/annotation_df.csv", None),
        ("judge/Natural.json", Some(100)),
        ("judge/Adversarial_GPTInst.json", Some(92)),
        ("judge/Adversarial_GPTOut.json", None),
        ("judge/Adversarial_Manual.json", None),
        ("judge/Adversarial_Neighbor.json", None),
        ("pass_k/tau_bench_gpt-4o-airline.json", Some(200)),
        ("legal_retrieval/lex_retrieval_cases.json", Some(200)),
    ] {
        let Some(path) = file(test, name) else { return };
        let frame = read_frame(path).unwrap();
        assert!(frame.height() > 10 && rows.is_none_or(|rows| rows == frame.height()), "{name}: {}", frame.height());
    }
}

fn articles(path: &Path) -> usize {
    let act = Corpus::read("act", "fr", path).unwrap();
    act.parts().iter().filter(|part| part.kind == Kind::Article).count()
}

fn results(path: &Path) -> usize {
    let file = RagCheckerFile::read(path).unwrap();
    assert_eq!(file.questions().unwrap().height(), file.results().len());
    file.results().len()
}

fn triplets(path: &Path) -> usize {
    read_refchecker(path).unwrap().height()
}

fn rows(path: &Path) -> usize {
    read_frame(path).unwrap().height()
}

/// Each file beside the checkout, its reader, and how many articles, results, triplets or rows it holds.
const FILES: [(&str, fn(&Path) -> usize, usize); 27] = [
    ("claim_checking/checking_inputs.json", results, 2),
    ("claim_checking/checking_outputs.json", results, 2),
    ("claim_checking/msmarco_alpaca_7B_answers.json", triplets, 423),
    ("claim_checking/msmarco_chatgpt_answers.json", triplets, 405),
    ("claim_checking/msmarco_claude2_answers.json", triplets, 778),
    ("claim_checking/msmarco_davinci001_answers.json", triplets, 275),
    ("claim_checking/msmarco_gpt4_answers.json", triplets, 350),
    ("claim_checking/wice_dev.jsonl", rows, 349),
    ("code_civil_lu/code_civil_lu_2025-12-26.json", articles, 2301),
    ("code_civil_lu/code_civil_lu_2025-12-26.md", articles, 2301),
    ("code_civil_lu/sample_akn_constitution_fr.xml", articles, 132),
    ("code_civil_lu/sample_akn_loi-2018-08-01-a686_dataprotection_fr.xml", articles, 77),
    ("gdpr/gdpr_02016R0679-20160504_consolidated_en.html", articles, 99),
    ("gdpr/gdpr_32016R0679_oj_en.xhtml", articles, 99),
    ("gdpr/gdpr_32016R0679_oj_fr.xhtml", articles, 99),
    ("gdpr/gdpr_articles_2016-05-04_en.json", articles, 99),
    ("judge/Adversarial_GPTInst.json", rows, 92),
    ("judge/Adversarial_GPTOut.json", rows, 47),
    ("judge/Adversarial_Manual.json", rows, 46),
    ("judge/Adversarial_Neighbor.json", rows, 134),
    ("judge/Natural.json", rows, 100),
    ("judge/annotation_df.csv", rows, 24),
    ("judge/benchmark_df.csv", rows, 160),
    ("legal_retrieval/lex_retrieval_cases.json", rows, 200),
    ("nli_fr/RTE3-FR-dev-set-3class.tsv", rows, 800),
    ("nli_fr/daccord_dataset.tsv", rows, 1034),
    ("pass_k/tau_bench_gpt-4o-airline.json", rows, 200),
];

#[test]
fn each_file_beside_the_checkout_is_read_by_its_reader_and_none_is_left_out() {
    let test = "each_file_beside_the_checkout_is_read_by_its_reader_and_none_is_left_out";
    let Some(root) = super::shared("data") else {
        return super::skip(test, "no data are beside the checkout", true);
    };
    let mut found: Vec<String> = Vec::new();
    for folder in std::fs::read_dir(&root).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        for entry in std::fs::read_dir(folder.path()).unwrap().flatten() {
            let name = entry.path().strip_prefix(&root).unwrap().display().to_string();
            let known = FILES.iter().find(|(path, _, _)| *path == name);
            let (_, count, expected) = known.unwrap_or_else(|| panic!("no reader is named for {name}"));
            assert_eq!(count(&entry.path()), *expected, "{name}");
            found.push(name);
        }
    }
    for (path, _, _) in FILES.iter().filter(|(path, _, _)| !found.iter().any(|name| name == path)) {
        super::skip(test, &format!("{path} is not beside the checkout"), true);
    }
}

/// Files in ClaimRAG-LAW's shape with the paper's own counts of questions and claims; every text is filler.
fn filler(source: &str, personas: [usize; 3], categories: [usize; 4], claims: [usize; 5]) -> (String, String) {
    let spread = |names: &[&str], counts: &[usize]| -> Vec<String> {
        names.iter().zip(counts).flat_map(|(name, count)| vec![(*name).to_owned(); *count]).collect()
    };
    let personas = spread(&["Citizen", "Civil officer", "Legal expert"], &personas);
    let categories = spread(
        &["General legal research", "Factual recall", "False premise", "Jurisdiction/time-specific"],
        &categories,
    );
    let rag: Vec<serde_json::Value> = personas
        .iter()
        .zip(&categories)
        .enumerate()
        .map(|(id, (persona, category))| {
            serde_json::json!({"query_id": id + 1, "query": format!("{source} {id}?"), "gt_answer": "Filler.",
                "relevant_chunk": format!("# Article {id}\n\nFiller {id}."), "answer_correctness": "Correct",
                "question_category": category, "persona": persona})
        })
        .collect();
    let [answers, entailed, neutral, contradicted, invalid] = claims;
    let labels = spread(&["Entailment", "Neutral", "Contradiction", ""], &[entailed, neutral, contradicted, invalid]);
    let mut lists = vec![Vec::new(); answers];
    for (place, label) in labels.iter().enumerate() {
        let correctness = if label.is_empty() { "Incorrect" } else { "Correct" };
        lists[place % answers].push(serde_json::json!({"triplet": ["s", "p", format!("o{place}")],
            "claim_correctness": correctness, "claim_entailment": label}));
    }
    let claim: Vec<serde_json::Value> = lists
        .into_iter()
        .enumerate()
        .map(|(id, list)| serde_json::json!({"query_id": id + 1, "claims": list}))
        .collect();
    (serde_json::json!({"input_data": rag}).to_string(), serde_json::Value::Array(claim).to_string())
}

#[test]
fn a_folder_with_the_papers_counts_gives_its_table_1_and_flags_what_others_state() {
    let folder = tempfile::tempdir().unwrap();
    let (rag, claim) = filler("GDPR", [20, 77, 52], [131, 9, 8, 1], [63, 295, 151, 7, 67]);
    std::fs::write(folder.path().join("GDPR-RAG-LAW.json"), rag).unwrap();
    std::fs::write(folder.path().join("GDPR-CLAIM-LAW.json"), claim).unwrap();
    let (rag, claim) = filler("CIVIL", [35, 29, 104], [137, 24, 5, 2], [89, 284, 77, 24, 63]);
    std::fs::write(folder.path().join("CIVIL-RAG-LAW.json"), rag).unwrap();
    std::fs::write(folder.path().join("CIVIL-CLAIM-LAW.json"), claim).unwrap();
    let benchmark = Benchmark::claimrag_law(folder.path()).unwrap();
    let statistics = benchmark.statistics().unwrap();
    let published = claimlab::dataset::published::table_1().unwrap();
    let ours = statistics.frame();
    let pairs = [
        ("questions", "questions"),
        ("P1", "p1_citizen"),
        ("P2", "p2_civil_officer"),
        ("P3", "p3_legal_expert"),
        ("CG1", "cg1_general_legal_research"),
        ("CG4", "cg4_jurisdiction_time_specific"),
        ("answers with claims", "answers_with_claims"),
        ("claims", "claims"),
        ("valid", "valid_claims"),
        ("entailment", "entailment"),
        ("contradiction", "contradiction"),
    ];
    for (name, theirs) in pairs {
        assert_eq!(
            claimlab::table::integers(ours, name).unwrap(),
            claimlab::table::integers(&published, theirs).unwrap(),
            "{name}"
        );
    }
    let sums = statistics.sums().unwrap();
    assert!(sums.column("agrees").unwrap().bool().unwrap().iter().all(|agrees| agrees == Some(true)), "{sums}");
    let flags = benchmark.flags().unwrap();
    let differing: Vec<String> = (0..flags.height())
        .filter(|row| flags.column("agrees").unwrap().bool().unwrap().get(*row) == Some(false))
        .map(|row| {
            let number = |name: &str| claimlab::table::integers(&flags, name).unwrap()[row].unwrap();
            let text = |name: &str| texts(&flags, name).unwrap()[row].clone().unwrap();
            format!("{} {}: {} against {}", text("quantity"), text("source"), number("measured"), number("published"))
        })
        .collect();
    assert_eq!(
        differing,
        [
            "questions GDPR: 149 against 186",
            "questions CIVIL: 168 against 131",
            "questions Total: 317 against 394",
            "claims GDPR: 520 against 461",
            "claims CIVIL: 448 against 390",
            "valid GDPR: 453 against 452",
        ]
    );
    assert_eq!(benchmark.context_units().unwrap().height(), 317);
    let card = benchmark.card().unwrap();
    assert!(card.contains("| GDPR | 149 |") && card.contains("6 of "), "{card}");
    assert_eq!(benchmark.sources().unwrap().height(), 4);
}
