//! Files as text: what a file really is, and in which encoding.

use std::path::Path;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::error::{Error, Result};

/// A file's text, and what had to be assumed to read it.
#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    pub text: String,
    /// Whatever is worth a word: an encoding that was guessed, a byte order mark, NUL characters.
    pub notes: Vec<String>,
}

/// Reads a text file of any common encoding.
///
/// # Errors
/// Says what the path is instead: a folder, an empty file, an archive, a PDF, a Git LFS pointer.
pub(crate) fn read_text(path: &Path) -> Result<Decoded> {
    decode(&path.display().to_string(), &read(path)?)
}

/// Reads a file's bytes.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let about = path.metadata().map_err(|error| Error::file(path, &error))?;
    if about.is_dir() {
        return Err(
            Error::input(format!("{} is a folder, expected a file", path.display())).help("name the file inside it")
        );
    }
    std::fs::read(path).map_err(|error| Error::file(path, &error))
}

/// Files that are not text, by their first bytes.
const KINDS: [(&[u8], &str, &str); 6] = [
    (b"PK\x03\x04", "a ZIP archive", "unpack it and name the file inside"),
    (b"%PDF", "a PDF", "take the HTML, XHTML or XML of the same publication"),
    (b"\x1f\x8b", "a gzip archive", "unpack it with gunzip"),
    (b"PAR1", "a Parquet file", "read it with read_frame"),
    (b"\x89PNG", "an image", "take the text of the same publication"),
    (
        b"version https://git-lfs.github.com/spec/",
        "a Git LFS pointer, not the file itself",
        "run `git lfs pull` in its repository, or download the file from its page",
    ),
];

/// Decodes the bytes of a file called `name`.
pub(crate) fn decode(name: &str, bytes: &[u8]) -> Result<Decoded> {
    for (magic, what, help) in KINDS {
        if bytes.starts_with(magic) {
            return Err(Error::input(format!("{name} is {what}, expected text")).help(help));
        }
    }
    let mut notes = Vec::new();
    let (encoding, skip) = encoding_of(bytes, &mut notes);
    let rest = bytes.get(skip..).unwrap_or_default();
    let (text, has_errors) = encoding.decode_without_bom_handling(rest);
    if has_errors {
        notes.push(format!("some bytes are not {}: they became U+FFFD", encoding.name()));
    }
    if text.trim().is_empty() {
        return Err(Error::input(format!("{name} is empty")).help("fetch it again"));
    }
    let nul = text.bytes().filter(|byte| *byte == 0).count();
    if nul > 0 {
        notes.push(format!("{nul} NUL characters"));
    }
    Ok(Decoded { text: text.into_owned(), notes })
}

fn encoding_of(bytes: &[u8], notes: &mut Vec<String>) -> (&'static Encoding, usize) {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        notes.push(format!("a byte order mark: {}", encoding.name()));
        return (encoding, length);
    }
    // Text in UTF-16 without a mark: every second byte of Latin text is zero.
    let head = bytes.get(..bytes.len().min(2048)).unwrap_or_default();
    let zeros = |offset: usize| head.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count();
    for (offset, encoding) in [(1, UTF_16LE), (0, UTF_16BE)] {
        if head.len() >= 8 && zeros(offset) * 4 > head.len() && zeros(1 - offset) * 20 < head.len() {
            notes.push(format!("no byte order mark; read as {}", encoding.name()));
            return (encoding, 0);
        }
    }
    if std::str::from_utf8(bytes).is_ok() {
        return (UTF_8, 0);
    }
    if let Some(encoding) = declared(head)
        && encoding != UTF_8
    {
        notes.push(format!("declared as {}", encoding.name()));
        return (encoding, 0);
    }
    // UTF-8 with a few broken bytes stays UTF-8; anything else of one byte a letter is Western European.
    let broken = String::from_utf8_lossy(bytes).matches('\u{fffd}').count();
    let wide = bytes.iter().filter(|byte| **byte >= 0x80).count();
    if broken * 4 < wide {
        return (UTF_8, 0);
    }
    notes.push("not UTF-8; read as windows-1252 (Latin-1)".to_owned());
    (WINDOWS_1252, 0)
}

/// The encoding that HTML or XML names in its first bytes.
fn declared(head: &[u8]) -> Option<&'static Encoding> {
    let head: String = head.iter().map(|byte| char::from(*byte).to_ascii_lowercase()).collect();
    let at = ["charset=", "encoding="].iter().find_map(|key| head.find(key).map(|at| at + key.len()))?;
    let name: String = head[at..]
        .trim_start_matches(['"', '\''])
        .chars()
        .take_while(|letter| letter.is_ascii_alphanumeric() || "-_".contains(*letter))
        .collect();
    Encoding::for_label(name.as_bytes())
}

/// JSON from other tools' writers may hold bare `NaN` and `Infinity`, which are no JSON. Outside of strings they
/// become null; the number of them is returned.
pub(crate) fn without_nan(text: &str) -> (std::borrow::Cow<'_, str>, usize) {
    if !["NaN", "Infinity"].iter().any(|token| text.contains(token)) {
        return (text.into(), 0);
    }
    let mut clean = String::with_capacity(text.len());
    let (mut count, mut rest, mut in_string) = (0, text, false);
    while let Some(first) = rest.chars().next() {
        let token = ["NaN", "-Infinity", "Infinity"].into_iter().find(|token| !in_string && rest.starts_with(token));
        let step = match (token, first) {
            (Some(token), _) => {
                clean.push_str("null");
                count += 1;
                rest = &rest[token.len()..];
                continue;
            }
            (None, '\\') if in_string => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            (None, '"') => {
                in_string = !in_string;
                1
            }
            (None, other) => other.len_utf8(),
        };
        clean.push_str(&rest[..step]);
        rest = &rest[step..];
    }
    (clean.into(), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_read_from_every_encoding() {
        let text = "Article 5 — L'État protège l'œuvre";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let (latin, _, _) = WINDOWS_1252.encode(text);
        let cases: [Vec<u8>; 6] = [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            [&b"\xff\xfe"[..], &little].concat(),
            [&b"\xfe\xff"[..], &big].concat(),
            little.clone(),
            latin.to_vec(),
        ];
        for (place, bytes) in cases.iter().enumerate() {
            let found = decode("act.txt", bytes).unwrap();
            assert_eq!(found.text, text, "case {place}");
            assert_eq!(found.notes.is_empty(), place == 0, "{:?}", found.notes);
        }
        let html = b"<meta charset=\"iso-8859-15\"><p>\xa4</p>";
        assert!(decode("act.html", html).unwrap().text.contains('€'));
    }

    #[test]
    fn what_is_no_text_is_named() {
        for (bytes, word) in [
            (&b"PK\x03\x04rest"[..], "ZIP"),
            (b"%PDF-1.7", "PDF"),
            (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "LFS"),
            (b"", "empty"),
            (b" \n\t", "empty"),
            (b"\xef\xbb\xbf", "empty"),
        ] {
            let error = decode("act.html", bytes).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("act.html") && error.contains("help:"), "{error}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert!(read_text(folder.path()).unwrap_err().to_string().contains("is a folder"));
    }

    #[test]
    fn nan_becomes_null_outside_of_strings_only() {
        let (clean, count) = without_nan(r#"{"a": NaN, "b": "NaN \" NaN", "c": [-Infinity, Infinity]}"#);
        assert_eq!((&*clean, count), (r#"{"a": null, "b": "NaN \" NaN", "c": [null, null]}"#, 3));
        assert_eq!(without_nan("{}").1, 0);
    }
}
