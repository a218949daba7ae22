//! Clauses: parts of a sentence that can stand alone.

use crate::text::fold::fold;
use crate::text::language::Language;

/// Longer sentences, in bytes, stay whole: they are lists or no sentences at all.
const LONGEST: usize = 2000;

/// Cuts a sentence where two statements are joined, each with its own subject and verb. When in doubt, the sentence
/// stays whole: a cut needs a determiner at the beginning of what follows and a finite verb that the lists know on
/// both sides, and it is never made inside brackets or quotes, nor after a word that governs what follows (`if`,
/// `that`, `unless`), nor before a pronoun, which would lose what it stands for.
pub(super) fn clauses(sentence: &str, language: Language) -> Vec<&str> {
    if sentence.len() > LONGEST {
        return vec![sentence];
    }
    let words = words(sentence);
    let mut found = Vec::new();
    let mut start = 0;
    for (index, word) in words.iter().enumerate() {
        let Some(cut) = cut_before(&words, index, language) else { continue };
        let left = sentence.get(start..word.start).unwrap_or("");
        let from = words.get(cut).map_or(sentence.len(), |next| next.start);
        if word.depth == 0 && stands_left(left, language) && stands_right(sentence.get(from..).unwrap_or(""), language)
        {
            found.push(left);
            start = from;
        }
    }
    found.push(sentence.get(start..).unwrap_or(""));
    found
}

/// Whether a text has a finite verb that the lists know.
pub(super) fn has_verb(text: &str, language: Language) -> bool {
    bare(&fold(text)).any(|word| is_finite(word, language))
}

/// A word as white space cuts it, where it starts, and how many brackets and quotes are open there.
#[derive(Debug)]
struct Word {
    text: String,
    start: usize,
    depth: usize,
}

fn words(sentence: &str) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let mut depth = 0_usize;
    let mut straight = false;
    let mut inside = false;
    for (at, letter) in sentence.char_indices() {
        if letter.is_whitespace() {
            inside = false;
        } else if inside {
            if let Some(word) = found.last_mut() {
                word.text.push(letter);
            }
        } else {
            inside = true;
            found.push(Word { text: letter.to_string(), start: at, depth: depth + usize::from(straight) });
        }
        match letter {
            '(' | '[' | '«' | '“' => depth += 1,
            ')' | ']' | '»' | '”' => depth = depth.saturating_sub(1),
            '"' => straight = !straight,
            _ => {}
        }
    }
    for word in &mut found {
        word.text = fold(&word.text);
    }
    found
}

/// Whether a word joins two statements; then the index of the first word of the second.
fn cut_before(words: &[Word], index: usize, language: Language) -> Option<usize> {
    let word = words.get(index)?.text.as_str();
    let before = index.checked_sub(1).and_then(|before| words.get(before))?;
    let joins = match language {
        Language::English => matches!(word, "and" | "but" | "whereas"),
        Language::French => matches!(word, "et" | "mais"),
    };
    if joins {
        Some(index + 1)
    } else if before.text.ends_with(';') || before.text == ";" {
        Some(index)
    } else if word == "tandis" && words.get(index + 1).is_some_and(|next| next.text == "que") {
        Some(index + 2)
    } else {
        None
    }
}

/// Whether the part before a cut is a statement that does not govern the part after it.
fn stands_left(part: &str, language: Language) -> bool {
    let folded = fold(part);
    let mut words = bare(&folded);
    !words.clone().any(|word| governs(word, language)) && words.any(|word| is_finite(word, language))
}

/// Whether the part after a cut begins with a subject of its own and goes on with its verb.
fn stands_right(part: &str, language: Language) -> bool {
    let folded: String = fold(&part.chars().take(160).collect::<String>());
    let mut words = bare(&folded);
    if !words.next().is_some_and(|word| is_determiner(word, language)) {
        return false;
    }
    // The verb of the subject comes before any relative clause, joint or further comma.
    for (index, word) in words.take(10).enumerate() {
        if index > 0 && is_finite(word, language) {
            return true;
        }
        let stops = governs(word, language)
            || matches!(
                word,
                "and"
                    | "or"
                    | "et"
                    | "ou"
                    | "which"
                    | "who"
                    | "whom"
                    | "whose"
                    | "qui"
                    | "dont"
                    | "lequel"
                    | "laquelle"
            );
        if stops {
            return false;
        }
    }
    false
}

/// The words of a folded text, with elided articles apart and marks off.
fn bare(folded: &str) -> impl Iterator<Item = &str> + Clone {
    folded
        .split(|letter: char| letter.is_whitespace() || letter == '\'')
        .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()))
        .filter(|word| !word.is_empty())
}

/// Words whose statement reaches beyond a joint: `if A is B and the C is D` must stay whole.
fn governs(word: &str, language: Language) -> bool {
    match language {
        Language::English => matches!(
            word,
            "if" | "unless"
                | "when"
                | "where"
                | "that"
                | "whether"
                | "provided"
                | "because"
                | "although"
                | "while"
                | "until"
                | "before"
                | "after"
                | "since"
                | "except"
                | "without"
                | "once"
                | "as"
                | "both"
                | "either"
                | "neither"
                | "no"
                | "not"
        ),
        Language::French => matches!(
            word,
            "si" | "s"
                | "que"
                | "qu"
                | "lorsque"
                | "lorsqu"
                | "quand"
                | "sauf"
                | "parce"
                | "puisque"
                | "bien"
                | "jusqu"
                | "moins"
                | "condition"
                | "des"
                | "soit"
                | "ni"
                | "comme"
                | "aucun"
                | "nul"
                | "tant"
        ),
    }
}

fn is_determiner(word: &str, language: Language) -> bool {
    match language {
        Language::English => {
            matches!(word, "the" | "a" | "an" | "this" | "these" | "those" | "each" | "every" | "any" | "no")
        }
        Language::French => matches!(
            word,
            "le" | "la"
                | "les"
                | "l"
                | "un"
                | "une"
                | "ce"
                | "cette"
                | "ces"
                | "chaque"
                | "tout"
                | "toute"
                | "aucun"
                | "aucune"
        ),
    }
}

/// Frequent finite verbs of answers about law, which are hardly anything else.
fn is_finite(word: &str, language: Language) -> bool {
    match language {
        Language::English => matches!(
            word,
            "is" | "are"
                | "was"
                | "were"
                | "has"
                | "have"
                | "had"
                | "must"
                | "shall"
                | "may"
                | "can"
                | "cannot"
                | "will"
                | "does"
                | "do"
                | "did"
                | "should"
                | "would"
                | "could"
                | "applies"
                | "apply"
                | "requires"
                | "require"
                | "provides"
                | "prohibits"
                | "allows"
                | "permits"
                | "includes"
                | "begins"
                | "ends"
                | "expires"
                | "remains"
                | "becomes"
                | "runs"
                | "bears"
                | "owes"
                | "pays"
                | "decides"
                | "takes"
                | "held"
                | "ruled"
                | "depends"
                | "lasts"
                | "covers"
                | "imposes"
                | "protects"
                | "starts"
        ),
        Language::French => matches!(
            word,
            "est"
                | "sont"
                | "etait"
                | "etaient"
                | "a"
                | "ont"
                | "avait"
                | "doit"
                | "doivent"
                | "peut"
                | "peuvent"
                | "sera"
                | "seront"
                | "devra"
                | "pourra"
                | "s'applique"
                | "applique"
                | "appliquent"
                | "prevoit"
                | "dispose"
                | "impose"
                | "interdit"
                | "permet"
                | "exige"
                | "comprend"
                | "commence"
                | "expire"
                | "reste"
                | "demeure"
                | "devient"
                | "court"
                | "supporte"
                | "paie"
                | "statue"
                | "fixe"
                | "prend"
                | "dure"
                | "couvre"
                | "protege"
                | "appartient"
                | "n'est"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_cut() {
        let text = "The seller must deliver the goods and the buyer must pay the price; the risk is shared.";
        assert_eq!(clauses(text, Language::English).len(), 3);
        let text = "Le bailleur doit délivrer le logement et le locataire doit payer le loyer.";
        assert_eq!(clauses(text, Language::French).len(), 2);
    }

    #[test]
    fn in_doubt_the_sentence_stays_whole() {
        for text in [
            "The controller and the processor must sign.",
            "If the goods are late and the buyer has paid, the seller is liable.",
            "The court held that the clause is void and the contract is valid.",
            "The seller must inform the buyer and the persons who are concerned.",
            "The rule applies (the term is short and the notice is long).",
            "The seller must deliver and it must insure the goods.",
        ] {
            assert_eq!(clauses(text, Language::English).len(), 1, "{text}");
        }
    }
}
