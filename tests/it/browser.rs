//! Error pages and the review's form in a real browser, without network: `kernel/tests/jupyter/pages.py`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use claimlab::calibration::{ReviewQueue, committee};
use claimlab::judging::{Judge, JudgePrompt, JudgingSet};
use claimlab::model::LanguageModel;
use claimlab::prelude::*;
use claimlab::table::{Attempts, floats, texts};
use serde_json::json;

use crate::scripted_judge::judges;
use crate::skip;

const SYSTEMS: [&str; 2] = ["BM25 + Scripted", "BM25 + Extractive"];
const HOSTILE: &str = "</summary></details><script>window.hacked = 1</script><img src=x onerror=\"window.hacked = 2\">";

/// A Python with the modules that the script needs, and a browser.
fn able(test: &str) -> Option<(PathBuf, PathBuf)> {
    let python = std::env::var_os("CLAIMLAB_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let found = Command::new(&python).args(["-c", "import playwright, nbconvert"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        let why =
            format!("{} lacks playwright or nbconvert; set CLAIMLAB_PYTHON to one that has them", python.display());
        skip(test, &why, false);
        return None;
    }
    let browsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    let browser = browsers.iter().map(PathBuf::from).find(|browser| browser.is_file());
    if browser.is_none() {
        skip(test, "there is no Chromium", false);
    }
    Some((python, browser?))
}

/// The sample with markup in a question, evaluated.
fn evaluation(folder: &Path) -> Evaluation {
    let data = folder.join("data");
    std::fs::create_dir_all(&data).unwrap();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample")).unwrap().flatten() {
        std::fs::copy(entry.path(), data.join(entry.file_name())).unwrap();
    }
    let file = data.join("REGULATION-RAG.json");
    let mut records: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let first = records["input_data"].as_array_mut().unwrap().first_mut().unwrap();
    first["query"] = format!("{HOSTILE} {}", first["query"].as_str().unwrap()).into();
    std::fs::write(&file, serde_json::to_string(&records).unwrap()).unwrap();
    let benchmark = Benchmark::read_folder(&data).unwrap();
    let bm25 = Retriever::bm25(&benchmark.chunks(&Chunking::tokens(150, 30).unwrap()).unwrap()).unwrap();
    let systems = [Generator::scripted(), Generator::extractive()].map(|generator| System::new(&bm25, &generator));
    Lab::at(folder.join("lab")).unwrap().evaluate(&benchmark, &systems, 5).unwrap()
}

/// What must be seen after which clicks, from the tables alone.
fn expected(evaluation: &Evaluation) -> serde_json::Value {
    let scores = evaluation.scores().only("system", SYSTEMS[0]).unwrap();
    let of = |metric: Metric| scores.only("metric", metric.as_str()).unwrap();
    let precision = of(Metric::Precision);
    let ids: Vec<String> = texts(precision.frame(), "question_id").unwrap().into_iter().flatten().collect();
    let column = |name: &str| texts(precision.frame(), name).unwrap();
    let (languages, personas) = (column("language"), column("persona"));
    let those = |keep: &dyn Fn(usize) -> bool| -> Vec<&str> {
        (0..ids.len()).filter(|row| keep(*row)).map(|row| ids[row].as_str()).collect()
    };
    let is = |values: &[Option<String>], row: usize, value: &str| values[row].as_deref() == Some(value);
    let against: Vec<String> = {
        let checks = evaluation.checks().only("label", "contradiction").unwrap();
        let (questions, directions) =
            (texts(checks.frame(), "question_id").unwrap(), texts(checks.frame(), "direction").unwrap());
        let between_answers =
            |direction: &Option<String>| direction.as_deref().is_some_and(|name| !name.contains("chunks"));
        questions
            .into_iter()
            .zip(&directions)
            .filter(|(_, one)| between_answers(one))
            .filter_map(|(id, _)| id)
            .collect()
    };
    let order = |metric: Metric| {
        let scores = of(metric);
        let ids = texts(scores.frame(), "question_id").unwrap().into_iter().flatten();
        // What has no value comes last.
        let goodness = |value: f64| if metric.higher_is_better() { value } else { 1.0 - value };
        let values = floats(scores.frame(), "value").unwrap().into_iter().map(|value| value.map_or(2.0, goodness));
        json!({"click": metric.label(), "goodness": ids.zip(values).collect::<BTreeMap<_, _>>()})
    };
    let french_citizens = those(&|row| is(&languages, row, "fr") && is(&personas, row, "citizen"));
    let contradicted = those(&|row| against.contains(&ids[row]));
    assert!(!french_citizens.is_empty() && !contradicted.is_empty() && contradicted.len() < ids.len());
    json!({
        "hostile": HOSTILE,
        "all": ids,
        "steps": [
            {"click": ["French"], "shown": those(&|row| is(&languages, row, "fr"))},
            {"click": ["French", "citizen"], "shown": french_citizens},
            {"click": ["a contradiction"], "shown": contradicted},
            {"click": ["English", "a contradiction"],
                "shown": those(&|row| is(&languages, row, "en") && against.contains(&ids[row]))},
            {"click": ["French", "English"], "shown": those(&|row| is(&languages, row, "en"))},
        ],
        "orders": [order(Metric::F1), order(Metric::Hallucination), order(Metric::ContextUtilization)],
    })
}

/// A review of answers in which markup stands as well.
fn review() -> ReviewQueue {
    let set = JudgingSet::sample().unwrap();
    let mut changed = set.attempts().frame().clone();
    let with_markup = |answer: String| format!("{answer} <script>window.hacked = 3</script>");
    let answers: Vec<Option<String>> =
        texts(&changed, "answer").unwrap().into_iter().map(|answer| answer.map(with_markup)).collect();
    changed.with_column(claimlab::polars::prelude::Column::new("answer".into(), answers)).unwrap();
    let [lenient, strict] = judges(&set);
    let judged = |name: &str, engine| {
        let model = LanguageModel::new(name, std::sync::Arc::new(engine));
        Judge::new(&model, &JudgePrompt::baseline()).one_by_one(&set).unwrap().frame().clone()
    };
    let verdicts = judged("lenient", lenient).vstack(&judged("strict", strict)).unwrap();
    let committee = committee(&claimlab::table::Verdicts::new(verdicts).unwrap(), set.criteria()).unwrap();
    let shown = set.with_attempts(&Attempts::new(changed).unwrap()).unwrap();
    ReviewQueue::select(&committee, &shown, 6, 4, 7).unwrap()
}

#[test]
fn error_pages_and_review_forms_work_in_a_browser_without_network() {
    let Some((python, browser)) = able("error_pages_and_review_forms_work_in_a_browser_without_network") else {
        return;
    };
    // Screenshots stay, so that a person can look at them.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let evaluation = evaluation(&folder);
    evaluation.browse(Metric::Hallucination, &SYSTEMS, 400).unwrap().save(folder.join("browse.html")).unwrap();
    std::fs::write(folder.join("browse.json"), expected(&evaluation).to_string()).unwrap();
    let queue = review();
    queue.write_html(folder.join("review.html")).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernel/tests/jupyter/pages.py");
    let output = Command::new(python).arg(script).arg(&folder).arg(browser).output().unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}");
    println!("{told}");
    // What the form saved is what a study reads.
    let labels = queue.read_back(folder.join("labels.json"), "").unwrap();
    let (given, reasons) = (texts(labels.frame(), "label").unwrap(), texts(labels.frame(), "reason").unwrap());
    assert_eq!(given.iter().flatten().collect::<Vec<_>>(), ["PASS", "FAIL"]);
    assert!(reasons[1].as_deref().is_some_and(|reason| reason.contains("« <b>faux</b> »")), "{reasons:?}");
    assert_eq!(texts(labels.frame(), "annotator").unwrap()[0].as_deref(), Some("Me Roth"));
}
