//! Cheap rules that find criteria which a judge will read in more than one way, in English and French.
//!
//! The three principles are those of checklists that can be judged reliably: *atomic* (one decision), *self-contained*
//! (nothing to look up elsewhere), *non-duplicative* (no requirement twice in a task). The rules read words, not
//! meaning: `likely` findings are usually right, `possible` ones are worth a look, and silence proves nothing.

mod duplicates;
mod rules;
mod words;

use std::sync::Arc;

use super::JudgingSet;
use crate::error::Result;
use crate::model::Embed;
use crate::table::{Criteria, CriterionFindings, FrameBuilder, texts};
use crate::text::Language;

pub(super) use rules::is_likely_compound;

/// One finding.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    pub criterion: String,
    pub principle: &'static str,
    pub rule: String,
    pub severity: &'static str,
    pub excerpt: Option<String>,
    pub other: Option<String>,
    pub score: Option<f64>,
    pub message: String,
}

/// A criterion as the rules read it.
pub(super) struct Entry {
    pub id: String,
    pub task: String,
    pub text: String,
    pub language: Language,
    /// Material is attached to it or to its task.
    pub attached: bool,
}

/// Applies the offline rules to every criterion: conjunctions, vague words, dangling references, near-duplicates by
/// n-grams of stems within a task.
///
/// ```
/// use claimlab::judging::{JudgingSet, lint::lint};
/// let findings = lint(&JudgingSet::sample()?)?;
/// assert!(findings.only("rule", "conjunction")?.height() > 0);
/// # Ok::<(), claimlab::Error>(())
/// ```
///
/// # Errors
/// When a table lacks a column that it must have.
pub fn lint(set: &JudgingSet) -> Result<CriterionFindings> {
    let entries = entries(set)?;
    let mut findings: Vec<Finding> = entries.iter().flat_map(rules::check).collect();
    findings.extend(duplicates::by_ngrams(&entries));
    table(&findings)
}

/// Near-duplicates within a task by the cosine of their embeddings, from `at_least` (0.9 is a usual beginning).
///
/// # Errors
/// When the model fails.
pub fn near_duplicates(set: &JudgingSet, model: &Arc<dyn Embed>, at_least: f64) -> Result<CriterionFindings> {
    table(&duplicates::by_embeddings(&entries(set)?, model.as_ref(), at_least)?)
}

pub(super) fn entries(set: &JudgingSet) -> Result<Vec<Entry>> {
    let tasks = set.tasks().frame();
    let attached: std::collections::HashSet<String> = if tasks.column("references").is_ok() {
        texts(tasks, "task_id")?
            .into_iter()
            .zip(texts(tasks, "references")?)
            .filter_map(|(task, references)| references.and(task))
            .collect()
    } else {
        std::collections::HashSet::new()
    };
    read(set.criteria(), &attached)
}

fn read(criteria: &Criteria, attached: &std::collections::HashSet<String>) -> Result<Vec<Entry>> {
    let frame = criteria.frame();
    let optional = |name: &str| {
        if frame.column(name).is_ok() { texts(frame, name) } else { Ok(vec![None; frame.height()]) }
    };
    let (tasks, words) = (texts(frame, "task_id")?, texts(frame, "text")?);
    let (languages, references) = (optional("language")?, optional("references")?);
    let mut entries = Vec::new();
    for (row, id) in texts(frame, "criterion_id")?.into_iter().enumerate() {
        let (task, text) = (tasks[row].clone().unwrap_or_default(), words[row].clone().unwrap_or_default());
        let language = languages[row].as_deref().and_then(Language::from_code);
        entries.push(Entry {
            id: id.unwrap_or_default(),
            attached: references[row].is_some() || attached.contains(&task),
            task,
            language: language.unwrap_or_else(|| Language::detect(&text)),
            text,
        });
    }
    Ok(entries)
}

pub(super) fn table(findings: &[Finding]) -> Result<CriterionFindings> {
    let column = |pick: fn(&Finding) -> &str| findings.iter().map(pick).collect::<Vec<_>>();
    CriterionFindings::new(
        FrameBuilder::new()
            .text("criterion_id", &column(|one| &one.criterion))
            .text("principle", &column(|one| one.principle))
            .text("rule", &column(|one| &one.rule))
            .text("severity", &column(|one| one.severity))
            .text_or_null("excerpt", &findings.iter().map(|one| one.excerpt.as_ref()).collect::<Vec<_>>())
            .text_or_null("other", &findings.iter().map(|one| one.other.as_ref()).collect::<Vec<_>>())
            .number("score", &findings.iter().map(|one| one.score).collect::<Vec<_>>())
            .text("message", &column(|one| &one.message))
            .build()?,
    )
}
