//! English and French as the embedded baselines read them: sentences, words, numbers. Word lists and suffix rules,
//! no model.

pub(crate) mod abstain;
pub(crate) mod fold;
pub(crate) mod language;
pub(crate) mod list;
pub(crate) mod number;
pub(crate) mod sentence;
pub(crate) mod stem;
pub(crate) mod stop;
pub(crate) mod token;

pub use abstain::is_abstention;
pub use language::Language;
pub use sentence::sentences;

use token::Kind;

/// The stems of the words that carry content, in order, repetitions included.
#[must_use]
pub fn content_words(text: &str, language: Language) -> Vec<String> {
    token::tokens(text, language)
        .into_iter()
        .filter(|token| token.kind != Kind::Mark && !stop::is_stop(&token.text, language))
        .map(|token| stem::stem(&token.text, language))
        .collect()
}
