//! Pages for looking into questions: complete, filterable without a script, and safe whatever the data hold.

use std::path::Path;

use claimlab::prelude::*;
use claimlab::table::texts;

use super::figures::evaluation;

const SYSTEMS: [&str; 2] = ["BM25 + Scripted", "BM25 + Extractive"];

fn write(page: &Page, name: &str) {
    if let Some(folder) = std::env::var_os("CLAIMLAB_GALLERY") {
        page.save(Path::new(&folder).join(name)).unwrap();
    }
}

#[test]
fn two_systems_stand_side_by_side_with_every_claim_and_chunk() {
    let evaluation = evaluation();
    let worst = evaluation.worst(Metric::F1, 1).unwrap();
    let question = texts(&worst, "question_id").unwrap()[0].clone().unwrap();
    let page = evaluation.compare(&question, SYSTEMS[0], SYSTEMS[1]).unwrap();
    write(&page, "compare.html");
    let html = page.html();
    assert_eq!(html.matches("class=\"side\"").count(), 2);
    for system in SYSTEMS {
        assert!(html.contains(&format!("<h3>{system}</h3>")), "{system}");
        let claims =
            evaluation.response_claims().only("question_id", &question).unwrap().only("system", system).unwrap();
        for id in texts(claims.frame(), "claim_id").unwrap().into_iter().flatten() {
            assert!(html.contains(&format!("<span class=\"id\">{id}</span>")), "{id}");
        }
    }
    for id in texts(
        evaluation.retrieval().only("question_id", &question).unwrap().only("retriever", "BM25").unwrap().frame(),
        "chunk_id",
    )
    .unwrap()
    .into_iter()
    .flatten()
    {
        assert!(html.contains(&id), "{id}");
    }
    let single = evaluation.open(&question, SYSTEMS[0]).unwrap();
    assert_eq!(single.html().matches("class=\"side\"").count(), 1);
}

#[test]
fn pages_are_filtered_and_ordered_without_a_script() {
    let evaluation = evaluation();
    let page = evaluation.browse(Metric::Hallucination, &SYSTEMS, 78).unwrap();
    write(&page, "browse.html");
    let html = page.html();
    assert!(!html.contains("<script") && !html.contains("http://") && !html.contains("https://"));
    assert_eq!(html.matches("<details class=\"case ").count(), 78);
    // French citizens' questions carry the classes that both filters ask for.
    let questions = evaluation.answers().only("system", SYSTEMS[0]).unwrap();
    assert_eq!(questions.height(), 78);
    for label in ["French (40)", "citizen (", "a contradiction (", "a failed call or check (", "Hallucination"] {
        assert!(html.contains(label), "{label}");
    }
    let french = html.split("French (40)").next().unwrap().rsplit("class=\"i-").next().unwrap();
    let class = french.split('"').next().unwrap();
    assert!(
        html.contains(&format!(".claimlab:has(.i-{class}:checked) .case:not(.{class}){{display:none}}")),
        "{class}"
    );
    let carrying = html.matches("<details class=\"case ").zip(html.split("<details class=\"case ").skip(1));
    assert_eq!(
        carrying.filter(|(_, rest)| rest.split('"').next().unwrap().split(' ').any(|one| one == class)).count(),
        40
    );
    // The worst comes first, and the order is that of the values.
    let ranks: Vec<i64> = html
        .split("--m-hallucination:")
        .skip(1)
        .map(|rest| rest.split([';', '"']).next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(ranks.len(), 78);
    assert!(ranks.is_sorted(), "{ranks:?}");
    assert_eq!(page.html(), evaluation.browse(Metric::Hallucination, &SYSTEMS, 78).unwrap().html());
    assert!(evaluation.browse(Metric::F1, &[], 5).is_err());
    assert!(evaluation.browse(Metric::F1, &["no such system"], 5).unwrap_err().to_string().contains("no such system"));
    assert!(evaluation.browse(Metric::F1, &SYSTEMS, 0).is_err());
}

#[test]
fn verdicts_link_the_tables_by_their_ids() {
    let evaluation = evaluation();
    let question = texts(evaluation.answers().frame(), "question_id").unwrap()[0].clone().unwrap();
    let verdicts = evaluation.verdicts(&question).unwrap();
    let expected = evaluation.checks().only("question_id", &question).unwrap();
    assert_eq!(verdicts.height(), expected.height());
    assert!(texts(&verdicts, "claim").unwrap().iter().all(|text| text.as_deref().is_some_and(|text| !text.is_empty())));
    let ranks = claimlab::table::integers(&verdicts, "rank").unwrap();
    let chunks = texts(&verdicts, "chunk_id").unwrap();
    assert!(ranks.iter().zip(&chunks).all(|(rank, chunk)| rank.is_some() == chunk.is_some()));
    assert!(evaluation.verdicts("no such question").is_err());
}

#[test]
fn whatever_questions_and_answers_hold_is_shown_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample");
    for entry in std::fs::read_dir(source).unwrap().flatten() {
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let file = folder.path().join("REGULATION-RAG.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut records: serde_json::Value = serde_json::from_str(&text).unwrap();
    let hostile =
        "</div></details><img src=x onerror=alert(1)><style>*{display:none}</style>\u{0}\u{1b}[2J <!-- \" ' ${x} ";
    let long = format!("{hostile}{}", "The controller must keep a register of every processing. ".repeat(3600));
    let first = records["input_data"].as_array_mut().unwrap().first_mut().unwrap();
    first["query"] = hostile.into();
    first["gt_answer"] = long.clone().into();
    std::fs::write(&file, serde_json::to_string(&records).unwrap()).unwrap();
    let lab = Lab::at(folder.path().join("lab")).unwrap();
    let benchmark = Benchmark::read_folder(folder.path()).unwrap();
    let chunks = benchmark.chunks(&Chunking::tokens(150, 30).unwrap()).unwrap();
    let bm25 = Retriever::bm25(&chunks).unwrap();
    let systems = vec![System::new(&bm25, &Generator::scripted())];
    let evaluation = lab.evaluate(&benchmark, &systems, 5).unwrap();
    let page = evaluation.browse(Metric::F1, &["BM25 + Scripted"], 78).unwrap();
    let html = page.html();
    assert!(long.len() > 200_000);
    assert!(!html.contains("<img") && !html.contains("<!--") && !html.contains('\u{1b}') && !html.contains('\u{0}'));
    assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;"));
    assert_eq!(html.matches("<style>").count(), 1);
    assert_eq!(html.matches("<div").count(), html.matches("</div>").count());
    assert_eq!(html.matches("<details").count(), html.matches("</details>").count());
    assert_eq!(html.matches("<span").count(), html.matches("</span>").count());
    assert!(html.contains("more characters)") && html.len() < 8_000_000, "{}", html.len());
}
