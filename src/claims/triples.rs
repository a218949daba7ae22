//! Reading the triples in a model's reply, without guessing and without losing one.
//!
//! A reply is JSON, or text in which each triple is three quoted parts in brackets: `("subject", "predicate",
//! "object")`. Quotes may be straight, curly or guillemets; a part that is a bare number needs none. A bracket is read
//! when there is exactly *one* way to cut it into three parts whose inner quotes are balanced. Anything else that begins
//! like a triple is lost *with its text and a reason*; nothing is ever evaluated.

use serde_json::Value;

use super::Statement;

/// Something in a reply that should have been a claim and could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Why.
    pub reason: String,
    /// The text at fault.
    pub raw: String,
}

impl Lost {
    pub(super) fn new(reason: impl Into<String>, raw: &str) -> Self {
        Self { reason: reason.into(), raw: raw.trim().to_owned() }
    }
}

/// What a reply holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extracted {
    /// The claims, in the reply's order, without repetitions.
    pub claims: Vec<Statement>,
    /// What could not be read.
    pub lost: Vec<Lost>,
}

impl Extracted {
    pub(super) fn failed(reason: impl Into<String>, raw: &str) -> Self {
        Self { claims: Vec::new(), lost: vec![Lost::new(reason, raw)] }
    }

    pub(super) fn push(&mut self, claim: Statement) {
        if !self.claims.iter().any(|known| known.key() == claim.key()) {
            self.claims.push(claim);
        }
    }
}

/// Reads the triples of a reply.
///
/// No claims at all is an answer only when the reply says so: an empty list in JSON, or a line that is `NONE` (French
/// `AUCUNE`). Otherwise it is a loss.
///
/// ```
/// use claimlab::claims::read_triples;
///
/// let reply = "### Triples\n('L'article 5', 'prévoit', 'loyauté, transparence'), (\"Art. 6\",\"cites\",\"point (a)\")";
/// let found = read_triples(reply);
/// assert_eq!(found.claims[0].parts(), Some(["L'article 5", "prévoit", "loyauté, transparence"]));
/// assert_eq!(found.claims[1].parts(), Some(["Art. 6", "cites", "point (a)"]));
/// assert!(found.lost.is_empty());
///
/// let found = read_triples("Sorry, I cannot help with that.");
/// assert!(found.claims.is_empty());
/// assert_eq!(found.lost[0].reason, "no triple in the reply");
/// ```
#[must_use]
pub fn read_triples(reply: &str) -> Extracted {
    if let Some(value) = json_in(reply) {
        let mut found = Extracted::default();
        read_value(&value, &mut found);
        if !found.claims.is_empty() || !found.lost.is_empty() || is_empty_list(&value) {
            return found;
        }
    }
    let mut found = read_brackets(reply);
    if found.claims.is_empty() && found.lost.is_empty() && !says_none(reply) {
        found.lost.push(Lost::new("no triple in the reply", reply));
    }
    found
}

/// The JSON value that a reply is, once a code fence is taken off.
pub(super) fn json_in(reply: &str) -> Option<Value> {
    let text = reply.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")).map_or(text, |fenced| {
        fenced.split_once('\n').filter(|(language, _)| !language.contains(['{', '['])).map_or(fenced, |(_, rest)| rest)
    });
    serde_json::from_str(inner).ok()
}

/// The list of claims in a JSON reply: itself, or the only list of an object.
pub(super) fn list_of(value: &Value) -> Option<&Vec<Value>> {
    match value {
        Value::Array(list) => Some(list),
        Value::Object(fields) => {
            let mut lists = fields.values().filter_map(Value::as_array);
            lists.next().filter(|_| lists.next().is_none())
        }
        _ => None,
    }
}

fn is_empty_list(value: &Value) -> bool {
    list_of(value).is_some_and(Vec::is_empty)
}

/// Whether a reply says that there is nothing to extract.
fn says_none(reply: &str) -> bool {
    let bare = |line: &str| line.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    reply.lines().any(|line| matches!(bare(line).as_str(), "none" | "abstain" | "aucune" | "aucun"))
}

fn read_value(value: &Value, found: &mut Extracted) {
    // A single triple: a list of three texts.
    if let Some(parts) = value.as_array().filter(|list| list.len() == 3 && list.iter().all(|part| !part.is_array())) {
        if parts.iter().all(|part| part.is_string() || part.is_number()) {
            return keep(parts.iter().map(plain).collect(), &value.to_string(), found);
        }
    }
    for one in list_of(value).into_iter().flatten() {
        let parts: Option<Vec<String>> = match one {
            Value::Array(parts) => Some(parts.iter().map(plain).collect()),
            Value::Object(fields) => {
                ["subject", "predicate", "object"].iter().map(|name| fields.get(*name).map(plain)).collect()
            }
            _ => None,
        };
        match parts {
            Some(parts) => keep(parts, &one.to_string(), found),
            None => found.lost.push(Lost::new("not a subject, predicate and object", &one.to_string())),
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn keep(parts: Vec<String>, raw: &str, found: &mut Extracted) {
    match <[String; 3]>::try_from(parts) {
        Err(parts) => found.lost.push(Lost::new(format!("{} parts instead of 3", parts.len()), raw)),
        Ok(parts) if parts.iter().any(|part| part.trim().is_empty()) => {
            found.lost.push(Lost::new("a part is empty", raw));
        }
        Ok(parts) if is_template(&parts) => {}
        Ok(parts) => found.push(Statement::triple(parts.each_ref().map(String::as_str))),
    }
}

/// The prompt's own pattern, repeated by the model.
fn is_template(parts: &[String; 3]) -> bool {
    let lower = parts.each_ref().map(|part| part.trim().to_lowercase());
    let lower = lower.each_ref().map(String::as_str);
    matches!(lower, ["subject", "predicate", "object"] | ["sujet", "prédicat", "objet"])
}

fn read_brackets(reply: &str) -> Extracted {
    let letters: Vec<char> = reply.chars().collect();
    let mut found = Extracted::default();
    let mut at = 0;
    while at < letters.len() {
        if !begins_a_tuple(&letters, at) {
            at += 1;
            continue;
        }
        match cuts(&letters, at).as_slice() {
            [(parts, end)] => {
                keep(parts.clone(), &text(&letters, at, *end), &mut found);
                at = *end;
            }
            several => {
                let end = end_of_bracket(&letters, at);
                let reason = if !several.is_empty() {
                    "more than one way to read it".to_owned()
                } else if end.is_none() {
                    "cut off".to_owned()
                } else {
                    "not three quoted parts".to_owned()
                };
                let end = end.unwrap_or_else(|| end_of_line(&letters, at));
                found.lost.push(Lost::new(reason, &text(&letters, at, end)));
                at = end;
            }
        }
    }
    found
}

fn text(letters: &[char], from: usize, to: usize) -> String {
    letters.get(from..to).unwrap_or_default().iter().collect()
}

/// A bracket followed by a quote.
fn begins_a_tuple(letters: &[char], at: usize) -> bool {
    let opens = letters.get(at).is_some_and(|letter| matches!(letter, '(' | '['));
    opens && letters.get(skip_space(letters, at + 1)).copied().is_some_and(|next| closing_of(next).is_some())
}

fn skip_space(letters: &[char], mut at: usize) -> usize {
    while letters.get(at).is_some_and(|letter| letter.is_whitespace()) {
        at += 1;
    }
    at
}

/// The quotes that close what this one opens.
fn closing_of(open: char) -> Option<&'static [char]> {
    match open {
        '"' => Some(&['"']),
        '\'' => Some(&['\'']),
        '“' | '„' => Some(&['”', '“']),
        '‘' => Some(&['’']),
        '«' => Some(&['»']),
        '‹' => Some(&['›']),
        '»' => Some(&['«']),
        _ => None,
    }
}

/// More cuts than this are not looked for: two are already too many.
const MOST_CUTS: usize = 2;

/// All ways to read the bracket at `at` as three parts, each with where it ends.
fn cuts(letters: &[char], at: usize) -> Vec<(Vec<String>, usize)> {
    let close = if letters.get(at) == Some(&'(') { ')' } else { ']' };
    let mut found = Vec::new();
    let mut open: Vec<(Vec<String>, usize)> = vec![(Vec::new(), at + 1)];
    while let Some((parts, from)) = open.pop() {
        for (part, after) in ends(letters, from, parts.len() == 2, close) {
            let mut parts = parts.clone();
            parts.push(part);
            if parts.len() == 3 {
                found.push((parts, after));
                if found.len() == MOST_CUTS {
                    return found;
                }
            } else {
                open.push((parts, after));
            }
        }
    }
    found
}

/// The longest part that is looked at, in characters: a triple is not a page.
const LONGEST: usize = 4000;

/// All readings of the part that begins at `from`, each with the place after its comma or closing bracket.
fn ends(letters: &[char], from: usize, is_last: bool, close: char) -> Vec<(String, usize)> {
    let from = skip_space(letters, from);
    let after_part = |at: usize| -> Option<usize> {
        let at = skip_space(letters, at);
        let mark = *letters.get(at)?;
        if !is_last {
            return (mark == ',').then_some(at + 1);
        }
        // A comma before the closing bracket is Python's habit.
        let at = if mark == ',' { skip_space(letters, at + 1) } else { at };
        (*letters.get(at)? == close).then_some(at + 1)
    };
    let Some(open) = letters.get(from).copied() else { return Vec::new() };
    let Some(closing) = closing_of(open) else {
        // A bare number.
        let number: String =
            letters[from..].iter().take_while(|letter| letter.is_ascii_digit() || "+-.%".contains(**letter)).collect();
        let read = number.chars().any(|letter| letter.is_ascii_digit());
        return after_part(from + number.chars().count())
            .filter(|_| read)
            .map(|after| vec![(number, after)])
            .unwrap_or_default();
    };
    let mut found = Vec::new();
    let mut content = String::new();
    let mut at = from + 1;
    while let Some(letter) = letters.get(at).copied().filter(|_| at - from < LONGEST) {
        if letter == '\\' && letters.get(at + 1).is_some_and(|next| closing.contains(next) || *next == '\\') {
            // Escaped: part of the text, and a mark of its own kind so that balance is not asked of it.
            content.push('\\');
            content.push(letters[at + 1]);
            at += 2;
            continue;
        }
        if closing.contains(&letter) {
            if let Some(after) = after_part(at + 1).filter(|_| is_clean(&content, open)) {
                found.push((unescape(&content), after));
            }
        }
        content.push(letter);
        if letter == '\\' {
            content.push(letter);
        }
        at += 1;
    }
    found
}

fn unescape(content: &str) -> String {
    let mut plain = String::with_capacity(content.len());
    let mut letters = content.chars();
    while let Some(letter) = letters.next() {
        plain.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    plain.trim_matches(|letter: char| letter.is_whitespace()).to_owned()
}

/// Whether quotes inside a part are a writer's, not the marks between parts or pieces of an expression.
fn is_clean(content: &str, open: char) -> bool {
    let letters: Vec<char> = content.chars().collect();
    let mut depth = 0_i32;
    let mut at = 0;
    while at < letters.len() {
        if letters[at] == '\\' {
            at += 2;
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| letters.get(before)).copied();
        let after = letters.get(at + 1).copied();
        let opens = before.is_none_or(|letter| letter.is_whitespace() || "([{'’".contains(letter))
            && after.is_some_and(|letter| !letter.is_whitespace());
        match letters[at] {
            '"' => depth += if opens { 1 } else { -1 },
            '\'' if open == '\'' => {
                // An apostrophe stands in a word or after one; a quote, a comma and a quote are a border.
                let next = skip_space(&letters, at + 1);
                let border =
                    letters.get(next) == Some(&',') && letters.get(skip_space(&letters, next + 1)) == Some(&'\'');
                if border || before.is_none() && after.is_none_or(char::is_whitespace) {
                    return false;
                }
            }
            _ => {}
        }
        if depth < 0 {
            return false;
        }
        at += 1;
    }
    depth == 0
}

/// Where the bracket at `at` closes, brackets inside counted.
fn end_of_bracket(letters: &[char], at: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (offset, letter) in letters[at..].iter().enumerate().take(LONGEST) {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + offset + 1);
        }
    }
    None
}

fn end_of_line(letters: &[char], at: usize) -> usize {
    letters[at..].iter().position(|letter| *letter == '\n').map_or(letters.len(), |offset| at + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &str) -> Vec<[String; 3]> {
        let found = read_triples(reply);
        found.claims.iter().filter_map(|claim| claim.parts().map(|parts| parts.map(str::to_owned))).collect()
    }

    fn one(reply: &str, parts: [&str; 3]) {
        assert_eq!(read(reply), [parts.map(str::to_owned)], "{reply}");
        assert!(read_triples(reply).lost.is_empty(), "{reply}");
    }

    #[test]
    fn quotes_of_all_kinds_open_and_close_parts() {
        one("(“A”, “is”, “B”)", ["A", "is", "B"]);
        one(
            "(«\u{a0}L’article 5\u{a0}», «\u{a0}prévoit\u{a0}», «\u{202f}la licéité\u{202f}»)",
            ["L’article 5", "prévoit", "la licéité"],
        );
        one("('the sellers' duty', 'is', 'to deliver')", ["the sellers' duty", "is", "to deliver"]);
        one("('L'acheteur', 'doit payer', 'jusqu'à 5,5 %')", ["L'acheteur", "doit payer", "jusqu'à 5,5 %"]);
        one(
            "(\"Art. 2\", \"defines\", \"the terms \"good\" and \"buyer\"\")",
            ["Art. 2", "defines", "the terms \"good\" and \"buyer\""],
        );
        one("(\"A\", \"lasts\", 12.5%)", ["A", "lasts", "12.5%"]);
        one("(\"A\",\u{a0}\"is\",\u{a0}\"B\",)", ["A", "is", "B"]);
    }

    #[test]
    fn json_in_several_shapes() {
        for reply in [
            r#"{"claims": [{"subject": "A", "predicate": "is", "object": "B"}]}"#,
            r#"[["A", "is", "B"]]"#,
            r#"["A", "is", "B"]"#,
            "```json\n{\"claims\": [[\"A\", \"is\", \"B\"]]}\n```",
        ] {
            one(reply, ["A", "is", "B"]);
        }
        assert!(read_triples(r#"{"claims": []}"#).lost.is_empty());
        let found = read_triples(r#"{"claims": [{"subject": "A", "object": "B"}, ["A", "is"], ["A", "", "B"], 5]}"#);
        let reasons: Vec<&str> = found.lost.iter().map(|lost| lost.reason.as_str()).collect();
        let shape = "not a subject, predicate and object";
        assert_eq!(reasons, [shape, "2 parts instead of 3", "a part is empty", shape]);
    }

    #[test]
    fn what_cannot_be_read_is_lost_with_its_text() {
        let lost = |reply: &str| {
            let found = read_triples(reply);
            assert!(found.claims.is_empty(), "{found:?}");
            (found.lost[0].reason.clone(), found.lost[0].raw.clone())
        };
        assert_eq!(lost("(\"C\", \"is\", \"D"), ("cut off".to_owned(), "(\"C\", \"is\", \"D".to_owned()));
        assert_eq!(lost("('the terms 'a', 'b' and 'c'', 'are', 'X')").0, "not three quoted parts");
        assert_eq!(lost("(\"A\", \"is\", \"\" + f(\"x\") + \"\")").0, "not three quoted parts");
        assert_eq!(lost("").0, "no triple in the reply");
        assert!(read_triples("NONE.").lost.is_empty());
        assert!(read_triples("**Aucune**").lost.is_empty());
    }

    #[test]
    fn a_bad_triple_does_not_take_its_neighbours_along() {
        let found =
            read_triples("(\"A\", \"is\") (\"C\", \"has\", \"D\")\n- (\"E\", \"x\", \"F\") trailing (see (a)) text");
        assert_eq!(found.claims.len(), 2, "{found:?}");
        assert_eq!(found.lost.len(), 1);
    }

    #[test]
    fn long_and_hostile_replies_end() {
        let _ = read_triples(&"(\"".repeat(3000));
        let _ = read_triples(&"(\"a\", ".repeat(2000));
        let _ = read_triples(&"['".repeat(3000));
        assert_eq!(read(&"(\"A\", \"is\", \"B\")\n".repeat(500)).len(), 1);
    }
}
