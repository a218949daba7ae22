//! What rust-analyzer reads instead of the sources: the same items without bodies and comments.
//!
//! evcxr asks its rust-analyzer for the types of a cell's variables. Over the real sources it reads some ten thousand
//! files first (the library's whole tree and the standard library); bodies of functions never matter to it, and
//! neither do crates that no public signature names. The outline keeps the library, polars and the few crates whose
//! types appear in signatures; rustc never sees it.

mod crates;
mod strip;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::sources;

/// The standard library's packages that rust-analyzer looks for.
pub const STANDARD_LIBRARY: [&str; 4] = ["core", "alloc", "std", "proc_macro"];

/// How long an outline of other sources is kept for sessions that may still read it.
const KEPT: std::time::Duration = std::time::Duration::from_hours(48);

/// Makes the outlines of the sources as they are now, unless they are there; returns the library's package.
pub fn ensure(progress: &dyn Fn(&str)) -> Result<PathBuf> {
    standard_library(progress)?;
    let parent = folder()?;
    let folder = parent.join(digest()?);
    let library = folder.join("claimlab");
    if !library.join("Cargo.toml").is_file() {
        progress("Outlining the library for rust-analyzer");
        remove_old(&parent);
        in_one_step(&folder, |temporary| crates::write(temporary, &parent.join("registry")))?;
    }
    Ok(library)
}

/// A name for the sources as they are: every file of ours with its length and time, the lock file, this program.
fn digest() -> Result<String> {
    let root = sources::workspace()?;
    let mut print = Sha256::new();
    print.update(env!("CARGO_PKG_VERSION"));
    print.update(std::fs::read(root.join("Cargo.lock")).context("the workspace has no Cargo.lock; build it once")?);
    print.update(std::fs::read(root.join("Cargo.toml")).context("the workspace has no Cargo.toml")?);
    let mut files = Vec::new();
    for folder in ["src", "kernel/protocol/src"] {
        rust_files(&root.join(folder), &mut files)?;
    }
    files.sort();
    for file in files {
        let about = std::fs::metadata(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let time = about.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        print.update(file.to_string_lossy().as_bytes());
        print.update(about.len().to_le_bytes());
        print.update(time.unwrap_or_default().as_nanos().to_le_bytes());
    }
    Ok(print.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// Every `.rs` file below a folder; links are not followed.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
        let kind = entry.file_type().with_context(|| format!("cannot read {}", entry.path().display()))?;
        if kind.is_dir() {
            rust_files(&entry.path(), found)?;
        } else if kind.is_file() && entry.path().extension().is_some_and(|extension| extension == "rs") {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// Writes the outline of every file below `from` to the same place below `to`.
fn outline_folder(from: &Path, to: &Path, keep_docs: bool) -> Result<()> {
    let mut files = Vec::new();
    rust_files(from, &mut files)?;
    for file in files {
        let place = to.join(file.strip_prefix(from).context("a source file lies outside its folder")?);
        let text = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let outline = strip::strip(&String::from_utf8_lossy(&text), keep_docs);
        if let Some(parent) = place.parent() {
            std::fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        }
        std::fs::write(&place, outline).with_context(|| format!("cannot write {}", place.display()))?;
    }
    Ok(())
}

/// Where the standard library's outline lies, or will.
pub fn standard_library_folder() -> Result<PathBuf> {
    let real = sources::std_sources()?;
    let name: String = Sha256::digest(format!("{}{}", real.display(), sources::rustc(&["-V"])?).as_bytes())
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(folder()?.join(format!("std-{name}")))
}

/// The standard library without its packages' manifests, so that rust-analyzer puts it together by itself instead of
/// asking cargo, which would want the packages below it.
fn standard_library(progress: &dyn Fn(&str)) -> Result<()> {
    let real = sources::std_sources()?;
    let folder = standard_library_folder()?;
    if folder.join("core/src/lib.rs").is_file() {
        return Ok(());
    }
    progress("Outlining the standard library for rust-analyzer");
    in_one_step(&folder, |temporary| {
        for part in STANDARD_LIBRARY {
            let from = real.join(part).join("src");
            if from.is_dir() {
                outline_folder(&from, &temporary.join(part).join("src"), false)?;
            }
        }
        Ok(())
    })
}

fn folder() -> Result<PathBuf> {
    Ok(sources::target_dir()?.join("claimlab-outline"))
}

/// Fills a folder under a temporary name, then gives it its own; one that another process finished first stands.
fn in_one_step(folder: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let temporary = folder.with_extension(format!("tmp{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&temporary);
    std::fs::create_dir_all(&temporary).with_context(|| format!("cannot create {}", temporary.display()))?;
    fill(&temporary)?;
    if std::fs::rename(&temporary, folder).is_err() {
        let _ = std::fs::remove_dir_all(&temporary);
        anyhow::ensure!(folder.is_dir(), "cannot write {}", folder.display());
    }
    Ok(())
}

fn remove_old(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let age = entry.metadata().ok().and_then(|about| about.modified().ok()).and_then(|time| time.elapsed().ok());
        if name != "registry" && !name.starts_with("std-") && age.is_some_and(|age| age > KEPT) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
