//! Frames as text for papers and other tools.

use std::path::Path;

use polars::prelude::{AnyValue, CsvWriter, DataFrame, SerWriter};

use crate::error::{Error, Result};

/// Writes a frame whole, as Markdown, LaTeX or CSV.
///
/// ```
/// use claimlab::polars::prelude::*;
/// use claimlab::table::Export;
///
/// let frame = df!("système" => ["BM25 & co"], "f1" => [0.5])?;
/// assert_eq!(frame.to_markdown(), "| système | f1 |\n|---|---:|\n| BM25 &amp; co | 0.5 |\n");
/// assert!(frame.to_latex().contains(r"BM25 \& co & 0.5 \\"));
/// assert_eq!(frame.to_csv()?, "système,f1\nBM25 & co,0.5\n");
/// # Ok::<(), claimlab::Error>(())
/// ```
pub trait Export {
    /// A Markdown table (the GitHub dialect).
    fn to_markdown(&self) -> String;
    /// A LaTeX `tabular` that needs the package `booktabs`.
    fn to_latex(&self) -> String;
    /// CSV with a header line; a missing value is an empty field.
    ///
    /// # Errors
    /// When a column cannot be written as text.
    fn to_csv(&self) -> Result<String>;
    /// Writes the frame as what the name ends in: `.md`, `.tex` or `.csv`.
    ///
    /// # Errors
    /// When the name ends in something else, or the file cannot be written.
    fn save(&self, path: &str) -> Result<()>;
}

impl Export for DataFrame {
    fn to_markdown(&self) -> String {
        let names: Vec<String> = self.columns().iter().map(|column| markdown(column.name())).collect();
        let rules: Vec<&str> =
            self.columns().iter().map(|column| if is_number(column.dtype()) { "---:" } else { "---" }).collect();
        let mut text = format!("| {} |\n|{}|\n", names.join(" | "), rules.join("|"));
        for row in rows(self) {
            let cells: Vec<String> = row.iter().map(|cell| markdown(cell)).collect();
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        text
    }

    fn to_latex(&self) -> String {
        let rules: String =
            self.columns().iter().map(|column| if is_number(column.dtype()) { 'r' } else { 'l' }).collect();
        let names: Vec<String> = self.columns().iter().map(|column| latex(column.name())).collect();
        let mut text = format!("\\begin{{tabular}}{{{rules}}}\n\\toprule\n{} \\\\\n\\midrule\n", names.join(" & "));
        for row in rows(self) {
            let cells: Vec<String> = row.iter().map(|cell| latex(cell)).collect();
            text.push_str(&format!("{} \\\\\n", cells.join(" & ")));
        }
        text + "\\bottomrule\n\\end{tabular}\n"
    }

    fn to_csv(&self) -> Result<String> {
        let mut bytes = Vec::new();
        CsvWriter::new(&mut bytes).finish(&mut self.clone())?;
        String::from_utf8(bytes).map_err(|error| Error::input(format!("the table is no text: {error}")))
    }

    fn save(&self, path: &str) -> Result<()> {
        let path = Path::new(path);
        let kind = path.extension().map(|kind| kind.to_string_lossy().to_lowercase()).unwrap_or_default();
        let text = match kind.as_str() {
            "md" => self.to_markdown(),
            "tex" => self.to_latex(),
            "csv" => self.to_csv()?,
            _ => {
                return Err(Error::input(format!("a table cannot be saved as {}", path.display()))
                    .help("end the name with .md, .tex or .csv"));
            }
        };
        std::fs::write(path, text).map_err(|error| Error::file(path, &error))
    }
}

fn is_number(kind: &polars::prelude::DataType) -> bool {
    kind.is_primitive_numeric()
}

fn rows(frame: &DataFrame) -> impl Iterator<Item = Vec<String>> {
    (0..frame.height()).map(move |row| {
        frame
            .columns()
            .iter()
            .map(|column| match column.get(row).unwrap_or(AnyValue::Null) {
                AnyValue::Null => "–".to_owned(),
                AnyValue::String(text) => text.to_owned(),
                AnyValue::StringOwned(text) => text.to_string(),
                AnyValue::Float64(number) => super::html::number_text(number),
                AnyValue::Float32(number) => super::html::number_text(f64::from(number)),
                other => other.to_string(),
            })
            .collect()
    })
}

/// Text on one line in a Markdown table, whatever marks it holds.
pub(super) fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '|' | '\\' | '*' | '`' | '[' | ']' | '~' | '$' => escaped.extend(['\\', letter]),
            '_' => escaped.push_str("\\_"),
            space if space.is_whitespace() => escaped.push(' '),
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Text on one line in LaTeX, whatever commands it holds.
pub(super) fn latex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', letter]),
            // At the beginning of a row these would be options of the line break before it.
            '[' | ']' | '*' => escaped.extend(['{', letter, '}']),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '|' => escaped.push_str("\\textbar{}"),
            '"' => escaped.push_str("\\textquotedbl{}"),
            '–' => escaped.push_str("--"),
            '↑' => escaped.push_str("$\\uparrow$"),
            '↓' => escaped.push_str("$\\downarrow$"),
            '≠' => escaped.push_str("$\\neq$"),
            '×' => escaped.push_str("$\\times$"),
            'ε' => escaped.push_str("$\\epsilon$"),
            'η' => escaped.push_str("$\\eta$"),
            'ζ' => escaped.push_str("$\\zeta$"),
            space if space.is_whitespace() => escaped.push(' '),
            // pdfTeX stops at what its input encoding does not know.
            control if control.is_control() => escaped.push('?'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    #[test]
    fn commands_marks_and_line_breaks_in_data_stay_data() -> Result<()> {
        let frame =
            df!("a|b" => ["x\ny | <b>*z*</b>\u{1b}", "\\input{/etc/passwd} 50 % $x_1$"], "n" => [Some(1.25), None])?;
        let text = frame.to_markdown();
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.contains("x y \\| &lt;b&gt;\\*z\\*&lt;/b&gt;\u{fffd} | 1.25 |"), "{text}");
        assert!(text.contains("| – |"), "{text}");
        let text = frame.to_latex();
        assert!(text.contains("\\textbackslash{}input\\{/etc/passwd\\} 50 \\% \\$x\\_1\\$ & -- \\\\"), "{text}");
        assert!(text.contains("\\begin{tabular}{lr}"), "{text}");
        let text = frame.to_csv()?;
        assert!(text.contains("\"x\ny | <b>*z*</b>\u{1b}\",1.25\n"), "{text}");
        assert!(frame.save("table.docx").is_err());
        Ok(())
    }
}
