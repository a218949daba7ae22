//! Cells through the real kernel: over the wire protocol, and headless.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

#[path = "cells/full.rs"]
mod full;
#[path = "cells/headless.rs"]
mod headless;
#[path = "cells/jupyter.rs"]
mod jupyter;
#[path = "cells/notebooks.rs"]
mod notebooks;
#[path = "cells/wire.rs"]
mod wire;

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One session at a time: two would share the machine's cores and memory for nothing.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn claimlab(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_claimlab"));
    command.args(arguments);
    command
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Says that a test did not run, and why; a failure where everything is required.
fn skip(test: &str, why: &str, may_be_absent: bool) {
    let required = std::env::var("CLAIMLAB_REQUIRE").is_ok_and(|value| value == "all");
    assert!(may_be_absent || !required, "{test} was skipped although CLAIMLAB_REQUIRE=all: {why}");
    eprintln!("SKIPPED {test}: {why}");
}

/// A real small model that `tests/fetch-parts` has fetched.
fn part(name: &str) -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/claimlab/parts"));
    let folder = std::env::var_os("CLAIMLAB_PARTS").map(PathBuf::from).or_else(home)?;
    Some(folder.join(name)).filter(|found| found.exists())
}

/// Whether sessions can start here; they need the standard library's sources.
fn able(test: &str) -> bool {
    let doctor = claimlab(&["doctor"]).output().unwrap();
    if !doctor.status.success() {
        let told = String::from_utf8_lossy(&doctor.stdout).into_owned();
        let why = told.lines().find(|line| line.starts_with("MISSING")).unwrap_or("the doctor fails").to_owned();
        skip(test, &why, false);
    }
    doctor.status.success()
}
