//! Files as text: what a file really is, and in which encoding.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::error::{Error, ErrorKind, Result};
use crate::signal::{self, Progress};

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
    decode(&path.display().to_string(), read(path)?)
}

const MEGABYTE: usize = 1_000_000;
/// How much is read between two looks at the clock and at the user's wish to stop.
const STEP: usize = 16 * MEGABYTE;

/// Reads a file's bytes; a large file shows its progress.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let refused = |error: std::io::Error| Error::file(path, &error);
    let (mut file, length) = open(path)?;
    let mut bytes = Vec::new();
    let Some(length) = usize::try_from(length).ok().filter(|length| bytes.try_reserve_exact(*length).is_ok()) else {
        return Err(Error::new(
            ErrorKind::Limit,
            format!("{} holds {length} bytes, more than there is memory for", path.display()),
        )
        .help("read a part of it; HTML of any size passes through stream_html"));
    };
    let progress = Progress::new(&format!("Reading {} (MB)", path.display()), length / MEGABYTE);
    loop {
        signal::check("the file stays where it is")?;
        let found = file.by_ref().take(STEP as u64).read_to_end(&mut bytes).map_err(refused)?;
        if found == 0 {
            return Ok(bytes);
        }
        progress.advance(found / MEGABYTE);
    }
}

/// Opens a file, and says how long it is.
fn open(path: &Path) -> Result<(File, u64)> {
    let refused = |error: std::io::Error| Error::file(path, &error);
    let about = path.metadata().map_err(refused)?;
    if about.is_dir() {
        return Err(
            Error::input(format!("{} is a folder, expected a file", path.display())).help("name the file inside it")
        );
    }
    Ok((File::open(path).map_err(refused)?, about.len()))
}

const PARQUET: &[u8] = b"PAR1";

/// Files that are not text, by their first bytes.
const KINDS: [(&[u8], &str, &str); 6] = [
    (b"PK\x03\x04", "a ZIP archive", "unpack it and name the file inside"),
    (b"%PDF", "a PDF", "take the HTML, XHTML or XML of the same publication"),
    (b"\x1f\x8b", "a gzip archive", "unpack it with gunzip"),
    (PARQUET, "a Parquet file", "read it with read_frame"),
    (b"\x89PNG", "an image", "take the text of the same publication"),
    (
        b"version https://git-lfs.github.com/spec/",
        "a Git LFS pointer, not the file itself",
        "run `git lfs pull` in its repository, or download the file from its page",
    ),
];

/// Refuses a file that does not begin as Parquet does, and says what it is instead.
pub(crate) fn expect_parquet(path: &Path) -> Result<()> {
    let mut head = Vec::new();
    open(path)?.0.take(64).read_to_end(&mut head).map_err(|error| Error::file(path, &error))?;
    if head.starts_with(PARQUET) {
        return Ok(());
    }
    let (what, help) = match KINDS.iter().find(|(magic, _, _)| head.starts_with(magic)) {
        Some((_, what, help)) => (*what, *help),
        None if head.is_empty() => ("empty", "fetch it again"),
        None => ("something else", "give it the ending of what it holds: .csv, .tsv, .json or .jsonl"),
    };
    Err(Error::input(format!("{} is {what}, expected a Parquet file", path.display())).help(help))
}

/// Decodes the bytes of a file called `name`.
pub(crate) fn decode<'a>(name: &str, bytes: impl Into<Cow<'a, [u8]>>) -> Result<Decoded> {
    let bytes = bytes.into();
    for (magic, what, help) in KINDS {
        if bytes.starts_with(magic) {
            return Err(Error::input(format!("{name} is {what}, expected text")).help(help));
        }
    }
    let mut notes = Vec::new();
    let (encoding, skip) = encoding_of(&bytes, &mut notes);
    let decoded = |bytes: &[u8], notes: &mut Vec<String>| {
        let (text, has_errors) = encoding.decode_without_bom_handling(bytes.get(skip..).unwrap_or_default());
        if has_errors {
            notes.push(format!("some bytes are not {}: they became U+FFFD", encoding.name()));
        }
        text.into_owned()
    };
    let text = if encoding == UTF_8 && skip == 0 {
        // The bytes of most files are their text already; a large one is not copied for it.
        String::from_utf8(bytes.into_owned()).unwrap_or_else(|error| decoded(error.as_bytes(), &mut notes))
    } else {
        decoded(&bytes, &mut notes)
    };
    if text.trim().is_empty() {
        return Err(Error::input(format!("{name} is empty")).help("fetch it again"));
    }
    if text.contains('\0') {
        notes.push(format!("{} NUL characters", text.bytes().filter(|byte| *byte == 0).count()));
    }
    Ok(Decoded { text, notes })
}

/// Whether a text is a page of HTML, as servers send it in the place of a file that they do not have.
pub(crate) fn is_page(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(14).flat_map(char::to_lowercase).collect();
    start.starts_with("<!doctype html") || start.starts_with("<html")
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
        // A name that can be read byte by byte is not in UTF-16, whatever it says.
        && ![UTF_8, UTF_16LE, UTF_16BE].contains(&encoding)
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
        let wrong = b"<meta charset=utf-16><p>caf\xe9</p>";
        assert!(decode("act.html", wrong).unwrap().text.contains("café"));
    }

    #[test]
    fn a_file_of_several_steps_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.txt");
        let text: Vec<u8> = (0..2 * STEP + 12_345).map(|place| b'a' + (place / 1000 % 26) as u8).collect();
        std::fs::write(&path, &text).unwrap();
        assert!(read(&path).unwrap() == text);
        assert!(read_text(&path).unwrap().text.as_bytes() == text);
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
        let file = folder.path().join("x.parquet");
        for (bytes, word) in [
            (&b"version https://git-lfs.github.com/spec/v1\n"[..], "LFS"),
            (b"", "empty"),
            (b"<html>", "something else"),
            (b"PK\x03\x04", "ZIP"),
        ] {
            std::fs::write(&file, bytes).unwrap();
            let error = expect_parquet(&file).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("x.parquet") && error.contains("help:"), "{error}");
        }
        assert!(read_text(folder.path()).unwrap_err().to_string().contains("is a folder"));
    }
}
