//! Does a quotation stand in the answer?

/// Whether `quotation` stands in `text`, word for word. White space, typographic quotes, apostrophes, dashes and
/// French spaces before punctuation count as their plain forms; nothing else is forgiven, letter case neither.
///
/// ```
/// use claimlab::judging::stands_in;
/// let answer = "L’accord prend fin\nle 31 mars ; aucune tacite reconduction.";
/// assert!(stands_in("L'accord prend fin le 31 mars; aucune", answer));
/// assert!(!stands_in("L'accord prend fin le 30 mars", answer));
/// assert!(!stands_in(" … ", answer)); // says nothing
/// ```
#[must_use]
pub fn stands_in(quotation: &str, text: &str) -> bool {
    let quotation = plain(quotation);
    quotation.chars().any(char::is_alphanumeric) && plain(text).contains(&quotation)
}

fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        let letter = match letter {
            '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{02bc}' => '\'',
            '\u{201c}' | '\u{201d}' | '\u{201e}' | '«' | '»' => '"',
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            '\u{00ad}' | '\u{200b}' | '\u{feff}' => continue,
            space if space.is_whitespace() => ' ',
            other => other,
        };
        let closes = matches!(letter, ';' | ':' | '!' | '?' | '"');
        if closes && plain.ends_with(' ') {
            plain.pop();
        }
        let after_quote = letter == ' ' && plain.ends_with('"');
        if !(after_quote || letter == ' ' && (plain.is_empty() || plain.ends_with(' '))) {
            plain.push(letter);
        }
    }
    plain.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::stands_in;

    #[test]
    fn layout_is_forgiven_and_words_are_not() {
        let answer = "The term is “three (3) years” – from 1 May 2031.\n\n- Renewal: none.";
        for quotation in ["\"three (3) years\" - from 1 May 2031", "2031. - Renewal: none.", "  Renewal:\u{a0}none. "] {
            assert!(stands_in(quotation, answer), "{quotation}");
        }
        for quotation in ["three (3) Years", "three 3 years", "from 1 May 2032", "", "…", "Renewal none"] {
            assert!(!stands_in(quotation, answer), "{quotation}");
        }
    }
}
