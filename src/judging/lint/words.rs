//! Word lists of the lint, folded (lower case, no accents).

/// Joining words; those of several words are joined by a space.
pub(super) const CONJUNCTIONS: [&str; 11] = [
    "and",
    "as well as",
    "and/or",
    "along with",
    "together with",
    "or",
    "et",
    "ainsi que",
    "et/ou",
    "ou",
    "de meme que",
];

/// Pairs that are one thing in law.
pub(super) const FIXED_PAIRS: [&str; 20] = [
    "terms and conditions",
    "null and void",
    "rights and obligations",
    "representations and warranties",
    "research and development",
    "health and safety",
    "act and regulation",
    "by and between",
    "wear and tear",
    "loss and damage",
    "principal and interest",
    "clauses et conditions",
    "nul et non avenu",
    "droits et obligations",
    "dommages et interets",
    "sante et securite",
    "recherche et developpement",
    "principal et interets",
    "us et coutumes",
    "terms and definitions",
];

/// Words without a boundary between pass and fail, and whether law uses them as terms of its own.
pub(super) fn vague(word: &str) -> Option<bool> {
    match word {
        "adequate" | "adequately" | "appropriate" | "appropriately" | "proper" | "properly" | "good" | "well"
        | "clear" | "clearly" | "comprehensive" | "comprehensively" | "thorough" | "thoroughly" | "relevant"
        | "correct" | "correctly" | "accurate" | "accurately" | "sufficiently" | "nice" | "useful" | "etc"
        | "generally" | "basically" | "suitable" | "concise" | "concisely" | "professional" | "professionally"
        | "adequat" | "adequate-ment" | "adequatement" | "approprie" | "appropriee" | "correctement" | "correcte"
        | "clair" | "claire" | "clairement" | "pertinent" | "pertinente" | "pertinents" | "complet" | "complete"
        | "bien" | "bon" | "bonne" | "suffisamment" | "utile" | "soigneusement" | "globalement" | "convenable"
        | "convenablement" => Some(false),
        "reasonable" | "reasonably" | "sufficient" | "material" | "substantial" | "prompt" | "promptly"
        | "raisonnable" | "raisonnablement" | "suffisant" | "suffisante" | "substantiel" | "substantielle" => {
            Some(true)
        }
        _ => None,
    }
}

/// Phrases that point outside the criterion. Those that attached material answers are marked.
pub(super) const DANGLING: [(&str, bool); 42] = [
    ("as above", false),
    ("the above", false),
    ("see above", false),
    ("mentioned above", false),
    ("stated above", false),
    ("above-mentioned", false),
    ("the previous criterion", false),
    ("previous criterion", false),
    ("the other criterion", false),
    ("as mentioned", false),
    ("aforementioned", false),
    ("the same date", false),
    ("the same amount", false),
    ("the correct date", false),
    ("the correct amount", false),
    ("the correct party", false),
    ("the correct answer", false),
    ("the right answer", false),
    ("the expected answer", false),
    ("as expected", false),
    ("see attached", true),
    ("the attached", true),
    ("the source document", true),
    ("the source file", true),
    ("the reference", true),
    ("the reference file", true),
    ("ci-dessus", false),
    ("susmentionne", false),
    ("susmentionnee", false),
    ("precite", false),
    ("precitee", false),
    ("le critere precedent", false),
    ("critere precedent", false),
    ("la bonne date", false),
    ("le bon montant", false),
    ("la date correcte", false),
    ("la reponse attendue", false),
    ("la meme date", false),
    ("le meme montant", false),
    ("piece jointe", true),
    ("ci-joint", true),
    ("le document source", true),
];

/// Pronouns that stand for something said before, if they begin a criterion.
pub(super) fn is_opening_pronoun(word: &str) -> bool {
    matches!(
        word,
        "it" | "they"
            | "this"
            | "these"
            | "those"
            | "that"
            | "he"
            | "she"
            | "il"
            | "elle"
            | "ils"
            | "elles"
            | "cela"
            | "celui-ci"
            | "celle-ci"
            | "ceci"
            | "ce"
    )
}
