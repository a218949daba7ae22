//! Lists: the markers of items, and the lead-in that items hang on.

/// Cuts the marker off an item: bullets, `1.`, `2)`, `(a)`, `iv)`, `#` of headings and `**` of emphasis.
pub(crate) fn strip_marker(sentence: &str) -> &str {
    let mut rest = sentence.trim();
    // Two rounds: `- **1.** Text` has several markers.
    for _ in 0..3 {
        let cut = marker_length(rest);
        if cut == 0 {
            break;
        }
        rest = rest.get(cut..).unwrap_or("").trim_start();
    }
    rest
}

/// Whether a sentence begins with the marker of a list item.
pub(crate) fn is_item(sentence: &str) -> bool {
    let sentence = sentence.trim_start();
    !sentence.starts_with(['#', '>']) && !sentence.starts_with("**") && marker_length(sentence) > 0
        || sentence.strip_prefix("**").is_some_and(|inner| numbering_length(inner) > 0)
}

/// For every sentence, the lead-in before it: the last sentence that ends with a colon, as long as items follow.
pub(crate) fn lead_ins(sentences: &[&str]) -> Vec<Option<usize>> {
    let mut lead = None;
    let mut found = Vec::with_capacity(sentences.len());
    for (index, sentence) in sentences.iter().enumerate() {
        let item = is_item(sentence);
        if !item {
            lead = None;
        }
        found.push(lead);
        if sentence.trim_end_matches(['*', '_', ' ', '\u{a0}']).ends_with(':') && !item {
            lead = Some(index);
        }
    }
    found
}

/// The length in bytes of the marker at the beginning of a text, 0 without one.
fn marker_length(text: &str) -> usize {
    let bullets: &[char] = &['-', '–', '—', '•', '*', '·', '▪', '◦', '‣', '#', '>', '●', '○'];
    let symbols = text.trim_start_matches(bullets);
    let length = text.len() - symbols.len();
    // A dash or star is a bullet before white space only, but emphasis may open directly before a word.
    if length > 0 && (symbols.starts_with(char::is_whitespace) || text.starts_with("**") || symbols.is_empty()) {
        return length;
    }
    numbering_length(text)
}

/// The length of `1.`, `1)`, `(1)`, `1°`, `a)`, `(a)`, `iv)` or `I.` with white space after it.
fn numbering_length(text: &str) -> usize {
    let open = usize::from(text.starts_with('('));
    let inner = text.get(open..).unwrap_or("");
    let label = inner.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let name = inner.get(..label).unwrap_or("");
    let numeric = label <= 3 && name.bytes().all(|byte| byte.is_ascii_digit());
    let roman = label <= 4 && name.bytes().all(|byte| b"ivxIVX".contains(&byte));
    let letter = label == 1;
    let mut after = inner.get(label..).unwrap_or("").chars();
    let close = after.next();
    let closed = match close {
        Some(')') => numeric || roman || letter,
        // `1.` and `IV.`, but not the initial of a name: `A. Dupont`.
        Some('.') => open == 0 && (numeric || roman),
        Some('°') => open == 0 && numeric,
        _ => false,
    };
    let ends = after.next().is_none_or(|next| next.is_whitespace() || next == '*');
    if label > 0 && closed && ends { open + label + close.map_or(0, char::len_utf8) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_cut() {
        for text in ["- Text", "1. Text", "(a) Text", "iv) Text", "2° Text", "## Text", "- (b) Text"] {
            assert_eq!(strip_marker(text), "Text", "{text}");
        }
        assert_eq!(strip_marker("-5 degrees"), "-5 degrees");
        assert_eq!(strip_marker("A. Dupont pays"), "A. Dupont pays");
        assert_eq!(strip_marker("2016 was a year"), "2016 was a year");
    }

    #[test]
    fn items_know_their_lead_in() {
        let sentences = ["The tenant must:", "- pay the rent;", "- keep the home.", "The end."];
        assert_eq!(lead_ins(&sentences), [None, Some(0), Some(0), None]);
    }
}
