//! Abstentions and small talk: sentences that claim nothing.

use super::fold::fold;
use super::language::Language;
use super::sentence::sentences;

/// Whether a text as a whole declines to answer: at least one of its sentences does, and no other says anything.
/// A text that answers after it has declined, or in part, is no abstention.
#[must_use]
pub fn is_abstention(text: &str, language: Language) -> bool {
    let mut declined = false;
    for sentence in sentences(text, language) {
        let folded = spaced(sentence);
        if declines(&folded, language) {
            declined = true;
        } else if !is_small_talk(&folded, language) {
            return false;
        }
    }
    declined
}

/// Whether a sentence says nothing that could be checked: it declines to answer, or it is small talk.
pub(crate) fn says_nothing(sentence: &str, language: Language) -> bool {
    let folded = spaced(sentence);
    declines(&folded, language) || is_small_talk(&folded, language)
}

/// Folded, with single spaces and no marks at its beginning.
fn spaced(sentence: &str) -> String {
    let folded = fold(sentence);
    let words: Vec<&str> = folded.split_whitespace().collect();
    words.join(" ").trim_start_matches(|letter: char| !letter.is_alphanumeric()).to_owned()
}

/// Phrases that decline by themselves, and phrases that decline when they speak of the sources.
fn declines(folded: &str, language: Language) -> bool {
    let (plain, weak, sources): (&[&str], &[&str], &[&str]) = match language {
        Language::English => (
            &[
                "cannot answer",
                "can't answer",
                "can not answer",
                "could not answer",
                "unable to answer",
                "not able to answer",
                "unable to determine",
                "i don't know",
                "i do not know",
                "unable to provide an answer",
                "cannot provide an answer",
                "can't provide an answer",
                "not enough information",
                "insufficient information",
                "insufficient context",
                "cannot be answered",
                "unable to find",
                "i could not find",
                "i couldn't find",
                "i cannot find",
                "i can't find",
                "no answer can be given",
                "i'm not sure",
                "i am not sure",
            ],
            &[
                "does not contain",
                "doesn't contain",
                "do not contain",
                "don't contain",
                "does not provide",
                "doesn't provide",
                "do not provide",
                "don't provide",
                "does not mention",
                "do not mention",
                "does not specify",
                "do not specify",
                "no information",
                "not mentioned",
                "not specified",
                "does not address",
                "do not address",
                "does not include",
                "do not include",
                "cannot be determined",
                "not provided",
                "no mention",
                "not addressed",
                "does not say",
                "do not say",
                "not stated",
            ],
            &[
                "context",
                "passage",
                "provided text",
                "given text",
                "provided document",
                "given document",
                "excerpt",
                "provided information",
                "provided source",
                "given source",
                "the documents",
                "the sources",
                "information to answer",
            ],
        ),
        Language::French => (
            &[
                "ne peux pas repondre",
                "ne peut pas repondre",
                "ne puis repondre",
                "ne saurais repondre",
                "ne suis pas en mesure de",
                "impossible de repondre",
                "pas possible de repondre",
                "je ne sais pas",
                "incapable de repondre",
                "pas assez d'information",
                "pas suffisamment d'information",
                "informations insuffisantes",
                "information insuffisante",
                "ne permet pas de repondre",
                "ne permettent pas de repondre",
                "je n'ai pas trouve",
                "je ne trouve pas",
                "ne peut etre repondu",
            ],
            &[
                "ne contient pas",
                "ne contiennent pas",
                "ne fournit pas",
                "ne fournissent pas",
                "ne mentionne pas",
                "ne mentionnent pas",
                "ne precise pas",
                "ne precisent pas",
                "aucune information",
                "aucun element",
                "n'est pas mentionne",
                "n'est pas precise",
                "ne donne pas",
                "ne donnent pas",
                "ne permet pas de",
                "ne permettent pas de",
                "ne comporte pas",
                "ne comportent pas",
                "n'indique pas",
                "ne dit pas",
                "ne traite pas",
                "n'aborde pas",
            ],
            &[
                "contexte",
                "passage",
                "extrait",
                "texte fourni",
                "document fourni",
                "documents fournis",
                "textes fournis",
                "sources fournies",
                "les documents",
                "les sources",
                "informations fournies",
                "elements fournis",
                "pour repondre",
            ],
        ),
    };
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| folded.contains(phrase));
    has(plain) || has(weak) && has(sources)
}

/// Greetings, offers of help, advice to see a lawyer, and announcements of an answer.
fn is_small_talk(folded: &str, language: Language) -> bool {
    let whole = folded.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    let (openings, wholes): (&[&str], &[&str]) = match language {
        Language::English => (
            &[
                "hello",
                "hi ",
                "dear ",
                "thank you",
                "thanks",
                "i hope this",
                "let me know",
                "feel free",
                "please let",
                "please consult",
                "please note that i am",
                "please contact",
                "please provide",
                "if you have any",
                "if you need",
                "if you provide",
                "here is",
                "here are",
                "i am an ai",
                "i'm an ai",
                "this is not legal advice",
                "this does not constitute legal advice",
                "you should consult",
                "it is advisable to consult",
                "sorry",
                "i'm sorry",
                "i am sorry",
                "unfortunately, i",
                "i apologize",
                "i apologise",
                "great question",
                "good question",
                "based on the context:",
                "answer:",
                "it is recommended to consult",
                "i recommend consulting",
                "for more information",
            ],
            &[
                "yes",
                "no",
                "sure",
                "certainly",
                "of course",
                "answer",
                "in summary",
                "in conclusion",
                "indeed",
                "it depends",
                "conclusion",
                "summary",
            ],
        ),
        Language::French => (
            &[
                "bonjour",
                "bonsoir",
                "merci",
                "cher ",
                "chere ",
                "j'espere",
                "n'hesitez pas",
                "veuillez consulter",
                "veuillez contacter",
                "veuillez fournir",
                "si vous avez",
                "si vous souhaitez",
                "si vous pouvez",
                "voici",
                "je suis une ia",
                "ceci ne constitue pas un",
                "il est conseille de consulter",
                "il est recommande de consulter",
                "je vous conseille",
                "je vous recommande",
                "desole",
                "je suis desole",
                "excellente question",
                "bonne question",
                "reponse :",
                "reponse:",
                "cordialement",
                "pour plus d'information",
            ],
            &[
                "oui",
                "non",
                "bien sur",
                "certainement",
                "reponse",
                "en resume",
                "en conclusion",
                "en effet",
                "cela depend",
                "conclusion",
                "resume",
            ],
        ),
    };
    openings.iter().any(|opening| folded.starts_with(opening)) || wholes.contains(&whole) || whole.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abstentions() {
        assert!(is_abstention("I cannot answer from the given context.", Language::English));
        assert!(is_abstention(
            "I’m sorry. The context doesn’t contain this. Please consult a lawyer.",
            Language::English
        ));
        assert!(is_abstention("Je ne peux pas répondre à partir du contexte fourni.", Language::French));
        assert!(is_abstention("Le contexte ne précise pas le délai.", Language::French));
    }

    #[test]
    fn answers_are_none() {
        assert!(!is_abstention("The contract does not contain a penalty clause.", Language::English));
        assert!(!is_abstention("I cannot answer fully. The time limit is 30 days.", Language::English));
        assert!(!is_abstention("Le bail ne mentionne pas le loyer.", Language::French));
        assert!(!is_abstention("", Language::French));
    }
}
