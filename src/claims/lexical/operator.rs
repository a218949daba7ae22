//! Operators: which words of a sentence are denied, required, permitted or forbidden.
//!
//! Negators and modals that follow each other without a content word in between are one run (`shall not be required
//! to`), and bear on the next content word (`notify`) or, after *be*, on the subject (`processing is prohibited`).
//! Two negations cancel out.

use std::collections::HashSet;

use super::citation::Role;
use super::lexicon::{
    completes_ne, denied, forbids_when_negated, is_copula, is_negator, is_predicate, is_subject_negator, is_without,
    modal,
};
use super::profile::content_stem;
use super::stance::Stance;
use crate::text::language::Language;
use crate::text::stop::is_stop;
use crate::text::token::{Kind, Token};

/// A stance and the stem that it bears on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operator {
    pub stance: Stance,
    pub head: String,
    /// The head is part of the subject of a predicate (`processing is prohibited`), so that another sentence that
    /// merely mentions it says nothing about the predicate.
    pub subject: bool,
}

/// What was found in a sentence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub operators: Vec<Operator>,
    /// `ne ... que`: a restriction, no negation.
    pub restricts: bool,
    /// Positions of the modals.
    pub modals: HashSet<usize>,
}

/// Negators and modals in a row.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    modal: Option<Stance>,
    negations: usize,
    /// The modal forbids when negated: *must not*, unlike *is not required to*.
    strong: bool,
    /// The content words up to the next *de* name whom the modal addresses: *interdit au bailleur de*.
    addressing: bool,
}

impl Run {
    fn stance(self) -> Stance {
        let stance = self.modal.unwrap_or(Stance::Plain);
        match self.negations % 2 {
            1 if self.strong && stance == Stance::Obligation => Stance::Prohibition,
            1 => stance.negate(),
            _ => stance,
        }
    }
}

/// Reads a sentence from left to right.
#[derive(Debug)]
struct Reader<'a> {
    tokens: &'a [Token],
    language: Language,
    found: Reading,
    run: Option<Run>,
    /// Stems of the clause so far.
    clause: Vec<String>,
    /// `ne` was read, its companion is still to come.
    ne_open: bool,
    /// *Without* was read.
    without: bool,
    /// Something was denied in this sentence.
    denies: bool,
    /// A subject negator was read, and its operator is the one at this position: *no employer ... may*.
    carried: Option<usize>,
}

/// Finds the operators of a sentence.
pub(super) fn read(tokens: &[Token], roles: &[Role], language: Language) -> Reading {
    let mut reader = Reader {
        tokens,
        language,
        found: Reading::default(),
        run: None,
        clause: Vec::new(),
        ne_open: false,
        without: false,
        denies: false,
        carried: None,
    };
    for (index, token) in tokens.iter().enumerate() {
        if roles.get(index) == Some(&Role::Free) {
            reader.take(index, token);
        }
    }
    reader.found
}

impl Reader<'_> {
    fn word(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| token.text.as_str())
    }

    fn before(&self, index: usize, back: usize) -> &str {
        index.checked_sub(back).map_or("", |at| self.word(at))
    }

    fn take(&mut self, index: usize, token: &Token) {
        let word = token.text.as_str();
        if let Some(run) = self.run.as_mut().filter(|_| matches!(word, "de" | "d")) {
            run.addressing = false;
        }
        if token.kind != Kind::Word {
            if matches!(word, ";" | ":") {
                self.end_clause();
            }
            return;
        }
        if matches!(
            word,
            "but" | "mais" | "whereas" | "tandis" | "however" | "because" | "unless" | "except" | "if" | "si" | "sauf"
        ) {
            self.end_clause();
        } else if self.starts_ne(word) {
            self.take_ne(index);
        } else if self.ne_open && completes_ne(word) {
        } else if is_negator(word, self.language) {
            self.take_negator(index, word);
        } else if is_without(word, self.language) {
            // `not without` cancels out.
            let cancelled = self.run.take().is_some_and(|run| run.negations % 2 == 1 && run.modal.is_none());
            self.without = !cancelled;
        } else if let Some(stance) = self.modal_at(index, word) {
            self.take_modal(index, word, stance);
        } else if word == "nul" && matches!(self.word(index + 1), "ne" | "n") {
        } else if !is_stop(word, self.language) {
            self.take_content(word);
        }
    }

    fn end_clause(&mut self) {
        self.run = None;
        self.clause.clear();
        self.ne_open = false;
        self.carried = None;
    }

    fn starts_ne(&self, word: &str) -> bool {
        self.language == Language::French && matches!(word, "ne" | "n")
    }

    /// `ne` denies with its companion or alone, restricts before `que`, and does neither after `à moins que`.
    fn take_ne(&mut self, index: usize) {
        let behind: Vec<&str> = (1..=8).map(|back| self.before(index, back)).collect();
        let denying_subject = behind
            .iter()
            .any(|word| matches!(*word, "nul" | "nulle" | "aucun" | "aucune" | "personne" | "rien" | "ni"));
        let ahead: Vec<&str> =
            (1..=14).map(|step| self.word(index + step)).take_while(|word| !matches!(*word, ";" | "mais")).collect();
        let companion = ahead.iter().position(|word| completes_ne(word));
        let que = ahead.iter().position(|word| matches!(*word, "que" | "qu"));
        let pair = companion.is_some_and(|companion| que.is_none_or(|que| companion < que));
        let expletive =
            behind.iter().any(|word| matches!(*word, "moins" | "avant" | "crainte" | "peur" | "sauf" | "empeche"))
                && behind.iter().any(|word| matches!(*word, "que" | "qu"));
        if que.is_some() && !pair && !denying_subject {
            self.found.restricts = true;
        } else if pair || denying_subject || !expletive {
            self.ne_open = true;
            self.negate();
        }
    }

    fn take_negator(&mut self, index: usize, word: &str) {
        let next = self.word(index + 1);
        // `no more than`, `not later than`, `not only`, `whether or not`, `no longer than` deny nothing.
        let compares = matches!(next, "more" | "less" | "fewer" | "later" | "only" | "exceeding" | "earlier")
            || next == "longer" && self.word(index + 2) == "than"
            || word == "not" && self.before(index, 1) == "or"
            || word == "nor";
        // `aucun ... ne`, `sans aucun`: one negation, counted at the other word.
        let counted_elsewhere = self.language == Language::French
            && word != "non"
            && (matches!(self.before(index, 1), "sans")
                || (1..=8).any(|step| matches!(self.word(index + step), "ne" | "n")));
        if !compares && !counted_elsewhere {
            self.negate();
            if is_subject_negator(word) && self.language == Language::English {
                self.carried = Some(self.found.operators.len());
            }
        }
    }

    fn negate(&mut self) {
        self.run.get_or_insert_default().negations += 1;
    }

    /// The stance of the modal at a position. A right is one only with what it is a right to do.
    fn modal_at(&self, index: usize, word: &str) -> Option<Stance> {
        let (next, previous) = (self.word(index + 1), self.before(index, 1));
        match (self.language, word) {
            (Language::English, "right") => (next == "to").then_some(Stance::Permission),
            (Language::English, "need" | "needs") => {
                (next == "to" || next == "not" || previous == "not").then_some(Stance::Obligation)
            }
            (Language::French, "droit") => {
                let verb = self.word(index + 2);
                let infinitive =
                    matches!(next, "de" | "d") && ["er", "ir", "re"].iter().any(|ending| verb.ends_with(ending));
                (infinitive || matches!(next, "a" | "au") && matches!(previous, "a" | "ont" | "pas"))
                    .then_some(Stance::Permission)
            }
            (Language::English, "have" | "has" | "had") => {
                // `has to pay`, but not `has to be ...` apart: any verb will do.
                (next == "to").then_some(Stance::Obligation)
            }
            _ => modal(word, self.language),
        }
    }

    fn take_modal(&mut self, index: usize, word: &str, stance: Stance) {
        self.found.modals.insert(index);
        if let Some(position) = self.carried.take() {
            // `no employer may dismiss`: the negation belongs to the modal.
            if position < self.found.operators.len() {
                self.found.operators.remove(position);
                self.negate();
            }
        }
        let addressing = matches!(self.word(index + 1), "a" | "au" | "aux")
            && (2..=8).any(|step| matches!(self.word(index + step), "de" | "d"));
        let run = self.run.get_or_insert_default();
        run.modal = Some(stance);
        run.strong = forbids_when_negated(word);
        run.addressing = addressing;
        let stance = run.stance();
        let after_copula = (1..=3).any(|back| is_copula(self.before(index, back)));
        let goes_on = matches!(self.word(index + 1), "to" | "from" | "de" | "d" | "a" | "au" | "aux" | "that" | "que");
        if after_copula && is_predicate(word, self.language) && !goes_on {
            self.run = None;
            self.denies |= stance.is_negative();
            for head in std::mem::take(&mut self.clause) {
                self.found.operators.push(Operator { stance, head, subject: true });
            }
        }
    }

    fn take_content(&mut self, word: &str) {
        let head = content_stem(word, self.language);
        let negations = usize::from(denied(word, self.language).is_some());
        if std::mem::take(&mut self.without) {
            if !self.denies {
                self.push(Stance::Negated, &head);
            }
        } else if let Some(mut run) = self.run.take_if(|run| !run.addressing) {
            run.negations += negations;
            self.push(run.stance(), &head);
            // An adverb stands between the operator and its verb: `must immediately notify`.
            if is_adverb(word) {
                self.run = Some(run);
            }
        } else if negations == 1 {
            self.push(Stance::Negated, &head);
        }
        self.clause.push(head);
    }

    fn push(&mut self, stance: Stance, head: &str) {
        if stance != Stance::Plain {
            self.denies |= stance.is_negative();
            self.found.operators.push(Operator { stance, head: head.to_owned(), subject: false });
        }
    }
}

fn is_adverb(word: &str) -> bool {
    // `apply`, `comply` and `rely` are verbs.
    if word.ends_with("ply") || word.ends_with("rely") {
        return false;
    }
    ["ly", "amment", "emment", "diatement", "ellement", "alement", "ablement"]
        .iter()
        .any(|ending| word.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::token::tokens;

    fn stances(text: &str, language: Language) -> Vec<(Stance, String)> {
        let tokens = tokens(text, language);
        let roles = vec![Role::Free; tokens.len()];
        read(&tokens, &roles, language).operators.into_iter().map(|found| (found.stance, found.head)).collect()
    }

    fn one(stance: Stance, word: &str, language: Language) -> Vec<(Stance, String)> {
        vec![(stance, content_stem(word, language))]
    }

    #[test]
    fn english() {
        let expect = |text: &str, stance, word: &str| {
            assert_eq!(stances(text, Language::English), one(stance, word, Language::English), "{text}");
        };
        expect("The controller shall not be required to notify it", Stance::Exemption, "notify");
        expect("No employer may dismiss her", Stance::Prohibition, "dismiss");
        expect("Processing is prohibited", Stance::Prohibition, "processing");
        expect("The term can't be waived", Stance::Prohibition, "waived");
        expect("It is unlawful", Stance::Negated, "lawful");
        assert_eq!(stances("It is not unlawful, no later than today", Language::English), []);
        assert_eq!(stances("not without notice", Language::English), []);
    }

    #[test]
    fn french() {
        let expect = |text: &str, stance, word: &str| {
            assert_eq!(stances(text, Language::French), one(stance, word, Language::French), "{text}");
        };
        expect("Le bailleur n'est pas tenu de notifier", Stance::Exemption, "notifier");
        expect("Nul ne peut renoncer", Stance::Prohibition, "renoncer");
        expect("Aucun employeur ne peut le licencier", Stance::Prohibition, "licencier");
        expect("Il n’a pas le droit de résilier", Stance::Prohibition, "resilier");
        expect("Le contrat est nul", Stance::Negated, "valable");
        assert_eq!(stances("à moins qu'il ne consente", Language::French), []);
        assert!(
            read(&tokens("il ne paie que le loyer", Language::French), &[Role::Free; 6], Language::French).restricts
        );
    }
}
