//! HTML and XML as a flat sequence of tags and text, by html5ever's tokenizer. Nothing is kept, so that files of any
//! size pass in the memory of one buffer.

use std::cell::{Cell, RefCell};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::{LocalName, local_name};

/// What reads the sequence.
pub(super) trait Reader {
    /// A tag opens; `is_empty` when it also closes.
    fn open(&mut self, tag: &Tag, is_empty: bool);
    /// A tag closes.
    fn close(&mut self, name: &LocalName);
    /// Text with entities resolved.
    fn text(&mut self, text: &str);
}

/// The value of an attribute by its full name (`id`, `scl:separator`).
pub(super) fn attribute<'a>(tag: &'a Tag, name: &str) -> Option<&'a str> {
    tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
}

struct Sink<R> {
    reader: RefCell<R>,
    is_xml: Cell<bool>,
}

impl<R: Reader> TokenSink for Sink<R> {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut reader = self.reader.borrow_mut();
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                let is_xml = self.is_xml.get();
                reader.open(&tag, tag.self_closing && is_xml || !is_xml && is_void(&tag.name));
                if !is_xml {
                    return raw(&tag.name).map_or(TokenSinkResult::Continue, TokenSinkResult::RawData);
                }
            }
            Token::TagToken(tag) => reader.close(&tag.name),
            Token::CharacterTokens(text) => reader.text(&text),
            Token::NullCharacterToken => reader.text("\u{fffd}"),
            _ => {}
        }
        TokenSinkResult::Continue
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        // CDATA sections are text in XML.
        self.is_xml.get()
    }
}

/// Elements whose content is no markup in HTML.
fn raw(name: &LocalName) -> Option<RawKind> {
    match *name {
        local_name!("script") => Some(RawKind::ScriptData),
        local_name!("style") | local_name!("xmp") | local_name!("noframes") => Some(RawKind::Rawtext),
        local_name!("title") | local_name!("textarea") => Some(RawKind::Rcdata),
        _ => None,
    }
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

/// Feeds pieces of markup to a reader.
pub(super) struct Feed<R: Reader> {
    tokenizer: Tokenizer<Sink<R>>,
    queue: BufferQueue,
}

impl<R: Reader> Feed<R> {
    /// With `is_xml`, `<x/>` closes, CDATA is text and `<title>` is an element like others.
    pub fn new(reader: R, is_xml: bool) -> Self {
        let sink = Sink { reader: RefCell::new(reader), is_xml: Cell::new(is_xml) };
        let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
        Self { tokenizer, queue: BufferQueue::default() }
    }

    /// Adds a piece; pieces may be cut anywhere between characters.
    pub fn push(&mut self, piece: &str) {
        // A tendril holds 4 GiB at most.
        let mut rest = piece;
        while !rest.is_empty() {
            let mut cut = rest.len().min(1 << 20);
            while !rest.is_char_boundary(cut) {
                cut += 1;
            }
            let (head, tail) = rest.split_at(cut);
            self.queue.push_back(StrTendril::from_slice(head));
            let _ = self.tokenizer.feed(&self.queue);
            rest = tail;
        }
    }

    /// The reader, to look at what it made so far.
    pub fn with<T>(&self, look: impl FnOnce(&mut R) -> T) -> T {
        look(&mut self.tokenizer.sink.reader.borrow_mut())
    }

    /// Ends the input and gives the reader back.
    pub fn finish(self) -> R {
        self.tokenizer.end();
        self.tokenizer.sink.reader.into_inner()
    }
}

/// Whether a page calls itself XML.
pub(super) fn is_xml(text: &str) -> bool {
    text.trim_start().starts_with("<?xml")
}

/// Reads a whole text.
pub(super) fn read<R: Reader>(text: &str, reader: R, is_xml: bool) -> R {
    let mut feed = Feed::new(reader, is_xml);
    feed.push(text);
    feed.finish()
}
