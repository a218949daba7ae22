//! Markup of the plainest form, read in place: text, character references that end in `;`, tags in lower case whose
//! attributes are `name="value"`. All else is left to html5ever, and so is what the end of a piece cuts.
//!
//! What is read here is read exactly as the standard's tokenizer reads it from the data state.

use html5ever::LocalName;
use html5ever::data::NAMED_ENTITIES;
use memchr::memchr2;

use super::sink::{is_empty, raw};
use super::{Reader, Tag};

/// Reads as far as all is plain. The rest is empty, or begins with the `<` or `&` of something odd.
pub(super) fn read<'a>(text: &'a str, reader: &mut impl Reader, is_xml: bool) -> &'a str {
    let mut rest = text;
    loop {
        let end = memchr2(b'<', b'&', rest.as_bytes()).unwrap_or(rest.len());
        let (before, markup) = rest.split_at(end);
        characters(before, reader);
        let after = if markup.starts_with('<') { tag(markup, reader, is_xml) } else { reference(markup, reader) };
        match after {
            Some(after) => rest = after,
            None => return markup,
        }
    }
}

/// Text without markup. Ends of lines become line feeds, and NUL, which no text may hold, is replaced.
fn characters(text: &str, reader: &mut impl Reader) {
    let mut rest = text;
    while let Some(at) = memchr2(b'\r', b'\0', rest.as_bytes()) {
        let (before, special) = rest.split_at(at);
        if !before.is_empty() {
            reader.text(before);
        }
        if let Some(after) = special.strip_prefix('\r') {
            reader.text("\n");
            rest = after.strip_prefix('\n').unwrap_or(after);
        } else {
            reader.text("\u{fffd}");
            rest = special.strip_prefix('\0').unwrap_or_default();
        }
    }
    if !rest.is_empty() {
        reader.text(rest);
    }
}

/// A character reference; what follows it, if it was plain.
fn reference<'a>(text: &'a str, reader: &mut impl Reader) -> Option<&'a str> {
    /// No name is longer.
    const LONGEST: usize = "&CounterClockwiseContourIntegral;".len();
    let end = text.bytes().take(LONGEST).position(|byte| byte == b';')? + 1;
    let (written, after) = text.split_at_checked(end)?;
    let name = written.strip_prefix('&')?;
    let (first, second) = match name.strip_prefix('#') {
        Some(number) => (numeric(number.strip_suffix(';')?)?, None),
        None => named(name)?,
    };
    for letter in [Some(first), second].into_iter().flatten() {
        reader.text(letter.encode_utf8(&mut [0; 4]));
    }
    Some(after)
}

/// What a name stands for. With its `;` it cannot be part of a longer one.
fn named(name: &str) -> Option<(char, Option<char>)> {
    let (first, second) = *NAMED_ENTITIES.get(name)?;
    // 0 is no character here.
    let letter = |code| char::from_u32(code).filter(|letter| *letter != '\0');
    Some((letter(first)?, letter(second)))
}

/// The character with a number as in `160` or `xA0`, unless the standard has a rule of its own for it.
fn numeric(number: &str) -> Option<char> {
    let (digits, radix) = number.strip_prefix(['x', 'X']).map_or((number, 10), |digits| (digits, 16));
    // A sign is no digit, though Rust would read it.
    if digits.starts_with('+') {
        return None;
    }
    let character = char::from_u32(u32::from_str_radix(digits, radix).ok()?)?;
    matches!(character, ' '..='~' | '\u{a0}'..).then_some(character)
}

/// A start or end tag; what follows it, if it was plain.
fn tag<'a>(text: &'a str, reader: &mut impl Reader, is_xml: bool) -> Option<&'a str> {
    let inner = text.strip_prefix('<')?;
    if let Some(inner) = inner.strip_prefix('/') {
        let (name, rest) = name(inner)?;
        let after = without_space(rest).strip_prefix('>')?;
        reader.close(&LocalName::from(name));
        return Some(after);
    }
    let (name, written) = name(inner)?;
    let mut attributes = Written(written);
    while attributes.next().is_some() {}
    let end = without_space(attributes.0);
    let (after, is_self_closing) = match end.strip_prefix('>') {
        Some(after) => (after, false),
        None => (end.strip_prefix("/>")?, true),
    };
    let name = LocalName::from(name);
    if !is_xml && raw(&name).is_some() {
        return None;
    }
    let is_empty = is_empty(&name, is_self_closing, is_xml);
    reader.open(&Tag::plain(name, written), is_empty);
    Some(after)
}

/// The attributes that follow the name in a plain tag.
pub(super) fn attributes(written: &str) -> impl Iterator<Item = (&str, &str)> {
    Written(written)
}

/// Attributes as written: ` name="value"` for as long as they have this form.
struct Written<'a>(&'a str);

impl<'a> Iterator for Written<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let bare = without_space(self.0);
        let is_parted = bare.len() < self.0.len();
        let end = bare.bytes().position(|byte| !is_in_attribute_name(byte)).filter(|end| *end > 0 && is_parted)?;
        let (name, rest) = bare.split_at(end);
        let rest = rest.strip_prefix('=')?;
        let quote = rest.bytes().next().filter(|quote| matches!(quote, b'"' | b'\''))?;
        let value = rest.get(1..)?;
        // References, ends of lines and NUL have rules of their own.
        let is_special = |byte: u8| byte == quote || matches!(byte, b'&' | b'\r' | b'\0');
        let (value, rest) = value.split_at(value.bytes().position(is_special)?);
        self.0 = rest.strip_prefix(char::from(quote))?;
        Some((name, value))
    }
}

/// The name that begins a tag, in lower case, with what follows it.
fn name(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b':' | b'.'))?;
    text.starts_with(|first: char| first.is_ascii_lowercase()).then(|| text.split_at(end))
}

fn is_in_attribute_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.')
}

/// A text without the white space that may part attributes; carriage returns are left to html5ever.
fn without_space(text: &str) -> &str {
    text.trim_start_matches([' ', '\n', '\t', '\x0c'])
}
