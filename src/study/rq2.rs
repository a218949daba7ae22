//! RQ2: how good is a checker? Its verdicts beside people's labels.

use std::collections::HashMap;

use polars::prelude::DataFrame;

use crate::analysis::{Bootstrap, wilson};
use crate::error::{Error, Result};
use crate::figure::Page;
use crate::metrics::{Agreement, ConfusionMatrix};
use crate::signal;
use crate::table::{Checks, FrameBuilder, HumanLabels, Label, LabelledClaims, escape, texts};

/// The labels that people gave to claims, as a table of their own: the claims that are valid and have one.
///
/// # Errors
/// When a column is missing.
pub fn human_labels(claims: &LabelledClaims) -> Result<HumanLabels> {
    let frame = claims.frame();
    let valid: Vec<bool> = match frame.column("valid")?.bool() {
        Ok(column) => column.iter().map(|valid| valid != Some(false)).collect(),
        Err(_) => vec![true; frame.height()],
    };
    let rows: Vec<(String, String)> = texts(frame, "claim_id")?
        .into_iter()
        .zip(texts(frame, "label")?)
        .zip(valid)
        .filter_map(|((id, label), valid)| Some((id.filter(|_| valid)?, label?)))
        .collect();
    HumanLabels::new(
        FrameBuilder::new()
            .text("item_id", &rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>())
            .text("annotator", &vec!["benchmark"; rows.len()])
            .text_or_null("label", &rows.iter().map(|row| Some(row.1.as_str())).collect::<Vec<_>>())
            .build()?,
    )
}

/// A checker's verdicts on labelled claims: the confusion matrix, agreement with intervals, and the claims themselves.
#[derive(Debug, Clone)]
pub struct CheckerReport {
    checker: String,
    matrix: ConfusionMatrix,
    /// One matrix a cluster: the claims of one answer.
    clusters: Vec<ConfusionMatrix>,
    disputed: usize,
    unlabelled: usize,
    rows: Vec<Row>,
}

/// One claim that both have a say on.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub claim_id: String,
    pub question_id: String,
    pub given: Label,
    pub said: Option<Label>,
    pub reason: String,
}

impl CheckerReport {
    /// Compares the checks of one checker in one direction with people's labels, claim by claim.
    ///
    /// An item that several annotators labelled alike counts once; where they differ it is left out and counted as
    /// disputed. Intervals resample whole answers (questions): their claims are alike.
    ///
    /// # Errors
    /// When the checks hold several checkers, a label is off the menu, or no claim has both.
    pub fn new(checks: &Checks, labels: &HumanLabels) -> Result<Self> {
        let frame = checks.frame();
        let checker = match crate::table::distinct(frame, "checker")?.as_slice() {
            [one] => one.clone(),
            several => {
                return Err(Error::input(format!("the checks are of {several:?}, expected one checker"))
                    .help("compare one at a time: checks.only(\"checker\", …)"));
            }
        };
        let (given, disputed) = agreed(labels)?;
        let (ids, said) = (texts(frame, "claim_id")?, texts(frame, "label")?);
        let failures = texts(frame, "failure")?;
        let reasons = if frame.column("reason").is_ok() { texts(frame, "reason")? } else { vec![None; frame.height()] };
        let mut rows = Vec::new();
        let mut unlabelled = 0;
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let claim_id = ids[row].clone().unwrap_or_default();
            let Some(given) = given.get(&claim_id) else {
                unlabelled += 1;
                continue;
            };
            let said = match said[row].as_deref() {
                None => None,
                Some(text) => Some(menu(text, &claim_id)?),
            };
            let reason = reasons[row].clone().or_else(|| failures[row].clone()).unwrap_or_default();
            rows.push(Row { claim_id, question_id: question.unwrap_or_default(), given: *given, said, reason });
        }
        if rows.is_empty() {
            return Err(Error::input("no claim has both a verdict and a label")
                .help("the labels' item_id must be the checks' claim_id"));
        }
        let mut by_question: Vec<(String, Vec<&Row>)> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for row in &rows {
            let place = *known.entry(row.question_id.as_str()).or_insert_with(|| {
                by_question.push((row.question_id.clone(), Vec::new()));
                by_question.len() - 1
            });
            by_question[place].1.push(row);
        }
        let clusters = by_question.iter().map(|(_, rows)| matrix(rows)).collect::<Result<Vec<_>>>()?;
        let matrix = matrix(&rows.iter().collect::<Vec<_>>())?;
        Ok(Self { checker, matrix, clusters, disputed, unlabelled, rows })
    }

    /// Who was compared.
    #[must_use]
    pub fn checker(&self) -> String {
        self.checker.clone()
    }

    /// People's labels by row, the checker's by column; failed checks counted apart.
    #[must_use]
    pub fn confusion(&self) -> ConfusionMatrix {
        self.matrix.clone()
    }

    /// The view that RAGChecker's metrics have: entailed, or not.
    ///
    /// # Errors
    /// Never.
    pub fn entailed_or_not(&self) -> Result<ConfusionMatrix> {
        self.matrix.binary(Label::Entailment.as_str())
    }

    /// Agreement as numbers: one row a measure, over three labels and over entailed-or-not, with 95 % intervals that
    /// resample answers. Accuracy stands beside the majority label's, which needs no checker.
    ///
    /// # Errors
    /// Never.
    pub fn agreement(&self) -> Result<DataFrame> {
        self.agreement_with(&Bootstrap::new())
    }

    /// The same with intervals of the caller's choice.
    ///
    /// # Errors
    /// Never.
    pub fn agreement_with(&self, settings: &Bootstrap) -> Result<DataFrame> {
        let mut rows: Vec<(&str, String, Option<f64>, Option<(f64, f64)>)> = Vec::new();
        for (view, binary) in [("three labels", false), ("entailed or not", true)] {
            let seen = |matrix: &ConfusionMatrix| if binary { matrix.binary("entailment") } else { Ok(matrix.clone()) };
            let whole = seen(&self.matrix)?;
            let parts = self.clusters.iter().map(seen).collect::<Result<Vec<_>>>()?;
            let interval = |value: &(dyn Fn(&ConfusionMatrix) -> Option<f64> + Sync)| {
                settings.statistic(parts.len(), &|drawn| value(&sum(&parts, drawn)?))
            };
            for measure in Agreement::ALL {
                let ends = interval(&|matrix| measure.of(matrix));
                rows.push((view, measure.as_str().to_owned(), measure.of(&whole), ends));
                if measure == Agreement::Accuracy {
                    rows.push((view, "accuracy of the majority label".to_owned(), whole.majority(), None));
                }
            }
        }
        FrameBuilder::new()
            .text("view", &rows.iter().map(|row| row.0).collect::<Vec<_>>())
            .text("measure", &rows.iter().map(|row| row.1.as_str()).collect::<Vec<_>>())
            .number("value", &rows.iter().map(|row| row.2).collect::<Vec<_>>())
            .number("ci_low", &rows.iter().map(|row| row.3.map(|ends| ends.0)).collect::<Vec<_>>())
            .number("ci_high", &rows.iter().map(|row| row.3.map(|ends| ends.1)).collect::<Vec<_>>())
            .integer("n", &vec![self.matrix.total() as i64; rows.len()])
            .integer("n_failed", &vec![self.matrix.unanswered() as i64; rows.len()])
            .integer("n_answers", &vec![self.clusters.len() as i64; rows.len()])
            .build()
    }

    /// Precision, recall and F1 of every label, with intervals that resample answers: the columns of ClaimRAG-LAW's
    /// Table 3.
    ///
    /// # Errors
    /// Never.
    pub fn by_class(&self) -> Result<DataFrame> {
        type Value = fn(&ConfusionMatrix, &str) -> Option<f64>;
        const VALUES: [(&str, Value); 3] = [
            ("precision", ConfusionMatrix::precision),
            ("recall", ConfusionMatrix::recall),
            ("f1", ConfusionMatrix::f1),
        ];
        let settings = Bootstrap::new();
        let table = self.matrix.by_class()?;
        let mut columns = FrameBuilder::new();
        for (name, value) in VALUES {
            let ends: Vec<Option<(f64, f64)>> = Label::ALL
                .iter()
                .map(|label| {
                    let of = |drawn: &[usize]| value(&sum(&self.clusters, drawn)?, label.as_str());
                    settings.statistic(self.clusters.len(), &of)
                })
                .collect();
            columns = columns
                .number(&format!("{name}_low"), &ends.iter().map(|ends| ends.map(|ends| ends.0)).collect::<Vec<_>>())
                .number(&format!("{name}_high"), &ends.iter().map(|ends| ends.map(|ends| ends.1)).collect::<Vec<_>>());
        }
        Ok(table.hstack(columns.build()?.columns())?)
    }

    /// How many labels annotators disagreed on, and how many checks have no label: both left out.
    #[must_use]
    pub fn left_out(&self) -> (usize, usize) {
        (self.disputed, self.unlabelled)
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The claims on which the checker and the people differ, or on which it failed, with their texts.
    ///
    /// # Errors
    /// When the claims lack a column.
    pub fn errors(&self, claims: &LabelledClaims) -> Result<DataFrame> {
        super::rq2_errors::table(self, claims)
    }

    /// The same as a page: every wrong claim with its label, verdict, the checker's reason and the passage.
    ///
    /// # Errors
    /// When the claims lack a column.
    pub fn errors_page(&self, claims: &LabelledClaims) -> Result<Page> {
        super::rq2_errors::page(self, claims)
    }

    /// Shows the matrix and the agreement.
    pub fn evcxr_display(&self) {
        let html = |frame: Result<DataFrame>| frame.map(|frame| crate::table::frame_to_html(&frame, 30));
        match (html(self.matrix.table()), html(self.agreement())) {
            (Ok(matrix), Ok(agreement)) => {
                let title = format!("<p><b>{}</b> against people's labels (rows)</p>", escape(&self.checker));
                signal::display(Some(&format!("{title}{matrix}{agreement}")), None, &format!("{:?}", self.matrix));
            }
            (Err(error), _) | (_, Err(error)) => signal::display(None, None, &error.to_string()),
        }
    }
}

/// The share of extracted claims that the experts found valid: RQ2's extraction accuracy, one row a source and one in
/// all. The Wilson interval takes claims for independent; the other one resamples answers.
///
/// # Errors
/// When a column is missing.
fn extraction_accuracy(claims: &LabelledClaims) -> Result<DataFrame> {
    let frame = claims.frame();
    let valid: Vec<Option<bool>> = frame.column("valid")?.bool()?.iter().collect();
    let questions = texts(frame, "question_id")?;
    let sources = if frame.column("source").is_ok() { texts(frame, "source")? } else { vec![None; frame.height()] };
    let mut names = Vec::new();
    for source in sources.iter().flatten() {
        if !names.contains(&Some(source)) {
            names.push(Some(source));
        }
    }
    names.push(None);
    let (mut judged, mut good, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    let (mut independent, mut clustered) = (Vec::new(), Vec::new());
    for name in &names {
        let member = |row: &usize| name.is_none() || sources[*row].as_ref() == *name;
        let rows: Vec<usize> = (0..frame.height()).filter(member).collect();
        let mut clusters: HashMap<&str, usize> = HashMap::new();
        let mut values = Vec::new();
        for row in &rows {
            let next = clusters.len();
            let cluster = *clusters.entry(questions[*row].as_deref().unwrap_or_default()).or_insert(next);
            values.extend(valid[*row].map(|valid| (f64::from(u8::from(valid)), cluster)));
        }
        let count = values.iter().filter(|(value, _)| *value > 0.0).count() as u64;
        judged.push(values.len() as i64);
        good.push(count as i64);
        missing.push((rows.len() - values.len()) as i64);
        independent.push(wilson(count, values.len() as u64, 0.95));
        clustered.push(Bootstrap::new().mean(&values));
    }
    let of = |pick: &dyn Fn(usize) -> Option<f64>| (0..names.len()).map(pick).collect::<Vec<_>>();
    FrameBuilder::new()
        .text("source", &names.iter().map(|name| name.map_or("all", String::as_str)).collect::<Vec<_>>())
        .integer("claims", &judged)
        .integer("valid", &good)
        .number("share", &of(&|row| clustered[row].map(|one| one.mean)))
        .number("ci_low", &of(&|row| clustered[row].and_then(|one| one.low)))
        .number("ci_high", &of(&|row| clustered[row].and_then(|one| one.high)))
        .number("wilson_low", &of(&|row| independent[row].map(|one| one.0)))
        .number("wilson_high", &of(&|row| independent[row].map(|one| one.1)))
        .integer("n_unjudged", &missing)
        .build()
}

/// The label that all annotators of an item give, and how many items have no such label.
fn agreed(labels: &HumanLabels) -> Result<(HashMap<String, Label>, usize)> {
    let frame = labels.frame();
    let mut found: HashMap<String, Option<Label>> = HashMap::new();
    for (item, label) in texts(frame, "item_id")?.into_iter().zip(texts(frame, "label")?) {
        let (Some(item), Some(label)) = (item, label) else { continue };
        let label = menu(&label, &item)?;
        let known = found.entry(item).or_insert(Some(label));
        if *known != Some(label) {
            *known = None;
        }
    }
    let disputed = found.values().filter(|label| label.is_none()).count();
    Ok((found.into_iter().filter_map(|(item, label)| Some((item, label?))).collect(), disputed))
}

fn menu(label: &str, item: &str) -> Result<Label> {
    Label::parse(label).ok_or_else(|| {
        Error::input(format!("item {item:?}: {label:?} is not a label"))
            .help("use entailment, neutral or contradiction; null where there is none")
    })
}

fn matrix(rows: &[&Row]) -> Result<ConfusionMatrix> {
    let given: Vec<&str> = rows.iter().map(|row| row.given.as_str()).collect();
    let said: Vec<Option<&str>> = rows.iter().map(|row| row.said.map(Label::as_str)).collect();
    ConfusionMatrix::new(&Label::ALL.map(Label::as_str), &given, &said)
}

/// The matrix of the clusters drawn.
fn sum(clusters: &[ConfusionMatrix], drawn: &[usize]) -> Option<ConfusionMatrix> {
    let (first, rest) = drawn.split_first()?;
    let mut whole = clusters.get(*first)?.clone();
    for one in rest {
        whole.add(clusters.get(*one)?).ok()?;
    }
    Some(whole)
}

impl LabelledClaims {
    /// The share of claims that the experts found valid, by source and in all, with intervals.
    ///
    /// # Errors
    /// When a column is missing.
    pub fn extraction_accuracy(&self) -> Result<DataFrame> {
        extraction_accuracy(self)
    }
}

#[cfg(test)]
#[path = "rq2_tests.rs"]
mod tests;
