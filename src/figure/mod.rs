//! Figures for papers, and pages for looking into one question.

#[cfg(feature = "figures")]
mod dots;
mod page;

pub use page::Page;

use std::path::Path;

use crate::error::{Error, Result};
use crate::signal;
use crate::table::Summary;

/// A figure as SVG.
#[derive(Debug, Clone)]
pub struct Figure {
    svg: String,
    alt: String,
}

impl Figure {
    /// Means with their intervals: one row a metric, one colour a value of `color`, one panel a value of `panel`
    /// (both columns of the summary).
    ///
    /// # Errors
    /// When a column does not exist, there are more colours than can be told apart, or this build draws nothing.
    pub fn intervals(summary: &Summary, color: &str, panel: &str) -> Result<Self> {
        #[cfg(feature = "figures")]
        {
            let svg = dots::draw(summary, color, panel)?;
            Ok(Self {
                svg,
                alt: format!("Means with 95 % intervals by {color} and {panel}, {} rows", summary.height()),
            })
        }
        #[cfg(not(feature = "figures"))]
        {
            let _ = (summary, color, panel);
            Err(Error::feature_disabled("figures", "figures"))
        }
    }

    /// The SVG source.
    #[must_use]
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// Writes the SVG to a file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        std::fs::write(path.as_ref(), &self.svg).map_err(|error| Error::file(path.as_ref(), &error))
    }

    /// Shows the figure.
    pub fn evcxr_display(&self) {
        signal::display(None, Some(&self.svg), &self.alt);
    }
}
