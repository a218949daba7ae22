//! The languages that the baseline has word lists for.

use unicode_segmentation::UnicodeSegmentation;

use super::fold::fold;

/// A language of the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    English,
    /// French.
    French,
}

impl Language {
    /// The language that more of the text's small words belong to; English when neither leads.
    #[must_use]
    pub fn detect(text: &str) -> Self {
        let (mut english, mut french) = (0_usize, 0_usize);
        for word in text.unicode_words() {
            let word = fold(word);
            english += usize::from(is_english(&word));
            french += usize::from(is_french(&word));
        }
        if french > english { Self::French } else { Self::English }
    }

    /// The language of an ISO 639-1 code, in any case, with or without a region (`en`, `fr-BE`).
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        let code = code.trim().to_ascii_lowercase();
        match code.split(['-', '_']).next() {
            Some("en") => Some(Self::English),
            Some("fr") => Some(Self::French),
            _ => None,
        }
    }

    /// The ISO 639-1 code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::French => "fr",
        }
    }
}

/// Frequent English words that are no French words.
fn is_english(word: &str) -> bool {
    matches!(
        word,
        "the"
            | "of"
            | "and"
            | "to"
            | "is"
            | "that"
            | "shall"
            | "for"
            | "by"
            | "with"
            | "be"
            | "are"
            | "which"
            | "or"
            | "not"
            | "this"
            | "must"
            | "may"
            | "in"
            | "it"
            | "was"
            | "has"
            | "have"
            | "from"
            | "can"
            | "any"
            | "an"
            | "no"
            | "does"
            | "what"
            | "how"
            | "who"
            | "when"
            | "if"
            | "under"
    )
}

/// Frequent French words that are no English words, and words with an elided article.
fn is_french(word: &str) -> bool {
    matches!(
        word,
        "le" | "la"
            | "les"
            | "des"
            | "du"
            | "de"
            | "et"
            | "est"
            | "une"
            | "un"
            | "que"
            | "qui"
            | "dans"
            | "pour"
            | "par"
            | "sur"
            | "au"
            | "aux"
            | "ne"
            | "pas"
            | "ou"
            | "ce"
            | "cette"
            | "doit"
            | "peut"
            | "sont"
            | "il"
            | "elle"
            | "en"
            | "avec"
            | "son"
            | "sa"
            | "ses"
            | "quel"
            | "quelle"
            | "sans"
            | "selon"
    ) || word.split_once('\'').is_some_and(|(head, _)| matches!(head, "l" | "d" | "qu" | "n" | "s" | "c" | "j"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_words_tell_the_language() {
        assert_eq!(Language::detect("The controller shall notify the authority."), Language::English);
        assert_eq!(Language::detect("L’employeur doit notifier la rupture."), Language::French);
        assert_eq!(Language::detect(""), Language::English);
    }

    #[test]
    fn codes() {
        assert_eq!(Language::from_code(" FR-be "), Some(Language::French));
        assert_eq!(Language::from_code("en"), Some(Language::English));
        assert_eq!(Language::from_code("de"), None);
    }
}
