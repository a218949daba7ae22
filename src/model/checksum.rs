//! Digests of large files, computed once and remembered.

use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::signal::{self, Progress};

/// Bytes read at a time.
const PIECE: usize = 1 << 20;

#[derive(Serialize, Deserialize)]
struct Known {
    path: PathBuf,
    size: u64,
    /// Seconds and nanoseconds of the last change.
    changed: (i64, i64),
    sha256: String,
}

/// The SHA-256 of a file in hexadecimal digits. A file that was digested before is not read again as long as its size
/// and time of change are the same.
///
/// # Errors
/// When the file cannot be read, or the user interrupts.
pub fn checksum(path: &Path) -> Result<String> {
    let path = std::path::absolute(path).map_err(|error| Error::file(path, &error))?;
    let data = std::fs::metadata(&path).map_err(|error| Error::file(&path, &error))?;
    let mark = (data.size(), (data.mtime(), data.mtime_nsec()));
    if let Some(known) = memory().and_then(|memory| recall(&memory, &path, mark)) {
        return Ok(known);
    }
    let sha256 = digest(&path, data.size())?;
    if let Some(memory) = memory() {
        remember(&memory, &Known { path, size: mark.0, changed: mark.1, sha256: sha256.clone() });
    }
    Ok(sha256)
}

/// The same, read anew.
///
/// # Errors
/// When the file cannot be read, or the user interrupts.
pub fn digest(path: &Path, size: u64) -> Result<String> {
    let mut file = std::fs::File::open(path).map_err(|error| Error::file(path, &error))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let progress = Progress::new(&format!("Verifying {name} (MiB)"), usize::try_from(size >> 20).unwrap_or(0));
    let mut digest = Sha256::new();
    let mut piece = vec![0; PIECE];
    loop {
        signal::check("the digest is computed again")?;
        let n = file.read(&mut piece).map_err(|error| Error::file(path, &error))?;
        if n == 0 {
            break;
        }
        digest.update(piece.get(..n).unwrap_or_default());
        progress.advance(usize::from(n == PIECE));
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn memory() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    Some(cache.join("claimlab/checksums.jsonl"))
}

fn recall(memory: &Path, path: &Path, mark: (u64, (i64, i64))) -> Option<String> {
    let text = std::fs::read_to_string(memory).ok()?;
    text.lines()
        .rev()
        .filter_map(|line| serde_json::from_str::<Known>(line).ok())
        .find(|known| known.path == path && (known.size, known.changed) == mark)
        .map(|known| known.sha256)
}

/// Only saves time: where it cannot be written, files are digested again.
fn remember(memory: &Path, known: &Known) {
    let Ok(mut line) = serde_json::to_vec(known) else { return };
    line.push(b'\n');
    if let Some(folder) = memory.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    if let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(memory) {
        let _ = file.write_all(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_digested_again() -> Result<()> {
        let folder = tempfile::tempdir().map_err(|error| Error::io("folder", &error))?;
        let (file, memory) = (folder.path().join("f"), folder.path().join("m.jsonl"));
        std::fs::write(&file, "abc").unwrap();
        let sum = digest(&file, 3)?;
        assert_eq!(sum, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        remember(&memory, &Known { path: file.clone(), size: 3, changed: (1, 2), sha256: sum.clone() });
        assert_eq!(recall(&memory, &file, (3, (1, 2))), Some(sum));
        assert_eq!(recall(&memory, &file, (3, (1, 3))), None);
        Ok(())
    }
}
