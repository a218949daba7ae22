//! The session: a folder, and what was computed into it.

mod fingerprint;
mod hub;
mod journal;
mod journal_file;
pub(crate) mod lock;
#[cfg(any(feature = "hub", feature = "remote"))]
pub(crate) mod runtime;
mod store;

pub use fingerprint::Fingerprint;
pub use hub::{Hub, HubRepo};
pub use journal::{Claim, Journal};
pub use journal_file::Entry;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::dataset::Benchmark;
use crate::error::{Error, Result};
use crate::signal;

/// A folder that keeps what was computed, so that running a cell again resumes instead of repeating.
///
/// Cloning is cheap; clones share the folder.
#[derive(Debug, Clone)]
pub struct Lab {
    folder: Arc<PathBuf>,
}

impl Lab {
    /// Opens the lab of this notebook: `CLAIMLAB_HOME`, or `.claimlab` in the current folder.
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub fn open() -> Result<Self> {
        Self::at(std::env::var_os("CLAIMLAB_HOME").map_or_else(|| PathBuf::from(".claimlab"), PathBuf::from))
    }

    /// Opens a lab in a folder, which is created if need be.
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub fn at(folder: impl AsRef<Path>) -> Result<Self> {
        signal::listen()?;
        let folder = std::path::absolute(folder.as_ref()).map_err(|error| Error::file(folder.as_ref(), &error))?;
        std::fs::create_dir_all(&folder).map_err(|error| {
            Error::file(&folder, &error)
                .context("opening the lab")
                .help("set CLAIMLAB_HOME to a folder that you can write to")
        })?;
        Ok(Self { folder: Arc::new(folder) })
    }

    /// Where the lab lies.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The bundled sample: two invented acts with questions and labelled claims. An illustration, not a benchmark:
    /// no score on it is a research result.
    ///
    /// # Errors
    /// Never for the files of this release; the same reader serves folders of the user's own.
    pub fn sample(&self) -> Result<Benchmark> {
        Benchmark::sample()
    }

    /// Shows where the lab is.
    pub fn evcxr_display(&self) {
        signal::display(None, None, &format!("Lab at {}", self.folder.display()));
    }
}
