//! The lexical checker on people's labels: counts that the README shows, kept in `golden/checker_accuracy.md`.
//!
//! The public sets were never used to tune it. Run with `CLAIMLAB_ACCEPT=1` to write the file anew after a change of the
//! checker, and look at the difference before committing it.

use claimlab::dataset::checking_sets;
use claimlab::metrics::ConfusionMatrix;
use claimlab::prelude::*;
use claimlab::study::{CheckerReport, human_labels};

use crate::checker_tables::markdown;

fn report(claims: &LabelledClaims) -> CheckerReport {
    let checks = Checker::lexical().check_labelled(claims).unwrap();
    CheckerReport::new(&checks, &human_labels(claims).unwrap()).unwrap()
}

/// The sections of the committed file, each from its `###` line to the next.
fn committed() -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/checker_accuracy.md");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split("### ").skip(1).map(|part| format!("### {}", part.trim_end())).collect()
}

fn agree(sections: &[String]) {
    let known = committed();
    for section in sections {
        println!("{section}\n");
        let title = section.lines().next().unwrap();
        let found = known.iter().find(|part| part.lines().next() == Some(title));
        assert_eq!(found.map(String::as_str), Some(section.trim_end()), "golden/checker_accuracy.md differs");
    }
}

/// Our own sample: the labels are its authors'.
fn on_the_sample() -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let claims = Lab::at(folder.path()).unwrap().sample().unwrap().labelled_claims().unwrap();
    [("en", "English"), ("fr", "French")]
        .iter()
        .map(|(code, name)| {
            let matrix = report(&claims.only("language", code).unwrap()).confusion();
            markdown(&format!("### Lexical checker, the sample in {name} (labels of its authors)"), &matrix)
        })
        .collect()
}

fn on_public_sets() -> Option<Vec<String>> {
    let file = |name: &str| super::shared(&format!("data/{name}"));
    let mut sections = Vec::new();
    let mut whole: Option<ConfusionMatrix> = None;
    for system in ["gpt4", "claude2", "chatgpt", "alpaca_7B", "davinci001"] {
        let path = file(&format!("claim_checking/msmarco_{system}_answers.json"))?;
        let matrix = report(&checking_sets::refchecker(path).unwrap()).confusion();
        match &mut whole {
            Some(whole) => whole.add(&matrix).unwrap(),
            None => whole = Some(matrix),
        }
    }
    sections.push(markdown("### Lexical checker, RefChecker's MS MARCO triplets, five systems (English)", &whole?));
    let wice = report(&checking_sets::wice(file("claim_checking/wice_dev.jsonl")?).unwrap());
    let title = "### Lexical checker, WiCE dev claims, supported or not (English)";
    sections.push(markdown(title, &wice.entailed_or_not().unwrap()));
    let rte = report(&checking_sets::rte3_french(file("nli_fr/RTE3-FR-dev-set-3class.tsv")?).unwrap());
    sections.push(markdown("### Lexical checker, RTE-3 in French, dev", &rte.confusion()));
    let daccord = report(&checking_sets::daccord(file("nli_fr/daccord_dataset.tsv")?).unwrap());
    let title = "### Lexical checker, DACCORD, contradiction or not (French)";
    sections.push(markdown(title, &daccord.confusion().binary("contradiction").unwrap()));
    Some(sections)
}

#[test]
fn the_readmes_tables_are_what_the_checker_does_on_the_sample() {
    let sections = on_the_sample();
    if std::env::var_os("CLAIMLAB_ACCEPT").is_some() {
        let all: Vec<String> = sections.into_iter().chain(on_public_sets().into_iter().flatten()).collect();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/checker_accuracy.md");
        std::fs::write(path, all.join("\n")).unwrap();
        return;
    }
    agree(&sections);
}

#[test]
fn the_readmes_tables_are_what_the_checker_does_on_public_sets() {
    match on_public_sets() {
        Some(sections) => agree(&sections),
        None => super::skip("human_labels", "the public sets are not beside the checkout", true),
    }
}

#[test]
fn the_sample_has_an_extraction_accuracy_with_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let claims = Lab::at(folder.path()).unwrap().sample().unwrap().labelled_claims().unwrap();
    let table = claims.extraction_accuracy().unwrap();
    assert_eq!(table.height(), 3);
    let shares: Vec<f64> = table.column("share").unwrap().f64().unwrap().into_no_null_iter().collect();
    assert!(shares.iter().all(|share| (0.9..1.0).contains(share)), "{shares:?}");
}
