//! A piece of HTML to look at.

use crate::signal;

/// HTML whose every piece of data was escaped when it was put in, with a plain text beside it.
#[derive(Debug, Clone)]
pub struct Page {
    html: String,
    plain: String,
}

impl Page {
    /// From HTML that the library composed.
    pub(crate) fn new(html: String, plain: String) -> Self {
        Self { html, plain }
    }

    /// The HTML source.
    #[must_use]
    pub fn html(&self) -> &str {
        &self.html
    }

    /// Shows the page.
    pub fn evcxr_display(&self) {
        signal::display(Some(&self.html), None, &self.plain);
    }
}
