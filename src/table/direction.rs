//! Whose claims are checked against which text.

use std::fmt;

/// A direction of checking, named after the claims' side and the premise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// Response claims against the reference answer: which are correct?
    #[doc(alias = "answer2response")]
    ResponseVsReference,
    /// Reference claims against the response: which does it state?
    #[doc(alias = "response2answer")]
    ReferenceVsResponse,
    /// Response claims against every retrieved chunk: which are grounded?
    #[doc(alias = "retrieved2response")]
    ResponseVsChunks,
    /// Reference claims against every retrieved chunk: which were retrieved? Shared by all systems on a retriever.
    #[doc(alias = "retrieved2answer")]
    ReferenceVsChunks,
    /// Labelled claims against their context unit: how good is the checker?
    ClaimVsContextUnit,
}

impl Direction {
    /// The four that RAGChecker's metrics read.
    pub const OF_METRICS: [Self; 4] =
        [Self::ResponseVsReference, Self::ReferenceVsResponse, Self::ResponseVsChunks, Self::ReferenceVsChunks];

    /// The name in tables and messages, such as `response_vs_chunks`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ResponseVsReference => "response_vs_reference",
            Self::ReferenceVsResponse => "reference_vs_response",
            Self::ResponseVsChunks => "response_vs_chunks",
            Self::ReferenceVsChunks => "reference_vs_chunks",
            Self::ClaimVsContextUnit => "claim_vs_context_unit",
        }
    }

    /// Reads the exact name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::OF_METRICS.into_iter().chain([Self::ClaimVsContextUnit]).find(|direction| direction.as_str() == name)
    }

    /// The name of the matrix in RAGChecker's files, such as `retrieved2response` (premise, then claims); its own name
    /// for the direction that RAGChecker does not have.
    #[must_use]
    pub fn ragchecker_name(self) -> &'static str {
        match self {
            Self::ResponseVsReference => "answer2response",
            Self::ReferenceVsResponse => "response2answer",
            Self::ResponseVsChunks => "retrieved2response",
            Self::ReferenceVsChunks => "retrieved2answer",
            Self::ClaimVsContextUnit => self.as_str(),
        }
    }

    /// Whose claims are checked: `response`, `reference` or `labelled`.
    #[must_use]
    pub fn side(self) -> &'static str {
        match self {
            Self::ResponseVsReference | Self::ResponseVsChunks => "response",
            Self::ReferenceVsResponse | Self::ReferenceVsChunks => "reference",
            Self::ClaimVsContextUnit => "labelled",
        }
    }

    /// What every claim is checked against, in words.
    #[must_use]
    pub fn premise(self) -> &'static str {
        match self {
            Self::ResponseVsReference => "the reference answer",
            Self::ReferenceVsResponse => "the response",
            Self::ResponseVsChunks | Self::ReferenceVsChunks => "every chunk",
            Self::ClaimVsContextUnit => "its context unit",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for direction in Direction::OF_METRICS.into_iter().chain([Direction::ClaimVsContextUnit]) {
            assert_eq!(Direction::parse(direction.as_str()), Some(direction));
        }
        assert_eq!(Direction::parse("answer2response"), None);
    }
}
