//! Random indexing: vectors without learning.

use std::hash::Hasher;

use candle_core::{DType, Device, Tensor};
use candle_nn::{Embedding, Module};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use crate::error::{Error, ErrorKind, Result};
use crate::model::Embed;

/// Rows of the table of random vectors; features share rows by their hash.
const ROWS: usize = 1 << 15;
/// Length of a vector.
const WIDTH: usize = 256;
/// Letters of the word beginnings that stand beside whole words, so that inflected forms meet.
const STEM: usize = 5;

/// An embedder that maps every word, and the beginning of every longer one, to a fixed random vector, and a text to
/// the mean of its words' vectors (random indexing: Kanerva, Kristoferson and Holst 2000; Sahlgren 2005).
///
/// Nearby vectors mean shared words and nothing deeper: an honest floor for dense retrieval, which needs no download.
#[derive(Debug)]
pub struct RandomIndexing {
    table: Embedding,
    seed: u64,
}

impl RandomIndexing {
    /// A table drawn from this seed.
    ///
    /// # Errors
    /// When the table cannot be allocated.
    pub fn new(seed: u64) -> Result<Self> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut values = vec![0_f32; ROWS * WIDTH];
        for value in &mut values {
            // Sums of uniform numbers are near enough to normal here; only the directions matter.
            *value = (0..4).map(|_| rand::Rng::random_range(&mut random, -1.0_f32..1.0)).sum();
        }
        let table = Tensor::from_vec(values, (ROWS, WIDTH), &Device::Cpu).map_err(failed)?;
        Ok(Self { table: Embedding::new(table, WIDTH), seed })
    }

    fn one(&self, text: &str) -> candle_core::Result<Vec<f32>> {
        let rows = features(text);
        if rows.is_empty() {
            return Ok(vec![0.0; WIDTH]);
        }
        let length = rows.len();
        let rows = Tensor::from_vec(rows, length, &Device::Cpu)?;
        let mean = self.table.forward(&rows)?.to_dtype(DType::F32)?.mean(0)?;
        let norm = mean.sqr()?.sum_all()?.sqrt()?.to_scalar::<f32>()?;
        mean.affine(if norm > 0.0 { f64::from(norm).recip() } else { 0.0 }, 0.0)?.to_vec1()
    }
}

fn failed(error: candle_core::Error) -> Error {
    Error::new(ErrorKind::Internal, format!("embedding by random indexing failed: {error}"))
}

/// Table rows of a text's features. Words of one or two letters carry no content in English or French.
fn features(text: &str) -> Vec<u32> {
    let plain: String = text.nfd().filter(|letter| !is_combining_mark(*letter)).flat_map(char::to_lowercase).collect();
    let mut rows = Vec::new();
    for word in plain.unicode_words().flat_map(|word| word.split(['\'', '\u{2019}'])) {
        let letters = word.chars().count();
        if letters > 2 || word.chars().all(|letter| letter.is_ascii_digit()) {
            rows.push(row(word, "word"));
        }
        if letters > STEM {
            rows.push(row(&word.chars().take(STEM).collect::<String>(), "beginning"));
        }
    }
    rows
}

/// FNV-1a, which is the same on every machine.
fn row(word: &str, kind: &str) -> u32 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    hasher.write(kind.as_bytes());
    hasher.write(word.as_bytes());
    (hasher.finish() % ROWS as u64) as u32
}

struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl Embed for RandomIndexing {
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        texts.iter().map(|text| self.one(text).map_err(failed)).collect()
    }

    fn spec(&self) -> Value {
        json!({"embedder": "random_indexing", "rows": ROWS, "width": WIDTH, "stem": STEM, "seed": self.seed})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_words_bring_texts_together_in_french_too() -> Result<()> {
        let model = RandomIndexing::new(7)?;
        let texts = ["l'employeur notifie la violation", "La notification par l’employeur", "usufruit du verger", ""];
        let vectors = model.embed(&texts.map(str::to_owned))?;
        let dot = |a: usize, b: usize| -> f32 { vectors[a].iter().zip(&vectors[b]).map(|(x, y)| x * y).sum() };
        assert!((dot(0, 0) - 1.0).abs() < 1e-4);
        assert!(dot(0, 1) > dot(0, 2) + 0.2);
        assert!(vectors[3].iter().all(|value| *value == 0.0));
        Ok(())
    }
}
