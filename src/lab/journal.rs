//! The journal of calls: every reply of a model is in a file before anybody sees it.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use super::journal_file::{Entry, JournalFile};
use super::{Fingerprint, Lab};
use crate::error::{Error, Result};
use crate::signal;

/// How often what was written is forced onto the disk: what a power cut can lose. A killed process loses nothing.
const SYNC: Duration = Duration::from_millis(500);

/// Calls to models and their replies, in one file of JSON lines that several processes may share.
///
/// A reply is appended before it is returned. A process that is killed leaves at most one torn line, which is skipped;
/// a power cut can lose the calls of the last half second. Cloning is cheap.
///
/// ```
/// # use claimlab::prelude::*;
/// # let folder = tempfile::tempdir().map_err(|e| Error::io("temporary folder", &e))?;
/// let lab = Lab::at(folder.path())?;
/// assert_eq!(lab.journal()?.len(), 0);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Journal(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    /// Where each call in progress has a locked file.
    claims: PathBuf,
    state: Mutex<State>,
    /// Whether something was written since the last sync.
    dirty: AtomicBool,
}

#[derive(Debug)]
struct State {
    file: JournalFile,
    /// Replies that the disk refused, to be written as soon as it accepts them.
    unwritten: Vec<Entry>,
    has_syncer: bool,
}

/// The right to make one call, which ends when this is dropped, or its process.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Before the lock ends, so that nobody can lock a file that is about to vanish without noticing.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Lab {
    /// The journal of this lab's folder. All labs of a process on one folder share it.
    ///
    /// # Errors
    /// When its file cannot be opened.
    pub fn journal(&self) -> Result<Journal> {
        Journal::open(&self.folder().join("calls.jsonl"))
    }
}

impl Journal {
    /// Opens a journal file, which is created if need be.
    ///
    /// # Errors
    /// When the file cannot be read or created.
    pub fn open(path: &Path) -> Result<Self> {
        static OPEN: OnceLock<Mutex<HashMap<PathBuf, Weak<Shared>>>> = OnceLock::new();
        let path = std::path::absolute(path).map_err(|error| Error::file(path, &error))?;
        let mut open = OPEN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = open.get(&path).and_then(Weak::upgrade) {
            return Ok(Self(shared));
        }
        let state = State { file: JournalFile::open(&path)?, unwritten: Vec::new(), has_syncer: false };
        let shared = Arc::new(Shared {
            claims: path.with_extension("claims"),
            state: Mutex::new(state),
            dirty: AtomicBool::new(false),
            path: path.clone(),
        });
        open.retain(|_, known| known.strong_count() > 0);
        open.insert(path, Arc::downgrade(&shared));
        Ok(Self(shared))
    }

    /// Every call of a journal file that is only read, oldest first.
    ///
    /// # Errors
    /// When the file cannot be read, or a line that parses is not a call.
    pub fn read(path: &Path) -> Result<Vec<Entry>> {
        JournalFile::read_all(path)
    }

    /// The key of a call: a digest of the model's settings and the whole request, whatever the order of fields.
    #[must_use]
    pub fn key(model: &str, settings: &serde_json::Value, request: &serde_json::Value) -> String {
        Fingerprint::new().text("call").text(model).text(&canonical(settings)).text(&canonical(request)).finish()
    }

    /// The recorded call of this key, whichever process made it.
    ///
    /// # Errors
    /// When the file cannot be read, or replies that the disk refused still cannot be written.
    pub fn find(&self, key: &str) -> Result<Option<Entry>> {
        let mut state = self.state();
        self.write_unwritten(&mut state)?;
        state.file.find(key)
    }

    /// Writes a call down.
    ///
    /// # Errors
    /// When the disk refuses; the reply is then kept in memory and written by the next use of the journal that succeeds.
    pub fn record(&self, entry: Entry) -> Result<()> {
        let mut state = self.state();
        state.unwritten.push(entry);
        self.write_unwritten(&mut state)?;
        if !state.has_syncer {
            state.has_syncer = self.sync_regularly();
        }
        Ok(())
    }

    /// Claims the call of this key; `None` while somebody else, in whichever process, holds it.
    ///
    /// # Errors
    /// When the folder refuses.
    pub fn claim(&self, key: &str) -> Result<Option<Claim>> {
        let path = self.0.claims.join(key);
        loop {
            let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
            let file = match opened {
                Ok(file) => file,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && !self.0.claims.is_dir() => {
                    std::fs::create_dir_all(&self.0.claims).map_err(|error| Error::file(&self.0.claims, &error))?;
                    continue;
                }
                Err(error) => return Err(Error::file(&path, &error).context("claiming a call")),
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(Error::file(&path, &error).context("claiming a call")),
            }
            // Its former holder may have removed the file between our opening and locking it.
            let ours = file.metadata().map(|data| (data.dev(), data.ino())).ok();
            let there = std::fs::metadata(&path).map(|data| (data.dev(), data.ino())).ok();
            if ours.is_some() && ours == there {
                return Ok(Some(Claim { path, _file: file }));
            }
        }
    }

    /// How many calls are recorded, as far as this process has read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.state().file.len()
    }

    /// Whether no call is recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many torn lines were skipped.
    #[must_use]
    pub fn torn(&self) -> usize {
        self.state().file.torn()
    }

    /// The file. A copy of it is a cassette.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Shows how much is recorded.
    pub fn evcxr_display(&self) {
        let torn = match self.torn() {
            0 => String::new(),
            n => format!("; {n} torn lines skipped"),
        };
        signal::display(None, None, &format!("{} calls in {}{torn}", self.len(), self.0.path.display()));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_unwritten(&self, state: &mut State) -> Result<()> {
        while let Some(entry) = state.unwritten.first() {
            let line = serde_json::to_vec(entry)
                .map_err(|error| Error::input(format!("a reply that is not JSON cannot be recorded: {error}")))?;
            state.file.append(&line)?;
            state.unwritten.remove(0);
            self.0.dirty.store(true, Ordering::Release);
        }
        Ok(())
    }

    fn sync_regularly(&self) -> bool {
        let shared = Arc::downgrade(&self.0);
        let run = move || {
            loop {
                std::thread::sleep(SYNC);
                let Some(shared) = shared.upgrade() else { return };
                shared.sync();
            }
        };
        std::thread::Builder::new().name("claimlab-journal".to_owned()).spawn(run).is_ok()
    }
}

impl Shared {
    fn sync(&self) {
        if self.dirty.swap(false, Ordering::AcqRel) {
            let handle = self.state.lock().unwrap_or_else(PoisonError::into_inner).file.handle();
            if let Some(file) = handle {
                // A disk that cannot sync is asked again half a second later.
                if file.sync_data().is_err() {
                    self.dirty.store(true, Ordering::Release);
                }
            }
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.sync();
    }
}

/// JSON with the fields of every object in alphabetical order.
fn canonical(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort_unstable();
            let inside: Vec<String> = names
                .into_iter()
                .filter_map(|name| {
                    fields.get(name).map(|field| format!("{}:{}", Value::from(name.as_str()), canonical(field)))
                })
                .collect();
            format!("{{{}}}", inside.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(key: &str, reply: &str) -> Entry {
        Entry { key: key.into(), model: "m".into(), settings: json!(1), request: json!("r"), reply: json!(reply) }
    }

    #[test]
    fn a_torn_line_is_skipped_and_closed_off_by_the_next_append() -> Result<()> {
        let folder = tempfile::tempdir().map_err(|error| Error::io("folder", &error))?;
        let path = folder.path().join("calls.jsonl");
        let whole = serde_json::to_string(&entry("a", "first")).unwrap();
        std::fs::write(&path, format!("{whole}\n\0\0\0\n{{\"key\":\"b\",\"mod")).unwrap();
        let journal = Journal::open(&path)?;
        assert_eq!((journal.len(), journal.torn()), (1, 1));
        assert_eq!(journal.find("b")?, None);
        journal.record(entry("b", "second"))?;
        assert_eq!(journal.find("b")?.map(|found| found.reply), Some(json!("second")));
        assert_eq!((journal.len(), journal.torn()), (2, 2));
        Ok(())
    }

    #[test]
    fn what_another_handle_appends_is_found() -> Result<()> {
        let folder = tempfile::tempdir().map_err(|error| Error::io("folder", &error))?;
        let path = folder.path().join("calls.jsonl");
        let ours = Journal::open(&path)?;
        let mut theirs = JournalFile::open(&path)?;
        theirs.append(&serde_json::to_vec(&entry("a", "theirs")).unwrap())?;
        assert_eq!(ours.find("a")?.map(|found| found.reply), Some(json!("theirs")));
        Ok(())
    }

    #[test]
    fn a_claim_excludes_others_until_it_is_dropped() -> Result<()> {
        let folder = tempfile::tempdir().map_err(|error| Error::io("folder", &error))?;
        let journal = Journal::open(&folder.path().join("calls.jsonl"))?;
        let claim = journal.claim("k")?;
        assert!(claim.is_some() && journal.claim("k")?.is_none() && journal.claim("other")?.is_some());
        drop(claim);
        assert!(journal.claim("k")?.is_some());
        Ok(())
    }

    #[test]
    fn a_deleted_folder_is_made_again_instead_of_losing_calls() -> Result<()> {
        let folder = tempfile::tempdir().map_err(|error| Error::io("folder", &error))?;
        let path = folder.path().join("lab/calls.jsonl");
        let journal = Journal::open(&path)?;
        journal.record(entry("a", "lost with the folder"))?;
        std::fs::remove_dir_all(folder.path().join("lab")).unwrap();
        journal.record(entry("b", "kept"))?;
        assert!(std::fs::read_to_string(&path).unwrap().contains("kept"));
        Ok(())
    }

    #[test]
    fn keys_do_not_depend_on_the_order_of_fields() {
        let one = json!({"a": {"x": 1, "y": [1, {"q": 2, "p": 3}]}, "b": 2});
        let two = json!({"b": 2, "a": {"y": [1, {"p": 3, "q": 2}], "x": 1}});
        assert_eq!(Journal::key("m", &one, &two), Journal::key("m", &two, &one));
        assert_ne!(Journal::key("m", &one, &json!(1)), Journal::key("m", &one, &json!(2)));
    }
}
