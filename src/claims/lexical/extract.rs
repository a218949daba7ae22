//! Extraction: a text as claims.

use std::collections::HashSet;

use super::clause::{clauses, has_verb};
use super::profile::{Profile, word_texts};
use crate::text::abstain::says_nothing;
use crate::text::language::Language;
use crate::text::list::{lead_ins, strip_marker};
use crate::text::sentence::sentences;
use crate::text::token::tokens;

/// The claims of a text, in order: its sentences, cut further where each part can stand alone.
///
/// Markers of lists and emphasis are taken off. An item that is no sentence of its own is joined to its lead-in:
/// `The tenant must:` and `- pay the rent` are the claim that the tenant must pay the rent. Questions, headings,
/// small talk, abstentions and repetitions are left out.
#[must_use]
pub fn extract(text: &str, language: Language) -> Vec<String> {
    let slices = sentences(text, language);
    let leads = lead_ins(&slices);
    let led: HashSet<usize> = leads.iter().flatten().copied().collect();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for (index, slice) in slices.iter().enumerate() {
        if led.contains(&index) || is_heading(slice) || slice.trim_end_matches(CLOSING).ends_with('?') {
            continue;
        }
        let lead = leads.get(index).copied().flatten().and_then(|lead| slices.get(lead)).copied();
        let lead = lead.map(strip_marker).filter(|lead| !says_nothing(lead, language));
        for claim in statements(strip_marker(slice), lead, language) {
            let words = word_texts(&tokens(&claim, language));
            if has_content(&claim, language) && !says_nothing(&claim, language) && seen.insert(words) {
                found.push(claim);
            }
        }
    }
    found
}

/// What may close a sentence after its last mark.
const CLOSING: &[char] = &['"', '”', '’', '»', ')', ']', '*', '_', ' ', '\u{a0}', '\u{202f}'];

/// The statements of a sentence or item. An item that begins in lower case, or
/// has no verb that the lists know, goes on with its lead-in.
fn statements(slice: &str, lead: Option<&str>, language: Language) -> Vec<String> {
    let lower = slice.chars().find(|letter| letter.is_alphanumeric()).is_some_and(char::is_lowercase);
    match lead {
        Some(lead) if lower || !has_verb(slice, language) => {
            let lead = tidy(lead);
            vec![format!("{} {}", lead.trim_end_matches([':', ' ']), tidy(slice).trim_end_matches([';', ',', ' ']))]
        }
        _ => clauses(slice, language)
            .into_iter()
            .map(|clause| tidy(clause).trim_end_matches([';', ',', ' ']).to_owned())
            .collect(),
    }
}

/// Single spaces, and no emphasis.
fn tidy(slice: &str) -> String {
    let plain: String = slice.replace("**", "").replace("__", "").replace('`', "");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A line that titles what follows: `## Title`, `**Title**`, or a lead-in that nothing follows.
fn is_heading(slice: &str) -> bool {
    let bold = slice
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**"))
        .is_some_and(|inner| !inner.contains("**") && !inner.trim_end().ends_with(['.', '!', ';']));
    slice.trim_start().starts_with('#') || bold
}

fn has_content(claim: &str, language: Language) -> bool {
    let profile = Profile::new(claim, language);
    !(profile.content.is_empty() && profile.quantities.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::check::check;
    use super::*;
    use crate::table::Label;

    const ENGLISH: &str = "Hello! Under Article 33 GDPR, the controller must notify the breach within 72 hours. Is that all? \
        The notice must contain:\n\n1. the nature of the breach;\n2. **Consequences** of the breach.\n\n## Note\n\
        The seller must deliver the goods and the buyer must pay. I hope this helps!";
    const FRENCH: &str = "Bonjour. Selon l’art. L. 121-1, l'employeur ne peut pas licencier sans motif. Il doit :\n\
        - convoquer le salarié ;\n- notifier la décision par lettre.\nLe délai est de trois mois ; le préavis est de 15 jours.";

    #[test]
    fn english_claims() {
        let claims = extract(ENGLISH, Language::English);
        assert_eq!(
            claims,
            [
                "Under Article 33 GDPR, the controller must notify the breach within 72 hours.",
                "The notice must contain the nature of the breach",
                "The notice must contain Consequences of the breach.",
                "The seller must deliver the goods",
                "the buyer must pay.",
            ]
        );
    }

    #[test]
    fn french_claims() {
        let claims = extract(FRENCH, Language::French);
        assert_eq!(claims.len(), 5, "{claims:?}");
        assert_eq!(claims.get(1).map(String::as_str), Some("Il doit convoquer le salarié"));
    }

    #[test]
    fn a_text_entails_its_own_claims() {
        for (text, language) in [(ENGLISH, Language::English), (FRENCH, Language::French)] {
            for claim in extract(text, language) {
                assert_eq!(check(&claim, text, language).label, Label::Entailment, "{claim}");
            }
        }
    }

    #[test]
    fn nothing_to_claim() {
        for text in ["", "?", "I cannot answer from the given context.", "Yes.", "- \n- \n", "\u{feff}"] {
            assert!(extract(text, Language::English).is_empty(), "{text:?}");
        }
    }
}
