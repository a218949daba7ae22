//! Sentences: slices of a text, in order.

use super::language::Language;
use super::list::is_item;

/// Cuts a text into sentences, which are trimmed slices of it, in order and without overlap.
///
/// A full stop ends a sentence unless it belongs to an abbreviation (`art.`, `e.g.`, `Mme`, an initial), a number
/// (`3.5`), an ellipsis that goes on in lower case or the number of a paragraph (`1. The controller ...`). Closing
/// quotes, guillemets and brackets stay with the sentence that they close. A line break ends a sentence where a blank
/// line, a list item or a capital follows, or where the line was complete; a line wrapped in mid-sentence goes on.
#[must_use]
pub fn sentences(text: &str, language: Language) -> Vec<&str> {
    let letters: Vec<(usize, char)> = text.char_indices().collect();
    let at = |index: usize| letters.get(index).map(|(_, letter)| *letter);
    let offset = |index: usize| letters.get(index).map_or(text.len(), |(offset, _)| *offset);
    let mut found = Vec::new();
    let mut start = 0;
    let mut index = 0;
    let mut keep = |from: usize, to: usize| {
        let slice = text.get(offset(from)..offset(to)).unwrap_or("").trim();
        if !slice.is_empty() {
            found.push(slice);
        }
    };
    while let Some(letter) = at(index) {
        let ends = match letter {
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => {
                let after = skip_white(&letters, index);
                let before = text.get(offset(start)..offset(index)).unwrap_or("");
                let rest = text.get(offset(after)..).unwrap_or("");
                let gap = text.get(offset(index)..offset(after)).unwrap_or("");
                if line_ends(before, gap, rest) { Some(after) } else { None }
            }
            '.' | '!' | '?' | '…' => {
                let mut after = index + 1;
                while at(after).is_some_and(|next| matches!(next, '.' | '!' | '?' | '…')) {
                    after += 1;
                }
                after = skip_closing(&letters, after);
                let before = text.get(offset(start)..offset(index)).unwrap_or("");
                let next = at(skip_white(&letters, after));
                let glued = at(after).is_some_and(|next| !next.is_whitespace());
                let one_dot = letter == '.' && after == index + 1;
                let held = glued
                    || next.is_some_and(char::is_lowercase)
                    || one_dot && is_abbreviated(before, next, language)
                    || one_dot && is_paragraph_number(before);
                if held {
                    index = after;
                    continue;
                }
                Some(after)
            }
            _ => None,
        };
        match ends {
            Some(after) => {
                keep(start, after);
                start = after;
                index = after;
            }
            None => index += 1,
        }
    }
    keep(start, letters.len());
    found
}

fn skip_white(letters: &[(usize, char)], from: usize) -> usize {
    let rest = letters.get(from..).unwrap_or(&[]);
    from + rest.iter().take_while(|(_, letter)| letter.is_whitespace()).count()
}

/// Past the marks that close what the sentence opened: quotes, brackets, emphasis, and a guillemet after a space.
fn skip_closing(letters: &[(usize, char)], from: usize) -> usize {
    let mut index = from;
    loop {
        let closing = |at: usize| letters.get(at).is_some_and(|(_, letter)| "\"'”’»)]*_".contains(*letter));
        let guillemet = |at: usize| letters.get(at).is_some_and(|(_, letter)| *letter == '»');
        let space =
            |at: usize| letters.get(at).is_some_and(|(_, letter)| matches!(letter, ' ' | '\u{a0}' | '\u{202f}'));
        if closing(index) {
            index += 1;
        } else if space(index) && guillemet(index + 1) {
            index += 2;
        } else {
            return index;
        }
    }
}

/// Whether a line break ends the sentence before it.
fn line_ends(before: &str, gap: &str, rest: &str) -> bool {
    let before = before.trim_end();
    gap.replace("\r\n", "\n").matches(['\n', '\r', '\u{2028}', '\u{2029}']).count() > 1
        || before.ends_with(['.', '!', '?', ':', ';', '…'])
        || is_item(rest.get(..rest.char_indices().nth(12).map_or(rest.len(), |(at, _)| at)).unwrap_or(""))
        || rest.starts_with(['#', '*', '|', '>'])
        || before.trim_start().starts_with(['#', '|'])
        || !before.ends_with(',') && rest.starts_with(char::is_uppercase)
}

/// The last word of a text: what stands after its last space, apostrophe or opening bracket.
fn last_word(text: &str) -> &str {
    text.rsplit(|letter: char| letter.is_whitespace() || "(['’«\"".contains(letter)).next().unwrap_or("")
}

/// Whether the full stop after `before` belongs to an abbreviation.
fn is_abbreviated(before: &str, next: Option<char>, language: Language) -> bool {
    let word = last_word(before).to_lowercase();
    let digit = next.is_some_and(|next| next.is_numeric());
    let one_letter = word.chars().count() == 1 && word.chars().all(char::is_alphabetic) && before.len() > word.len();
    // `M. Dupont`, `J. Smith`, `L. 121-1`: one letter, and in front of more.
    if one_letter && next.is_some() && (!matches!(word.as_str(), "y" | "à" | "i") || digit) {
        return true;
    }
    if word == "m" && language == Language::French {
        return true;
    }
    let numbered = matches!(word.as_str(), "no" | "nos" | "p" | "pp" | "sec" | "ch" | "v" | "par" | "reg" | "dir");
    numbered && digit
        || matches!(
            word.as_str(),
            "art"
                | "arts"
                | "al"
                | "cf"
                | "e.g"
                | "i.e"
                | "p.ex"
                | "para"
                | "paras"
                | "cl"
                | "vol"
                | "fig"
                | "mr"
                | "mrs"
                | "ms"
                | "dr"
                | "prof"
                | "st"
                | "mme"
                | "mlle"
                | "mm"
                | "me"
                | "vs"
                | "viz"
                | "ibid"
                | "ann"
                | "ed"
                | "éd"
                | "obs"
                | "ex"
                | "c.-à-d"
                | "cass"
                | "civ"
                | "soc"
                | "com"
                | "crim"
                | "req"
                | "bull"
                | "déc"
                | "arrêt"
                | "sect"
                | "chap"
                | "approx"
                | "inc"
                | "ltd"
                | "jr"
                | "sr"
                | "réf"
                | "ref"
                | "subs"
                | "u.s"
                | "u.k"
                | "e.u"
                | "r.g"
        ) && !(word == "me" && language == Language::English)
}

/// Whether the sentence so far is nothing but the number of a paragraph: `1`, `12`, `IV`, `2.1`.
fn is_paragraph_number(before: &str) -> bool {
    let number = before.trim().trim_start_matches(['#', '*', '-', '•', ' ', '(']);
    let digits = number.len() <= 6 && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let roman = number.len() <= 5 && number.bytes().all(|byte| b"IVX".contains(&byte));
    let letter = number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_alphabetic());
    !number.is_empty() && (digits || roman || letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_and_decimals_do_not_end_a_sentence() {
        let text = "See art. 5 and al. 2, e.g. the rate of 3.5 %. Order no. 12 applies. The answer is no. It ends.";
        assert_eq!(sentences(text, Language::English).len(), 4);
        let text = "Selon M. Dupont et Mme. Durand, cf. l'art. L. 121-1, p. 5, n° 12. Le bail prend fin.";
        assert_eq!(sentences(text, Language::French).len(), 2);
    }

    #[test]
    fn numbers_of_paragraphs_stay_with_their_text() {
        let text = "1. The controller shall act. 2. The processor shall assist.\n(a) by reports;\n(b) by audits.";
        let found = sentences(text, Language::English);
        assert_eq!(found.first(), Some(&"1. The controller shall act."));
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn quotes_guillemets_and_ellipses() {
        let text = "Il dit : « Le bail est nul. » Le juge doute... mais accepte. « Vraiment ? » demande-t-il.";
        assert_eq!(sentences(text, Language::French).len(), 3);
    }

    #[test]
    fn wrapped_lines_go_on() {
        let text = "The tenant must pay\nthe rent on time.\n\nHeading\nThe end";
        let found = sentences(text, Language::English);
        assert_eq!(found, ["The tenant must pay\nthe rent on time.", "Heading", "The end"]);
    }

    #[test]
    fn odd_input() {
        for text in ["", " ", ".", "...", "\n\n", "\u{301}.\u{301}", "«", "1.", "a.b.c", "🙂. 🙂"] {
            let found = sentences(text, Language::French);
            assert!(found.iter().all(|slice| text.contains(slice)));
        }
    }
}
