//! An act as text, with the provisions it consists of.

use std::path::Path;
use std::sync::Arc;

use super::official_journal;
use crate::error::{Error, Result};

/// A part of an act that can be cited: an article or a recital.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provision {
    /// Its identifier in the publication, as in `art_5` or `rct_12`.
    pub id: String,
    /// First character in the act's text.
    pub start: usize,
    /// One past its last character.
    pub end: usize,
}

/// One act: its paragraphs as one text, one line a paragraph.
#[derive(Debug, Clone)]
pub struct Corpus(Arc<Act>);

#[derive(Debug)]
struct Act {
    source: String,
    language: String,
    text: String,
    provisions: Vec<Provision>,
}

impl Corpus {
    /// Parses an act as the Official Journal publishes it: paragraphs are `<p>`, articles and recitals are elements
    /// with an `id` such as `art_5` and `rct_12`.
    ///
    /// # Errors
    /// When the markup holds no paragraph of a provision, or this build has no HTML parser.
    pub fn from_html(source: &str, language: &str, html: &str) -> Result<Self> {
        let (text, provisions) =
            official_journal::parse(html).map_err(|error| error.context(format!("reading the act {source}")))?;
        Ok(Self(Arc::new(Act { source: source.to_owned(), language: language.to_owned(), text, provisions })))
    }

    /// Reads such a file.
    ///
    /// # Errors
    /// As [`Corpus::from_html`], and when the file cannot be read.
    pub fn read_html(source: &str, language: &str, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let html = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
        Self::from_html(source, language, &html)
    }

    /// Names the act.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// `en` or `fr`.
    #[must_use]
    pub fn language(&self) -> &str {
        &self.0.language
    }

    /// The act's text, one line a paragraph.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Its articles and recitals in order.
    #[must_use]
    pub fn provisions(&self) -> &[Provision] {
        &self.0.provisions
    }

    /// The text of some provisions, each on its own lines; what is not found is an error that names it.
    ///
    /// # Errors
    /// When a provision does not exist.
    pub fn passage(&self, ids: &[String]) -> Result<String> {
        let mut parts = Vec::new();
        for id in ids {
            let found = self.provisions().iter().find(|provision| &provision.id == id).ok_or_else(|| {
                Error::new(crate::ErrorKind::NotFound, format!("the act {} has no provision {id:?}", self.source()))
                    .help("articles are named art_1, art_2, …, recitals rct_1, …")
            })?;
            let text: String = self.text().chars().skip(found.start).take(found.end - found.start).collect();
            parts.push(text);
        }
        Ok(parts.join("\n"))
    }
}
