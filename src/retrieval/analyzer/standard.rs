//! Unicode words (UAX #29), with a fast way for what most of a legal text consists of.

use unicode_segmentation::UnicodeSegmentation;

/// What a byte of a word-like piece may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A letter or digit.
    Word,
    /// White space, which always separates words.
    Space,
    /// Punctuation that always separates words.
    Break,
    /// Punctuation that may join what stands on either side of it, and bytes of characters beyond ASCII.
    Other,
}

const fn classes() -> [Class; 256] {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        let letter = byte as u8;
        table[byte] = if letter.is_ascii_alphanumeric() {
            Class::Word
        } else if letter.is_ascii_whitespace() {
            Class::Space
        } else {
            match letter {
                b'\'' | b'.' | b':' | b',' | b';' | b'_' | b'"' => Class::Other,
                _ => Class::Break,
            }
        };
        byte += 1;
    }
    table
}

const CLASSES: [Class; 256] = classes();

/// Calls `found` with every word, in order. The words are exactly those of
/// [`unicode_words`](UnicodeSegmentation::unicode_words), which this calls wherever a piece between two spaces holds
/// more than letters and digits with marks around them. (One oddity is left out: that function gives a combining letter
/// after a space as a word that begins with the space.)
pub(super) fn words(text: &str, found: &mut impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        while at < bytes.len() && CLASSES[bytes[at] as usize] == Class::Space {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && CLASSES[bytes[at] as usize] != Class::Space {
            at += 1;
        }
        // Spaces of ASCII are whole characters, so both ends are boundaries.
        if let Some(piece) = text.get(start..at).filter(|piece| !piece.is_empty()) {
            piece_words(piece, found);
        }
    }
}

/// The words of a piece without white space of ASCII.
fn piece_words(piece: &str, found: &mut impl FnMut(&str)) {
    let bytes = piece.as_bytes();
    let mut from = 0;
    while from < bytes.len() && is_mark(bytes[from]) {
        from += 1;
    }
    let mut to = bytes.len();
    while to > from && is_mark(bytes[to - 1]) {
        to -= 1;
    }
    let mut plain = true;
    let mut at = from;
    while at < to {
        if CLASSES[bytes[at] as usize] == Class::Word {
            at += 1;
        } else if at + 1 < to && is_latin_letter(bytes[at], bytes[at + 1]) {
            at += 2;
        } else {
            plain = false;
            break;
        }
    }
    if !plain {
        piece.unicode_words().for_each(found);
    } else if let Some(word) = piece.get(from..to).filter(|word| !word.is_empty()) {
        found(word);
    }
}

/// Marks that join nothing when they stand before or after a word.
fn is_mark(byte: u8) -> bool {
    byte.is_ascii_punctuation() && byte != b'_'
}

/// The two bytes of a letter of Latin-1's upper half: all of À to ÿ but × and ÷.
fn is_latin_letter(first: u8, second: u8) -> bool {
    first == 0xc3 && (0x80..=0xbf).contains(&second) && second != 0x97 && second != 0xb7
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    use super::words;

    fn found(text: &str) -> Vec<String> {
        let mut list = Vec::new();
        words(text, &mut |word| list.push(word.to_owned()));
        list
    }

    fn expected(text: &str) -> Vec<String> {
        text.unicode_words()
            .map(|word| word.trim_start_matches(|letter: char| letter.is_ascii_whitespace()).to_owned())
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn the_fast_way_finds_the_words_of_the_standard(text in "[a-cA-C0-2éÀœ×’'.,:;_\"()\\-/ \n\u{a0}\u{202f}\u{301}\u{200d}א一カ😀]{0,24}") {
            prop_assert_eq!(found(&text), expected(&text));
        }

        #[test]
        fn on_any_text(text in "\\PC{0,40}") {
            prop_assert_eq!(found(&text), expected(&text));
        }
    }
}
