//! What an index is made of: every term with the passages that hold it, gathered passage by passage.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::retrieval::analyzer::Terms;
use crate::retrieval::{Analyzer, Passage};
use crate::signal::{self, Progress};

/// Passages that an index holds at most: tantivy's documents have numbers below this one.
const MOST: u32 = i32::MAX as u32;

/// Terms, their postings and the passages' lengths.
#[derive(Debug, Default)]
pub(super) struct Inversion {
    places: HashMap<Box<str>, usize>,
    postings: Vec<Postings>,
    /// How often each term stands in the passage that is being added.
    counts: Vec<u32>,
    /// The terms of that passage, each once.
    present: Vec<usize>,
    /// How many terms that passage has so far.
    length: u32,
    /// How many terms each passage has.
    lengths: Vec<u32>,
}

/// The passages that hold a term, in order, and how often each does: two numbers a passage, in bytes of seven bits as
/// Lucene packs them. The first says how many passages were left out, doubled, and one more if the term stands there
/// once, when there is no second number.
#[derive(Debug, Default)]
pub(super) struct Postings {
    bytes: Vec<u8>,
    next: u32,
    documents: u32,
}

impl Inversion {
    /// Reads passages, whose numbers are their places.
    ///
    /// # Errors
    /// When it is interrupted, or there are more passages than tantivy has numbers for.
    pub(super) fn of(passages: &[Arc<Passage>], analyzer: Analyzer) -> Result<Self> {
        let progress = Progress::new("Indexing", passages.len());
        let mut inversion = Self::default();
        let mut buffer = Terms::default();
        for (number, passage) in passages.iter().enumerate() {
            if number % 1024 == 0 {
                signal::check("the index is not kept")?;
            }
            analyzer.each_term(&passage.text, &mut buffer, &mut |term| inversion.term(term));
            inversion.end_passage()?;
            progress.advance(1);
        }
        Ok(inversion)
    }

    /// Counts a term of the passage that is being read.
    fn term(&mut self, term: &str) {
        self.length += 1;
        let place = match self.places.get(term) {
            Some(place) => *place,
            None => {
                self.places.insert(term.into(), self.postings.len());
                self.postings.push(Postings::default());
                self.counts.push(0);
                self.postings.len() - 1
            }
        };
        let Some(count) = self.counts.get_mut(place) else { return };
        if *count == 0 {
            self.present.push(place);
        }
        *count += 1;
    }

    /// Ends a passage, whose number is that of the passages before it.
    fn end_passage(&mut self) -> Result<()> {
        let document = u32::try_from(self.lengths.len())
            .ok()
            .filter(|document| *document < MOST)
            .ok_or_else(|| Error::input("one BM25 index holds 2,147,483,647 passages at most"))?;
        self.lengths.push(std::mem::take(&mut self.length));
        for place in self.present.drain(..) {
            if let (Some(count), Some(postings)) = (self.counts.get_mut(place), self.postings.get_mut(place)) {
                postings.push(document, std::mem::take(count));
            }
        }
        Ok(())
    }

    /// How many terms each passage has.
    pub(super) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// All terms in the order of their bytes.
    pub(super) fn sorted(&self) -> Vec<(&str, &Postings)> {
        let found = |(term, place): (_, &usize)| self.postings.get(*place).map(|postings| (term, postings));
        let mut terms: Vec<_> = self.places.iter().filter_map(|(term, place)| found((&**term, place))).collect();
        terms.sort_unstable_by_key(|(term, _)| *term);
        terms
    }
}

impl Postings {
    fn push(&mut self, document: u32, count: u32) {
        let gap = u64::from(document - self.next) << 1;
        self.next = document + 1;
        self.documents += 1;
        if count == 1 {
            self.pack(gap | 1);
        } else {
            self.pack(gap);
            self.pack(u64::from(count));
        }
    }

    fn pack(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// How many passages hold the term.
    pub(super) fn documents(&self) -> u32 {
        self.documents
    }

    /// Every passage that holds the term, and how often.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let mut bytes = self.bytes.iter();
        let mut next = 0;
        std::iter::from_fn(move || {
            let first = unpack(&mut bytes)?;
            let document = next + (first >> 1) as u32;
            next = document + 1;
            let count = if first & 1 == 1 { 1 } else { unpack(&mut bytes)? as u32 };
            Some((document, count))
        })
    }
}

fn unpack(bytes: &mut std::slice::Iter<'_, u8>) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.next()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_sorted_and_counted() {
        let mut inversion = Inversion::default();
        for text in ["the lease and the tenant", "", "tenant", "the the the"] {
            text.split_whitespace().for_each(|term| inversion.term(term));
            inversion.end_passage().unwrap();
        }
        let found: Vec<(&str, u32, Vec<(u32, u32)>)> =
            inversion.sorted().iter().map(|(term, all)| (*term, all.documents(), all.iter().collect())).collect();
        assert_eq!(
            found,
            [
                ("and", 1, vec![(0, 1)]),
                ("lease", 1, vec![(0, 1)]),
                ("tenant", 2, vec![(0, 1), (2, 1)]),
                ("the", 2, vec![(0, 2), (3, 3)]),
            ]
        );
        assert_eq!(inversion.lengths(), [5, 0, 1, 3]);
    }

    #[test]
    fn large_numbers_are_kept() {
        let all = [(0, 1), (63, 2), (64, 127), (64 + 128, 128), (1 << 20, 1 << 21), (MOST - 1, u32::MAX)];
        let mut postings = Postings::default();
        for (document, count) in all {
            postings.push(document, count);
        }
        assert_eq!(postings.iter().collect::<Vec<_>>(), all);
    }
}
