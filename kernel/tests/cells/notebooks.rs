//! Every notebook, executed by the clients that people have: `claimlab run`, nbclient and papermill.

use std::path::PathBuf;

use super::jupyter::{python, script};
use super::{able, claimlab, one_at_a_time, part, root, skip};

/// What executes a notebook.
#[derive(Debug, Clone, Copy)]
enum By {
    ClaimLab,
    Nbclient,
    Papermill,
}

/// Executes a notebook in its own folder, with these variables set and a lab of its own; returns what was executed.
///
/// Where there is no Python with the client (which is a failure where everything is required), `claimlab run` does it.
fn execute(name: &str, by: By, variables: &[(&str, PathBuf)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (source, out) = (root().join("notebooks").join(name), folder.path().join("out.ipynb"));
    let client = match by {
        By::ClaimLab => None,
        By::Nbclient => Some("nbclient"),
        By::Papermill => Some("papermill"),
    };
    let python = client.and_then(|client| Some((python(name, &["nbclient", "papermill"])?, client)));
    let mut command = match &python {
        Some((python, client)) => {
            let mut command = script(python, "notebooks.py", folder.path());
            command.arg(client).arg(&source).arg(&out);
            command
        }
        None => {
            let mut command = claimlab(&["run", "--output"]);
            command.arg(&out).arg(&source);
            command
        }
    };
    command.env("CLAIMLAB_HOME", folder.path().join("lab")).env_remove("LAB_FULL");
    let output = command.envs(variables.iter().map(|(name, value)| (name, value))).output().unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}");
    println!("{name} by {by:?}: {}", told.lines().last().unwrap_or_default());
    std::fs::read_to_string(&out).unwrap()
}

/// The story that a notebook tells, and what must be in it when it has run.
fn a_notebook_runs(name: &str, by: By, holds: &[&str]) {
    let _one = one_at_a_time();
    if !able(name) {
        return;
    }
    let text = execute(name, by, &[]);
    for one in holds {
        assert!(text.contains(one), "{name} shows no {one}");
    }
}

#[test]
fn the_quickstart_runs_by_every_client_and_shows_tables_and_figures() {
    let _one = one_at_a_time();
    if !able("the_quickstart_runs_by_every_client_and_shows_tables_and_figures") {
        return;
    }
    for by in [By::ClaimLab, By::Nbclient, By::Papermill] {
        let text = execute("quickstart.ipynb", by, &[]);
        assert!(text.matches("text/html").count() >= 8, "tables");
        assert!(text.matches("image/svg+xml").count() >= 2, "figures");
        assert!(text.contains("Claims of the response"), "the opened question");
    }
}

#[test]
fn the_notebook_on_benchmarks_and_corpora_runs() {
    a_notebook_runs("02-benchmarks-and-corpora.ipynb", By::Nbclient, &["text/html"]);
}

#[test]
fn the_notebook_on_retrieval_runs() {
    a_notebook_runs("03-retrieval.ipynb", By::Papermill, &["text/html", "image/svg+xml"]);
}

#[test]
fn the_notebook_on_models_runs_a_real_small_model() {
    if part("smollm2").is_none() {
        return skip("the_notebook_on_models", "SmolLM2 is not there; run tests/fetch-parts", false);
    }
    a_notebook_runs("04-models-and-generation.ipynb", By::Nbclient, &["text/html"]);
}

#[test]
fn the_notebook_on_accuracy_runs() {
    a_notebook_runs("05-rq1-accuracy.ipynb", By::Papermill, &["text/html", "BM25 + SmolLM2-135M"]);
}

#[test]
fn the_notebook_on_checkers_runs() {
    a_notebook_runs("06-rq2-checkers.ipynb", By::Nbclient, &["text/html"]);
}

#[test]
fn the_notebook_on_error_analysis_runs() {
    a_notebook_runs("07-error-analysis.ipynb", By::Papermill, &["text/html", "image/svg+xml"]);
}

#[test]
fn the_notebook_on_judges_runs() {
    a_notebook_runs("08-judge-calibration.ipynb", By::Nbclient, &["text/html"]);
}

#[test]
fn the_gdpr_notebook_runs_on_the_real_act_and_says_how_to_get_it() {
    let _one = one_at_a_time();
    if !able("the_gdpr_notebook_runs_on_the_real_act_and_says_how_to_get_it") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let absent = claimlab(&["run", "notebooks/gdpr.ipynb", "--output"])
        .arg(folder.path().join("out.ipynb"))
        .current_dir(root())
        .env("CLAIMLAB_HOME", folder.path().join("lab"))
        .env_remove("CLAIMLAB_GDPR")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&absent.stderr);
    assert!(!absent.status.success() && told.contains("32016R0679") && told.contains("CLAIMLAB_GDPR"), "{told}");
    let shared = root().join("../shared/data");
    if !shared.join("gdpr").is_dir() {
        return skip("the_gdpr_notebook_runs_on_the_real_act", "the act is not beside the checkout", true);
    }
    let shared = shared.canonicalize().unwrap();
    let variables = [
        ("CLAIMLAB_GDPR", shared.join("gdpr")),
        ("CLAIMLAB_RAGCHECKER", shared.join("claim_checking/checking_outputs.json")),
    ];
    assert!(execute("gdpr.ipynb", By::Papermill, &variables).contains("stated in the file"));
}

#[test]
fn nbclient_and_papermill_end_at_a_cell_that_fails() {
    let _one = one_at_a_time();
    let test = "nbclient_and_papermill_end_at_a_cell_that_fails";
    let (true, Some(python)) = (able(test), python(test, &["nbclient", "papermill"])) else { return };
    let folder = tempfile::tempdir().unwrap();
    let output = script(&python, "notebooks.py", folder.path()).arg("failing").output().unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}");
    println!("{told}");
}
