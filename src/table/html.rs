//! Frames as HTML. Every value is escaped: questions, answers and model output are text, whatever they contain.

use polars::prelude::{AnyValue, DataFrame, DataType};

/// Characters that a cell is cut to.
const WIDTH: usize = 160;

/// Escapes text for HTML, attribute values included.
///
/// ```
/// assert_eq!(claimlab::table::escape("<b>\"&'"), "&lt;b&gt;&quot;&amp;&#39;");
/// ```
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Control characters would end the line protocol or the document.
            '\n' | '\t' => escaped.push(letter),
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A frame as an HTML table of at most `rows` rows, with the whole frame's shape below. Rows whose column `few` is true
/// (a mean over too few questions to rank) are grey.
#[must_use]
pub fn frame_to_html(frame: &DataFrame, rows: usize) -> String {
    let (height, width) = frame.shape();
    let shown = if height > rows + 1 { rows } else { height };
    let mut html = String::from(
        "<div style=\"overflow-x:auto\"><table style=\"border-collapse:collapse;font-size:90%\"><thead><tr>",
    );
    for column in frame.columns() {
        html.push_str(&format!(
            "<th title=\"{}\" style=\"text-align:{};border-bottom:1px solid #888;padding:2px 8px\">{}</th>",
            escape(&column.dtype().to_string()),
            align(column.dtype()),
            escape(column.name())
        ));
    }
    html.push_str("</tr></thead><tbody>");
    let few = frame.column("few").ok().and_then(|column| column.bool().ok());
    for row in 0..shown {
        let is_few = few.and_then(|few| few.get(row)) == Some(true);
        html.push_str(if is_few { "<tr style=\"color:#999\" title=\"too few questions to rank\">" } else { "<tr>" });
        for column in frame.columns() {
            let value = column.get(row).unwrap_or(AnyValue::Null);
            html.push_str(&format!(
                "<td style=\"text-align:{};vertical-align:top;padding:2px 8px\">{}</td>",
                align(column.dtype()),
                cell(&value)
            ));
        }
        html.push_str("</tr>");
    }
    let cut = if shown < height { format!("first {shown} of ") } else { String::new() };
    html.push_str(&format!(
        "</tbody></table><small style=\"color:#777\">{cut}{height} rows × {width} columns</small></div>"
    ));
    html
}

fn align(kind: &DataType) -> &'static str {
    if kind.is_primitive_numeric() { "right" } else { "left" }
}

fn cell(value: &AnyValue<'_>) -> String {
    match value {
        AnyValue::Null => "<span style=\"color:#999\">–</span>".to_owned(),
        AnyValue::Float64(number) => number_text(*number),
        AnyValue::Float32(number) => number_text(f64::from(*number)),
        AnyValue::String(text) => cut(text),
        AnyValue::StringOwned(text) => cut(text),
        other => escape(&other.to_string()),
    }
}

/// Up to four significant decimals, without a tail of zeros.
pub(super) fn number_text(number: f64) -> String {
    let text = format!("{number:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    (if text == "-0" { "0" } else { text }).to_owned()
}

fn cut(text: &str) -> String {
    if text.chars().count() <= WIDTH {
        return escape(text);
    }
    let head: String = text.chars().take(WIDTH - 1).collect();
    format!("<span title=\"{}\">{}…</span>", escape(text), escape(&head))
}
