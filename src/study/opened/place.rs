//! Where in a text a claim is made.
//!
//! Claims come without places: an extractor words them anew. So a claim is put at the sentence that holds its words,
//! and nowhere when no sentence holds enough of them. It is a help for reading, never part of a verdict.

use std::collections::HashSet;

use crate::text::{Language, content_words, sentences};

/// The least share of a claim's content words that a sentence must hold.
const LEAST: f64 = 0.4;

/// A text cut into sentences, ready to be searched.
pub(super) struct Placed<'a> {
    /// Sentences with what stands before each.
    parts: Vec<(&'a str, &'a str)>,
    words: Vec<HashSet<String>>,
    rest: &'a str,
    language: Language,
}

impl<'a> Placed<'a> {
    pub(super) fn new(text: &'a str, language: Language) -> Self {
        let (mut parts, mut at) = (Vec::new(), 0);
        for sentence in sentences(text, language) {
            let Some(start) = text[at..].find(sentence).map(|found| at + found) else { continue };
            parts.push((&text[at..start], sentence));
            at = start + sentence.len();
        }
        let words = parts.iter().map(|(_, sentence)| content_words(sentence, language).into_iter().collect()).collect();
        Self { parts, words, rest: &text[at..], language }
    }

    /// The number of the sentence that a claim stands in, or holds most of its words.
    pub(super) fn find(&self, claim: &str) -> Option<usize> {
        let bare = claim.trim().trim_end_matches('.');
        if let Some(exact) = self.parts.iter().position(|(_, sentence)| !bare.is_empty() && sentence.contains(bare)) {
            return Some(exact);
        }
        let words: HashSet<String> = content_words(claim, self.language).into_iter().collect();
        let shared = |place: usize| words.intersection(&self.words[place]).count();
        let best = (0..self.parts.len()).max_by_key(|place| (shared(*place), std::cmp::Reverse(*place)))?;
        (shared(best) as f64 >= LEAST * words.len() as f64 && shared(best) > 0).then_some(best)
    }

    /// All sentences in order, each with what stands before it; then what follows the last.
    pub(super) fn parts(&self) -> (&[(&'a str, &'a str)], &'a str) {
        (&self.parts, self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_stands_at_the_sentence_that_holds_its_words() {
        let text = "Le bailleur entretient le toit.  Le preneur paie le loyer chaque mois ; il assure la maison.\nFin";
        let placed = Placed::new(text, Language::French);
        assert_eq!(placed.find("Le loyer est payé par le preneur."), Some(1));
        assert_eq!(placed.find("Le bailleur entretient le toit"), Some(0));
        assert_eq!(placed.find("La société est dissoute."), None);
        assert_eq!(placed.find(""), None);
        let (parts, rest) = placed.parts();
        let whole: String = parts.iter().flat_map(|(before, sentence)| [*before, *sentence]).collect::<String>() + rest;
        assert_eq!(whole, text);
        assert_eq!(Placed::new("", Language::English).find("a claim"), None);
    }
}
