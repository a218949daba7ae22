//! Attention over the keys and values of one sequence, queries grouped by the head that they share keys with.

use candle_core::{CpuStorage, D, DType, InplaceOp1, Layout, Result, Tensor, bail};
use rayon::prelude::{IndexedParallelIterator, ParallelIterator, ParallelSliceMut};

use super::activation::{exp, widened};

/// What a query may see.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight {
    /// The position of the first query.
    pub(super) offset: usize,
    /// Keys seen, the query's own included.
    pub(super) window: Option<usize>,
}

/// `q` is (queries, heads, width), already scaled; `k` and `v` are (shared heads, keys, width), where `keys` reaches to
/// the last query. Returns (queries, heads · width).
pub(super) fn attend(q: &Tensor, k: &Tensor, v: &Tensor, sight: Sight) -> Result<Tensor> {
    let (queries, heads, width) = q.dims3()?;
    let (shared, keys, _) = k.dims3()?;
    let group = heads / shared;
    let grouped = q
        .reshape((queries, shared, group, width))?
        .permute((1, 2, 0, 3))?
        .reshape((shared, group * queries, width))?
        .contiguous()?;
    let scores = grouped.matmul(&k.t()?)?;
    let weights = if scores.device().is_cpu() && scores.dtype() == DType::F32 {
        scores.inplace_op1(&MaskedSoftmax { queries, sight })?;
        scores
    } else {
        let scores = scores.to_dtype(DType::F32)?;
        let masked = if queries == 1 && sight.window.is_none_or(|window| window >= keys) {
            scores
        } else {
            scores.broadcast_add(&mask(queries, keys, group, sight, q)?)?
        };
        candle_nn::ops::softmax(&masked, D::Minus1)?.to_dtype(v.dtype())?
    };
    weights
        .matmul(v)?
        .reshape((shared, group, queries, width))?
        .permute((2, 0, 1, 3))?
        .reshape((queries, heads * width))?
        .contiguous()
}

/// Softmax over the last dimension, in place where that is possible.
pub(super) fn softmax_rows(scores: &Tensor) -> Result<Tensor> {
    if scores.device().is_cpu() && scores.dtype() == DType::F32 && scores.is_contiguous() {
        let keys = scores.dim(D::Minus1)?;
        scores.inplace_op1(&MaskedSoftmax { queries: 1, sight: Sight { offset: keys, window: None } })?;
        return Ok(scores.clone());
    }
    candle_nn::ops::softmax(scores, D::Minus1)
}

fn mask(queries: usize, keys: usize, group: usize, sight: Sight, like: &Tensor) -> Result<Tensor> {
    let mut values = vec![f32::NEG_INFINITY; queries * keys];
    for query in 0..queries {
        let (from, to) = sight.range(query);
        for value in values.iter_mut().skip(query * keys + from).take(to.min(keys).saturating_sub(from)) {
            *value = 0.0;
        }
    }
    Tensor::from_vec(values, (queries, keys), like.device())?.repeat((group, 1))?.unsqueeze(0)
}

impl Sight {
    /// The first key that the query sees, and one past the last.
    fn range(self, query: usize) -> (usize, usize) {
        let to = self.offset + query + 1;
        (self.window.map_or(0, |window| to.saturating_sub(window)), to)
    }
}

/// Softmax over the keys in sight, zero elsewhere, in place: neither a mask nor a copy of the scores is made.
struct MaskedSoftmax {
    queries: usize,
    sight: Sight,
}

impl InplaceOp1 for MaskedSoftmax {
    fn name(&self) -> &'static str {
        "masked_softmax"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let CpuStorage::F32(values) = storage else { bail!("masked softmax of something else than f32") };
        let Some((from, to)) = layout.contiguous_offsets() else { bail!("masked softmax of a view") };
        let keys = layout.shape().dims().last().copied().unwrap_or(0);
        let each = |(row, scores): (usize, &mut [f32])| {
            let (first, last) = self.sight.range(row % self.queries);
            let (seen, after) = scores.split_at_mut(last.min(keys));
            let (before, seen) = seen.split_at_mut(first.min(last.min(keys)));
            before.fill(0.0);
            after.fill(0.0);
            softmax(seen);
        };
        let all = &mut values[from..to];
        if all.len() < 1 << 14 {
            all.chunks_mut(keys.max(1)).enumerate().for_each(each);
        } else {
            all.par_chunks_mut(keys.max(1)).enumerate().for_each(each);
        }
        Ok(())
    }
}

widened!(softmax, softmax_wide, softmax_plain(scores: &mut [f32]));

const LANES: usize = 8;

#[inline(always)]
fn softmax_plain(scores: &mut [f32]) {
    let mut tops = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = scores.as_chunks::<LANES>();
    for chunk in chunks {
        for (top, score) in tops.iter_mut().zip(chunk) {
            *top = if *score > *top { *score } else { *top };
        }
    }
    let top = tops.iter().chain(rest).fold(f32::NEG_INFINITY, |most, score| most.max(*score));
    let mut sums = [0.0_f32; LANES];
    let (chunks, rest) = scores.as_chunks_mut::<LANES>();
    for chunk in chunks {
        for (sum, score) in sums.iter_mut().zip(chunk) {
            *score = exp(*score - top);
            *sum += *score;
        }
    }
    let mut sum: f32 = sums.iter().sum();
    for score in rest {
        *score = exp(*score - top);
        sum += *score;
    }
    let inverse = 1.0 / sum;
    for score in scores {
        *score *= inverse;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_agree_with_and_without_a_window() -> Result<()> {
        let device = candle_core::Device::Cpu;
        for (queries, offset, window) in [(5, 0, None), (1, 6, None), (4, 3, Some(2)), (7, 0, Some(3))] {
            let q = Tensor::randn(0_f32, 1.0, (queries, 4, 8), &device)?;
            let k = Tensor::randn(0_f32, 1.0, (2, offset + queries, 8), &device)?;
            let v = Tensor::randn(0_f32, 1.0, (2, offset + queries, 8), &device)?;
            let sight = Sight { offset, window };
            let quick = attend(&q, &k, &v, sight)?;
            let wide = |tensor: &Tensor| tensor.to_dtype(DType::F64);
            // f64 takes the way with the mask; its softmax is in f32 all the same.
            let masked = attend(&wide(&q)?, &wide(&k)?, &wide(&v)?, sight)?.to_dtype(DType::F32)?;
            let difference = (quick - masked)?.abs()?.max_all()?.to_scalar::<f32>()?;
            assert!(difference < 1e-5, "{queries} {offset} {window:?}: {difference}");
        }
        Ok(())
    }
}
