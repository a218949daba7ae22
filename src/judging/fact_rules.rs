//! Rules that recognise names, numbers, dates, addresses and citations in English and French.

use std::collections::BTreeSet;

use super::facts::{Fact, FactKind};
use super::verbs::is_requirement;
use crate::text::Language;
use crate::text::fold::fold;
use crate::text::{number, stop, token};

/// One word between white space.
pub(super) struct Word<'a> {
    /// Without the punctuation around it.
    bare: &'a str,
    folded: String,
    /// Punctuation that ends a phrase follows.
    closes: bool,
    /// It begins a sentence.
    first: bool,
}

pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut found: Vec<Word<'_>> = Vec::new();
    let mut first = true;
    for piece in text.split_whitespace() {
        let bare = piece.trim_matches(|letter: char| {
            !letter.is_alphanumeric() && !matches!(letter, '(' | ')' | '§' | '°' | '[' | ']' | '<' | '>')
        });
        let bare = if bare.contains('(') { bare } else { bare.trim_matches(['(', ')']) };
        if bare.is_empty() {
            continue;
        }
        // French elision: the name is what follows.
        let bare = bare
            .split_once(['\'', '’'])
            .map_or(bare, |(head, tail)| if head.chars().count() <= 2 && !tail.is_empty() { tail } else { bare });
        let ends = piece.ends_with(['.', '!', '?', ':']);
        let short = bare.chars().count() <= 3 && piece.ends_with('.');
        found.push(Word { bare, folded: fold(bare), closes: piece.ends_with([',', ';', '.', ':', '!', '?']), first });
        first = ends && !short;
    }
    found
}

fn add(facts: &mut BTreeSet<Fact>, kind: FactKind, value: impl Into<String>) {
    facts.insert(Fact { kind, value: value.into() });
}

/// Numbers in digits and in the words of the text's language, and in the other language's words too: a phrase is often
/// too short to tell them apart.
pub(super) fn numbers(text: &str, language: Language, facts: &mut BTreeSet<Fact>) {
    numbers_in(text, language, true, facts);
    let other = if language == Language::English { Language::French } else { Language::English };
    numbers_in(text, other, false, facts);
}

fn numbers_in(text: &str, language: Language, with_digits: bool, facts: &mut BTreeSet<Fact>) {
    let tokens = token::tokens(text, language);
    let mut at = 0;
    while let Some(rest) = tokens.get(at..).filter(|rest| !rest.is_empty()) {
        match number::read(rest, language) {
            // "One" and "un" are articles and pronouns as often as numbers.
            Some((value, length)) if length > 0 => {
                let in_digits = rest[0].kind == token::Kind::Number;
                if (in_digits && with_digits) || (!in_digits && value.abs() >= 2.0) {
                    add(facts, FactKind::Number, format!("{value}"));
                }
                at += length;
            }
            _ => {
                if with_digits && rest[0].text.chars().any(|letter| letter.is_ascii_digit()) {
                    add(facts, FactKind::Number, rest[0].text.clone());
                }
                at += 1;
            }
        }
    }
}

pub(super) fn placeholders(text: &str, facts: &mut BTreeSet<Fact>) {
    for (open, close) in [('[', ']'), ('<', '>'), ('{', '}')] {
        let mut rest = text;
        while let Some(begin) = rest.find(open) {
            let inner = &rest[begin + open.len_utf8()..];
            let Some(end) = inner.find(close) else { break };
            if inner[..end].chars().any(char::is_alphabetic) {
                add(facts, FactKind::Placeholder, fold(inner[..end].trim_matches(['{', '}', ' '])));
            }
            rest = &inner[end + close.len_utf8()..];
        }
    }
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let filler = bare.chars().count() >= 3 && (bare.chars().all(|l| l == 'X') || bare.chars().all(|l| l == '_'));
        if filler || matches!(bare, "TBD" | "TBC" | "N.N") {
            add(facts, FactKind::Placeholder, bare);
        }
    }
}

fn month(word: &str) -> Option<u32> {
    const NAMES: [(&str, &str, &str); 12] = [
        ("january", "janvier", "jan"),
        ("february", "fevrier", "feb"),
        ("march", "mars", "mar"),
        ("april", "avril", "apr"),
        ("may", "mai", "may"),
        ("june", "juin", "jun"),
        ("july", "juillet", "jul"),
        ("august", "aout", "aug"),
        ("september", "septembre", "sep"),
        ("october", "octobre", "oct"),
        ("november", "novembre", "nov"),
        ("december", "decembre", "dec"),
    ];
    let place = NAMES.iter().position(|(english, french, short)| [*english, *french, *short].contains(&word))?;
    u32::try_from(place + 1).ok()
}

fn day(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(|letter: char| letter.is_alphabetic());
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

pub(super) fn dates(words: &[Word<'_>], facts: &mut BTreeSet<Fact>) {
    let year = |word: Option<&Word<'_>>| {
        word.and_then(|word| word.bare.parse::<u32>().ok()).filter(|year| (1000..=9999).contains(year))
    };
    for (at, word) in words.iter().enumerate() {
        let parts: Vec<&str> = word.bare.split(['-', '/', '.']).collect();
        if parts.len() == 3 && parts.iter().all(|part| !part.is_empty() && part.chars().all(|l| l.is_ascii_digit())) {
            add(facts, FactKind::Date, word.bare);
        }
        let Some(month) = month(&word.folded).filter(|_| word.bare.chars().next().is_some_and(char::is_alphabetic))
        else {
            continue;
        };
        let before = at.checked_sub(1).and_then(|at| words.get(at)).and_then(|word| day(&word.folded));
        let after = words.get(at + 1).filter(|_| before.is_none()).and_then(|word| day(&word.folded));
        if let Some(day) = before.or(after) {
            let year = year(words.get(at + if before.is_some() { 1 } else { 2 }));
            let year = year.map_or_else(|| "-".to_owned(), |year| year.to_string());
            add(facts, FactKind::Date, format!("{year}-{month:02}-{day:02}"));
        }
    }
}

const PROVISIONS: [&str; 34] = [
    "article",
    "articles",
    "art",
    "section",
    "sections",
    "sec",
    "clause",
    "clauses",
    "recital",
    "recitals",
    "paragraph",
    "paragraphs",
    "para",
    "schedule",
    "annex",
    "chapter",
    "regulation",
    "directive",
    "rule",
    "exhibit",
    "appendix",
    "considerant",
    "considerants",
    "paragraphe",
    "alinea",
    "annexe",
    "chapitre",
    "reglement",
    "loi",
    "decret",
    "§",
    "act",
    "title",
    "titre",
];

pub(super) fn citations(words: &[Word<'_>], facts: &mut BTreeSet<Fact>) {
    for (at, word) in words.iter().enumerate() {
        // "§12" is written together, "article 5(1)" apart.
        let joined = word.bare.strip_prefix('§').filter(|rest| rest.chars().any(|letter| letter.is_ascii_digit()));
        if let Some(rest) = joined {
            add(facts, FactKind::Citation, format!("§ {}", fold(rest)));
        }
        if word.closes || !PROVISIONS.contains(&word.folded.as_str()) {
            continue;
        }
        let mut value = String::new();
        for next in words.iter().skip(at + 1).take(4) {
            let roman = next.bare.chars().all(|letter| "IVXLC".contains(letter));
            let numbered = next.bare.chars().any(|letter| letter.is_ascii_digit());
            let link = matches!(next.folded.as_str(), "(eu)" | "(ue)" | "eu" | "ue" | "no" | "n°" | "nr");
            if !(roman || numbered || link) {
                break;
            }
            value.push_str(&next.folded);
            if next.closes {
                break;
            }
        }
        if value.chars().any(char::is_alphanumeric) && !matches!(value.as_str(), "no" | "eu" | "ue") {
            let keyword = word.folded.trim_end_matches('s');
            add(facts, FactKind::Citation, format!("{keyword} {value}"));
        }
    }
}

pub(super) fn addresses(words: &[Word<'_>], facts: &mut BTreeSet<Fact>) {
    let numeric = |word: &Word<'_>| word.bare.chars().next().is_some_and(|letter| letter.is_ascii_digit());
    for (at, word) in words.iter().enumerate() {
        let street = matches!(
            word.folded.as_str(),
            "street"
                | "st"
                | "road"
                | "rd"
                | "avenue"
                | "ave"
                | "lane"
                | "square"
                | "boulevard"
                | "drive"
                | "quay"
                | "row"
        );
        if street && word.bare.chars().next().is_some_and(char::is_uppercase) {
            let from = (at.saturating_sub(4)..at).rev().find(|place| numeric(&words[*place]));
            if let Some(from) = from {
                let run: Vec<&str> = words[from..=at].iter().map(|word| word.folded.as_str()).collect();
                add(facts, FactKind::Address, run.join(" "));
            }
        }
        let rue = matches!(
            word.folded.as_str(),
            "rue" | "avenue" | "boulevard" | "place" | "quai" | "chemin" | "allee" | "impasse" | "route"
        );
        let before = at.checked_sub(1).and_then(|at| words.get(at)).filter(|word| numeric(word));
        if let Some(before) = before.filter(|_| rue) {
            let mut run = vec![before.folded.as_str(), word.folded.as_str()];
            for next in words.iter().skip(at + 1).take(5) {
                run.push(&next.folded);
                if next.closes {
                    break;
                }
            }
            add(facts, FactKind::Address, run.join(" "));
        }
        if is_postal(word.bare)
            || word.bare.contains('@')
            || word.folded.starts_with("http")
            || word.folded.starts_with("www.")
        {
            add(facts, FactKind::Address, word.folded.clone());
        }
    }
}

/// Codes such as `L-2920`, `75008` and the first half of `EC1A 1BB`.
fn is_postal(word: &str) -> bool {
    let letters = word.chars().filter(char::is_ascii_uppercase).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let dashed = word.contains('-') && letters == 1 && (4..=5).contains(&digits) && word.len() == digits + 2;
    let plain = digits == 5 && word.len() == 5;
    let british = (3..=4).contains(&word.len()) && letters >= 2 && digits >= 1 && letters + digits == word.len();
    dashed || plain || british
}

/// Words that criteria begin with, and that are no names.
fn opens_criteria(word: &str) -> bool {
    is_requirement(word)
        || matches!(word, "answer" | "response" | "memo" | "draft" | "reponse" | "note" | "redige" | "pass" | "fail")
}

pub(super) fn entities(words: &[Word<'_>], language: Language, facts: &mut BTreeSet<Fact>) {
    let capital = |word: &Word<'_>| {
        word.bare.chars().next().is_some_and(char::is_uppercase)
            && month(&word.folded).is_none()
            && !(word.first && (stop::is_stop(&word.folded, language) || opens_criteria(&word.folded)))
            && !(word.bare.chars().count() == 1)
    };
    let mut at = 0;
    while at < words.len() {
        let start = at;
        while at < words.len() && capital(&words[at]) && (at == start || !words[at - 1].closes) {
            at += 1;
        }
        if at > start {
            let run: Vec<&str> = words[start..at].iter().map(|word| word.folded.as_str()).collect();
            if !(run.len() == 1 && PROVISIONS.contains(&run[0])) {
                add(facts, FactKind::Entity, run.join(" "));
            }
        } else {
            at += 1;
        }
    }
}

pub(super) fn operators(words: &[Word<'_>], facts: &mut BTreeSet<Fact>) {
    for (at, word) in words.iter().enumerate() {
        let single = matches!(
            word.folded.as_str(),
            "not"
                | "no"
                | "never"
                | "without"
                | "only"
                | "unless"
                | "except"
                | "may"
                | "must"
                | "shall"
                | "should"
                | "before"
                | "after"
                | "either"
                | "neither"
                | "nor"
                | "all"
                | "any"
                | "each"
                | "pas"
                | "ne"
                | "jamais"
                | "sans"
                | "seulement"
                | "uniquement"
                | "sauf"
                | "peut"
                | "doit"
                | "doivent"
                | "peuvent"
                | "avant"
                | "apres"
                | "ni"
                | "aucun"
                | "aucune"
                | "tout"
                | "toute"
                | "tous"
                | "toutes"
                | "chaque"
        );
        // The month is not the verb.
        let is_month = word.folded == "may"
            && (at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|word| day(&word.folded).is_some())
                || words.get(at + 1).is_some_and(|word| day(&word.folded).is_some()));
        if single && !is_month {
            add(facts, FactKind::Operator, word.folded.clone());
        }
        let pair = words.get(at + 1).map(|next| format!("{} {}", word.folded, next.folded));
        if let Some(pair) = pair.filter(|pair| {
            matches!(pair.as_str(), "at least" | "at most" | "more than" | "less than" | "au moins" | "au plus")
        }) {
            add(facts, FactKind::Operator, pair);
        }
    }
}
