//! A piece of HTML to look at.

use std::path::Path;

use crate::error::{Error, Result};
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

    /// Writes the page as an HTML file that needs nothing else: no script, no font, no network.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let document = format!(
            "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
             <meta name=\"viewport\" content=\"width=device-width\"><title>ClaimLab</title></head><body>{}</body></html>\n",
            self.html
        );
        std::fs::write(path.as_ref(), document).map_err(|error| Error::file(path.as_ref(), &error))
    }

    /// Shows the page.
    pub fn evcxr_display(&self) {
        signal::display(Some(&self.html), None, &self.plain);
    }
}
