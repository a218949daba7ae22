//! Everything that the checker knows of one sentence.

use std::collections::{HashMap, HashSet};

use super::citation::{self, Role};
use super::lexicon::{denied, is_exception, is_negator, is_only, modal};
use super::operator::{self, Operator};
use super::quantity::{self, Quantity};
use super::synonym;
use crate::text::language::Language;
use crate::text::stem::stem;
use crate::text::stop::is_stop;
use crate::text::token::{Kind, Token, tokens};

/// The profile of a sentence.
#[derive(Debug, Clone, Default)]
pub(super) struct Profile {
    /// Words and numbers in order, without marks.
    pub words: Vec<String>,
    vocabulary: HashSet<String>,
    /// The distinct stems of its content words, in order.
    pub content: Vec<String>,
    stems: HashSet<String>,
    pub quantities: Vec<Quantity>,
    pub citations: Vec<String>,
    /// Each operator once, in order.
    pub operators: Vec<Operator>,
    /// Where the operators on a stem are in `operators`.
    heads: HashMap<String, Vec<usize>>,
    /// It restricts: *only*, *ne ... que*.
    pub only: bool,
    /// It names an exception: *unless*, *sauf*, *without*.
    pub exception: bool,
}

impl Profile {
    pub fn new(text: &str, language: Language) -> Self {
        let tokens = tokens(text, language);
        let mut roles = vec![Role::Free; tokens.len()];
        let citations = citation::take(&tokens, &mut roles);
        let quantities = quantity::take(&tokens, &mut roles, language);
        let reading = operator::read(&tokens, &roles, language);
        let mut content = Vec::new();
        let mut stems = HashSet::new();
        for (index, token) in tokens.iter().enumerate() {
            let free = roles.get(index) == Some(&Role::Free) && !reading.modals.contains(&index);
            if !(free && is_content(token, language)) {
                continue;
            }
            let stem = content_stem(&token.text, language);
            if stems.insert(stem.clone()) {
                content.push(stem);
            }
        }
        let words = word_texts(&tokens);
        let (operators, heads) = by_head(reading.operators);
        let any = |test: fn(&str, Language) -> bool| tokens.iter().any(|token| test(&token.text, language));
        let unless = language == Language::French
            && tokens
                .windows(2)
                .any(|pair| matches!(pair, [a, b] if a.is("moins") && matches!(b.text.as_str(), "que" | "qu")));
        Self {
            only: reading.restricts || any(is_only),
            exception: unless || any(is_exception),
            operators,
            heads,
            vocabulary: words.iter().cloned().collect(),
            words,
            content,
            stems,
            quantities,
            citations,
        }
    }

    pub fn has(&self, stem: &str) -> bool {
        self.stems.contains(stem)
    }

    /// The operators on a stem.
    pub fn on(&self, head: &str) -> impl Iterator<Item = &Operator> {
        self.heads.get(head).into_iter().flatten().filter_map(|index| self.operators.get(*index))
    }

    pub fn has_word(&self, word: &str) -> bool {
        self.vocabulary.contains(word)
    }
}

/// Repetitions taken out, and an index by stem, so that a text that repeats itself costs no more than another.
fn by_head(all: Vec<Operator>) -> (Vec<Operator>, HashMap<String, Vec<usize>>) {
    let mut operators: Vec<Operator> = Vec::new();
    let mut heads: HashMap<String, Vec<usize>> = HashMap::new();
    for operator in all {
        let places = heads.entry(operator.head.clone()).or_default();
        if !places.iter().any(|index| operators.get(*index) == Some(&operator)) {
            places.push(operators.len());
            operators.push(operator);
        }
    }
    (operators, heads)
}

/// The words and numbers of some tokens, for comparison word by word.
pub(super) fn word_texts(tokens: &[Token]) -> Vec<String> {
    tokens.iter().filter(|token| token.kind != Kind::Mark).map(|token| token.text.clone()).collect()
}

fn is_content(token: &Token, language: Language) -> bool {
    let word = token.text.as_str();
    token.kind == Kind::Word
        && !is_stop(word, language)
        && modal(word, language).is_none()
        && !is_negator(word, language)
}

/// The stem by which a content word is compared: that of the word it denies, of its common spelling or synonym.
pub(super) fn content_stem(word: &str, language: Language) -> String {
    let word = denied(word, language).unwrap_or(word);
    let common = match word {
        "valide" | "valides" => "valable",
        "1er" | "1re" | "premiere" | "premieres" | "premiers" => "premier",
        "2e" | "2eme" | "second" | "seconde" if language == Language::French => "deuxieme",
        "1st" => "first",
        "2nd" => "second",
        "3rd" => "third",
        "judgement" => "judgment",
        "licence" => "license",
        other => other,
    };
    synonym::common(&stem(common, language), language).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_citations_are_no_content() {
        let profile = Profile::new("Under Article 33, the breach must be notified within 72 hours.", Language::English);
        assert_eq!(profile.citations, ["33"]);
        assert_eq!(profile.quantities.len(), 1);
        assert_eq!(profile.content, ["breach", "inform"]);
    }
}
