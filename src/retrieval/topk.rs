//! The best `k` of many hits.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::acts::Hit;

/// Orders hits so that the worst is greatest: lower scores, then later passages.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Worst(Hit);

impl Eq for Worst {}

impl Ord for Worst {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.score.total_cmp(&self.0.score).then(self.0.passage.cmp(&other.0.passage))
    }
}

impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Keeps the best `k` of the hits that it is offered; of equal scores, the earlier passages.
#[derive(Debug)]
pub(super) struct TopK {
    k: usize,
    heap: BinaryHeap<Worst>,
}

impl TopK {
    pub(super) fn new(k: usize) -> Self {
        Self { k, heap: BinaryHeap::new() }
    }

    /// A score below this one cannot enter any more.
    #[inline]
    pub(super) fn threshold(&self) -> f32 {
        if self.heap.len() < self.k {
            f32::NEG_INFINITY
        } else {
            self.heap.peek().map_or(f32::INFINITY, |worst| worst.0.score)
        }
    }

    #[inline]
    pub(super) fn offer(&mut self, hit: Hit) {
        if self.heap.len() < self.k {
            self.heap.push(Worst(hit));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && Worst(hit) < *worst
        {
            *worst = Worst(hit);
        }
    }

    /// Best first.
    pub(super) fn into_hits(self) -> Vec<Hit> {
        self.heap.into_sorted_vec().into_iter().map(|worst| worst.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_keeps_what_sorting_would_keep(scores in prop::collection::vec(0_i8..6, 0..60), k in 0_usize..12) {
            let hits: Vec<Hit> =
                scores.iter().enumerate().map(|(passage, score)| Hit { passage, score: f32::from(*score) }).collect();
            let mut best = TopK::new(k);
            for hit in hits.iter().rev() {
                best.offer(*hit);
            }
            let mut sorted = hits;
            sorted.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.passage.cmp(&b.passage)));
            sorted.truncate(k);
            prop_assert_eq!(best.into_hits(), sorted);
        }
    }
}
