//! The tables of judging and calibration: tasks, criteria, attempts, labels, verdicts and what is made of them.

use std::path::Path;

use polars::prelude::{DataFrame, IntoLazy, col, lit};

use super::column::Kind::{Integer, Number, Text};
use super::tables::typed_table;
use super::{Column, Show, read_table, validate, write_table};
use crate::error::Result;

/// Reading and writing a table as a file.
macro_rules! exchanged {
    ($($name:ident),+ $(,)?) => {$(
        impl $name {
            /// Reads the table from a `.csv`, `.jsonl` or `.parquet` file.
            ///
            /// # Errors
            /// When the file cannot be read, or is not such a table: names the line where it can.
            pub fn read(path: impl AsRef<Path>) -> Result<Self> {
                let path = path.as_ref();
                let frame = read_table(Self::COLUMNS, path)?;
                Self::new(frame).map_err(|error| error.context(format!("reading {}", path.display())))
            }

            /// Writes the table to a `.csv`, `.jsonl` or `.parquet` file: complete or not at all.
            ///
            /// # Errors
            /// When the file cannot be written, or its name has another ending.
            pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
                write_table(self.frame(), path.as_ref())
            }
        }
    )+};
}

typed_table! {
    /// What lawyers ask; one row a task.
    Tasks {
        Column::required("task_id", Text, "names the task, unique"),
        Column::required("request", Text, "the request as the system got it"),
        Column::optional("references", Text, "material that a judge may rely on beside the request"),
        Column::optional("language", Text, "en or fr"),
        Column::optional("area", Text, "the kind of work"),
    }
}

typed_table! {
    /// Checklists; one row a criterion.
    Criteria {
        Column::required("criterion_id", Text, "names the criterion, unique"),
        Column::required("task_id", Text, "the task it belongs to"),
        Column::required("kind", Text, "substance or form"),
        Column::required("text", Text, "what an answer must do to pass"),
        Column::optional("weight", Number, "its importance for escalation, 1 where not given; pass^k ignores it"),
        Column::optional("references", Text, "material for this criterion alone"),
        Column::optional("language", Text, "en or fr"),
        Column::optional("parent", Text, "the criterion that it was split from"),
    }
}

typed_table! {
    /// What systems answered; one row a system, task and attempt.
    Attempts {
        Column::required("system", Text, "who answered"),
        Column::required("task_id", Text, "the task"),
        Column::required("attempt", Integer, "from 1"),
        Column::nullable("answer", Text, "the answer; null when the attempt failed"),
        Column::optional("files", Text, "the text of the files that came with it"),
        Column::nullable("cost_usd", Number, "price in US dollars; null when not known"),
        Column::nullable("latency_ms", Number, "milliseconds; null when not measured"),
        Column::nullable("failure", Text, "why there is no answer"),
    }
}

typed_table! {
    /// People's decisions on answers; one row a criterion, answer and annotator.
    CriterionLabels {
        Column::required("criterion_id", Text, "the criterion"),
        Column::required("system", Text, "whose answer"),
        Column::required("attempt", Integer, "which attempt, from 1"),
        Column::required("annotator", Text, "who decided"),
        Column::nullable("label", Text, "PASS or FAIL; null where the annotator left it open"),
        Column::optional("reason", Text, "the annotator's own words"),
        Column::optional("selected_because", Text, "why this answer was shown to a person"),
        Column::optional("selection_probability", Number, "how probable that was, above 0 and at most 1"),
    }
}

typed_table! {
    /// Judges' decisions; one row a judge, prompt, way of asking, criterion, answer and repeat.
    Verdicts {
        Column::required("judge", Text, "the model"),
        Column::required("prompt", Text, "name and digest of its instructions"),
        Column::required("way", Text, "single (one criterion a call) or batched"),
        Column::required("task_id", Text, "the task"),
        Column::required("criterion_id", Text, "the criterion"),
        Column::required("system", Text, "whose answer"),
        Column::required("attempt", Integer, "which attempt of the system, from 1"),
        Column::required("repeat", Integer, "which repetition of the judge's call, from 1"),
        Column::nullable("verdict", Text, "PASS or FAIL; null when the judgement failed"),
        Column::nullable("failure", Text, "why there is no verdict"),
        Column::optional("said", Text, "the verdict that the judge gave and that could not be credited"),
        Column::optional("evidence", Text, "quotations from the answer, one a line"),
        Column::optional("reason", Text, "the judge's own words"),
        Column::optional("request", Text, "names the call; verdicts of one call share it, and its tokens and cost"),
        Column::optional("prompt_tokens", Integer, "tokens that the call read"),
        Column::optional("completion_tokens", Integer, "tokens that the call wrote"),
        Column::optional("cost_usd", Number, "price of the call"),
        Column::optional("latency_ms", Number, "milliseconds of the call"),
    }
}

typed_table! {
    /// What the lint found; one row a finding.
    CriterionFindings {
        Column::required("criterion_id", Text, "the criterion"),
        Column::required("principle", Text, "atomic, self_contained or non_duplicative"),
        Column::required("rule", Text, "which rule or verifier"),
        Column::required("severity", Text, "likely, possible, or failed (the verifier gave no usable reply)"),
        Column::nullable("excerpt", Text, "the words in question"),
        Column::nullable("other", Text, "the other criterion of a pair"),
        Column::nullable("score", Number, "similarity of the pair, 0 to 1"),
        Column::required("message", Text, "what to look at"),
    }
}

typed_table! {
    /// Rewrites of criteria that somebody proposes; one row a proposal. Nothing changes until it is signed off.
    Proposals {
        Column::required("proposal_id", Text, "a digest of the criterion, the old and the new text"),
        Column::required("criterion_id", Text, "the criterion"),
        Column::required("kind", Text, "split, reword or drop"),
        Column::required("old_text", Text, "the text that it would replace"),
        Column::required("new_texts", Text, "the new texts as a JSON list"),
        Column::required("class", Text, "mechanical or needs_lawyer"),
        Column::required("because", Text, "why it is of that class"),
        Column::required("removed", Text, "entities, numbers, dates, addresses, citations and operators that would go"),
        Column::required("added", Text, "those that would come"),
        Column::required("origin", Text, "who proposes it"),
        Column::nullable("rationale", Text, "why it is proposed"),
    }
}

typed_table! {
    /// A judge against people's labels, in long form; one row a judge, prompt, way and statistic.
    JudgeScores {
        Column::required("judge", Text, "the model"),
        Column::required("prompt", Text, "name and digest of its instructions"),
        Column::required("way", Text, "single or batched"),
        Column::required("statistic", Text, "its snake_case name"),
        Column::nullable("value", Number, "null when undefined"),
        Column::nullable("ci_low", Number, "lower end of the interval; null when there is none"),
        Column::nullable("ci_high", Number, "upper end"),
        Column::nullable("undefined", Text, "why there is no value"),
        Column::required("n", Integer, "labelled answers with a verdict"),
        Column::required("n_pass", Integer, "of these, labelled PASS"),
        Column::required("n_tasks", Integer, "tasks that they come from"),
        Column::required("n_unscored", Integer, "labelled answers on which the judge failed"),
        Column::required("n_absent", Integer, "labelled answers that the judge was not asked about"),
        Column::required("method", Text, "how the interval was made"),
    }
}

typed_table! {
    /// Answers that a person should look at; one row an item, in the order in which the form shows them.
    ReviewItems {
        Column::required("item_id", Text, "names the item without saying whose answer it is"),
        Column::required("task_id", Text, "the task"),
        Column::required("criterion_id", Text, "the criterion"),
        Column::required("system", Text, "whose answer; not shown to the reviewer"),
        Column::required("attempt", Integer, "which attempt; not shown"),
        Column::required("stratum", Text, "escalated or audit"),
        Column::required("selected_because", Text, "why it is in the queue; not shown"),
        Column::required("selection_probability", Number, "how probable that was"),
        Column::required("text_digest", Text, "a digest of request, criterion and answer as shown"),
    }
}

exchanged!(
    Tasks,
    Criteria,
    Attempts,
    CriterionLabels,
    Verdicts,
    CriterionFindings,
    Proposals,
    JudgeScores,
    ReviewItems,
);
