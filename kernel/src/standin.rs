//! The stand-in for cargo that compiles a cell.
//!
//! evcxr runs `cargo build` for every cell. Over this library's 570 packages its freshness check alone takes half a
//! second, and it would build all of them again under flags of its own. When a program named `mold` is on PATH,
//! evcxr starts cargo through it; in a session that program is this one. For a cell that uses no crate but the
//! library it calls rustc at once, against the shared library that the workspace's own build made. A session that
//! asked for other crates (`:dep`) goes through the real cargo, and only the cell's own call of rustc is completed.
//!
//! The shared library contains the standard library, so cells must take theirs from it too: naming the archive
//! (`--extern std=…rlib`) hides the toolchain's `libstd.so`, which would be a second one. The linker does not see the
//! library ([`crate::metadata`]); the child has loaded it when a cell comes.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::cells::{Cells, RECORD_ENV};
use crate::session::build_log;

/// The name under which evcxr looks for a linker driver.
pub const NAME: &str = "mold";
/// Marks a call of this program as the wrapper around rustc, set for the real cargo below.
const WRAPPER_ENV: &str = "CLAIMLAB_RUSTC_WRAPPER";
/// evcxr's name for the crate that holds a cell.
const CELL_CRATE: &str = "ctx";

/// Whether this process was started as the stand-in.
pub fn is_asked() -> bool {
    std::env::var_os(WRAPPER_ENV).is_some()
        || std::env::args_os().next().is_some_and(|name| Path::new(&name).file_stem() == Some(OsStr::new(NAME)))
}

/// Compiles the cell in the current folder.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let done = if std::env::var_os(WRAPPER_ENV).is_some() { wrap(&arguments) } else { stand_in(&arguments) };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // evcxr shows errors that look like the compiler's; anything else drowns in its own report.
            let message = json!({"message": format!("{error:#}"), "level": "error", "spans": [], "children": [],
                "code": null, "rendered": format!("error: {error:#}\n")});
            println!("{}", json!({"reason": "compiler-message", "message": message}));
            ExitCode::FAILURE
        }
    }
}

/// `-run CARGO [--offline] build|check|clean …`
fn stand_in(arguments: &[OsString]) -> Result<u8> {
    let [run, cargo, rest @ ..] = arguments else { bail!("unexpected call of the stand-in for {NAME}") };
    if run != "-run" {
        bail!("unexpected call of the stand-in for {NAME}");
    }
    let manifest = std::fs::read_to_string("Cargo.toml").context("the cell's folder has no Cargo.toml")?;
    let dependencies = Dependencies::read(&manifest);
    let wants = |name: &str| rest.iter().any(|argument| argument == name);
    if wants("clean") {
        return Ok(0);
    }
    if dependencies.others.is_empty() && (wants("build") || wants("check")) {
        let cells = dependencies.library.then(record).transpose()?;
        return compile(cells.as_ref(), wants("check"));
    }
    with_cargo(cargo, rest, &manifest, &dependencies)
}

fn record() -> Result<Cells> {
    let file = std::env::var_os(RECORD_ENV).map(PathBuf::from).context("the session did not name its library")?;
    Cells::read(&file)
}

/// What a cell's manifest depends on.
#[derive(Debug, Default, PartialEq)]
struct Dependencies {
    library: bool,
    others: Vec<String>,
}

impl Dependencies {
    fn read(manifest: &str) -> Self {
        let mut found = Self::default();
        let section = manifest.split_once("[dependencies]").map_or("", |(_, after)| after);
        for line in section.lines() {
            match line.split_once('=').map(|(name, _)| name.trim()) {
                Some("claimlab") => found.library = true,
                Some(name) if !name.is_empty() && !name.starts_with('#') => found.others.push(name.to_owned()),
                _ => {}
            }
        }
        found
    }
}

fn rustc() -> OsString {
    std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())
}

/// What makes a cell link the shared library, and nothing twice.
fn library_arguments(cells: &Cells) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    let named = |prefix: &str, path: &Path| {
        let mut text = OsString::from(prefix);
        text.push(path);
        text
    };
    for archive in [cells.std_archive.clone(), cells.std_archive.with_extension("rmeta")] {
        arguments.extend(["--extern".into(), named("std=", &archive)]);
    }
    arguments.extend(["--extern".into(), named("claimlab=", &cells.metadata)]);
    arguments.extend(["-L".into(), named("dependency=", &cells.deps)]);
    if cells.metadata == cells.dylib {
        let folder = cells.dylib.parent().unwrap_or(Path::new("."));
        arguments.push(named("-Clink-arg=-Wl,-rpath,", folder));
    }
    arguments
}

/// Calls rustc itself and reports as cargo would.
fn compile(cells: Option<&Cells>, only_check: bool) -> Result<u8> {
    let folder = std::env::current_dir().context("the cell's folder is gone")?.join("target/cells");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut rustc = Command::new(rustc());
    rustc
        .args(["--crate-name", CELL_CRATE, "--edition=2024", "src/lib.rs", "--crate-type", "cdylib"])
        .args(["--error-format=json", "--json=diagnostic-rendered-ansi,artifacts,future-incompat"])
        .args(["-C", "opt-level=0", "-C", "debuginfo=0", "-C", "strip=debuginfo", "-C", "codegen-units=4"])
        .arg(if only_check { "--emit=metadata" } else { "--emit=link" })
        .arg("--out-dir")
        .arg(&folder);
    if let Some(cells) = cells {
        rustc.args(library_arguments(cells));
    }
    let output = rustc.stdin(Stdio::null()).output().context("cannot run rustc")?;
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        match serde_json::from_str::<serde_json::Value>(line) {
            Ok(message) if message.get("message").is_some() => {
                println!("{}", json!({"reason": "compiler-message", "message": message}));
            }
            Ok(_) => {}
            Err(_) => eprintln!("{line}"),
        }
    }
    let name = format!("{}{CELL_CRATE}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let filenames = [folder.join(name)];
    if output.status.success() {
        println!("{}", json!({"reason": "compiler-artifact", "target": {"name": CELL_CRATE}, "filenames": filenames}));
    }
    Ok(if output.status.success() { 0 } else { 101 })
}

/// Lets the real cargo build the session's other crates, in a folder of their own whose manifest leaves the library
/// out, and this program complete the cell's call of rustc.
fn with_cargo(cargo: &OsStr, arguments: &[OsString], manifest: &str, dependencies: &Dependencies) -> Result<u8> {
    let manifest: String = manifest
        .lines()
        .filter(|line| line.split_once('=').is_none_or(|(name, _)| name.trim() != "claimlab"))
        .map(|line| line.replace("src/lib.rs", "../src/lib.rs") + "\n")
        .collect();
    std::fs::create_dir_all("with-crates").context("cannot create a folder for other crates")?;
    std::fs::write("with-crates/Cargo.toml", manifest).context("cannot write the cell's manifest")?;
    refuse_second_polars(cargo, dependencies)?;
    let mut cargo = Command::new(cargo);
    cargo
        .args(arguments)
        .current_dir("with-crates")
        .env("RUSTC_WRAPPER", std::env::current_exe().context("cannot find the running program's own path")?)
        .env(WRAPPER_ENV, if dependencies.library { "library" } else { "plain" })
        .env("CARGO_TARGET_DIR", std::env::current_dir()?.join("with-crates/target"))
        .env_remove("RUSTFLAGS")
        .stderr(Stdio::piped());
    let mut cargo = cargo.spawn().context("cannot run cargo")?;
    if let Some(told) = cargo.stderr.take() {
        follow(told)?;
    }
    let status = cargo.wait().context("cargo went away")?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(101))
}

/// Keeps what cargo says where the session follows it.
fn follow(told: impl std::io::Read) -> Result<()> {
    let mut log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(build_log::NAME)
        .context("cannot write the log of the build")?;
    for line in BufReader::new(told).lines().map_while(Result::ok) {
        // "Compiling ctx" and "Finished" come with every cell and tell nobody anything.
        if !line.contains("Finished") && !line.contains(&format!("Compiling {CELL_CRATE} ")) {
            writeln!(log, "{line}").context("cannot write the log of the build")?;
        }
        eprintln!("{line}");
    }
    Ok(())
}

/// A crate that brings polars of its own would have frames that only look like the library's.
fn refuse_second_polars(cargo: &OsStr, dependencies: &Dependencies) -> Result<()> {
    if !dependencies.library {
        return Ok(());
    }
    let output = Command::new(cargo)
        .args(["tree", "--edges", "normal", "--prefix", "none", "--invert", "polars-core"])
        .current_dir("with-crates")
        .output()
        .context("cannot run cargo")?;
    if output.status.success() && !output.stdout.is_empty() {
        let told = String::from_utf8_lossy(&output.stdout);
        let who = told.lines().find_map(|line| {
            let name = line.split_whitespace().next()?;
            dependencies.others.iter().find(|other| other.as_str() == name || other.replace('-', "_") == name)
        });
        bail!(
            "`:dep {}` would bring a second polars into this session, whose frames the library does not know. Use the \
             library's own instead: `use claimlab::polars::prelude::*;`",
            who.map_or("…", |name| name)
        );
    }
    Ok(())
}

/// `RUSTC ARGUMENTS…`, as cargo calls a wrapper.
fn wrap(arguments: &[OsString]) -> Result<u8> {
    let [program, rest @ ..] = arguments else { bail!("unexpected call of the wrapper around rustc") };
    let mut rustc = Command::new(program);
    rustc.args(rest);
    let is_cell = rest.windows(2).any(|pair| pair[0] == "--crate-name" && pair[1] == CELL_CRATE);
    if is_cell && std::env::var_os(WRAPPER_ENV).is_some_and(|kind| kind == "library") {
        rustc.args(library_arguments(&record()?));
    }
    let status = rustc.status().context("cannot run rustc")?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(101))
}

#[cfg(test)]
mod tests {
    use super::Dependencies;

    #[test]
    fn tells_the_library_from_other_crates() {
        let manifest = "[package]\nname = \"ctx\"\n[dependencies]\nclaimlab = { path = \"/x\" }\nitoa = \"1\"\n";
        let found = Dependencies::read(manifest);
        assert_eq!(found, Dependencies { library: true, others: vec!["itoa".to_owned()] });
        assert_eq!(Dependencies::read("[package]\nname = \"ctx\"\n"), Dependencies::default());
    }
}
