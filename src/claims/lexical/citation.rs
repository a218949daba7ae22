//! Citations: numbers that name a provision, a law or a case, and count nothing.

use crate::text::token::{Kind, Token};

/// What a token has been read as, so that no later reader takes it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A word or mark like others.
    Free,
    /// Part of a citation.
    Citation,
    /// Part of a number.
    Number,
    /// The unit or month of a number.
    Unit,
}

/// Takes the citations out of some tokens: `Article 6(1)(f)` gives `6(1)(f)`, `art. L. 121-1` gives `l121-1`,
/// `Regulation (EU) 2016/679` gives `2016/679`. Numbers in square brackets are footnotes; they are taken out too, and
/// given up.
pub(super) fn take(tokens: &[Token], roles: &mut [Role]) -> Vec<String> {
    let mut found = Vec::new();
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        let start = index;
        index += 1;
        if token.is("[") {
            let close = tokens.get(index..).and_then(|rest| rest.iter().take(8).position(|token| token.is("]")));
            let inner = close.and_then(|close| tokens.get(index..index + close)).unwrap_or(&[]);
            if !inner.is_empty() && inner.iter().all(|token| token.kind != Kind::Word) {
                mark(roles, start, index + inner.len() + 1);
                index += inner.len() + 1;
            }
            continue;
        }
        let named = is_named(&token.text);
        let mut at = if named { past_prefix(tokens, index) } else { start };
        // Without a name, only `2016/679` and `78-17` show that they are citations.
        let Some((mut number, mut end)) = number_at(tokens, at, named) else { continue };
        if !named && !number.contains('/') {
            continue;
        }
        loop {
            mark(roles, start, end);
            found.push(number);
            // `articles 6 and 7`, `articles 1240 et 1241`
            let joined = tokens
                .get(end)
                .is_some_and(|token| matches!(token.text.as_str(), "," | "and" | "et" | "or" | "ou" | "to" | "a"));
            let plural = token.text.ends_with('s') && named;
            at = end + 1;
            match number_at(tokens, at, true).filter(|(_, after)| joined && plural && !counts(tokens, *after)) {
                Some((next, after)) => (number, end) = (next, after),
                None => break,
            }
        }
        index = end;
    }
    found
}

/// Whether the number before `at` counts something, as its unit shows.
fn counts(tokens: &[Token], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| super::quantity::unit(&token.text).is_some())
}

fn mark(roles: &mut [Role], from: usize, to: usize) {
    let length = roles.len();
    if let Some(part) = roles.get_mut(from.min(length)..to.min(length)) {
        part.fill(Role::Citation);
    }
}

/// Words that a number after them belongs to.
fn is_named(word: &str) -> bool {
    matches!(
        word,
        "article"
            | "articles"
            | "art"
            | "arts"
            | "section"
            | "sections"
            | "sec"
            | "§"
            | "§§"
            | "paragraph"
            | "paragraphs"
            | "para"
            | "paras"
            | "paragraphe"
            | "paragraphes"
            | "recital"
            | "recitals"
            | "considerant"
            | "considerants"
            | "clause"
            | "clauses"
            | "chapter"
            | "chapitre"
            | "annex"
            | "annexe"
            | "schedule"
            | "rule"
            | "regulation"
            | "reglement"
            | "directive"
            | "law"
            | "act"
            | "loi"
            | "decret"
            | "decree"
            | "ordonnance"
            | "arrete"
            | "decision"
            | "no"
            | "nos"
            | "n°"
            | "n"
            | "numero"
            | "number"
            | "case"
            | "affaire"
            | "alinea"
            | "alineas"
            | "al"
            | "subsection"
            | "point"
            | "points"
            | "titre"
            | "title"
            | "livre"
            | "pourvoi"
            | "convention"
            | "part"
            | "page"
            | "p"
    )
}

/// Past what may stand between the name and the number: `(EU)`, `no.`, `n°`, `L.`.
fn past_prefix(tokens: &[Token], from: usize) -> usize {
    let mut at = from;
    while let Some(token) = tokens.get(at).filter(|_| at < from + 6) {
        let filler = matches!(
            token.text.as_str(),
            "." | "°" | "(" | ")" | "eu" | "ue" | "ec" | "ce" | "no" | "n" | "n°" | "number" | "numero"
        );
        if !filler {
            break;
        }
        at += 1;
    }
    at
}

/// The number of a provision at a position: digits with letters and sub-numbers glued to it.
fn number_at(tokens: &[Token], at: usize, named: bool) -> Option<(String, usize)> {
    let mut number = String::new();
    let mut end = at;
    // `L. 121-1`, `R121-1`, `C-131/12`, `T-201/04`
    if let Some(letter) =
        tokens.get(end).filter(|token| named && matches!(token.text.as_str(), "l" | "r" | "d" | "c" | "t" | "a"))
    {
        number.push_str(&letter.text);
        end += 1;
        while tokens.get(end).is_some_and(|token| matches!(token.text.as_str(), "." | "-" | "*")) {
            end += 1;
        }
    }
    let first = tokens.get(end)?;
    let roman = named && first.text.bytes().all(|byte| b"ivx".contains(&byte)) && first.kind == Kind::Word;
    let lettered = named && first.text.starts_with(|letter: char| letter.is_ascii_digit()) && first.text.len() <= 8;
    if !(first.kind == Kind::Number || roman || lettered) {
        return None;
    }
    number.push_str(&first.text);
    end += 1;
    while let Some(next) = tokens.get(end) {
        let inner = tokens.get(end + 1);
        let short =
            inner.is_some_and(|inner| inner.kind == Kind::Number || inner.text.len() <= 3 && inner.kind == Kind::Word);
        if next.is("(") && short && tokens.get(end + 2).is_some_and(|token| token.is(")")) {
            number.push_str(&format!("({})", inner.map_or("", |inner| &inner.text)));
            end += 3;
        } else if matches!(next.text.as_str(), "-" | "/" | ".")
            && !next.spaced
            && inner.is_some_and(|inner| inner.kind == Kind::Number && !inner.spaced)
        {
            number.push_str(&next.text);
            number.push_str(inner.map_or("", |inner| &inner.text));
            end += 2;
        } else if matches!(next.text.as_str(), "bis" | "ter" | "quater") {
            number.push_str(&next.text);
            end += 1;
        } else {
            break;
        }
    }
    Some((number, end))
}

/// Whether two citations may name the same provision: equal, or one goes on where the other stops.
pub(super) fn meets(a: &str, b: &str) -> bool {
    let goes_on = |long: &str, short: &str| {
        long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with(['(', '.']))
    };
    goes_on(a, b) || goes_on(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::language::Language;
    use crate::text::token::tokens;

    fn citations(text: &str, language: Language) -> Vec<String> {
        let tokens = tokens(text, language);
        let mut roles = vec![Role::Free; tokens.len()];
        take(&tokens, &mut roles)
    }

    #[test]
    fn english() {
        assert_eq!(
            citations("under Article 6(1)(f) of Regulation (EU) 2016/679", Language::English),
            ["6(1)(f)", "2016/679"]
        );
        assert_eq!(citations("Articles 6 and 7, within 30 days", Language::English), ["6", "7"]);
        assert_eq!(citations("no later than 72 hours", Language::English), Vec::<String>::new());
        assert_eq!(citations("It ends [12].", Language::English), Vec::<String>::new());
    }

    #[test]
    fn french() {
        assert_eq!(citations("l'article 1382 et l’art. L. 121-1", Language::French), ["1382", "l121-1"]);
        assert_eq!(citations("la loi n° 78-17 du 6 janvier 1978", Language::French), ["78-17"]);
        assert_eq!(citations("les articles 1240 et 1241", Language::French), ["1240", "1241"]);
    }

    #[test]
    fn one_goes_on_where_the_other_stops() {
        assert!(meets("6", "6(1)(f)"));
        assert!(!meets("6", "61"));
    }
}
