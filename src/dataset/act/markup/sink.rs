//! What html5ever's tokenizer finds, handed to a reader.

use std::cell::{Cell, RefCell};

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::{LocalName, local_name};

use super::{Reader, Tag};

pub(super) struct Sink<R> {
    pub reader: RefCell<R>,
    pub is_xml: bool,
    /// Whether a tag, comment or doctype has ended, and the data state follows it.
    pub has_ended: Cell<bool>,
}

impl<R> Sink<R> {
    pub fn new(reader: R, is_xml: bool) -> Self {
        Self { reader: RefCell::new(reader), is_xml, has_ended: Cell::new(false) }
    }
}

impl<R: Reader> TokenSink for Sink<R> {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut reader = self.reader.borrow_mut();
        match token {
            Token::TagToken(tag) => {
                let raw = if self.is_xml { None } else { raw(&tag.name) };
                if tag.kind == TagKind::EndTag {
                    reader.close(&tag.name);
                } else {
                    reader.open(&Tag::tokenized(&tag), is_empty(&tag.name, tag.self_closing, self.is_xml));
                    if let Some(raw) = raw {
                        return TokenSinkResult::RawData(raw);
                    }
                }
                self.has_ended.set(true);
            }
            Token::CommentToken(_) | Token::DoctypeToken(_) => self.has_ended.set(true),
            Token::CharacterTokens(text) => reader.text(&text),
            Token::NullCharacterToken => reader.text("\u{fffd}"),
            Token::EOFToken | Token::ParseError(_) => {}
        }
        TokenSinkResult::Continue
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        // CDATA sections are text in XML.
        self.is_xml
    }
}

/// Elements whose content is no markup in HTML.
pub(super) fn raw(name: &LocalName) -> Option<RawKind> {
    match *name {
        local_name!("script") => Some(RawKind::ScriptData),
        local_name!("style") | local_name!("xmp") | local_name!("noframes") => Some(RawKind::Rawtext),
        local_name!("title") | local_name!("textarea") => Some(RawKind::Rcdata),
        _ => None,
    }
}

/// Whether a start tag is all there is of its element.
pub(super) fn is_empty(name: &LocalName, is_self_closing: bool, is_xml: bool) -> bool {
    if is_xml { is_self_closing } else { is_void(name) }
}

/// Elements that have no end tag in HTML.
fn is_void(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("br")
            | local_name!("col")
            | local_name!("hr")
            | local_name!("img")
            | local_name!("meta")
            | local_name!("link")
            | local_name!("input")
            | local_name!("wbr")
            | local_name!("area")
            | local_name!("base")
            | local_name!("embed")
            | local_name!("source")
            | local_name!("track")
    )
}
