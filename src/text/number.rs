//! Numbers in digits and in words.

use super::language::Language;
use super::token::{Kind, Token};

/// Reads the number at the beginning of some tokens: its value, and how many tokens it takes.
///
/// Digits may have separators (`20,000`, `20 000`, `2,5`) and a multiplier after them (`20 million`). Words are added
/// up (`soixante-douze`, `one hundred and twenty`). Ordinals are no numbers.
pub(crate) fn read(tokens: &[Token], language: Language) -> Option<(f64, usize)> {
    let first = tokens.first()?;
    if first.kind == Kind::Number {
        let mut value = digits(&first.text, language)?;
        let mut length = 1;
        while let Some(factor) = tokens.get(length).and_then(|token| multiplier(&token.text, language)) {
            value *= factor;
            length += 1;
        }
        return Some((value, length));
    }
    words(tokens, language)
}

/// The value of digits with separators. A separator before exactly three digits groups thousands, except for the
/// English point and except after a leading zero; any other is the decimal mark.
fn digits(text: &str, language: Language) -> Option<f64> {
    let parts: Vec<&str> = text.split([',', '.', '\'', ' ']).collect();
    let separators: Vec<char> = text.chars().filter(|letter| matches!(letter, ',' | '.' | '\'' | ' ')).collect();
    let mut number = String::new();
    let mut decimal = false;
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            let separator = separators.get(index - 1).copied().unwrap_or(',');
            let groups = part.len() == 3 && !number.starts_with('0') && !decimal;
            let english_point = separator == '.' && language == Language::English && parts.len() == 2;
            if !groups || english_point {
                if decimal {
                    return None;
                }
                decimal = true;
                number.push('.');
            }
        }
        number.push_str(part);
    }
    number.parse().ok()
}

/// Words are read as French and English do: units and tens add up, `hundred` and `mille` multiply.
fn words(tokens: &[Token], language: Language) -> Option<(f64, usize)> {
    let (mut total, mut current) = (0.0_f64, 0.0_f64);
    let (mut length, mut index) = (0, 0);
    // The smallest scale so far; `two three` are two numbers.
    let mut room = f64::INFINITY;
    while let Some(token) = tokens.get(index) {
        let joins = token.is("-") && !token.spaced || matches!(token.text.as_str(), "and" | "et");
        if joins && length > 0 && length == index {
            index += 1;
            continue;
        }
        if token.kind != Kind::Word {
            break;
        }
        let word = token.text.as_str();
        if let Some(factor) = multiplier(word, language) {
            if factor < 1000.0 {
                current = current.max(1.0) * factor;
            } else {
                total += current.max(1.0) * factor;
                current = 0.0;
            }
            room = if factor < 1000.0 { 100.0 } else { 1000.0 };
        } else if matches!(word, "vingt" | "vingts") && (current % 100.0 - 4.0).abs() < 0.5 {
            // quatre-vingts
            current += 76.0;
            room = 20.0;
        } else if let Some(value) = simple(word, language) {
            if value >= room {
                break;
            }
            current += value;
            // soixante-dix and quatre-vingt-dix take up to nineteen more.
            room = match value {
                value if value < 20.0 => 1.0,
                value if language == Language::French && value >= 60.0 => 20.0,
                _ => 10.0,
            };
            // dix-sept, dix-huit, dix-neuf
            if word == "dix" {
                room = 10.0;
            }
        } else {
            break;
        }
        index += 1;
        length = index;
    }
    // `one` and `un` alone are words like others; the caller takes them before a unit.
    (length > 0).then_some((total + current, length))
}

/// `hundred` and above.
fn multiplier(word: &str, language: Language) -> Option<f64> {
    let value = match (language, word) {
        (Language::English, "hundred" | "hundreds") | (Language::French, "cent" | "cents") => 1e2,
        (Language::English, "thousand" | "thousands") | (Language::French, "mille") => 1e3,
        (_, "million" | "millions") => 1e6,
        (Language::English, "billion" | "billions") | (Language::French, "milliard" | "milliards") => 1e9,
        _ => return None,
    };
    Some(value)
}

fn simple(word: &str, language: Language) -> Option<f64> {
    const ENGLISH: &[&str] = &[
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const FRENCH: &[&str] = &[
        "zero", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze",
        "treize", "quatorze", "quinze", "seize",
    ];
    let (small, tens): (&[&str], &[(&str, f64)]) = match language {
        Language::English => (
            ENGLISH,
            &[
                ("twenty", 20.0),
                ("thirty", 30.0),
                ("forty", 40.0),
                ("fifty", 50.0),
                ("sixty", 60.0),
                ("seventy", 70.0),
                ("eighty", 80.0),
                ("ninety", 90.0),
            ],
        ),
        Language::French => (
            FRENCH,
            &[
                ("vingt", 20.0),
                ("trente", 30.0),
                ("quarante", 40.0),
                ("cinquante", 50.0),
                ("soixante", 60.0),
                ("septante", 70.0),
                ("octante", 80.0),
                ("huitante", 80.0),
                ("nonante", 90.0),
                ("une", 1.0),
            ],
        ),
    };
    let counted = small.iter().position(|name| *name == word).map(|value| value as f64);
    counted.or_else(|| tens.iter().find(|(name, _)| *name == word).map(|(_, value)| *value))
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    fn value(text: &str, language: Language) -> Option<f64> {
        read(&tokens(text, language), language).map(|(value, _)| value)
    }

    #[test]
    fn english() {
        for (text, expected) in [
            ("thirty days", 30.0),
            ("20,000 euros", 20_000.0),
            ("20 000", 20_000.0),
            ("3.5 %", 3.5),
            ("20 million", 2e7),
            ("one hundred and twenty", 120.0),
            ("seventy-two hours", 72.0),
            ("two thousand five hundred", 2500.0),
            ("1,250.50", 1250.5),
            ("two three", 2.0),
        ] {
            assert_eq!(value(text, Language::English), Some(expected), "{text}");
        }
        assert_eq!(value("first", Language::English), None);
    }

    #[test]
    fn french() {
        for (text, expected) in [
            ("soixante-douze heures", 72.0),
            ("quatre-vingt-dix jours", 90.0),
            ("quatre-vingts", 80.0),
            ("vingt et un", 21.0),
            ("2,5 %", 2.5),
            ("20.000 euros", 20_000.0),
            ("deux mille", 2000.0),
            ("trois cents", 300.0),
            ("dix-huit mois", 18.0),
            ("1,5 milliard", 1.5e9),
            ("cent vingt", 120.0),
        ] {
            assert_eq!(value(text, Language::French), Some(expected), "{text}");
        }
        assert_eq!(value("premier", Language::French), None);
    }
}
