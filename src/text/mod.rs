//! English and French as the embedded baselines read them: sentences, words, numbers. Word lists and suffix rules,
//! no model.

mod abstain;
mod fold;
mod language;
mod list;
mod number;
mod sentence;
mod stem;
mod stop;
mod token;

pub use abstain::is_abstention;
pub use language::Language;
pub use sentence::sentences;

pub(crate) use fold::fold;
pub(crate) use list::strip_marker;
pub(crate) use number::read as read_number;
pub(crate) use stem::stem;
pub(crate) use stop::is_stop;
pub(crate) use token::{Kind, Token, tokens};

/// The stems of the words that carry content, in order, repetitions included.
#[must_use]
pub fn content_words(text: &str, language: Language) -> Vec<String> {
    tokens(text, language)
        .into_iter()
        .filter(|token| token.kind != Kind::Mark && !is_stop(&token.text, language))
        .map(|token| stem(&token.text, language))
        .collect()
}
