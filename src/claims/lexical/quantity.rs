//! Quantities: numbers with what they count.

use super::citation::Role;
use crate::text::language::Language;
use crate::text::number;
use crate::text::stem::stem;
use crate::text::stop::is_stop;
use crate::text::token::{Kind, Token};

/// On which side of its value a quantity lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// No word says.
    Open,
    /// *at least*, *more than*, *au moins*
    Least,
    /// *at most*, *within*, *au plus*
    Most,
}

/// A number and its unit. Weeks are counted in days and years in months, so that `two years` meets `24 months`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantity {
    pub value: f64,
    /// As the text counts, before weeks and years are converted.
    pub raw: f64,
    /// As the text has it, for messages.
    pub shown: String,
    /// A canonical unit, a month, `year` for a calendar year, or the stem of the word after the number.
    pub unit: Option<String>,
    pub bound: Bound,
    /// The unit is one of the known ones, and not just the next word.
    pub known: bool,
}

impl Quantity {
    /// Whether both count the same thing.
    pub fn same_unit(&self, other: &Self) -> bool {
        self.unit == other.unit
    }

    /// The length in days, of a length of time. Months count thirty days, which is near enough to tell lengths apart.
    pub fn days(&self) -> Option<f64> {
        let length = match self.unit.as_deref()? {
            "minute" => 1.0 / 1440.0,
            "hour" => 1.0 / 24.0,
            "day" => 1.0,
            "month" => 30.0,
            _ => return None,
        };
        Some(self.value * length)
    }

    pub fn same_value(&self, other: &Self) -> bool {
        // Without a known unit on both sides, the bare numbers are compared.
        let (own, other) = if self.known && other.known { (self.value, other.value) } else { (self.raw, other.raw) };
        (own - other).abs() <= 1e-9 * own.abs().max(1.0)
    }
}

/// Takes the quantities out of some tokens, and marks numbers and units in `roles`.
pub(super) fn take(tokens: &[Token], roles: &mut [Role], language: Language) -> Vec<Quantity> {
    let mut found: Vec<Quantity> = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        let free = roles.get(index) == Some(&Role::Free);
        let Some((value, length)) = tokens.get(index..).filter(|_| free).and_then(|rest| number::read(rest, language))
        else {
            index += 1;
            continue;
        };
        let (start, end) = (index, index + length);
        index = end;
        let (name, unit_end) = unit_near(tokens, start, end, language);
        let article =
            length == 1 && tokens.get(start).is_some_and(|token| matches!(token.text.as_str(), "one" | "un" | "une"));
        let known = name.as_ref().is_some_and(|(_, known)| *known);
        // The unit of an article must follow at once: `un mois`, not `un délai de six mois`.
        let known = known && !(article && unit_end > end + 1 && !tokens.get(end).is_some_and(|token| token.is("(")));
        // `un contrat`, `one party`: an article, not a number. `neuf` before no unit is French for new.
        if !known && (article || tokens.get(start).is_some_and(|token| token.is("neuf"))) {
            continue;
        }
        mark(roles, start, end, Role::Number);
        if known {
            mark(roles, end, unit_end, Role::Unit);
        }
        let shown: Vec<&str> = tokens.get(start..end).unwrap_or(&[]).iter().map(|token| token.text.as_str()).collect();
        let raw = value;
        let (value, unit) = canonical(value, name.map(|(name, _)| name));
        found.push(Quantity { value, raw, shown: shown.join(" "), unit, bound: bound(tokens, start), known });
    }
    months(tokens, roles);
    found
}

fn mark(roles: &mut [Role], from: usize, to: usize, role: Role) {
    let to = to.min(roles.len());
    for slot in roles.get_mut(from..to).unwrap_or_default().iter_mut().filter(|slot| **slot == Role::Free) {
        *slot = role;
    }
}

/// The canonical name of a unit, if a folded word is one.
pub(super) fn unit(word: &str) -> Option<&'static str> {
    Some(match word {
        "day" | "days" | "jour" | "jours" => "day",
        "hour" | "hours" | "heure" | "heures" => "hour",
        "minute" | "minutes" => "minute",
        "week" | "weeks" | "semaine" | "semaines" => "week",
        "month" | "months" | "mois" => "month",
        "year" | "years" | "an" | "ans" | "annee" | "annees" => "years",
        "times" | "fois" => "times",
        "%" | "percent" | "percentage" | "pourcent" | "pourcentage" => "percent",
        "euro" | "euros" | "eur" | "€" => "euro",
        "dollar" | "dollars" | "usd" | "$" => "dollar",
        "pound" | "pounds" | "gbp" | "£" => "pound",
        _ => return None,
    })
}

fn month(word: &str) -> Option<&'static str> {
    Some(match word {
        "january" | "janvier" => "january",
        "february" | "fevrier" => "february",
        "march" | "mars" => "march",
        "april" | "avril" => "april",
        "may" | "mai" => "may",
        "june" | "juin" => "june",
        "july" | "juillet" => "july",
        "august" | "aout" => "august",
        "september" | "septembre" => "september",
        "october" | "octobre" => "october",
        "november" | "novembre" => "november",
        "december" | "decembre" => "december",
        _ => return None,
    })
}

/// The unit of a number: a currency before it, or a known unit among the next words, or else the next word itself.
/// With it, whether it is a known one, and where it ends.
fn unit_near(tokens: &[Token], start: usize, end: usize, language: Language) -> (Option<(String, bool)>, usize) {
    let before = start.checked_sub(1).and_then(|before| tokens.get(before)).and_then(|token| unit(&token.text));
    let rest = tokens.get(end..).unwrap_or(&[]);
    let word = |at: usize| rest.get(at).map_or("", |token| token.text.as_str());
    if matches!((word(0), word(1)), ("per" | "pour", "cent" | "cents")) {
        return (Some(("percent".to_owned(), true)), end + 2);
    }
    if let Some(before) = before.filter(|name| matches!(*name, "euro" | "dollar" | "pound")) {
        return (Some((before.to_owned(), true)), end);
    }
    if let Some(name) = month(word(0)) {
        return (Some((name.to_owned(), true)), end + 1);
    }
    let mut next = None;
    for (at, token) in rest.iter().enumerate().take(6) {
        // `an` is a unit in French and an article in English.
        let article = token.is("an") && language == Language::English;
        if let Some(name) = unit(&token.text).filter(|_| !article) {
            return (Some((name.to_owned(), true)), end + at + 1);
        }
        // Another number has its own unit.
        if token.kind == Kind::Word && number::read(std::slice::from_ref(token), language).is_some() {
            break;
        }
        // Brackets and their number are passed over: `thirty (30) days`.
        let bracket = token.kind == Kind::Number || matches!(token.text.as_str(), "(" | ")");
        if token.kind == Kind::Mark && !bracket {
            break;
        }
        if token.kind == Kind::Word
            && is_stop(&token.text, language)
            && !matches!(token.text.as_str(), "de" | "d" | "of")
        {
            break;
        }
        if token.kind == Kind::Word && next.is_none() && !is_stop(&token.text, language) {
            next = Some(stem(&token.text, language));
        }
    }
    let year = tokens
        .get(start)
        .is_some_and(|token| end == start + 1 && token.text.len() == 4 && token.text.starts_with(['1', '2']));
    if year && next.is_none() {
        return (Some(("year".to_owned(), true)), end);
    }
    (next.map(|name| (name, false)), end)
}

fn canonical(value: f64, unit: Option<String>) -> (f64, Option<String>) {
    match unit.as_deref() {
        Some("week") => (value * 7.0, Some("day".to_owned())),
        Some("years") => (value * 12.0, Some("month".to_owned())),
        _ => (value, unit),
    }
}

/// `May 2018` and `25 May` name the month; no later reader may take it for a permission.
fn months(tokens: &[Token], roles: &mut [Role]) {
    for (index, token) in tokens.iter().enumerate() {
        let dated = roles.get(index + 1) == Some(&Role::Number) && month(&token.text).is_some();
        if let Some(role) = roles.get_mut(index).filter(|role| dated && **role == Role::Free) {
            *role = Role::Unit;
        }
    }
}

/// What the few words before a number say of its side; a negation turns it around (`no more than`).
fn bound(tokens: &[Token], start: usize) -> Bound {
    let from = start.saturating_sub(5);
    let mut side = Bound::Open;
    let mut turned = false;
    let before = tokens.get(from..start).unwrap_or(&[]);
    for (index, token) in before.iter().enumerate() {
        let previous = index.checked_sub(1).and_then(|at| before.get(at)).map_or("", |token| token.text.as_str());
        let next = before.get(index + 1).map_or("", |token| token.text.as_str());
        match token.text.as_str() {
            "no" | "not" | "ne" | "n" | "sans" => turned = true,
            "moins" if matches!(previous, "au" | "du") => side = Bound::Least,
            "moins" if matches!(next, "de" | "d" | "") => side = Bound::Most,
            "plus" if matches!(previous, "au") => side = Bound::Most,
            "plus" if matches!(next, "de" | "d") => side = Bound::Least,
            "least" | "more" | "minimum" | "exceeding" | "exceeds" | "exceed" | "above" | "over" | "superieur"
            | "superieure" | "superieurs" | "exceder" | "excede" | "excedant" | "depasser" | "depasse"
            | "depassant" | "greater" | "longer" => side = Bound::Least,
            "most" | "less" | "fewer" | "within" | "maximum" | "under" | "below" | "inferieur" | "inferieure"
            | "jusqu" | "maximal" | "maximale" => side = Bound::Most,
            "up" if next == "to" => side = Bound::Most,
            "later" => return Bound::Most,
            _ => {}
        }
    }
    match (side, turned) {
        (Bound::Least, true) => Bound::Most,
        (Bound::Most, true) => Bound::Least,
        (side, _) => side,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::token::tokens;

    fn read(text: &str, language: Language) -> Vec<(f64, Option<String>, Bound)> {
        let tokens = tokens(text, language);
        let mut roles = vec![Role::Free; tokens.len()];
        take(&tokens, &mut roles, language).into_iter().map(|found| (found.value, found.unit, found.bound)).collect()
    }

    fn some(unit: &str) -> Option<String> {
        Some(unit.to_owned())
    }

    #[test]
    fn units() {
        let days = (30.0, some("day"), Bound::Open);
        assert_eq!(read("thirty (30) calendar days", Language::English), [days]);
        assert_eq!(read("€20 million", Language::English), [(2e7, some("euro"), Bound::Open)]);
        assert_eq!(read("quatre pour cent", Language::French), [(4.0, some("percent"), Bound::Open)]);
        assert_eq!(read("deux ans", Language::French), [(24.0, some("month"), Bound::Open)]);
        assert_eq!(read("un contrat", Language::French), []);
    }

    #[test]
    fn bounds() {
        assert_eq!(read("no more than 5 days", Language::English), [(5.0, some("day"), Bound::Most)]);
        assert_eq!(read("at least 250 employees", Language::English), [(250.0, some("employee"), Bound::Least)]);
        assert_eq!(read("moins de 50 salaries", Language::French).first().map(|found| found.2), Some(Bound::Most));
        assert_eq!(read("au moins dix jours", Language::French).first().map(|found| found.2), Some(Bound::Least));
    }
}
