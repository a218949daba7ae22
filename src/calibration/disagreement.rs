//! Where a judge and people disagree, in both sides' words.

use std::collections::HashMap;

use polars::prelude::DataFrame;

use super::labels::LabelSet;
use crate::error::Result;
use crate::table::{FrameBuilder, JudgingSet, Verdict, Verdicts, integers, texts};

/// Lists every labelled answer on which a judge's first verdict is not the people's: the criterion, who said what and
/// why, the evidence, and the answer. Disagreements are as often a gap in the criterion as a fault of the judge, so they
/// are to be read.
///
/// # Errors
/// When a table lacks a column.
pub fn disagreements(verdicts: &Verdicts, labels: &LabelSet, set: &JudgingSet) -> Result<DataFrame> {
    let frame = verdicts.frame();
    let optional =
        |name: &str| if frame.column(name).is_ok() { texts(frame, name) } else { Ok(vec![None; frame.height()]) };
    let column = |name: &str| texts(frame, name);
    let (judges, prompts, ways, criteria) =
        (column("judge")?, column("prompt")?, column("way")?, column("criterion_id")?);
    let (systems, said, reasons, evidence) =
        (column("system")?, column("verdict")?, optional("reason")?, optional("evidence")?);
    let (attempts, repeats) = (integers(frame, "attempt")?, integers(frame, "repeat")?);
    let items: HashMap<(&str, &str, i64), usize> = labels
        .items
        .iter()
        .enumerate()
        .map(|(place, item)| ((item.criterion.as_str(), item.system.as_str(), item.attempt), place))
        .collect();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for row in 0..frame.height() {
        let (Some(criterion), Some(system), Some(attempt), Some(1)) =
            (criteria[row].as_deref(), systems[row].as_deref(), attempts[row], repeats[row])
        else {
            continue;
        };
        let Some(item) = items.get(&(criterion, system, attempt)) else { continue };
        let verdict = said[row].as_deref().and_then(Verdict::parse);
        if verdict.is_some_and(|verdict| verdict != labels.items[*item].label) {
            found.push((row, *item));
        }
    }
    let (words, answers) = (criterion_texts(set)?, answers(set)?);
    let pick = |values: &[Option<String>]| found.iter().map(|(row, _)| values[*row].clone()).collect::<Vec<_>>();
    let items: Vec<_> = found.iter().map(|(_, item)| &labels.items[*item]).collect();
    let joined: Vec<Option<String>> =
        items.iter().map(|item| Some(item.reasons.join("\n")).filter(|reasons| !reasons.is_empty())).collect();
    let answer = |item: &&super::labels::Item| {
        answers.get(&(item.system.clone(), item.task.clone(), item.attempt)).cloned().flatten()
    };
    FrameBuilder::new()
        .text_or_null("judge", &pick(&judges))
        .text_or_null("prompt", &pick(&prompts))
        .text_or_null("way", &pick(&ways))
        .text("task_id", &items.iter().map(|item| &item.task).collect::<Vec<_>>())
        .text("criterion_id", &items.iter().map(|item| &item.criterion).collect::<Vec<_>>())
        .text("system", &items.iter().map(|item| &item.system).collect::<Vec<_>>())
        .integer("attempt", &items.iter().map(|item| item.attempt).collect::<Vec<_>>())
        .text_or_null("criterion", &items.iter().map(|item| words.get(&item.criterion)).collect::<Vec<_>>())
        .text("people", &items.iter().map(|item| item.label.as_str()).collect::<Vec<_>>())
        .text_or_null("people_say", &joined)
        .text_or_null("judge_verdict", &pick(&said))
        .text_or_null("judge_says", &pick(&reasons))
        .text_or_null("judge_quotes", &pick(&evidence))
        .text_or_null("answer", &items.iter().map(answer).collect::<Vec<_>>())
        .build()
}

fn criterion_texts(set: &JudgingSet) -> Result<HashMap<String, String>> {
    let frame = set.criteria().frame();
    let ids = texts(frame, "criterion_id")?;
    Ok(ids.into_iter().zip(texts(frame, "text")?).filter_map(|(id, text)| Some((id?, text?))).collect())
}

type Answers = HashMap<(String, String, i64), Option<String>>;

fn answers(set: &JudgingSet) -> Result<Answers> {
    let frame = set.attempts().frame();
    let (tasks, attempts, answers) = (texts(frame, "task_id")?, integers(frame, "attempt")?, texts(frame, "answer")?);
    let keys = texts(frame, "system")?.into_iter().enumerate().map(|(row, system)| {
        let key =
            (system.unwrap_or_default(), tasks[row].clone().unwrap_or_default(), attempts[row].unwrap_or_default());
        (key, answers[row].clone())
    });
    Ok(keys.collect())
}
