//! Frames on disk.

use std::fs::File;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use polars::prelude::{CsvReadOptions, DataFrame, ParquetReader, ParquetWriter, SerReader};

use crate::error::{Error, Result};

/// Reads a Parquet file.
///
/// # Errors
/// When the file is absent, unreadable or not Parquet.
pub fn read_parquet(path: &Path) -> Result<DataFrame> {
    let file = File::open(path).map_err(|error| Error::file(path, &error))?;
    let refused = |reason: &str| {
        Error::input(format!("{} is not a Parquet file that can be read: {reason}", path.display()))
            .help("remove the file; what it held is computed again")
    };
    // polars panics over some files in which single bits were turned.
    let read = catch_unwind(AssertUnwindSafe(|| ParquetReader::new(file).finish()));
    read.map_err(|_| refused("the parser broke down on it"))?.map_err(|error| refused(&error.to_string()))
}

/// Writes a Parquet file so that it stands complete or not at all: temporary name, fsync, rename.
///
/// # Errors
/// When the folder cannot be written to.
pub fn write_parquet(frame: &DataFrame, path: &Path) -> Result<()> {
    let temporary = path.with_extension(format!("tmp{}", std::process::id()));
    let mut file = File::create(&temporary).map_err(|error| Error::file(&temporary, &error))?;
    ParquetWriter::new(&mut file)
        .finish(&mut frame.clone())
        .map_err(|error| Error::from(error).context(format!("writing {}", path.display())))?;
    file.sync_all().map_err(|error| Error::file(&temporary, &error))?;
    std::fs::rename(&temporary, path).map_err(|error| Error::file(path, &error))
}

/// Reads CSV with a header line from text.
///
/// # Errors
/// When the text is not CSV.
pub fn read_csv_text(text: &'static str) -> Result<DataFrame> {
    Ok(CsvReadOptions::default()
        .with_has_header(true)
        .with_infer_schema_length(None)
        .into_reader_with_file_handle(Cursor::new(text.as_bytes()))
        .finish()?)
}
