//! Plain text, and what headings say about their rank.
#![cfg_attr(not(feature = "html"), allow(dead_code))]

use super::builder::Builder;
use super::{Kind, Parsed};

/// Words that begin the heading of a division, in English, French and German, by rank.
const RANKS: [(&str, u8); 22] = [
    ("part", 1),
    ("partie", 1),
    ("teil", 1),
    ("book", 2),
    ("livre", 2),
    ("buch", 2),
    ("title", 3),
    ("titre", 3),
    ("titel", 3),
    ("chapter", 4),
    ("chapitre", 4),
    ("kapitel", 4),
    ("section", 5),
    ("abschnitt", 5),
    ("subsection", 6),
    ("sous-section", 6),
    ("unterabschnitt", 6),
    ("paragraphe", 7),
    ("annex", 1),
    ("annexe", 1),
    ("anhang", 1),
    ("préambule", 1),
];

/// The rank of a heading by its first word; 1 is the outermost.
pub(super) fn rank(heading: &str) -> Option<u8> {
    let first = heading.split(|letter: char| letter.is_whitespace() || letter == '.').find(|word| !word.is_empty())?;
    let first = first.to_lowercase();
    RANKS.iter().find(|(word, _)| *word == first).map(|(_, rank)| *rank)
}

/// The number of an article whose heading this is: `6-1` of `Art. 6-1.`, `1er` of `Article 1er`.
pub(super) fn article_number(heading: &str) -> Option<String> {
    let bare = heading.trim().trim_start_matches(['«', '"', ' ']);
    let lower = bare.to_lowercase();
    let rest =
        ["article ", "articles ", "art. ", "arts. ", "artikel "].iter().find_map(|word| lower.strip_prefix(word))?;
    let number: String = rest
        .split(" — ")
        .next()
        .unwrap_or(rest)
        .trim()
        .trim_end_matches(['.', ':', ' '])
        .split_whitespace()
        .collect::<Vec<_>>()
        .join("_");
    (number.starts_with(|first: char| first.is_alphanumeric()) && number.chars().count() <= 24).then_some(number)
}

/// An identifier made of a heading.
pub(super) fn slug(heading: &str) -> String {
    let mut slug = String::new();
    for letter in heading.chars().flat_map(char::to_lowercase) {
        if letter.is_alphanumeric() {
            slug.push(letter);
        } else if !slug.is_empty() && !slug.ends_with('_') {
            slug.push('_');
        }
        if slug.chars().count() >= 48 {
            break;
        }
    }
    slug.trim_end_matches('_').to_owned()
}

/// Plain text: paragraphs are lines that an empty line, or a line's end, parts; each is a part `p_1`, `p_2`, ….
pub(super) fn parse(text: &str) -> Parsed {
    let mut builder = Builder::new();
    // Text with empty lines is wrapped by hand, text without has one paragraph a line.
    let is_wrapped = text.lines().any(|line| line.trim().is_empty());
    let mut open = None;
    let mut count = 0;
    for line in text.lines() {
        if line.trim().is_empty() || !is_wrapped {
            if let Some(part) = open.take() {
                builder.close(part);
            }
            builder.line();
        }
        if !line.trim().is_empty() {
            if open.is_none() {
                count += 1;
                open = Some(builder.open(Kind::Paragraph, &format!("p_{count}")));
            }
            builder.space();
            builder.text(line);
        }
    }
    let (text, parts) = builder.finish();
    Parsed { text, parts, about: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_parted_by_empty_lines_or_are_lines() {
        let parsed = parse("One\r\ntwo.\r\n\r\n Three.\r\n");
        assert_eq!(parsed.text, "One two.\nThree.");
        assert_eq!(parsed.parts.iter().map(|part| part.id.as_str()).collect::<Vec<_>>(), ["p_1", "p_2"]);
        assert_eq!(parse("One\ntwo").parts.len(), 2);
    }

    #[test]
    fn headings_tell_articles_and_ranks() {
        assert_eq!(article_number("Art. 6-1.").as_deref(), Some("6-1"));
        assert_eq!(article_number("« Art. 99-1.").as_deref(), Some("99-1"));
        assert_eq!(article_number("Article 5 — Principles").as_deref(), Some("5"));
        assert_eq!(article_number("Artists of 1804"), None);
        assert_eq!(article_number("Chapitre II"), None);
        assert!(rank("Livre Ier. — Des personnes") < rank("TITRE V") && rank("Chapter I") < rank("Section 2"));
        assert_eq!(slug("Chapitre Ier. — Des prêts"), "chapitre_ier_des_prêts");
    }
}
