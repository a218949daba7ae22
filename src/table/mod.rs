//! Typed tables: newtypes over polars frames whose columns are named, typed and documented in one place.
//!
//! The same [`Column`] constants validate on entry, feed error messages and document themselves. Extra columns are
//! carried along, so that slicing by anything a user adds is always possible.

mod column;
mod export;
mod html;
mod label;
mod paper;
mod rows;
mod show;
mod store;
mod tables;

pub use column::{Column, Kind, validate};
pub use export::Export;
pub use html::{escape, frame_to_html};
pub use label::Label;
pub use paper::{Cell, PaperTable};
pub use rows::{FrameBuilder, distinct, floats, integers, texts};
pub use show::Show;
pub use store::{read_csv_text, read_parquet, write_parquet};
pub use tables::{
    Checks, Chunks, Claims, GenerationRun, HumanLabels, LabelledClaims, QaPairs, RetrievalRun, Scores, Summary,
};
