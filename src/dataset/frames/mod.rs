//! Tables of one's own: CSV, TSV, JSON, JSON lines, Parquet, and how their columns are called here.

mod csv;
mod json;
mod map;

use std::path::Path;

use polars::prelude::DataFrame;

pub use map::ColumnMap;

use super::bytes;
use crate::error::{Error, Result};
use crate::table::read_parquet;

/// Reads a table from `.csv`, `.tsv`, `.json` (a list of objects, or an object that holds one), `.jsonl`, `.ndjson` or
/// `.parquet`. Nested values of JSON become JSON text.
///
/// # Errors
/// When the file is absent, of another kind, cut short, or not a table; names the line where it can.
pub fn read_frame(path: impl AsRef<Path>) -> Result<DataFrame> {
    let path = path.as_ref();
    let kind = path.extension().map(|kind| kind.to_string_lossy().to_lowercase()).unwrap_or_default();
    let context = |error: Error| error.context(format!("reading {}", path.display()));
    match kind.as_str() {
        "parquet" => {
            bytes::read(path)?;
            read_parquet(path)
        }
        "csv" => csv::parse(&bytes::read_text(path)?.text, b',').map_err(context),
        "tsv" | "tab" => csv::parse(&bytes::read_text(path)?.text, b'\t').map_err(context),
        "jsonl" | "ndjson" => json::lines(&bytes::read_text(path)?.text).map_err(context),
        "json" => json::parse(&bytes::read_text(path)?.text).map_err(context),
        other => Err(Error::input(format!("{}: no reader for files that end in {other:?}", path.display()))
            .help("rename the file after its content: .csv, .tsv, .json, .jsonl, .ndjson or .parquet")),
    }
}

#[cfg(test)]
mod tests;
