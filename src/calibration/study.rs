//! Tuning a judge's prompt, with the safeguards kept by the file instead of by the author.

use std::collections::BTreeSet;
use std::path::Path;

use polars::prelude::DataFrame;
use serde_json::json;

use super::labels::LabelSet;
use super::rule::{Selection, SelectionRule};
use super::screening::{Screening, screen};
use super::split::Split;
use crate::error::{Error, Result};
use crate::lab::{Ledger, LedgerEntry};
use crate::signal;
use crate::table::{FrameBuilder, Verdicts, distinct, prompt_label};

/// A tuning study in a folder: a frozen split, and a [`Ledger`] of registered prompts and of every reading.
///
/// * Prompts are registered before the first score on the development tasks; later ones are refused.
/// * Scores on development tasks are of registered prompts only.
/// * The held-out tasks can be read once a choice is recorded. Every reading is written down before the figures are
///   given out, and every later report says how many there were.
#[derive(Debug, Clone)]
pub struct CalibrationStudy {
    split: Split,
    labels: LabelSet,
    ledger: Ledger,
}

const REGISTERED: &str = "prompt_registered";
const SCORED: &str = "development_scored";
const CHOSEN: &str = "chosen";
const READ: &str = "held_out_read";

impl CalibrationStudy {
    /// Opens the study in this folder, or begins it: the split is frozen there as `split.json`, records go to
    /// `ledger.jsonl`.
    ///
    /// # Errors
    /// When another split is frozen there, or the ledger was changed by hand.
    pub fn open(folder: impl AsRef<Path>, split: &Split, labels: &LabelSet) -> Result<Self> {
        let folder = folder.as_ref();
        std::fs::create_dir_all(folder).map_err(|error| Error::file(folder, &error))?;
        split.freeze(folder.join("split.json"))?;
        let ledger = Ledger::at(folder.join("ledger.jsonl"))?;
        Ok(Self { split: split.clone(), labels: labels.clone(), ledger })
    }

    /// Registers a prompt variant by its name and instructions, and returns the label that verdicts carry. The same
    /// variant may be registered again.
    ///
    /// # Errors
    /// When development tasks were already scored: a prompt that is written after is tuned on what it saw.
    pub fn register(&self, name: &str, instructions: &str) -> Result<String> {
        let label = prompt_label(name, instructions);
        let known = |entries: &[LedgerEntry]| {
            entries.iter().any(|entry| entry.kind == REGISTERED && entry.record["prompt"] == json!(label))
        };
        if known(&self.ledger.entries()?) {
            return Ok(label);
        }
        let record = json!({"prompt": label, "instructions": instructions, "split": self.split.checksum()});
        self.ledger.append_if(
            REGISTERED,
            record,
            &|entries| match entries.iter().find(|entry| entry.kind == SCORED) {
                None => Ok(()),
                Some(first) => Err(Error::input(format!(
                    "prompt {label} comes after the first score on the development tasks ({})",
                    first.at
                ))
                .help("begin another study with another split, and register all variants first")),
            },
        )?;
        Ok(label)
    }

    /// Scores judges on the development tasks.
    ///
    /// # Errors
    /// When a prompt is not registered, or two verdicts stand for the same repeat.
    pub fn development(&self, verdicts: &Verdicts) -> Result<Screening> {
        let prompts = distinct(verdicts.frame(), "prompt")?;
        let entries = self.ledger.entries()?;
        let registered: BTreeSet<&str> = entries
            .iter()
            .filter(|entry| entry.kind == REGISTERED)
            .filter_map(|entry| entry.record["prompt"].as_str())
            .collect();
        if let Some(unknown) = prompts.iter().find(|prompt| !registered.contains(prompt.as_str())) {
            return Err(Error::input(format!("prompt {unknown:?} was not registered before it was scored"))
                .help("register every variant first; then nobody has to be believed"));
        }
        let labels = self.labels.of_tasks(&self.split.development());
        let screening = screen(verdicts, &labels)?;
        self.ledger.append(SCORED, json!({"prompts": prompts, "labels": labels.len()}))?;
        self.annotate(screening, "development tasks")
    }

    /// Chooses by a rule among judges scored on the development tasks, and records the choice.
    ///
    /// # Errors
    /// When none satisfies the rule, or the record cannot be written.
    pub fn choose(&self, rule: &SelectionRule, scored: &Screening) -> Result<Selection> {
        let selection = rule.choose(scored)?;
        let record = json!({
            "rule": rule.to_string(), "judge": selection.judge(), "prompt": selection.prompt(), "way": selection.way(),
        });
        self.ledger.append(CHOSEN, record)?;
        Ok(selection)
    }

    /// Reads the held-out tasks: who reads, and why. The reading is counted before anything is given out.
    ///
    /// # Errors
    /// When no choice is recorded yet, or who and why are not said.
    pub fn held_out(&self, verdicts: &Verdicts, who: &str, why: &str) -> Result<Screening> {
        if who.trim().is_empty() || why.trim().is_empty() {
            return Err(Error::input("a reading of the held-out tasks says who reads and why"));
        }
        let labels = self.labels.of_tasks(&self.split.held_out());
        let screening = screen(verdicts, &labels)?;
        let prompts = distinct(verdicts.frame(), "prompt")?;
        let record = json!({"who": who, "why": why, "prompts": prompts, "labels": labels.len()});
        self.ledger.append_if(READ, record, &|entries| {
            if entries.iter().any(|entry| entry.kind == CHOSEN) {
                Ok(())
            } else {
                Err(Error::input("no choice is recorded yet, so the held-out tasks stay closed")
                    .help("choose on the development tasks first"))
            }
        })?;
        self.annotate(screening, "held-out tasks")
    }

    /// How often the held-out tasks were read.
    ///
    /// # Errors
    /// When the ledger was changed by hand.
    pub fn readings(&self) -> Result<usize> {
        Ok(self.ledger.entries()?.iter().filter(|entry| entry.kind == READ).count())
    }

    /// Everything that was done, oldest first.
    ///
    /// # Errors
    /// When the ledger was changed by hand.
    pub fn history(&self) -> Result<DataFrame> {
        let entries = self.ledger.entries()?;
        FrameBuilder::new()
            .text("at", &entries.iter().map(|entry| &entry.at).collect::<Vec<_>>())
            .text("what", &entries.iter().map(|entry| &entry.kind).collect::<Vec<_>>())
            .text("record", &entries.iter().map(|entry| entry.record.to_string()).collect::<Vec<_>>())
            .build()
    }

    fn annotate(&self, screening: Screening, part: &str) -> Result<Screening> {
        let readings = self.readings()?;
        let mut screening = screening.note(format!("{part} of the split {}", &self.split.checksum()[..12]));
        if part == "development tasks" {
            let selected = "the best of several variants looks better here than it is; the held-out tasks say how good";
            screening = screening.note(selected.to_owned());
        }
        Ok(screening.note(format!("the held-out tasks have been read {readings} times")))
    }

    /// Shows where the study stands.
    pub fn evcxr_display(&self) {
        match self.history() {
            Ok(frame) => crate::table::Show::evcxr_display(&frame),
            Err(error) => signal::display(None, None, &error.to_string()),
        }
    }
}
