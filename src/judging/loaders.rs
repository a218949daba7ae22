//! Public files of judged answers, as judging sets.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::Value;

use super::JudgingSet;
use crate::error::{Error, Result};
use crate::table::{
    Attempts, Column, Criteria, CriterionLabels, FrameBuilder, Kind, Tasks, Verdict, Verdicts, integers, read_table,
    texts,
};

/// Rows of a set that is being read.
#[derive(Default)]
struct Rows {
    tasks: Vec<(String, String)>,
    criteria: Vec<(String, String, String)>,
    attempts: Vec<(String, String, i64, String)>,
    labels: Vec<(String, String, i64, String, Option<String>, String)>,
}

impl Rows {
    fn set(&self, annotator: &str) -> Result<JudgingSet> {
        let tasks = FrameBuilder::new()
            .text("task_id", &self.tasks.iter().map(|row| &row.0).collect::<Vec<_>>())
            .text("request", &self.tasks.iter().map(|row| &row.1).collect::<Vec<_>>());
        let criteria = FrameBuilder::new()
            .text("criterion_id", &self.criteria.iter().map(|row| &row.0).collect::<Vec<_>>())
            .text("task_id", &self.criteria.iter().map(|row| &row.1).collect::<Vec<_>>())
            .text("kind", &vec!["substance"; self.criteria.len()])
            .text("text", &self.criteria.iter().map(|row| &row.2).collect::<Vec<_>>());
        let n = self.attempts.len();
        let attempts = FrameBuilder::new()
            .text("system", &self.attempts.iter().map(|row| &row.0).collect::<Vec<_>>())
            .text("task_id", &self.attempts.iter().map(|row| &row.1).collect::<Vec<_>>())
            .integer("attempt", &self.attempts.iter().map(|row| row.2).collect::<Vec<_>>())
            .text("answer", &self.attempts.iter().map(|row| &row.3).collect::<Vec<_>>())
            .number("cost_usd", &vec![None; n])
            .number("latency_ms", &vec![None; n])
            .text_or_null("failure", &vec![None::<&str>; n]);
        let labels = FrameBuilder::new()
            .text("criterion_id", &self.labels.iter().map(|row| &row.0).collect::<Vec<_>>())
            .text("system", &self.labels.iter().map(|row| &row.1).collect::<Vec<_>>())
            .integer("attempt", &self.labels.iter().map(|row| row.2).collect::<Vec<_>>())
            .text("annotator", &vec![annotator; self.labels.len()])
            .text("label", &self.labels.iter().map(|row| &row.3).collect::<Vec<_>>())
            .text_or_null("reason", &self.labels.iter().map(|row| row.4.as_ref()).collect::<Vec<_>>())
            .text("selected_because", &self.labels.iter().map(|row| &row.5).collect::<Vec<_>>());
        JudgingSet::new(
            Tasks::new(tasks.build()?)?,
            Criteria::new(criteria.build()?)?,
            Attempts::new(attempts.build()?)?,
            CriterionLabels::new(labels.build()?)?,
        )
    }
}

/// Reads a file of EvalsBench (`benchmark_df.csv`, or `annotation_df.csv`, whose column `verdict` is carried nowhere:
/// it repeats the target). A question is a task, its grading notes the one criterion, `target` the label.
///
/// The labels look **constructed**, not observed: 80 pass and 80 fail, one of each a question, and the failing answers
/// come with a note of what was removed from them. Recalls on them say how well a judge finds planted omissions. The
/// subject is start-ups and venture capital, not law.
///
/// # Errors
/// When the file is not such a file, or a target is neither `pass` nor `fail`.
pub fn evals_bench(path: impl AsRef<Path>) -> Result<JudgingSet> {
    const COLUMNS: &[Column] = &[
        Column::required("question", Kind::Text, "what was asked"),
        Column::required("grading_notes", Kind::Text, "what an answer must have"),
        Column::required("target", Kind::Text, "pass or fail"),
        Column::required("response", Kind::Text, "the answer"),
        Column::nullable("notes", Kind::Text, "what was left out on purpose"),
    ];
    let path = path.as_ref();
    let frame = read_table(COLUMNS, path)?;
    crate::table::validate("EvalsBench", COLUMNS, &frame)
        .map_err(|error| error.context(format!("reading {}", path.display())))?;
    let column = |name: &str| texts(&frame, name);
    let (questions, notes, targets) = (column("question")?, column("grading_notes")?, column("target")?);
    let (responses, removed) = (column("response")?, column("notes")?);
    let mut rows = Rows::default();
    let mut seen: HashMap<(String, String), usize> = HashMap::new();
    let mut attempts: HashMap<usize, i64> = HashMap::new();
    for row in 0..frame.height() {
        let text = |values: &[Option<String>]| values[row].clone().unwrap_or_default();
        let next = seen.len() + 1;
        let number = *seen.entry((text(&questions), text(&notes))).or_insert(next);
        let (task, criterion) = (format!("evalsbench-{number:03}"), format!("evalsbench-{number:03}-notes"));
        if number == next {
            rows.tasks.push((task.clone(), text(&questions)));
            let asked = format!("Covers the points of these grading notes: {}", text(&notes));
            rows.criteria.push((criterion.clone(), task.clone(), asked));
        }
        let attempt = *attempts.entry(number).and_modify(|count| *count += 1).or_insert(1);
        let target = text(&targets);
        let label = Verdict::parse(&target).ok_or_else(|| {
            Error::input(format!("{}, record {}: target {target:?}, expected pass or fail", path.display(), row + 1))
        })?;
        rows.attempts.push(("evalsbench".to_owned(), task, attempt, text(&responses)));
        rows.labels.push((
            criterion,
            "evalsbench".to_owned(),
            attempt,
            label.as_str().to_owned(),
            removed[row].clone(),
            "constructed".to_owned(),
        ));
    }
    rows.set("evalsbench")
}

/// Reads a file of LLMBar: an instruction, two outputs, and which one people prefer.
///
/// A preference says that one output is better, not that either is good enough, so it becomes labels only where the
/// other output misses the instruction by construction: in the files named `Adversarial…`, the preferred output is
/// labelled PASS and the other FAIL. Other files give tasks and attempts (1 and 2) without labels; compare them with
/// [`preference_agreement`]. The extra column `preferred` of the attempts keeps the preference.
///
/// # Errors
/// When the file is not such a file.
pub fn llm_bar(path: impl AsRef<Path>) -> Result<JudgingSet> {
    let path = path.as_ref();
    let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
    let records: Vec<Value> = serde_json::from_str(&text)
        .map_err(|error| Error::input(format!("{}: not a JSON list of records: {error}", path.display())))?;
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("llmbar");
    let sound = stem.starts_with("Adversarial");
    let mut rows = Rows::default();
    let mut preferred = Vec::new();
    for (place, record) in records.iter().enumerate() {
        let missing = |what: &str| {
            Error::input(format!("{}, record {}: {what}", path.display(), place + 1))
                .help("LLMBar's records have input, output_1, output_2 and label (1 or 2)")
        };
        let field = |name: &str| {
            record[name]
                .as_str()
                .map(str::to_owned)
                .ok_or_else(|| missing(&format!("{name:?} is not there, or no text")))
        };
        let label = record["label"].as_i64().filter(|label| (1..=2).contains(label));
        let label = label.ok_or_else(|| missing(&format!("label is {}, expected 1 or 2", record["label"])))?;
        let task = format!("{stem}-{:03}", place + 1);
        let criterion = format!("{task}-instruction");
        rows.tasks.push((task.clone(), field("input")?));
        rows.criteria.push((criterion.clone(), task.clone(), "Does what the instruction asks for.".to_owned()));
        for attempt in 1..=2 {
            rows.attempts.push(("llmbar".to_owned(), task.clone(), attempt, field(&format!("output_{attempt}"))?));
            preferred.push(Some(attempt == label));
            if sound {
                let verdict = if attempt == label { Verdict::Pass } else { Verdict::Fail };
                let because = "adversarial by construction".to_owned();
                let row = (criterion.clone(), "llmbar".to_owned(), attempt, verdict.as_str().to_owned(), None, because);
                rows.labels.push(row);
            }
        }
    }
    let set = rows.set("llmbar")?;
    let mut attempts = set.attempts().frame().clone();
    let column = FrameBuilder::new().boolean("preferred", &preferred).build()?;
    attempts.with_column(column.column("preferred")?.clone())?;
    JudgingSet::new(set.tasks().clone(), set.criteria().clone(), Attempts::new(attempts)?, set.labels().clone())
}

/// How a judge's absolute verdicts stand to preferences (the column `preferred` of the attempts): pairs in which only
/// the preferred answer passes agree, pairs in which only the other passes disagree, pairs with equal verdicts say
/// nothing, and pairs with a failed judgement are counted apart. One row a judge, prompt and way; first repeats only.
///
/// # Errors
/// When the attempts have no column `preferred`.
pub fn preference_agreement(set: &JudgingSet, verdicts: &Verdicts) -> Result<polars::prelude::DataFrame> {
    let frame = set.attempts().frame();
    let preferred = frame
        .column("preferred")
        .map_err(|_| Error::input("the attempts have no column \"preferred\"").help("read the set with llm_bar"))?;
    let preferred: Vec<Option<bool>> = preferred.bool()?.iter().collect();
    let (tasks, attempts) = (texts(frame, "task_id")?, integers(frame, "attempt")?);
    let best: HashMap<(String, i64), bool> =
        (0..frame.height()).filter_map(|row| Some(((tasks[row].clone()?, attempts[row]?), preferred[row]?))).collect();
    let frame = verdicts.frame();
    let column = |name: &str| texts(frame, name);
    let (judges, prompts, ways, tasks) = (column("judge")?, column("prompt")?, column("way")?, column("task_id")?);
    let (said, attempts, repeats) = (column("verdict")?, integers(frame, "attempt")?, integers(frame, "repeat")?);
    type Key = (Option<String>, Option<String>, Option<String>);
    let mut pairs: BTreeMap<Key, BTreeMap<String, [Option<Verdict>; 2]>> = BTreeMap::new();
    for row in 0..frame.height() {
        let (Some(task), Some(attempt), Some(1)) = (&tasks[row], attempts[row], repeats[row]) else { continue };
        let Some(is_best) = best.get(&(task.clone(), attempt)) else { continue };
        let key = (judges[row].clone(), prompts[row].clone(), ways[row].clone());
        let pair = pairs.entry(key).or_default().entry(task.clone()).or_default();
        pair[usize::from(!is_best)] = said[row].as_deref().and_then(Verdict::parse);
    }
    let mut counts: Vec<[i64; 4]> = Vec::new();
    for tasks in pairs.values() {
        let mut count = [0; 4];
        for pair in tasks.values() {
            count[match pair {
                [Some(Verdict::Pass), Some(Verdict::Fail)] => 0,
                [Some(Verdict::Fail), Some(Verdict::Pass)] => 1,
                [Some(_), Some(_)] => 2,
                _ => 3,
            }] += 1;
        }
        counts.push(count);
    }
    let number = |place: usize| counts.iter().map(|count| count[place]).collect::<Vec<_>>();
    FrameBuilder::new()
        .text_or_null("judge", &pairs.keys().map(|key| key.0.as_ref()).collect::<Vec<_>>())
        .text_or_null("prompt", &pairs.keys().map(|key| key.1.as_ref()).collect::<Vec<_>>())
        .text_or_null("way", &pairs.keys().map(|key| key.2.as_ref()).collect::<Vec<_>>())
        .integer("agree", &number(0))
        .integer("disagree", &number(1))
        .integer("equal_verdicts", &number(2))
        .integer("unscored", &number(3))
        .build()
}

/// Reads a results file of τ-bench: tasks tried several times, each with a reward. A reward within 10⁻⁶ of 1 is a PASS
/// of the one criterion that the task has, as in τ-bench's own code; any other is a FAIL, a missing one a failed
/// judgement. The system is named after the file. Attempts are numbered from 1 (τ-bench: from 0).
///
/// # Errors
/// When the file is not such a file.
pub fn tau_bench(path: impl AsRef<Path>) -> Result<(JudgingSet, Verdicts)> {
    let path = path.as_ref();
    let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
    let records: Vec<Value> = serde_json::from_str(&text)
        .map_err(|error| Error::input(format!("{}: not a JSON list of records: {error}", path.display())))?;
    let system = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("tau_bench").to_owned();
    let mut rows = Rows::default();
    let mut known: HashMap<i64, (String, String)> = HashMap::new();
    let mut verdicts: Vec<(String, String, i64, Option<Verdict>)> = Vec::new();
    for (place, record) in records.iter().enumerate() {
        let number = |name: &str| {
            record[name].as_i64().ok_or_else(|| {
                Error::input(format!("{}, record {}: {name:?} is no whole number", path.display(), place + 1))
                    .help("τ-bench's records have task_id, trial and reward")
            })
        };
        let (id, trial) = (number("task_id")?, number("trial")?);
        let (task, criterion) = known
            .entry(id)
            .or_insert_with(|| {
                let task = format!("task-{id}");
                let request = &record["info"]["task"]["instruction"];
                rows.tasks.push((task.clone(), request.as_str().unwrap_or_default().to_owned()));
                let asked = "The database and the outputs end as the task expects (τ-bench's reward is 1).";
                rows.criteria.push((format!("{task}-reward"), task.clone(), asked.to_owned()));
                (task.clone(), format!("{task}-reward"))
            })
            .clone();
        let answer = record["traj"].as_array().and_then(|steps| {
            let said = |step: &&Value| step["role"] == "assistant" && step["content"].is_string();
            steps.iter().rev().find(said).and_then(|step| step["content"].as_str().map(str::to_owned))
        });
        rows.attempts.push((system.clone(), task.clone(), trial + 1, answer.unwrap_or_default()));
        let reward = record["reward"].as_f64();
        let verdict = reward.map(|reward| if (reward - 1.0).abs() <= 1e-6 { Verdict::Pass } else { Verdict::Fail });
        verdicts.push((task, criterion, trial + 1, verdict));
    }
    let n = verdicts.len();
    let failures: Vec<Option<&str>> =
        verdicts.iter().map(|row| if row.3.is_none() { Some("there is no reward") } else { None }).collect();
    let table = FrameBuilder::new()
        .text("judge", &vec!["tau_bench_reward"; n])
        .text("prompt", &vec!["none"; n])
        .text("way", &vec!["single"; n])
        .text("task_id", &verdicts.iter().map(|row| &row.0).collect::<Vec<_>>())
        .text("criterion_id", &verdicts.iter().map(|row| &row.1).collect::<Vec<_>>())
        .text("system", &vec![system.as_str(); n])
        .integer("attempt", &verdicts.iter().map(|row| row.2).collect::<Vec<_>>())
        .integer("repeat", &vec![1; n])
        .text_or_null("verdict", &verdicts.iter().map(|row| row.3.map(Verdict::as_str)).collect::<Vec<_>>())
        .text_or_null("failure", &failures)
        .build()?;
    Ok((rows.set("none")?, Verdicts::new(table)?))
}
