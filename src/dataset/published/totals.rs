//! Counts that disagree: between places, between a sum and its terms, between a share and its numbers.

use std::collections::BTreeMap;

use polars::prelude::DataFrame;

use super::check::Findings;
use super::{extraction, table_1};
use crate::dataset::statistics::sums;
use crate::error::Result;
use crate::table::{floats, integers, texts};

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

pub(super) fn add_counts(findings: &mut Findings, counts: &DataFrame) -> Result<()> {
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
pub(super) fn add_extraction(findings: &mut Findings) -> Result<()> {
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

pub(super) fn add_labels(findings: &mut Findings, table: &DataFrame) -> Result<()> {
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

/// Table 1 in itself: personas and categories against questions, labels against valid claims, sources against the totals.
pub(super) fn add_sums(findings: &mut Findings, table: &DataFrame) -> Result<()> {
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
    let checked = sums(table, "Total", &within)?;
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
