//! The tables themselves.

use polars::prelude::{DataFrame, IntoLazy, col, lit};

use super::column::Kind::{Boolean, Integer, Number, Text};
use super::{Column, Show, validate};
use crate::error::Result;

/// Defines a newtype over a frame with its columns.
macro_rules! typed_table {
    ($(#[$doc:meta])* $name:ident { $($column:expr),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name(DataFrame);

        impl $name {
            /// The columns that this table knows; others are carried along.
            pub const COLUMNS: &'static [Column] = &[$($column),+];

            /// Takes a frame that satisfies [`Self::COLUMNS`].
            ///
            /// # Errors
            /// When a column is missing, has another type, or lacks values that it must have.
            pub fn new(frame: DataFrame) -> Result<Self> {
                validate(stringify!($name), Self::COLUMNS, &frame)?;
                Ok(Self(frame))
            }

            /// The frame.
            #[must_use]
            pub fn frame(&self) -> &DataFrame {
                &self.0
            }

            /// Gives the frame up.
            #[must_use]
            pub fn into_frame(self) -> DataFrame {
                self.0
            }

            /// How many rows there are.
            #[must_use]
            pub fn height(&self) -> usize {
                self.0.height()
            }

            /// The first `n` rows.
            #[must_use]
            pub fn head(&self, n: usize) -> DataFrame {
                self.0.head(Some(n))
            }

            /// The rows whose text column `column` equals `value`.
            ///
            /// # Errors
            /// When there is no such column, or it does not hold text.
            pub fn only(&self, column: &str, value: &str) -> Result<Self> {
                Ok(Self(self.0.clone().lazy().filter(col(column).eq(lit(value))).collect()?))
            }

            /// These columns, in this order.
            ///
            /// # Errors
            /// When there is no such column.
            pub fn select(&self, columns: &[&str]) -> Result<DataFrame> {
                let chosen: Vec<_> = columns.iter().map(|name| col(*name)).collect();
                Ok(self.0.clone().lazy().select(chosen).collect()?)
            }

            /// Shows the table where a cell ends with it.
            pub fn evcxr_display(&self) {
                self.0.evcxr_display();
            }
        }
    };
}
pub(super) use typed_table;

typed_table! {
    /// Questions with their reference answers; one row a question.
    QaPairs {
        Column::required("question_id", Text, "names the question, unique"),
        Column::required("question", Text, "the question as asked"),
        Column::required("reference_answer", Text, "the answer to compare with"),
        Column::optional("language", Text, "en or fr"),
        Column::optional("persona", Text, "citizen, civil_officer or legal_expert"),
        Column::optional("category", Text, "general_legal_research, factual_recall, false_premise or jurisdiction_time_specific"),
        Column::optional("source", Text, "the act that answers"),
        Column::optional("context_unit", Text, "the passage that answers"),
        Column::optional("answer_correctness", Text, "correct, partially_correct or incorrect"),
        Column::optional("hops", Text, "single or multi"),
    }
}

typed_table! {
    /// Pieces of documents; one row a chunk.
    Chunks {
        Column::required("chunk_id", Text, "names the chunk, unique"),
        Column::required("document_id", Text, "the document it was cut from"),
        Column::required("ordinal", Integer, "its place in the document, from 0"),
        Column::required("start", Integer, "first character in the document's text"),
        Column::required("end", Integer, "one past its last character"),
        Column::required("n_tokens", Integer, "its length in tokens of the chunking"),
        Column::required("text", Text, "the text itself"),
        Column::optional("source", Text, "the act"),
        Column::optional("language", Text, "en or fr"),
        Column::optional("provisions", Text, "the articles and recitals it covers, separated by spaces"),
    }
}

typed_table! {
    /// What a retriever found; one row a question and rank.
    RetrievalRun {
        Column::required("retriever", Text, "names the retriever"),
        Column::required("question_id", Text, "the question"),
        Column::required("rank", Integer, "from 1, best first"),
        Column::required("chunk_id", Text, "the chunk"),
        Column::required("score", Number, "higher is better; comparable within one question only"),
        Column::required("text", Text, "the chunk's text"),
    }
}

typed_table! {
    /// What generators answered; one row a system, question and attempt.
    GenerationRun {
        Column::required("system", Text, "names retriever and generator together"),
        Column::required("question_id", Text, "the question"),
        Column::required("attempt", Integer, "from 1"),
        Column::required("retriever", Text, "whose chunks were given"),
        Column::required("generator", Text, "who answered"),
        Column::nullable("response", Text, "the answer; null when the call failed"),
        Column::nullable("finish_reason", Text, "why the generator stopped"),
        Column::nullable("prompt_tokens", Integer, "tokens read; null when not counted"),
        Column::nullable("completion_tokens", Integer, "tokens written; null when not counted"),
        Column::nullable("latency_ms", Number, "milliseconds; null when not measured"),
        Column::optional("cost_usd", Number, "price of the call"),
        Column::nullable("failure", Text, "why there is no response"),
    }
}

typed_table! {
    /// Claims of answers and of reference answers; one row a claim, and one a text whose claims could not be had.
    Claims {
        Column::required("claim_id", Text, "names the claim, unique"),
        Column::required("extractor", Text, "who cut the text into claims"),
        Column::required("question_id", Text, "the question"),
        Column::required("side", Text, "response or reference"),
        Column::nullable("system", Text, "whose response; null for the reference"),
        Column::nullable("attempt", Integer, "which attempt; null for the reference"),
        Column::required("ordinal", Integer, "its place in the text, from 0"),
        Column::nullable("text", Text, "the claim as one sentence; null in a row that says why there are none"),
        Column::optional("subject", Text, "of a triple"),
        Column::optional("predicate", Text, "of a triple"),
        Column::optional("object", Text, "of a triple"),
        Column::optional("failure", Text, "why no claims could be had; such a row is no claim"),
        Column::optional("raw", Text, "what the extractor said where it could not be read"),
    }
}

typed_table! {
    /// Verdicts on claims; one row a claim and premise.
    Checks {
        Column::required("checker", Text, "who checked"),
        Column::required("direction", Text, "whose claims against which text, as in `response_vs_reference`"),
        Column::required("question_id", Text, "the question"),
        Column::required("claim_id", Text, "the claim"),
        Column::nullable("system", Text, "null for rows that all systems on a retriever share"),
        Column::nullable("attempt", Integer, "null for shared rows"),
        Column::nullable("retriever", Text, "whose chunk; null when the premise is an answer"),
        Column::nullable("chunk_id", Text, "null when the premise is an answer"),
        Column::nullable("label", Text, "entailment, neutral or contradiction; null when the check failed"),
        Column::nullable("failure", Text, "why there is no label"),
        Column::optional("reason", Text, "the checker's own words"),
        Column::optional("p_entailment", Number, "probability of entailment, where the checker has one"),
        Column::optional("p_neutral", Number, "probability of neutral"),
        Column::optional("p_contradiction", Number, "probability of contradiction"),
    }
}

typed_table! {
    /// Metric values in long form; one row a system, question, attempt and metric.
    Scores {
        Column::required("system", Text, "the system"),
        Column::required("question_id", Text, "the question"),
        Column::required("attempt", Integer, "from 1"),
        Column::required("metric", Text, "its snake_case name"),
        Column::required("checker", Text, "whose verdicts it rests on"),
        Column::nullable("value", Number, "0 to 1; null when undefined or failed"),
        Column::nullable("undefined", Text, "why it is null: a reason, or `failed`"),
        Column::optional("unit", Text, "the same for questions that share a passage: what intervals resample"),
    }
}

typed_table! {
    /// Means over questions with intervals; one row a slice and metric.
    Summary {
        Column::required("metric", Text, "its snake_case name"),
        Column::nullable("mean", Number, "0 to 1 over the n questions with a value"),
        Column::nullable("ci_low", Number, "lower end of the interval; null below two questions"),
        Column::nullable("ci_high", Number, "upper end"),
        Column::required("n", Integer, "values that the mean is over"),
        Column::required("n_undefined", Integer, "values that do not exist by definition"),
        Column::required("n_failed", Integer, "values that a failed call hides"),
        Column::optional("n_clusters", Integer, "questions (or passages) that the n values come from"),
        Column::optional("few", Boolean, "too few of these to rank; shown in grey"),
    }
}

typed_table! {
    /// Labels given by people; one row an item and annotator.
    HumanLabels {
        Column::required("item_id", Text, "what was labelled"),
        Column::required("annotator", Text, "who labelled it"),
        Column::nullable("label", Text, "the label; null where the annotator left it blank"),
    }
}

typed_table! {
    /// Claims with a person's verdict against their context unit; one row a claim.
    LabelledClaims {
        Column::required("claim_id", Text, "names the claim, unique"),
        Column::required("question_id", Text, "the question"),
        Column::required("text", Text, "the claim as one sentence"),
        Column::nullable("subject", Text, "of the triple; null for a claim in plain words"),
        Column::nullable("predicate", Text, "of the triple"),
        Column::nullable("object", Text, "of the triple"),
        Column::nullable("valid", Boolean, "whether the claim is well formed and faithful to its answer"),
        Column::nullable("label", Text, "entailment, neutral or contradiction; null where none was given"),
        Column::required("context_unit", Text, "the passage that the label refers to"),
        Column::optional("language", Text, "en or fr"),
        Column::optional("source", Text, "the act"),
    }
}
