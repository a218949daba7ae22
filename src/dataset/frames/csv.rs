//! CSV and TSV.

use std::io::Cursor;

use polars::prelude::{CsvParseOptions, CsvReadOptions, DataFrame, IntoColumn, NamedFrom, SerReader, Series};

use crate::dataset::bytes;
use crate::error::{Error, Result};
use crate::table::texts;

/// Reads text with a header line. A column is numbers only if that loses nothing: `007` stays text. `NaN` among numbers is
/// a missing one.
pub(super) fn parse(text: &str, separator: u8) -> Result<DataFrame> {
    if bytes::is_page(text) {
        return Err(Error::input("expected a table, found a page of HTML")
            .help("fetch the file itself, not the page that shows it or says that it is not there"));
    }
    // Tab-separated files of datasets quote nothing; a quotation mark is a letter there.
    let quote = (separator != b'\t').then_some(b'"');
    let options =
        CsvParseOptions::default().with_separator(separator).with_quote_char(quote).with_truncate_ragged_lines(false);
    let mut frame = CsvReadOptions::default()
        .with_has_header(true)
        .with_infer_schema_length(Some(0))
        .with_parse_options(options)
        .into_reader_with_file_handle(Cursor::new(text.as_bytes()))
        .finish()
        .map_err(|error| {
            Error::input(format!("not a table: {error}")).help("each line needs as many fields as the header")
        })?;
    let names: Vec<String> = frame.get_column_names().iter().map(|name| name.to_string()).collect();
    for name in names {
        let values = texts(&frame, &name)?;
        if values.iter().all(Option::is_none) {
            continue;
        }
        let is_integer = |text: &String| text.parse::<i64>().is_ok_and(|number| number.to_string() == *text);
        let is_number = |text: &String| {
            let digits = text.trim_start_matches('-');
            let has_padding = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
            let is_plain = digits.starts_with(|first: char| first.is_ascii_digit());
            is_plain && !has_padding && text.parse::<f64>().is_ok_and(f64::is_finite)
        };
        let is_missing = |text: &&String| text.eq_ignore_ascii_case("nan");
        let mut known = values.iter().flatten().filter(|text| !is_missing(text)).peekable();
        let is_known = known.peek().is_some();
        let (are_integers, are_numbers) = known
            .fold((is_known, is_known), |(whole, number), text| (whole && is_integer(text), number && is_number(text)));
        let series = if are_integers {
            let numbers: Vec<Option<i64>> = values.iter().map(|text| text.as_ref()?.parse().ok()).collect();
            Series::new(name.as_str().into(), numbers)
        } else if are_numbers {
            let finite = |text: &Option<String>| text.as_ref()?.parse().ok().filter(|number: &f64| number.is_finite());
            let numbers: Vec<Option<f64>> = values.iter().map(finite).collect();
            Series::new(name.as_str().into(), numbers)
        } else {
            continue;
        };
        frame.with_column(series.into_column())?;
    }
    Ok(frame)
}
