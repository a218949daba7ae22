//! Records `data/checking/smollm2.jsonl`, the replies of a small real model that notebooks 05 and 06 replay:
//! `cargo bench --profile dev --bench checking_cassette`. The model comes from `tests/fetch-parts`; a few minutes on two cores.
#![allow(clippy::unwrap_used, clippy::expect_used, dead_code)]

#[path = "../tests/it/small_model.rs"]
mod small_model;

use claimlab::prelude::*;

fn main() -> claimlab::Result<()> {
    let Some(file) = small_model::file() else {
        println!("SmolLM2 is not there; run tests/fetch-parts");
        return Ok(());
    };
    // The same at every run, so that one that was stopped goes on.
    let folder = std::env::temp_dir().join("claimlab-checking-cassette");
    let lab = Lab::at(&folder)?;
    // One reply at a time, so that none depends on its neighbours.
    let model = Local::at(&file).slots(1).language_model(small_model::NAME)?.journaled(&lab)?;
    let said = small_model::ask(&lab, &model)?;
    let read =
        |frame: &DataFrame, name: &str| frame.column(name).map_or(0, |column| column.len() - column.null_count());
    println!(
        "{} of {} answers, {} rows of claims, {} of {} verdicts that could be read",
        read(said.answers.frame(), "response"),
        said.answers.height(),
        said.claims.height(),
        read(said.checks.frame(), "label"),
        said.checks.height()
    );
    drop(model);
    let (source, tape) = (lab.folder().join("calls.jsonl"), small_model::tape());
    if let Some(parent) = tape.parent() {
        std::fs::create_dir_all(parent).map_err(|error| Error::file(parent, &error))?;
    }
    std::fs::copy(&source, &tape).map_err(|error| Error::file(&source, &error))?;
    std::fs::remove_dir_all(&folder).map_err(|error| Error::file(&folder, &error))
}
