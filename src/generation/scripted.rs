//! The scripted answerer: known faults at known rates.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::{Answer, Answered, Asked};
use crate::error::Result;
use crate::text::{Language, sentences};

/// The rates, each a probability.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scripted {
    /// A sentence of the reference answer is left out.
    left_out: f64,
    /// A sentence that is kept is turned into its contrary, or a number in it changed.
    wrong: f64,
    /// A statement that no text supports is added, once an answer.
    unsupported: f64,
    /// A sentence of a retrieved chunk that may have nothing to do with the question is added, once an answer.
    noise: f64,
}

impl Default for Scripted {
    fn default() -> Self {
        Self { left_out: 0.25, wrong: 0.2, unsupported: 0.25, noise: 0.35 }
    }
}

const UNSUPPORTED_EN: [&str; 5] = [
    "The competent court sits in the harbour district of the capital.",
    "An annual subscription to the official gazette is free for schools.",
    "The minister of transport publishes a leaflet on this matter every spring.",
    "Applicants usually receive a blue receipt by courier.",
    "A bilingual hotline answers such questions on Sundays.",
];
const UNSUPPORTED_FR: [&str; 5] = [
    "Le greffe délivre un reçu bleu par coursier.",
    "Une permanence téléphonique bilingue fonctionne le dimanche.",
    "Le ministre des transports publie chaque printemps une brochure à ce sujet.",
    "L'abonnement annuel au journal officiel est gratuit pour les écoles.",
    "La juridiction compétente siège dans le quartier du port.",
];

/// Verbs and their negations; the first that occurs is swapped, longer forms first.
const NEGATIONS_EN: [(&str, &str); 9] = [
    (" must not ", " must "),
    (" may not ", " may "),
    (" is not ", " is "),
    (" are not ", " are "),
    (" does not ", " does "),
    (" must ", " must not "),
    (" may ", " may not "),
    (" is ", " is not "),
    (" are ", " are not "),
];
const NEGATIONS_FR: [(&str, &str); 10] = [
    (" ne peut pas ", " peut "),
    (" ne doit pas ", " doit "),
    (" ne peut ", " peut "),
    (" ne doit ", " doit "),
    (" n'est pas ", " est "),
    (" n’est pas ", " est "),
    (" peut ", " ne peut pas "),
    (" doit ", " ne doit pas "),
    (" est ", " n'est pas "),
    (" sont ", " ne sont pas "),
];

impl Answer for Scripted {
    fn answer(&self, asked: &Asked) -> Result<Answered> {
        let mut random = ChaCha8Rng::seed_from_u64(seed(&asked.question_id, asked.chunks.first()));
        let mut answer = Vec::new();
        for sentence in sentences(&asked.reference_answer, asked.language) {
            if random.random_bool(self.left_out) {
                continue;
            }
            if random.random_bool(self.wrong) {
                answer.push(turned_wrong(sentence, asked.language));
            } else {
                answer.push(sentence.to_owned());
            }
        }
        if random.random_bool(self.unsupported) {
            let list: &[&str] = match asked.language {
                Language::English => &UNSUPPORTED_EN,
                Language::French => &UNSUPPORTED_FR,
            };
            answer.extend(list.choose(&mut random).map(|statement| (*statement).to_owned()));
        }
        if random.random_bool(self.noise) {
            let quotable: Vec<&str> = asked
                .chunks
                .iter()
                .flat_map(|chunk| sentences(chunk, asked.language))
                .filter(|sentence| sentence.split_whitespace().count() >= 8)
                .collect();
            answer.extend(quotable.choose(&mut random).map(|sentence| (*sentence).to_owned()));
        }
        Ok(Answered { text: answer.join(" "), finish: "stop", ..Answered::default() })
    }

    fn spec(&self) -> Value {
        json!({"kind": "scripted test instrument", "left_out": self.left_out, "wrong": self.wrong,
            "unsupported": self.unsupported, "noise": self.noise})
    }
}

/// The same question with the same best chunk always gets the same answer.
fn seed(question_id: &str, chunk: Option<&String>) -> u64 {
    question_id
        .bytes()
        .chain(chunk.map(|text| text.bytes().take(64).collect::<Vec<_>>()).unwrap_or_default())
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Doubles the first number, or else negates the first verb that has a known negation.
fn turned_wrong(sentence: &str, language: Language) -> String {
    if let Some(changed) = with_other_number(sentence) {
        return changed;
    }
    let pairs: &[(&str, &str)] = match language {
        Language::English => &NEGATIONS_EN,
        Language::French => &NEGATIONS_FR,
    };
    pairs
        .iter()
        .find(|(plain, _)| sentence.contains(plain))
        .map_or_else(|| sentence.to_owned(), |(plain, negated)| sentence.replacen(plain, negated, 1))
}

/// A number that stands after "article" or in a citation is a name, not a quantity, and stays.
fn with_other_number(sentence: &str) -> Option<String> {
    let mut before = "";
    for word in sentence.split_whitespace() {
        let digits = word.trim_matches(|letter: char| !letter.is_ascii_digit());
        let named = ["article", "articles", "art.", "paragraph", "alinéa", "n°", "point"]
            .contains(&before.to_lowercase().trim_start_matches("l'").trim_start_matches("l’"));
        if !named && word.starts_with(digits) && (1..=4).contains(&digits.len()) {
            let number: u32 = digits.parse().ok()?;
            return Some(sentence.replacen(word, &word.replacen(digits, &(number * 2 + 1).to_string(), 1), 1));
        }
        before = word;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_sentences_differ_in_a_number_or_a_negation() {
        let wrong = |text: &str, language| turned_wrong(text, language);
        assert_eq!(wrong("It lasts 30 days.", Language::English), "It lasts 61 days.");
        assert_eq!(wrong("Under Article 6 it must stop.", Language::English), "Under Article 6 it must not stop.");
        assert_eq!(wrong("Le contrat est nul.", Language::French), "Le contrat n'est pas nul.");
    }
}
