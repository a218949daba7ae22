//! The verdict of one check: does a premise entail a claim?

use std::fmt;

use serde::{Deserialize, Serialize};

/// The verdict of one check, in the three classes of natural language inference.
///
/// A check that failed (the model did not answer, or answered off the menu) has no label at all: it is `None`
/// wherever an `Option<Label>` stands, never [`Label::Neutral`].
///
/// ```
/// use claimlab::table::Label;
///
/// assert_eq!(Label::parse("entailment"), Some(Label::Entailment));
/// assert_eq!(Label::parse("Entailment"), Some(Label::Entailment)); // RAGChecker's spelling
/// assert_eq!(Label::parse(" ENTAILMENT"), None); // nothing is guessed
/// assert_eq!(Label::Contradiction.as_str(), "contradiction");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// The premise says so: the claim follows from it.
    #[serde(alias = "Entailment")]
    Entailment,
    /// The premise neither supports the claim nor speaks against it.
    #[serde(alias = "Neutral")]
    Neutral,
    /// The premise says otherwise.
    ///
    /// RAGChecker's eleven metrics treat this as [`Label::Neutral`]; reports keep the two apart.
    #[serde(alias = "Contradiction")]
    Contradiction,
}

impl Label {
    /// The three labels, in the order of their declaration.
    pub const ALL: [Label; 3] = [Label::Entailment, Label::Neutral, Label::Contradiction];

    /// The name that tables and files use: `entailment`, `neutral` or `contradiction`.
    pub fn as_str(self) -> &'static str {
        match self {
            Label::Entailment => "entailment",
            Label::Neutral => "neutral",
            Label::Contradiction => "contradiction",
        }
    }

    /// Reads a label in lower case (`neutral`) or capitalised (`Neutral`); any other text is `None`.
    pub fn parse(text: &str) -> Option<Label> {
        match text {
            "entailment" | "Entailment" => Some(Label::Entailment),
            "neutral" | "Neutral" => Some(Label::Neutral),
            "contradiction" | "Contradiction" => Some(Label::Contradiction),
            _ => None,
        }
    }

    /// Whether this is [`Label::Entailment`], the only distinction that the eleven metrics make.
    pub fn is_entailment(self) -> bool {
        self == Label::Entailment
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_inverts_as_str_and_accepts_the_capitalised_spelling_only() {
        for label in Label::ALL {
            assert_eq!(Label::parse(label.as_str()), Some(label));
            assert_eq!(Label::parse(&format!("{label:?}")), Some(label));
            assert_eq!(Label::parse(&label.as_str().to_uppercase()), None);
            assert_eq!(Label::parse(&format!(" {label}")), None);
        }
        assert_eq!(Label::parse(""), None);
        assert_eq!(Label::parse("Abstain"), None);
    }

    #[test]
    fn serde_writes_lower_case_and_reads_both_spellings() {
        for label in Label::ALL {
            assert_eq!(serde_json::to_string(&label).unwrap(), format!("\"{label}\""));
            for text in [format!("\"{label}\""), format!("\"{label:?}\"")] {
                assert_eq!(serde_json::from_str::<Label>(&text).unwrap(), label);
            }
        }
        assert!(serde_json::from_str::<Label>("\"ENTAILMENT\"").is_err());
    }
}
