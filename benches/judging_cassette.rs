//! Records the bundled cassette `data/judging/cassette.jsonl` anew, from scripted judges of known error rates.
//!
//! `cargo bench --profile dev --bench judging_cassette`
#![allow(clippy::unwrap_used, clippy::expect_used, dead_code)]

#[path = "../tests/it/scripted_judge.rs"]
mod scripted_judge;

use std::sync::Arc;

use claimlab::judging::{Judge, JudgePrompt, JudgingSet};
use claimlab::model::LanguageModel;
use claimlab::prelude::*;
use claimlab::table::Attempts;

fn main() -> claimlab::Result<()> {
    let folder = std::env::temp_dir().join(format!("claimlab-cassette-{}", std::process::id()));
    let lab = Lab::at(&folder)?;
    let set = JudgingSet::sample()?;
    let [lenient, strict] = scripted_judge::judges(&set);
    let lenient = LanguageModel::new("scripted-lenient", Arc::new(lenient)).journaled(&lab)?;
    let strict = LanguageModel::new("scripted-strict", Arc::new(strict)).journaled(&lab)?;
    // What is calibrated is one system's answers; the other's are judged by the chosen judge alone.
    let calibrated = set.with_attempts(&Attempts::new(set.attempts().only("system", "alder")?.into_frame())?)?;
    for (model, prompt, repeats, of) in [
        (&lenient, JudgePrompt::baseline(), 1, &calibrated),
        (&strict, JudgePrompt::baseline(), 1, &calibrated),
        (&lenient, JudgePrompt::every_part(), 2, &calibrated),
        (&lenient, JudgePrompt::every_part(), 1, &set),
    ] {
        let verdicts = Judge::new(model, &prompt).repeats(repeats).one_by_one(of)?;
        println!("{} {}: {} verdicts", model.name(), prompt.label(), verdicts.height());
    }
    let verdicts = Judge::new(&lenient, &JudgePrompt::every_part()).batched(&calibrated, 5)?;
    println!("batched: {} verdicts", verdicts.height());
    drop((lenient, strict));
    let target = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data/judging/cassette.jsonl");
    let source = lab.folder().join("calls.jsonl");
    std::fs::copy(&source, &target).map_err(|error| Error::file(&source, &error))?;
    std::fs::remove_dir_all(&folder).map_err(|error| Error::file(&folder, &error))
}
