//! Cutting acts into chunks, and finding again in chunks what a benchmark calls relevant.

mod align;
mod recipe;
mod relevance;
mod rows;
mod tokens;

use std::path::{Path, PathBuf};

pub use relevance::Relevance;

use super::Corpus;
use crate::error::{Error, Result};
use crate::signal;
use crate::table::Chunks;
use recipe::Recipe;
use rows::Rows;
use tokens::{Counter, Tokens};

/// A recipe for cutting documents into chunks.
///
/// Whatever the recipe, chunks are slices of the act's text with their offsets in characters, know how many tokens they
/// hold and which articles and recitals they touch.
#[derive(Debug, Clone)]
pub struct Chunking {
    recipe: Recipe,
    tokenizer: Option<PathBuf>,
}

impl Chunking {
    /// Strict windows of `size` tokens of which `overlap` repeat the window before: each begins `size - overlap` tokens
    /// after the one before, whatever sentence that cuts, and the last one ends with the document. Tokens are Unicode
    /// words and punctuation marks (UAX #29), which needs no download; ClaimRAG-LAW's 600 and 120 (Section 4.2) are
    /// counted with E5-Mistral's tokenizer, for which see [`Chunking::with_tokenizer`].
    ///
    /// # Errors
    /// When the overlap is not smaller than the size.
    ///
    /// ```
    /// use claimlab::prelude::*;
    /// let act = Corpus::from_text("act", "en", "One two three four five six seven.")?;
    /// let chunks = Chunking::tokens(4, 1)?.cut(&[act])?;
    /// let texts = claimlab::table::texts(chunks.frame(), "text")?;
    /// assert_eq!(texts[1].as_deref(), Some("four five six seven"));
    /// assert!(Chunking::tokens(120, 600).is_err());
    /// # Ok::<(), claimlab::Error>(())
    /// ```
    pub fn tokens(size: usize, overlap: usize) -> Result<Self> {
        if size == 0 || overlap >= size {
            return Err(Error::input(format!("chunks of {size} tokens cannot overlap by {overlap}"))
                .help("choose an overlap smaller than the size, as in tokens(600, 120)"));
        }
        Ok(Self::of(Recipe::Windows { size, overlap }))
    }

    /// Whole sentences up to `size` tokens; the next chunk repeats the last sentences of at most `size × ratio` tokens.
    /// RAGChecker's script means this by 600 tokens with ratio 0.2. A sentence longer than a chunk is cut into windows.
    ///
    /// # Errors
    /// When the ratio is not in [0, 1).
    pub fn sentences(size: usize, ratio: f64) -> Result<Self> {
        if size == 0 || !(0.0..1.0).contains(&ratio) {
            return Err(Error::input(format!("chunks of {size} tokens cannot overlap by the ratio {ratio}"))
                .help("choose a ratio from 0 to below 1, as in sentences(600, 0.2)"));
        }
        Ok(Self::of(Recipe::Sentences { size, overlap: (size as f64 * ratio) as usize }))
    }

    /// Units of adjacent paragraphs, merged to `target` ± `tolerance` tokens, each paragraph in exactly one unit. Among
    /// the places that fit, a unit ends where an article or recital begins. A paragraph is never cut.
    ///
    /// ClaimRAG-LAW describes its context units as the `<p>` elements of the act, and as about 1,300 ± 200 tokens long
    /// (Appendix A.1); a `<p>` of the GDPR has 200 characters in the median, so both hold only if
    /// paragraphs are merged. This is `context_units(1300, 200)`; the first reading is [`Chunking::lines`].
    ///
    /// # Errors
    /// When the tolerance is not below the target.
    pub fn context_units(target: usize, tolerance: usize) -> Result<Self> {
        if target == 0 || tolerance >= target {
            return Err(Error::input(format!("units of {target} tokens cannot vary by {tolerance}"))
                .help("choose a tolerance below the target, as in context_units(1300, 200)"));
        }
        Ok(Self::of(Recipe::Units { target, tolerance }))
    }

    /// One chunk a paragraph of the publication (`<p>`; an enumerator and its text are one).
    #[must_use]
    pub fn lines() -> Self {
        Self::of(Recipe::Lines)
    }

    /// One chunk a numbered paragraph with its points; what has no number is cut by [`Chunking::lines`].
    #[must_use]
    pub fn paragraphs() -> Self {
        Self::of(Recipe::Paragraphs)
    }

    /// One chunk an article, recital or annex; what is in none (titles, signatures, notes) is one chunk a stretch.
    #[must_use]
    pub fn articles() -> Self {
        Self::of(Recipe::Articles)
    }

    fn of(recipe: Recipe) -> Self {
        Self { recipe, tokenizer: None }
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
        let counter = Counter::new(self.tokenizer.as_deref())?;
        let progress = signal::Progress::new("Cutting acts", acts.len());
        let mut rows = Rows::default();
        for act in acts {
            signal::check("nothing is lost: acts are cut again in a moment")?;
            let tokens = Tokens::of(&counter, act.text())?;
            rows.add(act, &tokens, &self.recipe.cut(act, &tokens));
            progress.advance(1);
        }
        rows.finish()
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
