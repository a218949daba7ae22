//! HTML of any size, paragraph by paragraph.

use std::io::Read;

use encoding_rs::{CoderResult, UTF_8};

use super::html::Page;
use super::markup::Feed;
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
    let mut feed = Feed::new(Page::default(), false);
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
        for line in feed.with(Page::take_lines) {
            each(&line)?;
        }
        if read == 0 {
            let mut page = feed.finish();
            for line in page.take_all() {
                each(&line)?;
            }
            return Ok(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
