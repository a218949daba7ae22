//! Products of interleaved blocks with inputs rounded to bytes, in vector instructions of two ages.

use std::arch::x86_64::{
    __m512, __m512i, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm256_add_epi32, _mm256_and_si256,
    _mm256_cvtepi32_ps, _mm256_cvtph_ps, _mm256_fmadd_ps, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16,
    _mm256_mul_ps, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps,
    _mm256_setzero_si256, _mm256_srli_epi16, _mm256_storeu_ps, _mm512_add_epi32, _mm512_add_ps, _mm512_and_si512,
    _mm512_cvtepi32_ps, _mm512_cvtph_ps, _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_loadu_si512, _mm512_mul_ps,
    _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps, _mm512_setzero_si512, _mm512_srli_epi16,
    _mm512_storeu_ps,
};

use half::f16;

use super::interleaved::{BLOCK, MIDDLE, Q4_1, Q8_0, ROWS};
use super::rounded::Row;

/// Bytes ahead that are asked for: memory takes longer to answer than the processor's own guess of what comes looks ahead.
const AHEAD: usize = 4096;
/// Bytes of a line of the caches.
const LINE: usize = 64;

/// Whether [`pair_products`] can run here.
pub(super) fn has_vectors() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c")
}

/// Whether the byte products can run here, where [`has_vectors`].
pub(super) fn has_byte_products() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vnni")
}

/// The loop of both types of blocks. `$weights` gives the bytes of weights 4i to 4i + 3 of every row, i from 0 to 7;
/// `$offset` what the sum of a block's inputs is multiplied with.
macro_rules! byte_products {
    ($name:ident, $block:ty, $weights:ident, $offset:ident) => {
        /// The products of sixteen rows of weights with each of some rows of input, which have as many blocks; with
        /// instructions that multiply bytes and add them up.
        ///
        /// # Safety
        /// [`has_vectors`] and [`has_byte_products`].
        #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512vnni")]
        pub(super) unsafe fn $name<const N: usize>(blocks: &[$block], inputs: [Row<'_>; N]) -> [[f32; ROWS]; N] {
            let (mut totals, mut offsets) = ([_mm512_setzero_ps(); N], [_mm512_setzero_ps(); N]);
            let n = blocks.len();
            let inputs =
                inputs.map(|input| Row { scales: &input.scales[..n], sums: &input.sums[..n], q: &input.q[..n] });
            for (at, block) in blocks.iter().enumerate() {
                let here = std::ptr::from_ref(block).cast::<i8>();
                for line in 0..size_of::<$block>().div_ceil(LINE) {
                    // Wherever this points, asking for it ahead of time reads nothing.
                    _mm_prefetch::<_MM_HINT_T0>(here.wrapping_add(AHEAD + LINE * line));
                }
                let (weights, d, m) = ($weights(block), wide(&block.d), $offset(block));
                for ((total, offset), input) in totals.iter_mut().zip(&mut offsets).zip(&inputs) {
                    let words = input.q[at].as_chunks::<4>().0;
                    let mut products = [_mm512_setzero_si512(); 2];
                    // By number, since a loop of known length over arrays is unrolled.
                    for place in 0..BLOCK / 4 {
                        let word = _mm512_set1_epi32(i32::from_ne_bytes(words[place].map(i8::cast_unsigned)));
                        products[place % 2] = _mm512_dpbusd_epi32(products[place % 2], weights[place], word);
                    }
                    let products = _mm512_cvtepi32_ps(_mm512_add_epi32(products[0], products[1]));
                    *total = _mm512_fmadd_ps(products, _mm512_mul_ps(d, _mm512_set1_ps(input.scales[at])), *total);
                    *offset = _mm512_fmadd_ps(m, _mm512_set1_ps(input.sums[at]), *offset);
                }
            }
            let mut out = [[0.0; ROWS]; N];
            for ((out, total), offset) in out.iter_mut().zip(totals).zip(offsets) {
                // SAFETY: sixteen numbers fit.
                unsafe { _mm512_storeu_ps(out.as_mut_ptr(), _mm512_add_ps(total, offset)) };
            }
            out
        }
    };
}

byte_products!(byte_products_q4_1, Q4_1, nibbles, smallest);
byte_products!(byte_products_q8_0, Q8_0, bytes, middle);

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn nibbles(block: &Q4_1) -> [__m512i; BLOCK / 4] {
    let mut out = [_mm512_setzero_si512(); BLOCK / 4];
    let low = _mm512_set1_epi8(15);
    for (place, words) in block.q.iter().enumerate() {
        // SAFETY: sixteen words.
        let packed = unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
        out[place] = _mm512_and_si512(packed, low);
        out[place + BLOCK / 8] = _mm512_and_si512(_mm512_srli_epi16::<4>(packed), low);
    }
    out
}

#[target_feature(enable = "avx512f")]
#[inline]
fn bytes(block: &Q8_0) -> [__m512i; BLOCK / 4] {
    let mut out = [_mm512_setzero_si512(); BLOCK / 4];
    for (out, words) in out.iter_mut().zip(&block.q) {
        // SAFETY: sixteen words.
        *out = unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
    }
    out
}

#[target_feature(enable = "avx512f")]
#[inline]
fn smallest(block: &Q4_1) -> __m512 {
    wide(&block.m)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn middle(block: &Q8_0) -> __m512 {
    _mm512_mul_ps(wide(&block.d), _mm512_set1_ps(-f32::from(MIDDLE)))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn wide(halves: &[f16; ROWS]) -> __m512 {
    // SAFETY: sixteen halves.
    _mm512_cvtph_ps(unsafe { _mm256_loadu_si256(halves.as_ptr().cast()) })
}

/// The same for Q4_1 and one row of input with AVX2, which adds products of bytes in pairs.
///
/// # Safety
/// [`has_vectors`].
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn pair_products(blocks: &[Q4_1], input: Row<'_>) -> [f32; ROWS] {
    const LANES: usize = ROWS / 2;
    let (ones, low) = (_mm256_set1_epi16(1), _mm256_set1_epi8(15));
    let mut totals = [_mm256_setzero_ps(); 2];
    for (block, ((q, scale), sum)) in blocks.iter().zip(input.q.iter().zip(input.scales).zip(input.sums)) {
        let words = q.as_chunks::<4>().0;
        for (side, total) in totals.iter_mut().enumerate() {
            let mut products = _mm256_setzero_si256();
            for (place, packed) in block.q.iter().enumerate() {
                // SAFETY: eight of sixteen words.
                let packed = unsafe { _mm256_loadu_si256(packed.as_ptr().add(side * LANES).cast()) };
                let high = _mm256_srli_epi16::<4>(packed);
                for (weights, place) in [(packed, place), (high, place + BLOCK / 8)] {
                    let word = _mm256_set1_epi32(i32::from_ne_bytes(words[place].map(i8::cast_unsigned)));
                    let pairs = _mm256_maddubs_epi16(_mm256_and_si256(weights, low), word);
                    products = _mm256_add_epi32(products, _mm256_madd_epi16(pairs, ones));
                }
            }
            // SAFETY: eight of sixteen halves.
            let (d, m) = unsafe {
                let part = |halves: &[f16; ROWS]| _mm_loadu_si128(halves.as_ptr().add(side * LANES).cast());
                (_mm256_cvtph_ps(part(&block.d)), _mm256_cvtph_ps(part(&block.m)))
            };
            let scaled = _mm256_mul_ps(d, _mm256_set1_ps(*scale));
            *total = _mm256_fmadd_ps(_mm256_cvtepi32_ps(products), scaled, *total);
            *total = _mm256_fmadd_ps(m, _mm256_set1_ps(*sum), *total);
        }
    }
    let mut out = [0.0; ROWS];
    for (out, total) in out.chunks_exact_mut(LANES).zip(totals) {
        // SAFETY: eight numbers fit.
        unsafe { _mm256_storeu_ps(out.as_mut_ptr(), total) };
    }
    out
}
