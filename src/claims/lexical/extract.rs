//! Claims cut out of a text.

use std::collections::HashSet;

use crate::text::{Language, content_words, fold, is_abstention, sentences, strip_marker};

/// Content words that a part must have to stand alone as a claim.
const ENOUGH: usize = 3;

/// The claims of a text: its sentences, split at semicolons where every part has enough words of its own, without
/// list markers, questions, abstentions and repetitions. When in doubt a sentence stays whole.
///
/// ```
/// use claimlab::claims::{Language, lexical::extract};
/// let claims = extract("1. The fee is 30 euros. Is it due? It falls due in early spring; a reminder costs 5 euros more.", Language::English);
/// assert_eq!(claims, ["The fee is 30 euros.", "It falls due in early spring", "a reminder costs 5 euros more."]);
/// ```
#[must_use]
pub fn extract(text: &str, language: Language) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut claims = Vec::new();
    for sentence in sentences(text, language) {
        let sentence = strip_marker(sentence);
        if sentence.ends_with('?') || is_abstention(sentence, language) {
            continue;
        }
        let parts: Vec<&str> = sentence.split(';').map(str::trim).filter(|part| !part.is_empty()).collect();
        let each_stands = parts.iter().all(|part| content_words(part, language).len() >= ENOUGH);
        let parts = if each_stands { parts } else { vec![sentence] };
        for part in parts {
            if !content_words(part, language).is_empty() && seen.insert(fold(part)) {
                claims.push(part.to_owned());
            }
        }
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn french_sentences_with_apostrophes_stay_whole() {
        let text = "L’article 12 s’applique. « L'acte est nul » ; il n'y a pas d'exception prévue par la loi.";
        let claims = extract(text, Language::French);
        assert_eq!(claims.first().map(String::as_str), Some("L’article 12 s’applique."));
        assert_eq!(extract("", Language::French), Vec::<String>::new());
    }

    #[test]
    fn repetitions_count_once() {
        assert_eq!(extract("It applies here. It applies here.", Language::English).len(), 1);
    }
}
