//! The kernel under the real clients: jupyter_client, and JupyterLab in a browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{able, one_at_a_time, part, skip};

/// A Python that has these modules.
pub fn python(test: &str, modules: &[&str]) -> Option<PathBuf> {
    let program = std::env::var_os("CLAIMLAB_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let imports = format!("import {}", modules.join(", "));
    let found = Command::new(&program).args(["-c", &imports]).output().is_ok_and(|output| output.status.success());
    if !found {
        let why = format!("{} lacks one of {modules:?}; set CLAIMLAB_PYTHON to one that has them", program.display());
        skip(test, &why, false);
    }
    found.then_some(program)
}

/// A script of `tests/jupyter`, called with the kernel's program and a folder to work in.
pub fn script(python: &Path, name: &str, folder: &Path) -> Command {
    let mut command = Command::new(python);
    command
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jupyter").join(name))
        .arg(env!("CARGO_BIN_EXE_claimlab"))
        .arg(folder)
        .env("CLAIMLAB_HOME", folder.join("lab"));
    command
}

/// Runs a script over a kernel of its own; what it prints is the test's output.
fn keeps(test: &str, name: &str) {
    let _one = one_at_a_time();
    let (true, Some(python)) = (able(test), python(test, &["jupyter_client", "zmq"])) else { return };
    let folder = tempfile::tempdir().unwrap();
    succeeds(&mut script(&python, name, folder.path()));
}

fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}");
    println!("{told}");
}

#[test]
fn the_kernel_keeps_its_promises_over_the_wire() {
    keeps("the_kernel_keeps_its_promises_over_the_wire", "protocol.py");
}

#[test]
fn what_cells_do_to_their_process_harms_no_session() {
    keeps("what_cells_do_to_their_process_harms_no_session", "sessions.py");
}

#[test]
fn a_start_or_an_end_that_goes_wrong_says_why_and_leaves_nothing() {
    keeps("a_start_or_an_end_that_goes_wrong_says_why_and_leaves_nothing", "starts.py");
}

#[test]
fn a_real_model_is_interrupted_without_being_lost() {
    let _one = one_at_a_time();
    let test = "a_real_model_is_interrupted_without_being_lost";
    let Some(model) = part("smollm2/SmolLM2-135M-Instruct.Q4_1.gguf") else {
        return skip(test, "SmolLM2 is not there; run tests/fetch-parts", false);
    };
    let (true, Some(python)) = (able(test), python(test, &["jupyter_client", "zmq"])) else { return };
    let folder = tempfile::tempdir().unwrap();
    succeeds(script(&python, "models.py", folder.path()).arg(&model));
}

#[test]
fn jupyterlab_runs_a_notebook_in_a_browser() {
    let _one = one_at_a_time();
    let test = "jupyterlab_runs_a_notebook_in_a_browser";
    let (true, Some(python)) = (able(test), python(test, &["jupyterlab", "playwright"])) else { return };
    let browsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    let Some(browser) = browsers.iter().map(Path::new).find(|browser| browser.is_file()) else {
        return skip(test, "there is no Chromium", false);
    };
    // Screenshots stay, so that a person can look at them.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("jupyterlab");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    succeeds(script(&python, "lab.py", &folder).arg(browser));
}
