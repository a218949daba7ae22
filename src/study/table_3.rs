//! ClaimRAG-LAW's Table 3 for any checker, beside the published one.

use std::collections::HashMap;

use polars::prelude::DataFrame;

use super::consistency;
use crate::analysis::cluster_bootstrap;
use crate::dataset::published;
use crate::error::{Error, Result};
use crate::figure::FEW;
use crate::table::{Cell, Checks, FrameBuilder, Label, LabelledClaims, PaperTable, distinct, floats, integers, texts};

const CAPTION: &str = "Claim verification against human labels, in per cent; below each share of ours its 95 % interval \
                       (bootstrap over questions). Claims: by the human's label, of valid claims.";
const PUBLISHED: &str = "Published (Das, Abualhaija and Bianculli, ClaimRAG-LAW, arXiv 2605.21071, Table 3): not ours";
const RESAMPLES: usize = 2000;
const SEED: u64 = 20_310_617;

/// One label of one source by one checker; shares in per cent.
#[derive(Debug, Clone)]
struct Line {
    origin: &'static str,
    checker: String,
    source: String,
    label: String,
    claims: i64,
    unlabelled: i64,
    precision: Share,
    recall: Share,
    f1: Option<f64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Share {
    value: Option<f64>,
    interval: Option<(f64, f64)>,
}

/// Table 3 of the paper for the checks of these labelled claims (direction `claim_vs_context_unit`), by checker,
/// source and label, with the published rows below. For each source a last line gives the accuracy beside the share of
/// the commonest label, which a checker must beat to be worth anything.
///
/// A claim whose check failed counts against recall and is flagged. Invalid claims and claims without a label are left
/// out. Labels with fewer than [`FEW`] claims are grey. Flags say where printed numbers cannot be: a recall that no
/// whole number of claims gives, an F1 that does not follow from its parts.
///
/// # Errors
/// When a table lacks a column, or no check belongs to a labelled claim.
pub fn table_3(claims: &LabelledClaims, checks: &Checks) -> Result<PaperTable> {
    let verdicts = Verdict::read(claims, checks)?;
    let mut lines = Vec::new();
    let mut overall = Vec::new();
    for checker in distinct(checks.frame(), "checker")? {
        for source in sources(&verdicts) {
            let held: Vec<&Verdict> =
                verdicts.iter().filter(|one| one.checker == checker && one.source == source).collect();
            if held.is_empty() {
                continue;
            }
            lines.extend(Label::ALL.map(|label| Line::of(&checker, &source, label, &held)));
            overall.push((checker.clone(), source, accuracy(&held)));
        }
    }
    if lines.is_empty() {
        return Err(Error::input("no check belongs to a valid claim with a human's label")
            .help("check the same claims first: Checker::lexical().check_labelled(&claims)"));
    }
    let theirs = theirs()?;
    let heads = ["source", "label", "claims", "P ↑", "R ↑", "F1 ↑"];
    let groups = [("", 3), ("Claim checking", 3)];
    let mut table = PaperTable::new(CAPTION, &groups, &heads, 2, data(&lines, &theirs)?);
    for (checker, source, (right, majority)) in overall {
        table.section(&format!("Ours: {checker} on {source}"));
        for line in lines.iter().filter(|line| line.checker == checker && line.source == source) {
            let cells = row(&mut table, line);
            table.row(cells);
        }
        let mut cells = vec![Cell::new(&source), Cell::new("all"), Cell::new(right.claims.to_string())];
        let told = format!("accuracy {:.1}", right.share.value.unwrap_or(0.0));
        cells.push(Cell::new(told).below(right.share.interval.map(bounds)));
        cells.push(Cell::new(format!("commonest {majority:.1}")).soft(true));
        cells.push(Cell::default());
        table.row(cells);
    }
    table.section(PUBLISHED);
    for line in &theirs {
        let cells = row(&mut table, line);
        table.row(cells);
    }
    Ok(table)
}

/// One claim by one checker.
struct Verdict {
    checker: String,
    source: String,
    question: usize,
    human: Label,
    found: Option<Label>,
}

impl Verdict {
    fn read(claims: &LabelledClaims, checks: &Checks) -> Result<Vec<Self>> {
        let frame = claims.frame();
        let ids = texts(frame, "claim_id")?;
        let labels = texts(frame, "label")?;
        let invalid: Vec<bool> = match frame.column("valid")?.bool() {
            Ok(valid) => valid.iter().map(|valid| valid == Some(false)).collect(),
            Err(_) => vec![false; frame.height()],
        };
        let sources = if frame.column("source").is_ok() { texts(frame, "source")? } else { vec![None; ids.len()] };
        let mut questions: HashMap<Option<String>, usize> = HashMap::new();
        let mut known = HashMap::new();
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let next = questions.len();
            let question = *questions.entry(question).or_insert(next);
            if let (Some(label), false) = (labels[row].as_deref().and_then(Label::parse), invalid[row]) {
                let source = sources[row].clone().unwrap_or_else(|| "all".to_owned());
                known.insert(ids[row].clone().unwrap_or_default(), (source, question, label));
            }
        }
        let checks = checks.only("direction", "claim_vs_context_unit")?;
        let frame = checks.frame();
        let (checkers, found) = (texts(frame, "checker")?, texts(frame, "label")?);
        let claimed = texts(frame, "claim_id")?;
        Ok(claimed
            .iter()
            .enumerate()
            .filter_map(|(row, id)| {
                let (source, question, human) = known.get(id.as_deref()?)?;
                Some(Self {
                    checker: checkers[row].clone().unwrap_or_default(),
                    source: source.clone(),
                    question: *question,
                    human: *human,
                    found: found[row].as_deref().and_then(Label::parse),
                })
            })
            .collect())
    }
}

fn sources(verdicts: &[Verdict]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for verdict in verdicts {
        if !found.contains(&verdict.source) {
            found.push(verdict.source.clone());
        }
    }
    found
}

/// A share with its interval, in per cent.
fn share(values: &[(f64, usize)]) -> Share {
    cluster_bootstrap(values, RESAMPLES, 0.95, SEED).map_or_else(Share::default, |found| Share {
        value: Some(found.mean * 100.0),
        interval: found.low.zip(found.high).map(|(low, high)| (low * 100.0, high * 100.0)),
    })
}

impl Line {
    fn of(checker: &str, source: &str, label: Label, held: &[&Verdict]) -> Self {
        let is_right =
            |one: &&Verdict| (f64::from(u8::from(one.human == label && one.found == Some(label))), one.question);
        let given: Vec<&Verdict> = held.iter().copied().filter(|one| one.human == label).collect();
        let said: Vec<&Verdict> = held.iter().copied().filter(|one| one.found == Some(label)).collect();
        let recall = share(&given.iter().map(is_right).collect::<Vec<_>>());
        let precision = share(&said.iter().map(is_right).collect::<Vec<_>>());
        // Counts, since F1 exists where a label was given or found, even if precision does not.
        let right = given.iter().filter(|one| one.found == Some(label)).count() as f64;
        let either = (given.len() + said.len()) as f64;
        Self {
            origin: "ours",
            checker: checker.to_owned(),
            source: source.to_owned(),
            label: label.as_str().to_owned(),
            claims: given.len() as i64,
            unlabelled: given.iter().filter(|one| one.found.is_none()).count() as i64,
            precision,
            recall,
            f1: (either > 0.0).then(|| 200.0 * right / either),
        }
    }
}

struct Accuracy {
    claims: usize,
    share: Share,
}

/// How many claims got their label, and the share of the commonest label.
fn accuracy(held: &[&Verdict]) -> (Accuracy, f64) {
    let values: Vec<(f64, usize)> =
        held.iter().map(|one| (f64::from(u8::from(one.found == Some(one.human))), one.question)).collect();
    let most = Label::ALL.map(|label| held.iter().filter(|one| one.human == label).count()).into_iter().max();
    let majority = most.unwrap_or(0) as f64 * 100.0 / held.len().max(1) as f64;
    (Accuracy { claims: held.len(), share: share(&values) }, majority)
}

fn theirs() -> Result<Vec<Line>> {
    let frame = published::table_3()?;
    let (sources, labels, claims) = (texts(&frame, "source")?, texts(&frame, "label")?, integers(&frame, "claims")?);
    let [precision, recall, f1] = ["precision", "recall", "f1"].map(|name| floats(&frame, name));
    let (precision, recall, f1) = (precision?, recall?, f1?);
    let plain = |value| Share { value, interval: None };
    Ok((0..frame.height())
        .map(|row| Line {
            origin: "published",
            checker: "RefChecker, GPT-4-0613".to_owned(),
            source: sources[row].clone().unwrap_or_default(),
            label: labels[row].clone().unwrap_or_default(),
            claims: claims[row].unwrap_or(0),
            unlabelled: 0,
            precision: plain(precision[row]),
            recall: plain(recall[row]),
            f1: f1[row],
        })
        .collect())
}

fn bounds((low, high): (f64, f64)) -> String {
    format!("[{low:.0}, {high:.0}]")
}

fn row(table: &mut PaperTable, line: &Line) -> Vec<Cell> {
    let is_theirs = line.origin == "published";
    let is_thin = line.claims < FEW;
    let soft = is_theirs || is_thin;
    let number = |share: Share| {
        Cell::new(share.value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}")))
            .below(share.interval.map(bounds))
            .soft(soft)
    };
    let mut cells = vec![
        Cell::new(&line.source).soft(soft),
        Cell::new(&line.label).soft(soft),
        Cell::new(line.claims.to_string()).soft(soft),
        number(line.precision),
        number(line.recall),
        number(Share { value: line.f1, interval: None }),
    ];
    if is_thin {
        let note = table.note(&format!("fewer than {FEW} claims: not to be ranked"));
        cells[2].flag(note);
    }
    if line.unlabelled > 0 {
        cells[4].flag(table.note(&format!("{} checks without a label count as wrong", line.unlabelled)));
    }
    if line.precision.value.is_none() {
        cells[3].flag(table.note("the checker never said so: precision is undefined"));
    }
    if let (true, Some(recall)) = (is_theirs, line.recall.value)
        && !consistency::is_reachable(recall, line.claims.unsigned_abs() as usize)
    {
        cells[4].flag(table.note(&format!("no whole number out of {} gives {recall:.1} %", line.claims)));
    }
    if let (true, Some(p), Some(r), Some(f1)) = (is_theirs, line.precision.value, line.recall.value, line.f1)
        && !consistency::is_harmonic(p, r, f1)
    {
        cells[5].flag(table.note("not the harmonic mean of the precision and recall printed"));
    }
    cells
}

/// One row a label, ours and theirs.
fn data(ours: &[Line], theirs: &[Line]) -> Result<DataFrame> {
    let lines: Vec<&Line> = ours.iter().chain(theirs).collect();
    let text = |of: &dyn Fn(&Line) -> String| -> Vec<String> { lines.iter().map(|line| of(line)).collect() };
    let number =
        |of: &dyn Fn(&Line) -> Option<f64>| -> Vec<Option<f64>> { lines.iter().map(|line| of(line)).collect() };
    let count = |of: &dyn Fn(&Line) -> i64| -> Vec<i64> { lines.iter().map(|line| of(line)).collect() };
    FrameBuilder::new()
        .text("origin", &text(&|line| line.origin.to_owned()))
        .text("checker", &text(&|line| line.checker.clone()))
        .text("source", &text(&|line| line.source.clone()))
        .text("label", &text(&|line| line.label.clone()))
        .integer("claims", &count(&|line| line.claims))
        .integer("unlabelled", &count(&|line| line.unlabelled))
        .number("precision", &number(&|line| line.precision.value))
        .number("precision_low", &number(&|line| line.precision.interval.map(|(low, _)| low)))
        .number("precision_high", &number(&|line| line.precision.interval.map(|(_, high)| high)))
        .number("recall", &number(&|line| line.recall.value))
        .number("recall_low", &number(&|line| line.recall.interval.map(|(low, _)| low)))
        .number("recall_high", &number(&|line| line.recall.interval.map(|(_, high)| high)))
        .number("f1", &number(&|line| line.f1))
        .build()
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    #[test]
    fn shares_are_those_of_the_counts_and_impossible_ones_are_flagged() -> Result<()> {
        let labels = ["entailment", "entailment", "entailment", "neutral", "contradiction", "neutral"];
        let found = [Some("entailment"), Some("neutral"), None, Some("neutral"), Some("neutral"), Some("neutral")];
        let ids: Vec<String> = (0..6).map(|place| format!("c{place}")).collect();
        let claims = LabelledClaims::new(df!(
            "claim_id" => &ids, "question_id" => &ids, "text" => &ids, "subject" => vec![None::<&str>; 6],
            "predicate" => vec![None::<&str>; 6], "object" => vec![None::<&str>; 6],
            "valid" => [true, true, true, true, true, false], "label" => labels, "context_unit" => &ids,
        )?)?;
        let checks = Checks::new(df!(
            "checker" => vec!["mine"; 6], "direction" => vec!["claim_vs_context_unit"; 6], "question_id" => &ids,
            "claim_id" => &ids, "system" => vec![None::<&str>; 6], "attempt" => vec![None::<i64>; 6],
            "retriever" => vec![None::<&str>; 6], "chunk_id" => vec![None::<&str>; 6], "label" => found,
            "failure" => [None, None, Some("timed out"), None, None, None],
        )?)?;
        let table = table_3(&claims, &checks)?;
        let ours = table.data();
        assert_eq!(ours.height(), 3 + 6);
        let value = |name: &str, row: usize| floats(&ours, name).map(|column| column[row]);
        // Entailment: three given, one found right; neutral: one valid one given, three found.
        assert_eq!(value("precision", 0)?, Some(100.0));
        assert!((value("recall", 0)?.unwrap_or(0.0) - 100.0 / 3.0).abs() < 1e-9);
        assert_eq!(value("f1", 0)?, Some(50.0));
        assert!((value("precision", 1)?.unwrap_or(0.0) - 100.0 / 3.0).abs() < 1e-9);
        assert_eq!((value("precision", 2)?, value("recall", 2)?, value("f1", 2)?), (None, Some(0.0), Some(0.0)));
        let notes = table.notes().join("\n");
        assert!(notes.contains("no whole number out of 295 gives 73.4 %"), "{notes}");
        assert!(notes.contains("1 checks without a label count as wrong"), "{notes}");
        assert_eq!(table.notes().iter().filter(|note| note.contains("whole number")).count(), 1, "{notes}");
        assert!(!notes.contains("harmonic"), "{notes}");
        assert!(table.markdown().contains("accuracy 40.0"), "{}", table.markdown());
        Ok(())
    }
}
