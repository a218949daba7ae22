//! What is wrong in published tables, found by arithmetic.

use std::collections::BTreeMap;

use polars::prelude::DataFrame;

use super::reachable::{nearest, reach};
use super::{counts, extraction, table_1, table_2, table_3};
use crate::dataset::statistics::sums;
use crate::error::Result;
use crate::table::{FrameBuilder, floats, integers, texts};

/// The findings of checks, one row a finding.
#[derive(Debug, Default)]
struct Findings(Vec<[String; 5]>);

impl Findings {
    fn add(&mut self, rule: &str, place: &str, expected: &str, found: &str, meaning: &str) {
        self.0.push([rule, place, expected, found, meaning].map(str::to_owned));
    }

    fn frame(&self) -> Result<DataFrame> {
        let names = ["rule", "place", "expected", "found", "meaning"];
        let mut builder = FrameBuilder::new();
        for (place, name) in names.iter().enumerate() {
            builder = builder.text(name, &self.0.iter().map(|row| row[place].as_str()).collect::<Vec<_>>());
        }
        builder.build()
    }
}

/// Everything that arithmetic finds wrong in ClaimRAG-LAW's published tables and counts: one row a finding with the
/// `rule`, the `place`, what was `expected` and `found`, and what that means. Nothing is taken from a list: the rules are
/// the functions of this module, and serve tables of one's own as well.
///
/// # Errors
/// Never for the bundled tables.
///
/// ```
/// let findings = claimlab::dataset::published::check()?;
/// assert!(findings.height() > 10);
/// # Ok::<(), claimlab::Error>(())
/// ```
pub fn check() -> Result<DataFrame> {
    let mut findings = Findings::default();
    table_sums(&mut findings)?;
    add_conservation(&mut findings, &table_2()?)?;
    add_harmonic(&mut findings, &table_2()?)?;
    add_retriever_metrics(&mut findings, &table_2()?)?;
    add_reachable(&mut findings, &table_3()?)?;
    add_counts(&mut findings, &counts()?)?;
    add_extraction(&mut findings)?;
    add_labels(&mut findings, &table_1()?)?;
    findings.frame()
}

/// RAGChecker's two identities: precision + both noise sensitivities + hallucination = 100, and faithfulness +
/// self-knowledge + hallucination = 100, for means over questions that all have claims and chunks. A row off by more than
/// rounding explains (0.05 a term) is a finding. The table holds the metrics in percent; `system` and `language` name rows.
///
/// # Errors
/// When a column is missing.
pub fn conservation(table: &DataFrame) -> Result<DataFrame> {
    let mut findings = Findings::default();
    add_conservation(&mut findings, table)?;
    findings.frame()
}

const IDENTITIES: [(&str, &[&str]); 2] = [
    (
        "precision + noise sensitivities + hallucination",
        &["precision", "noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant", "hallucination"],
    ),
    ("faithfulness + self-knowledge + hallucination", &["faithfulness", "self_knowledge", "hallucination"]),
];

fn names(table: &DataFrame) -> Result<Vec<String>> {
    let systems = texts(table, "system")?;
    let languages = texts(table, "language")?;
    let name = |(system, language): (Option<String>, Option<String>)| match language {
        Some(language) => format!("{}, {language}", system.unwrap_or_default()),
        None => system.unwrap_or_default(),
    };
    Ok(systems.into_iter().zip(languages).map(name).collect())
}

fn add_conservation(findings: &mut Findings, table: &DataFrame) -> Result<()> {
    let names = names(table)?;
    for (told, terms) in IDENTITIES {
        let columns: Vec<Vec<Option<f64>>> = terms.iter().map(|term| floats(table, term)).collect::<Result<_>>()?;
        for (place, name) in names.iter().enumerate() {
            let values: Option<Vec<f64>> = columns.iter().map(|column| column.get(place).copied().flatten()).collect();
            let Some(values) = values else { continue };
            let sum: f64 = values.iter().sum();
            let room = 0.05 * terms.len() as f64 + 1e-9;
            let off = sum - 100.0;
            if off.abs() <= room {
                continue;
            }
            let meaning = if off < 0.0 && off > -1.0 {
                format!("a share of about {:.1} % of the answers without claims or chunks would explain it", -off)
            } else {
                "no share of answers without claims leaves the other identity whole: a value is wrong".to_owned()
            };
            findings.add("conservation", name, &format!("{told} = 100 ± {room:.2}"), &format!("{sum:.1}"), &meaning);
        }
    }
    Ok(())
}

/// The mean of F1 over questions is never above the harmonic mean of mean precision and mean recall.
fn add_harmonic(findings: &mut Findings, table: &DataFrame) -> Result<()> {
    let (p, r, f) = (floats(table, "precision")?, floats(table, "recall")?, floats(table, "f1")?);
    for (place, name) in names(table)?.iter().enumerate() {
        let value = |column: &[Option<f64>]| column.get(place).copied().flatten();
        let (Some(p), Some(r), Some(f)) = (value(&p), value(&r), value(&f)) else { continue };
        let bound = if p + r > 0.0 { 2.0 * p * r / (p + r) } else { 0.0 };
        if f > bound + 0.1 {
            let meaning = "a mean of harmonic means is never above the harmonic mean of the means";
            findings.add("F1 bound", name, &format!("F1 ≤ {bound:.1}"), &format!("{f:.1}"), meaning);
        }
    }
    Ok(())
}

/// Claim recall and context precision depend on question, reference claims and retrieved chunks alone; so they are equal
/// for systems that share a retriever, whatever generates. Spreads above rounding are findings, and so is a generator with
/// which a metric is lower than with another one under every retriever and language.
///
/// # Errors
/// When a column is missing.
pub fn retriever_metrics(table: &DataFrame) -> Result<DataFrame> {
    let mut findings = Findings::default();
    add_retriever_metrics(&mut findings, table)?;
    findings.frame()
}

fn add_retriever_metrics(findings: &mut Findings, table: &DataFrame) -> Result<()> {
    let retrievers = texts(table, "retriever")?;
    let generators = texts(table, "generator")?;
    let languages = texts(table, "language")?;
    for metric in ["claim_recall", "context_precision"] {
        let values = floats(table, metric)?;
        let mut groups: BTreeMap<(String, String), Vec<(String, f64)>> = BTreeMap::new();
        for (place, value) in values.iter().enumerate() {
            let text = |column: &[Option<String>]| column.get(place).cloned().flatten();
            let (Some(retriever), Some(generator), Some(language)) =
                (text(&retrievers), text(&generators), text(&languages))
            else {
                continue;
            };
            if let Some(value) = value {
                groups.entry((retriever, language)).or_default().push((generator, *value));
            }
        }
        for ((retriever, language), members) in &groups {
            let (Some(low), Some(high)) = (
                members.iter().min_by(|one, other| one.1.total_cmp(&other.1)),
                members.iter().max_by(|one, other| one.1.total_cmp(&other.1)),
            ) else {
                continue;
            };
            if high.1 - low.1 > 0.1 {
                findings.add(
                    "retriever metric varies with the generator",
                    &format!("{metric}, {retriever}, {language}"),
                    "one value for all generators",
                    &format!("{:.1} ({}) to {:.1} ({})", low.1, low.0, high.1, high.0),
                    if high.1 - low.1 > 5.0 {
                        "the rows cannot rest on the same retrieval and reference claims: do not compare them"
                    } else {
                        "reference claims were extracted, or chunks checked, anew for each generator"
                    },
                );
            }
        }
        add_patterns(findings, metric, &groups);
    }
    Ok(())
}

/// One generator below another, by more than repeated extraction explains, under every retriever and language.
fn add_patterns(findings: &mut Findings, metric: &str, groups: &BTreeMap<(String, String), Vec<(String, f64)>>) {
    type Gap<'a> = (&'a (String, String), f64, f64);
    let mut gaps: BTreeMap<(&str, &str), Vec<Gap<'_>>> = BTreeMap::new();
    for (place, members) in groups {
        for (low, below) in members {
            for (high, above) in members.iter().filter(|(high, _)| high != low) {
                gaps.entry((low, high)).or_default().push((place, *below, *above));
            }
        }
    }
    for ((low, high), pairs) in gaps {
        if pairs.len() < 3 || pairs.iter().any(|(_, below, above)| above - below < 1.0) {
            continue;
        }
        let told: Vec<String> = pairs
            .iter()
            .map(|((retriever, language), below, above)| {
                format!("{retriever} {language} {below:.1} against {above:.1}")
            })
            .collect();
        findings.add(
            "retriever metric varies with the generator",
            &format!("{metric}, {low} against {high}"),
            "no pattern across retrievers and languages",
            &format!("lower in all {} pairs: {}", pairs.len(), told.join("; ")),
            "a change of extractor, checker or index between the runs of the two generators",
        );
    }
}

/// Precision, recall and F1 of each label must come from whole numbers of claims.
fn add_reachable(findings: &mut Findings, table: &DataFrame) -> Result<()> {
    let sources = texts(table, "source")?;
    let labels = texts(table, "label")?;
    let n = integers(table, "claims")?;
    let (p, r, f) = (floats(table, "precision")?, floats(table, "recall")?, floats(table, "f1")?);
    let mut predicted: BTreeMap<String, (Vec<Vec<i64>>, i64, bool)> = BTreeMap::new();
    for place in 0..table.height() {
        let number = |column: &[Option<f64>]| column.get(place).copied().flatten();
        let (Some(n), Some(p), Some(r), Some(f)) =
            (n.get(place).copied().flatten(), number(&p), number(&r), number(&f))
        else {
            continue;
        };
        let text = |column: &[Option<String>]| column.get(place).cloned().flatten().unwrap_or_default();
        let (source, label) = (text(&sources), text(&labels));
        let ways = reach(n, p, r, f);
        let entry = predicted.entry(source.clone()).or_insert_with(|| (Vec::new(), 0, true));
        entry.1 += n;
        entry.2 &= !ways.is_empty();
        entry.0.push(ways.iter().map(|way| way.predicted).collect());
        if ways.is_empty() {
            let meaning = match nearest(n, p, r, f) {
                Some(other) => format!(
                    "the nearest number of claims that gives these figures is {}: {} right of {} said",
                    other.n, other.correct, other.predicted
                ),
                None => "no number of claims near it gives these figures".to_owned(),
            };
            let place = format!("{source}, {label}");
            let expected = format!("precision {p:.1}, recall {r:.1}, F1 {f:.1} from whole numbers of {n} claims");
            findings.add("figures not reachable", &place, &expected, "no whole numbers give them", &meaning);
        }
    }
    for (source, (ways, total, is_whole)) in predicted {
        let reached = ways.iter().fold(std::collections::BTreeSet::from([0]), |sums, more| {
            sums.iter().flat_map(|sum| more.iter().map(move |one| sum + one)).collect()
        });
        if is_whole && !reached.contains(&total) {
            let found = format!("{:?}", reached.iter().take(8).collect::<Vec<_>>());
            let meaning = "every claim gets exactly one label, so the labels said add up to the claims";
            findings.add("predictions do not add up", &source, &format!("{total} labels"), &found, meaning);
        }
    }
    Ok(())
}

/// Counts of one quantity and source must be one number wherever they are stated. The table has `quantity`, `source`,
/// `value` and `place`.
///
/// # Errors
/// When a column is missing.
pub fn counts_disagree(counts: &DataFrame) -> Result<DataFrame> {
    let mut findings = Findings::default();
    add_counts(&mut findings, counts)?;
    findings.frame()
}

fn add_counts(findings: &mut Findings, counts: &DataFrame) -> Result<()> {
    let mut stated: BTreeMap<(String, String), Vec<(i64, String)>> = BTreeMap::new();
    let columns = (texts(counts, "quantity")?, texts(counts, "source")?, texts(counts, "place")?);
    for (((quantity, source), place), value) in
        columns.0.into_iter().zip(columns.1).zip(columns.2).zip(integers(counts, "value")?)
    {
        if let (Some(quantity), Some(source), Some(place), Some(value)) = (quantity, source, place, value) {
            stated.entry((quantity, source)).or_default().push((value, place));
        }
    }
    for ((quantity, source), values) in &stated {
        let distinct: std::collections::BTreeSet<i64> = values.iter().map(|(value, _)| *value).collect();
        if distinct.len() > 1 {
            let told: Vec<String> = values.iter().map(|(value, place)| format!("{value} ({place})")).collect();
            let meaning = "the documents do not describe the same data";
            findings.add("counts disagree", &format!("{quantity}, {source}"), "one number", &told.join(", "), meaning);
        }
    }
    // What was kept was generated before.
    let value = |quantity: &str| Some(stated.get(&(quantity.to_owned(), "Total".to_owned()))?.first()?.0);
    if let (Some(single), Some(multi)) =
        (value("generated single-hop questions"), value("generated multi-hop questions"))
    {
        let generated = single + multi;
        for (kept, place) in stated.get(&("questions".to_owned(), "Total".to_owned())).into_iter().flatten() {
            if *kept > generated {
                let expected = format!("at most {single} + {multi} = {generated}, all that were generated");
                let found = format!("{kept} ({place})");
                findings.add(
                    "more kept than generated",
                    "questions, Total",
                    &expected,
                    &found,
                    "one of the counts is wrong",
                );
            }
        }
        if let Some(answers) = value("answers with claims") {
            for (kept, place) in stated.get(&("questions".to_owned(), "Total".to_owned())).into_iter().flatten() {
                // Only single-hop answers were split into claims.
                if kept - answers == single {
                    let expected = format!("{} multi-hop questions for {kept} in all ({place})", kept - answers);
                    let found = format!("{single}, which is the number of generated single-hop questions");
                    let meaning =
                        "the total is the correct single-hop answers plus all single-hop questions: look again";
                    findings.add("suspicious sum", "questions, Total", &expected, &found, meaning);
                }
            }
        }
    }
    Ok(())
}

/// The extraction accuracies of Section 4.3 against the counts of Table 1.
fn add_extraction(findings: &mut Findings) -> Result<()> {
    let stated = extraction()?;
    let table = table_1()?;
    let sources = texts(&table, "source")?;
    let (claims, valid) = (integers(&table, "claims")?, integers(&table, "valid_claims")?);
    let (correct, total) = (integers(&stated, "correct")?, integers(&stated, "total")?);
    let printed = floats(&stated, "accuracy_percent")?;
    for (place, source) in texts(&stated, "source")?.into_iter().enumerate() {
        let at = |column: &[Option<i64>]| column.get(place).copied().flatten();
        let (Some(source), Some(correct), Some(total)) = (source, at(&correct), at(&total)) else { continue };
        let share = 100.0 * correct as f64 / total as f64;
        if let Some(printed) = printed.get(place).copied().flatten()
            && (share - printed).abs() > 0.05 + 1e-9
        {
            let expected = format!("{correct} of {total} = {share:.1} %");
            findings.add(
                "share",
                &source,
                &expected,
                &format!("{printed} %"),
                "the printed share is not of these counts",
            );
        }
        let row = sources.iter().position(|name| name.as_deref() == Some(&*source));
        let cell = |column: &[Option<i64>]| row.and_then(|row| column.get(row).copied().flatten());
        if let (Some(claims), Some(valid)) = (cell(&claims), cell(&valid))
            && (claims, valid) != (total, correct)
        {
            let share_of_table = 100.0 * valid as f64 / claims as f64;
            findings.add(
                "extraction accuracy",
                &source,
                &format!("{valid} of {claims} = {share_of_table:.1} % (Table 1)"),
                &format!("{correct} of {total} = {share:.1} % (Section 4.3)"),
                &format!("{} claims are left out of the accuracy", claims - total),
            );
        }
    }
    Ok(())
}

/// Claims of reference answers that the answer's own passage does not carry, by source: a share of not entailed claims
/// above 5 % is a finding, since such answers are a doubtful gold standard. The table has `source`, `entailment`, `neutral`
/// and `contradiction`.
///
/// # Errors
/// When a column is missing.
pub fn shares_of_labels(table: &DataFrame) -> Result<DataFrame> {
    let mut findings = Findings::default();
    add_labels(&mut findings, table)?;
    findings.frame()
}

fn add_labels(findings: &mut Findings, table: &DataFrame) -> Result<()> {
    let counts = (integers(table, "entailment")?, integers(table, "neutral")?, integers(table, "contradiction")?);
    for (place, source) in texts(table, "source")?.into_iter().enumerate() {
        let at = |column: &[Option<i64>]| column.get(place).copied().flatten();
        let (Some(source), Some(e), Some(n), Some(c)) = (source, at(&counts.0), at(&counts.1), at(&counts.2)) else {
            continue;
        };
        let total = (e + n + c).max(1) as f64;
        if (n + c) as f64 > 0.05 * total {
            let found =
                format!("{:.1} % neutral, {:.1} % contradicted", 100.0 * n as f64 / total, 100.0 * c as f64 / total);
            let meaning =
                "reference answers hold claims that their own context unit does not carry: a doubtful gold standard";
            findings.add(
                "gold quality",
                &source,
                "claims of correct answers entailed by the context unit",
                &found,
                meaning,
            );
        }
    }
    Ok(())
}

fn table_sums(findings: &mut Findings) -> Result<()> {
    let within: [(&str, &[&str]); 3] = [
        ("questions", &["p1_citizen", "p2_civil_officer", "p3_legal_expert"]),
        (
            "questions",
            &[
                "cg1_general_legal_research",
                "cg2_factual_recall",
                "cg3_false_premise",
                "cg4_jurisdiction_time_specific",
            ],
        ),
        ("valid_claims", &["entailment", "neutral", "contradiction"]),
    ];
    let checked = sums(&table_1()?, "Total", &within)?;
    let agrees: Vec<Option<bool>> = checked.column("agrees")?.bool()?.iter().collect();
    let (rows, told) = (texts(&checked, "row")?, texts(&checked, "sum")?);
    let (stated, added) = (integers(&checked, "stated")?, integers(&checked, "added_up")?);
    for place in (0..checked.height()).filter(|place| agrees.get(*place).copied().flatten() == Some(false)) {
        let text = |column: &[Option<String>]| column.get(place).cloned().flatten().unwrap_or_default();
        let number = |column: &[Option<i64>]| column.get(place).copied().flatten().unwrap_or_default();
        let expected = format!("{}: {}", text(&told), number(&added));
        findings.add(
            "sum",
            &format!("Table 1, {}", text(&rows)),
            &expected,
            &number(&stated).to_string(),
            "a count is wrong",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use polars::prelude::df;

    fn found(rule: &str, frame: &DataFrame) -> Vec<String> {
        let column = |name: &str| texts(frame, name).unwrap();
        let rows = column("rule").into_iter().zip(column("place")).zip(column("found")).zip(column("meaning"));
        rows.filter(|(((found, _), _), _)| found.as_deref() == Some(rule))
            .map(|(((_, place), found), meaning)| {
                format!("{} | {} | {}", place.unwrap(), found.unwrap(), meaning.unwrap())
            })
            .collect()
    }

    #[test]
    fn everything_that_the_landscape_marks_is_found_by_arithmetic() {
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
}
