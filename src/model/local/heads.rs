//! Heads of new tokens, from the rows that the product of the layer's input with all three weights left: queries are
//! turned and scaled, keys turned and put into the cache, values put there. In f32 on the processor, in one pass each.

use candle_core::{CpuStorage, InplaceOp1, Layout, Result, Tensor, bail};

use super::activation::{each_row, fused, widened};
use super::norm::root_mean_square;
use super::share::{Out, share};

/// Rows of (queries', keys' and values' heads · width) numbers, and what is done with heads.
#[derive(Clone, Copy)]
pub(super) struct Heads<'a> {
    pub(super) rows: &'a [f32],
    pub(super) heads: usize,
    /// Heads of keys, and of values.
    pub(super) shared: usize,
    pub(super) width: usize,
    /// (tokens, half a head), of each token's position.
    pub(super) cosines: &'a [f32],
    pub(super) sines: &'a [f32],
    /// Scales of a query's and of a key's head, which are normalised, and epsilon.
    pub(super) norms: Option<(&'a [f32], &'a [f32], f32)>,
}

/// Heads from which on threads are worth their while.
const MANY: usize = 256;

impl Heads<'_> {
    /// Itself, if there are as many numbers as there must be: weights may have another shape than the config says.
    pub(super) fn checked(self) -> Result<Self> {
        let angles = self.tokens() * (self.width / 2);
        let is_head = |scales: &[f32]| scales.len() == self.width;
        let is_whole = self.rows.len() == self.tokens() * self.step()
            && (self.cosines.len(), self.sines.len()) == (angles, angles)
            && self.norms.is_none_or(|(query, key, _)| is_head(query) && is_head(key));
        if !is_whole {
            bail!(
                "{} numbers are not {} heads of {} of each token",
                self.rows.len(),
                self.step() / self.width.max(1),
                self.width
            );
        }
        Ok(self)
    }

    /// New tokens.
    pub(super) fn tokens(&self) -> usize {
        self.rows.len() / self.step().max(1)
    }

    fn step(&self) -> usize {
        (self.heads + 2 * self.shared) * self.width
    }

    fn head(&self, token: usize, head: usize) -> &[f32] {
        &self.rows[token * self.step() + head * self.width..][..self.width]
    }

    fn turned(&self, token: usize, head: usize, norm: Option<&[f32]>, scale: f32, out: &mut [f32]) {
        let half = self.width / 2;
        let (cosines, sines) = (&self.cosines[token * half..][..half], &self.sines[token * half..][..half]);
        match (norm, self.norms) {
            (Some(weight), Some((_, _, epsilon))) => {
                root_mean_square(self.head(token, head), weight, epsilon, out);
            }
            _ => out.copy_from_slice(self.head(token, head)),
        }
        turn(out, cosines, sines, scale);
    }

    /// Queries, scaled by one over the root of their width: (tokens, heads, width).
    pub(super) fn queries(&self) -> Result<Tensor> {
        let scale = (self.width as f32).sqrt().recip();
        let mut out = vec![0.0_f32; self.tokens() * self.heads * self.width];
        each_row(&mut out, self.width, |row, out| {
            let (token, head) = (row / self.heads, row % self.heads);
            self.turned(token, head, self.norms.map(|norms| norms.0), scale, out);
        });
        Tensor::from_vec(out, (self.tokens(), self.heads, self.width), &candle_core::Device::Cpu)
    }

    /// Puts keys and values of some tokens, from one on, into a cache, whose tensors are (shared heads, capacity, width).
    pub(super) fn remember(
        &self,
        (from, new): (usize, usize),
        (keys, values): (&Tensor, &Tensor),
        at: usize,
    ) -> Result<()> {
        keys.inplace_op1(&Remember { heads: *self, is_key: true, from, new, at })?;
        values.inplace_op1(&Remember { heads: *self, is_key: false, from, new, at })
    }
}

struct Remember<'a> {
    heads: Heads<'a>,
    is_key: bool,
    /// The first token, and how many.
    from: usize,
    new: usize,
    /// Where the first one goes.
    at: usize,
}

impl InplaceOp1 for Remember<'_> {
    fn name(&self) -> &'static str {
        "remember"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let (CpuStorage::F32(cache), Some((from, to))) = (storage, layout.contiguous_offsets()) else {
            bail!("a cache of something else than contiguous f32")
        };
        let (shared, capacity, width) = layout.shape().dims3()?;
        let heads = &self.heads;
        if (shared, width) != (heads.shared, heads.width)
            || self.at + self.new > capacity
            || self.from + self.new > heads.tokens()
        {
            bail!("{} tokens at {} of a cache for {capacity}", self.new, self.at);
        }
        let target = Out::of(&mut cache[from..to]);
        let some = |rows: std::ops::Range<usize>| {
            for row in rows {
                let (head, token) = (row / self.new, row % self.new);
                // SAFETY: inside the cache, as was looked at; each head of a token is one piece of work's alone.
                let out = unsafe { target.part((head * capacity + self.at + token) * width, width) };
                if self.is_key {
                    let norm = heads.norms.map(|norms| norms.1);
                    heads.turned(self.from + token, heads.heads + head, norm, 1.0, out);
                } else {
                    out.copy_from_slice(heads.head(self.from + token, heads.heads + shared + head));
                }
            }
        };
        let rows = shared * self.new;
        if rows < MANY {
            some(0..rows)
        } else {
            share(rows, some)
        }
        Ok(())
    }
}

widened!(turn, turn_plain(head: &mut [f32], cosines: &[f32], sines: &[f32], scale: f32));

/// Turns each number of the first half with its partner in the second.
#[inline(always)]
fn turn_plain<const FUSED: bool>(head: &mut [f32], cosines: &[f32], sines: &[f32], scale: f32) {
    let (first, second) = head.split_at_mut(head.len() / 2);
    for ((a, b), (cosine, sine)) in first.iter_mut().zip(second).zip(cosines.iter().zip(sines)) {
        let turned = (fused::<FUSED>(-*b, *sine, *a * cosine), fused::<FUSED>(*a, *sine, *b * cosine));
        (*a, *b) = (turned.0 * scale, turned.1 * scale);
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, IndexOp};

    use super::*;

    #[test]
    fn heads_are_those_of_candles_operations() -> Result<()> {
        let (heads, shared, width, capacity) = (4, 2, 6, 9);
        let device = Device::Cpu;
        for (tokens, is_normed) in [(1, false), (5, true), (300, true)] {
            let capacity = capacity + tokens;
            let rows = Tensor::randn(0_f32, 1.0, (tokens, heads + 2 * shared, width), &device)?;
            let angles = Tensor::rand(0_f32, 6.0, (tokens, width / 2), &device)?;
            let (cosines, sines) = (angles.cos()?, angles.sin()?);
            let norms = [(); 2].map(|()| Tensor::rand(0.5_f32, 1.5, width, &device));
            let [query_norm, key_norm] = norms;
            let (query_norm, key_norm) = (query_norm?, key_norm?);
            let plain = |tensor: &Tensor| tensor.flatten_all()?.to_vec1::<f32>();
            let (numbers, a, b) = (plain(&rows)?, plain(&cosines)?, plain(&sines)?);
            let weights = (plain(&query_norm)?, plain(&key_norm)?);
            let ours = Heads {
                rows: &numbers,
                heads,
                shared,
                width,
                cosines: &a,
                sines: &b,
                norms: is_normed.then_some((&weights.0, &weights.1, 1e-5)),
            };
            let theirs = |from: usize, n: usize, norm: &Tensor| {
                let mut part = rows.narrow(1, from, n)?.contiguous()?;
                if is_normed {
                    part = candle_nn::ops::rms_norm(&part, norm, 1e-5)?;
                }
                candle_nn::rotary_emb::rope_thd(&part.unsqueeze(0)?, &cosines, &sines)?.squeeze(0)
            };
            let differs =
                |a: &Tensor, b: &Tensor| -> Result<bool> { Ok((a - b)?.abs()?.max_all()?.to_scalar::<f32>()? > 1e-5) };
            let queries = (theirs(0, heads, &query_norm)? / (width as f64).sqrt())?;
            assert!(!differs(&ours.queries()?, &queries)?, "{tokens}");
            let empty = || Tensor::zeros((shared, capacity, width), candle_core::DType::F32, &device);
            let (keys, values) = (empty()?, empty()?);
            // All but the first token, three places from the beginning.
            let new = tokens - 1;
            ours.remember((1, new), (&keys, &values), 3)?;
            if new > 0 {
                let inside = |cache: &Tensor| cache.i((.., 3..3 + new, ..));
                let turned = theirs(heads, shared, &key_norm)?.narrow(0, 1, new)?.transpose(0, 1)?;
                assert!(!differs(&inside(&keys)?, &turned)?, "{tokens}");
                let plain = rows.narrow(1, heads + shared, shared)?.narrow(0, 1, new)?.transpose(0, 1)?;
                assert!(!differs(&inside(&values)?, &plain)?, "{tokens}");
            }
            let outside = keys.i((.., ..3, ..))?.abs()?.sum_all()? + keys.i((.., 3 + new.., ..))?.abs()?.sum_all()?;
            assert_eq!(outside?.to_scalar::<f32>()?, 0.0);
            assert!(ours.remember((1, new + 1), (&keys, &values), 0).is_err());
            assert!(ours.remember((0, tokens), (&keys, &values), capacity - tokens + 1).is_err());
        }
        Ok(())
    }
}
