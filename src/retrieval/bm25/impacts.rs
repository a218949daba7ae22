//! Exact top-k over postings whose share of the score is computed beforehand.
//!
//! Sixteen passages make a block, and every frequent term knows the greatest share it has in each block, in one byte
//! (Block-Max Pruning: Mallia, Suel and Tonellotto 2024, "Faster learned sparse retrieval with block-max pruning"). The
//! bounds of a question's terms are added up for all blocks at once; blocks of the highest bounds are scored first, and of
//! the others only those that can still hold one of the best `k`. Within a block the terms that can add most come first,
//! and the block is left as soon as the others cannot lift a passage among the best. Every passage that is offered was
//! scored in full, always in the same order of terms, so that the result is the one of scoring every passage.

use std::ops::Range;

use crate::retrieval::acts::Hit;
use crate::retrieval::topk::TopK;

/// Passages of a block.
const BLOCK: usize = 16;
/// A term that occurs in fewer passages than there are blocks, divided by this, has no bytes: its postings are read.
const RARE: usize = 4;
/// Steps of a share in one byte.
const LEVELS: f32 = 255.0;
/// Blocks of a stretch. Where a frequent term's postings in a block begin is kept from the stretch's beginning on, in 16
/// bits, which hold the passages of so many blocks.
const STRETCH: usize = 2048;

/// Postings of all terms, one term after the other, each in the order of the passages.
#[derive(Debug, Default)]
pub(super) struct Impacts {
    postings: Vec<Posting>,
    /// Where each term begins; one more entry than terms.
    begins: Vec<usize>,
    /// Of each term, its greatest share.
    greatest: Vec<f32>,
    /// Of each term that is frequent, its place among those.
    frequent: Vec<Option<usize>>,
    blocks: Blocks,
}

#[derive(Debug, Clone, Copy)]
struct Posting {
    passage: u32,
    /// What the term adds to the passage's score, for one occurrence in a question.
    share: f32,
}

/// What is known of each frequent term in each block: one row a term.
#[derive(Debug, Default)]
struct Blocks {
    count: usize,
    /// The term's greatest share in the block as a part of its greatest, rounded up.
    levels: Vec<u8>,
    /// How many of the term's postings in the stretch come before the block.
    offsets: Vec<u16>,
    /// How many of the term's postings come before the stretch.
    stretches: Vec<u32>,
}

impl Blocks {
    fn new(passages: usize) -> Self {
        Self { count: passages.div_ceil(BLOCK), ..Self::default() }
    }

    /// Adds a frequent term's postings and returns its row.
    fn push(&mut self, postings: &[Posting], greatest: f32) -> usize {
        let row = self.levels.len() / self.count;
        let scale = LEVELS / greatest;
        let mut at = 0;
        let mut stretch = 0;
        for block in 0..self.count {
            if block % STRETCH == 0 {
                self.stretches.push(at as u32);
                stretch = at;
            }
            self.offsets.push((at - stretch) as u16);
            let mut level = 0;
            while let Some(posting) = postings.get(at).filter(|one| one.passage as usize / BLOCK == block) {
                level = level.max((posting.share * scale).ceil() as u8);
                at += 1;
            }
            self.levels.push(level);
        }
        row
    }

    fn levels(&self, row: usize) -> &[u8] {
        &self.levels[row * self.count..(row + 1) * self.count]
    }

    fn level(&self, row: usize, block: usize) -> f64 {
        f64::from(self.levels[row * self.count + block])
    }

    /// How many of the term's postings come before a block.
    fn offset(&self, row: usize, block: usize) -> usize {
        let stretch = self.stretches[row * self.count.div_ceil(STRETCH) + block / STRETCH];
        stretch as usize + usize::from(self.offsets[row * self.count + block])
    }
}

/// One term of a question while it is answered.
struct Cursor<'a> {
    weight: f64,
    postings: &'a [Posting],
    /// Postings before this one lie before the current block; of a rare term.
    at: usize,
    /// The term's row, if it is frequent, and what one of its levels is worth.
    row: Option<usize>,
    step: f64,
}

impl Impacts {
    /// Empty, for this many passages.
    pub(super) fn new(passages: usize) -> Self {
        Self { begins: vec![0], blocks: Blocks::new(passages), ..Self::default() }
    }

    /// Adds the next term's postings, in the order of the passages.
    pub(super) fn push(&mut self, postings: impl Iterator<Item = (u32, f32)>) {
        let begin = self.postings.len();
        self.postings.extend(postings.map(|(passage, share)| Posting { passage, share }));
        let added = &self.postings[begin..];
        let greatest = added.iter().map(|posting| posting.share).fold(0.0, f32::max);
        let is_frequent = added.len() * RARE >= self.blocks.count && greatest > 0.0;
        self.frequent.push(is_frequent.then(|| self.blocks.push(added, greatest)));
        self.greatest.push(greatest);
        self.begins.push(self.postings.len());
    }

    /// Gives back what growing took in excess.
    pub(super) fn finish(mut self) -> Self {
        self.postings.shrink_to_fit();
        self.blocks.levels.shrink_to_fit();
        self.blocks.offsets.shrink_to_fit();
        self
    }

    pub(super) fn bytes(&self) -> u64 {
        let of_terms = self.begins.len() * 8 + self.greatest.len() * 4 + self.frequent.len() * 16;
        let of_blocks = self.blocks.levels.len() * 3 + self.blocks.stretches.len() * 4;
        (self.postings.len() * 8 + of_terms + of_blocks) as u64
    }

    /// In how many passages a term occurs.
    pub(super) fn document_frequency(&self, term: usize) -> u64 {
        self.range(term).len() as u64
    }

    fn range(&self, term: usize) -> Range<usize> {
        match (self.begins.get(term), self.begins.get(term + 1)) {
            (Some(begin), Some(end)) => *begin..*end,
            _ => 0..0,
        }
    }

    /// The best `k` of the passages that `keep` allows, for terms and how often the question has each.
    pub(super) fn search(&self, question: &[(usize, usize)], k: usize, keep: Option<&[bool]>) -> Vec<Hit> {
        let mut best = TopK::new(k);
        if k == 0 {
            return best.into_hits();
        }
        let mut cursors = self.cursors(question);
        let bounds = self.bounds(&cursors);
        // Rounding moves a sum by at most half a unit in the last place an addition.
        let slack = 1.0 + f32::EPSILON * (question.len() + 8) as f32;
        let first = highest(&bounds, k.saturating_mul(2));
        for block in &first {
            self.score(*block, slack, &mut cursors, keep, &mut best);
        }
        cursors.iter_mut().for_each(|cursor| cursor.at = 0);
        let mut done = first.into_iter().peekable();
        for (block, bound) in bounds.iter().enumerate() {
            let is_done = done.next_if_eq(&block).is_some();
            if !is_done && *bound > 0.0 && bound * slack >= best.threshold() {
                self.score(block, slack, &mut cursors, keep, &mut best);
            }
        }
        best.into_hits()
    }

    /// Rare terms first, then those that can add most.
    fn cursors(&self, question: &[(usize, usize)]) -> Vec<Cursor<'_>> {
        let cursor = |(term, count): &(usize, usize)| {
            let weight = *count as f64;
            let greatest = self.greatest.get(*term).copied().map_or(0.0, f64::from);
            let row = self.frequent.get(*term).copied().flatten();
            Cursor {
                weight,
                postings: &self.postings[self.range(*term)],
                at: 0,
                row,
                step: weight * greatest / f64::from(LEVELS),
            }
        };
        let mut cursors: Vec<Cursor<'_>> = question.iter().map(cursor).collect();
        cursors.sort_by(|a, b| a.row.is_some().cmp(&b.row.is_some()).then(b.step.total_cmp(&a.step)));
        cursors
    }

    /// What no passage of a block can exceed, rounding apart.
    fn bounds(&self, cursors: &[Cursor<'_>]) -> Vec<f32> {
        let mut bounds = vec![0.0_f32; self.blocks.count];
        for cursor in cursors {
            if let Some(row) = cursor.row {
                let step = cursor.step as f32;
                for (bound, level) in bounds.iter_mut().zip(self.blocks.levels(row)) {
                    *bound += step * f32::from(*level);
                }
                continue;
            }
            for postings in cursor.postings.chunk_by(|a, b| a.passage as usize / BLOCK == b.passage as usize / BLOCK) {
                let greatest = postings.iter().map(|posting| posting.share).fold(0.0, f32::max);
                if let Some(bound) = postings.first().and_then(|one| bounds.get_mut(one.passage as usize / BLOCK)) {
                    *bound += cursor.weight as f32 * greatest;
                }
            }
        }
        bounds
    }

    /// Offers a block's passages that can be among the best. Blocks come in their order.
    fn score(&self, block: usize, slack: f32, cursors: &mut [Cursor<'_>], keep: Option<&[bool]>, best: &mut TopK) {
        let first = (block * BLOCK) as u32;
        let threshold = f64::from(best.threshold());
        // What the frequent terms that are still to come can add.
        let mut rest: f64 =
            cursors.iter().filter_map(|cursor| Some(cursor.step * self.blocks.level(cursor.row?, block))).sum();
        let mut sums = [0.0_f64; BLOCK];
        let mut greatest = 0.0_f64;
        for cursor in cursors {
            let at = match cursor.row {
                Some(row) => {
                    if (greatest + rest) * f64::from(slack) < threshold {
                        return;
                    }
                    rest -= cursor.step * self.blocks.level(row, block);
                    self.blocks.offset(row, block)
                }
                None => {
                    cursor.at += gallop(cursor.postings.get(cursor.at..).unwrap_or_default(), first);
                    cursor.at
                }
            };
            for posting in cursor.postings.get(at..).unwrap_or_default() {
                let Some(sum) = sums.get_mut((posting.passage - first) as usize) else { break };
                *sum += cursor.weight * f64::from(posting.share);
                greatest = greatest.max(*sum);
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

/// The blocks of the `n` highest bounds above 0, in their order.
fn highest(bounds: &[f32], n: usize) -> Vec<usize> {
    let mut best = TopK::new(n);
    for (block, bound) in bounds.iter().enumerate() {
        if *bound > 0.0 && *bound > best.threshold() {
            best.offer(Hit { passage: block, score: *bound });
        }
    }
    let mut blocks: Vec<usize> = best.into_hits().into_iter().map(|hit| hit.passage).collect();
    blocks.sort_unstable();
    blocks
}

/// How many of the sorted postings lie before a passage.
fn gallop(sorted: &[Posting], passage: u32) -> usize {
    let mut step = 1;
    while sorted.get(step).is_some_and(|posting| posting.passage < passage) {
        step *= 2;
    }
    let (from, to) = (step / 2, (step + 1).min(sorted.len()));
    from + sorted[from..to].partition_point(|posting| posting.passage < passage)
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
        let sorted: Vec<Posting> = (0..100).map(|at| Posting { passage: at * 3, share: 1.0 }).collect();
        for end in 0..310 {
            for from in [0, 1, 17, 99, 100] {
                let plain = sorted[from..].partition_point(|posting| posting.passage < end);
                assert_eq!(gallop(&sorted[from..], end), plain, "{end} from {from}");
            }
        }
        assert_eq!(gallop(&[], 3), 0);
    }
}
