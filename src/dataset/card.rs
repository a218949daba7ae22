//! The data card of a benchmark, and what its passages and reference answers are worth.

use std::collections::HashMap;

use polars::prelude::DataFrame;

use super::Benchmark;
use crate::error::Result;
use crate::lab::Fingerprint;
use crate::table::{FrameBuilder, LabelledClaims, QaPairs, texts};

/// The distinct passages in order of appearance.
pub(super) fn context_units(questions: &QaPairs, claims: Option<&LabelledClaims>) -> Result<DataFrame> {
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    let mut rows: Vec<(String, String, i64, i64)> = Vec::new();
    let mut count = |frame: &DataFrame, is_claim: bool| -> Result<()> {
        let none = || vec![None; frame.height()];
        let units = texts(frame, "context_unit").unwrap_or_else(|_| none());
        let sources = texts(frame, "source").unwrap_or_else(|_| none());
        for (unit, source) in units.into_iter().zip(sources) {
            let Some(unit) = unit else { continue };
            let key = (source.unwrap_or_default(), unit);
            let place = *places.entry(key.clone()).or_insert(rows.len());
            if place == rows.len() {
                rows.push((key.0, key.1, 0, 0));
            }
            if let Some(row) = rows.get_mut(place) {
                if is_claim { row.3 += 1 } else { row.2 += 1 }
            }
        }
        Ok(())
    };
    count(questions.frame(), false)?;
    if let Some(claims) = claims {
        count(claims.frame(), true)?;
    }
    let ids: Vec<String> = rows
        .iter()
        .map(|row| format!("{}/{}", row.0, Fingerprint::new().text(&row.1).finish().get(..12).unwrap_or_default()))
        .collect();
    FrameBuilder::new()
        .text("context_unit_id", &ids)
        .text("source", &rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>())
        .integer("characters", &rows.iter().map(|row| row.1.chars().count() as i64).collect::<Vec<_>>())
        .integer("questions", &rows.iter().map(|row| row.2).collect::<Vec<_>>())
        .integer("claims", &rows.iter().map(|row| row.3).collect::<Vec<_>>())
        .text("text", &rows.iter().map(|row| row.1.as_str()).collect::<Vec<_>>())
        .build()
}

/// Per question: labels of the valid claims against the question's own passage.
pub(super) fn gold_quality(claims: &LabelledClaims) -> Result<DataFrame> {
    let frame = claims.frame();
    let ids = texts(frame, "question_id")?;
    let labels = texts(frame, "label")?;
    let valid: Vec<Option<bool>> = frame.column("valid")?.bool()?.iter().collect();
    let mut order: Vec<String> = Vec::new();
    let mut counts: HashMap<String, [i64; 4]> = HashMap::new();
    for ((id, label), valid) in ids.into_iter().zip(labels).zip(valid) {
        let id = id.unwrap_or_default();
        if valid != Some(true) {
            continue;
        }
        let row = counts.entry(id.clone()).or_insert_with(|| {
            order.push(id);
            [0; 4]
        });
        let place = match label.as_deref() {
            Some("entailment") => 0,
            Some("neutral") => 1,
            Some("contradiction") => 2,
            _ => 3,
        };
        if let Some(count) = row.get_mut(place) {
            *count += 1;
        }
    }
    let column = |place: usize| -> Vec<i64> {
        order.iter().map(|id| counts.get(id).and_then(|row| row.get(place)).copied().unwrap_or(0)).collect()
    };
    let (entailed, neutral, contradicted, unlabelled) = (column(0), column(1), column(2), column(3));
    let is_doubtful: Vec<Option<bool>> = neutral.iter().zip(&contradicted).map(|(n, c)| Some(n + c > 0)).collect();
    FrameBuilder::new()
        .text("question_id", &order)
        .integer("entailed", &entailed)
        .integer("neutral", &neutral)
        .integer("contradicted", &contradicted)
        .integer("no_label", &unlabelled)
        .boolean("is_doubtful", &is_doubtful)
        .build()
}

/// The card in Markdown.
pub(super) fn write(benchmark: &Benchmark) -> Result<String> {
    let statistics = benchmark.statistics()?;
    let mut card = format!("# {}\n\n", benchmark.name());
    card += "## Counts\n\nP1–P3: citizen, civil officer, legal expert. CG1–CG4: general legal research, factual recall, \
             false premise, jurisdiction or time. Labels are counted over valid claims.\n\n";
    card += &statistics.markdown();
    let sums = statistics.sums()?;
    let agreeing = sums.column("agrees")?.bool()?.iter().filter(|agrees| *agrees == Some(true)).count();
    card += &format!("\n{agreeing} of {} sums of rows and columns agree.\n", sums.height());
    card += "\n## Files\n\n| file | bytes | SHA-256 |\n| --- | ---: | --- |\n";
    for file in benchmark.files() {
        card += &format!("| {} | {} | `{}` |\n", file.name, file.bytes, file.sha256);
    }
    card += "\n## Tables\n\n| table | rows | fingerprint |\n| --- | ---: | --- |\n";
    let questions = benchmark.questions();
    let print = Fingerprint::new().frame(questions.frame())?.finish();
    card += &format!("| questions | {} | `{print}` |\n", questions.height());
    if let Ok(claims) = benchmark.labelled_claims() {
        let print = Fingerprint::new().frame(claims.frame())?.finish();
        card += &format!("| claims | {} | `{print}` |\n", claims.height());
    }
    for act in benchmark.acts() {
        let print = Fingerprint::new().text(act.text()).finish();
        card += &format!("| act {} | {} parts | `{print}` |\n", act.source(), act.parts().len());
    }
    let problems = benchmark.problems();
    card += &format!("\n## Problems\n\n{} rows.\n", problems.height());
    let mut kinds: std::collections::BTreeMap<(String, String), usize> = std::collections::BTreeMap::new();
    for (file, effect) in texts(&problems, "file")?.into_iter().zip(texts(&problems, "effect")?) {
        *kinds.entry((file.unwrap_or_default(), effect.unwrap_or_default())).or_default() += 1;
    }
    for ((file, effect), count) in kinds {
        card += &format!("- {file}: {count} {effect}\n");
    }
    let flags = benchmark.flags()?;
    if flags.height() > 0 {
        let differ = flags.column("agrees")?.bool()?.iter().filter(|agrees| *agrees == Some(false)).count();
        card += &format!("\n{differ} of {} counts differ from published ones; see flags().\n", flags.height());
    }
    Ok(card)
}
