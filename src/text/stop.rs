//! Words that say too little to count as shared: articles, pronouns, prepositions, auxiliaries, and the phrases by
//! which answers point at their sources.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::language::Language;

/// Whether a folded word is left out of the content of a sentence. Single letters are.
pub(crate) fn is_stop(word: &str, language: Language) -> bool {
    let words = match language {
        Language::English => &ENGLISH,
        Language::French => &FRENCH,
    };
    word.chars().nth(1).is_none() || words.contains(word)
}

static ENGLISH: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "
    everyone everybody anybody somebody
    the an this that these those such some any each every all both other others another own same one ones of to in
    on at by for from with within into onto upon about under over between among through during before after as than
    per via towards against above below up out off down and or but nor so if then when where while whereas because
    since until unless except save though although whether is are was were be been being am has have had having do
    does did done doing will would it its itself he him his she her hers they them their theirs we us our you your
    my me who whom whose which what how why there here also too very thus hence therefore however moreover
    furthermore otherwise accordingly according accordance pursuant regarding concerning respect relation referred
    said says states stated provides provided etc eg e.g ie i.e more most least less only case cases context text
    means can order thereof herein hereby even just whatever whichever namely including includes include example
    well must shall may might could should not no without anyone someone
    "
    .split_whitespace()
    .collect()
});

static FRENCH: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "
    chacun chacune quiconque
    le la les un une des du de au aux ce cet cette ces ceux celle celles celui ci mon ma mes ton son sa ses notre
    nos votre vos leur leurs tout toute tous toutes chaque quelque quelques autre autres meme memes tel telle tels
    telles en dans sur sous par pour avec chez entre vers contre depuis pendant durant avant apres jusqu jusque lors
    dont et ou ni mais or donc car que qu qui quoi quel quelle quels quelles lequel laquelle lesquels lesquelles
    duquel auquel si lorsque lorsqu quand puisque puisqu comme comment est sont etait etaient sera seront soit
    soient etre ete etant serait fut as ont avait avaient aura auront ait aient avoir ayant eu fait faire font fasse
    il ils elle elles on nous vous je tu lui eux se soi te me ne pas point non sans plus moins tres trop peu aussi
    ainsi alors cependant toutefois neanmoins enfin outre notamment egalement selon suivant conformement vertu titre
    cas cadre cela ca ici afin quant dispose prevoit precise prevu prevue texte contexte sauf excepte hormis hors
    seul seule seulement uniquement etc doit peut doivent peuvent lieu ledit ladite lesdits dit dite aucun aucune
    deja encore agit afferent egard
    "
    .split_whitespace()
    .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_words_stop() {
        assert!(
            is_stop("the", Language::English) && is_stop("l", Language::French) && is_stop("aux", Language::French)
        );
        assert!(!is_stop("tenant", Language::English) && !is_stop("bailleur", Language::French));
    }
}
