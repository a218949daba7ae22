//! Which reader a text needs.

use super::{Parsed, lines};
#[cfg(feature = "html")]
use crate::dataset::json;
#[cfg(not(feature = "html"))]
use crate::error::Error;
use crate::error::Result;

/// How an act is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dataset) enum Format {
    /// The Official Journal, or a consolidated act of EUR-Lex.
    EurLex,
    AkomaNtoso,
    /// Articles as JSON.
    Articles,
    /// Any HTML.
    Html,
    Markdown,
    Text,
}

impl Format {
    /// The format of a text, by what it holds; `name` (of its file) decides between Markdown and plain text only.
    pub fn of(name: &str, text: &str) -> Self {
        let start = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
        let mut cut = start.len().min(64 << 10);
        while !start.is_char_boundary(cut) {
            cut -= 1;
        }
        let head = start[..cut].to_lowercase();
        if head.starts_with('{') {
            return Self::Articles;
        }
        if head.starts_with('<') && head.contains("akomantoso") {
            return Self::AkomaNtoso;
        }
        let is_html = head.starts_with('<')
            && ["<html", "<!doctype html", "<body", "<p", "<div", "<table", "<?xml"]
                .iter()
                .any(|tag| head.contains(tag));
        if is_html {
            let signs = ["id=\"art_", "id=\"rct_", "class=\"oj-", "class=\"ti-art", "title-article-norm"];
            return if signs.iter().any(|sign| text.contains(sign)) { Self::EurLex } else { Self::Html };
        }
        let is_markdown = [".md", ".markdown"].iter().any(|end| name.to_lowercase().ends_with(end));
        if is_markdown || head.starts_with("---\n") && head.contains("\n#") {
            return Self::Markdown;
        }
        Self::Text
    }

    /// A word on a page or document that begins but does not end: a download that broke off.
    pub fn unfinished(self, text: &str) -> Option<String> {
        let element = match self {
            Self::EurLex | Self::Html => "html",
            Self::AkomaNtoso => "akomantoso",
            Self::Articles | Self::Markdown | Self::Text => return None,
        };
        let part = |range: std::ops::Range<usize>| text.as_bytes().get(range).unwrap_or_default().to_ascii_lowercase();
        let has = |part: &[u8], tag: String| part.windows(tag.len()).any(|window| window == tag.as_bytes());
        let (begin, end) = (part(0..text.len().min(4096)), part(text.len().saturating_sub(4096)..text.len()));
        (has(&begin, format!("<{element}")) && !has(&end, format!("</{element}")))
            .then(|| format!("<{element}> is not closed: the file may be cut short"))
    }
}

/// Reads a text of a known format.
#[cfg(feature = "html")]
pub(in crate::dataset) fn parse(format: Format, text: &str) -> Result<Parsed> {
    match format {
        Format::EurLex => super::eurlex::parse(text),
        Format::AkomaNtoso => super::akoma::parse(text),
        // The error's context names the act.
        Format::Articles => super::legilux::parse(&json::read("its articles", text)?.value),
        Format::Html => super::html::parse_document(text),
        Format::Markdown => Ok(super::markdown::parse(text)),
        Format::Text => Ok(lines::parse(text)),
    }
}

/// This build reads plain text only.
#[cfg(not(feature = "html"))]
pub(in crate::dataset) fn parse(format: Format, text: &str) -> Result<Parsed> {
    match format {
        Format::Text => Ok(lines::parse(text)),
        _ => Err(Error::feature_disabled("reader for HTML, XML and Markdown", "html")),
    }
}
