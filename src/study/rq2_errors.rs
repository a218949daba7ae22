//! The claims on which a checker and people differ.

use std::collections::HashMap;

use polars::prelude::DataFrame;

use super::CheckerReport;
use super::rq2::Row;
use crate::error::Result;
use crate::figure::Page;
use crate::table::{FrameBuilder, Label, LabelledClaims, escape, texts};

/// claim → its text and its passage
type Texts = HashMap<String, (String, String)>;

fn texts_of(claims: &LabelledClaims) -> Result<Texts> {
    let frame = claims.frame();
    let (said, passages) = (texts(frame, "text")?, texts(frame, "context_unit")?);
    let ids = texts(frame, "claim_id")?.into_iter().enumerate();
    Ok(ids
        .filter_map(|(row, id)| {
            Some((id?, (said[row].clone().unwrap_or_default(), passages[row].clone().unwrap_or_default())))
        })
        .collect())
}

/// The rows that differ: missed entailments first, then by the pair of labels.
fn wrong(report: &CheckerReport) -> Vec<&Row> {
    let mut rows: Vec<&Row> = report.rows().iter().filter(|row| row.said != Some(row.given)).collect();
    rows.sort_by_key(|row| (row.given, row.said));
    rows
}

pub(super) fn table(report: &CheckerReport, claims: &LabelledClaims) -> Result<DataFrame> {
    let texts = texts_of(claims)?;
    let rows = wrong(report);
    let of = |pick: fn(&(String, String)) -> &str| {
        rows.iter().map(|row| texts.get(&row.claim_id).map(pick)).collect::<Vec<_>>()
    };
    FrameBuilder::new()
        .text("given", &rows.iter().map(|row| row.given.as_str()).collect::<Vec<_>>())
        .text_or_null("said", &rows.iter().map(|row| row.said.map(Label::as_str)).collect::<Vec<_>>())
        .text_or_null("claim", &of(|text| text.0.as_str()))
        .text("reason", &rows.iter().map(|row| row.reason.as_str()).collect::<Vec<_>>())
        .text_or_null("context_unit", &of(|text| text.1.as_str()))
        .text("claim_id", &rows.iter().map(|row| row.claim_id.as_str()).collect::<Vec<_>>())
        .build()
}

pub(super) fn page(report: &CheckerReport, claims: &LabelledClaims) -> Result<Page> {
    let texts = texts_of(claims)?;
    let rows = wrong(report);
    let n = report.rows().len();
    let mut html = format!(
        "<div style=\"max-width:60em\"><p><b>{}</b>: {} of {n} claims judged otherwise than by people</p>",
        escape(&report.checker()),
        rows.len()
    );
    for pair in rows.chunk_by(|a, b| (a.given, a.said) == (b.given, b.said)) {
        let Some(first) = pair.first() else { continue };
        html += &format!(
            "<details><summary>{} said to be {}: {}</summary>",
            first.given,
            first.said.map_or("nothing (the check failed)", Label::as_str),
            pair.len()
        );
        for row in pair {
            let (claim, passage) = texts.get(&row.claim_id).cloned().unwrap_or_default();
            html += &format!(
                "<div style=\"margin:0.5em 1em\"><b>{}</b> <small style=\"color:#777\">{}</small><br>{}\
                 <details><summary>passage</summary>{}</details></div>",
                escape(&claim),
                escape(&row.claim_id),
                escape(&row.reason),
                escape(&passage)
            );
        }
        html += "</details>";
    }
    let plain = rows
        .iter()
        .map(|row| {
            let claim = texts.get(&row.claim_id).map_or("", |text| text.0.as_str());
            format!("{} said {}: {claim}", row.given, row.said.map_or("nothing", Label::as_str))
        })
        .collect::<Vec<_>>()
        .join("\n");
    Ok(Page::new(html + "</div>", plain))
}
