//! Attention over the keys and values of one sequence, queries grouped by the head that they share keys with.

use candle_core::{CpuStorage, CustomOp3, D, DType, Device, InplaceOp1, Layout, Result, Shape, Tensor, bail};

use super::activation::{each_row, exp, widened};
use super::prefill;
use super::share::{Out, share};
use super::vector::{add_weighted, each_dot};

/// What a query may see.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight {
    /// The position of the first query.
    pub(super) offset: usize,
    /// Keys seen, the query's own included.
    pub(super) window: Option<usize>,
}

/// `q` is (queries, heads, width), already scaled; `k` and `v` are (shared heads, keys, width), where `keys` reaches to
/// the last query. `mask` is [`Sight::mask`]'s. Returns (queries, heads · width).
pub(super) fn attend(q: &Tensor, k: &Tensor, v: &Tensor, sight: Sight, mask: Option<&Tensor>) -> Result<Tensor> {
    let (queries, heads, width) = q.dims3()?;
    let (shared, keys, _) = k.dims3()?;
    let group = heads / shared;
    if queries == 1 && is_plain(q) {
        return q.contiguous()?.apply_op3_no_bwd(k, v, &OneQuery { sight });
    }
    if is_plain(q) && prefill::is_possible(q) {
        return prefill::attend(q, k, v, sight);
    }
    let grouped = q
        .reshape((queries, shared, group, width))?
        .permute((1, 2, 0, 3))?
        .reshape((shared, group * queries, width))?
        .contiguous()?;
    let scores = grouped.matmul(&k.t()?)?;
    let weights = if is_plain(&scores) {
        scores.inplace_op1(&MaskedSoftmax { queries, sight })?;
        scores
    } else {
        let scores = scores.to_dtype(DType::F32)?;
        let masked = match mask {
            Some(mask) => scores.reshape((shared, group, queries, keys))?.broadcast_add(mask)?.reshape((
                shared,
                group * queries,
                keys,
            ))?,
            None => scores,
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

/// Whether the loops of this module can compute it: f32 on the processor.
fn is_plain(tensor: &Tensor) -> bool {
    tensor.device().is_cpu() && tensor.dtype() == DType::F32
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

impl Sight {
    /// The first key that the query sees, and one past the last.
    pub(super) fn range(self, query: usize) -> (usize, usize) {
        let to = self.offset + query + 1;
        (self.window.map_or(0, |window| to.saturating_sub(window)), to)
    }

    /// Zero where a query sees a key, minus infinity elsewhere: (queries, keys), for all layers. `None` where every
    /// query sees every key, or where no mask is needed since the softmax itself leaves out what is not seen.
    pub(super) fn mask(self, queries: usize, dtype: DType, device: &Device) -> Result<Option<Tensor>> {
        let keys = self.offset + queries;
        let sees_all = queries == 1 && self.window.is_none_or(|window| window >= keys);
        if sees_all || (device.is_cpu() && dtype == DType::F32) {
            return Ok(None);
        }
        let mut values = vec![f32::NEG_INFINITY; queries * keys];
        for (query, row) in values.chunks_mut(keys.max(1)).enumerate() {
            let (from, to) = self.range(query);
            if let Some(seen) = row.get_mut(from..to.min(keys)) {
                seen.fill(0.0);
            }
        }
        Tensor::from_vec(values, (queries, keys), device).map(Some)
    }
}

/// Queries, keys and values on the processor, read where they lie.
pub(super) struct Inputs<'a> {
    /// (queries, heads, width), without gaps.
    pub(super) q: &'a [f32],
    k: (&'a [f32], &'a Layout),
    v: (&'a [f32], &'a Layout),
    pub(super) queries: usize,
    pub(super) heads: usize,
    pub(super) width: usize,
    /// Heads of keys and values.
    pub(super) shared: usize,
    /// Heads of queries that share one of them; at least one.
    pub(super) group: usize,
    pub(super) keys: usize,
}

impl<'a> Inputs<'a> {
    /// Keys and values are (shared, keys, width), each key a row of its own.
    pub(super) fn read(
        (q, q_layout): (&'a CpuStorage, &'a Layout),
        (k, k_layout): (&'a CpuStorage, &'a Layout),
        (v, v_layout): (&'a CpuStorage, &'a Layout),
    ) -> Result<Self> {
        let (CpuStorage::F32(q), CpuStorage::F32(k), CpuStorage::F32(v)) = (q, k, v) else {
            bail!("attention of something else than f32")
        };
        let (queries, heads, width) = q_layout.shape().dims3()?;
        let (shared, keys, _) = k_layout.shape().dims3()?;
        let has_rows = |layout: &Layout| layout.stride()[1] == width && layout.stride()[2] == 1;
        let is_grouped = shared > 0 && heads >= shared;
        if !has_rows(k_layout) || !has_rows(v_layout) || v_layout.dims() != k_layout.dims() || !is_grouped {
            bail!("attention over keys that are not rows")
        }
        let q = &q[q_layout.start_offset()..][..queries * heads * width];
        let group = heads / shared;
        Ok(Self { q, k: (k, k_layout), v: (v, v_layout), queries, heads, width, shared, group, keys })
    }

    /// Rows of the keys of a shared head, from the first to before the last.
    pub(super) fn k(&self, head: usize, first: usize, last: usize) -> &'a [f32] {
        self.rows(self.k, head, first, last)
    }

    /// The same of the values.
    pub(super) fn v(&self, head: usize, first: usize, last: usize) -> &'a [f32] {
        self.rows(self.v, head, first, last)
    }

    fn rows(&self, (numbers, layout): (&'a [f32], &Layout), head: usize, first: usize, last: usize) -> &'a [f32] {
        let head = layout.start_offset() + head * layout.stride()[0];
        &numbers[head + first * self.width..head + last * self.width]
    }
}

/// Attention of one query over the keys in sight, head by head: what writing a reply does for each token. Keys and values
/// are read where they lie.
struct OneQuery {
    sight: Sight,
}

/// Numbers to read from which on threads are worth their while.
const MANY: usize = 1 << 16;

impl CustomOp3 for OneQuery {
    fn name(&self) -> &'static str {
        "one_query"
    }

    fn cpu_fwd(
        &self,
        q: &CpuStorage,
        q_layout: &Layout,
        k: &CpuStorage,
        k_layout: &Layout,
        v: &CpuStorage,
        v_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let inputs = Inputs::read((q, q_layout), (k, k_layout), (v, v_layout))?;
        let Inputs { q, heads, width, group, .. } = inputs;
        let (first, last) = self.sight.range(0);
        let (first, last) = (first.min(inputs.keys), last.min(inputs.keys));
        let mut out = vec![0.0_f32; heads * width];
        let target = Out::of(&mut out);
        let each = |head: usize| {
            let mut scores = vec![0.0_f32; last - first];
            let (k, v) = (inputs.k(head / group, first, last), inputs.v(head / group, first, last));
            // SAFETY: each head's part of the output is written once.
            let out = unsafe { target.part(head * width, width) };
            each_dot(&q[head * width..(head + 1) * width], k, &mut scores);
            softmax(&mut scores);
            add_weighted(&scores, v, out);
        };
        if heads * (last - first) * width < MANY {
            (0..heads).for_each(each);
        } else {
            share(heads, |heads| heads.for_each(&each));
        }
        Ok((CpuStorage::F32(out), Shape::from((1, heads * width))))
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
        each_row(&mut values[from..to], keys, |row, scores| {
            let (first, last) = self.sight.range(row % self.queries);
            let (seen, after) = scores.split_at_mut(last.min(keys));
            let (before, seen) = seen.split_at_mut(first.min(last.min(keys)));
            before.fill(0.0);
            after.fill(0.0);
            softmax(seen);
        });
        Ok(())
    }
}

widened!(pub(super) softmax, softmax_plain(scores: &mut [f32]));

const LANES: usize = 16;

#[inline(always)]
fn softmax_plain<const FUSED: bool>(scores: &mut [f32]) {
    // The last numbers are filled up to a vector; what that adds for nothing to the sum is below 1e-37.
    let (chunks, rest) = scores.as_chunks_mut::<LANES>();
    let mut last = [f32::NEG_INFINITY; LANES];
    last[..rest.len()].copy_from_slice(rest);
    let larger = |a: f32, b: f32| if a > b { a } else { b };
    let mut tops = [f32::NEG_INFINITY; LANES];
    for chunk in chunks.iter().chain([&last]) {
        for (top, score) in tops.iter_mut().zip(chunk) {
            *top = larger(*score, *top);
        }
    }
    let top = across(tops, larger);
    let mut sums = [0.0_f32; LANES];
    let mut exponential = |chunk: &mut [f32; LANES]| {
        for (sum, score) in sums.iter_mut().zip(chunk) {
            *score = exp::<FUSED>(*score - top);
            *sum += *score;
        }
    };
    chunks.iter_mut().for_each(&mut exponential);
    if !rest.is_empty() {
        exponential(&mut last);
        rest.copy_from_slice(&last[..rest.len()]);
    }
    let inverse = 1.0 / across(sums, |a, b| a + b);
    for score in scores {
        *score *= inverse;
    }
}

/// The lanes of a vector as one number, half by half.
#[inline(always)]
fn across(mut lanes: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = join(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_agree_with_and_without_a_window() -> Result<()> {
        let device = Device::Cpu;
        let cases = [(5, 0, None), (1, 6, None), (4, 3, Some(2)), (7, 0, Some(3)), (1, 9, Some(4)), (1, 4000, None)];
        let longer = [(150, 0, None), (150, 70, None), (61, 200, Some(30)), (150, 0, Some(5))];
        // A head may be no whole number of vectors.
        let widths = [12, 32].into_iter();
        for ((queries, offset, window), width) in
            widths.flat_map(|width| cases.iter().chain(&longer).map(move |case| (*case, width)))
        {
            // A cache has room for more keys than there are.
            let keys = offset + queries;
            let q = Tensor::randn(0_f32, 1.0, (queries, 4, width), &device)?;
            let k = Tensor::randn(0_f32, 1.0, (2, keys + 5, width), &device)?.narrow(1, 0, keys)?;
            let v = Tensor::randn(0_f32, 1.0, (2, keys + 5, width), &device)?.narrow(1, 0, keys)?;
            let sight = Sight { offset, window };
            assert!(sight.mask(queries, DType::F32, &device)?.is_none());
            let quick = attend(&q, &k, &v, sight, None)?;
            let wide = |tensor: &Tensor| tensor.to_dtype(DType::F64);
            // f64 takes the way with the mask; its softmax is in f32 all the same.
            let mask = sight.mask(queries, DType::F64, &device)?;
            let masked = attend(&wide(&q)?, &wide(&k)?, &wide(&v)?, sight, mask.as_ref())?.to_dtype(DType::F32)?;
            let difference = (quick - masked)?.abs()?.max_all()?.to_scalar::<f32>()?;
            assert!(difference < 1e-5, "{queries} {offset} {window:?}: {difference}");
        }
        Ok(())
    }
}
