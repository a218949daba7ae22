//! What the baseline keeps of a sentence: content words, quantities, and what is negated, required or permitted.

use std::collections::{HashMap, HashSet};

use crate::text::{Kind, Language, Token, is_stop, read_number, stem, tokens};

/// A number and the word after it that says of what.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantity {
    pub value: f64,
    pub unit: Option<String>,
}

/// What a modal verb does to the word after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Modality {
    Obligation,
    Permission,
}

/// One sentence, taken apart.
#[derive(Debug, Clone, Default)]
pub(super) struct Profile {
    /// Stems of content words; citations stand as `#6`.
    pub words: HashSet<String>,
    pub quantities: Vec<Quantity>,
    /// Stems that a negation bears on.
    pub negated: HashSet<String>,
    /// Stems that a modal verb bears on.
    pub modal: HashMap<String, Modality>,
}

impl Profile {
    pub(super) fn read(text: &str, language: Language) -> Self {
        let tokens = tokens(text, language);
        let mut profile = Self::default();
        // Operators wait for the next content word.
        let (mut negation, mut modality) = (false, None);
        let mut before = "";
        let mut index = 0;
        while let Some(token) = tokens.get(index) {
            let word = token.text.as_str();
            if let Some((value, length)) = read_number(tokens.get(index..).unwrap_or(&[]), language)
                && (token.kind == Kind::Number || counts(&tokens, index + length))
            {
                profile.number(&tokens, index, length, value, before, language);
                before = "";
                index += length;
                continue;
            }
            index += 1;
            if token.kind == Kind::Mark {
                // An operator does not reach over a comma or a bracket.
                (negation, modality) = (false, None);
                continue;
            }
            if is_negation(word, language) {
                negation = true;
            } else if let Some(found) = modality_of(word, language) {
                modality = Some(found);
            } else if !is_stop(word, language) {
                let stem = stem(word, language);
                if std::mem::take(&mut negation) {
                    profile.negated.insert(stem.clone());
                }
                if let Some(found) = modality.take() {
                    profile.modal.insert(stem.clone(), found);
                }
                profile.words.insert(stem);
            }
            before = word;
        }
        profile
    }

    fn number(&mut self, tokens: &[Token], at: usize, length: usize, value: f64, before: &str, language: Language) {
        if is_citation(before) {
            self.words.insert(format!("#{value}"));
            return;
        }
        let sign_before = at.checked_sub(1).and_then(|place| tokens.get(place)).and_then(|token| unit(&token.text));
        let after = tokens.get(at + length);
        let unit = after
            .and_then(|token| unit(&token.text))
            .or(sign_before)
            .map(str::to_owned)
            .or_else(|| after.filter(|token| token.kind == Kind::Word).map(|token| stem(&token.text, language)));
        self.quantities.push(Quantity { value, unit });
    }
}

/// A number word counts as a number only before a word ("one" alone is a pronoun, "un" an article).
fn counts(tokens: &[Token], after: usize) -> bool {
    tokens.get(after).is_some_and(|token| unit(&token.text).is_some() || is_time(&token.text))
}

fn is_time(word: &str) -> bool {
    let units = [
        "second", "minute", "hour", "day", "week", "month", "year", "heure", "jour", "semaine", "mois", "an", "annee",
        "times", "fois", "person", "personne", "temoin", "witness", "tiers", "third", "working", "calendar", "article",
    ];
    units.iter().any(|unit| word == *unit || word.strip_suffix('s') == Some(unit))
}

/// Currencies and shares under one name.
fn unit(word: &str) -> Option<&'static str> {
    Some(match word {
        "eur" | "euro" | "euros" | "€" => "eur",
        "%" | "percent" | "pourcent" => "%",
        _ => return None,
    })
}

/// Words after which a number names a place in an act.
fn is_citation(before: &str) -> bool {
    matches!(
        before,
        "article"
            | "articles"
            | "art"
            | "paragraph"
            | "paragraphs"
            | "paragraphe"
            | "paragraphes"
            | "recital"
            | "recitals"
            | "considerant"
            | "alinea"
            | "alineas"
            | "section"
            | "chapter"
            | "chapitre"
            | "point"
            | "points"
            | "regulation"
            | "no"
            | "numero"
    )
}

fn is_negation(word: &str, language: Language) -> bool {
    match language {
        Language::English => {
            matches!(word, "not" | "no" | "never" | "neither" | "nor" | "without" | "none" | "prohibited" | "forbidden")
        }
        // `ne` alone may be `ne … que`, a restriction.
        Language::French => {
            matches!(
                word,
                "pas" | "jamais" | "aucun" | "aucune" | "sans" | "ni" | "nullement" | "interdit" | "interdite"
            )
        }
    }
}

fn modality_of(word: &str, language: Language) -> Option<Modality> {
    use Modality::{Obligation, Permission};
    Some(match (language, word) {
        (Language::English, "must" | "shall" | "required" | "obliged") => Obligation,
        (Language::English, "may" | "can" | "could" | "might" | "allowed" | "permitted") => Permission,
        (Language::French, "doit" | "doivent" | "tenu" | "tenue" | "tenus" | "oblige") => Obligation,
        (Language::French, "peut" | "peuvent" | "pourra" | "autorise" | "autorisee") => Permission,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words_and_digits_meet_and_citations_stand_apart() {
        let english = Profile::read("Under Article 6 it has thirty days.", Language::English);
        assert_eq!(english.quantities, [Quantity { value: 30.0, unit: Some(stem("days", Language::English)) }]);
        assert!(english.words.contains("#6"));
        let french = Profile::read("soixante-douze heures selon l’article 12", Language::French);
        assert_eq!(french.quantities.first().map(|found| found.value), Some(72.0));
    }

    #[test]
    fn operators_bear_on_the_next_content_word() {
        let found = Profile::read("The clerk must not disclose the file.", Language::English);
        let disclose = stem("disclose", Language::English);
        assert!(found.negated.contains(&disclose));
        assert_eq!(found.modal.get(&disclose), Some(&Modality::Obligation));
        let found = Profile::read("Le tuteur ne peut pas vendre le verger.", Language::French);
        assert!(found.negated.contains(&stem("vendre", Language::French)));
    }
}
