//! White space between words and lines.
#![cfg_attr(not(feature = "html"), allow(dead_code))]

/// What stands between the text so far and the text to come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    #[default]
    None,
    Space,
    Line,
}

/// A stretch of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Run<'a> {
    /// White space, of any kind and length.
    Space,
    /// Words with single spaces between them, and nothing else.
    Words(&'a str),
}

/// Parts a text into words and the white space around them. Words stay together where they stand as they shall stand, so
/// that most text is one run.
pub(super) fn runs(text: &str) -> impl Iterator<Item = Run<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (words, after) = rest.split_at(words(rest));
        if !words.is_empty() {
            rest = after;
            return Some(Run::Words(words));
        }
        rest = rest.trim_start();
        Some(Run::Space)
    })
}

/// How many bytes of words with single spaces between them begin a text.
fn words(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut end) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b' ' if at == end && at > 0 => at += 1,
            b' ' | b'\t'..=b'\r' => break,
            0..=0x7f => {
                at += 1;
                end = at;
            }
            _ => {
                let letter = text.get(at..).and_then(|rest| rest.chars().next());
                let Some(letter) = letter.filter(|letter| !letter.is_whitespace()) else { break };
                at += letter.len_utf8();
                end = at;
            }
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_together_unless_their_space_is_another() {
        let told: Vec<Run> = runs(" a l’été  b\u{a0}c\n").collect();
        let (space, words) = (Run::Space, Run::Words);
        assert_eq!(told, [space, words("a l’été"), space, words("b"), space, words("c"), space]);
        assert_eq!(runs("").count(), 0);
    }

    proptest::proptest! {
        #[test]
        fn every_word_and_every_space_is_told(
            text in "[ \t\n\u{b}\u{85}\u{a0}\u{1680}\u{2003}\u{2028}\u{3000}\u{1c}aé’«漢]{0,24}",
        ) {
            let told: String = runs(&text).map(|run| if let Run::Words(words) = run { words } else { " " }).collect();
            let begins = if text.starts_with(char::is_whitespace) { " " } else { "" };
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let ends = if !words.is_empty() && text.ends_with(char::is_whitespace) { " " } else { "" };
            proptest::prop_assert_eq!(told, format!("{begins}{words}{ends}"));
        }
    }
}
