//! Builds what cells link against: the library as ONE shared object.
//!
//! It is the workspace's ordinary build, over all default members at once, so that features are unified as for
//! `cargo test` and `cargo run` and no third-party crate is ever compiled a second time.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::cells::Cells;
use crate::{metadata, sources};

/// Prints build progress on standard error.
pub fn to_stderr(line: &str) {
    static BEGAN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    eprintln!("[{:6.2}] {line}", BEGAN.get_or_init(std::time::Instant::now).elapsed().as_secs_f64());
}

/// Builds the shared library if it is not fresh; `progress` gets cargo's lines ("Compiling …") as they come.
pub fn ensure(progress: &dyn Fn(&str)) -> Result<()> {
    let root = sources::workspace()?;
    let target = sources::target_dir()?;
    let mut command = Command::new("cargo");
    as_if_typed(&mut command);
    let mut cargo = command
        .args(["build", "--message-format", "json-render-diagnostics"])
        .arg("--target-dir")
        .arg(&target)
        .current_dir(&root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot run `cargo`; install Rust with rustup (https://rustup.rs)")?;
    let (Some(stdout), Some(stderr)) = (cargo.stdout.take(), cargo.stderr.take()) else {
        bail!("cargo was started without its output");
    };
    let messages = std::thread::spawn(move || {
        let mut text = Vec::new();
        BufReader::new(stdout).read_to_end(&mut text).map(|_| text)
    });
    let mut last = Vec::new();
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        let line = line.trim();
        if !line.starts_with("Finished") && !line.is_empty() {
            progress(line);
        }
        last.push(line.to_owned());
    }
    let status = cargo.wait().context("cargo went away")?;
    let messages = messages.join().map_err(|_| anyhow::anyhow!("reading cargo's messages failed"))??;
    if !status.success() {
        let tail = last.iter().rev().take(40).rev().cloned().collect::<Vec<_>>().join("\n");
        bail!(
            "building the library for notebook cells failed ({status}):\n{tail}\nWhen `claimlab prewarm` succeeds in a \
             terminal, restart the kernel."
        );
    }
    let dylib = find_dylib(&messages).context("cargo did not say where the library for cells lies")?;
    let deps = dylib.parent().map(|folder| folder.join("deps")).unwrap_or_default();
    let metadata = metadata::of(&dylib, progress);
    let built = Cells { deps, dylib, metadata, std_archive: std_archive()?, rustc_version: sources::rustc(&["-V"])? };
    built.write(&record()?)
}

/// Takes away what an enclosing `cargo run` sets: build scripts of third-party crates watch some of it, and left in
/// place it would make half of the tree look changed.
pub fn as_if_typed(command: &mut Command) {
    let prefixes = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];
    let names = ["CARGO_PRIMARY_PACKAGE", "CARGO_TARGET_DIR", "RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC", "LD_LIBRARY_PATH"];
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if prefixes.iter().any(|prefix| text.starts_with(prefix)) || names.contains(&text.as_ref()) {
            command.env_remove(&name);
        }
    }
}

/// The file that records what was built.
pub fn record() -> Result<PathBuf> {
    Ok(sources::target_dir()?.join("claimlab-cells.json"))
}

/// `libstd-….rlib` of the toolchain.
fn std_archive() -> Result<PathBuf> {
    let folder = PathBuf::from(sources::rustc(&["--print", "target-libdir"])?);
    let is_std = |name: &str| name.starts_with("libstd-") && name.ends_with(".rlib");
    std::fs::read_dir(&folder)
        .with_context(|| format!("cannot list {}", folder.display()))?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_std))
        .with_context(|| format!("no standard library archive in {}", folder.display()))
}

fn find_dylib(messages: &[u8]) -> Option<PathBuf> {
    String::from_utf8_lossy(messages)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact" && message["target"]["name"] == "claimlab_dylib")
        .flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default())
        .filter_map(|name| name.as_str().map(PathBuf::from))
        .find(|path| path.extension().is_some_and(|kind| kind == std::env::consts::DLL_EXTENSION))
}
