//! From a text to the terms that are indexed and searched for.

mod citation;
mod legal;
mod standard;

use crate::error::{Error, Result};

/// How texts and questions become terms. The same analyzer serves both.
///
/// ```
/// use claimlab::retrieval::Analyzer;
/// let text = "L’employeur n'invoque pas l'article L. 121-1.";
/// // What OpenSearch's default makes of it: elided articles stay glued to their words.
/// assert_eq!(Analyzer::OpensearchStandard.terms(text)[0], "l’employeur");
/// let terms = Analyzer::LegalFr.terms(text);
/// assert!(terms.contains(&"art.l121-1".to_owned()) && terms.contains(&"pas".to_owned()));
/// assert_eq!(Analyzer::LegalFr.terms("l'employeur"), Analyzer::LegalFr.terms("employeurs"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Analyzer {
    /// OpenSearch's and Lucene's `standard`: Unicode words (UAX #29) in lower case, and nothing else. Words longer
    /// than 255 UTF-16 units are split there, as Lucene does.
    OpensearchStandard,
    /// English law: possessives cut, stop words out but negations kept, citations also whole; Snowball's stems,
    /// folded afterwards.
    LegalEn,
    /// French law: elisions cut at either apostrophe, stop words out but negations kept, citations also whole;
    /// Snowball's stems, folded afterwards.
    LegalFr,
}

impl Analyzer {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::OpensearchStandard, Self::LegalEn, Self::LegalFr];

    /// As specifications and tables name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpensearchStandard => "opensearch_standard",
            Self::LegalEn => "legal_en",
            Self::LegalFr => "legal_fr",
        }
    }

    /// The analyzer of that name.
    ///
    /// # Errors
    /// When there is none.
    pub fn parse(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| {
            Error::input(format!("there is no analyzer {name:?}"))
                .help("choose opensearch_standard, legal_en or legal_fr")
        })
    }

    /// The legal analyzer of a language's ISO 639-1 code.
    ///
    /// # Errors
    /// When it is neither English nor French.
    pub fn legal(language: &str) -> Result<Self> {
        match language.trim().to_ascii_lowercase().split(['-', '_']).next() {
            Some("en") => Ok(Self::LegalEn),
            Some("fr") => Ok(Self::LegalFr),
            _ => Err(Error::input(format!("there is no legal analyzer for the language {language:?}"))
                .help("set the chunks' column \"language\" to en or fr, or use Analyzer::OpensearchStandard")),
        }
    }

    /// The terms of a text, in order, repetitions included.
    #[must_use]
    pub fn terms(self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.each_term(text, &mut Terms::default(), &mut |term| terms.push(term.to_owned()));
        terms
    }

    /// Calls `found` with the terms of a text, in order; `buffer` is for those that do not stand in the text as they are.
    pub(super) fn each_term(self, text: &str, buffer: &mut Terms, found: &mut impl FnMut(&str)) {
        buffer.clear();
        match self {
            Self::OpensearchStandard => {
                return standard::words(text, &mut |word, is_lower| {
                    if is_lower && word.len() <= LONGEST {
                        return found(word);
                    }
                    buffer.clear();
                    buffer.push_lowercase(word);
                    buffer.iter().for_each(&mut *found);
                });
            }
            Self::LegalEn => legal::english(text, buffer),
            Self::LegalFr => legal::french(text, buffer),
        }
        buffer.iter().for_each(found);
    }
}

/// Terms in one string, so that analysing a text allocates nothing once the buffer has grown.
#[derive(Debug, Clone, Default)]
pub(super) struct Terms {
    text: String,
    ends: Vec<usize>,
}

/// Lucene's limit for one term, in UTF-16 units.
const LONGEST: usize = 255;

impl Terms {
    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().filter_map(move |end| self.text.get(std::mem::replace(&mut start, *end)..*end))
    }

    fn push(&mut self, term: &str) {
        if !term.is_empty() {
            self.text.push_str(term);
            self.ends.push(self.text.len());
        }
    }

    /// Adds a word in lower case, letter by letter as Lucene does it, in pieces if it is longer than Lucene's limit.
    fn push_lowercase(&mut self, word: &str) {
        if word.len() <= LONGEST {
            self.text.extend(word.chars().map(lowercase));
        } else {
            let mut units = 0;
            for letter in word.chars() {
                if units + letter.len_utf16() > LONGEST {
                    self.ends.push(self.text.len());
                    units = 0;
                }
                units += letter.len_utf16();
                self.text.push(lowercase(letter));
            }
        }
        self.ends.push(self.text.len());
    }
}

/// One letter for one letter: only U+0130 has a lower case of two, and Lucene takes the first.
fn lowercase(letter: char) -> char {
    match letter {
        'À'..='Þ' if letter != '×' => char::from_u32(u32::from(letter) + 0x20).unwrap_or(letter),
        '\0'..='ÿ' => letter.to_ascii_lowercase(),
        _ => letter.to_lowercase().next().unwrap_or(letter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_analyzers() {
        for analyzer in Analyzer::ALL {
            assert_eq!(Analyzer::parse(analyzer.name()).unwrap(), analyzer);
        }
        assert!(Analyzer::parse("french").unwrap_err().to_string().contains("legal_fr"));
        assert_eq!(Analyzer::legal("FR-lu").unwrap(), Analyzer::LegalFr);
        assert!(Analyzer::legal("de").is_err());
    }

    #[test]
    fn standard_words_are_those_that_opensearch_documents() {
        // The example of OpenSearch's page on the standard analyzer.
        assert_eq!(
            Analyzer::OpensearchStandard.terms("It’s fun to contribute a brand-new PR or 2 to OpenSearch!"),
            ["it’s", "fun", "to", "contribute", "a", "brand", "new", "pr", "or", "2", "to", "opensearch"]
        );
        assert_eq!(
            Analyzer::OpensearchStandard.terms("L'employeur, L.R.C. 12.3 1,000 snake_case and/or ÉTAT"),
            ["l'employeur", "l.r.c", "12.3", "1,000", "snake_case", "and", "or", "état"]
        );
    }

    #[test]
    fn every_letter_has_the_lower_case_of_unicode() {
        for letter in '\0'..=char::MAX {
            assert_eq!(lowercase(letter), letter.to_lowercase().next().unwrap(), "{letter:?}");
        }
    }

    #[test]
    fn long_words_are_split_and_not_dropped() {
        let terms = Analyzer::OpensearchStandard.terms(&"a".repeat(600));
        assert_eq!(terms.iter().map(String::len).collect::<Vec<_>>(), [255, 255, 90]);
        let terms = Analyzer::OpensearchStandard.terms(&"é".repeat(256));
        assert_eq!(terms.iter().map(|term| term.chars().count()).collect::<Vec<_>>(), [255, 1]);
    }

    #[test]
    fn nothing_comes_of_nothing() {
        for analyzer in Analyzer::ALL {
            for text in ["", " \n\t", "... — !? «»", "\u{0301}"] {
                assert!(analyzer.terms(text).is_empty(), "{} of {text:?}", analyzer.name());
            }
        }
    }
}
