//! HTML and XML as a flat sequence of tags and text. Nothing is kept, so that files of any size pass in the memory of one
//! buffer.
//!
//! html5ever's tokenizer reads all that is odd, by the standard's rules. What is plain, which is nearly everything, is read
//! in place and several times faster ([`plain`]); tests compare the two on random markup.

mod plain;
mod sink;
mod tag;
#[cfg(test)]
mod tests;

use html5ever::LocalName;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, Tokenizer, TokenizerOpts};

use sink::Sink;
pub(super) use tag::Tag;

/// What reads the sequence.
pub(super) trait Reader {
    /// A tag opens; `is_empty` when it also closes.
    fn open(&mut self, tag: &Tag, is_empty: bool);
    /// A tag closes.
    fn close(&mut self, name: &LocalName);
    /// Text with entities resolved.
    fn text(&mut self, text: &str);
}

/// Feeds pieces of markup to a reader.
pub(super) struct Feed<R: Reader> {
    tokenizer: Tokenizer<Sink<R>>,
    queue: BufferQueue,
    /// Whether the tokenizer is in the standard's data state and holds nothing back, so that it may be passed by.
    is_in_data: bool,
    has_begun: bool,
    /// Whether the last piece ended in a carriage return, of which a line feed may be part.
    is_after_return: bool,
}

impl<R: Reader> Feed<R> {
    /// With `is_xml`, `<x/>` closes, CDATA is text and `<title>` is an element like others.
    pub fn new(reader: R, is_xml: bool) -> Self {
        // The tokenizer would discard a byte order mark from every piece.
        let options = TokenizerOpts { discard_bom: false, ..TokenizerOpts::default() };
        Self {
            tokenizer: Tokenizer::new(Sink::new(reader, is_xml), options),
            queue: BufferQueue::default(),
            is_in_data: true,
            has_begun: false,
            is_after_return: false,
        }
    }

    /// Adds a piece; pieces may be cut anywhere between characters.
    pub fn push(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        let mut rest = piece;
        if !std::mem::replace(&mut self.has_begun, true) {
            rest = rest.strip_prefix('\u{feff}').unwrap_or(rest);
        }
        if std::mem::take(&mut self.is_after_return) {
            rest = rest.strip_prefix('\n').unwrap_or(rest);
        }
        while !rest.is_empty() {
            if self.is_in_data {
                let is_xml = self.tokenizer.sink.is_xml;
                rest = plain::read(rest, self.tokenizer.sink.reader.get_mut(), is_xml);
            }
            rest = self.tokenize(rest);
        }
        self.is_after_return = self.is_in_data && piece.ends_with('\r');
    }

    /// Hands what begins a text to the tokenizer, up to the next `>`; returns the rest.
    ///
    /// All tags, comments and doctypes end in a `>` and lead to the data state, except for the start tags of raw text. One
    /// that was seen in what ends in its only `>` has thus ended right there, with nothing held back.
    fn tokenize<'a>(&mut self, text: &'a str) -> &'a str {
        if text.is_empty() {
            return text;
        }
        let end = memchr::memchr(b'>', text.as_bytes()).map_or(text.len(), |at| at + 1);
        // A tendril holds 4 GiB at most.
        let cut = text.floor_char_boundary(end.min(1 << 20));
        let (construct, rest) = text.split_at(cut);
        self.tokenizer.sink.has_ended.set(false);
        self.queue.push_back(StrTendril::from_slice(construct));
        let _ = self.tokenizer.feed(&self.queue);
        self.is_in_data = self.tokenizer.sink.has_ended.get();
        rest
    }

    /// The reader, to look at what it made so far.
    pub fn with<T>(&mut self, look: impl FnOnce(&mut R) -> T) -> T {
        look(self.tokenizer.sink.reader.get_mut())
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
