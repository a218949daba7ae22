//! Products of few rows over blocks of quantized weights, on all threads.
//!
//! candle multiplies the common types with vector instructions of AVX2, and Q4_1 in a plain loop. Here are Q4_1, and where
//! the processor multiplies bytes at once also Q8_0, which heads are often kept in. A block is 32 weights. Q4_1: `d·q + m`,
//! `d` and `m` in half precision, then 16 bytes, low nibbles first; Q8_0: `d·q`, `d` in half precision, then 32 bytes with
//! signs (ggml's `block_q4_1` and `block_q8_0`).

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{CpuStorage, Result, Storage, Tensor, bail};
use half::f16;

use super::activation::{fused, widened};
use super::share::{Out, share};

/// Weights in a block.
pub(super) const BLOCK: usize = 32;
/// Bytes of a Q4_1 block.
pub(super) const BYTES: usize = 20;

/// The types of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Q4_1,
    Q8_0,
}

impl Kind {
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::Q4_1 => BYTES,
            Self::Q8_0 => 34,
        }
    }

    /// The type of these weights, if [`product`] is the quick way here.
    fn of(weight: &QTensor) -> Option<Self> {
        match weight.dtype() {
            _ if !weight.device().is_cpu() => None,
            GgmlDType::Q4_1 if has_vectors() => Some(Self::Q4_1),
            GgmlDType::Q8_0 if has_vectors() && has_byte_products() => Some(Self::Q8_0),
            _ => None,
        }
    }
}

/// Whether [`product`] is the quick way here.
pub(super) fn is_quick(weight: &QTensor) -> bool {
    Kind::of(weight).is_some()
}

#[cfg(target_arch = "x86_64")]
use super::blocks_x86::is_quickest as has_byte_products;

#[cfg(not(target_arch = "x86_64"))]
fn has_byte_products() -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
fn has_vectors() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_vectors() -> bool {
    false
}

/// Inputs in blocks, rounded to bytes: each stands for `scale · q`; and the sums of what they stand for.
struct Inputs {
    scales: Vec<f32>,
    sums: Vec<f32>,
    q: Vec<[i8; BLOCK]>,
}

/// Those of one row.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) scales: &'a [f32],
    pub(super) sums: &'a [f32],
    pub(super) q: &'a [[i8; BLOCK]],
}

impl Inputs {
    fn of(x: &[f32]) -> Self {
        let n = x.len() / BLOCK;
        let mut made = Self { scales: vec![0.0; n], sums: vec![0.0; n], q: vec![[0; BLOCK]; n] };
        round(x, &mut made.scales, &mut made.sums, &mut made.q);
        made
    }

    fn row(&self, row: usize, blocks: usize) -> Row<'_> {
        let range = row * blocks..(row + 1) * blocks;
        Row { scales: &self.scales[range.clone()], sums: &self.sums[range.clone()], q: &self.q[range] }
    }
}

widened!(round, round_plain(x: &[f32], scales: &mut [f32], sums: &mut [f32], q: &mut [[i8; BLOCK]]));

/// 1.5 · 2²³: a smaller number added to it is rounded to a whole one, ties to even, which then stands in the last bits.
const WHOLE: f32 = 12_582_912.0;

#[inline(always)]
fn round_plain<const FUSED: bool>(x: &[f32], scales: &mut [f32], sums: &mut [f32], q: &mut [[i8; BLOCK]]) {
    for (((values, scale), sum), q) in x.as_chunks::<BLOCK>().0.iter().zip(scales).zip(sums).zip(q) {
        let mut tops = [0.0_f32; 8];
        for chunk in values.as_chunks::<8>().0 {
            for (top, value) in tops.iter_mut().zip(chunk) {
                *top = if value.abs() > *top { value.abs() } else { *top };
            }
        }
        let largest = tops.iter().fold(0.0_f32, |most, top| most.max(*top));
        *scale = largest / 127.0;
        let inverse = if largest > 1e-30 { 127.0 / largest } else { 0.0 };
        let mut total = 0_i32;
        for (place, value) in q.iter_mut().zip(values) {
            let whole = (fused::<FUSED>(*value, inverse, WHOLE).to_bits() as i32).wrapping_sub(WHOLE.to_bits() as i32);
            *place = whole as i8;
            total = total.wrapping_add(whole);
        }
        // What is not a number has bits far from WHOLE's; it must stay visible in the product.
        if total.unsigned_abs() > 127 * BLOCK as u32 {
            *scale = f32::NAN;
        }
        *sum = *scale * total as f32;
    }
}

/// `x Wᵀ` for a few rows of input.
pub(super) fn product(x: &Tensor, weight: &QTensor) -> Result<Tensor> {
    let (rows, width) = x.dims2()?;
    let (height, weight_width) = weight.shape().dims2()?;
    if width != weight_width || !width.is_multiple_of(BLOCK) {
        bail!("a product of {width} columns with {weight_width}");
    }
    let x = x.contiguous()?;
    let (storage, layout) = x.storage_and_layout();
    let Storage::Cpu(CpuStorage::F32(values)) = &*storage else { bail!("expected f32 on the CPU") };
    let start = layout.start_offset();
    let inputs = Inputs::of(&values[start..start + rows * width]);
    let blocks = weight.data()?;
    let Some(kind) = Kind::of(weight) else { bail!("no quick product over {:?} here", weight.dtype()) };
    let row_bytes = width / BLOCK * kind.bytes();
    if blocks.len() != height * row_bytes {
        bail!("{} bytes of {kind:?} for {height} rows of {width}", blocks.len());
    }
    let mut out = vec![0_f32; rows * height];
    let target = Out::of(&mut out);
    share(height, |range| {
        let weights = &blocks[range.start * row_bytes..range.end * row_bytes];
        for input in 0..rows {
            // SAFETY: these rows of weights are this piece of work's alone, and so are their places in every row of output.
            let out = unsafe { target.part(input * height + range.start, range.len()) };
            dots(kind, weights, inputs.row(input, width / BLOCK), out);
        }
    });
    Tensor::from_vec(out, (rows, height), x.device())
}

/// The products of rows of weights with one of inputs, which has as many blocks as each.
#[cfg(target_arch = "x86_64")]
fn dots(kind: Kind, weights: &[u8], inputs: Row<'_>, out: &mut [f32]) {
    use super::blocks_x86::{byte_products, pairs};
    // SAFETY: only reached where `Kind::of` found what this kind needs.
    unsafe { if has_byte_products() { byte_products(kind, weights, inputs, out) } else { pairs(weights, inputs, out) } }
}

#[cfg(not(target_arch = "x86_64"))]
fn dots(_: Kind, weights: &[u8], inputs: Row<'_>, out: &mut [f32]) {
    for (row, out) in weights.chunks_exact(inputs.q.len().max(1) * BYTES).zip(out) {
        *out = dot_plain(row, inputs);
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn dot_plain(weights: &[u8], inputs: Row<'_>) -> f32 {
    let mut total = 0.0;
    for (at, block) in weights.chunks_exact(BYTES).enumerate() {
        let (d, m) = scales(block);
        let mut sum = 0_i32;
        for (place, byte) in block[4..].iter().enumerate() {
            sum += i32::from(byte & 15) * i32::from(inputs.q[at][place]);
            sum += i32::from(byte >> 4) * i32::from(inputs.q[at][place + BLOCK / 2]);
        }
        total += sum as f32 * d * inputs.scales[at] + m * inputs.sums[at];
    }
    total
}

/// A block's `d` and `m`.
pub(super) fn scales(block: &[u8]) -> (f32, f32) {
    (f16::from_le_bytes([block[0], block[1]]).to_f32(), f16::from_le_bytes([block[2], block[3]]).to_f32())
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    fn largest_difference(a: &Tensor, b: &Tensor) -> Result<f32> {
        (a - b)?.abs()?.max_all()?.to_scalar()
    }

    #[test]
    fn inputs_are_rounded_to_the_nearest_with_ties_to_even() {
        let mut values = [0.0_f32; BLOCK];
        values[..8].copy_from_slice(&[127.0, -127.0, 0.5, 1.5, -0.5, -1.5, 2.4, -2.6]);
        let input = Inputs::of(&values);
        assert_eq!(input.scales, [1.0]);
        assert_eq!(input.q[0][..8], [127, -127, 0, 2, 0, -2, 2, -3]);
        assert_eq!(input.sums, [-1.0]);
        for odd in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for times in [1, 2, BLOCK] {
                let mut values = [1.0_f32; BLOCK];
                values[..times].fill(odd);
                assert!(Inputs::of(&values).scales[0].is_nan(), "{odd} {times} times");
            }
        }
        let nothing = Inputs::of(&[0.0; BLOCK]);
        assert_eq!((nothing.scales, nothing.sums, nothing.q), (vec![0.0], vec![0.0], vec![[0; BLOCK]]));
    }

    #[test]
    fn the_quick_product_is_that_of_rounded_inputs() -> Result<()> {
        for kind in [GgmlDType::Q4_1, GgmlDType::Q8_0] {
            // Eight blocks are taken together, and what remains one by one.
            for width in [32, 128, 256, 320, 608] {
                let weight = Tensor::randn(0_f32, 0.1, (48, width), &Device::Cpu)?;
                let x = Tensor::randn(0_f32, 1.0, (3, width), &Device::Cpu)?;
                let weight = QTensor::quantize(&weight, kind)?;
                if !is_quick(&weight) {
                    assert!(product(&x, &weight).is_err());
                    continue;
                }
                let dense = x.matmul(&weight.dequantize(&Device::Cpu)?.t()?)?;
                let ours = product(&x, &weight)?;
                // Inputs are rounded to bytes: one part in 127 of each block's largest.
                assert!(largest_difference(&ours, &dense)? < 0.1, "{kind:?} {width}");
                // With the inputs as they were rounded, nothing else is.
                let inputs = Inputs::of(&x.flatten_all()?.to_vec1::<f32>()?);
                let rounded: Vec<f32> = (inputs.q.iter().zip(&inputs.scales))
                    .flat_map(|(q, scale)| q.map(|q| f32::from(q) * scale))
                    .collect();
                let rounded = Tensor::from_vec(rounded, (3, width), &Device::Cpu)?;
                let exact = rounded.matmul(&weight.dequantize(&Device::Cpu)?.t()?)?;
                assert!(largest_difference(&ours, &exact)? < 1e-4, "{kind:?} {width}");
            }
        }
        Ok(())
    }

    #[test]
    fn vector_and_plain_loops_agree() -> Result<()> {
        if !has_vectors() {
            return Ok(());
        }
        // Eight blocks are taken together, and what remains one by one.
        for blocks in [1, 4, 8, 11, 24] {
            let weight = Tensor::randn(0_f32, 0.1, (6, blocks * BLOCK), &Device::Cpu)?;
            let weight = QTensor::quantize(&weight, GgmlDType::Q4_1)?;
            let x = Tensor::randn(0_f32, 1.0, blocks * BLOCK, &Device::Cpu)?.to_vec1::<f32>()?;
            let inputs = Inputs::of(&x);
            let inputs = inputs.row(0, blocks);
            let weights = weight.data()?;
            let plain: Vec<f32> = weights.chunks_exact(blocks * BYTES).map(|row| dot_plain(row, inputs)).collect();
            let agrees = |found: &[f32]| found.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-4);
            let mut found = vec![f32::NAN; 6];
            dots(Kind::Q4_1, &weights, inputs, &mut found);
            assert!(agrees(&found), "{blocks}");
            #[cfg(target_arch = "x86_64")]
            {
                // SAFETY: the instructions are there.
                unsafe { super::super::blocks_x86::pairs(&weights, inputs, &mut found) };
                assert!(agrees(&found), "{blocks}");
            }
        }
        Ok(())
    }
}
