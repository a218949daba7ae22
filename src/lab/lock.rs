//! The lock file: the SHA-256 of everything that was downloaded, recorded once and checked ever after.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::signal;

/// A file of at most this many bytes is hashed each time it is opened; a larger one when its size or time changed.
const ALWAYS_HASHED: u64 = 64 << 20;

/// One line of the lock file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    /// Where the file came from: `datasets/OWNER/NAME@REVISION/PATH`, or an address.
    name: String,
    sha256: String,
    bytes: u64,
    /// When the file was last changed, as seen at the last full check; nanoseconds since 1970.
    modified: u128,
}

/// The sums of downloaded files, one JSON object a line; a later line about the same name replaces an earlier one.
#[derive(Debug, Clone)]
pub(crate) struct LockFile(PathBuf);

impl LockFile {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Checks a file against `known` or, without that, against the sum recorded at its first download; records what
    /// is not recorded. Returns the sum.
    ///
    /// # Errors
    /// Names both sums when they differ.
    pub(crate) fn check(&self, name: &str, file: &Path, known: Option<&str>) -> Result<String> {
        let about = file.metadata().map_err(|error| Error::file(file, &error))?;
        let modified =
            about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |age| age.as_nanos());
        let recorded = self.find(name)?;
        if let Some(entry) = &recorded {
            let same = entry.bytes == about.len() && entry.modified == modified;
            let fits = known.is_none_or(|known| known.eq_ignore_ascii_case(&entry.sha256));
            if same && fits && about.len() > ALWAYS_HASHED {
                return Ok(entry.sha256.clone());
            }
        }
        let found = sha256_of_file(file)?;
        let expected = known.map(|known| (known.to_lowercase(), "published with this release"));
        let expected = expected
            .or_else(|| recorded.as_ref().map(|entry| (entry.sha256.clone(), "recorded at its first download")));
        if let Some((expected, origin)) = expected
            && expected != found
        {
            return Err(Error::input(format!(
                "{name}: the file {} has the SHA-256 {found}, expected {expected} ({origin})",
                file.display()
            ))
            .help(format!(
                "remove that file to fetch it again; if its publisher did change it, also remove its line in {}",
                self.0.display()
            )));
        }
        if recorded.is_none_or(|entry| entry.modified != modified || entry.sha256 != found) {
            self.record(&Entry { name: name.to_owned(), sha256: found.clone(), bytes: about.len(), modified })?;
        }
        Ok(found)
    }

    fn find(&self, name: &str) -> Result<Option<Entry>> {
        let text = match std::fs::read_to_string(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::file(&self.0, &error)),
        };
        // A torn last line, left by a crash, is no entry.
        Ok(text.lines().filter_map(|line| serde_json::from_str::<Entry>(line).ok()).rfind(|entry| entry.name == name))
    }

    fn record(&self, entry: &Entry) -> Result<()> {
        let refused = |error: std::io::Error| Error::file(&self.0, &error);
        if let Some(folder) = self.0.parent() {
            std::fs::create_dir_all(folder).map_err(|error| Error::file(folder, &error))?;
        }
        let mut file = File::options().create(true).append(true).open(&self.0).map_err(refused)?;
        file.lock().map_err(refused)?;
        let line = serde_json::to_string(entry).map_err(|error| Error::input(format!("lock file: {error}")))?;
        // The line break before the line ends whatever a crash left torn.
        file.write_all(format!("\n{line}\n").as_bytes()).map_err(refused)?;
        file.sync_data().map_err(refused)
    }
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub(crate) fn sha256_of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// The SHA-256 of a file, in hexadecimal digits.
pub(crate) fn sha256_of_file(path: &Path) -> Result<String> {
    let refused = |error: std::io::Error| Error::file(path, &error);
    let mut file = File::open(path).map_err(refused)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        signal::check("the file stays where it is")?;
        let read = file.read(&mut buffer).map_err(refused)?;
        if read == 0 {
            return Ok(hexadecimal(&digest.finalize()));
        }
        digest.update(&buffer[..read]);
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_recorded_once_and_checked_ever_after() {
        let folder = tempfile::tempdir().unwrap();
        let lock = LockFile::at(folder.path().join("hub.lock.jsonl"));
        let file = folder.path().join("data.json");
        std::fs::write(&file, b"one").unwrap();
        let first = lock.check("d/x@1/data.json", &file, None).unwrap();
        assert_eq!(first, sha256_of(b"one"));
        assert_eq!(lock.check("d/x@1/data.json", &file, None).unwrap(), first);
        std::fs::write(&file, b"two").unwrap();
        let error = lock.check("d/x@1/data.json", &file, None).unwrap_err().to_string();
        assert!(error.contains(&first) && error.contains("first download") && error.contains("help:"), "{error}");
        // Another name has its own sum; a torn line is passed over.
        std::fs::File::options().append(true).open(&lock.0).unwrap().write_all(b"{\"name\": \"d/x@1").unwrap();
        assert_eq!(lock.check("d/x@2/data.json", &file, None).unwrap(), sha256_of(b"two"));
        assert!(lock.check("d/x@1/data.json", &file, None).is_err());
    }

    #[test]
    fn a_known_sum_is_stronger_than_a_recorded_one() {
        let folder = tempfile::tempdir().unwrap();
        let lock = LockFile::at(folder.path().join("hub.lock.jsonl"));
        let file = folder.path().join("data.json");
        std::fs::write(&file, b"one").unwrap();
        let error = lock.check("n", &file, Some(&sha256_of(b"other"))).unwrap_err().to_string();
        assert!(error.contains("published with this release"), "{error}");
        assert!(lock.check("n", &file, Some(&sha256_of(b"one").to_uppercase())).is_ok());
    }
}
