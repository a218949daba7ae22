//! Tables of one's own: CSV, TSV, JSON, JSON lines, Parquet, and how their columns are called here.

mod csv;
mod json;
mod lines;
mod map;

use std::path::Path;

use polars::prelude::DataFrame;

pub use map::ColumnMap;

use super::bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::table::read_parquet;

/// Reads a table from `.csv`, `.tsv`, `.json` (a list of objects, or an object that holds one), `.jsonl`, `.ndjson` or
/// `.parquet`. Nested values of JSON become JSON text.
///
/// # Errors
/// When the file is absent, of another kind, cut short, or not a table; names the line where it can.
pub fn read_frame(path: impl AsRef<Path>) -> Result<DataFrame> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let kind = path.extension().map(|kind| kind.to_string_lossy().to_lowercase()).unwrap_or_default();
    let text = || bytes::read_text(path).map(|decoded| decoded.text);
    let separated = |by: u8| {
        let text = text()?;
        guarded(&name, || csv::parse(&text, by).map_err(|error| error.context(format!("reading {name}"))))
    };
    match kind.as_str() {
        "parquet" => {
            bytes::expect_parquet(path)?;
            read_parquet(path).map_err(|error| error.help("write the file again, or get it again"))
        }
        "csv" => separated(b','),
        "tsv" | "tab" => separated(b'\t'),
        "jsonl" | "ndjson" => {
            let text = text()?;
            guarded(&name, || lines::parse(&name, &text))
        }
        "json" => json::parse(&name, &text()?),
        other => Err(Error::input(format!("{name}: no reader for files that end in {other:?}"))
            .help("rename the file after its content: .csv, .tsv, .json, .jsonl, .ndjson or .parquet")),
    }
}

/// Turns a panic of the library that parses into an error: no file may end the session.
fn guarded<T>(name: &str, parse: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(parse)).unwrap_or_else(|_| {
        Err(Error::new(ErrorKind::Internal, format!("{name}: the parser broke down on this file"))
            .help("write the table in another format, as in .parquet instead of .csv"))
    })
}

#[cfg(test)]
mod tests;
