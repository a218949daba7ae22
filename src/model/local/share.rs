//! Work in pieces on all threads, and numbers that they write together.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pieces of work that a thread takes at a time: first an eighth of its part, so that taking them costs little, and at last a
/// thirty-second, so that nobody waits long for the last one.
const FEWEST_TURNS: usize = 8;
const MOST_TURNS: usize = 32;

/// Calls `work` with ranges that together are `0..pieces`, on all threads of the pool that the caller is in.
///
/// These are rayon's threads, which candle's own operations run on too. candle's `barrier_pool` waits busily for its
/// threads: that saves a microsecond or two where a machine has nothing else to do, and was thirty times as slow
/// where it has, since whoever waits keeps the one that is waited for from running. A pool in between, whose helpers look
/// out for work for a moment before they sleep, was no quicker than rayon's here.
pub(super) fn share(pieces: usize, work: impl Fn(Range<usize>) + Sync) {
    let threads = rayon::current_num_threads();
    if threads == 1 || pieces <= 1 {
        return work(0..pieces);
    }
    let (least, most) = (pieces.div_ceil(threads * MOST_TURNS), pieces.div_ceil(threads * FEWEST_TURNS));
    let some = |from: usize| (pieces.saturating_sub(from) / (2 * threads)).clamp(least, most);
    let next = AtomicUsize::new(0);
    let turns = || {
        loop {
            let take = |from| (from < pieces).then(|| from + some(from));
            let Ok(from) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) else { return };
            work(from..pieces.min(from + some(from)));
        }
    };
    rayon::in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| turns());
        }
        turns();
    });
}

/// Numbers that several threads write, each its own.
#[derive(Clone, Copy)]
pub(super) struct Out(*mut f32);
// SAFETY: every piece of work writes other places, and the pool ends before the vector is read.
unsafe impl Send for Out {}
// SAFETY: as above.
unsafe impl Sync for Out {}

/// What [`Out`] points to: numbers, or room for them.
pub(super) trait Float {}
impl Float for f32 {}
impl Float for std::mem::MaybeUninit<f32> {}

impl Out {
    pub(super) fn of<T: Float>(values: &mut [T]) -> Self {
        Self(values.as_mut_ptr().cast())
    }

    /// # Safety
    /// `place` lies inside the vector.
    pub(super) unsafe fn at(self, place: usize) -> *mut f32 {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(place) }
    }

    /// # Safety
    /// The range lies inside the vector, its numbers have been written, and nobody else touches it.
    pub(super) unsafe fn part<'a>(self, from: usize, length: usize) -> &'a mut [f32] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(from), length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_done_once() {
        for pieces in [0, 1, 2, 7, 100, 1001] {
            let done: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
            share(pieces, |range| {
                for piece in range {
                    done[piece].fetch_add(1, Ordering::Relaxed);
                }
            });
            assert!(done.iter().all(|times| times.load(Ordering::Relaxed) == 1), "{pieces}");
        }
    }
}
