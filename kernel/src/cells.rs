//! The record of what cells link against: written when the library was built, read by the stand-in for cargo.

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};

/// Names the record's file for the stand-in, which evcxr starts without arguments of ours.
pub const RECORD_ENV: &str = "CLAIMLAB_CELLS";

/// What cells link against.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Cells {
    /// The library as one shared object.
    pub dylib: PathBuf,
    /// What the compiler and the linker see of it: its metadata, without the quarter of a million symbols that a linker
    /// would read anew for every cell. The process that runs cells has the library itself in memory.
    pub metadata: PathBuf,
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

    /// Loads the library into this process for good. Whatever is loaded afterwards finds its names.
    pub fn load(&self) -> Result<NonNull<c_void>> {
        let name = CString::new(self.dylib.as_os_str().as_bytes()).context("the library's path holds a zero byte")?;
        // SAFETY: the name ends in a zero byte; what runs while the library is loaded are its own constructors. After a
        // failure dlerror gives null or a string that is valid until the next call.
        unsafe {
            NonNull::new(libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL)).ok_or_else(|| {
                let why = libc::dlerror().as_ref().map(|text| CStr::from_ptr(text).to_string_lossy().into_owned());
                let why = why.unwrap_or_default();
                anyhow!("cannot load {}: {why}; run `claimlab prewarm`", self.dylib.display())
            })
        }
    }
}
