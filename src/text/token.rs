//! Words, numbers and marks of a sentence, in order.

use unicode_segmentation::UnicodeSegmentation;

use super::fold::fold;
use super::language::Language;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    /// Starts with a digit and has no letters: `30`, `20,000`, `3.5`.
    Number,
    /// Anything else that is not white space.
    Mark,
}

/// One token, folded (see [`fold`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub text: String,
    pub kind: Kind,
    /// White space, or the beginning of the text, comes before it.
    pub spaced: bool,
}

impl Token {
    pub fn is(&self, text: &str) -> bool {
        self.text == text
    }
}

/// Cuts a text into tokens: Unicode words, French elisions and English contractions taken apart (`l'article` is two
/// words, `can't` is `can not`), and digits grouped by spaces put together (`20 000` is one number).
pub(crate) fn tokens(text: &str, language: Language) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    // The white space just passed; the beginning of the text counts as some.
    let mut gap = Some("\n");
    // The last token is a number that three more digits may go on with.
    let mut open = false;
    for piece in text.split_word_bounds() {
        if piece.chars().all(char::is_whitespace) {
            gap = Some(piece);
            continue;
        }
        let spaced = gap.is_some();
        let folded = fold(piece);
        let numeric = folded.chars().next().is_some_and(char::is_numeric) && !folded.chars().any(char::is_alphabetic);
        if numeric {
            let goes_on = open && gap.is_some_and(is_group_space) && folded.len() == 3 && is_digits(&folded);
            match found.last_mut().filter(|_| goes_on) {
                Some(last) => last.text.push_str(&folded),
                None => {
                    open = folded.len() <= 3 && is_digits(&folded) && !folded.starts_with('0');
                    found.push(Token { text: folded, kind: Kind::Number, spaced });
                }
            }
        } else {
            open = false;
            if folded.chars().any(char::is_alphanumeric) {
                push_words(&mut found, &folded, spaced, language);
            } else if !folded.is_empty() {
                found.push(Token { text: folded, kind: Kind::Mark, spaced });
            }
        }
        gap = None;
    }
    found
}

/// The spaces that group digits: plain, no-break, narrow no-break and thin.
fn is_group_space(gap: &str) -> bool {
    matches!(gap, " " | "\u{a0}" | "\u{202f}" | "\u{2009}")
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn push_words(found: &mut Vec<Token>, folded: &str, spaced: bool, language: Language) {
    let mut push = |text: &str, spaced: bool| {
        if !text.is_empty() {
            found.push(Token { text: text.to_owned(), kind: Kind::Word, spaced });
        }
    };
    match language {
        Language::English => {
            let plain = folded.strip_suffix("'s").unwrap_or(folded);
            let verb = match plain {
                "cannot" | "can't" => Some("can"),
                "won't" => Some("will"),
                "shan't" => Some("shall"),
                other => other.strip_suffix("n't"),
            };
            push(verb.unwrap_or(plain), spaced);
            if verb.is_some() {
                push("not", true);
            }
        }
        Language::French => {
            let (mut rest, mut spaced) = (folded, spaced);
            while let Some((head, tail)) = rest.split_once('\'') {
                if !is_elided(head) {
                    break;
                }
                push(head, spaced);
                (rest, spaced) = (tail, false);
            }
            push(rest, spaced);
        }
    }
}

/// What French leaves before an apostrophe. `aujourd'hui` and `quelqu'un` stay whole.
fn is_elided(head: &str) -> bool {
    matches!(
        head,
        "l" | "d" | "qu" | "n" | "s" | "j" | "c" | "m" | "t" | "jusqu" | "lorsqu" | "puisqu" | "quoiqu" | "presqu"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, language: Language) -> Vec<String> {
        tokens(text, language).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn elisions_with_both_apostrophes() {
        assert_eq!(
            texts("L’employeur n'a qu’un droit", Language::French),
            ["l", "employeur", "n", "a", "qu", "un", "droit"]
        );
        assert_eq!(
            texts("Aujourd'hui, jusqu’au terme", Language::French),
            ["aujourd'hui", ",", "jusqu", "au", "terme"]
        );
    }

    #[test]
    fn contractions() {
        assert_eq!(texts("It can't; the court’s", Language::English), ["it", "can", "not", ";", "the", "court"]);
    }

    #[test]
    fn grouped_digits() {
        assert_eq!(texts("20 000 000 EUR", Language::French), ["20000000", "eur"]);
        assert_eq!(texts("en 2016 100 jours", Language::French), ["en", "2016", "100", "jours"]);
        assert_eq!(texts("20,000 and 3.5 %", Language::English), ["20,000", "and", "3.5", "%"]);
    }
}
