//! Answers that are none.

use super::{Language, fold};

/// Words that an abstention begins or consists of, folded.
const ENGLISH: [&str; 7] = [
    "i cannot answer",
    "i can't answer",
    "i do not know",
    "i don't know",
    "the context does not contain",
    "the retrieved provisions do not answer",
    "no answer can be given",
];
const FRENCH: [&str; 6] = [
    "je ne peux pas repondre",
    "je ne suis pas en mesure de repondre",
    "je ne sais pas",
    "le contexte ne contient pas",
    "les dispositions retrouvees ne repondent pas",
    "aucune reponse ne peut etre donnee",
];

/// Whether a text is nothing but a refusal to answer: it begins with one of a few known phrases and is short.
///
/// ```
/// use claimlab::text::{Language, is_abstention};
/// assert!(is_abstention("I cannot answer this question from the context.", Language::English));
/// assert!(is_abstention("", Language::French));
/// assert!(!is_abstention("The controller cannot answer for the processor.", Language::English));
/// ```
#[must_use]
pub fn is_abstention(text: &str, language: Language) -> bool {
    let plain = fold(text.trim());
    let known: &[&str] = match language {
        Language::English => &ENGLISH,
        Language::French => &FRENCH,
    };
    plain.is_empty() || plain.chars().count() < 160 && known.iter().any(|phrase| plain.starts_with(phrase))
}
