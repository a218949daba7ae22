//! Nothing in a checklist changes without somebody's name under it.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

use super::proposal::digest;
use crate::error::{Error, ErrorKind, Result};
use crate::lab::Ledger;
use crate::signal;
use crate::table::{Criteria, FrameBuilder, Proposals, floats, texts};

/// As whom somebody signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// May sign off mechanical proposals.
    Engineer,
    /// May sign off all.
    Lawyer,
}

impl Role {
    fn as_str(self) -> &'static str {
        match self {
            Self::Engineer => "engineer",
            Self::Lawyer => "lawyer",
        }
    }
}

/// The record of who approved which change of which text, and when: a [`Ledger`]. The last decision on a proposal
/// counts, so withdrawing undoes an approval. That a signer is a lawyer is what they say; nobody checks it here.
#[derive(Debug, Clone)]
pub struct SignOffs {
    ledger: Ledger,
}

/// A criterion's place in the new list.
struct Line {
    row: usize,
    id: String,
    text: String,
    weight: Option<f64>,
    parent: Option<String>,
}

impl SignOffs {
    /// The sign-offs in this file, which is created with the first.
    ///
    /// # Errors
    /// When the file was changed by hand.
    pub fn at(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self { ledger: Ledger::at(path)? })
    }

    /// Approves a proposal.
    ///
    /// # Errors
    /// When there is no such proposal, nobody signs, or it needs a lawyer and the signer is none.
    pub fn approve(&self, proposals: &Proposals, proposal: &str, who: &str, role: Role) -> Result<()> {
        self.decide("approved", proposals, proposal, who, role)
    }

    /// Rejects a proposal.
    ///
    /// # Errors
    /// When there is no such proposal, or nobody signs.
    pub fn reject(&self, proposals: &Proposals, proposal: &str, who: &str, role: Role) -> Result<()> {
        self.decide("rejected", proposals, proposal, who, role)
    }

    /// Takes back an earlier decision.
    ///
    /// # Errors
    /// When there is no such proposal, or nobody signs.
    pub fn withdraw(&self, proposals: &Proposals, proposal: &str, who: &str, role: Role) -> Result<()> {
        self.decide("withdrawn", proposals, proposal, who, role)
    }

    fn decide(&self, decision: &str, proposals: &Proposals, id: &str, who: &str, role: Role) -> Result<()> {
        if who.trim().is_empty() {
            return Err(Error::input("a sign-off needs a name").help("say who decides"));
        }
        let found = rows(proposals)?.into_iter().find(|row| row.id == id).ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("there is no proposal {id:?}"))
                .help("take a proposal_id from the table of proposals")
        })?;
        if decision == "approved" && found.class != "mechanical" && role != Role::Lawyer {
            return Err(Error::input(format!(
                "proposal {id} on criterion {:?} needs a lawyer: {}",
                found.criterion, found.because
            ))
            .help("let a lawyer sign, or propose a change that is mechanical"));
        }
        let record = json!({
            "decision": decision, "proposal": id, "who": who, "as": role.as_str(), "class": found.class,
            "criterion": found.criterion, "old_text": found.old, "new_texts": found.new,
        });
        self.ledger.append("sign_off", record).map(|_| ())
    }

    /// All decisions as a table, oldest first.
    ///
    /// # Errors
    /// When the file cannot be read, or was changed by hand.
    pub fn history(&self) -> Result<polars::prelude::DataFrame> {
        let entries = self.ledger.entries()?;
        let field = |name: &str| -> Vec<Option<String>> {
            entries.iter().map(|entry| entry.record[name].as_str().map(str::to_owned)).collect()
        };
        FrameBuilder::new()
            .text("at", &entries.iter().map(|entry| &entry.at).collect::<Vec<_>>())
            .text_or_null("decision", &field("decision"))
            .text_or_null("who", &field("who"))
            .text_or_null("as", &field("as"))
            .text_or_null("proposal", &field("proposal"))
            .text_or_null("criterion_id", &field("criterion"))
            .text_or_null("old_text", &field("old_text"))
            .text("new_texts", &entries.iter().map(|entry| entry.record["new_texts"].to_string()).collect::<Vec<_>>())
            .build()
    }

    /// The criteria with the approved proposals carried out; the others stay as they are, letter by letter. Parts of a
    /// split are named after their parent (`c7.1`, `c7.2`) and share its weight equally.
    ///
    /// # Errors
    /// When an approved criterion has another text by now, or two approved proposals change the same criterion.
    pub fn apply(&self, criteria: &Criteria, proposals: &Proposals) -> Result<Criteria> {
        let mut last: HashMap<String, String> = HashMap::new();
        for entry in self.ledger.entries()? {
            if let (Some(id), Some(decision)) = (entry.record["proposal"].as_str(), entry.record["decision"].as_str()) {
                last.insert(id.to_owned(), decision.to_owned());
            }
        }
        let mut approved: HashMap<String, Row> = HashMap::new();
        for row in rows(proposals)? {
            if last.get(&row.id).is_none_or(|decision| decision != "approved") {
                continue;
            }
            if row.id != digest(&row.criterion, &row.old, &row.new) {
                return Err(Error::input(format!("proposal {} is not the text that was signed off", row.id))
                    .help("propose the other text anew, and have it signed off"));
            }
            if let Some(before) = approved.insert(row.criterion.clone(), row) {
                return Err(Error::input(format!("two approved proposals change criterion {:?}", before.criterion))
                    .help("withdraw one of them"));
            }
        }
        carry_out(criteria, &approved)
    }

    /// Shows the decisions.
    pub fn evcxr_display(&self) {
        match self.history() {
            Ok(frame) => crate::table::Show::evcxr_display(&frame),
            Err(error) => signal::display(None, None, &error.to_string()),
        }
    }
}

/// A row of the table of proposals.
struct Row {
    id: String,
    criterion: String,
    class: String,
    because: String,
    old: String,
    new: Vec<String>,
}

fn rows(proposals: &Proposals) -> Result<Vec<Row>> {
    let frame = proposals.frame();
    let column = |name: &str| texts(frame, name);
    let (ids, criteria, classes) = (column("proposal_id")?, column("criterion_id")?, column("class")?);
    let (because, old, new) = (column("because")?, column("old_text")?, column("new_texts")?);
    let mut rows = Vec::new();
    for at in 0..frame.height() {
        let text = |values: &[Option<String>]| values[at].clone().unwrap_or_default();
        let list: Value = serde_json::from_str(&text(&new)).unwrap_or(Value::Null);
        let list = list.as_array().and_then(|list| list.iter().map(|one| one.as_str().map(str::to_owned)).collect());
        rows.push(Row {
            id: text(&ids),
            criterion: text(&criteria),
            class: text(&classes),
            because: text(&because),
            old: text(&old),
            new: list.ok_or_else(|| {
                Error::input(format!("proposal {}: new_texts is no JSON list of texts", text(&ids)))
                    .help("read the table from the file that was written, unedited")
            })?,
        });
    }
    Ok(rows)
}

fn carry_out(criteria: &Criteria, approved: &HashMap<String, Row>) -> Result<Criteria> {
    let frame = criteria.frame();
    let (ids, words) = (texts(frame, "criterion_id")?, texts(frame, "text")?);
    let weights = if frame.column("weight").is_ok() { floats(frame, "weight")? } else { vec![None; ids.len()] };
    let parents = if frame.column("parent").is_ok() { texts(frame, "parent")? } else { vec![None; ids.len()] };
    let mut lines: Vec<Line> = Vec::new();
    for row in 0..frame.height() {
        let (id, text) = (ids[row].clone().unwrap_or_default(), words[row].clone().unwrap_or_default());
        let Some(change) = approved.get(&id) else {
            lines.push(Line { row, id, text, weight: weights[row], parent: parents[row].clone() });
            continue;
        };
        if change.old != text {
            return Err(Error::input(format!("criterion {id:?} has another text than the one that was signed off"))
                .help("propose the change of the present text, and have it signed off"));
        }
        let parts = change.new.len();
        for (place, new) in change.new.iter().enumerate() {
            let alone = parts == 1;
            lines.push(Line {
                row,
                id: if alone { id.clone() } else { format!("{id}.{}", place + 1) },
                text: new.clone(),
                weight: weights[row].map(|weight| weight / parts as f64),
                parent: if alone { parents[row].clone() } else { Some(id.clone()) },
            });
        }
    }
    let rows: Vec<u32> = lines.iter().filter_map(|line| u32::try_from(line.row).ok()).collect();
    let mut changed = frame.take(&polars::prelude::IdxCa::from_vec("row".into(), rows))?;
    let column = FrameBuilder::new()
        .text("criterion_id", &lines.iter().map(|line| &line.id).collect::<Vec<_>>())
        .text("text", &lines.iter().map(|line| &line.text).collect::<Vec<_>>())
        .number("weight", &lines.iter().map(|line| line.weight).collect::<Vec<_>>())
        .text_or_null("parent", &lines.iter().map(|line| line.parent.as_ref()).collect::<Vec<_>>())
        .build()?;
    for name in ["criterion_id", "text", "weight", "parent"] {
        changed.with_column(column.column(name)?.clone())?;
    }
    Criteria::new(changed)
}
