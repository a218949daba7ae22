//! Products of few rows over Q4_1 blocks, on all threads.
//!
//! candle multiplies the other common types with vector instructions; for Q4_1 it has a plain loop. A block is 32
//! weights `d·q + m`: `d` and `m` in half precision, then 16 bytes, low nibbles first (ggml's `block_q4_1`).

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::utils::barrier_pool;
use candle_core::{CpuStorage, Result, Storage, Tensor, bail};
use half::f16;

use super::activation::widened;

/// Weights in a block.
pub(super) const BLOCK: usize = 32;
/// Bytes of a Q4_1 block.
pub(super) const BYTES: usize = 20;

/// Whether [`product`] is the quick way here.
pub(super) fn is_quick(weight: &QTensor) -> bool {
    weight.dtype() == GgmlDType::Q4_1 && has_vectors() && weight.device().is_cpu()
}

#[cfg(target_arch = "x86_64")]
fn has_vectors() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_vectors() -> bool {
    false
}

/// One block of inputs, rounded to bytes: `scale · q`, and the sum of what that stands for.
#[derive(Clone, Copy)]
#[repr(C)]
struct Input {
    scale: f32,
    sum: f32,
    q: [i8; BLOCK],
}

fn rounded(x: &[f32]) -> Vec<Input> {
    let mut inputs = vec![Input { scale: 0.0, sum: 0.0, q: [0; BLOCK] }; x.len() / BLOCK];
    round(x, &mut inputs);
    inputs
}

widened!(round, round_wide, round_plain(x: &[f32], inputs: &mut [Input]));

/// 1.5 · 2²³: a smaller number added to it is rounded to a whole one, ties to even, which then stands in the last bits.
const WHOLE: f32 = 12_582_912.0;

#[inline(always)]
fn round_plain(x: &[f32], inputs: &mut [Input]) {
    for (values, input) in x.as_chunks::<BLOCK>().0.iter().zip(inputs) {
        let mut tops = [0.0_f32; 8];
        for chunk in values.as_chunks::<8>().0 {
            for (top, value) in tops.iter_mut().zip(chunk) {
                *top = if value.abs() > *top { value.abs() } else { *top };
            }
        }
        let largest = tops.iter().fold(0.0_f32, |most, top| most.max(*top));
        input.scale = largest / 127.0;
        let inverse = if largest > 1e-30 { 127.0 / largest } else { 0.0 };
        let mut total = 0_i32;
        for (place, value) in input.q.iter_mut().zip(values) {
            let whole = ((value * inverse + WHOLE).to_bits() as i32).wrapping_sub(WHOLE.to_bits() as i32);
            *place = whole as i8;
            total = total.wrapping_add(whole);
        }
        // What is not a number has bits far from WHOLE's; it must stay visible in the product.
        if total.unsigned_abs() > 127 * BLOCK as u32 {
            input.scale = f32::NAN;
        }
        input.sum = input.scale * total as f32;
    }
}

/// Numbers that several threads write, each its own.
#[derive(Clone, Copy)]
pub(super) struct Out(*mut f32);
// SAFETY: every piece of work writes other places, and the pool ends before the vector is read.
unsafe impl Send for Out {}
// SAFETY: as above.
unsafe impl Sync for Out {}

impl Out {
    pub(super) fn of(values: &mut [f32]) -> Self {
        Self(values.as_mut_ptr())
    }

    /// # Safety
    /// `place` lies inside the vector, and nobody else writes it.
    pub(super) unsafe fn set(self, place: usize, value: f32) {
        // SAFETY: the caller's promise.
        unsafe { *self.0.add(place) = value }
    }

    /// # Safety
    /// `place` lies inside the vector.
    pub(super) unsafe fn at(self, place: usize) -> *mut f32 {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(place) }
    }

    /// # Safety
    /// The range lies inside the vector, and nobody else touches it.
    pub(super) unsafe fn part<'a>(self, from: usize, length: usize) -> &'a mut [f32] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(from), length) }
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
    let inputs = rounded(&values[start..start + rows * width]);
    let blocks = weight.data()?;
    let row_bytes = width / BLOCK * BYTES;
    if blocks.len() != height * row_bytes {
        bail!("{} bytes of Q4_1 for {height} rows of {width}", blocks.len());
    }
    let mut out = vec![0_f32; rows * height];
    let target = Out::of(&mut out);
    barrier_pool().execute_chunked(height, |range| {
        for row in range {
            let weights = &blocks[row * row_bytes..(row + 1) * row_bytes];
            for (input, values) in inputs.chunks_exact(width / BLOCK).enumerate() {
                let value = dot(weights, values);
                // SAFETY: row < height and input < rows; each pair is computed once.
                unsafe { target.set(input * height + row, value) };
            }
        }
    });
    Tensor::from_vec(out, (rows, height), x.device())
}

#[cfg(target_arch = "x86_64")]
fn dot(weights: &[u8], inputs: &[Input]) -> f32 {
    // SAFETY: only reached where `has_vectors` found these instructions.
    unsafe { dot_avx2(weights, inputs) }
}

#[cfg(not(target_arch = "x86_64"))]
fn dot(weights: &[u8], inputs: &[Input]) -> f32 {
    dot_plain(weights, inputs)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn dot_avx2(weights: &[u8], inputs: &[Input]) -> f32 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_cvtph_ps, _mm_cvtsi32_si128, _mm_cvtss_f32, _mm_loadu_si128, _mm_shuffle_ps,
        _mm_srli_epi16, _mm256_and_si256, _mm256_cvtepi32_ps, _mm256_fmadd_ps, _mm256_loadu_si256, _mm256_madd_epi16,
        _mm256_maddubs_epi16, _mm256_set_m128i, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_ps, _mm256_setzero_ps,
        _mm256_storeu_ps,
    };
    let nibble = _mm256_set1_epi8(15);
    let ones = _mm256_set1_epi16(1);
    let mut total = _mm256_setzero_ps();
    let mut offset = 0.0_f32;
    for (block, input) in weights.chunks_exact(BYTES).zip(inputs) {
        let head = i32::from_le_bytes([block[0], block[1], block[2], block[3]]);
        let scales = _mm_cvtph_ps(_mm_cvtsi32_si128(head));
        let d = _mm_cvtss_f32(scales);
        let m = _mm_cvtss_f32(_mm_shuffle_ps::<1>(scales, scales));
        // SAFETY: a block has 16 bytes after its first 4, an input 32 bytes of `q`.
        let (packed, values) = unsafe {
            (
                _mm_loadu_si128(block.as_ptr().add(4).cast::<__m128i>()),
                _mm256_loadu_si256(input.q.as_ptr().cast::<__m256i>()),
            )
        };
        let both = _mm256_set_m128i(_mm_srli_epi16::<4>(packed), packed);
        let quants = _mm256_and_si256(both, nibble);
        let sums = _mm256_madd_epi16(_mm256_maddubs_epi16(quants, values), ones);
        total = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums), _mm256_set1_ps(d * input.scale), total);
        offset = m.mul_add(input.sum, offset);
    }
    let mut lanes = [0.0_f32; 8];
    // SAFETY: eight numbers fit.
    unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), total) };
    lanes.iter().sum::<f32>() + offset
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn dot_plain(weights: &[u8], inputs: &[Input]) -> f32 {
    let mut total = 0.0;
    for (block, input) in weights.chunks_exact(BYTES).zip(inputs) {
        let (d, m) = scales(block);
        let mut sum = 0_i32;
        for (place, byte) in block[4..].iter().enumerate() {
            sum += i32::from(byte & 15) * i32::from(input.q[place]);
            sum += i32::from(byte >> 4) * i32::from(input.q[place + BLOCK / 2]);
        }
        total += sum as f32 * d * input.scale + m * input.sum;
    }
    total
}

/// A block's `d` and `m`.
pub(super) fn scales(block: &[u8]) -> (f32, f32) {
    (f16::from_le_bytes([block[0], block[1]]).to_f32(), f16::from_le_bytes([block[2], block[3]]).to_f32())
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Module};

    use super::*;

    fn case() -> Result<(Tensor, QTensor)> {
        let weight = Tensor::randn(0_f32, 0.1, (48, 128), &Device::Cpu)?;
        Ok((Tensor::randn(0_f32, 1.0, (3, 128), &Device::Cpu)?, QTensor::quantize(&weight, GgmlDType::Q4_1)?))
    }

    fn largest_difference(a: &Tensor, b: &Tensor) -> Result<f32> {
        (a - b)?.abs()?.max_all()?.to_scalar()
    }

    #[test]
    fn inputs_are_rounded_to_the_nearest_with_ties_to_even() {
        let mut values = [0.0_f32; BLOCK];
        values[..8].copy_from_slice(&[127.0, -127.0, 0.5, 1.5, -0.5, -1.5, 2.4, -2.6]);
        let input = rounded(&values)[0];
        assert_eq!(input.scale, 1.0);
        assert_eq!(input.q[..8], [127, -127, 0, 2, 0, -2, 2, -3]);
        assert_eq!(input.sum, -1.0);
        for odd in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for times in [1, 2, BLOCK] {
                let mut values = [1.0_f32; BLOCK];
                values[..times].fill(odd);
                assert!(rounded(&values)[0].scale.is_nan(), "{odd} {times} times");
            }
        }
        let nothing = rounded(&[0.0; BLOCK])[0];
        assert_eq!((nothing.scale, nothing.sum, nothing.q), (0.0, 0.0, [0; BLOCK]));
    }

    #[test]
    fn the_quick_product_agrees_with_candles_and_with_the_plain_loop() -> Result<()> {
        let (x, weight) = case()?;
        let dense = x.matmul(&weight.dequantize(&Device::Cpu)?.t()?)?;
        let ours = product(&x, &weight)?;
        // Inputs are rounded to bytes: one part in 127 of each block's largest.
        assert!(largest_difference(&ours, &dense)? < 0.05);
        let candles = candle_core::quantized::QMatMul::from_qtensor(weight)?.forward(&x)?;
        assert!(largest_difference(&ours, &candles)? < 0.01);
        Ok(())
    }

    #[test]
    fn vector_and_plain_loops_agree() -> Result<()> {
        let (x, weight) = case()?;
        let inputs = rounded(&x.flatten_all()?.to_vec1::<f32>()?[..128]);
        let data = weight.data()?;
        for row in data.chunks_exact(128 / BLOCK * BYTES) {
            assert!((dot(row, &inputs) - dot_plain(row, &inputs)).abs() < 1e-4);
        }
        Ok(())
    }
}
