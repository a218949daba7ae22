//! `models.lock.toml`: what each model's files were when they were fetched.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use polars::prelude::DataFrame;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::table;
use crate::error::{Error, Result};
use crate::model::checksum::{checksum, digest};
use crate::table::FrameBuilder;

/// The file's name in the lab's folder.
pub(super) const NAME: &str = "models.lock.toml";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    path: String,
    size: u64,
    sha256: String,
}

/// One model's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Locked {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repository: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<String>,
    files: Vec<File>,
}

impl Locked {
    /// What the files are; digests of unchanged ones are remembered.
    pub(super) fn of(repository: Option<&str>, revision: Option<&str>, files: &[(String, PathBuf)]) -> Result<Self> {
        Self::with(repository, revision, files, |path, _| checksum(path))
    }

    /// The same, with every byte read again.
    pub(super) fn read_anew(
        repository: Option<&str>,
        revision: Option<&str>,
        files: &[(String, PathBuf)],
    ) -> Result<Self> {
        Self::with(repository, revision, files, digest)
    }

    fn with(
        repository: Option<&str>,
        revision: Option<&str>,
        files: &[(String, PathBuf)],
        sum: impl Fn(&Path, u64) -> Result<String>,
    ) -> Result<Self> {
        let files = files
            .iter()
            .map(|(name, path)| {
                let size = std::fs::metadata(path).map_err(|error| Error::file(path, &error))?.len();
                Ok(File { path: name.clone(), size, sha256: sum(path, size)? })
            })
            .collect::<Result<_>>()?;
        Ok(Self { repository: repository.map(str::to_owned), revision: revision.map(str::to_owned), files })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// A quick look, without reading the files.
    pub(super) fn has_sizes_of(&self, files: &[(String, PathBuf)]) -> bool {
        self.files.iter().all(|file| {
            let there =
                files.iter().find(|(name, _)| *name == file.path).and_then(|(_, path)| std::fs::metadata(path).ok());
            there.is_some_and(|data| data.len() == file.size)
        })
    }

    /// Refuses what is not as locked. Files that came later, such as a template put beside the weights, are told too.
    pub(super) fn compare(&self, name: &str, found: &Self) -> Result<()> {
        let help = "fetch the model again, or remove its entry from models.lock.toml if the change is meant";
        if (&self.repository, &self.revision) != (&found.repository, &found.revision) {
            return Err(Error::input(format!(
                "{name} is locked as {}, {} asks for {}",
                self.source(),
                table::NAME,
                found.source()
            ))
            .help(help));
        }
        for file in &self.files {
            let now = found.files.iter().find(|other| other.path == file.path);
            let now =
                now.ok_or_else(|| Error::input(format!("{name}: {} is locked but missing", file.path)).help(help))?;
            if now != file {
                return Err(Error::input(format!(
                    "{name}: {} has {} bytes and the SHA-256 {}, locked are {} bytes and {}",
                    file.path, now.size, now.sha256, file.size, file.sha256
                ))
                .help(help));
            }
        }
        match found.files.iter().find(|file| self.files.iter().all(|known| known.path != file.path)) {
            Some(new) => Err(Error::input(format!("{name}: {} is there but not locked", new.path)).help(help)),
            None => Ok(()),
        }
    }

    fn source(&self) -> String {
        match (&self.repository, &self.revision) {
            (Some(repository), Some(revision)) => format!("{repository} at {revision}"),
            (Some(repository), None) => repository.clone(),
            _ => "files on this machine".to_owned(),
        }
    }

    pub(super) fn frame(&self) -> Result<DataFrame> {
        let paths: Vec<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        let sizes: Vec<i64> = self.files.iter().map(|file| i64::try_from(file.size).unwrap_or(i64::MAX)).collect();
        let sums: Vec<&str> = self.files.iter().map(|file| file.sha256.as_str()).collect();
        FrameBuilder::new().text("file", &paths).integer("bytes", &sizes).text("sha256", &sums).build()
    }
}

/// What is locked, by name; nothing where there is no file yet.
pub(super) fn read(path: &Path) -> Result<BTreeMap<String, Locked>> {
    match table::text_of(path)? {
        Some(text) => table::parse(path, &text),
        None => Ok(BTreeMap::new()),
    }
}

/// Replaced as a whole: a lock file is never half written.
pub(super) fn write(path: &Path, locked: &BTreeMap<String, Locked>) -> Result<()> {
    let text = toml::to_string(locked).map_err(|error| Error::input(format!("{}: {error}", path.display())))?;
    let text = format!("# Written by `claimlab models fetch`: what each model's files must be.\n\n{text}");
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&temporary, text)
        .and_then(|()| std::fs::File::open(&temporary)?.sync_all())
        .and_then(|()| std::fs::rename(&temporary, path))
        .map_err(|error| Error::file(path, &error))
}

/// The files that an index of shards names.
pub(super) fn shards(index: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(index).map_err(|error| Error::file(index, &error))?;
    let map: Value =
        serde_json::from_str(&text).map_err(|error| Error::input(format!("{}: {error}", index.display())))?;
    let mut names: Vec<String> = map
        .get("weight_map")
        .and_then(Value::as_object)
        .map(|files| files.values().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}
