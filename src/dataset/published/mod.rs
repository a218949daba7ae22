//! Results that others published, for comparison beside one's own. Every table carries its source.

mod check;
mod reachable;
mod totals;

pub use check::{check, conservation, retriever_metrics};
pub use reachable::{Reached, reach};
pub use totals::{counts_disagree, shares_of_labels};

use polars::prelude::DataFrame;

use crate::error::Result;
use crate::table::{FrameBuilder, integers, read_csv_text, texts};

/// ClaimRAG-LAW, Table 1: counts of questions and claims.
///
/// # Errors
/// Never for the bundled file.
pub fn table_1() -> Result<DataFrame> {
    read_csv_text(include_str!("../../../data/published/table1_dataset_statistics.csv"))
}

/// ClaimRAG-LAW, Table 2: RAGChecker's metrics in percent; one row a retriever, generator and language. The column
/// `note` flags rows that the metrics' own identities contradict.
///
/// # Errors
/// Never for the bundled file.
///
/// ```
/// let table = claimlab::dataset::published::table_2()?;
/// assert_eq!(table.height(), 17);
/// # Ok::<(), claimlab::Error>(())
/// ```
pub fn table_2() -> Result<DataFrame> {
    read_csv_text(include_str!("../../../data/published/table2_ragchecker_metrics.csv"))
}

/// ClaimRAG-LAW, Table 3: a claim checker's precision, recall and F1 by label, in percent.
///
/// # Errors
/// Never for the bundled file.
pub fn table_3() -> Result<DataFrame> {
    read_csv_text(include_str!("../../../data/published/table3_claim_checking.csv"))
}

/// ClaimRAG-LAW, Section 4.3: how many extracted claims were correct.
///
/// # Errors
/// Never for the bundled file.
pub fn extraction() -> Result<DataFrame> {
    read_csv_text(include_str!("../../../data/published/extraction_accuracy.csv"))
}

/// ClaimRAG-LAW: every count of questions and claims that paper and dataset card state, with the place; one row a
/// statement. Several rows of one quantity and source do not always agree: see [`check`].
///
/// # Errors
/// Never for the bundled file.
pub fn counts() -> Result<DataFrame> {
    read_csv_text(include_str!("../../../data/published/counts.csv"))
}

/// A benchmark's counts beside the published ones of the same source.
pub(super) fn beside(statistics: &DataFrame) -> Result<DataFrame> {
    let sources = texts(statistics, "source")?;
    let has_all = ["GDPR", "CIVIL"].iter().all(|name| sources.iter().flatten().any(|source| source == name));
    let published = counts()?;
    let table = |name: &str| texts(&published, name);
    let (quantities, of, places) = (table("quantity")?, table("source")?, table("place")?);
    let mut rows: Vec<(String, String, i64, i64, String)> = Vec::new();
    for (((quantity, source), value), place) in
        quantities.into_iter().zip(of).zip(integers(&published, "value")?).zip(places)
    {
        let (Some(quantity), Some(source), Some(value), Some(place)) = (quantity, source, value, place) else {
            continue;
        };
        if source == "Total" && !has_all {
            continue;
        }
        let row =
            sources.iter().position(|found| found.as_deref().is_some_and(|found| found.eq_ignore_ascii_case(&source)));
        let (Some(row), Ok(measured)) = (row, integers(statistics, &quantity)) else { continue };
        if let Some(measured) = measured.get(row).copied().flatten() {
            rows.push((quantity, source, measured, value, place));
        }
    }
    FrameBuilder::new()
        .text("quantity", &rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>())
        .text("source", &rows.iter().map(|row| row.1.as_str()).collect::<Vec<_>>())
        .integer("measured", &rows.iter().map(|row| row.2).collect::<Vec<_>>())
        .integer("published", &rows.iter().map(|row| row.3).collect::<Vec<_>>())
        .text("where", &rows.iter().map(|row| row.4.as_str()).collect::<Vec<_>>())
        .boolean("agrees", &rows.iter().map(|row| Some(row.2 == row.3)).collect::<Vec<_>>())
        .build()
}
