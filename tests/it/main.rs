//! The one integration binary.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bad_input;
mod golden_metrics;
mod human_labels;
mod imports;
mod lexical;
mod lucene;
mod metric_properties;
mod models_as_checkers;
mod parsing;
mod real_files;
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
