//! JSON lines.

use std::io::Cursor;
use std::sync::Arc;

use polars::prelude::{DataFrame, DataType, JsonFormat, JsonReader, Schema, SerReader};
use rayon::prelude::*;

use super::json::of_values;
use crate::dataset::json;
use crate::error::Result;
use crate::signal::{self, Progress};

/// What is looked through at a time by one thread.
const PIECE: usize = 1 << 20;
/// What is parsed between two looks at the clock and at the user's wish to stop.
const BLOCK: usize = 32 << 20;
const MEGABYTE: usize = 1_000_000;

/// Reads one object a line.
///
/// polars' reader is fast, but guesses columns from the first lines and silently drops what does not fit later, and it
/// descends into nested values without a limit. So the lines are looked through first: where each is a flat object and
/// each column holds one kind of value, polars parses them with these columns; else each value is read for itself.
pub(super) fn parse(name: &str, text: &str) -> Result<DataFrame> {
    if let Some((columns, height)) = columns_of(text)
        && let Some(frame) = flat(name, text, &columns)?
        && frame.height() == height
    {
        return Ok(frame);
    }
    let progress = Progress::new(&format!("Parsing {name} (lines)"), 0);
    let mut rows = Vec::new();
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        signal::check("the file stays where it is")?;
        let (clean, _) = json::without_nan(line);
        let value = serde_json::from_str(&clean).map_err(|error| json::refused_line(name, place + 1, line, &error))?;
        rows.push(value);
        progress.advance(1);
    }
    of_values(name, rows)
}

/// Parses flat lines with known columns; none if polars finds fault with a line.
fn flat(name: &str, text: &str, columns: &[Column<'_>]) -> Result<Option<DataFrame>> {
    let mut schema = Schema::default();
    for (key, shape) in columns {
        schema.with_column((*key).into(), shape.data_type());
    }
    let schema = Arc::new(schema);
    let progress = Progress::new(&format!("Parsing {name} (MB)"), text.len() / MEGABYTE);
    let mut whole: Option<DataFrame> = None;
    let mut done = 0;
    for block in pieces(text, BLOCK) {
        signal::check("the file stays where it is")?;
        // polars panics where the last of many lines is long and ends with a line break.
        let lines = block.trim_end();
        let read = JsonReader::new(Cursor::new(lines.as_bytes()))
            .with_json_format(JsonFormat::JsonLines)
            .with_schema(schema.clone())
            .set_rechunk(false)
            .finish();
        let Ok(frame) = read else { return Ok(None) };
        match &mut whole {
            Some(whole) => {
                whole.vstack_mut(&frame)?;
            }
            None => whole = Some(frame),
        }
        let before = done;
        done += block.len();
        progress.advance(done / MEGABYTE - before / MEGABYTE);
    }
    if let Some(whole) = &mut whole {
        whole.rechunk_mut_par();
    }
    Ok(whole)
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Nothing,
    Text,
    Whole,
    Number,
    Truth,
}

impl Shape {
    /// What values of both shapes are together, if they are one thing.
    fn with(self, other: Self) -> Option<Self> {
        match (self, other) {
            (one, other) if one == other => Some(one),
            (Self::Nothing, known) | (known, Self::Nothing) => Some(known),
            (Self::Whole, Self::Number) | (Self::Number, Self::Whole) => Some(Self::Number),
            _ => None,
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Nothing | Self::Text => DataType::String,
            Self::Whole => DataType::Int64,
            Self::Number => DataType::Float64,
            Self::Truth => DataType::Boolean,
        }
    }
}

type Column<'a> = (&'a str, Shape);

/// The columns in order of appearance and the number of lines that hold something; none where a line is not a flat object,
/// or a column's values are of different kinds.
fn columns_of(text: &str) -> Option<(Vec<Column<'_>>, usize)> {
    let found: Option<Vec<(Vec<Column<'_>>, usize)>> =
        pieces(text, PIECE).into_par_iter().map(columns_of_piece).collect();
    let mut columns: Vec<Column<'_>> = Vec::new();
    let mut height = 0;
    for (of_piece, lines) in found? {
        height += lines;
        for (key, shape) in of_piece {
            match columns.iter_mut().find(|(known, _)| *known == key) {
                Some((_, known)) => *known = known.with(shape)?,
                None => columns.push((key, shape)),
            }
        }
    }
    (!columns.is_empty()).then_some((columns, height))
}

fn columns_of_piece(piece: &str) -> Option<(Vec<Column<'_>>, usize)> {
    let mut columns = Vec::new();
    let mut height = 0;
    for line in piece.split('\n').map(str::trim_ascii).filter(|line| !line.is_empty()) {
        add_line(line, &mut columns)?;
        height += 1;
    }
    Some((columns, height))
}

/// Adds what a line says of the columns.
fn add_line<'a>(line: &'a str, columns: &mut Vec<Column<'a>>) -> Option<()> {
    let mut rest = line.strip_prefix('{')?.trim_ascii_start();
    if rest == "}" {
        return Some(());
    }
    let (mut seen, mut place) = (0_u128, 0);
    loop {
        let after = rest.strip_prefix('"')?;
        let key = after.get(..end_of_string(after)?)?;
        if key.contains('\\') {
            return None;
        }
        // Lines mostly have their keys in one order.
        let at = match columns.get(place) {
            Some((known, _)) if *known == key => place,
            _ => columns.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                columns.push((key, Shape::Nothing));
                columns.len() - 1
            }),
        };
        // A key that comes twice in a line, or more than 128 columns, are left to the other reader.
        let bit = 1_u128.checked_shl(u32::try_from(at).ok()?)?;
        if seen & bit != 0 {
            return None;
        }
        seen |= bit;
        place = at + 1;
        let value = after.get(key.len() + 1..)?.trim_ascii_start().strip_prefix(':')?.trim_ascii_start();
        let (shape, length) = shape_of(value)?;
        let column = columns.get_mut(at)?;
        column.1 = column.1.with(shape)?;
        let after = value.get(length..)?.trim_ascii_start();
        match after.strip_prefix(',') {
            Some(next) => rest = next.trim_ascii_start(),
            None => return (after == "}").then_some(()),
        }
    }
}

/// The shape of the value that a text begins with, and its length in bytes.
fn shape_of(value: &str) -> Option<(Shape, usize)> {
    let word = |word: &str, shape| value.starts_with(word).then_some((shape, word.len()));
    match value.as_bytes().first()? {
        b'"' => Some((Shape::Text, end_of_string(value.get(1..)?)? + 2)),
        b'n' => word("null", Shape::Nothing),
        b't' => word("true", Shape::Truth),
        b'f' => word("false", Shape::Truth),
        b'-' | b'0'..=b'9' => {
            let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
            let length = value.bytes().take_while(is_part).count();
            let is_whole = !value.get(..length)?.contains('.');
            // What might not fit 64 bits is left to the other reader.
            let (shape, most) = if is_whole { (Shape::Whole, 18) } else { (Shape::Number, 32) };
            (length <= most).then_some((shape, length))
        }
        _ => None,
    }
}

/// Where a string ends whose first quotation mark was read; none where it holds what JSON does not allow.
fn end_of_string(text: &str) -> Option<usize> {
    let text = text.as_bytes();
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        if rest.first_chunk().is_some_and(|eight| is_plain(*eight)) {
            at += 8;
            continue;
        }
        at += rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))?;
        match text.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => return None,
        }
    }
}

/// Whether none of eight bytes is a quotation mark, a backslash or a control character; all eight are looked at at once,
/// since most of a file is text.
fn is_plain(eight: [u8; 8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let word = u64::from_ne_bytes(eight);
    // A byte's high bit is set where it is below the limit, and nowhere if none is.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH;
    let is_one = |letter: u8| below(word ^ (ONES * u64::from(letter)), 1);
    (below(word, 0x20) | is_one(b'"') | is_one(b'\\')) == 0
}

/// A text in pieces of about `size` bytes, cut at the ends of lines.
fn pieces(text: &str, size: usize) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while rest.len() > size {
        let end = rest.bytes().skip(size).position(|byte| byte == b'\n').map_or(rest.len(), |at| size + at + 1);
        let (piece, tail) = rest.split_at(end);
        pieces.push(piece);
        rest = tail;
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(text: &str) -> Option<String> {
        let (columns, height) = columns_of(text)?;
        Some(format!("{height} {columns:?}"))
    }

    #[test]
    fn flat_lines_are_told_from_all_others() {
        let flat = "{\"a\": 1, \"b\": \"x\\\"}\"}\n\n {\"b\": null, \"a\": 2.5 , \"c\":true}\r\n{}";
        assert_eq!(shapes(flat).unwrap(), "3 [(\"a\", Number), (\"b\", Text), (\"c\", Truth)]");
        for other in [
            "",
            "{}",
            "[1]",
            "{\"a\": 1}\n{\"a\": \"x\"}",
            "{\"a\": [1]}",
            "{\"a\": {\"b\": 1}}",
            "{\"a\": 1, \"a\": 2}",
            "{\"\\u0061\": 1}",
            "{\"a\": 12345678901234567890}",
            "{\"a\": 1e5}",
            "{\"a\": NaN}",
            "{\"a\": 1",
            "{\"a\": 1} {\"a\": 2}",
            "{\"a\": \"x}",
            "{\"a\" 1}",
        ] {
            assert_eq!(shapes(other), None, "{other}");
        }
        let wide: String = (0..200).map(|column| format!(", \"c{column}\": 1")).collect();
        assert_eq!(shapes(&format!("{{{}}}", &wide[2..])), None);
    }

    #[test]
    fn eight_bytes_are_plain_if_each_of_them_is() {
        let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
        for byte in 0..=u8::MAX {
            for place in 0..8 {
                for other in [b'a', b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xff] {
                    let mut eight = [other; 8];
                    eight[place] = byte;
                    assert_eq!(is_plain(eight), !is_special(byte), "{byte} among {other}");
                }
            }
        }
        assert_eq!(end_of_string("abcdefgh\\\"ijklmnop\" rest"), Some(18));
        assert_eq!(end_of_string("abcdefghijk"), None);
        assert_eq!(end_of_string("abcdefgh\tijk\""), None);
    }

    #[test]
    fn pieces_are_whole_lines_and_together_the_text() {
        let text: String = (0..500).map(|line| format!("{line} é\n")).collect();
        for size in [1, 7, 100, 10_000] {
            let pieces = pieces(&text, size);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.iter().all(|piece| piece.is_empty() || piece.ends_with('\n')), "{size}");
        }
    }

    #[test]
    fn both_ways_give_one_table() {
        let text: String = (0..2000)
            .map(|row| {
                format!("{{\"id\": \"q{row}\", \"n\": {row}, \"x\": {row}.25, \"t\": {}, \"e\": null}}\n", row % 2 == 0)
            })
            .collect();
        let (columns, height) = columns_of(&text).unwrap();
        let fast = flat("x", &text, &columns).unwrap().unwrap();
        let values = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((fast.height(), height), (2000, 2000));
        assert!(fast.equals_missing(&of_values("x", values).unwrap()), "{fast}");
    }

    #[test]
    fn a_long_last_line_after_many_short_ones_is_read() {
        let mut text = "{\"a\": \"short\"}\n".repeat(1000);
        text.push_str(&format!("{{\"a\": \"{}\"}}\n", "long ".repeat(4000)));
        assert_eq!(parse("x", &text).unwrap().height(), 1001);
    }

    #[test]
    fn lines_of_any_depth_overflow_no_stack() {
        let deep = format!("{{\"a\": {}{}}}\n", "[".repeat(200_000), "]".repeat(200_000));
        let error = parse("x", &format!("{{\"a\": 1}}\n{deep}")).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("recursion"), "{error}");
    }
}
