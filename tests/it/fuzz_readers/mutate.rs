//! Changes to files: of their bytes, and of what they are made of.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::bad_files::readers::Form;

/// Texts that readers may trip over.
const ODD: [&str; 22] = [
    "",
    " ",
    "NaN",
    "null",
    "0",
    "-1",
    "1e309",
    "99999999999999999999",
    "\u{0}",
    "\u{feff}",
    "\u{202e}rtl",
    "e\u{301}\u{302}",
    "👩‍⚖️",
    "𝔸\u{a0}\u{ad}",
    "<script>alert(1)</script>",
    "&#xD800;&amp",
    "]]>",
    "\"quoted\", and, parted",
    "'; --",
    "../../etc",
    "art_1",
    "Entailment",
];

/// Bytes that mean something to one parser or another.
const PIECES: [&[u8]; 26] = [
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\r",
    b"\"",
    b"'",
    b",",
    b"\t",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\\u",
    b"\\ud800",
    b"<",
    b">",
    b"</",
    b"<!--",
    b"<![CDATA[",
    b"&#99999999999;",
    b"&#0;",
    b"NaN",
    b"\xe2\x80\xae",
];

/// A changed copy of a sound file.
pub fn mutated(sound: &str, form: Form, random: &mut ChaCha8Rng) -> Vec<u8> {
    // One case in twenty stays as it is, so that what is sound is seen to be read.
    if random.random_ratio(1, 20) {
        return sound.as_bytes().to_vec();
    }
    let mut text = sound.to_owned();
    for _ in 0..random.random_range(0..4) {
        text = match form {
            Form::Json => json(&text, random),
            Form::Lines => lines(&text, random),
            Form::Table => table(&text, random),
            Form::Markup => markup(&text, random),
            Form::Prose => prose(&text, random),
        };
    }
    let mut bytes = text.into_bytes();
    for _ in 0..random.random_range(0..3) {
        self::bytes(&mut bytes, random);
    }
    match random.random_range(0..24) {
        0 => String::from_utf8_lossy(&bytes).encode_utf16().flat_map(u16::to_le_bytes).collect(),
        1 => String::from_utf8_lossy(&bytes).chars().map(|letter| u32::from(letter) as u8).collect(),
        2 => [b"\xef\xbb\xbf".to_vec(), bytes].concat(),
        _ => bytes,
    }
}

fn odd(random: &mut ChaCha8Rng) -> String {
    if random.random_ratio(1, 10) {
        return "long ".repeat(random.random_range(1..4000));
    }
    (*ODD.choose(random).unwrap()).to_owned()
}

/// A piece several times, within a tenth of a megabyte.
fn repeated(piece: &str, most: usize, random: &mut ChaCha8Rng) -> String {
    piece.repeat(random.random_range(1..=(100_000 / piece.len().max(1)).clamp(1, most)))
}

/// A range within a length.
fn range(length: usize, random: &mut ChaCha8Rng) -> std::ops::Range<usize> {
    let from = random.random_range(0..=length);
    let to = random.random_range(from..=length.min(from + 64));
    from..to
}

/// Changes bytes, whatever they are.
fn bytes(bytes: &mut Vec<u8>, random: &mut ChaCha8Rng) {
    let part = range(bytes.len(), random);
    match random.random_range(0..7) {
        0 => bytes.truncate(part.start),
        1 => drop(bytes.drain(part)),
        2 => {
            let copy = bytes[part.clone()].repeat(random.random_range(1..20));
            drop(bytes.splice(part.end..part.end, copy));
        }
        3 => {
            let copy = bytes[part].to_vec();
            let place = random.random_range(0..=bytes.len());
            drop(bytes.splice(place..place, copy));
        }
        4 => {
            if let Some(byte) = bytes.get_mut(part.start) {
                *byte ^= 1 << random.random_range(0..8);
            }
        }
        _ => {
            let piece = PIECES.choose(random).unwrap();
            drop(bytes.splice(part.start..part.start, piece.iter().copied()));
        }
    }
}

/// A binary file, now and then whole, else cut short. Bits are not turned here: polars 0.55.2 may take one for a length, ask for 2^61 bytes and end the
/// process, which no caller can prevent (a campaign found that; `bad_files` turns single bits that it survives).
pub fn cut(sound: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let length = if random.random_ratio(1, 4) { sound.len() } else { random.random_range(0..sound.len()) };
    sound[..length].to_vec()
}

/// Changes one node of a JSON text; what is no JSON stays.
fn json(text: &str, random: &mut ChaCha8Rng) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    walk(&mut value, random);
    value.to_string()
}

/// Goes down to some node and changes it.
fn walk(value: &mut Value, random: &mut ChaCha8Rng) {
    if random.random_ratio(4, 5) {
        match value {
            Value::Array(list) if !list.is_empty() => {
                let at = random.random_range(0..list.len());
                return walk(&mut list[at], random);
            }
            Value::Object(map) if !map.is_empty() => {
                let at = random.random_range(0..map.len());
                return walk(map.iter_mut().nth(at).unwrap().1, random);
            }
            _ => {}
        }
    }
    change(value, random);
}

fn change(value: &mut Value, random: &mut ChaCha8Rng) {
    match value {
        Value::Array(list) if !list.is_empty() && random.random_ratio(3, 4) => {
            let (one, other) = (random.random_range(0..list.len()), random.random_range(0..list.len()));
            match random.random_range(0..4) {
                0 => drop(list.remove(one)),
                1 => list.swap(one, other),
                2 => list.insert(other, list[one].clone()),
                _ => list.truncate(one),
            }
        }
        Value::Object(map) if !map.is_empty() && random.random_ratio(3, 4) => {
            let key = map.keys().nth(random.random_range(0..map.len())).unwrap().clone();
            match random.random_range(0..4) {
                0 => drop(map.shift_remove(&key)),
                1 => {
                    let held = map.shift_remove(&key).unwrap();
                    map.insert(key.to_uppercase(), held);
                }
                2 => drop(map.insert(odd(random), Value::Null)),
                _ => {
                    let held = map[&key].clone();
                    let other = map.keys().nth(random.random_range(0..map.len())).unwrap().clone();
                    map.insert(other, held);
                }
            }
        }
        _ => *value = replacement(value, random),
    }
}

fn replacement(value: &Value, random: &mut ChaCha8Rng) -> Value {
    match random.random_range(0..10) {
        0 => Value::Null,
        1 => Value::Bool(random.random()),
        2 => [i64::MIN, -1, 0, 1, i64::MAX].choose(random).copied().unwrap().into(),
        3 => [-0.0, 0.5, 1e300, 5e-324].choose(random).copied().unwrap().into(),
        4 => Value::Array(vec![value.clone()]),
        5 => Value::Object([(odd(random), value.clone())].into_iter().collect()),
        6 => (0..random.random_range(1..140)).fold(Value::Null, |inner, _| Value::Array(vec![inner])),
        _ => Value::String(odd(random)),
    }
}

/// Changes one JSON object of a file with one a line.
fn lines(text: &str, random: &mut ChaCha8Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return odd(random);
    }
    let at = random.random_range(0..lines.len());
    match random.random_range(0..6) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 => lines.insert(at, odd(random)),
        _ => lines[at] = json(&lines[at], random),
    }
    lines.join("\n")
}

/// Changes a cell or a line of a table.
fn table(text: &str, random: &mut ChaCha8Rng) -> String {
    let separator = if text.contains('\t') { '\t' } else { ',' };
    let mut rows: Vec<Vec<String>> =
        text.lines().map(|line| line.split(separator).map(str::to_owned).collect()).collect();
    if rows.is_empty() {
        return odd(random);
    }
    let row = random.random_range(0..rows.len());
    let cell = random.random_range(0..rows[row].len());
    match random.random_range(0..8) {
        0 => drop(rows.remove(row)),
        1 => rows.insert(row, rows[row].clone()),
        2 => drop(rows[row].remove(cell)),
        3 => rows[row].insert(cell, odd(random)),
        4 => rows[row][cell].insert(0, '"'),
        5 => rows[0] = vec![odd(random); rows[0].len()],
        _ => rows[row][cell] = odd(random),
    }
    rows.iter().map(|row| row.join(&separator.to_string())).collect::<Vec<_>>().join("\n")
}

/// Changes tags and the text between them.
fn markup(text: &str, random: &mut ChaCha8Rng) -> String {
    const NAMES: [&str; 18] = [
        "div",
        "p",
        "span",
        "table",
        "tr",
        "td",
        "ul",
        "li",
        "article",
        "num",
        "paragraph",
        "alinea",
        "h2",
        "script",
        "title",
        "meta",
        "quotedStructure",
        "br",
    ];
    // A piece is a tag, or the text up to the next one.
    let mut pieces: Vec<String> = Vec::new();
    for part in text.split_inclusive('>') {
        let (words, tag) = part.split_at(part.rfind('<').unwrap_or(part.len()));
        pieces.extend([words, tag].into_iter().filter(|piece| !piece.is_empty()).map(str::to_owned));
    }
    if pieces.is_empty() {
        return odd(random);
    }
    let (at, other) = (random.random_range(0..pieces.len()), random.random_range(0..pieces.len()));
    let name = NAMES.choose(random).unwrap();
    match random.random_range(0..9) {
        0 => drop(pieces.remove(at)),
        1 => pieces.swap(at, other),
        2 => pieces[at] = repeated(&pieces[at], 700, random),
        3 => pieces.insert(at, format!("<{name}>")),
        4 => pieces.insert(at, format!("</{name}>")),
        5 => pieces[at] = pieces[at].replace('"', if random.random() { "'" } else { "" }),
        6 => {
            pieces[at] =
                format!("<{name} id=\"{}\">", ["art_1", "rct_1", "cpt_I", "001.001", ""].choose(random).unwrap())
        }
        7 => pieces.truncate(at + 1),
        _ => pieces[at] = odd(random),
    }
    pieces.concat()
}

/// Changes lines of prose, and what begins them.
fn prose(text: &str, random: &mut ChaCha8Rng) -> String {
    const MARKS: [&str; 16] = [
        "# ",
        "###### ",
        "> ",
        "- ",
        "1. ",
        "```\n",
        "---\n",
        "    ",
        "| a | b |\n",
        "<a id=\"art_1\"></a>",
        "**",
        "[x](",
        "![",
        "[^1]: ",
        "~~~",
        "\\",
    ];
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return odd(random);
    }
    let (at, other) = (random.random_range(0..lines.len()), random.random_range(0..lines.len()));
    match random.random_range(0..7) {
        0 => drop(lines.remove(at)),
        1 => lines.swap(at, other),
        2 => lines[at] = repeated(&lines[at], 60, random),
        3 => lines[at] = odd(random),
        4 => lines.insert(at, String::new()),
        _ => lines[at].insert_str(0, &MARKS.choose(random).unwrap().repeat(random.random_range(1..40))),
    }
    lines.join("\n")
}
