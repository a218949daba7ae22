//! Doors into [`LabelMatrices`]: RAGChecker's four matrices of strings, and one letter a verdict.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::claims::Mode;
use super::matrix::{LabelMatrices, ShapeError};
use crate::table::{Direction, Label};

/// The four matrices of one result in a RAGChecker file, as written there.
///
/// Other fields of the result are ignored; a matrix that is absent or null is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RagCheckerLabels {
    /// Response claims against the reference answer: [`Direction::ResponseVsReference`].
    #[serde(default)]
    pub answer2response: Option<Vec<Option<String>>>,
    /// Reference claims against the response: [`Direction::ReferenceVsResponse`].
    #[serde(default)]
    pub response2answer: Option<Vec<Option<String>>>,
    /// Response claims (rows) against chunks (columns): [`Direction::ResponseVsChunks`].
    #[serde(default)]
    pub retrieved2response: Option<Vec<Vec<Option<String>>>>,
    /// Reference claims (rows) against chunks (columns): [`Direction::ReferenceVsChunks`].
    #[serde(default)]
    pub retrieved2answer: Option<Vec<Vec<Option<String>>>>,
}

/// Why label text could not become [`LabelMatrices`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadError {
    /// A matrix is missing or has the wrong shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A text that is no label.
    #[error("{place}: {found:?} is not a label; use Entailment, Neutral or Contradiction (null for a failed check)")]
    Label {
        /// Where it stands, such as `retrieved2response[1][0]`.
        place: String,
        /// The text found.
        found: String,
    },
    /// A character that is no label letter.
    #[error("{place}: {found:?} is not a label letter; use e, n or c (? for a failed check)")]
    Letter {
        /// Where it stands, such as `response_vs_chunks[1][0]`.
        place: String,
        /// The character found.
        found: char,
    },
}

impl LabelMatrices {
    /// Reads the four matrices of a RAGChecker result.
    ///
    /// The numbers of claims are the lengths of `answer2response` and `response2answer`; the number of chunks is
    /// `n_chunks` (the length of `retrieved_context`), or where that is `None` the length of the first row.
    ///
    /// [`Mode::Strict`] accepts the three labels alone, lower-case or capitalised. [`Mode::RagChecker`] reads as
    /// RAGChecker's metrics do: what is not exactly `Entailment` (or `Contradiction`) silently counts as not
    /// entailed and becomes neutral, be it `entailment`, `Abstain` or an empty text.
    ///
    /// ```
    /// use claimlab::metrics::{LabelMatrices, Mode, RagCheckerLabels};
    ///
    /// let result: RagCheckerLabels = serde_json::from_str(r#"{
    ///     "answer2response": ["Entailment"], "response2answer": ["Neutral"],
    ///     "retrieved2response": [["Abstain"]], "retrieved2answer": [["Entailment"]]
    /// }"#)?;
    /// assert_eq!(
    ///     LabelMatrices::from_ragchecker(&result, None, Mode::Strict).unwrap_err().to_string(),
    ///     "retrieved2response[0][0]: \"Abstain\" is not a label; \
    ///      use Entailment, Neutral or Contradiction (null for a failed check)",
    /// );
    /// let labels = LabelMatrices::from_ragchecker(&result, None, Mode::RagChecker)?;
    /// assert_eq!(labels, LabelMatrices::from_letters("e", "n", "n", "e")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_ragchecker(
        labels: &RagCheckerLabels,
        n_chunks: Option<usize>,
        mode: Mode,
    ) -> Result<LabelMatrices, ReadError> {
        let list = |matrix: Direction, texts: &Option<Vec<Option<String>>>| {
            let texts = texts.as_ref().ok_or(ShapeError::Missing { matrix })?;
            read_row(texts, mode, matrix.ragchecker_name())
        };
        let grid = |matrix: Direction, texts: &Option<Vec<Vec<Option<String>>>>| {
            let rows = texts.as_ref().ok_or(ShapeError::Missing { matrix })?;
            let place = |i| format!("{}[{i}]", matrix.ragchecker_name());
            rows.iter().enumerate().map(|(i, row)| read_row(row, mode, &place(i))).collect::<Result<Vec<_>, _>>()
        };
        LabelMatrices::from_parts(
            list(Direction::ResponseVsReference, &labels.answer2response)?,
            list(Direction::ReferenceVsResponse, &labels.response2answer)?,
            grid(Direction::ResponseVsChunks, &labels.retrieved2response)?,
            grid(Direction::ReferenceVsChunks, &labels.retrieved2answer)?,
            n_chunks,
        )
    }

    /// Reads matrices written with one letter a verdict: `e`, `n`, `c`, and `?` for a failed check.
    ///
    /// Meant for examples and tests. White space separates the rows of the last two, which are checks against
    /// chunks, one row a claim. When nothing was retrieved the rows are empty, and the text too:
    ///
    /// ```
    /// use claimlab::metrics::LabelMatrices;
    ///
    /// let labels = LabelMatrices::from_letters("en", "e", "", "")?;
    /// assert_eq!(labels.n_chunks, 0);
    /// assert_eq!(labels.response_vs_chunks, [[], []]);
    /// assert_eq!(
    ///     LabelMatrices::from_letters("en", "e", "ne yn", "ne").unwrap_err().to_string(),
    ///     "response_vs_chunks[1][0]: 'y' is not a label letter; use e, n or c (? for a failed check)",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_letters(
        response_vs_reference: &str,
        reference_vs_response: &str,
        response_vs_chunks: &str,
        reference_vs_chunks: &str,
    ) -> Result<LabelMatrices, ReadError> {
        let nothing_retrieved = response_vs_chunks.trim().is_empty() && reference_vs_chunks.trim().is_empty();
        let list = |matrix: Direction, text: &str| read_letters(text, matrix.as_str());
        let grid = |matrix: Direction, text: &str, n_claims: usize| {
            if nothing_retrieved {
                return Ok(vec![Vec::new(); n_claims]);
            }
            let place = |i| format!("{matrix}[{i}]");
            text.split_whitespace().enumerate().map(|(i, row)| read_letters(row, &place(i))).collect()
        };
        let response = list(Direction::ResponseVsReference, response_vs_reference)?;
        let reference = list(Direction::ReferenceVsResponse, reference_vs_response)?;
        let response_grid = grid(Direction::ResponseVsChunks, response_vs_chunks, response.len())?;
        let reference_grid = grid(Direction::ReferenceVsChunks, reference_vs_chunks, reference.len())?;
        LabelMatrices::from_parts(response, reference, response_grid, reference_grid, None)
    }

    /// Takes the counts from the matrices, and checks that they agree.
    fn from_parts(
        response_vs_reference: Vec<Option<Label>>,
        reference_vs_response: Vec<Option<Label>>,
        response_vs_chunks: Vec<Vec<Option<Label>>>,
        reference_vs_chunks: Vec<Vec<Option<Label>>>,
        n_chunks: Option<usize>,
    ) -> Result<LabelMatrices, ReadError> {
        let first_row = || response_vs_chunks.first().or(reference_vs_chunks.first()).map_or(0, Vec::len);
        let labels = LabelMatrices {
            n_response_claims: response_vs_reference.len(),
            n_reference_claims: reference_vs_response.len(),
            n_chunks: n_chunks.unwrap_or_else(first_row),
            response_vs_reference,
            reference_vs_response,
            response_vs_chunks,
            reference_vs_chunks,
        };
        labels.validate()?;
        Ok(labels)
    }
}

fn read_row(texts: &[Option<String>], mode: Mode, place: &str) -> Result<Vec<Option<Label>>, ReadError> {
    let read = |(i, text): (usize, &Option<String>)| match (text, mode) {
        (None, _) => Ok(None),
        (Some(text), Mode::Strict) => Label::parse(text)
            .map(Some)
            .ok_or_else(|| ReadError::Label { place: format!("{place}[{i}]"), found: text.clone() }),
        (Some(text), Mode::RagChecker) => Ok(Some(match text.as_str() {
            "Entailment" => Label::Entailment,
            "Contradiction" => Label::Contradiction,
            _ => Label::Neutral,
        })),
    };
    texts.iter().enumerate().map(read).collect()
}

fn read_letters(text: &str, place: &str) -> Result<Vec<Option<Label>>, ReadError> {
    let read = |(i, letter)| match letter {
        'e' => Ok(Some(Label::Entailment)),
        'n' => Ok(Some(Label::Neutral)),
        'c' => Ok(Some(Label::Contradiction)),
        '?' => Ok(None),
        found => Err(ReadError::Letter { place: format!("{place}[{i}]"), found }),
    };
    text.trim().chars().enumerate().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_reading_accepts_null_and_both_spellings_and_keeps_contradiction() {
        let text = r#"{"query_id": "q", "answer2response": ["entailment", null, "Contradiction"],
            "response2answer": [], "retrieved2response": [[], [], []], "retrieved2answer": []}"#;
        let labels: RagCheckerLabels = serde_json::from_str(text).unwrap();
        let read = LabelMatrices::from_ragchecker(&labels, Some(0), Mode::Strict).unwrap();
        assert_eq!(read, LabelMatrices::from_letters("e?c", "", "", "").unwrap());
        // RAGChecker knows one spelling of each label.
        let read = LabelMatrices::from_ragchecker(&labels, Some(0), Mode::RagChecker).unwrap();
        assert_eq!(read, LabelMatrices::from_letters("n?c", "", "", "").unwrap());
    }

    #[test]
    fn a_given_number_of_chunks_is_enforced() {
        let labels = RagCheckerLabels {
            answer2response: Some(vec![Some("Neutral".into())]),
            response2answer: Some(vec![]),
            retrieved2response: Some(vec![vec![Some("Neutral".into())]]),
            retrieved2answer: Some(vec![]),
        };
        assert!(LabelMatrices::from_ragchecker(&labels, None, Mode::Strict).is_ok());
        let error = LabelMatrices::from_ragchecker(&labels, Some(3), Mode::Strict).unwrap_err();
        assert!(error.to_string().starts_with("response_vs_chunks: row 0 has 1 label, but 3 chunks"), "{error}");
    }
}
