//! Exact top-k over postings whose share of the score is computed beforehand.
//!
//! Passages are visited window by window. In each window, the terms that together cannot lift a passage over the worst of
//! the `k` best so far are set aside (MaxScore: Turtle and Flood 1995, "Query evaluation: strategies and optimizations");
//! the others are added up in an array that stays in the processor's nearest cache, and only passages that can still win
//! are looked up in the terms that were set aside. Whatever enters is scored in full, in the question's own order of terms,
//! so that the result is the one of scoring every passage.

use std::ops::Range;

use crate::retrieval::acts::Hit;
use crate::retrieval::topk::TopK;

/// Passages of a window.
const WINDOW: usize = 4096;
/// Terms with fewer postings are bounded by their greatest share anywhere.
const FREQUENT: usize = 512;
/// What rounding may do to a sum of shares, as a part of it.
const SLACK: f32 = 1e-5;

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
    /// Of each frequent term, its greatest share in every window, and where that begins in `windows`.
    windows: Vec<f32>,
    windows_of: Vec<Option<usize>>,
    n_windows: usize,
}

/// One term of a question while it is answered.
struct Cursor {
    term: usize,
    weight: f32,
    /// Postings not yet behind the current window.
    rest: Range<usize>,
    /// Postings in the current window.
    here: Range<usize>,
    /// No passage of the current window gets more than this from the term.
    bound: f32,
}

impl Impacts {
    /// Empty, for this many passages.
    pub(super) fn new(passages: usize) -> Self {
        Self { begins: vec![0], n_windows: passages.div_ceil(WINDOW), ..Self::default() }
    }

    /// Adds the next term's postings, in the order of the passages.
    pub(super) fn push(&mut self, postings: impl Iterator<Item = (u32, f32)>) {
        let begin = self.passages.len();
        for (passage, share) in postings {
            self.passages.push(passage);
            self.shares.push(share);
        }
        let (passages, shares) = (&self.passages[begin..], &self.shares[begin..]);
        self.greatest.push(shares.iter().copied().fold(0.0, f32::max));
        if passages.len() >= FREQUENT {
            let first = self.windows.len();
            self.windows_of.push(Some(first));
            self.windows.resize(first + self.n_windows, 0.0);
            let windows = &mut self.windows[first..];
            for (passage, share) in passages.iter().zip(shares) {
                let window = &mut windows[*passage as usize / WINDOW];
                *window = window.max(*share);
            }
        } else {
            self.windows_of.push(None);
        }
        self.begins.push(self.passages.len());
    }

    /// Gives back what growing took in excess.
    pub(super) fn finish(mut self) -> Self {
        self.passages.shrink_to_fit();
        self.shares.shrink_to_fit();
        self.windows.shrink_to_fit();
        self
    }

    pub(super) fn bytes(&self) -> u64 {
        let numbers = self.passages.len() + self.shares.len() + self.greatest.len() + self.windows.len();
        (numbers * 4 + self.begins.len() * 8 + self.windows_of.len() * 16) as u64
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
        let mut cursors: Vec<Cursor> = question
            .iter()
            .map(|(term, count)| {
                let rest = self.postings(*term);
                Cursor { term: *term, weight: *count as f32, here: rest.start..rest.start, rest, bound: 0.0 }
            })
            .collect();
        let mut best = TopK::new(k);
        let mut sums = vec![0.0_f32; WINDOW];
        let mut order: Vec<usize> = Vec::with_capacity(cursors.len());
        for window in 0..self.n_windows {
            let first = (window * WINDOW) as u32;
            for cursor in &mut cursors {
                self.enter(cursor, window);
            }
            order.clear();
            order.extend((0..cursors.len()).filter(|at| !cursors[*at].here.is_empty()));
            order.sort_by(|a, b| cursors[*a].bound.total_cmp(&cursors[*b].bound));
            // The weakest terms together stay below what is needed.
            let needed = best.threshold();
            let needed = if needed.is_finite() { needed * (1.0 - SLACK) } else { needed };
            let (mut aside, mut bound) = (0, 0.0);
            while aside < order.len() && bound + cursors[order[aside]].bound < needed {
                bound += cursors[order[aside]].bound;
                aside += 1;
            }
            if aside == order.len() {
                continue;
            }
            let (weak, strong) = order.split_at(aside);
            let mut touched = 0;
            for at in strong {
                let Cursor { here, weight, .. } = &cursors[*at];
                touched += here.len();
                let postings = self.passages[here.clone()].iter().zip(&self.shares[here.clone()]);
                for (passage, share) in postings {
                    sums[(passage - first) as usize] += weight * share;
                }
            }
            let look = |at: usize, sum: f32, best: &mut TopK| {
                let passage = first as usize + at;
                if keep.is_none_or(|keep| keep.get(passage) == Some(&true)) {
                    self.consider(passage as u32, sum, bound, (weak, &cursors), best);
                }
            };
            if touched < WINDOW / 8 {
                for at in strong {
                    for passage in &self.passages[cursors[*at].here.clone()] {
                        let at = (passage - first) as usize;
                        let sum = std::mem::take(&mut sums[at]);
                        if sum > 0.0 {
                            look(at, sum, &mut best);
                        }
                    }
                }
            } else {
                for (block, part) in sums.chunks_mut(16).enumerate() {
                    let highest = part.iter().copied().fold(0.0_f32, f32::max);
                    if highest > 0.0 {
                        if highest + bound >= best.threshold() * (1.0 - SLACK) {
                            for (place, sum) in part.iter().enumerate().filter(|(_, sum)| **sum > 0.0) {
                                look(block * 16 + place, *sum, &mut best);
                            }
                        }
                        part.fill(0.0);
                    }
                }
            }
        }
        best.into_hits()
    }

    /// Moves a cursor into a window.
    fn enter(&self, cursor: &mut Cursor, window: usize) {
        let end = ((window + 1) * WINDOW) as u32;
        let start = cursor.here.end.max(cursor.rest.start);
        let rest = &self.passages[start..cursor.rest.end];
        let length = gallop(rest, end);
        cursor.here = start..start + length;
        let share = match self.windows_of.get(cursor.term) {
            Some(Some(first)) => self.windows[first + window],
            _ => self.greatest.get(cursor.term).copied().unwrap_or_default(),
        };
        cursor.bound = cursor.weight * share;
    }

    /// Looks a passage up in the terms that were set aside, strongest first, for as long as it can win; then scores it.
    fn consider(
        &self,
        passage: u32,
        mut sum: f32,
        mut bound: f32,
        (weak, cursors): (&[usize], &[Cursor]),
        best: &mut TopK,
    ) {
        let needed = best.threshold();
        let needed = if needed.is_finite() { needed * (1.0 - SLACK) } else { needed };
        for at in weak.iter().rev() {
            if sum + bound < needed {
                return;
            }
            let cursor = &cursors[*at];
            bound -= cursor.bound;
            sum += cursor.weight * self.share(cursor, passage);
        }
        if sum < needed {
            return;
        }
        let score: f64 =
            cursors.iter().map(|cursor| f64::from(cursor.weight) * f64::from(self.share(cursor, passage))).sum();
        best.offer(Hit { passage: passage as usize, score: score as f32 });
    }

    /// What a term adds to a passage of the current window.
    fn share(&self, cursor: &Cursor, passage: u32) -> f32 {
        let here = &self.passages[cursor.here.clone()];
        here.binary_search(&passage).map_or(0.0, |at| self.shares[cursor.here.start + at])
    }
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
