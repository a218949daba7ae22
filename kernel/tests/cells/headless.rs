//! `claimlab run` and the other commands.

use std::path::Path;

use super::{able, claimlab, one_at_a_time};

fn notebook(cells: &[&str]) -> String {
    let cells: Vec<_> = cells
        .iter()
        .enumerate()
        .map(|(place, code)| {
            serde_json::json!({"cell_type": "code", "id": format!("c{place}"), "metadata": {}, "source": [code],
                "execution_count": null, "outputs": []})
        })
        .collect();
    serde_json::json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).to_string()
}

fn outputs(file: &Path) -> Vec<serde_json::Value> {
    let book: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let cells = book["cells"].as_array().unwrap().iter();
    cells.filter(|cell| cell["cell_type"] == "code").map(|cell| cell["outputs"].clone()).collect()
}

#[test]
fn an_empty_shelf_says_how_to_fill_it() {
    let _one = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let models = |arguments: &[&str]| {
        let output = claimlab(&["models"]).args(arguments).env("CLAIMLAB_HOME", folder.path()).output().unwrap();
        let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.success(), told)
    };
    let (listed, told) = models(&["list"]);
    assert!(listed && told.contains("lab.toml") && told.contains("[models."), "{told}");
    let (verified, told) = models(&["verify", "smollm2"]);
    assert!(!verified && told.contains("it is empty") && told.contains("[models.smollm2]"), "{told}");
    std::fs::write(folder.path().join("lab.toml"), "[models.far]\nendpoint = \"http://localhost:1/v1\"").unwrap();
    let (listed, told) = models(&["list"]);
    assert!(listed && told.contains("far") && told.contains("remote"), "{told}");
    std::fs::write(folder.path().join("lab.toml"), "[models.far]\nendpoinnt = \"x\"").unwrap();
    let (listed, told) = models(&["list"]);
    assert!(!listed && told.contains("line 2") && told.contains("endpoinnt"), "{told}");
}

#[test]
fn prewarming_after_the_tests_were_built_compiles_no_third_party_crate() {
    let _one = one_at_a_time();
    let output = claimlab(&["prewarm"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let foreign: Vec<&str> =
        told.lines().filter(|line| line.contains("Compiling") && !line.contains("claimlab")).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

#[test]
fn a_missing_or_broken_notebook_is_named_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.ipynb");
    std::fs::write(&broken, "{\"cells\": [").unwrap();
    for (file, words) in [("no/such.ipynb".into(), "no notebook at"), (broken, "is not a notebook")] {
        let file: std::path::PathBuf = file;
        let run = claimlab(&["run"]).arg(&file).output().unwrap();
        let told = String::from_utf8_lossy(&run.stderr);
        assert!(!run.status.success() && told.contains(words) && told.contains(&file.display().to_string()), "{told}");
    }
}

#[test]
fn a_failing_cell_is_shown_what_came_before_is_kept_and_a_slow_one_is_stopped() {
    let _one = one_at_a_time();
    if !able("a_failing_cell_is_shown") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fails.ipynb");
    std::fs::write(&file, notebook(&["println!(\"before\");", "Lab::at(\"/proc/no\")?;", "println!(\"after\");"]))
        .unwrap();
    let run = claimlab(&["run"]).arg(&file).output().unwrap();
    let told = String::from_utf8_lossy(&run.stderr);
    assert!(
        !run.status.success() && told.contains("Cell 2") && told.contains("/proc/no") && told.contains("CLAIMLAB_HOME"),
        "{told}"
    );
    let kept = outputs(&folder.path().join("fails.executed.ipynb"));
    assert!(
        kept[0].to_string().contains("before")
            && kept[1].to_string().contains("Error")
            && kept[2] == serde_json::json!([])
    );

    std::fs::write(&file, notebook(&["loop { std::thread::sleep(std::time::Duration::from_millis(50)); }"])).unwrap();
    let run = claimlab(&["run", "--timeout", "5"]).arg(&file).output().unwrap();
    let told = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success() && told.contains("longer than 5 s"), "{told}");
}

#[test]
fn the_kernelspec_names_this_program_and_the_message_interrupt() {
    let folder = tempfile::tempdir().unwrap();
    let run = claimlab(&["install", "--prefix"]).arg(folder.path()).output().unwrap();
    assert!(run.status.success());
    let text = std::fs::read_to_string(folder.path().join("share/jupyter/kernels/claimlab/kernel.json")).unwrap();
    let spec: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(spec["interrupt_mode"], "message");
    assert!(spec["argv"][0].as_str().unwrap().ends_with("claimlab"));
}
