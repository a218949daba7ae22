//! Records that cannot be changed unseen: sign-offs, registered prompts, readings of a held-out set.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// An append-only file of records, one JSON object a line, each bound to the one before it by a SHA-256 digest. Whoever
/// edits, removes or reorders lines breaks the chain, and opening says where. It protects from slips, not from
/// somebody who writes the whole file anew.
///
/// Appends lock the file, are synced before they return, and drop a last line that a crash has torn.
#[derive(Debug, Clone)]
pub struct Ledger {
    path: Arc<PathBuf>,
}

/// One record of a [`Ledger`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// From 1.
    pub number: u64,
    /// When it was written, as in `2031-04-01T12:30:00Z`.
    pub at: String,
    /// What sort of record it is.
    pub kind: String,
    /// The record.
    pub record: Value,
    /// The digest of the entry before it and of this one.
    pub digest: String,
}

impl LedgerEntry {
    fn seal(mut self, before: &str) -> Self {
        self.digest = self.expected(before);
        self
    }

    fn expected(&self, before: &str) -> String {
        let told = format!("{before}\n{}\n{}\n{}\n{}", self.number, self.at, self.kind, self.record);
        Sha256::digest(told).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Ledger {
    /// The ledger in this file, which is created with its folder when the first record is written.
    ///
    /// # Errors
    /// When the folder cannot be created, or the file is there and its chain is broken.
    pub fn at(path: impl AsRef<Path>) -> Result<Self> {
        let path = std::path::absolute(path.as_ref()).map_err(|error| Error::file(path.as_ref(), &error))?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| Error::file(folder, &error))?;
        }
        let ledger = Self { path: Arc::new(path) };
        ledger.entries()?;
        Ok(ledger)
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All records, oldest first.
    ///
    /// # Errors
    /// When the file cannot be read, or a line was changed.
    pub fn entries(&self) -> Result<Vec<LedgerEntry>> {
        match std::fs::read_to_string(&*self.path) {
            Ok(text) => self.parse(&text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(Error::file(&self.path, &error)),
        }
    }

    /// Adds a record and returns when it is on disk.
    ///
    /// # Errors
    /// When the file cannot be written, or its chain is broken.
    pub fn append(&self, kind: &str, record: Value) -> Result<LedgerEntry> {
        self.append_if(kind, record, &|_| Ok(()))
    }

    /// The same, if `allowed` agrees to what the ledger holds at that moment, whoever else appends.
    ///
    /// # Errors
    /// As [`Self::append`], or what `allowed` says.
    pub fn append_if(
        &self,
        kind: &str,
        record: Value,
        allowed: &dyn Fn(&[LedgerEntry]) -> Result<()>,
    ) -> Result<LedgerEntry> {
        let refused = |error: std::io::Error| Error::file(&self.path, &error);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&*self.path)
            .map_err(refused)?;
        file.lock().map_err(refused)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(refused)?;
        let entries = self.parse(&text)?;
        allowed(&entries)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1) as u64;
        file.set_len(whole).and_then(|()| file.seek(SeekFrom::End(0))).map_err(refused)?;
        let before = entries.last().map_or("", |entry| entry.digest.as_str());
        let entry = LedgerEntry {
            number: entries.len() as u64 + 1,
            at: now(),
            kind: kind.to_owned(),
            record,
            digest: String::new(),
        }
        .seal(before);
        write_line(&mut file, &entry).map_err(refused)?;
        Ok(entry)
    }

    fn parse(&self, text: &str) -> Result<Vec<LedgerEntry>> {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut entries: Vec<LedgerEntry> = Vec::new();
        for (number, line) in whole.lines().enumerate() {
            let broken = |why: &str| {
                Error::input(format!("{}, line {}: {why}", self.path.display(), number + 1))
                    .help("this file records who did what and when; restore it from a copy instead of editing it")
            };
            let entry: LedgerEntry = serde_json::from_str(line).map_err(|_| broken("not a record of this ledger"))?;
            let before = entries.last().map_or("", |entry| entry.digest.as_str());
            if entry.number != number as u64 + 1 || entry.digest != entry.expected(before) {
                return Err(broken("the record was changed, removed or moved after it was written"));
            }
            entries.push(entry);
        }
        Ok(entries)
    }
}

fn write_line(file: &mut File, entry: &LedgerEntry) -> std::io::Result<()> {
    let mut line = serde_json::to_string(entry)?;
    line.push('\n');
    file.write_all(line.as_bytes())?;
    file.sync_all()
}

/// The time in UTC to the second.
fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
    timestamp(seconds)
}

/// Days to a civil date after Hinnant 2013, "chrono-compatible low-level date algorithms", `civil_from_days`.
fn timestamp(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) =
        (day_of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ledger() -> (tempfile::TempDir, Ledger) {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::at(folder.path().join("deep/ledger.jsonl")).unwrap();
        (folder, ledger)
    }

    #[test]
    fn records_come_back_in_order_and_an_edit_is_found() {
        let (_folder, ledger) = ledger();
        for who in ["a", "b", "c"] {
            ledger.append("sign_off", json!({"who": who})).unwrap();
        }
        let entries = ledger.entries().unwrap();
        assert_eq!(entries.iter().map(|entry| entry.record["who"].as_str().unwrap()).collect::<String>(), "abc");
        let text = std::fs::read_to_string(ledger.path()).unwrap();
        std::fs::write(ledger.path(), text.replace("\"who\":\"b\"", "\"who\":\"x\"")).unwrap();
        assert!(ledger.entries().unwrap_err().to_string().contains("line 2"));
        let without: String =
            text.lines().filter(|line| !line.contains("\"b\"")).map(|line| format!("{line}\n")).collect();
        std::fs::write(ledger.path(), without).unwrap();
        assert!(Ledger::at(ledger.path()).is_err());
    }

    #[test]
    fn a_torn_last_line_is_dropped_and_written_over() {
        let (_folder, ledger) = ledger();
        ledger.append("a", json!(1)).unwrap();
        let text = std::fs::read_to_string(ledger.path()).unwrap();
        std::fs::write(ledger.path(), format!("{text}{{\"number\":2,\"at")).unwrap();
        assert_eq!(ledger.entries().unwrap().len(), 1);
        assert_eq!(ledger.append("b", json!(2)).unwrap().number, 2);
        assert_eq!(ledger.entries().unwrap().len(), 2);
    }

    #[test]
    fn many_writers_make_one_chain() {
        let (_folder, ledger) = ledger();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let ledger = ledger.clone();
                scope.spawn(move || (0..10).for_each(|step| drop(ledger.append("w", json!([writer, step])).unwrap())));
            }
        });
        assert_eq!(ledger.entries().unwrap().len(), 40);
    }

    #[test]
    fn dates_are_right_around_leap_days() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(timestamp(seconds), expected);
        }
    }
}
