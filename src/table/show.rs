//! Showing frames, and whatever else ends a cell, as tables instead of Rust's debug form.

use polars::prelude::{DataFrame, LazyFrame, Series};

use super::html::frame_to_html;
use crate::signal;

/// Rows that a shown table is cut to.
const ROWS: usize = 30;

/// Gives frames the method that evcxr looks for when a cell ends with a value.
pub trait Show {
    /// Shows the value.
    fn evcxr_display(&self);
}

impl Show for DataFrame {
    fn evcxr_display(&self) {
        signal::display(Some(&frame_to_html(self, ROWS)), None, &self.to_string());
    }
}

impl Show for Series {
    fn evcxr_display(&self) {
        self.clone().into_frame().evcxr_display();
    }
}

impl Show for LazyFrame {
    fn evcxr_display(&self) {
        match self.clone().collect() {
            Ok(frame) => frame.evcxr_display(),
            Err(error) => signal::display(None, None, &format!("the query fails: {error}")),
        }
    }
}
