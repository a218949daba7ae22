//! The counts of ClaimRAG-LAW's Table 1, for any benchmark.

use polars::prelude::DataFrame;

use crate::error::Result;
use crate::table::{FrameBuilder, LabelledClaims, QaPairs, distinct, texts};

/// Columns of the table: header, column of the question table, value.
const COUNTS: [(&str, &str, &str); 9] = [
    ("P1", "persona", "citizen"),
    ("P2", "persona", "civil_officer"),
    ("P3", "persona", "legal_expert"),
    ("CG1", "category", "general_legal_research"),
    ("CG2", "category", "factual_recall"),
    ("CG3", "category", "false_premise"),
    ("CG4", "category", "jurisdiction_time_specific"),
    ("single", "hops", "single"),
    ("multi", "hops", "multi"),
];

/// One row a source and a last row of sums.
pub(super) fn table_1(questions: &QaPairs, claims: Option<&LabelledClaims>) -> Result<DataFrame> {
    let mut sources = distinct(questions.frame(), "source")?;
    sources.push("total".to_owned());
    let rows_of = |column: Vec<Option<String>>, wanted: &str| -> Vec<bool> {
        column.iter().map(|found| wanted == "total" || found.as_deref() == Some(wanted)).collect()
    };
    let mut table = FrameBuilder::new().text("source", &sources);
    let mut totals = Vec::new();
    for source in &sources {
        let kept = rows_of(texts(questions.frame(), "source")?, source);
        totals.push(kept.iter().filter(|keep| **keep).count() as i64);
    }
    table = table.integer("questions", &totals);
    for (header, column, value) in COUNTS {
        let found = texts(questions.frame(), column)?;
        let mut counts = Vec::new();
        for source in &sources {
            let kept = rows_of(texts(questions.frame(), "source")?, source);
            let count = found.iter().zip(kept).filter(|(found, keep)| *keep && found.as_deref() == Some(value)).count();
            counts.push(count as i64);
        }
        table = table.integer(header, &counts);
    }
    if let Some(claims) = claims {
        let valid: Vec<Option<bool>> = claims.frame().column("valid")?.bool()?.iter().collect();
        let labels = texts(claims.frame(), "label")?;
        let is = |label: &'static str| {
            labels
                .iter()
                .zip(&valid)
                .map(|(found, valid)| *valid == Some(true) && found.as_deref() == Some(label))
                .collect()
        };
        let columns: [(&str, Vec<bool>); 5] = [
            ("claims", vec![true; labels.len()]),
            ("valid", valid.iter().map(|valid| *valid == Some(true)).collect()),
            ("entailment", is("entailment")),
            ("neutral", is("neutral")),
            ("contradiction", is("contradiction")),
        ];
        for (header, member) in columns {
            let mut counts = Vec::new();
            for source in &sources {
                let kept = rows_of(texts(claims.frame(), "source")?, source);
                counts.push(member.iter().zip(kept).filter(|(member, keep)| **member && *keep).count() as i64);
            }
            table = table.integer(header, &counts);
        }
    }
    table.build()
}
