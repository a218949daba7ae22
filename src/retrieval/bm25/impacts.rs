//! Exact top-k over postings whose share of the score is computed beforehand.
//!
//! Sixteen passages make a block, and every frequent term knows the greatest share it has in each block, in one byte
//! (Block-Max Pruning: Mallia, Suel and Tonellotto 2024, "Faster learned sparse retrieval with block-max pruning"). The
//! bounds of a question's terms are added up for all blocks at once; blocks of the highest bounds are scored first, and of
//! the others only those that can still hold one of the best `k`. Passages are scored in full, in the question's own
//! order of terms, so that the result is the one of scoring every passage.

use std::ops::Range;

use crate::retrieval::acts::Hit;
use crate::retrieval::topk::TopK;

/// Passages of a block.
const BLOCK: usize = 16;
/// A term that occurs in fewer passages than there are blocks, divided by this, has no bytes: its postings are read.
const RARE: usize = 4;
/// Steps of a share in one byte.
const LEVELS: f32 = 255.0;
/// How finely the first blocks are chosen.
const BINS: usize = 256;

/// Postings of all terms, one term after the other, each in the order of the passages.
#[derive(Debug, Default)]
pub(super) struct Impacts {
    passages: Vec<u32>,
    /// What the term adds to the score of the passage at the same place, for one occurrence in a question.
    shares: Vec<f32>,
    /// Where each term begins; one more entry than terms.
    begins: Vec<usize>,
    /// Of each term, its greatest share.
    greatest: Vec<f32>,
    /// Of each frequent term, its greatest share in every block as a part of its greatest, rounded up, and where that
    /// begins in `levels`.
    levels: Vec<u8>,
    levels_of: Vec<Option<usize>>,
    n_blocks: usize,
}

/// One term of a question while it is answered.
struct Cursor {
    weight: f64,
    postings: Range<usize>,
    /// Postings before this one lie before the current block.
    at: usize,
}

impl Impacts {
    /// Empty, for this many passages.
    pub(super) fn new(passages: usize) -> Self {
        Self { begins: vec![0], n_blocks: passages.div_ceil(BLOCK), ..Self::default() }
    }

    /// Adds the next term's postings, in the order of the passages.
    pub(super) fn push(&mut self, postings: impl Iterator<Item = (u32, f32)>) {
        let begin = self.passages.len();
        for (passage, share) in postings {
            self.passages.push(passage);
            self.shares.push(share);
        }
        let (passages, shares) = (&self.passages[begin..], &self.shares[begin..]);
        let greatest = shares.iter().copied().fold(0.0, f32::max);
        self.greatest.push(greatest);
        if passages.len() * RARE >= self.n_blocks && greatest > 0.0 {
            let first = self.levels.len();
            self.levels_of.push(Some(first));
            self.levels.resize(first + self.n_blocks, 0);
            let levels = &mut self.levels[first..];
            let scale = LEVELS / greatest;
            for (passage, share) in passages.iter().zip(shares) {
                let level = &mut levels[*passage as usize / BLOCK];
                *level = (*level).max((share * scale).ceil() as u8);
            }
        } else {
            self.levels_of.push(None);
        }
        self.begins.push(self.passages.len());
    }

    /// Gives back what growing took in excess.
    pub(super) fn finish(mut self) -> Self {
        self.passages.shrink_to_fit();
        self.shares.shrink_to_fit();
        self.levels.shrink_to_fit();
        self
    }

    pub(super) fn bytes(&self) -> u64 {
        let numbers = self.passages.len() + self.shares.len() + self.greatest.len();
        (numbers * 4 + self.levels.len() + self.begins.len() * 8 + self.levels_of.len() * 16) as u64
    }

    /// In how many passages a term occurs.
    pub(super) fn document_frequency(&self, term: usize) -> u64 {
        self.postings(term).len() as u64
    }

    fn postings(&self, term: usize) -> Range<usize> {
        match (self.begins.get(term), self.begins.get(term + 1)) {
            (Some(begin), Some(end)) => *begin..*end,
            _ => 0..0,
        }
    }

    /// The best `k` of the passages that `keep` allows, for terms and how often the question has each.
    pub(super) fn search(&self, question: &[(usize, usize)], k: usize, keep: Option<&[bool]>) -> Vec<Hit> {
        let mut best = TopK::new(k);
        let bounds = self.bounds(question);
        let highest = bounds.iter().copied().fold(0.0, f32::max);
        if k == 0 || highest <= 0.0 {
            return best.into_hits();
        }
        let bin = |bound: f32| ((bound / highest * BINS as f32) as usize).min(BINS - 1);
        let edge = edge(bounds.iter().filter(|bound| **bound > 0.0).map(|bound| bin(*bound)), k);
        let mut cursors = self.cursors(question);
        for (block, bound) in bounds.iter().enumerate() {
            if *bound > 0.0 && bin(*bound) >= edge {
                self.score(block, &mut cursors, keep, &mut best);
            }
        }
        // Rounding moves a sum by at most half a unit in the last place an addition.
        let slack = 1.0 + f32::EPSILON * (question.len() + 8) as f32;
        let mut cursors = self.cursors(question);
        for (block, bound) in bounds.iter().enumerate() {
            if *bound > 0.0 && bin(*bound) < edge && bound * slack >= best.threshold() {
                self.score(block, &mut cursors, keep, &mut best);
            }
        }
        best.into_hits()
    }

    /// What no passage of a block can exceed, rounding apart.
    fn bounds(&self, question: &[(usize, usize)]) -> Vec<f32> {
        let mut bounds = vec![0.0_f32; self.n_blocks];
        for (term, count) in question {
            let weight = *count as f32;
            if let Some(Some(first)) = self.levels_of.get(*term) {
                let factor = weight * self.greatest[*term] / LEVELS;
                for (bound, level) in bounds.iter_mut().zip(&self.levels[*first..first + self.n_blocks]) {
                    *bound += factor * f32::from(*level);
                }
                continue;
            }
            let postings = self.postings(*term);
            let mut within = self.passages[postings.clone()].iter().zip(&self.shares[postings]).peekable();
            while let Some((passage, share)) = within.next() {
                let block = *passage as usize / BLOCK;
                let mut greatest = *share;
                while let Some((_, share)) = within.next_if(|(next, _)| **next as usize / BLOCK == block) {
                    greatest = greatest.max(*share);
                }
                if let Some(bound) = bounds.get_mut(block) {
                    *bound += weight * greatest;
                }
            }
        }
        bounds
    }

    fn cursors(&self, question: &[(usize, usize)]) -> Vec<Cursor> {
        let cursor = |(term, count): &(usize, usize)| {
            let postings = self.postings(*term);
            Cursor { weight: *count as f64, at: postings.start, postings }
        };
        question.iter().map(cursor).collect()
    }

    /// Scores a block's passages. Blocks come in their order.
    fn score(&self, block: usize, cursors: &mut [Cursor], keep: Option<&[bool]>, best: &mut TopK) {
        let first = (block * BLOCK) as u32;
        let mut sums = [0.0_f64; BLOCK];
        for cursor in cursors {
            cursor.at += gallop(&self.passages[cursor.at..cursor.postings.end], first);
            let rest = cursor.at..cursor.postings.end;
            for (passage, share) in self.passages[rest.clone()].iter().zip(&self.shares[rest]) {
                // Passages before the block were passed over.
                let Some(sum) = sums.get_mut((passage - first) as usize) else { break };
                *sum += cursor.weight * f64::from(*share);
            }
        }
        for (place, sum) in sums.into_iter().enumerate().filter(|(_, sum)| *sum > 0.0) {
            let passage = block * BLOCK + place;
            if keep.is_none_or(|keep| keep.get(passage) == Some(&true)) {
                best.offer(Hit { passage, score: sum as f32 });
            }
        }
    }
}

/// The lowest bin that the first round takes, so that it has twice as many blocks as hits are wanted.
fn edge(bins: impl Iterator<Item = usize>, k: usize) -> usize {
    let mut counts = [0_usize; BINS];
    for bin in bins {
        counts[bin] += 1;
    }
    let mut taken = 0;
    for (bin, count) in counts.iter().enumerate().rev() {
        taken += count;
        if taken >= k.saturating_mul(2) {
            return bin;
        }
    }
    0
}

/// How many of the sorted passages lie before `end`.
fn gallop(sorted: &[u32], end: u32) -> usize {
    let mut step = 1;
    while step < sorted.len() && sorted[step] < end {
        step *= 2;
    }
    let (from, to) = (step / 2, (step + 1).min(sorted.len()));
    from + sorted[from..to].partition_point(|passage| *passage < end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every passage scored in full.
    fn plain(lists: &[Vec<(u32, f32)>], question: &[(usize, usize)], k: usize, n: usize) -> Vec<Hit> {
        let mut best = TopK::new(k);
        for passage in 0..n as u32 {
            let score: f64 = question
                .iter()
                .map(|(term, count)| {
                    let share = lists[*term].iter().find(|(at, _)| *at == passage).map_or(0.0, |(_, share)| *share);
                    *count as f64 * f64::from(share)
                })
                .sum();
            if score > 0.0 {
                best.offer(Hit { passage: passage as usize, score: score as f32 });
            }
        }
        best.into_hits()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn nothing_that_is_set_aside_changes_the_result(
            seed in any::<u64>(), k in 1_usize..12, n in 1_usize..13_000, counts in prop::collection::vec(1_usize..4, 1..7)
        ) {
            use rand::{Rng, SeedableRng};
            let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            let lists: Vec<Vec<(u32, f32)>> = counts
                .iter()
                .map(|_| {
                    // From rare to everywhere, with few different shares, so that scores tie.
                    let chance = 10_f64.powf(random.random_range(-3.0..0.0));
                    let weight = 1.0 - chance as f32 * 0.9;
                    (0..n as u32)
                        .filter_map(|passage| {
                            random.random_bool(chance).then(|| (passage, weight * random.random_range(1..4_u8) as f32))
                        })
                        .collect()
                })
                .collect();
            let mut impacts = Impacts::new(n);
            lists.iter().for_each(|list| impacts.push(list.iter().copied()));
            let question: Vec<(usize, usize)> = counts.iter().copied().enumerate().collect();
            prop_assert_eq!(impacts.search(&question, k, None), plain(&lists, &question, k, n));
        }
    }

    #[test]
    fn galloping_ends_where_a_plain_search_does() {
        let sorted: Vec<u32> = (0..100).map(|at| at * 3).collect();
        for end in 0..310 {
            for from in [0, 1, 17, 99, 100] {
                let plain = sorted[from..].partition_point(|passage| *passage < end);
                assert_eq!(gallop(&sorted[from..], end), plain, "{end} from {from}");
            }
        }
        assert_eq!(gallop(&[], 3), 0);
    }
}
