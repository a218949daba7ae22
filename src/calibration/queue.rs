//! A queue of answers for people: blind, shuffled, with a random audit beside the hard cases.

use std::collections::HashMap;
use std::path::Path;

use polars::prelude::DataFrame;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

use super::form;
use crate::error::{Error, Result};
use crate::signal;
use crate::table::{FrameBuilder, JudgingSet, ReviewItems, floats, integers, texts, write_table};

/// Answers that a person should look at, with the texts that the person sees.
#[derive(Debug, Clone)]
pub struct ReviewQueue {
    items: ReviewItems,
    pub(super) shown: Vec<Shown>,
    name: String,
}

/// What a reviewer sees of one item. Neither system nor verdicts are in it.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub item_id: String,
    pub request: String,
    pub references: Option<String>,
    pub criterion: String,
    pub answer: String,
    pub digest: String,
}

impl ReviewQueue {
    /// Takes the `escalated` answers of highest priority from a [`committee`](super::committee), and `audit` more at
    /// random from the rest. The first are selected for certain (probability 1), the others with probability
    /// `audit` / rest; with both recorded, [`LabelSet::weighted`](super::LabelSet::weighted) can estimate what labels
    /// of all answers would say. Answers of failed attempts are left out, as there is nothing to look at.
    ///
    /// # Errors
    /// When the committee lacks a column, or nothing is left to review.
    pub fn select(committee: &DataFrame, set: &JudgingSet, escalated: usize, audit: usize, seed: u64) -> Result<Self> {
        let texts_of = Texts::read(set)?;
        let (ids, systems, attempts) =
            (texts(committee, "criterion_id")?, texts(committee, "system")?, integers(committee, "attempt")?);
        let priorities = floats(committee, "priority")?;
        let mut ranked: Vec<(f64, Row)> = Vec::new();
        for (row, priority) in priorities.iter().enumerate() {
            let (Some(criterion), Some(system), Some(attempt)) =
                (ids[row].clone(), systems[row].clone(), attempts[row])
            else {
                continue;
            };
            if let Some(row) = texts_of.row(criterion, system, attempt) {
                ranked.push((priority.unwrap_or(0.0), row));
            }
        }
        if ranked.is_empty() {
            return Err(Error::input("there is no answer to review")
                .help("make the committee from verdicts on this set's criteria and attempts"));
        }
        // Ties of priority are broken at random, so that the first task of the table has no better chance.
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        ranked.shuffle(&mut rng);
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let rest = ranked.split_off(escalated.min(ranked.len()));
        let probability = audit.min(rest.len()) as f64 / rest.len().max(1) as f64;
        let mut chosen: Vec<(Row, &str, String, f64)> = ranked
            .into_iter()
            .map(|(priority, row)| (row, "escalated", format!("priority {priority:.3}"), 1.0))
            .collect();
        let mut pool: Vec<Row> = rest.into_iter().map(|(_, row)| row).collect();
        pool.shuffle(&mut rng);
        pool.truncate(audit);
        chosen.extend(pool.into_iter().map(|row| (row, "audit", "random audit".to_owned(), probability)));
        chosen.shuffle(&mut rng);
        let salt: u64 = rng.random();
        Self::build(chosen, salt)
    }

    fn build(chosen: Vec<(Row, &str, String, f64)>, salt: u64) -> Result<Self> {
        let shown: Vec<Shown> = chosen
            .iter()
            .map(|(row, ..)| {
                let told = format!("{salt}\n{}\n{}\n{}", row.criterion, row.system, row.attempt);
                let item_id: String = Sha256::digest(told).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
                Shown {
                    item_id,
                    digest: form::digest(&[&row.request, &row.text, &row.answer]),
                    request: row.request.clone(),
                    references: row.references.clone(),
                    criterion: row.text.clone(),
                    answer: row.answer.clone(),
                }
            })
            .collect();
        let items = FrameBuilder::new()
            .text("item_id", &shown.iter().map(|one| &one.item_id).collect::<Vec<_>>())
            .text("task_id", &chosen.iter().map(|one| &one.0.task).collect::<Vec<_>>())
            .text("criterion_id", &chosen.iter().map(|one| &one.0.criterion).collect::<Vec<_>>())
            .text("system", &chosen.iter().map(|one| &one.0.system).collect::<Vec<_>>())
            .integer("attempt", &chosen.iter().map(|one| one.0.attempt).collect::<Vec<_>>())
            .text("stratum", &chosen.iter().map(|one| one.1).collect::<Vec<_>>())
            .text("selected_because", &chosen.iter().map(|one| &one.2).collect::<Vec<_>>())
            .number("selection_probability", &chosen.iter().map(|one| Some(one.3)).collect::<Vec<_>>())
            .text("text_digest", &shown.iter().map(|one| &one.digest).collect::<Vec<_>>())
            .build()?;
        let name = queue_name(&shown);
        Ok(Self { items: ReviewItems::new(items)?, shown, name })
    }

    /// Opens a queue whose items were written with [`ReviewItems::write`], over the same set.
    ///
    /// # Errors
    /// When an item's criterion or attempt does not exist, or its text is not the one that was sent.
    pub fn open(items: &ReviewItems, set: &JudgingSet) -> Result<Self> {
        let texts_of = Texts::read(set)?;
        let frame = items.frame();
        let (ids, criteria, systems) =
            (texts(frame, "item_id")?, texts(frame, "criterion_id")?, texts(frame, "system")?);
        let (attempts, digests) = (integers(frame, "attempt")?, texts(frame, "text_digest")?);
        let mut shown = Vec::new();
        for row in 0..frame.height() {
            let text = |values: &[Option<String>]| values[row].clone().unwrap_or_default();
            let found = texts_of.row(text(&criteria), text(&systems), attempts[row].unwrap_or_default());
            let found = found.ok_or_else(|| {
                Error::input(format!("item {:?}: its criterion or attempt is not in this set", text(&ids)))
            })?;
            let digest = form::digest(&[&found.request, &found.text, &found.answer]);
            if digest != text(&digests) {
                return Err(Error::input(format!("item {:?}: its texts are not those that were sent", text(&ids)))
                    .help("open the queue over the set that it was made from"));
            }
            shown.push(Shown {
                item_id: text(&ids),
                request: found.request,
                references: found.references,
                criterion: found.text,
                answer: found.answer,
                digest,
            });
        }
        let name = queue_name(&shown);
        Ok(Self { items: items.clone(), shown, name })
    }

    /// The items with whose answer each is: for the study's eyes, not for the reviewer's.
    #[must_use]
    pub fn items(&self) -> ReviewItems {
        self.items.clone()
    }

    /// Names the queue: a digest of all that is shown.
    #[must_use]
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// Writes the form: one HTML file that a reviewer opens offline, fills in and saves as a file to send back. It loads
    /// nothing, sends nothing, and keeps a draft in the browser. Labels come back by [`Self::read_back`].
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_html(&self, path: impl AsRef<Path>) -> Result<()> {
        std::fs::write(path.as_ref(), form::html(&self.name, &self.shown))
            .map_err(|error| Error::file(path.as_ref(), &error))
    }

    /// Writes the same as CSV, with empty columns `label` and `reason` to fill in. A text that a spreadsheet would take
    /// for a formula begins with an apostrophe.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_csv(&self, path: impl AsRef<Path>) -> Result<()> {
        let safe = |text: &str| {
            if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() }
        };
        let column = |pick: fn(&Shown) -> &str| self.shown.iter().map(|one| safe(pick(one))).collect::<Vec<_>>();
        let empty: Vec<Option<&str>> = vec![None; self.shown.len()];
        let references: Vec<Option<String>> =
            self.shown.iter().map(|one| one.references.as_deref().map(safe)).collect();
        let frame = FrameBuilder::new()
            .text("item_id", &column(|one| &one.item_id))
            .text("text_digest", &column(|one| &one.digest))
            .text("request", &column(|one| &one.request))
            .text_or_null("references", &references)
            .text("criterion", &column(|one| &one.criterion))
            .text("answer", &column(|one| &one.answer))
            .text_or_null("label", &empty)
            .text_or_null("reason", &empty)
            .build()?;
        write_table(&frame, path.as_ref())
    }

    /// Shows the sizes.
    pub fn evcxr_display(&self) {
        let audit = self.items.only("stratum", "audit").map_or(0, |part| part.height());
        let plain =
            format!("review queue {}: {} answers, {} of them a random audit", self.name, self.shown.len(), audit);
        signal::display(None, None, &plain);
    }
}

fn queue_name(shown: &[Shown]) -> String {
    let all: Vec<&str> = shown.iter().flat_map(|one| [one.item_id.as_str(), one.digest.as_str()]).collect();
    form::digest(&all)
}

/// An answer by a criterion with its texts.
#[derive(Debug, Clone)]
struct Row {
    task: String,
    criterion: String,
    system: String,
    attempt: i64,
    request: String,
    references: Option<String>,
    text: String,
    answer: String,
}

/// The set's texts by name.
struct Texts {
    tasks: HashMap<String, (String, Option<String>)>,
    criteria: HashMap<String, (String, String, Option<String>)>,
    answers: HashMap<(String, String, i64), String>,
}

impl Texts {
    fn read(set: &JudgingSet) -> Result<Self> {
        let optional = |frame: &DataFrame, name: &str| {
            if frame.column(name).is_ok() { texts(frame, name) } else { Ok(vec![None; frame.height()]) }
        };
        let frame = set.tasks().frame();
        let (requests, references) = (texts(frame, "request")?, optional(frame, "references")?);
        let ids = texts(frame, "task_id")?.into_iter().enumerate();
        let tasks = ids
            .map(|(row, id)| (id.unwrap_or_default(), (form::plain(requests[row].as_deref()), references[row].clone())))
            .collect();
        let frame = set.criteria().frame();
        let (owners, words, references) =
            (texts(frame, "task_id")?, texts(frame, "text")?, optional(frame, "references")?);
        let criteria = texts(frame, "criterion_id")?
            .into_iter()
            .enumerate()
            .map(|(row, id)| {
                let owner = owners[row].clone().unwrap_or_default();
                (id.unwrap_or_default(), (owner, form::plain(words[row].as_deref()), references[row].clone()))
            })
            .collect();
        let frame = set.attempts().frame();
        let (systems, owners, attempts) =
            (texts(frame, "system")?, texts(frame, "task_id")?, integers(frame, "attempt")?);
        let files = optional(frame, "files")?;
        let mut answers = HashMap::new();
        for (row, answer) in texts(frame, "answer")?.into_iter().enumerate() {
            if let (Some(system), Some(task), Some(attempt), Some(answer)) =
                (systems[row].clone(), owners[row].clone(), attempts[row], answer)
            {
                let whole = files[row].as_ref().map_or_else(|| answer.clone(), |files| format!("{answer}\n\n{files}"));
                answers.insert((system, task, attempt), form::plain(Some(&whole)));
            }
        }
        Ok(Self { tasks, criteria, answers })
    }

    fn row(&self, criterion: String, system: String, attempt: i64) -> Option<Row> {
        let (task, text, own) = self.criteria.get(&criterion)?.clone();
        let (request, references) = self.tasks.get(&task)?.clone();
        let answer = self.answers.get(&(system.clone(), task.clone(), attempt))?.clone();
        let references = [references, own].into_iter().flatten().reduce(|all, more| format!("{all}\n\n{more}"));
        let references = references.map(|text| form::plain(Some(&text)));
        Some(Row { task, criterion, system, attempt, request, references, text, answer })
    }
}
