//! What the stand-in for cargo builds for a cell (`:dep`), as one live display.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use claimlab_protocol::{Bundle, Event};

/// In the session's folder; the stand-in appends to it.
pub const NAME: &str = "build.log";
/// How often the file is looked at.
const PAUSE: Duration = Duration::from_millis(200);

/// Follows the file while a cell is compiled.
#[derive(Debug)]
pub struct BuildLog {
    file: PathBuf,
    read: u64,
    looked: Instant,
    began: Instant,
    compiled: usize,
    id: Option<String>,
}

impl BuildLog {
    /// From the file's present end on.
    pub fn of(folder: &Path) -> Self {
        let file = folder.join(NAME);
        let read = std::fs::metadata(&file).map_or(0, |about| about.len());
        Self { file, read, looked: Instant::now(), began: Instant::now(), compiled: 0, id: None }
    }

    /// What is new, at most five times a second.
    pub fn read(&mut self) -> Option<Event> {
        if self.looked.elapsed() < PAUSE {
            return None;
        }
        self.looked = Instant::now();
        let mut file = File::open(&self.file).ok()?;
        file.seek(SeekFrom::Start(self.read)).ok()?;
        let mut bytes = Vec::new();
        self.read += file.read_to_end(&mut bytes).ok()? as u64;
        let text = String::from_utf8_lossy(&bytes);
        self.compiled += text.lines().filter(|line| line.trim_start().starts_with("Compiling")).count();
        let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        let seconds = self.began.elapsed().as_secs_f64();
        Some(self.show(&format!("Building crates: {last} ({} compiled, {seconds:.0} s)", self.compiled)))
    }

    /// One quiet line, if anything was shown.
    pub fn finish(mut self) -> Option<Event> {
        self.id.as_ref()?;
        let seconds = self.began.elapsed().as_secs_f64();
        Some(self.show(&format!("Building crates: {} compiled in {seconds:.1} s", self.compiled)))
    }

    fn show(&mut self, text: &str) -> Event {
        let data = Bundle::from([("text/plain".to_owned(), text.to_owned())]);
        match self.id.clone() {
            Some(id) => Event::Update { data, id },
            None => {
                let id = format!("claimlab-build-{}", uuid::Uuid::new_v4().simple());
                self.id = Some(id.clone());
                Event::Display { data, id: Some(id) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_lines_are_shown_in_place_and_end_as_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(NAME), "   Compiling old v1\n").unwrap();
        let mut log = BuildLog::of(folder.path());
        std::thread::sleep(PAUSE);
        assert_eq!(log.read(), None, "nothing new");
        std::fs::write(folder.path().join(NAME), "   Compiling old v1\n   Compiling itoa v1\n").unwrap();
        std::thread::sleep(PAUSE);
        assert!(matches!(log.read(), Some(Event::Display { data, .. }) if data["text/plain"].contains("itoa")));
        assert!(matches!(log.finish(), Some(Event::Update { data, .. }) if data["text/plain"].contains("1 compiled")));
    }
}
