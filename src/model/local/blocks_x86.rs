//! Products of Q4_1 and Q8_0 blocks with inputs rounded to bytes, in vector instructions of two ages.

use std::arch::x86_64::{
    __m128i, __m256, __m256i, _MM_HINT_T0, _mm_cvtph_ps, _mm_cvtsi32_si128, _mm_cvtss_f32, _mm_loadu_si128,
    _mm_prefetch, _mm_shuffle_ps, _mm_srli_epi16, _mm256_add_ps, _mm256_and_si256, _mm256_cvtepi32_epi16,
    _mm256_cvtepi32_ps, _mm256_cvtph_ps, _mm256_dpbusd_epi32, _mm256_fmadd_ps, _mm256_i32gather_epi32, _mm256_loadu_ps,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_mul_ps, _mm256_set_m128i, _mm256_set1_epi8,
    _mm256_set1_epi16, _mm256_set1_ps, _mm256_setr_epi32, _mm256_setzero_ps, _mm256_setzero_si256, _mm256_srli_epi32,
    _mm256_storeu_ps, _mm256_xor_si256,
};

use super::blocks::{BLOCK, Kind, Row};
use super::vector::total;

/// Blocks whose scales are unpacked together.
const TOGETHER: usize = 8;
/// Bytes ahead that are asked for: memory takes longer to answer than the processor's own guess of what comes looks ahead.
const AHEAD: usize = 4096;
/// Bytes of a line of the caches.
const LINE: usize = 64;
/// What is added to bytes with a sign to make them bytes without one.
const MIDDLE: f32 = 128.0;

/// Whether [`byte_products`] can run here.
pub(super) fn is_quickest() -> bool {
    is_x86_feature_detected!("avx512vnni")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("f16c")
}

/// The products of rows of weights with one of inputs, which has as many blocks as each; with instructions that multiply
/// bytes and add them up.
///
/// # Safety
/// [`is_quickest`], AVX2 and FMA.
#[target_feature(enable = "avx2,fma,f16c,avx512f,avx512vl,avx512bw,avx512vnni")]
pub(super) unsafe fn byte_products(kind: Kind, weights: &[u8], inputs: Row<'_>, out: &mut [f32]) {
    for (row, out) in weights.chunks_exact(inputs.q.len().max(1) * kind.bytes()).zip(out) {
        *out = match kind {
            Kind::Q4_1 => byte_product::<false>(row, inputs),
            Kind::Q8_0 => byte_product::<true>(row, inputs),
        };
    }
}

/// Scales are unpacked eight at a time. A row of weights that ends too early ends the product.
#[target_feature(enable = "avx2,fma,f16c,avx512f,avx512vl,avx512bw,avx512vnni")]
#[inline]
fn byte_product<const IS_Q8: bool>(weights: &[u8], inputs: Row<'_>) -> f32 {
    let kind = if IS_Q8 { Kind::Q8_0 } else { Kind::Q4_1 };
    let bytes = kind.bytes() as i32;
    let places = _mm256_setr_epi32(0, bytes, 2 * bytes, 3 * bytes, 4 * bytes, 5 * bytes, 6 * bytes, 7 * bytes);
    let mut totals = [_mm256_setzero_ps(); 2];
    let mut offset = _mm256_setzero_ps();
    let eights = weights.chunks_exact(TOGETHER * kind.bytes());
    let rest = eights.remainder();
    let (all_q, rest_q) = inputs.q.as_chunks::<TOGETHER>();
    let (all_sums, rest_sums) = inputs.sums.as_chunks::<TOGETHER>();
    let (all_scales, rest_scales) = inputs.scales.as_chunks::<TOGETHER>();
    for (((blocks, q), sums), input_scales) in eights.zip(all_q).zip(all_sums).zip(all_scales) {
        let blocks = blocks.as_ptr();
        for line in 0..(TOGETHER * kind.bytes()).div_ceil(LINE) {
            // Wherever this points, asking for it ahead of time reads nothing.
            _mm_prefetch::<_MM_HINT_T0>(blocks.cast::<i8>().wrapping_add(AHEAD + LINE * line));
        }
        // SAFETY: eight blocks begin `bytes` apart; as many scales and sums of inputs stand beside them.
        let (heads, sums, input_scales) = unsafe {
            (
                _mm256_i32gather_epi32::<1>(blocks.cast(), places),
                _mm256_loadu_ps(sums.as_ptr()),
                _mm256_loadu_ps(input_scales.as_ptr()),
            )
        };
        let d = _mm256_cvtph_ps(_mm256_cvtepi32_epi16(heads));
        let m = if IS_Q8 {
            _mm256_mul_ps(d, _mm256_set1_ps(-MIDDLE))
        } else {
            _mm256_cvtph_ps(_mm256_cvtepi32_epi16(_mm256_srli_epi32::<16>(heads)))
        };
        offset = _mm256_fmadd_ps(m, sums, offset);
        let mut scales = [0.0_f32; TOGETHER];
        // SAFETY: eight numbers fit.
        unsafe { _mm256_storeu_ps(scales.as_mut_ptr(), _mm256_mul_ps(d, input_scales)) };
        // By number, since a loop of known length over arrays is unrolled.
        for place in 0..TOGETHER {
            let total = &mut totals[place % 2];
            // SAFETY: the block is one of eight.
            *total = unsafe { added::<IS_Q8>(*total, blocks.add(place * kind.bytes()), &q[place], scales[place]) };
        }
    }
    let mut rest_offset = 0.0;
    for (((block, q), sum), scale) in rest.chunks_exact(kind.bytes()).zip(rest_q).zip(rest_sums).zip(rest_scales) {
        let (d, m) = head(block.first_chunk().unwrap_or(&[0; 4]));
        let m = if IS_Q8 { -MIDDLE * d } else { m };
        // SAFETY: a whole block.
        totals[0] = unsafe { added::<IS_Q8>(totals[0], block.as_ptr(), q, d * scale) };
        rest_offset = m.mul_add(*sum, rest_offset);
    }
    total(_mm256_add_ps(_mm256_add_ps(totals[0], totals[1]), offset)) + rest_offset
}

/// A sum to which a block's products with an input are added, times `scale`.
///
/// # Safety
/// A whole block begins at `block`.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512vnni")]
#[inline]
unsafe fn added<const IS_Q8: bool>(sum: __m256, block: *const u8, q: &[i8; BLOCK], scale: f32) -> __m256 {
    // SAFETY: an input has 32 bytes, and the caller's promise.
    let (values, quants) = unsafe {
        let quants = if IS_Q8 {
            // As bytes without a sign: what that adds to the product is part of the offset.
            _mm256_xor_si256(_mm256_loadu_si256(block.add(2).cast()), _mm256_set1_epi8(i8::MIN))
        } else {
            nibbles(block)
        };
        (_mm256_loadu_si256(q.as_ptr().cast()), quants)
    };
    let products = _mm256_dpbusd_epi32(_mm256_setzero_si256(), quants, values);
    _mm256_fmadd_ps(_mm256_cvtepi32_ps(products), _mm256_set1_ps(scale), sum)
}

/// The first two numbers of a block.
#[target_feature(enable = "f16c")]
#[inline]
fn head(block: &[u8; 4]) -> (f32, f32) {
    let both = _mm_cvtph_ps(_mm_cvtsi32_si128(i32::from_le_bytes(*block)));
    (_mm_cvtss_f32(both), _mm_cvtss_f32(_mm_shuffle_ps::<1>(both, both)))
}

/// The same for Q4_1 with AVX2, which adds products of bytes in pairs.
///
/// # Safety
/// AVX2, FMA and F16C.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn pairs(weights: &[u8], inputs: Row<'_>, out: &mut [f32]) {
    for (row, out) in weights.chunks_exact(inputs.q.len().max(1) * Kind::Q4_1.bytes()).zip(out) {
        *out = pair_products(row, inputs);
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn pair_products(weights: &[u8], inputs: Row<'_>) -> f32 {
    let ones = _mm256_set1_epi16(1);
    let mut sum = _mm256_setzero_ps();
    let mut offset = 0.0_f32;
    let inputs = inputs.q.iter().zip(inputs.scales).zip(inputs.sums);
    for (block, ((q, scale), input_sum)) in weights.chunks_exact(Kind::Q4_1.bytes()).zip(inputs) {
        let (d, m) = head(block.first_chunk().unwrap_or(&[0; 4]));
        // SAFETY: an input has 32 bytes, and a block is whole.
        let (values, quants) = unsafe { (_mm256_loadu_si256(q.as_ptr().cast::<__m256i>()), nibbles(block.as_ptr())) };
        let sums = _mm256_madd_epi16(_mm256_maddubs_epi16(quants, values), ones);
        sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums), _mm256_set1_ps(d * scale), sum);
        offset = m.mul_add(*input_sum, offset);
    }
    total(sum) + offset
}

/// The 32 weights of a Q4_1 block as bytes.
///
/// # Safety
/// A whole block begins here.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn nibbles(block: *const u8) -> __m256i {
    // SAFETY: a block has 16 bytes after its first 4.
    let packed = unsafe { _mm_loadu_si128(block.add(4).cast::<__m128i>()) };
    _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16::<4>(packed), packed), _mm256_set1_epi8(15))
}
