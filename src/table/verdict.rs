//! PASS or FAIL, and the name under which a judge's prompt is known.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Whether an answer satisfies a criterion. A judgement that failed is no verdict: it is `None` wherever an
/// `Option<Verdict>` stands, never [`Verdict::Fail`].
///
/// ```
/// use claimlab::table::Verdict;
/// assert_eq!(Verdict::parse("PASS"), Some(Verdict::Pass));
/// assert_eq!(Verdict::parse("fail"), Some(Verdict::Fail)); // EvalsBench's spelling
/// assert_eq!(Verdict::parse("probably PASS"), None); // nothing is guessed
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Verdict {
    /// The criterion is satisfied.
    #[serde(rename = "PASS")]
    Pass,
    /// It is not.
    #[serde(rename = "FAIL")]
    Fail,
}

impl Verdict {
    /// The spelling in tables: `PASS`, `FAIL`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
        }
    }

    /// Reads `PASS`, `FAIL`, `pass` or `fail`; any other text is `None`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "PASS" | "pass" => Some(Self::Pass),
            "FAIL" | "fail" => Some(Self::Fail),
            _ => None,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The name of a judge's prompt in tables: what its author calls it, and a digest of its words, so that two prompts
/// of one name are never taken for the same.
///
/// ```
/// use claimlab::table::prompt_label;
/// let first = prompt_label("strict", "Require every part.");
/// assert!(first.starts_with("strict@") && first != prompt_label("strict", "Require each part."));
/// ```
#[must_use]
pub fn prompt_label(name: &str, instructions: &str) -> String {
    let digest: String = Sha256::digest(instructions).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("{name}@{digest}")
}
