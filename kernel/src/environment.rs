//! The folder and the environment that a session of evcxr needs.
//!
//! evcxr is configured by the process's environment alone, so this is set once, before any thread exists.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cells::RECORD_ENV;
use crate::{outline, prewarm, sources, standin};

/// A session's own folder, removed when the session ends.
#[derive(Debug)]
pub struct SessionFolder {
    path: PathBuf,
}

impl SessionFolder {
    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// This program, as the session started with it.
    pub fn program(&self) -> PathBuf {
        self.path.join("claimlab")
    }

    /// Where rust-analyzer looks for the standard library: a link.
    fn standard_library(&self) -> PathBuf {
        self.path.join("std")
    }

    /// Lets rust-analyzer see the standard library. Until then it sees an empty one: evcxr begins with a cell of its own,
    /// and reads everything again when the library is added to it.
    pub fn show_standard_library(&self) -> Result<()> {
        let (link, next) = (self.standard_library(), self.path.join("std.next"));
        std::os::unix::fs::symlink(outline::standard_library_folder()?, &next)
            .and_then(|()| std::fs::rename(&next, &link))
            .with_context(|| format!("cannot replace {}", link.display()))
    }
}

impl Drop for SessionFolder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes a session's folder. A child that is about to end may still write into it, so it is tried for two seconds; what
/// stays is removed by the next session that finds its owner gone.
pub fn remove(folder: &Path) {
    for _ in 0..40 {
        if std::fs::remove_dir_all(folder).is_ok() || !folder.exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// Creates the folder and points this process's environment at it.
///
/// # Safety
/// Changes the environment: no other thread may run yet.
pub unsafe fn prepare() -> Result<SessionFolder> {
    let folder = create()?;
    let root = sources::workspace()?;
    let (tools, config) = furnish(&folder, &root).with_context(|| {
        format!(
            "cannot fill {}; set CLAIMLAB_SESSIONS to a folder that you can write to and that has room",
            folder.path.display()
        )
    })?;
    let mut path = std::ffi::OsString::from(&tools);
    if let Some(rest) = std::env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    // Found now and kept, since the variable that may name them is set below.
    sources::std_sources()?;
    // A cell must use the very compiler that built the library, whatever folder the notebook lies in.
    let toolchain = sources::rustc(&["--print", "sysroot"])?;
    // SAFETY: the caller promises that no other thread runs.
    unsafe {
        std::env::set_var("PATH", path);
        std::env::set_var(RECORD_ENV, prewarm::record()?);
        std::env::set_var("RUST_SRC_PATH", folder.standard_library());
        std::env::set_var("RUSTUP_TOOLCHAIN", toolchain);
        std::env::set_var("EVCXR_TMPDIR", &folder.path);
        // Neither a user's evcxr prelude nor one in the notebook's folder belongs into this kernel.
        std::env::set_var("EVCXR_CONFIG_DIR", &config);
    }
    Ok(folder)
}

/// Puts into a session's folder what evcxr will want there; returns the folders for programs and for configuration.
fn furnish(folder: &SessionFolder, root: &Path) -> Result<(PathBuf, PathBuf)> {
    let program = std::env::current_exe().context("cannot find the running program's own path")?;
    let (tools, config) = (folder.path.join("bin"), folder.path.join("config"));
    for inner in [&tools, &config] {
        std::fs::create_dir(inner).with_context(|| format!("cannot create {}", inner.display()))?;
    }
    show_empty_standard_library(folder)?;
    // Links of the session's own: the program may be built again while the session lives.
    link_or_copy(&program, &tools.join(standin::NAME))?;
    link_or_copy(&program, &folder.program())?;
    let lock = root.join("Cargo.lock");
    std::fs::copy(&lock, folder.path.join("Cargo.lock"))
        .with_context(|| format!("cannot copy {}; it is there once the workspace is built", lock.display()))?;
    Ok((tools, config))
}

/// For evcxr's own first cell; [`SessionFolder::show_standard_library`] ends it.
fn show_empty_standard_library(folder: &SessionFolder) -> Result<()> {
    let empty = folder.path.join("no-std");
    for part in outline::STANDARD_LIBRARY {
        let source = empty.join(part).join("src");
        std::fs::create_dir_all(&source).with_context(|| format!("cannot create {}", source.display()))?;
        let file = source.join("lib.rs");
        std::fs::write(&file, "").with_context(|| format!("cannot write {}", file.display()))?;
    }
    let link = folder.standard_library();
    std::os::unix::fs::symlink(&empty, &link).with_context(|| format!("cannot create {}", link.display()))
}

fn link_or_copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::hard_link(from, to)
        .or_else(|_| std::fs::copy(from, to).map(|_| ()))
        .with_context(|| format!("cannot link {} to {}", from.display(), to.display()))
}

fn create() -> Result<SessionFolder> {
    let parent = std::env::var_os("CLAIMLAB_SESSIONS").map_or_else(std::env::temp_dir, PathBuf::from);
    let parent = parent.join("claimlab-sessions");
    if parent.to_string_lossy().contains(char::is_whitespace) {
        bail!(
            "{} has a space in its name, which evcxr cannot handle; set CLAIMLAB_SESSIONS to a folder without one",
            parent.display()
        );
    }
    std::fs::create_dir_all(&parent).with_context(|| {
        format!("cannot create {}; set CLAIMLAB_SESSIONS to a folder that you can write to", parent.display())
    })?;
    remove_abandoned(&parent);
    let path = parent.join(format!("{}-{}", std::process::id(), &uuid::Uuid::new_v4().simple().to_string()[..8]));
    std::fs::create_dir(&path).with_context(|| format!("cannot create {}", path.display()))?;
    Ok(SessionFolder { path })
}

/// Removes the folders of sessions whose process is gone (a crash, a power cut).
fn remove_abandoned(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_string_lossy().split_once('-').and_then(|(pid, _)| pid.parse::<u32>().ok());
        if owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) && Path::new("/proc/self").exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
