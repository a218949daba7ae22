//! The small words that turn a sentence: negators, modals, exceptions, and words that carry their own negation.

use super::stance::Stance;
use crate::text::language::Language;

/// Whether a word negates what follows it. French `ne` does so by itself; its companions do not count again.
pub(super) fn is_negator(word: &str, language: Language) -> bool {
    match language {
        Language::English => matches!(
            word,
            "not"
                | "no"
                | "never"
                | "neither"
                | "nor"
                | "none"
                | "nobody"
                | "nothing"
                | "fail"
                | "fails"
                | "failed"
                | "lack"
                | "lacks"
                | "non"
        ),
        Language::French => {
            matches!(word, "ne" | "n" | "non" | "aucun" | "aucune" | "jamais" | "nullement" | "pas" | "ni" | "rien")
        }
    }
}

/// English negators whose subject may be followed by the modal that they negate: *no employer may dismiss*.
pub(super) fn is_subject_negator(word: &str) -> bool {
    matches!(word, "no" | "neither" | "none" | "nobody")
}

/// What completes `ne`, and does not negate again.
pub(super) fn completes_ne(word: &str) -> bool {
    matches!(
        word,
        "pas"
            | "point"
            | "jamais"
            | "aucun"
            | "aucune"
            | "plus"
            | "rien"
            | "personne"
            | "guere"
            | "ni"
            | "nul"
            | "nulle"
            | "nullement"
    )
}

/// *Without* and its kin: they deny the word after them, inside whatever the sentence does.
pub(super) fn is_without(word: &str, language: Language) -> bool {
    match language {
        Language::English => matches!(word, "without" | "absent"),
        Language::French => word == "sans",
    }
}

/// Words after which a rule does not hold. They make the rule conditional and flip nothing.
pub(super) fn is_exception(word: &str, language: Language) -> bool {
    match language {
        Language::English => matches!(word, "unless" | "except" | "excepting" | "save" | "without"),
        Language::French => matches!(word, "sauf" | "excepte" | "hormis" | "hors" | "sans"),
    }
}

/// Words that restrict: a claim that has one says more than a text that has none.
pub(super) fn is_only(word: &str, language: Language) -> bool {
    match language {
        Language::English => matches!(word, "only" | "solely" | "exclusively"),
        Language::French => {
            matches!(word, "seulement" | "uniquement" | "exclusivement" | "seul" | "seule" | "seuls" | "seules")
        }
    }
}

/// The stance of a modal word, before any negation.
pub(super) fn modal(word: &str, language: Language) -> Option<Stance> {
    match language {
        Language::English => english_modal(word),
        Language::French => french_modal(word),
    }
}

fn english_modal(word: &str) -> Option<Stance> {
    Some(match word {
        "must" | "shall" | "should" | "ought" | "required" | "obliged" | "obligated" | "mandatory" | "compulsory"
        | "obligation" | "obligations" | "duty" | "requires" | "require" | "obligatory" | "bound" | "need"
        | "needs" => Stance::Obligation,
        "may" | "can" | "could" | "might" | "allowed" | "permitted" | "entitled" | "authorised" | "authorized"
        | "optional" | "allows" | "permits" | "entitles" => Stance::Permission,
        "prohibited" | "forbidden" | "banned" | "prohibits" | "prohibit" | "forbids" | "precluded" | "precludes"
        | "prohibition" | "barred" => Stance::Prohibition,
        "exempt" | "exempted" | "exempts" | "dispensed" => Stance::Exemption,
        _ => return None,
    })
}

fn french_modal(word: &str) -> Option<Stance> {
    Some(match word {
        "doit" | "doivent" | "devra" | "devront" | "devait" | "devrait" | "devraient" | "doive" | "tenu" | "tenue"
        | "tenus" | "tenues" | "oblige" | "obligee" | "obliges" | "obligatoire" | "obligatoires" | "obligation"
        | "exige" | "exigee" | "exiges" | "requis" | "requise" | "faut" | "impose" | "imposee" | "contraint"
        | "necessaire" | "devoir" => Stance::Obligation,
        "peut" | "peuvent" | "pourra" | "pourront" | "pouvait" | "pourrait" | "pourraient" | "puisse" | "puissent"
        | "autorise" | "autorisee" | "autorises" | "autorisees" | "permis" | "permise" | "permet" | "faculte"
        | "facultatif" | "facultative" | "possible" | "libre" | "loisible" | "admis" | "admise" => Stance::Permission,
        "interdit" | "interdite" | "interdits" | "interdites" | "interdiction" | "prohibe" | "prohibee"
        | "prohibes" | "prohibees" | "defendu" => Stance::Prohibition,
        "dispense" | "dispensee" | "dispenses" | "exempte" | "exemptee" | "exemptes" | "exonere" | "exoneree" => {
            Stance::Exemption
        }
        _ => return None,
    })
}

/// Obligations whose negation forbids instead of dispensing: *must not*, *ne doit pas*.
pub(super) fn forbids_when_negated(word: &str) -> bool {
    matches!(word, "must" | "shall" | "should" | "ought")
        || matches!(word, "doit" | "doivent" | "devra" | "devront" | "devait" | "devrait" | "devraient" | "doive")
}

/// Whether a modal can follow what it bears on, after *be* or *être*: *processing is prohibited*.
pub(super) fn is_predicate(word: &str, language: Language) -> bool {
    match language {
        Language::English => {
            modal(word, language).is_some()
                && !matches!(word, "must" | "shall" | "should" | "ought" | "may" | "can" | "could" | "might")
        }
        Language::French => {
            word.ends_with("e")
                || word.ends_with("es")
                || word.ends_with("it")
                || word.ends_with("is")
                || word.ends_with("its")
                || word.ends_with("if")
                || matches!(word, "possible")
        }
    }
}

/// Whether a form of *be* or *être*.
pub(super) fn is_copula(word: &str) -> bool {
    matches!(
        word,
        "is" | "are"
            | "be"
            | "was"
            | "were"
            | "been"
            | "being"
            | "est"
            | "sont"
            | "etre"
            | "sera"
            | "seront"
            | "soit"
            | "soient"
            | "demeure"
            | "reste"
            | "remains"
            | "remain"
    )
}

/// A word that denies another by itself, and that other: *unlawful* is *not lawful*.
pub(super) fn denied(word: &str, language: Language) -> Option<&'static str> {
    Some(match language {
        Language::English => match word {
            "unlawful" | "unlawfully" | "illegal" | "illegally" => "lawful",
            "invalid" | "void" | "null" | "invalidity" => "valid",
            "unenforceable" => "enforceable",
            "inadmissible" => "admissible",
            "inapplicable" => "apply",
            "incompatible" => "compatible",
            "unfair" | "unfairly" => "fair",
            "unnecessary" => "necessary",
            "unreasonable" => "reasonable",
            "unjustified" => "justified",
            "unconstitutional" => "constitutional",
            "ineligible" => "eligible",
            "refuse" | "refuses" | "refused" | "reject" | "rejects" | "rejected" | "denied" | "denies"
            | "dismissed-appeal" => "grant",
            "excludes" | "excluded" | "exclude" => "included",
            "unable" => "able",
            "irrevocable" => "revocable",
            _ => return None,
        },
        Language::French => match word {
            "illicite" | "illicites" => "licite",
            "illegal" | "illegale" | "illegaux" | "illegales" => "legal",
            "invalide" | "invalides" | "nul" | "nulle" | "nuls" | "nulles" => "valable",
            "irrecevable" | "irrecevables" => "recevable",
            "inapplicable" | "inapplicables" => "applicable",
            "incompatible" | "incompatibles" => "compatible",
            "inopposable" | "inopposables" => "opposable",
            "injustifie" | "injustifiee" | "injustifies" => "justifie",
            "irregulier" | "irreguliere" => "regulier",
            "inconstitutionnel" | "inconstitutionnelle" => "constitutionnel",
            "abusif" | "abusive" | "abusives" => return None,
            "refuse" | "refusee" | "rejete" | "rejette" | "rejetee" => "accorde",
            "exclu" | "exclue" | "exclus" | "exclut" => "inclus",
            "irrevocable" => "revocable",
            _ => return None,
        },
    })
}

/// Pairs of which a claim and a text cannot each have one: *before* and *after*.
pub(super) fn poles(language: Language) -> &'static [(&'static [&'static str], &'static [&'static str])] {
    match language {
        Language::English => &[
            (&["before", "prior"], &["after", "following"]),
            (&["minimum"], &["maximum"]),
            (&["increase", "increases", "increased"], &["decrease", "decreases", "decreased", "reduce", "reduced"]),
            (&["written"], &["oral"]),
            (&["public"], &["private"]),
            (&["buyer"], &["seller"]),
        ],
        Language::French => &[
            (&["avant", "prealable", "prealablement"], &["apres", "posterieurement"]),
            (&["minimum", "minimal", "minimale"], &["maximum", "maximal", "maximale"]),
            (&["augmente", "augmentation"], &["diminue", "diminution", "reduit"]),
            (&["ecrit", "ecrite"], &["oral", "orale", "verbal"]),
            (&["public", "publique"], &["prive", "privee"]),
            (&["acheteur", "acquereur"], &["vendeur"]),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stances_and_denials() {
        assert_eq!(modal("must", Language::English), Some(Stance::Obligation));
        assert_eq!(modal("interdite", Language::French), Some(Stance::Prohibition));
        assert_eq!(denied("void", Language::English), Some("valid"));
        assert_eq!(denied("under", Language::English), None);
    }
}
