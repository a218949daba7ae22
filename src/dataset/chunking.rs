//! Cutting acts into chunks.

use std::path::{Path, PathBuf};

use unicode_segmentation::UnicodeSegmentation;

use super::Corpus;
use crate::error::{Error, Result};
use crate::table::{Chunks, FrameBuilder};

/// A recipe for cutting documents into windows of a fixed number of tokens.
///
/// Windows are strict: each begins `size - overlap` tokens after the one before, whatever sentence that cuts, and
/// the last one ends with the document. Every token is in at least one chunk.
#[derive(Debug, Clone)]
pub struct Chunking {
    size: usize,
    overlap: usize,
    tokenizer: Option<PathBuf>,
}

impl Chunking {
    /// Windows of `size` tokens of which `overlap` repeat the window before. Tokens are Unicode words and
    /// punctuation marks (UAX #29), which needs no download; ClaimRAG-LAW's 600 and 120 are counted with E5-Mistral's
    /// tokenizer, for which see [`Chunking::with_tokenizer`].
    ///
    /// # Errors
    /// When the overlap is not smaller than the size.
    pub fn tokens(size: usize, overlap: usize) -> Result<Self> {
        if size == 0 || overlap >= size {
            return Err(Error::input(format!("chunks of {size} tokens cannot overlap by {overlap}"))
                .help("choose an overlap smaller than the size, as in tokens(600, 120)"));
        }
        Ok(Self { size, overlap, tokenizer: None })
    }

    /// Counts tokens with a model's own `tokenizer.json` instead.
    #[must_use]
    pub fn with_tokenizer(mut self, tokenizer_json: impl AsRef<Path>) -> Self {
        self.tokenizer = Some(tokenizer_json.as_ref().to_owned());
        self
    }

    /// Cuts acts.
    ///
    /// # Errors
    /// When the tokenizer's file cannot be read.
    pub fn cut(&self, acts: &[Corpus]) -> Result<Chunks> {
        let mut rows = Rows::default();
        for act in acts {
            let spans = self.token_spans(act.text())?;
            for (ordinal, window) in windows(spans.len(), self.size, self.overlap).into_iter().enumerate() {
                let (Some(first), Some(last)) = (spans.get(window.0), spans.get(window.1 - 1)) else { continue };
                rows.push(act, ordinal, (first.0, last.1), window.1 - window.0);
            }
        }
        rows.finish()
    }

    /// Byte ranges of the tokens of a text.
    fn token_spans(&self, text: &str) -> Result<Vec<(usize, usize)>> {
        let Some(path) = &self.tokenizer else {
            return Ok(text
                .split_word_bound_indices()
                .filter(|(_, word)| !word.trim().is_empty())
                .map(|(start, word)| (start, start + word.len()))
                .collect());
        };
        encode(path, text)
    }
}

/// Token ranges of the windows over `n` tokens.
fn windows(n: usize, size: usize, overlap: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < n {
        let end = (start + size).min(n);
        found.push((start, end));
        if end == n {
            break;
        }
        start += size - overlap;
    }
    found
}

#[cfg(feature = "local")]
fn encode(path: &Path, text: &str) -> Result<Vec<(usize, usize)>> {
    let unreadable = |error: tokenizers::Error| {
        Error::input(format!("{} is not a tokenizer.json that can be read: {error}", path.display()))
            .help("take tokenizer.json from the model's repository")
    };
    let tokenizer = tokenizers::Tokenizer::from_file(path).map_err(unreadable)?;
    let encoding = tokenizer.encode(text, false).map_err(unreadable)?;
    // Tokens without extent (a word-begin mark alone) belong to no place in the text.
    Ok(encoding.get_offsets().iter().copied().filter(|(start, end)| end > start).collect())
}

#[cfg(not(feature = "local"))]
fn encode(_path: &Path, _text: &str) -> Result<Vec<(usize, usize)>> {
    Err(Error::feature_disabled("model tokenizers", "local"))
}

#[derive(Debug, Default)]
struct Rows {
    id: Vec<String>,
    document: Vec<String>,
    ordinal: Vec<i64>,
    start: Vec<i64>,
    end: Vec<i64>,
    n_tokens: Vec<i64>,
    text: Vec<String>,
    language: Vec<String>,
    provisions: Vec<String>,
}

impl Rows {
    /// Adds the chunk between two bytes of an act's text.
    fn push(&mut self, act: &Corpus, ordinal: usize, (from, to): (usize, usize), n_tokens: usize) {
        let Some(text) = act.text().get(from..to) else { return };
        let start = act.text().get(..from).map_or(0, |before| before.chars().count());
        let end = start + text.chars().count();
        let covered: Vec<&str> = act
            .provisions()
            .iter()
            .filter(|provision| provision.start < end && provision.end > start)
            .map(|provision| provision.id.as_str())
            .collect();
        self.id.push(format!("{}#{ordinal:04}", act.source()));
        self.document.push(act.source().to_owned());
        self.ordinal.push(ordinal as i64);
        self.start.push(start as i64);
        self.end.push(end as i64);
        self.n_tokens.push(n_tokens as i64);
        self.text.push(text.to_owned());
        self.language.push(act.language().to_owned());
        self.provisions.push(covered.join(" "));
    }

    fn finish(self) -> Result<Chunks> {
        Chunks::new(
            FrameBuilder::new()
                .text("chunk_id", &self.id)
                .text("document_id", &self.document)
                .integer("ordinal", &self.ordinal)
                .integer("start", &self.start)
                .integer("end", &self.end)
                .integer("n_tokens", &self.n_tokens)
                .text("text", &self.text)
                .text("source", &self.document)
                .text("language", &self.language)
                .text("provisions", &self.provisions)
                .build()?,
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::windows;

    proptest! {
        #[test]
        fn windows_cover_every_token_in_order(n in 0_usize..400, size in 1_usize..60, overlap in 0_usize..59) {
            prop_assume!(overlap < size);
            let found = windows(n, size, overlap);
            let mut next = 0;
            for (start, end) in found {
                prop_assert!(start <= next && end > next && end - start <= size);
                next = end;
            }
            prop_assert_eq!(next, n);
        }
    }
}
