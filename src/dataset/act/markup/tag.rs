//! A start tag, as readers see it.

use html5ever::{Attribute, LocalName, tokenizer};

use super::plain;

/// A start tag.
pub(in crate::dataset::act) struct Tag<'a> {
    pub name: LocalName,
    attributes: Attributes<'a>,
}

enum Attributes<'a> {
    /// As written. Most are never asked for, so they are read when they are.
    Plain(&'a str),
    Tokenized(&'a [Attribute]),
}

impl<'a> Tag<'a> {
    /// A tag whose attributes are plain.
    pub(super) fn plain(name: LocalName, attributes: &'a str) -> Self {
        Self { name, attributes: Attributes::Plain(attributes) }
    }

    /// A tag that html5ever has read.
    pub(super) fn tokenized(tag: &'a tokenizer::Tag) -> Self {
        Self { name: tag.name.clone(), attributes: Attributes::Tokenized(&tag.attrs) }
    }

    /// The value of an attribute by its full name in lower case (`id`, `scl:separator`).
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        match self.attributes {
            // Of attributes that have one name the first counts; names are read without regard to case.
            Attributes::Plain(written) => {
                plain::attributes(written).find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
            }
            Attributes::Tokenized(attributes) => {
                attributes.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
            }
        }
    }
}
