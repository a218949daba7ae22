//! The record of what cells link against: written when the library was built, read by the stand-in for cargo.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// Names the record's file for the stand-in, which evcxr starts without arguments of ours.
pub const RECORD_ENV: &str = "CLAIMLAB_CELLS";

/// What cells link against.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Cells {
    /// The library as one shared object.
    pub dylib: PathBuf,
    /// Folder with the metadata of everything inside it.
    pub deps: PathBuf,
    /// The archive of the standard library that is inside it.
    pub std_archive: PathBuf,
    /// The compiler that built it.
    pub rustc_version: String,
}

impl Cells {
    /// Reads the record.
    pub fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}; run `claimlab prewarm`", file.display()))?;
        serde_json::from_str(&text)
            .with_context(|| format!("{} is not a record of built cells; run `claimlab prewarm`", file.display()))
    }

    /// Writes the record under its final name in one step, so that a reader never sees half of it.
    pub fn write(&self, file: &Path) -> Result<()> {
        let temporary = file.with_extension(format!("tmp{}", std::process::id()));
        std::fs::write(&temporary, serde_json::to_vec_pretty(self)?)
            .with_context(|| format!("cannot write {}", temporary.display()))?;
        std::fs::rename(&temporary, file).with_context(|| format!("cannot write {}", file.display()))
    }
}
