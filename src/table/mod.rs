//! Typed tables: newtypes over polars frames whose columns are named, typed and documented in one place.
//!
//! The same [`Column`] constants validate on entry, feed error messages and document themselves. Extra columns are
//! carried along, so that slicing by anything a user adds is always possible.

mod column;
mod direction;
mod exchange;
mod export;
mod html;
mod judging_set;
mod judging_tables;
mod label;
mod paper;
mod rows;
mod show;
mod store;
mod tables;
mod verdict;

pub use column::{Column, Kind, validate};
pub use direction::Direction;
pub use exchange::{read_jsonl_text, read_table, write_table};
pub use export::Export;
pub use html::{escape, frame_to_html};
pub use judging_set::JudgingSet;
pub use judging_tables::{
    Attempts, Criteria, CriterionFindings, CriterionLabels, JudgeScores, Proposals, ReviewItems, Tasks, Verdicts,
};
pub use label::Label;
pub use paper::{Cell, PaperTable};
pub use rows::{FrameBuilder, distinct, floats, integers, texts};
pub use show::Show;
pub use store::{read_csv_text, read_parquet, write_parquet};
pub use tables::{
    Checks, Chunks, Claims, GenerationRun, HumanLabels, LabelledClaims, QaPairs, RetrievalRun, Scores, Summary,
};
pub use verdict::{Verdict, prompt_label};
