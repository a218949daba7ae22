//! What is wrong in published tables, found by arithmetic.

use std::collections::BTreeMap;

use polars::prelude::DataFrame;

use super::reachable::{nearest, reach};
use super::totals::{add_counts, add_extraction, add_labels, add_sums};
use super::{counts, table_1, table_2, table_3};
use crate::error::Result;
use crate::table::{FrameBuilder, floats, integers, texts};

/// The findings of checks, one row a finding.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<[String; 5]>);

impl Findings {
    pub(super) fn add(&mut self, rule: &str, place: &str, expected: &str, found: &str, meaning: &str) {
        self.0.push([rule, place, expected, found, meaning].map(str::to_owned));
    }

    pub(super) fn frame(&self) -> Result<DataFrame> {
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
/// arithmetic, and the functions of this module that take a table serve tables of one's own.
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
    add_sums(&mut findings, &table_1()?)?;
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

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
