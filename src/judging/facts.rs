//! What a criterion fixes: names, numbers, dates, addresses, citations. A rewrite that changes one changes the law.

use std::collections::BTreeSet;
use std::fmt;

use super::fact_rules::{self, words};
use crate::text::Language;

/// What sort of thing a text fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FactKind {
    /// A name or acronym.
    Entity,
    /// A number, in digits or in words.
    Number,
    /// A date with at least day and month.
    Date,
    /// A street with its number, a postal code, an e-mail address, a link.
    Address,
    /// A provision, clause or act with its number.
    Citation,
    /// A word that turns a requirement round: not, only, may, unless, at least.
    Operator,
    /// Something to be filled in: `[address]`, `XXX`.
    Placeholder,
}

/// One thing that a text fixes, in a spelling in which equal things are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fact {
    /// What sort.
    pub kind: FactKind,
    /// Its value.
    pub value: String,
}

impl fmt::Display for Fact {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", format!("{:?}", self.kind).to_lowercase(), self.value)
    }
}

/// All that a text fixes. Recognised by rules in English and French; where in doubt, a capitalised word counts as a
/// name, so that a doubtful rewrite goes to a lawyer rather than through.
///
/// ```
/// use claimlab::judging::{FactKind, Facts};
/// let old = Facts::read("The notice must go to 14 Harbour Street within thirty days under clause 4.2(b).");
/// let new = Facts::read("The notice must go to [address] within 30 days under clause 4.2(b).");
/// let (removed, added) = old.difference(&new);
/// assert!(removed.iter().any(|fact| fact.kind == FactKind::Address));
/// assert!(added.iter().any(|fact| fact.kind == FactKind::Placeholder));
/// assert!(!removed.iter().any(|fact| fact.value == "30")); // thirty is 30
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts(BTreeSet<Fact>);

impl Facts {
    /// Reads a text.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let language = Language::detect(text);
        let words = words(text);
        let mut facts = BTreeSet::new();
        fact_rules::numbers(text, language, &mut facts);
        fact_rules::placeholders(text, &mut facts);
        fact_rules::dates(&words, &mut facts);
        fact_rules::citations(&words, &mut facts);
        fact_rules::addresses(&words, &mut facts);
        fact_rules::entities(&words, language, &mut facts);
        fact_rules::operators(&words, &mut facts);
        Self(facts)
    }

    /// All of them, in order.
    #[must_use]
    pub fn list(&self) -> Vec<Fact> {
        self.0.iter().cloned().collect()
    }

    /// What both together fix.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0).cloned().collect())
    }

    /// What `new` no longer fixes, and what it fixes that this does not.
    #[must_use]
    pub fn difference(&self, new: &Self) -> (Vec<Fact>, Vec<Fact>) {
        (self.0.difference(&new.0).cloned().collect(), new.0.difference(&self.0).cloned().collect())
    }

    /// Shows them, one a line.
    pub fn evcxr_display(&self) {
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        crate::signal::display(None, None, &lines.join("\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, kind: FactKind) -> Vec<String> {
        Facts::read(text).list().into_iter().filter(|fact| fact.kind == kind).map(|fact| fact.value).collect()
    }

    #[test]
    fn dates_numbers_and_citations_have_one_spelling() {
        for text in ["by 12 March 2031", "by March 12, 2031", "au plus tard le 12 mars 2031"] {
            assert_eq!(of(text, FactKind::Date), ["2031-03-12"], "{text}");
        }
        assert_eq!(of("on 1 May", FactKind::Date), ["--05-01"]);
        assert!(of("the buyer may rescind", FactKind::Date).is_empty());
        assert_eq!(of("cites Article 17(3)(b) of Regulation (EU) 2016/679", FactKind::Citation).len(), 2);
        assert_eq!(of("l'article 1134, alinéa 2", FactKind::Citation), ["alinea 2", "article 1134"]);
        assert_eq!(of("§12", FactKind::Citation), ["§ 12"]);
        assert_eq!(of("twenty thousand euros", FactKind::Number), of("20,000 euros", FactKind::Number));
        assert_eq!(of("vingt mille euros", FactKind::Number), of("20 000 euros", FactKind::Number));
    }

    #[test]
    fn addresses_names_and_placeholders_are_seen_in_both_languages() {
        assert_eq!(of("at 14 Harbour Street, Dublin", FactKind::Address), ["14 harbour street"]);
        assert_eq!(of("au 12, rue de la Loi, L-2920 Luxembourg", FactKind::Address).len(), 2);
        assert_eq!(of("to legal@norvik.example", FactKind::Address), ["legal@norvik.example"]);
        assert_eq!(of("names Norvik Shipping Ltd and BCD", FactKind::Entity), ["bcd", "norvik shipping ltd"]);
        assert_eq!(of("rappelle que l'Agence doit répondre", FactKind::Entity), ["agence"]);
        assert_eq!(of("to [the address] or XXX", FactKind::Placeholder), ["XXX", "the address"]);
        assert_eq!(of("The answer states the price.", FactKind::Entity), Vec::<String>::new());
    }

    #[test]
    fn a_changed_operator_is_a_changed_requirement() {
        let (removed, added) =
            Facts::read("The tenant must not sublet.").difference(&Facts::read("The tenant may sublet."));
        let names = |facts: &[Fact]| facts.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names(&removed), ["operator must", "operator not"]);
        assert_eq!(names(&added), ["operator may"]);
    }
}
