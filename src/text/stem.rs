//! Light stemming: the endings of law's word families, cut off.
//!
//! Longest ending first, once, and only where a stem of four letters (three for plurals) is left. The aim is that
//! *notify*, *notified* and *notification* meet, as do *résilier*, *résiliation* and *résilié*; and that *employer*
//! and *employee*, *processor* and *processing* do not: the endings of agents (`-er`, `-or`, `-eur`) stay.

use super::language::Language;

/// Endings cut off English words, longest first within a family.
const ENGLISH: &[&str] = &[
    "ifications",
    "ification",
    "ications",
    "ication",
    "icable",
    "ations",
    "ation",
    "ating",
    "ated",
    "ates",
    "ate",
    "itions",
    "ition",
    "utions",
    "ution",
    "ibility",
    "ability",
    "ements",
    "ement",
    "ments",
    "ment",
    "ptions",
    "ption",
    "ctions",
    "ction",
    "sions",
    "sion",
    "tions",
    "tion",
    "ances",
    "ance",
    "ences",
    "ence",
    "ures",
    "ure",
    "able",
    "ible",
    "ively",
    "ive",
    "ally",
    "ying",
    "ings",
    "ing",
    "ied",
    "ies",
    "ed",
    "ly",
    "wals",
    "wal",
    "vals",
    "val",
    "sals",
    "sal",
    "ees",
    "ee",
    "bilities",
    "bility",
    "ity",
    "ness",
    "es",
    "s",
    "e",
    "y",
];

/// What an ending leaves behind, where it is not nothing.
const ENGLISH_LEFT: &[(&str, &str)] = &[
    ("ifications", "if"),
    ("ification", "if"),
    ("ptions", "pt"),
    ("ption", "pt"),
    ("ctions", "ct"),
    ("ction", "ct"),
    ("sions", "d"),
    ("sion", "d"),
    ("tions", "t"),
    ("tion", "t"),
    ("bilities", "bl"),
    ("bility", "bl"),
    ("wals", "w"),
    ("wal", "w"),
    ("vals", "v"),
    ("val", "v"),
    ("sals", "s"),
    ("sal", "s"),
    ("ees", "ee"),
    ("ee", "ee"),
    ("utions", "ut"),
    ("ution", "ut"),
];

/// Endings cut off French words, without accents.
const FRENCH: &[&str] = &[
    "ifications",
    "ification",
    "ications",
    "ication",
    "iations",
    "iation",
    "ations",
    "ation",
    "itions",
    "ition",
    "issements",
    "issement",
    "iements",
    "iement",
    "ements",
    "ement",
    "amment",
    "emment",
    "ment",
    "ibilites",
    "ibilite",
    "abilites",
    "abilite",
    "ilites",
    "ilite",
    "ites",
    "ite",
    "iques",
    "ique",
    "ables",
    "able",
    "ibles",
    "ible",
    "ances",
    "ance",
    "ences",
    "ence",
    "ivement",
    "ives",
    "ive",
    "ifs",
    "if",
    "issant",
    "issent",
    "aient",
    "eraient",
    "erait",
    "eront",
    "era",
    "iera",
    "ieront",
    "ient",
    "iees",
    "iee",
    "ies",
    "ie",
    "ier",
    "iers",
    "iant",
    "ieres",
    "iere",
    "antes",
    "ants",
    "ante",
    "ant",
    "ions",
    "ees",
    "ee",
    "er",
    "ers",
    "ez",
    "ent",
    "ont",
    "ait",
    "ira",
    "iront",
    "irait",
    "it",
    "is",
    "ir",
    "euses",
    "euse",
    "eaux",
    "aux",
    "ales",
    "ale",
    "als",
    "al",
    "elles",
    "elle",
    "els",
    "el",
    "ons",
    "es",
    "s",
    "x",
    "e",
];

/// What an ending leaves behind, where it is not nothing.
const FRENCH_LEFT: &[(&str, &str)] = &[
    ("ifications", "if"),
    ("ification", "if"),
    ("eaux", "eau"),
    ("ieres", "ier"),
    ("iere", "ier"),
    ("iers", "ier"),
    ("ions", "ion"),
    ("euses", "eur"),
    ("euse", "eur"),
];

/// The stem of a folded word.
pub(crate) fn stem(word: &str, language: Language) -> String {
    if !word.is_ascii() || word.bytes().any(|byte| byte.is_ascii_digit()) {
        return word.to_owned();
    }
    let (endings, left) = match language {
        Language::English => (ENGLISH, ENGLISH_LEFT),
        Language::French => (FRENCH, FRENCH_LEFT),
    };
    // A double letter before the ending (`transferred`, `stopped`) is cut to one, but `ss` and `ll` are not.
    let mut best: Option<(&str, &str)> = None;
    for ending in endings {
        let Some(head) = word.strip_suffix(ending) else { continue };
        let rest = left.iter().find(|(name, _)| name == ending).map_or("", |(_, rest)| *rest);
        let least = if matches!(*ending, "s" | "x" | "e" | "es") { 3 } else { 4 };
        let ends_in_s = *ending == "s" && head.ends_with(['s', 'u', 'i']) && language == Language::English;
        if head.len() + rest.len() >= least
            && !ends_in_s
            && best.is_none_or(|(shortest, _)| head.len() < shortest.len())
        {
            best = Some((head, rest));
        }
    }
    let (head, rest) = best.unwrap_or((word, ""));
    let mut stem = format!("{head}{rest}");
    let double = ["tt", "rr", "nn", "pp", "mm", "dd", "gg"].iter().any(|pair| stem.ends_with(pair));
    if double && stem.len() > 4 {
        stem.pop();
    }
    if stem.len() > 4 && (stem.ends_with('i') || stem.ends_with('y') && language == Language::English) {
        stem.pop();
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meet(words: &[&str], language: Language) {
        let stems: Vec<String> = words.iter().map(|word| stem(word, language)).collect();
        assert!(stems.windows(2).all(|pair| pair.first() == pair.last()), "{words:?} gave {stems:?}");
    }

    #[test]
    fn english_families_meet() {
        meet(&["notify", "notified", "notification", "notifies"], Language::English);
        meet(&["apply", "applies", "application", "applicable"], Language::English);
        meet(&["terminate", "termination", "terminated"], Language::English);
        meet(&["erase", "erasure", "erased"], Language::English);
        meet(&["withdraw", "withdrawal", "withdrawing"], Language::English);
        meet(&["transfer", "transferred", "transfers"], Language::English);
    }

    #[test]
    fn french_families_meet() {
        meet(&["notifier", "notification", "notifie", "notifiee"], Language::French);
        meet(&["resilier", "resiliation", "resilie"], Language::French);
        meet(&["licencier", "licenciement", "licencies"], Language::French);
        meet(&["traiter", "traitement", "traitees", "traite"], Language::French);
        meet(&["consentir", "consentement"], Language::French);
    }

    #[test]
    fn parties_stay_apart() {
        assert_ne!(stem("employer", Language::English), stem("employee", Language::English));
        assert_ne!(stem("processor", Language::English), stem("processing", Language::English));
        assert_ne!(stem("employeur", Language::French), stem("employe", Language::French));
        assert_ne!(stem("bailleur", Language::French), stem("bail", Language::French));
    }
}
