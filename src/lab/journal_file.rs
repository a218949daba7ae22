//! The journal's file: JSON lines that are only ever appended.
//!
//! A line counts once its newline is there. What a killed process left without one is closed off by the next append
//! and skipped when read; what a full disk cut short is cut off again at once.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind as IoKind, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};

/// One call: what was asked of which model, and what it replied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The digest of everything that the reply depends on.
    pub key: String,
    /// The model's name.
    pub model: String,
    /// The model's settings.
    pub settings: Value,
    /// The request.
    pub request: Value,
    /// The reply.
    pub reply: Value,
}

/// What of a line is needed to find it again; reading it checks the rest of the line's syntax too.
#[derive(Deserialize)]
struct Head {
    key: String,
}

/// Bytes read at a time while looking for new lines.
const PIECE: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct JournalFile {
    path: PathBuf,
    file: File,
    /// Where the first line begins that has not been indexed.
    read_to: u64,
    /// Where each call's line begins, and its length.
    index: HashMap<String, (u64, usize)>,
    /// Lines that are not calls: torn by a kill or a power cut.
    torn: usize,
}

impl JournalFile {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = open(path)?;
        let mut opened = Self { path: path.to_owned(), file, read_to: 0, index: HashMap::new(), torn: 0 };
        opened.refresh()?;
        Ok(opened)
    }

    /// Every call of a file that is only read: a cassette may lie where nothing may be written.
    pub(super) fn read_all(path: &Path) -> Result<Vec<Entry>> {
        let file = File::open(path).map_err(|error| Error::file(path, &error))?;
        let mut opened = Self { path: path.to_owned(), file, read_to: 0, index: HashMap::new(), torn: 0 };
        opened.read_new()?;
        opened.entries()
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    pub(super) fn torn(&self) -> usize {
        self.torn
    }

    /// A second handle, for syncing without holding anybody up.
    pub(super) fn handle(&self) -> Option<File> {
        self.file.try_clone().ok()
    }

    /// Reads what other processes have appended since.
    pub(super) fn refresh(&mut self) -> Result<()> {
        self.reopen_if_replaced()?;
        self.read_new()
    }

    fn read_new(&mut self) -> Result<()> {
        let mut rest: Vec<u8> = Vec::new();
        let mut piece = vec![0; PIECE];
        loop {
            let from = self.read_to + rest.len() as u64;
            let n = match self.file.read_at(&mut piece, from) {
                Ok(0) => return Ok(()),
                Ok(n) => n,
                Err(error) if error.kind() == IoKind::Interrupted => continue,
                Err(error) => return Err(Error::file(&self.path, &error).context("reading the journal")),
            };
            rest.extend_from_slice(piece.get(..n).unwrap_or_default());
            let mut begin = 0;
            while let Some(length) = rest.get(begin..).and_then(|left| left.iter().position(|byte| *byte == b'\n')) {
                let line = rest.get(begin..begin + length).unwrap_or_default();
                self.learn(line, self.read_to + begin as u64);
                begin += length + 1;
            }
            rest.drain(..begin);
            self.read_to += begin as u64;
        }
    }

    fn learn(&mut self, line: &[u8], at: u64) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match serde_json::from_slice::<Head>(line) {
            // The first reply to a call stays: whoever read it has gone on with it.
            Ok(head) => {
                self.index.entry(head.key).or_insert((at, line.len()));
            }
            Err(_) => self.torn += 1,
        }
    }

    /// The call of this key, after a look at what others appended if it is not known yet.
    pub(super) fn find(&mut self, key: &str) -> Result<Option<Entry>> {
        if !self.index.contains_key(key) {
            self.refresh()?;
        }
        let Some((at, length)) = self.index.get(key).copied() else { return Ok(None) };
        self.read(at, length).map(Some)
    }

    fn read(&self, at: u64, length: usize) -> Result<Entry> {
        let mut line = vec![0; length];
        self.file
            .read_exact_at(&mut line, at)
            .map_err(|error| Error::file(&self.path, &error).context("reading the journal"))?;
        serde_json::from_slice(&line).map_err(|error| {
            Error::input(format!("{}: the line at byte {at} is not a call: {error}", self.path.display()))
                .help("the line was changed by hand; delete it, and the call is made again")
        })
    }

    /// Every call, in the order of the file.
    pub(super) fn entries(&self) -> Result<Vec<Entry>> {
        let mut places: Vec<(u64, usize)> = self.index.values().copied().collect();
        places.sort_unstable();
        places.into_iter().map(|(at, length)| self.read(at, length)).collect()
    }

    /// Appends one line; on failure the file is as it was before.
    pub(super) fn append(&mut self, line: &[u8]) -> Result<()> {
        let told = |error: Error| {
            error.context("writing a paid call into the journal").help(
                "make room on the disk and run the cell again; until this session ends, the reply is kept in memory",
            )
        };
        self.reopen_if_replaced().map_err(told)?;
        self.file.lock().map_err(|error| Error::file(&self.path, &error).context("locking the journal"))?;
        let written = self.append_locked(line);
        // A failed unlock leaves a lock that ends with the process; nothing better can be done about it.
        let _ = self.file.unlock();
        written.map_err(|error| told(Error::file(&self.path, &error)))?;
        self.refresh()
    }

    fn append_locked(&mut self, line: &[u8]) -> std::io::Result<()> {
        let before = self.file.metadata()?.len();
        let mut last = [b'\n'];
        if before > 0 {
            self.file.read_exact_at(&mut last, before - 1)?;
        }
        let mut whole = Vec::with_capacity(line.len() + 2);
        if last != [b'\n'] {
            whole.push(b'\n');
        }
        whole.extend_from_slice(line);
        whole.push(b'\n');
        self.file.write_all(&whole).inspect_err(|_| {
            // Half a line would do no harm, but a full disk needs every byte.
            let _ = self.file.set_len(before);
        })
    }

    /// Somebody may have deleted the lab's folder, or put another file in the journal's place.
    fn reopen_if_replaced(&mut self) -> Result<()> {
        let ours = self.file.metadata().map(|data| (data.dev(), data.ino())).ok();
        let there = std::fs::metadata(&self.path).map(|data| (data.dev(), data.ino())).ok();
        if ours.is_none() || ours != there {
            self.file = open(&self.path)?;
            self.read_to = 0;
            self.index.clear();
            self.torn = 0;
        }
        Ok(())
    }
}

fn open(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| Error::file(folder, &error))?;
    }
    OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(path)
        .map_err(|error| Error::file(path, &error).context("opening the journal"))
}
