//! Unicode words (UAX #29), with a fast way for what most of a legal text consists of.

use unicode_segmentation::UnicodeSegmentation;

/// What a byte is, as bits, so that a piece of text has those of all its bytes.
const SPACE: u8 = 1;
/// Marks that join nothing when they stand before or after a word: all of ASCII's but the underscore.
const MARK: u8 = 2;
const UPPER: u8 = 4;
/// The underscore, and bytes of characters beyond ASCII.
const OTHER: u8 = 8;

const KINDS: [u8; 256] = {
    let mut kinds = [OTHER; 256];
    let mut byte = 0;
    while byte < 128 {
        let letter = byte as u8;
        if letter.is_ascii_whitespace() {
            kinds[byte] = SPACE;
        } else if letter.is_ascii_uppercase() {
            kinds[byte] = UPPER;
        } else if letter.is_ascii_alphanumeric() {
            kinds[byte] = 0;
        } else if letter.is_ascii_punctuation() && letter != b'_' {
            kinds[byte] = MARK;
        }
        byte += 1;
    }
    kinds
};

fn kind(byte: u8) -> u8 {
    KINDS[usize::from(byte)]
}

/// Calls `found` with every word, in order, and true if it is known to have no capitals. The words are exactly those of [`unicode_words`](UnicodeSegmentation::unicode_words), which this calls wherever a piece between two
/// spaces holds more than letters and digits with marks around them. (One oddity is left out: that function gives a
/// combining letter after a space as a word that begins with the space.)
pub(super) fn words(text: &str, found: &mut impl FnMut(&str, bool)) {
    let mut piece = |from: usize, to: usize, kinds: u8| match text.get(from..to) {
        Some("") | None => {}
        Some(word) if kinds == 0 => found(word, true),
        Some(piece) => marked(piece, found),
    };
    // One look at every byte is enough for most pieces; spaces of ASCII are whole characters that always separate words.
    let (mut kinds, mut start) = (0, 0);
    for (place, byte) in text.bytes().enumerate() {
        let kind = kind(byte);
        if kind == SPACE {
            piece(start, place, std::mem::take(&mut kinds));
            start = place + 1;
        } else {
            kinds |= kind;
        }
    }
    piece(start, text.len(), kinds);
}

/// The words of a piece without spaces.
fn marked(piece: &str, found: &mut impl FnMut(&str, bool)) {
    let is_mark = |byte: &u8| kind(*byte) == MARK;
    let before = piece.bytes().take_while(is_mark).count();
    let rest = &piece.as_bytes()[before..];
    let inner = rest.len() - rest.iter().rev().take_while(|byte| is_mark(byte)).count();
    let Some(word) = piece.get(before..before + inner).filter(|word| !word.is_empty()) else { return };
    match is_lower(word.as_bytes()) {
        Some(is_lower) => found(word, is_lower),
        None => piece.unicode_words().for_each(|word| found(word, false)),
    }
}

/// Whether all letters are small, where these are letters of ASCII and Latin-1 and digits alone.
fn is_lower(mut word: &[u8]) -> Option<bool> {
    let mut is_lower = true;
    loop {
        match word {
            [] => return Some(is_lower),
            // The two bytes of a letter of Latin-1's upper half: all of À to ÿ but × and ÷. From ß on they are small.
            [0xc3, second, rest @ ..] if !matches!(second, 0x97 | 0xb7) => {
                is_lower &= *second >= 0x9f;
                word = rest;
            }
            [first, rest @ ..] if matches!(kind(*first), 0 | UPPER) => {
                is_lower &= kind(*first) == 0;
                word = rest;
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    use super::words;

    fn found(text: &str) -> Vec<String> {
        let mut list = Vec::new();
        words(text, &mut |word, is_lower| {
            assert!(!is_lower || word.to_lowercase() == word, "{word}");
            list.push(word.to_owned());
        });
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
