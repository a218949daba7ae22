//! Acts as they are published, read into text with parts.

#[cfg(feature = "html")]
mod akoma;
mod builder;
mod detect;
#[cfg(feature = "html")]
mod eurlex;
#[cfg(feature = "html")]
mod html;
#[cfg(feature = "html")]
mod legilux;
mod lines;
#[cfg(feature = "html")]
mod markdown;
#[cfg(feature = "html")]
mod markup;
#[cfg(feature = "html")]
mod roles;
mod spacing;
#[cfg(feature = "html")]
mod stream;

pub(super) use detect::{Format, parse};
#[cfg(feature = "html")]
pub(super) use stream::stream;

use std::fmt;

/// What a part of an act is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// The act's own title.
    Title,
    /// What stands between title and articles: citations, recitals, the enacting formula.
    Preamble,
    /// "Having regard to …".
    Citation,
    /// A numbered reason before the articles.
    Recital,
    /// A book, part, title, chapter, section, or a heading of any level.
    Division,
    /// An article.
    Article,
    /// A paragraph: numbered in an article, or a line of a text without articles.
    Paragraph,
    /// A point of a list.
    Point,
    /// An annex.
    Annex,
    /// A text quoted in order to amend another act.
    Quotation,
    /// The closing formula and the signatures.
    Final,
    /// A footnote.
    Note,
}

impl Kind {
    /// The name that tables use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Preamble => "preamble",
            Self::Citation => "citation",
            Self::Recital => "recital",
            Self::Division => "division",
            Self::Article => "article",
            Self::Paragraph => "paragraph",
            Self::Point => "point",
            Self::Annex => "annex",
            Self::Quotation => "quotation",
            Self::Final => "final",
            Self::Note => "note",
        }
    }

    /// Whether a chunk is said to cover parts of this kind: what lawyers cite first.
    #[must_use]
    pub fn is_citable(self) -> bool {
        matches!(self, Self::Article | Self::Recital | Self::Annex)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A part of an act: an article or a recital, a chapter around it, a point within it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provision {
    /// Its identifier, as in `art_5`, `rct_12`, `art_5.1.a` or `cpt_III.sct_1`: the publication's own where it has one.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// Its number as printed, as in `Article 5`, `CHAPTER II`, `1`, `(a)`.
    pub number: Option<String>,
    /// Its heading.
    pub heading: Option<String>,
    /// The parts around it, outermost first, as in `["Livre Ier. — Des personnes", "TITRE V. — Du mariage"]`.
    pub path: Vec<String>,
    /// The place of the part around it among [`Corpus::parts`](super::Corpus::parts).
    pub parent: Option<usize>,
    /// First character in the act's text.
    pub start: usize,
    /// One past its last character.
    pub end: usize,
    pub(super) bytes: (usize, usize),
}

impl Provision {
    /// Number and heading in one.
    #[must_use]
    pub fn label(&self) -> String {
        match (&self.number, &self.heading) {
            (Some(number), Some(heading)) => format!("{number} — {heading}"),
            (Some(one), None) | (None, Some(one)) => one.clone(),
            (None, None) => self.id.clone(),
        }
    }

    /// The way to it: `Livre Ier › Titre V › Chapitre VI › Art. 213`.
    #[must_use]
    pub fn breadcrumb(&self) -> String {
        let mut steps = self.path.clone();
        steps.push(self.number.clone().unwrap_or_else(|| self.label()));
        steps.join(" › ")
    }
}

/// What a reader made of a publication.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub text: String,
    pub parts: Vec<Provision>,
    /// What the publication says about itself: title, date, licence, source.
    pub about: Vec<(String, String)>,
}
