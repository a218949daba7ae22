//! The one integration binary.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod ablation;
mod acts;
mod bad_files;
mod bad_input;
mod bad_replies;
mod benchmarks;
mod browser;
mod calibration;
mod checker_tables;
mod cluster;
mod error_pages;
mod fetching;
mod figures;
mod fuzz_readers;
mod golden_metrics;
mod human_labels;
mod imports;
mod journal;
mod judging;
mod lexical;
mod lucene;
mod metric_properties;
mod models;
mod models_as_checkers;
mod opensearch;
mod parsing;
mod real_files;
mod retrieval;
mod scripted_judge;
mod server;
mod small_model;
mod speed;
mod spine;
mod statistics;

use std::path::PathBuf;

/// Real material beside the checkout, where there is some.
fn shared(path: &str) -> Option<PathBuf> {
    let found = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared").join(path);
    found.exists().then_some(found)
}

/// Says that a test did not run. With `CLAIMLAB_REQUIRE=all` only real material may be missing.
fn skip(test: &str, why: &str, may_be_absent: bool) {
    let required = std::env::var("CLAIMLAB_REQUIRE").is_ok_and(|value| value == "all");
    assert!(may_be_absent || !required, "{test} was skipped although CLAIMLAB_REQUIRE=all: {why}");
    println!("SKIPPED {test}: {why}");
    eprintln!("SKIPPED {test}: {why}");
}
