//! HTML of any size, paragraph by paragraph.

use std::io::Read;

use encoding_rs::{CoderResult, UTF_8};
use html5ever::LocalName;

use super::html::{Effect, effect, ends_line};
use super::markup::{Feed, Reader, Tag};
use super::spacing::{Gap, Run, runs};
use crate::error::{Error, Result};
use crate::signal;

/// How much is read at a time.
const BLOCK: usize = 256 << 10;

/// Reads HTML (UTF-8) from a stream and hands every paragraph on as soon as it is complete, so that the memory used does
/// not grow with the input. Returns how many bytes were read.
///
/// # Errors
/// When the stream fails, `each` fails, or the user interrupts.
pub(in crate::dataset) fn stream(input: &mut dyn Read, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<u64> {
    let mut feed = Feed::new(Paragraphs::default(), false);
    let mut decoder = UTF_8.new_decoder_with_bom_removal();
    let mut block = vec![0; BLOCK];
    let mut text = String::with_capacity(BLOCK + 16);
    let mut bytes = 0;
    loop {
        signal::check("what was handed on stays with its receiver")?;
        let read = input.read(&mut block).map_err(|error| Error::io("reading HTML", &error))?;
        bytes += read as u64;
        let mut rest = block.get(..read).unwrap_or_default();
        loop {
            text.clear();
            let (result, used, _) = decoder.decode_to_string(rest, &mut text, read == 0);
            rest = rest.get(used..).unwrap_or_default();
            feed.push(&text);
            if result == CoderResult::InputEmpty {
                break;
            }
        }
        feed.with(|paragraphs| paragraphs.hand_on(each))?;
        if read == 0 {
            let mut paragraphs = feed.finish();
            paragraphs.gap = Gap::Line;
            paragraphs.hand_on(each)?;
            return Ok(bytes);
        }
    }
}

/// The lines of a page, as [`super::html::parse`] finds them, but no parts.
#[derive(Debug, Default)]
struct Paragraphs {
    /// What was not handed on yet.
    text: String,
    /// Where its last line begins.
    last: usize,
    gap: Gap,
    hidden: Option<LocalName>,
}

impl Reader for Paragraphs {
    fn open(&mut self, tag: &Tag, is_empty: bool) {
        if self.hidden.is_some() {
            return;
        }
        match effect(&tag.name, is_empty) {
            Effect::Nothing => {}
            Effect::Space => self.gap = self.gap.max(Gap::Space),
            Effect::Hide => self.hidden = Some(tag.name.clone()),
            Effect::Line | Effect::Heading(_) => self.gap = Gap::Line,
        }
    }

    fn close(&mut self, name: &LocalName) {
        if self.hidden.as_ref() == Some(name) {
            self.hidden = None;
        } else if self.hidden.is_none() && ends_line(name) {
            self.gap = Gap::Line;
        }
    }

    fn text(&mut self, text: &str) {
        if self.hidden.is_some() {
            return;
        }
        for run in runs(text) {
            match run {
                Run::Space => self.gap = self.gap.max(Gap::Space),
                Run::Words(words) => self.push(words),
            }
        }
    }
}

impl Paragraphs {
    fn push(&mut self, words: &str) {
        let gap = std::mem::take(&mut self.gap);
        if !self.text.is_empty() {
            match gap {
                Gap::None => {}
                Gap::Space => self.text.push(' '),
                Gap::Line => {
                    self.text.push('\n');
                    self.last = self.text.len();
                }
            }
        }
        self.text.push_str(words);
    }

    /// Hands on the lines that are finished. The last is, if what comes begins another.
    fn hand_on(&mut self, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        let finished = if self.gap == Gap::Line { self.text.len() } else { self.last };
        for line in self.text.get(..finished).unwrap_or_default().lines() {
            each(line)?;
        }
        self.text.drain(..finished);
        self.last = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives a few bytes at a time.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let end = buffer.len().min(self.1);
            self.0.read(&mut buffer[..end])
        }
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_they_arrive(
            html in "(<p>|</p>|<h1>|</h1>|<b>|</b>|<br/>|<td>|<script>|</script>|</title>|<title>|a|é|&nbsp;|&#38;| |\n){0,30}",
            step in 1_usize..9,
        ) {
            let mut lines = Vec::new();
            let mut keep = |line: &str| {
                lines.push(line.to_owned());
                Ok(())
            };
            let bytes = stream(&mut Trickle(html.as_bytes(), step), &mut keep).unwrap();
            prop_assert_eq!(bytes as usize, html.len());
            prop_assert_eq!(lines.join("\n"), super::super::html::parse(&html).text);
        }
    }

    #[test]
    fn a_stream_gives_the_paragraphs_that_the_whole_text_has() {
        let html: String =
            (0..5000).map(|n| format!("<h2>Titre {n}</h2><p>Texte é <b>{n}</b> &amp; suite</p>\n")).collect();
        let mut lines = Vec::new();
        let bytes = stream(&mut html.as_bytes(), &mut |line| {
            lines.push(line.to_owned());
            Ok(())
        })
        .unwrap();
        assert_eq!(bytes as usize, html.len());
        let whole = super::super::html::parse(&html).text;
        assert_eq!(lines.join("\n"), whole);
    }
}
