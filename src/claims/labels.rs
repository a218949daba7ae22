//! Reading verdicts in a model's reply: on the menu, or not at all.

use std::collections::BTreeMap;

use serde_json::Value;

use super::triples::{json_in, list_of};
use crate::table::Label;

/// A verdict with the model's words for it, if it gave any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The label.
    pub label: Label,
    /// The rationale.
    pub reason: Option<String>,
}

/// Words of the menu, in English and French, as a model may inflect them. Longer forms first.
const WORDS: [(&str, Label); 20] = [
    ("entailment", Label::Entailment),
    ("entailed", Label::Entailment),
    ("entails", Label::Entailment),
    ("implication", Label::Entailment),
    ("impliquée", Label::Entailment),
    ("impliqué", Label::Entailment),
    ("neutral", Label::Neutral),
    ("neutralité", Label::Neutral),
    ("neutre", Label::Neutral),
    ("contradiction", Label::Contradiction),
    ("contradicted", Label::Contradiction),
    ("contradictory", Label::Contradiction),
    ("contradicts", Label::Contradiction),
    ("contredite", Label::Contradiction),
    ("contredit", Label::Contradiction),
    ("contradictoire", Label::Contradiction),
    ("implique", Label::Entailment),
    ("entailments", Label::Entailment),
    ("neutrals", Label::Neutral),
    ("contradictions", Label::Contradiction),
];

/// What may stand before a verdict.
const LEADS: [&str; 10] = [
    "label",
    "answer",
    "verdict",
    "classification",
    "étiquette",
    "réponse",
    "étiquette finale",
    "final answer",
    "output",
    "result",
];

fn word(text: &str) -> Option<Label> {
    let lower = text.to_lowercase();
    WORDS.iter().find(|(word, _)| *word == lower).map(|(_, label)| *label)
}

/// The verdict of a reply about one claim.
///
/// The label comes first, after marks of emphasis and a lead such as `Label:`; words may follow as its rationale. A
/// reply whose first line names a second label, denies one (`not a contradiction`) or gives none is not read.
///
/// ```
/// use claimlab::claims::read_label;
/// use claimlab::table::Label;
///
/// assert_eq!(read_label("**Entailment**").map(|said| said.label), Some(Label::Entailment));
/// assert_eq!(read_label("Étiquette : neutre. Le texte n'en dit rien.").map(|said| said.label), Some(Label::Neutral));
/// assert_eq!(read_label("The claim is not a contradiction, so Entailment"), None);
/// ```
#[must_use]
pub fn read_label(reply: &str) -> Option<Said> {
    if let Some(value) = json_in(reply) {
        return from_json(&value);
    }
    from_text(reply)
}

fn from_json(value: &Value) -> Option<Said> {
    let one = list_of(value).filter(|list| list.len() == 1).and_then(|list| list.first()).unwrap_or(value);
    match one {
        Value::String(text) => from_text(text),
        Value::Object(fields) => {
            let label =
                fields.get("label").or_else(|| fields.get("verdict"))?.as_str().and_then(|text| word(text.trim()))?;
            let reason = fields.get("reason").and_then(Value::as_str).map(str::to_owned);
            Some(Said { label, reason: reason.filter(|text| !text.trim().is_empty()) })
        }
        _ => None,
    }
}

fn from_text(reply: &str) -> Option<Said> {
    let marks = |letter: char| letter.is_whitespace() || "*_`\"'“”«»#>-–•".contains(letter);
    let mut text = reply.trim_start_matches(marks);
    for lead in LEADS {
        let Some(rest) = strip_word(text, lead) else { continue };
        let rest = rest.trim_start_matches(['*', '_']).trim_start_matches(|letter: char| letter.is_whitespace());
        if let Some(rest) = rest.strip_prefix([':', '=']) {
            text = rest.trim_start_matches(marks);
            break;
        }
    }
    let end = text.find(|letter: char| !letter.is_alphabetic()).unwrap_or(text.len());
    let label = word(&text[..end])?;
    let rest = &text[end..];
    // "entailment-free", "neutral_2": no label but a part of another word.
    if rest.starts_with(['_', '/']) || rest.starts_with('-') && rest[1..].starts_with(char::is_alphabetic) {
        return None;
    }
    let others = rest.split(|letter: char| !letter.is_alphabetic()).filter_map(word);
    if others.into_iter().any(|other| other != label) {
        return None;
    }
    let reason = rest.trim_start_matches(|letter: char| marks(letter) || ".,:;—)(".contains(letter)).trim();
    Some(Said { label, reason: (!reason.is_empty()).then(|| reason.to_owned()) })
}

/// The rest after a word, whatever its case.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let mut letters = text.char_indices();
    for expected in word.chars() {
        let (_, found) = letters.next()?;
        if !found.to_lowercase().eq(expected.to_lowercase()) {
            return None;
        }
    }
    Some(letters.as_str())
}

/// The verdicts of a reply about claims numbered from 1 to `n`, by number.
///
/// Each verdict stands with its claim's number: `{"claim": 2, "label": "neutral"}` in JSON, or a line such as `2:
/// neutral`. A number that is missing, off the range, given twice with different labels or followed by no label has no
/// verdict. Position is never a verdict: a list without numbers is not read.
///
/// ```
/// use claimlab::claims::read_numbered_labels;
/// use claimlab::table::Label;
///
/// let found = read_numbered_labels("1. entailment\n3) Contradiction – the text says six", 3);
/// assert_eq!(found[&1].label, Label::Entailment);
/// assert_eq!(found[&3].reason.as_deref(), Some("the text says six"));
/// assert!(!found.contains_key(&2));
/// assert!(read_numbered_labels("Entailment\nNeutral", 2).is_empty());
/// ```
#[must_use]
pub fn read_numbered_labels(reply: &str, n: usize) -> BTreeMap<usize, Said> {
    let mut found: BTreeMap<usize, Option<Said>> = BTreeMap::new();
    let mut add = |number: usize, said: Option<Said>| {
        if (1..=n).contains(&number) {
            let entry = found.entry(number).or_insert_with(|| said.clone());
            if entry.as_ref().map(|one| one.label) != said.as_ref().map(|one| one.label) {
                *entry = None;
            }
        }
    };
    match json_in(reply) {
        Some(value) => {
            for one in list_of(&value).into_iter().flatten() {
                let number = ["claim", "number", "id"].iter().find_map(|name| one.get(*name)?.as_u64());
                if let Some(number) = number {
                    add(usize::try_from(number).unwrap_or(0), from_json(one));
                }
            }
        }
        None => {
            for line in reply.lines() {
                if let Some((number, rest)) = numbered(line) {
                    add(number, from_text(rest));
                }
            }
        }
    }
    found.into_iter().filter_map(|(number, said)| Some((number, said?))).collect()
}

/// The number that a line begins with, and what follows its mark.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start_matches(|letter: char| letter.is_whitespace() || "*_`#>-•(".contains(letter));
    let line = ["claim", "affirmation"].iter().find_map(|word| strip_word(line, word)).unwrap_or(line).trim_start();
    let end = line.find(|letter: char| !letter.is_ascii_digit())?;
    let number = line[..end].parse().ok()?;
    let rest = line[end..].trim_start_matches(['*', '_', ' ', '\u{a0}']);
    let rest = rest.strip_prefix([':', '.', ')', '-', '–', '—', '=', ']'])?;
    Some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_off_the_menu_or_ambiguous_is_not_read() {
        for reply in [
            "",
            "yes",
            "Non-Contradiction",
            "label_Entailment",
            "The reference does not entail it",
            "Entailment\nNeutral",
            "Entailment or Neutral",
            "Here is the list of labels for Entailment/Neutral/Contradiction:\nEntailment",
            "[\"Entailment\", \"Neutral\"]",
            "entailment-like",
            "entailment/neutral",
        ] {
            assert_eq!(read_label(reply), None, "{reply}");
        }
    }

    #[test]
    fn french_prose_and_json_are_read_where_they_name_one_label() {
        for (reply, label) in [
            ("ENTAILMENT.", Label::Entailment),
            ("Réponse : « Neutre »", Label::Neutral),
            ("Contredit, car le texte dit trois mois.", Label::Contradiction),
            ("{\"label\": \"contradiction\", \"reason\": \"six months\"}", Label::Contradiction),
            ("- **Label:** Neutral", Label::Neutral),
            ("```json\n[\"Entailment\"]\n```", Label::Entailment),
        ] {
            assert_eq!(read_label(reply).map(|said| said.label), Some(label), "{reply}");
        }
    }

    #[test]
    fn numbers_carry_verdicts_whatever_stands_around_them() {
        let reply = "Here are the labels (entailment, neutral or contradiction):\n\n**1:** Entailment\n- 2. neutre\n\
            Claim 3: not sure\n4 - contradiction\n4: neutral\n7: entailment\n0: neutral";
        let found = read_numbered_labels(reply, 5);
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [1, 2]);
        let reply = r#"{"verdicts": [{"claim": 2, "label": "Neutral"}, {"claim": 1, "label": "perhaps"}]}"#;
        assert_eq!(read_numbered_labels(reply, 2).keys().copied().collect::<Vec<_>>(), [2]);
    }
}
