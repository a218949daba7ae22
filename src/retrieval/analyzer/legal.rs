//! The analyzers for English and French law.

use std::collections::HashSet;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use super::{Terms, citation, standard};
use crate::text::fold::fold;

/// Snowball's English stemmer (Porter 2), of which researchers know what it does.
static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::new(Algorithm::English));
/// Snowball's French stemmer. It reads accents, so they are folded after it and not before.
static FRENCH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::new(Algorithm::French));

/// Words that carry no content in a question about law. Negations are none of them: "not", "without" and "unless" turn
/// a rule into its opposite.
static ENGLISH_STOP: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "
    a an the this that these those of to in on at by for from with into onto upon and or but so if then than as is are
    was were be been being am has have had having do does did doing will would shall should may might can could must it
    its he him his she her they them their theirs we us our you your my me i who whom whose which what when where how
    why there here such any some each every all both other same also very too thus hence about
    "
    .split_whitespace()
    .collect()
});

/// The same for French, without accents. `ne`, `ni`, `non`, `pas`, `sans`, `sauf`, `aucun` and `jamais` are kept.
static FRENCH_STOP: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "
    a au aux avec ce ces cet cette ceux celle celles celui ci dans de des du elle elles en et est etre eu eux il ils je
    la le les leur leurs lui ma mais me meme memes mes moi mon nos notre nous on ont ou par pour qu que quel quelle
    quelles quels qui quoi sa se ses soi son sont sur ta te tes toi ton tu un une vos votre vous y c d j l m n s t
    ete etant etait etaient sera seront soit soient fut ait aient avait avaient aura auront avoir ayant as ai dont
    comment quand si lors lorsque lorsqu puisque puisqu car donc or ainsi alors tres tout toute tous toutes cela ca
    "
    .split_whitespace()
    .collect()
});

/// What French leaves before an apostrophe (Lucene's list). `aujourd'hui` and `quelqu'un` stay whole.
const ELIDED: [&str; 13] = ["l", "m", "t", "qu", "n", "s", "j", "d", "c", "jusqu", "quoiqu", "lorsqu", "puisqu"];

/// Words that deny or restrict: they stay as they are, since an ending cut off could make them another word.
const NEGATIONS: [&str; 19] = [
    "no", "not", "nor", "never", "without", "unless", "except", "ne", "ni", "non", "pas", "sans", "sauf", "aucun",
    "aucune", "jamais", "rien", "nul", "nulle",
];

/// Lower case with one apostrophe, accents kept and composed, as the stemmers expect them.
fn lower(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    word.nfc()
        .flat_map(char::to_lowercase)
        .map(|letter| if matches!(letter, '’' | '‘' | 'ʼ' | '＇') { '\'' } else { letter })
        .collect()
}

/// A word's stem without accents; negations and words with an apostrophe inside stay whole. Stop words are nothing.
fn push(lower: &str, stop: &HashSet<&str>, stemmer: Stemmer, terms: &mut Terms) {
    let folded = fold(lower);
    if stop.contains(folded.as_str()) {
        return;
    }
    if NEGATIONS.contains(&folded.as_str()) || folded.contains('\'') {
        terms.push(&folded);
    } else {
        terms.push(&fold(&stemmer.stem(lower)));
    }
}

pub(super) fn english(text: &str, terms: &mut Terms) {
    citation::each(text, &mut |citation| terms.push(citation));
    standard::words(text, &mut |word, _| {
        let lower = lower(word);
        let plain = lower.strip_suffix("'s").unwrap_or(&lower);
        // "can't" and "isn't" hold a negation that the rest of the word must not hide.
        let (plain, negated) = match plain {
            "cannot" => ("can", true),
            other => other.strip_suffix("n't").map_or((other, false), |verb| (verb, true)),
        };
        push(plain, &ENGLISH_STOP, *ENGLISH, terms);
        if negated {
            terms.push("not");
        }
    });
}

pub(super) fn french(text: &str, terms: &mut Terms) {
    citation::each(text, &mut |citation| terms.push(citation));
    standard::words(text, &mut |word, _| {
        let lower = lower(word);
        let mut rest = lower.as_str();
        while let Some((head, tail)) = rest.split_once('\'') {
            if !ELIDED.contains(&head) || tail.is_empty() {
                break;
            }
            // "n'est" denies; the elided article says nothing.
            if head == "n" {
                terms.push("ne");
            }
            rest = tail;
        }
        push(rest, &FRENCH_STOP, *FRENCH, terms);
    });
}

#[cfg(test)]
mod tests {
    use crate::retrieval::Analyzer;

    fn has(analyzer: Analyzer, text: &str, term: &str) -> bool {
        analyzer.terms(text).iter().any(|found| found == term)
    }

    #[test]
    fn elisions_are_cut_at_either_apostrophe() {
        for text in ["l'employeur", "L’employeur", "qu'employeur", "D’employeurs"] {
            assert_eq!(Analyzer::LegalFr.terms(text), Analyzer::LegalFr.terms("employeur"), "{text}");
        }
        assert_eq!(Analyzer::LegalFr.terms("aujourd’hui"), ["aujourd'hui"]);
    }

    #[test]
    fn negations_are_kept_and_articles_are_not() {
        let terms = Analyzer::LegalFr.terms("Le vendeur n’est pas tenu, sans faute ni dol, sauf clause");
        for negation in ["ne", "pas", "sans", "ni", "sauf"] {
            assert!(terms.iter().any(|term| term == negation), "{negation} in {terms:?}");
        }
        assert!(!terms.iter().any(|term| term == "le"));
        assert!(has(Analyzer::LegalEn, "The seller isn't liable without fault", "not"));
        assert!(has(Analyzer::LegalEn, "The seller cannot act", "not"));
        assert!(has(Analyzer::LegalEn, "without fault, no claim", "without"));
    }

    #[test]
    fn accents_and_inflections_meet() {
        assert_eq!(Analyzer::LegalFr.terms("résiliation"), Analyzer::LegalFr.terms("resilier"));
        // Decomposed accents are the same letters.
        assert_eq!(Analyzer::LegalFr.terms("re\u{301}siliation"), Analyzer::LegalFr.terms("résiliation"));
        assert_eq!(Analyzer::LegalFr.terms("CŒURS"), Analyzer::LegalFr.terms("coeur"));
        assert_eq!(
            Analyzer::LegalEn.terms("The controllers' processing"),
            Analyzer::LegalEn.terms("controller processed")
        );
        assert_eq!(Analyzer::LegalEn.terms("the court’s"), Analyzer::LegalEn.terms("court"));
    }

    #[test]
    fn stems_are_snowballs_and_are_folded_afterwards() {
        // Folded first, "réglées" would lose its feminine plural in another place.
        assert_eq!(Analyzer::LegalFr.terms("réglées réglé abrogés"), ["regl", "regl", "abrog"]);
        assert_eq!(Analyzer::LegalEn.terms("obligations obliged liability"), ["oblig", "oblig", "liabil"]);
    }

    #[test]
    fn stop_words_alone_are_nothing() {
        assert!(Analyzer::LegalFr.terms("Qu'est-ce que c'est ?").is_empty());
        assert!(Analyzer::LegalEn.terms("What is the who of it?").is_empty());
    }
}
