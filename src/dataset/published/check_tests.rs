//! The published tables, and tables that were changed.

use super::*;
use polars::prelude::df;

fn found(rule: &str, frame: &DataFrame) -> Vec<String> {
    let column = |name: &str| texts(frame, name).unwrap();
    let rows = column("rule").into_iter().zip(column("place")).zip(column("found")).zip(column("meaning"));
    rows.filter(|(((found, _), _), _)| found.as_deref() == Some(rule))
        .map(|(((_, place), found), meaning)| format!("{} | {} | {}", place.unwrap(), found.unwrap(), meaning.unwrap()))
        .collect()
}

/// What is known to be wrong in ClaimRAG-LAW's tables and counts: the rule that must find it, the place, words of what is
/// expected and found, words of what it means.
const KNOWN: [(&str, &str, &[&str], &str); 16] = [
    // The number of questions: 317, 394, and 165 + 204 generated ones.
    ("counts disagree", "questions, Total", &["317 (Table 1", "394 (Section 4.2)"], ""),
    ("more kept than generated", "questions, Total", &["165 + 204 = 369", "394"], ""),
    ("suspicious sum", "questions, Total", &["165 multi-hop questions for 317", "generated single-hop"], "look again"),
    // Questions by source: the paper's 149 and 168, the card's 186 and 131.
    ("counts disagree", "questions, GDPR", &["149 (Table 1)", "186 (dataset card"], ""),
    ("counts disagree", "questions, CIVIL", &["168 (Table 1)", "131 (dataset card"], ""),
    // Valid claims and what they are a share of.
    ("counts disagree", "valid, GDPR", &["453 (Table 1)", "452 (Section 4.3)"], ""),
    ("counts disagree", "claims, GDPR", &["520 (Table 1)", "461 (Section 4.3)"], ""),
    ("counts disagree", "claims, CIVIL", &["448 (Table 1)", "390 (Section 4.3)"], ""),
    ("extraction accuracy", "GDPR", &["453 of 520 = 87.1 %", "452 of 461 = 98.0 %"], "59 claims"),
    ("extraction accuracy", "CIVIL", &["385 of 448 = 85.9 %", "385 of 390 = 98.7 %"], "58 claims"),
    // Table 3's row of entailment.
    ("figures not reachable", "GDPR, entailment", &["295 claims"], "293: 215 right of 254"),
    // Table 2: a faithfulness that does not fit, and retriever metrics that follow the generator.
    ("conservation", "BM25 + GPT-5, EN", &["faithfulness", "94.0"], "a value is wrong"),
    (
        "retriever metric varies with the generator",
        "claim_recall, BM25, FR",
        &["64.7 (Mixtral-8x7B)", "90.8 (GPT-5)"],
        "do not compare",
    ),
    (
        "retriever metric varies with the generator",
        "context_precision, GPT-5 against GPT-4",
        &["all 4 pairs", "70.3 against 76.8", "31.8 against 34.6", "53.7 against 61.7", "23.8 against 28.5"],
        "index",
    ),
    // Reference answers whose claims their own context unit does not carry.
    ("gold quality", "GDPR", &["33.3 % neutral, 1.5 % contradicted"], "doubtful"),
    ("gold quality", "CIVIL", &["20.0 % neutral, 6.2 % contradicted"], "doubtful"),
];

#[test]
fn each_known_inconsistency_is_found_by_its_rule_and_no_rule_finds_anything_else() {
    let findings = check().unwrap();
    let column = |name: &str| texts(&findings, name).unwrap().into_iter().map(Option::unwrap).collect::<Vec<_>>();
    let (rules, places, meanings) = (column("rule"), column("place"), column("meaning"));
    let told: Vec<String> =
        column("expected").into_iter().zip(column("found")).map(|(expected, found)| expected + "; " + &found).collect();
    for (rule, place, words, meaning) in KNOWN {
        let row = (0..rules.len()).find(|row| {
            rules[*row] == rule
                && places[*row] == place
                && words.iter().all(|word| told[*row].contains(word))
                && meanings[*row].contains(meaning)
        });
        assert!(row.is_some(), "{rule} | {place} | {words:?} | {meaning} is not found in {findings}");
    }
    for (rule, place) in rules.iter().zip(&places) {
        assert!(KNOWN.iter().any(|known| known.0 == rule), "a rule without a known case: {rule}, {place}");
    }
}

#[test]
fn each_rule_finds_its_fault_in_a_changed_table_and_none_in_a_sound_one() {
    let of = |add: &dyn Fn(&mut Findings) -> Result<()>| {
        let mut findings = Findings::default();
        add(&mut findings).unwrap();
        let frame = findings.frame().unwrap();
        let column = |name: &str| texts(&frame, name).unwrap().into_iter().map(Option::unwrap);
        column("rule").zip(column("place")).map(|(rule, place)| format!("{rule} | {place}")).collect::<Vec<_>>()
    };
    for (total, found) in [(3_i64, &[][..]), (4, &["sum | Table 1, Total", "sum | Table 1, Total"])] {
        let table = df!("source" => ["A", "Total"], "questions" => [3, total], "p1_citizen" => [1_i64, 1],
            "p2_civil_officer" => [1_i64, 1], "p3_legal_expert" => [1_i64, 1])
        .unwrap();
        assert_eq!(of(&|findings| add_sums(findings, &table)), found);
    }
    for (f1, found) in [(48.0, &[][..]), (48.2, &["F1 bound | s, EN"])] {
        let table =
            df!("system" => ["s"], "language" => ["EN"], "precision" => [60.0], "recall" => [40.0], "f1" => [f1]);
        assert_eq!(of(&|findings| add_harmonic(findings, table.as_ref().unwrap())), found);
    }
    // Of 10 claims no whole number is 33.3 %; two labels of 2 claims each cannot have been said 2 and 4 times.
    for (claims, precision, recall, f1, found) in [
        ([2_i64, 2], [50.0, 50.0], [50.0, 50.0], [50.0, 50.0], &[][..]),
        ([10, 2], [33.3, 50.0], [33.3, 50.0], [33.3, 50.0], &["figures not reachable | s, a"]),
        ([2, 2], [50.0, 50.0], [50.0, 100.0], [50.0, 66.7], &["predictions do not add up | s"]),
    ] {
        let table = df!("source" => ["s", "s"], "label" => ["a", "b"], "claims" => claims, "precision" => precision,
            "recall" => recall, "f1" => f1);
        assert_eq!(of(&|findings| add_reachable(findings, table.as_ref().unwrap())), found);
    }
    for (other, found) in [(7_i64, &[][..]), (8, &["counts disagree | claims, A"])] {
        let table = df!("quantity" => ["claims", "claims"], "source" => ["A", "A"], "value" => [7, other],
            "place" => ["text", "table"]);
        assert_eq!(of(&|findings| add_counts(findings, table.as_ref().unwrap())), found);
    }
    for (neutral, found) in [(4_i64, &[][..]), (10, &["gold quality | A"])] {
        let table =
            df!("source" => ["A"], "entailment" => [90_i64], "neutral" => [neutral], "contradiction" => [0_i64]);
        assert_eq!(of(&|findings| add_labels(findings, table.as_ref().unwrap())), found);
    }
}

#[test]
fn the_published_tables_have_as_many_findings_as_were_counted_by_hand() {
    let findings = check().unwrap();
    let counts = found("counts disagree", &findings);
    for wanted in [
        "questions, Total | 317 (Table 1 and Section 3.3), 394 (Section 4.2)",
        "questions, GDPR | 149 (Table 1), 186 (dataset card and Croissant metadata)",
        "questions, CIVIL | 168 (Table 1), 131 (dataset card and Croissant metadata)",
        "valid, GDPR | 453 (Table 1), 452 (Section 4.3)",
        "claims, GDPR | 520 (Table 1), 520 (dataset card), 461 (Section 4.3)",
        "claims, CIVIL | 448 (Table 1), 448 (dataset card), 390 (Section 4.3)",
    ] {
        assert!(counts.iter().any(|row| row.starts_with(wanted)), "{wanted} not in {counts:#?}");
    }
    assert_eq!(counts.len(), 6, "{counts:#?}");
    let kept = found("more kept than generated", &findings);
    assert!(kept.len() == 1 && kept[0].contains("394"), "{kept:?}");
    assert_eq!(found("suspicious sum", &findings).len(), 1);
    let broken = found("conservation", &findings);
    assert!(broken.iter().any(|row| row.starts_with("BM25 + GPT-5, EN | 94.0")), "{broken:#?}");
    assert!(broken.iter().all(|row| row.contains("GPT-5, EN") || row.contains("GPT-4, FR")), "{broken:#?}");
    assert_eq!(broken.len(), 3, "{broken:#?}");
    let unreachable = found("figures not reachable", &findings);
    assert_eq!(unreachable.len(), 1);
    assert!(
        unreachable[0].contains("GDPR, entailment") && unreachable[0].contains("293: 215 right of 254"),
        "{unreachable:?}"
    );
    let varying = found("retriever metric varies with the generator", &findings);
    assert!(
        varying.iter().any(|row| row.contains("claim_recall, BM25, FR | 64.7 (Mixtral-8x7B) to 90.8 (GPT-5)")),
        "{varying:#?}"
    );
    assert!(
        varying.iter().any(|row| row.contains("context_precision, GPT-5 against GPT-4 | lower in all 4 pairs")),
        "{varying:#?}"
    );
    let accuracy = found("extraction accuracy", &findings);
    assert!(accuracy[0].contains("452 of 461") && accuracy[1].contains("385 of 390"), "{accuracy:?}");
    let gold = found("gold quality", &findings);
    assert!(gold[0].starts_with("GDPR | 33.3 % neutral, 1.5 % contradicted"), "{gold:?}");
    assert!(gold[1].starts_with("CIVIL | 20.0 % neutral, 6.2 % contradicted"), "{gold:?}");
    // Table 1 adds up, and no F1 is above its bound.
    assert!(found("sum", &findings).is_empty() && found("F1 bound", &findings).is_empty());
    assert!(found("predictions do not add up", &findings).is_empty());
}

#[test]
fn a_consistent_table_has_no_findings_and_a_changed_one_has() {
    let row = |ft: f64, cr: f64| {
        df!("system" => ["A + g", "A + h"], "retriever" => ["A", "A"], "generator" => ["g", "h"], "language" => ["EN", "EN"],
            "precision" => [60.0, 60.0], "noise_sensitivity_in_relevant" => [20.0, 20.0],
            "noise_sensitivity_in_irrelevant" => [10.0, 10.0], "hallucination" => [10.0, 10.0], "self_knowledge" => [5.0, 5.0],
            "faithfulness" => [85.0, ft], "claim_recall" => [70.0, cr], "context_precision" => [50.0, 50.0])
        .unwrap()
    };
    assert_eq!(conservation(&row(85.0, 70.0)).unwrap().height(), 0);
    assert_eq!(retriever_metrics(&row(85.0, 70.0)).unwrap().height(), 0);
    assert_eq!(conservation(&row(80.0, 70.0)).unwrap().height(), 1);
    assert_eq!(retriever_metrics(&row(85.0, 71.0)).unwrap().height(), 1);
}
