//! An act as text, with the parts it consists of.

use std::path::Path;
use std::sync::Arc;

use polars::prelude::DataFrame;

use super::act::{self, Format, Kind, Parsed, Provision};
use super::bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::table::{FrameBuilder, Show};

/// One act, or another document: its paragraphs as one text, one line a paragraph, and the parts of it.
///
/// The text holds every character of the publication's body in order, white space apart: each run of it is one space,
/// or the end of a line. Offsets count characters (Unicode scalar values) of this text.
#[derive(Debug, Clone)]
pub struct Corpus(Arc<Act>);

#[derive(Debug)]
struct Act {
    source: String,
    language: String,
    text: String,
    parts: Vec<Provision>,
    citable: Vec<Provision>,
    about: Vec<(String, String)>,
    notes: Vec<String>,
}

impl Corpus {
    /// Reads a file of any format that this library knows, told apart by its content: the Official Journal's XHTML and
    /// EUR-Lex's consolidated HTML, Akoma Ntoso, articles as JSON, other HTML by `<p>`, Markdown by headings, plain text.
    ///
    /// # Errors
    /// When the file cannot be read, is something else (an archive, a PDF, a Git LFS pointer, an error page), or lacks
    /// what its format must hold.
    pub fn read(source: &str, language: &str, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut decoded = bytes::read_text(path)?;
        let format = Format::of(&path.display().to_string(), &decoded.text);
        decoded.notes.extend(format.unfinished(&decoded.text));
        Self::of(source, language, format, &decoded.text, decoded.notes)
            .map_err(|error| error.context(format!("reading {}", path.display())))
    }

    /// Parses an act as the Official Journal or EUR-Lex publishes it: paragraphs are `<p>`; articles, recitals and
    /// chapters are elements with an `id` such as `art_5`, `rct_12`, `cpt_II`, or are told by their headings' classes.
    ///
    /// # Errors
    /// When the markup holds no article and no recital, or this build has no HTML parser.
    ///
    /// ```
    /// use claimlab::prelude::*;
    /// let act = Corpus::from_html(
    ///     "act", "en", r#"<div id="art_1"><p class="oj-ti-art">Article 1</p><p>1.&#160;&#160;Data shall be kept.</p></div>"#,
    /// )?;
    /// assert_eq!(act.text(), "Article 1\n1. Data shall be kept.");
    /// assert_eq!(act.provisions()[0].id, "art_1");
    /// let error = Corpus::from_html("act", "en", "<title>404 Not Found</title><p>Not Found").unwrap_err();
    /// assert!(error.to_string().contains("error page"));
    /// # Ok::<(), claimlab::Error>(())
    /// ```
    pub fn from_html(source: &str, language: &str, html: &str) -> Result<Self> {
        Self::of(source, language, Format::EurLex, html, Vec::new())
    }

    /// Reads such a file.
    ///
    /// # Errors
    /// As [`Corpus::from_html`], and when the file cannot be read.
    pub fn read_html(source: &str, language: &str, path: impl AsRef<Path>) -> Result<Self> {
        let mut decoded = bytes::read_text(path.as_ref())?;
        decoded.notes.extend(Format::EurLex.unfinished(&decoded.text));
        Self::of(source, language, Format::EurLex, &decoded.text, decoded.notes)
            .map_err(|error| error.context(format!("reading {}", path.as_ref().display())))
    }

    /// Parses Akoma Ntoso.
    ///
    /// # Errors
    /// When it has no article.
    pub fn from_akoma_ntoso(source: &str, language: &str, xml: &str) -> Result<Self> {
        Self::of(source, language, Format::AkomaNtoso, xml, Vec::new())
    }

    /// Parses an act's file of articles (JSON, schema `lex-articles/1`).
    ///
    /// # Errors
    /// Names the provision and field that is missing.
    pub fn from_articles_json(source: &str, language: &str, json: &str) -> Result<Self> {
        Self::of(source, language, Format::Articles, json, Vec::new())
    }

    /// Parses any HTML: each block of text is a part `p_1`, `p_2`, …, headings are divisions.
    ///
    /// # Errors
    /// When nothing but markup is there, or a short page says by its title or first line that something failed.
    pub fn from_plain_html(source: &str, language: &str, html: &str) -> Result<Self> {
        Self::of(source, language, Format::Html, html, Vec::new())
    }

    /// Parses Markdown: headings are divisions, or articles where they say so.
    ///
    /// # Errors
    /// When there is no text.
    pub fn from_markdown(source: &str, language: &str, markdown: &str) -> Result<Self> {
        Self::of(source, language, Format::Markdown, markdown, Vec::new())
    }

    /// Takes plain text; paragraphs are parted by empty lines, or are lines where there is no empty one.
    ///
    /// # Errors
    /// When there is no text.
    pub fn from_text(source: &str, language: &str, text: &str) -> Result<Self> {
        Self::of(source, language, Format::Text, text, Vec::new())
    }

    fn of(source: &str, language: &str, format: Format, text: &str, notes: Vec<String>) -> Result<Self> {
        let Parsed { text, parts, about } =
            act::parse(format, text).map_err(|error| error.context(format!("reading the act {source}")))?;
        if text.is_empty() {
            return Err(Error::input(format!("the act {source} holds no text"))
                .help("look at the file: it may hold scripts or images only"));
        }
        let citable = parts.iter().filter(|part| part.kind.is_citable()).cloned().collect();
        Ok(Self(Arc::new(Act {
            source: source.to_owned(),
            language: language.to_owned(),
            text,
            parts,
            citable,
            about,
            notes,
        })))
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

    /// What lawyers cite first: articles, recitals and annexes, in order.
    #[must_use]
    pub fn provisions(&self) -> &[Provision] {
        &self.0.citable
    }

    /// All parts, each after the one around it: divisions, articles, paragraphs, points, recitals, notes.
    #[must_use]
    pub fn parts(&self) -> &[Provision] {
        &self.0.parts
    }

    /// What had to be assumed in reading the file, as in a guessed encoding, and whether it seems cut short.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }

    /// The text of one part.
    #[must_use]
    pub fn text_of(&self, part: &Provision) -> &str {
        self.text().get(part.bytes.0..part.bytes.1).unwrap_or_default()
    }

    /// The text of some parts, each on its own lines; what is not found is an error that names it.
    ///
    /// # Errors
    /// When a part does not exist.
    pub fn passage(&self, ids: &[String]) -> Result<String> {
        let mut texts = Vec::new();
        for id in ids {
            let found = self.parts().iter().find(|part| &part.id == id).ok_or_else(|| {
                Error::new(ErrorKind::NotFound, format!("the act {} has no provision {id:?}", self.source()))
                    .help("articles are named art_1, art_2, …, recitals rct_1, …; outline() lists all")
            })?;
            texts.push(self.text_of(found));
        }
        Ok(texts.join("\n"))
    }

    /// All parts as a table: id, kind, number, heading, path, offsets, text.
    ///
    /// # Errors
    /// When the columns do not fit together.
    pub fn outline(&self) -> Result<DataFrame> {
        let parts = self.parts();
        let column = |of: &dyn Fn(&Provision) -> String| parts.iter().map(of).collect::<Vec<String>>();
        let maybe = |of: &dyn Fn(&Provision) -> Option<String>| parts.iter().map(of).collect::<Vec<Option<String>>>();
        FrameBuilder::new()
            .text("id", &column(&|part| part.id.clone()))
            .text("kind", &column(&|part| part.kind.to_string()))
            .text_or_null("number", &maybe(&|part| part.number.clone()))
            .text_or_null("heading", &maybe(&|part| part.heading.clone()))
            .text("path", &column(&|part| part.path.join(" › ")))
            .text("language", &column(&|_| self.language().to_owned()))
            .integer("start", &parts.iter().map(|part| part.start as i64).collect::<Vec<_>>())
            .integer("end", &parts.iter().map(|part| part.end as i64).collect::<Vec<_>>())
            .text("text", &column(&|part| self.text_of(part).to_owned()))
            .build()
    }

    /// Where every character of the text is: per kind of part, how many parts there are and how many characters they
    /// hold outside of the parts within them; the row `between` counts what is in no part. The characters add up to the
    /// text's length.
    ///
    /// # Errors
    /// When the columns do not fit together.
    pub fn accounting(&self) -> Result<DataFrame> {
        let mut own: Vec<i64> = self.parts().iter().map(|part| (part.end - part.start) as i64).collect();
        let mut between = self.text().chars().count() as i64;
        for part in self.parts() {
            let length = (part.end - part.start) as i64;
            match part.parent.and_then(|parent| own.get_mut(parent)) {
                Some(around) => *around -= length,
                None => between -= length,
            }
        }
        let mut kinds: std::collections::BTreeMap<Kind, (i64, i64)> = std::collections::BTreeMap::new();
        for (part, own) in self.parts().iter().zip(own) {
            let entry = kinds.entry(part.kind).or_default();
            entry.0 += 1;
            entry.1 += own;
        }
        let names: Vec<&str> = kinds.keys().map(|kind| kind.as_str()).chain(["between"]).collect();
        let counts: Vec<i64> = kinds.values().map(|(count, _)| *count).chain([0]).collect();
        let characters: Vec<i64> = kinds.values().map(|(_, own)| *own).chain([between]).collect();
        FrameBuilder::new().text("kind", &names).integer("parts", &counts).integer("characters", &characters).build()
    }

    /// What the publication says about itself (title, date, source, licence), one row a statement.
    ///
    /// # Errors
    /// When the columns do not fit together.
    pub fn about(&self) -> Result<DataFrame> {
        let (keys, values): (Vec<&str>, Vec<&str>) = self.0.about.iter().map(|(key, value)| (&**key, &**value)).unzip();
        FrameBuilder::new().text("about", &keys).text("value", &values).build()
    }

    /// Shows where the act's characters are.
    pub fn evcxr_display(&self) {
        match self.accounting() {
            Ok(table) => table.evcxr_display(),
            Err(error) => crate::signal::display(None, None, &error.to_string()),
        }
    }
}

/// Reads HTML of any size (UTF-8) and hands on each paragraph as soon as it is complete; memory does not grow with the
/// input. Returns how many bytes were read.
///
/// # Errors
/// When the stream fails, `each` fails, or this build has no HTML parser.
///
/// ```
/// let mut lines = Vec::new();
/// claimlab::dataset::stream_html(&mut "<p>One<p>Two &amp; three".as_bytes(), &mut |line| {
///     lines.push(line.to_owned());
///     Ok(())
/// })?;
/// assert_eq!(lines, ["One", "Two & three"]);
/// # Ok::<(), claimlab::Error>(())
/// ```
#[cfg(feature = "html")]
pub fn stream_html(input: &mut dyn std::io::Read, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<u64> {
    act::stream(input, each)
}

/// This build cannot parse HTML.
///
/// # Errors
/// Always.
#[cfg(not(feature = "html"))]
pub fn stream_html(_input: &mut dyn std::io::Read, _each: &mut dyn FnMut(&str) -> Result<()>) -> Result<u64> {
    Err(Error::feature_disabled("HTML parser", "html"))
}
