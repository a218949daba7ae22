//! The verdicts about one answer, in the four directions that the metrics read.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::table::{Direction, Label};

/// Every verdict about one answer to one question: what the eleven metrics are computed from.
///
/// `None` is a failed check: unknown, not neutral. The three counts say what the shapes must be, so that "nothing
/// was retrieved" and "the checks against chunks are missing" stay different things. An answer whose claims could
/// not be extracted has no matrices: it failed, which is not the same as having no claims.
///
/// ```
/// use claimlab::metrics::LabelMatrices;
/// use claimlab::table::Label::{Entailment, Neutral};
///
/// // One response claim, one reference claim, two chunks; the check against the second chunk failed.
/// let labels = LabelMatrices {
///     response_vs_reference: vec![Some(Neutral)],
///     reference_vs_response: vec![Some(Neutral)],
///     response_vs_chunks: vec![vec![Some(Entailment), None]],
///     reference_vs_chunks: vec![vec![Some(Neutral), Some(Entailment)]],
///     n_response_claims: 1,
///     n_reference_claims: 1,
///     n_chunks: 2,
/// };
/// labels.validate()?;
/// assert_eq!(labels, LabelMatrices::from_letters("n", "n", "e?", "ne")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct LabelMatrices {
    /// Each response claim against the reference answer.
    #[doc(alias = "answer2response")]
    #[serde(alias = "answer2response")]
    pub response_vs_reference: Vec<Option<Label>>,
    /// Each reference claim against the response.
    #[doc(alias = "response2answer")]
    #[serde(alias = "response2answer")]
    pub reference_vs_response: Vec<Option<Label>>,
    /// Each response claim (row) against each retrieved chunk (column, in the order of rank).
    #[doc(alias = "retrieved2response")]
    #[serde(alias = "retrieved2response")]
    pub response_vs_chunks: Vec<Vec<Option<Label>>>,
    /// Each reference claim (row) against each retrieved chunk (column, in the order of rank).
    #[doc(alias = "retrieved2answer")]
    #[serde(alias = "retrieved2answer")]
    pub reference_vs_chunks: Vec<Vec<Option<Label>>>,
    /// How many claims the response makes.
    pub n_response_claims: usize,
    /// How many claims the reference answer makes.
    #[serde(alias = "n_answer_claims")]
    pub n_reference_claims: usize,
    /// How many chunks were retrieved.
    pub n_chunks: usize,
}

impl LabelMatrices {
    /// Checks that every matrix has the shape that the three counts ask for.
    ///
    /// RAGChecker does not check: a matrix of length one is silently stretched over all claims or chunks.
    ///
    /// ```
    /// use claimlab::metrics::LabelMatrices;
    ///
    /// let mut labels = LabelMatrices::from_letters("een", "e", "ne en nn", "ee")?;
    /// labels.response_vs_chunks[2].pop();
    /// assert_eq!(
    ///     labels.validate().unwrap_err().to_string(),
    ///     "response_vs_chunks: row 2 has 1 label, but 2 chunks were retrieved; \
    ///      check every response claim against every chunk",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn validate(&self) -> Result<(), ShapeError> {
        let lists = [
            (Direction::ResponseVsReference, self.response_vs_reference.len(), self.n_response_claims),
            (Direction::ReferenceVsResponse, self.reference_vs_response.len(), self.n_reference_claims),
        ];
        for (matrix, found, expected) in lists {
            if found != expected {
                return Err(ShapeError::Length { matrix, found, expected });
            }
        }
        let grids = [
            (Direction::ResponseVsChunks, &self.response_vs_chunks, self.n_response_claims),
            (Direction::ReferenceVsChunks, &self.reference_vs_chunks, self.n_reference_claims),
        ];
        for (matrix, grid, expected) in grids {
            if grid.len() != expected {
                return Err(ShapeError::Rows { matrix, found: grid.len(), expected });
            }
            let expected = self.n_chunks;
            if let Some((row, labels)) = grid.iter().enumerate().find(|(_, labels)| labels.len() != expected) {
                return Err(ShapeError::Row { matrix, row, found: labels.len(), expected });
            }
        }
        Ok(())
    }
}

/// A label matrix that does not fit the number of claims or chunks.
///
/// The message names the matrix (rows count from 0), what was expected and found, and a way out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ShapeError {
    /// The matrix is absent altogether.
    #[error(
        "{matrix} ({}) is missing; check every {} claim against {}, or score without the metrics that need it",
        .matrix.ragchecker_name(), .matrix.side(), .matrix.premise()
    )]
    Missing {
        /// Which matrix.
        matrix: Direction,
    },
    /// A list has not one label a claim.
    #[error(
        "{matrix}: {}, but {}; check every {} claim against {} once",
        count(*.found, "label"), claims(*.expected, *.matrix), .matrix.side(), .matrix.premise()
    )]
    Length {
        /// Which matrix.
        matrix: Direction,
        /// How many labels there are.
        found: usize,
        /// How many claims there are.
        expected: usize,
    },
    /// A matrix has not one row a claim.
    #[error(
        "{matrix}: {}, but {}; give one row a claim, an empty one when nothing was retrieved",
        count(*.found, "row"), claims(*.expected, *.matrix)
    )]
    Rows {
        /// Which matrix.
        matrix: Direction,
        /// How many rows there are.
        found: usize,
        /// How many claims there are.
        expected: usize,
    },
    /// A row has not one label a chunk.
    #[error(
        "{matrix}: row {row} has {}, but {} retrieved; check every {} claim against every chunk",
        count(*.found, "label"), were(*.expected, "chunk"), .matrix.side()
    )]
    Row {
        /// Which matrix.
        matrix: Direction,
        /// The row at fault, from 0: the index of its claim.
        row: usize,
        /// How many labels the row has.
        found: usize,
        /// How many chunks were retrieved.
        expected: usize,
    },
}

/// `1 label`, `3 labels`.
fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// `1 chunk was`, `3 chunks were`.
fn were(n: usize, noun: &str) -> String {
    format!("{} {}", count(n, noun), if n == 1 { "was" } else { "were" })
}

/// `the response has 3 claims`.
fn claims(n: usize, matrix: Direction) -> String {
    format!("the {} has {}", matrix.side(), count(n, "claim"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels() -> LabelMatrices {
        LabelMatrices::from_letters("en", "e", "en nn", "ee").unwrap()
    }

    fn message(change: impl FnOnce(&mut LabelMatrices)) -> String {
        let mut labels = labels();
        change(&mut labels);
        labels.validate().unwrap_err().to_string()
    }

    #[test]
    fn every_message_names_matrix_expectation_finding_and_a_way_out() {
        assert_eq!(
            message(|m| m.response_vs_reference.truncate(1)),
            "response_vs_reference: 1 label, but the response has 2 claims; \
             check every response claim against the reference answer once"
        );
        assert_eq!(
            message(|m| m.n_reference_claims = 0),
            "reference_vs_response: 1 label, but the reference has 0 claims; \
             check every reference claim against the response once"
        );
        assert_eq!(
            message(|m| m.response_vs_chunks.clear()),
            "response_vs_chunks: 0 rows, but the response has 2 claims; \
             give one row a claim, an empty one when nothing was retrieved"
        );
        assert_eq!(
            message(|m| {
                m.n_chunks = 1;
                m.response_vs_chunks.iter_mut().for_each(|row| row.truncate(1));
            }),
            "reference_vs_chunks: row 0 has 2 labels, but 1 chunk was retrieved; \
             check every reference claim against every chunk"
        );
        assert_eq!(
            ShapeError::Missing { matrix: Direction::ReferenceVsChunks }.to_string(),
            "reference_vs_chunks (retrieved2answer) is missing; check every reference claim against every chunk, \
             or score without the metrics that need it"
        );
    }

    #[test]
    fn ragcheckers_field_names_and_spellings_are_read() {
        let text = r#"{"answer2response": ["Entailment", null], "response2answer": [],
            "retrieved2response": [[], []], "retrieved2answer": [],
            "n_response_claims": 2, "n_answer_claims": 0, "n_chunks": 0}"#;
        let read: LabelMatrices = serde_json::from_str(text).unwrap();
        assert_eq!(read.response_vs_reference, [Some(Label::Entailment), None]);
        assert_eq!(read.validate(), Ok(()));
        let back = serde_json::to_string(&read).unwrap();
        assert!(back.starts_with(r#"{"response_vs_reference":["entailment",null]"#), "{back}");
    }
}
