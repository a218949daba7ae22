//! Tasks to tune on, and tasks to keep away from.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::labels::LabelSet;
use crate::error::{Error, Result};
use crate::signal;
use crate::table::{Tasks, Verdict, texts};

/// A division of labelled tasks into development and held-out ones. Whole tasks, since answers to one task are alike
/// and would leak from one part into the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// What the choice was drawn from.
    salt: String,
    /// What the tasks were stratified by.
    strata: String,
    development: Vec<String>,
    held_out: Vec<String>,
    checksum: String,
}

impl Split {
    /// Divides the tasks that have labels, so that about `held_out` of them (0 to 1) are held out of every stratum. Strata
    /// are the share of FAIL labels (none, less than half, half or more) and, if `by` is given, that column of
    /// the tasks. Within a stratum the order is that of a salted hash: the same salt gives the same split, whatever
    /// the order of rows.
    ///
    /// # Errors
    /// When the share is not between 0 and 1, there are fewer than two labelled tasks, or no such column.
    pub fn by_task(labels: &LabelSet, tasks: &Tasks, held_out: f64, by: Option<&str>, salt: &str) -> Result<Self> {
        if !(held_out > 0.0 && held_out < 1.0) {
            return Err(
                Error::input(format!("a share of {held_out} cannot be held out")).help("give a share such as 0.5")
            );
        }
        let extra: HashMap<Option<String>, Option<String>> = match by {
            None => HashMap::new(),
            Some(column) => texts(tasks.frame(), "task_id")?.into_iter().zip(texts(tasks.frame(), column)?).collect(),
        };
        let mut counts: BTreeMap<&String, (usize, usize)> = BTreeMap::new();
        for item in &labels.items {
            let count = counts.entry(&item.task).or_default();
            count.0 += usize::from(item.label == Verdict::Fail);
            count.1 += 1;
        }
        if counts.len() < 2 {
            return Err(Error::input(format!("{} labelled tasks cannot be divided", counts.len()))
                .help("label answers to at least two tasks"));
        }
        let mut strata: BTreeMap<(usize, String), Vec<(String, &String)>> = BTreeMap::new();
        for (task, (fails, all)) in counts {
            let level = if fails == 0 { 0 } else { 1 + usize::from(2 * fails >= all) };
            let value = extra.get(&Some(task.clone())).cloned().flatten().unwrap_or_default();
            strata.entry((level, value)).or_default().push((hash(&format!("{salt}\n{task}")), task));
        }
        let (mut development, mut kept) = (Vec::new(), Vec::new());
        // What rounding leaves over in one stratum is carried to the next, so that the total is right.
        let mut owed = 0.0;
        for members in strata.values_mut() {
            members.sort();
            owed += held_out * members.len() as f64;
            let take = (owed.round() as usize).min(members.len());
            owed -= take as f64;
            kept.extend(members[..take].iter().map(|(_, task)| (*task).clone()));
            development.extend(members[take..].iter().map(|(_, task)| (*task).clone()));
        }
        if development.is_empty() || kept.is_empty() {
            return Err(
                Error::input("one part of the split is empty").help("hold out another share, or label more tasks")
            );
        }
        let strata = by.map_or("share of FAIL".to_owned(), |column| format!("share of FAIL, {column}"));
        Ok(Self::sealed(salt, &strata, development, kept))
    }

    fn sealed(salt: &str, strata: &str, mut development: Vec<String>, mut held_out: Vec<String>) -> Self {
        development.sort();
        held_out.sort();
        let mut split =
            Self { salt: salt.to_owned(), strata: strata.to_owned(), development, held_out, checksum: String::new() };
        split.checksum = split.expected();
        split
    }

    fn expected(&self) -> String {
        let told = serde_json::json!([self.salt, self.strata, self.development, self.held_out]).to_string();
        hash(&told)
    }

    /// Writes the split to a file. Writing the same split again changes nothing.
    ///
    /// # Errors
    /// When the file cannot be written, or another split stands there: a frozen split is never replaced.
    pub fn freeze(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        if path.exists() {
            let frozen = Self::open(path)?;
            return if frozen == *self {
                Ok(())
            } else {
                Err(Error::input(format!("{}: another split is frozen there", path.display()))
                    .help("open that one; if it has to go, remove the file by hand, and say so in the report"))
            };
        }
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::input(format!("the split cannot be written: {error}")))?;
        let temporary = path.with_extension(format!("tmp{}", std::process::id()));
        std::fs::write(&temporary, text + "\n").map_err(|error| Error::file(&temporary, &error))?;
        std::fs::rename(&temporary, path).map_err(|error| Error::file(path, &error))
    }

    /// Opens a frozen split.
    ///
    /// # Errors
    /// When the file is no split, its checksum is wrong, or a task is in both parts.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
        let split: Self = serde_json::from_str(&text)
            .map_err(|error| Error::input(format!("{}: not a frozen split: {error}", path.display())))?;
        if split.checksum != split.expected() {
            return Err(Error::input(format!("{}: the split was changed after it was frozen", path.display()))
                .help("restore the file; a held-out set that was chosen by hand is none"));
        }
        let development: BTreeSet<&String> = split.development.iter().collect();
        if let Some(both) = split.held_out.iter().find(|task| development.contains(task)) {
            return Err(Error::input(format!("{}: task {both:?} is in both parts", path.display())));
        }
        Ok(split)
    }

    /// The tasks to tune on.
    #[must_use]
    pub fn development(&self) -> Vec<String> {
        self.development.clone()
    }

    /// The tasks that are kept away.
    #[must_use]
    pub fn held_out(&self) -> Vec<String> {
        self.held_out.clone()
    }

    /// Names this split.
    #[must_use]
    pub fn checksum(&self) -> String {
        self.checksum.clone()
    }

    /// Shows the sizes.
    pub fn evcxr_display(&self) {
        let plain = format!(
            "{} development and {} held-out tasks · stratified by {} · checksum {}",
            self.development.len(),
            self.held_out.len(),
            self.strata,
            &self.checksum[..12.min(self.checksum.len())]
        );
        signal::display(None, None, &plain);
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
