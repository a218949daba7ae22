//! One spelling for what readers see as one word.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Lower case, no accents, no ligatures, and one apostrophe.
pub(crate) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for letter in text.nfd().filter(|letter| !is_combining_mark(*letter)).flat_map(char::to_lowercase) {
        match letter {
            '’' | '‘' | 'ʼ' | '＇' => folded.push('\''),
            '‐' | '‑' => folded.push('-'),
            'œ' => folded.push_str("oe"),
            'æ' => folded.push_str("ae"),
            other if is_combining_mark(other) => {}
            other => folded.push(other),
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn accents_case_and_apostrophes() {
        assert_eq!(fold("L’Été du CŒUR"), "l'ete du coeur");
        assert_eq!(fold("İ"), "i");
    }
}
