//! Rules that read one criterion.

use super::words::{CONJUNCTIONS, DANGLING, FIXED_PAIRS, is_opening_pronoun, vague};
use super::{Entry, Finding};
use crate::judging::verbs::is_requirement;
use crate::text::fold::fold;

/// All findings on one criterion.
pub(super) fn check(entry: &Entry) -> Vec<Finding> {
    let mut findings = Vec::new();
    let words = words(&entry.text);
    if let Some((severity, excerpt)) = compound(&words) {
        let message = if severity == "likely" {
            "asks for several things; each part may pass while another fails"
        } else {
            "joins two things; see whether they can be decided apart"
        };
        findings.push(finding(entry, "atomic", "conjunction", severity, &excerpt, message));
    }
    let vague_word = words.iter().enumerate().find_map(|(at, word)| {
        // Good faith is a term of law, not a matter of taste.
        let term = words.get(at + 1).is_some_and(|next| matches!(next.as_str(), "faith" | "foi"));
        let term_of_art = vague(word).filter(|_| !term)?;
        Some((if term_of_art { "possible" } else { "likely" }, word.clone()))
    });
    if let Some((severity, word)) = vague_word {
        let message = "gives no boundary between pass and fail; say what must be there";
        findings.push(finding(entry, "self_contained", "vague_word", severity, &word, message));
    }
    findings.extend(dangling(entry, &words));
    findings
}

fn finding(
    entry: &Entry,
    principle: &'static str,
    rule: &str,
    severity: &'static str,
    excerpt: &str,
    message: &str,
) -> Finding {
    Finding {
        criterion: entry.id.clone(),
        principle,
        rule: rule.to_owned(),
        severity,
        excerpt: Some(excerpt.to_owned()),
        other: None,
        score: None,
        message: message.to_owned(),
    }
}

/// Folded words; a comma or semicolon stands as a word of its own.
fn words(text: &str) -> Vec<String> {
    let folded = fold(text);
    let mut found = Vec::new();
    for piece in folded.split_whitespace() {
        let bare = piece.trim_matches(|letter: char| !letter.is_alphanumeric());
        if !bare.is_empty() {
            found.push(bare.to_owned());
        }
        if let Some(mark) = piece.chars().last().filter(|letter| matches!(letter, ',' | ';' | '.')) {
            found.push(mark.to_string());
        }
    }
    while found.last().is_some_and(|word| word == ".") {
        found.pop();
    }
    found
}

/// Whether a text joins two requirements by a conjunction and a verb of its own.
pub(in crate::judging) fn is_likely_compound(text: &str) -> bool {
    compound(&words(text)).is_some_and(|(severity, _)| severity == "likely")
}

fn compound(words: &[String]) -> Option<(&'static str, String)> {
    let mut possible = None;
    for at in 1..words.len() {
        let joined = words[at] == ";" || words[at] == ".";
        let found = CONJUNCTIONS.iter().find(|joint| {
            let length = joint.split(' ').count();
            words.get(at..at + length).is_some_and(|run| run.join(" ") == **joint)
        });
        let length = match (joined, found) {
            (true, _) => 1,
            (_, Some(joint)) => joint.split(' ').count(),
            _ => continue,
        };
        let from = at.saturating_sub(2);
        let excerpt = words[from..(at + length + 3).min(words.len())].join(" ");
        let rest = words.get(at + length..).unwrap_or_default();
        if rest.is_empty() || FIXED_PAIRS.iter().any(|pair| excerpt.contains(pair)) {
            continue;
        }
        // A verb of requirement soon after the joint: "states A and explains B". Numbers on both sides are a range.
        if rest.iter().take(3).any(|word| is_requirement(word)) {
            return Some(("likely", excerpt));
        }
        let numeric = |word: Option<&String>| word.is_some_and(|word| word.chars().all(|l| l.is_ascii_digit()));
        if !joined && !(numeric(words.get(at - 1)) && numeric(rest.first())) {
            possible.get_or_insert(("possible", excerpt));
        }
    }
    possible
}

fn dangling(entry: &Entry, words: &[String]) -> Option<Finding> {
    let text = format!(" {} ", words.join(" "));
    let phrase = DANGLING
        .iter()
        .find(|(phrase, answered)| !(*answered && entry.attached) && text.contains(&format!(" {phrase} ")));
    if let Some((phrase, _)) = phrase {
        let message = "points outside the criterion; write out what it means";
        return Some(finding(entry, "self_contained", "dangling_reference", "likely", phrase, message));
    }
    let first = words.first().filter(|word| is_opening_pronoun(word))?;
    let message = "begins with a pronoun that nothing precedes";
    Some(finding(entry, "self_contained", "dangling_reference", "possible", first, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Language;

    fn rules(text: &str, attached: bool) -> Vec<(String, &'static str)> {
        let entry = Entry {
            id: "c".to_owned(),
            task: "t".to_owned(),
            text: text.to_owned(),
            language: Language::detect(text),
            attached,
        };
        check(&entry).into_iter().map(|one| (one.rule, one.severity)).collect()
    }

    fn has(text: &str, rule: &str, severity: &str) -> bool {
        rules(text, false).iter().any(|(found, how)| found == rule && *how == severity)
    }

    #[test]
    fn two_requirements_in_one_are_likely_and_a_joined_noun_is_possible() {
        assert!(has("States the price and explains the discount.", "conjunction", "likely"));
        assert!(has("Mentionne le délai ainsi que précise la sanction.", "conjunction", "likely"));
        assert!(has("States the price. Names the seller.", "conjunction", "likely"));
        assert!(has("Names the buyer and the seller.", "conjunction", "possible"));
        assert!(has("Mentionne l'acheteur et le vendeur.", "conjunction", "possible"));
        for clean in [
            "Identifies the terms and conditions as void.",
            "Rappelle les droits et obligations du preneur.",
            "States that the term runs between 3 and 5 years.",
            "Names the buyer.",
        ] {
            assert!(!rules(clean, false).iter().any(|(rule, _)| rule == "conjunction"), "{clean}");
        }
    }

    #[test]
    fn vague_words_and_dangling_references_in_both_languages() {
        assert!(has("Clearly explains the risk.", "vague_word", "likely"));
        assert!(has("Explique correctement le risque.", "vague_word", "likely"));
        assert!(has("States that notice must be given within a reasonable time.", "vague_word", "possible"));
        assert!(has("States the correct date.", "dangling_reference", "likely"));
        assert!(has("Mentionne le délai précité.", "dangling_reference", "likely"));
        assert!(has("It names the court.", "dangling_reference", "possible"));
        assert!(has("Quotes the amount in the attached lease.", "dangling_reference", "likely"));
        assert!(rules("Quotes the amount in the attached lease.", true).is_empty(), "the lease is attached");
        assert!(rules("Indique que la bonne foi est présumée.", false).is_empty());
        assert!(rules("Names the Court of Appeal of Saint-Orme.", false).is_empty());
    }

    #[test]
    fn odd_texts_do_not_panic() {
        for text in ["", ";", "and", "et ou", "。。", "a;b", ". . .", "and and and", "\u{0}"] {
            let _ = rules(text, false);
        }
    }
}
