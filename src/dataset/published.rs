//! Results that others published, for comparison beside one's own. Every table carries its source.

use polars::prelude::DataFrame;

use crate::error::Result;
use crate::table::read_csv_text;

/// ClaimRAG-LAW, Table 1: counts of questions and claims.
///
/// # Errors
/// Never for the bundled file.
pub fn table_1() -> Result<DataFrame> {
    read_csv_text(include_str!("../../data/published/table1_dataset_statistics.csv"))
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
    read_csv_text(include_str!("../../data/published/table2_ragchecker_metrics.csv"))
}

/// ClaimRAG-LAW, Table 3: a claim checker's precision, recall and F1 by label, in percent.
///
/// # Errors
/// Never for the bundled file.
pub fn table_3() -> Result<DataFrame> {
    read_csv_text(include_str!("../../data/published/table3_claim_checking.csv"))
}

/// ClaimRAG-LAW, Section 4.3: how many extracted claims were correct.
///
/// # Errors
/// Never for the bundled file.
pub fn extraction() -> Result<DataFrame> {
    read_csv_text(include_str!("../../data/published/extraction_accuracy.csv"))
}
