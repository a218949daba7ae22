//! A small real model as a claim checker on people's labels, beside the embedded checker on the same claims and the score of
//! whoever always says the majority label: `cargo bench --profile dev --bench small_model_checker`.
//!
//! SmolLM2-135M-Instruct comes from `tests/fetch-parts`, the sets from `../shared/data` beside the checkout or from
//! `CLAIMLAB_CHECKING` (a folder with `claim_checking` and `nli_fr`). What is found is written to
//! `tests/golden/small_model_checker.md`. About ten minutes on two cores: larger sets are sampled, by whole answers, with a
//! stated seed.
#![allow(clippy::unwrap_used, clippy::expect_used, dead_code)]

#[path = "../tests/it/checker_tables.rs"]
mod checker_tables;
#[path = "../tests/it/small_model.rs"]
mod small_model;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use checker_tables::{markdown, number, percent};
use claimlab::dataset::checking_sets;
use claimlab::metrics::ConfusionMatrix;
use claimlab::polars::prelude::BooleanChunked;
use claimlab::prelude::*;
use claimlab::study::human_labels;
use claimlab::table::{distinct, texts};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

const SEED: u64 = 20_310_617;

/// A set, how many of its claims are checked, and which view of its labels says something.
struct Set {
    title: &'static str,
    claims: LabelledClaims,
    /// At least so many claims, of whole answers; all where there are fewer.
    sample: usize,
    view: Option<&'static str>,
}

fn sets(folder: &Path) -> claimlab::Result<Vec<Set>> {
    let file = |name: &str| folder.join(name);
    let mut triplets: Option<DataFrame> = None;
    for system in ["gpt4", "claude2", "chatgpt", "alpaca_7B", "davinci001"] {
        let path = file(&format!("claim_checking/msmarco_{system}_answers.json"));
        let part = checking_sets::refchecker(path)?.into_frame();
        triplets = Some(match triplets {
            Some(all) => all.vstack(&part)?,
            None => part,
        });
    }
    Ok(vec![
        Set {
            title: "RTE-3 in French, dev",
            claims: checking_sets::rte3_french(file("nli_fr/RTE3-FR-dev-set-3class.tsv"))?,
            sample: 400,
            view: None,
        },
        Set {
            title: "DACCORD, contradiction or not (French)",
            claims: checking_sets::daccord(file("nli_fr/daccord_dataset.tsv"))?,
            sample: 400,
            view: Some("contradiction"),
        },
        Set {
            title: "RefChecker's MS MARCO triplets, five systems (English)",
            claims: LabelledClaims::new(triplets.unwrap_or_default())?,
            sample: 400,
            view: None,
        },
        Set {
            title: "WiCE dev claims, supported or not (English)",
            claims: checking_sets::wice(file("claim_checking/wice_dev.jsonl"))?,
            sample: 60,
            view: Some("entailment"),
        },
    ])
}

/// Whole answers in a random order until there are enough claims, and how many answers these are.
fn sampled(set: &Set) -> claimlab::Result<(LabelledClaims, usize)> {
    let frame = set.claims.frame();
    let owners = texts(frame, "question_id")?;
    let mut answers = distinct(frame, "question_id")?;
    answers.shuffle(&mut ChaCha8Rng::seed_from_u64(SEED));
    let (mut chosen, mut claims) = (HashSet::new(), 0);
    for answer in answers {
        if claims >= set.sample {
            break;
        }
        claims += owners.iter().filter(|owner| owner.as_deref() == Some(answer.as_str())).count();
        chosen.insert(answer);
    }
    let is_chosen = |owner: &Option<String>| owner.as_ref().is_some_and(|owner| chosen.contains(owner));
    let mask: BooleanChunked = owners.iter().map(is_chosen).collect();
    Ok((LabelledClaims::new(frame.filter(&mask)?)?, chosen.len()))
}

fn seen(matrix: ConfusionMatrix, view: Option<&str>) -> claimlab::Result<ConfusionMatrix> {
    view.map_or(Ok(matrix.clone()), |label| matrix.binary(label))
}

fn main() -> claimlab::Result<()> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let folder = std::env::var_os("CLAIMLAB_CHECKING").map_or(beside, PathBuf::from);
    let Some(file) = small_model::file() else {
        println!("SmolLM2 is not there; run tests/fetch-parts");
        return Ok(());
    };
    let model = Local::at(&file).slots(1).language_model(small_model::NAME)?;
    let checkers = [Checker::likelihood(&model), Checker::lexical()];
    let mut rows = String::new();
    let mut sections = String::new();
    for set in sets(&folder)? {
        let (claims, answers) = sampled(&set)?;
        let labels = human_labels(&claims)?;
        let about = format!(
            "{} of {} claims, of {answers} answers drawn with seed {SEED}",
            claims.height(),
            set.claims.height()
        );
        println!("{}: {about}", set.title);
        let mut told = Vec::new();
        for checker in &checkers {
            let began = Instant::now();
            let checks = checker.check_labelled(&claims)?;
            println!("  {}: {:.0} s", checker.name(), began.elapsed().as_secs_f64());
            let matrix = seen(CheckerReport::new(&checks, &labels)?.confusion(), set.view)?;
            sections += &markdown(&format!("### {}: {}", set.title, checker.name()), &matrix);
            if matrix.unanswered() > 0 {
                sections += &format!(
                    "\n{} more checks failed, the text being longer than the model's context; they are in no share.\n",
                    matrix.unanswered()
                );
            }
            sections += "\n";
            told.push(matrix);
        }
        sections += &format!("{about}.\n\n");
        rows += &format!("| {} | {} | {} |", set.title, claims.height(), percent(told[0].majority()));
        told.iter()
            .for_each(|one| rows += &format!(" {} | {} |", percent(one.accuracy()), number(one.balanced_accuracy())));
        rows += "\n";
    }
    let text = format!(
        "# A small real model as a checker, on people's labels\n\n\
         SmolLM2-135M-Instruct (Q4_1), asked about one claim at a time, with the labels weighed by their log-probabilities \
         (`Checker::likelihood`): a model of 135 million parameters that was not trained for this. Beside it the embedded \
         checker on the same claims, and what always saying the majority label would score. Written by \
         `cargo bench --profile dev --bench small_model_checker`.\n\n\
         | set | claims | majority label % | SmolLM2 % right | balanced | lexical % right | balanced |\n\
         |---|---:|---:|---:|---:|---:|---:|\n{rows}\n{}\n",
        sections.trim_end()
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/small_model_checker.md");
    std::fs::write(&path, text).map_err(|error| Error::file(&path, &error))?;
    println!("{}", path.display());
    Ok(())
}
