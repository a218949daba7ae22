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

/// Plain values: their debug form, as the result of the cell.
macro_rules! show_debug {
    ($($kind:ty),+ $(,)?) => {
        $(impl Show for $kind {
            fn evcxr_display(&self) {
                signal::result(&format!("{self:?}"));
            }
        })+
    };
}

show_debug!(
    bool,
    char,
    str,
    String,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    f32,
    f64,
    std::path::Path,
    std::path::PathBuf,
    std::time::Duration
);

/// A cell that ends in a loop or a call without a result has nothing to show.
impl Show for () {
    fn evcxr_display(&self) {}
}

/// The same for what holds values, as long as each of them has a debug form.
macro_rules! show_debug_of {
    ($([$($name:ident),+] $kind:ty),+ $(,)?) => {
        $(impl<$($name: std::fmt::Debug),+> Show for $kind {
            fn evcxr_display(&self) {
                signal::result(&format!("{self:?}"));
            }
        })+
    };
}

show_debug_of!(
    [A] Option<A>,
    [A] Vec<A>,
    [A] [A],
    [A, B] Result<A, B>,
    [A, B] std::collections::HashMap<A, B>,
    [A, B] std::collections::BTreeMap<A, B>,
    [A, B] (A, B),
    [A, B, C] (A, B, C),
    [A, B, C, D] (A, B, C, D),
);

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
