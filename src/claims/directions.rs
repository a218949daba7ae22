//! Whose claims are checked against which text.

/// A direction of checking, named after the claims' side and the premise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The response's claims against the reference answer: precision.
    #[doc(alias = "answer2response")]
    ResponseVsReference,
    /// The reference answer's claims against the response: recall.
    #[doc(alias = "response2answer")]
    ReferenceVsResponse,
    /// The response's claims against each retrieved chunk: faithfulness.
    #[doc(alias = "retrieved2response")]
    ResponseVsChunks,
    /// The reference answer's claims against each retrieved chunk: claim recall. Shared by all systems on a
    /// retriever.
    #[doc(alias = "retrieved2answer")]
    ReferenceVsChunks,
    /// A labelled claim against its context unit.
    ClaimVsContextUnit,
}

impl Direction {
    /// Its name in tables.
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
}
