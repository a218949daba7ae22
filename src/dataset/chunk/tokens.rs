//! Tokens of a text as byte ranges.

use std::path::Path;

use unicode_segmentation::UnicodeSegmentation;

use crate::error::{Error, Result};

/// What counts tokens.
pub(super) enum Counter {
    Words,
    #[cfg(feature = "local")]
    Model(Box<tokenizers::Tokenizer>, String),
}

impl Counter {
    #[cfg(feature = "local")]
    pub fn new(tokenizer_json: Option<&Path>) -> Result<Self> {
        let Some(path) = tokenizer_json else { return Ok(Self::Words) };
        let mut tokenizer = tokenizers::Tokenizer::from_file(path).map_err(|error| unreadable(path, &error))?;
        // Files made for inference cut and pad; here the whole text counts.
        tokenizer.with_truncation(None).map_err(|error| unreadable(path, &error))?;
        tokenizer.with_padding(None);
        Ok(Self::Model(Box::new(tokenizer), path.display().to_string()))
    }

    #[cfg(not(feature = "local"))]
    pub fn new(tokenizer_json: Option<&Path>) -> Result<Self> {
        match tokenizer_json {
            None => Ok(Self::Words),
            Some(_) => Err(Error::feature_disabled("model tokenizers", "local")),
        }
    }

    fn spans(&self, text: &str) -> Result<Vec<(usize, usize)>> {
        match self {
            Self::Words => Ok(text
                .split_word_bound_indices()
                .filter(|(_, word)| !word.trim().is_empty())
                .map(|(start, word)| (start, start + word.len()))
                .collect()),
            #[cfg(feature = "local")]
            Self::Model(tokenizer, path) => {
                let encoding =
                    tokenizer.encode_fast(text, false).map_err(|error| unreadable(Path::new(path), &error))?;
                // Tokens without extent (a word-begin mark alone) belong to no place in the text.
                Ok(encoding.get_offsets().iter().copied().filter(|(start, end)| end > start).collect())
            }
        }
    }
}

#[cfg(feature = "local")]
fn unreadable(path: &Path, error: &tokenizers::Error) -> Error {
    Error::input(format!("{} is not a tokenizer.json that can be read: {error}", path.display()))
        .help("take tokenizer.json from the model's repository")
}

/// The tokens of one text in order.
pub(super) struct Tokens(Vec<(usize, usize)>);

impl Tokens {
    pub fn of(counter: &Counter, text: &str) -> Result<Self> {
        Ok(Self(counter.spans(text)?))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Bytes of the tokens `from..to`.
    pub fn bytes(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        Some((self.0.get(from)?.0, self.0.get(to.checked_sub(1)?)?.1))
    }

    /// Which tokens begin within some bytes.
    pub fn within(&self, (from, to): (usize, usize)) -> (usize, usize) {
        (self.0.partition_point(|token| token.0 < from), self.0.partition_point(|token| token.0 < to))
    }

    /// How many tokens begin within some bytes.
    pub fn count(&self, bytes: (usize, usize)) -> usize {
        let (first, last) = self.within(bytes);
        last.saturating_sub(first)
    }
}

#[cfg(all(test, feature = "local"))]
mod tests {
    use super::*;

    #[test]
    fn a_models_tokenizer_counts_the_whole_text_with_byte_offsets() {
        let Some(path) = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/vectors/parity"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path().join("tokenizer.json"))
            .find(|path| path.is_file())
        else {
            println!("SKIPPED: no tokenizer.json beside the checkout");
            return;
        };
        let counter = Counter::new(Some(&path)).unwrap();
        let text = "L'État protège l'œuvre; the controller shall. ".repeat(400);
        let tokens = Tokens::of(&counter, &text).unwrap();
        assert!(tokens.len() > 2000, "{}", tokens.len());
        for place in 0..tokens.len() {
            let (from, to) = tokens.bytes(place, place + 1).unwrap();
            assert!(text.get(from..to).is_some(), "{from}..{to}");
        }
        assert!(Counter::new(Some(Path::new("/nowhere/tokenizer.json"))).is_err());
    }
}
