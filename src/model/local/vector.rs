//! Sums of products over f32, with AVX2 where the machine has it: the compiler leaves such loops one by one, since their
//! result depends on the order of additions.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256, _mm_add_ps, _mm_add_ss, _mm_cvtss_f32, _mm_movehdup_ps, _mm_movehl_ps, _mm256_add_ps,
    _mm256_castps256_ps128, _mm256_extractf128_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps, _mm256_setzero_ps,
    _mm256_storeu_ps,
};

/// Whether these loops are quicker here than candle's.
#[cfg(target_arch = "x86_64")]
pub(super) fn is_quick() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn is_quick() -> bool {
    false
}

/// The products of one row with several inputs of its length.
pub(super) fn dots<const N: usize>(row: &[f32], inputs: [&[f32]; N]) -> [f32; N] {
    let inputs = inputs.map(|input| &input[..row.len()]);
    #[cfg(target_arch = "x86_64")]
    if is_quick() {
        // SAFETY: the instructions are there, and every input is as long as the row.
        return unsafe { dots_wide(row, inputs) };
    }
    inputs.map(|input| plain(row, input))
}

/// The products of an input with each of `rows`, which stand one after the other.
pub(super) fn each_dot(input: &[f32], rows: &[f32], out: &mut [f32]) {
    let width = input.len().max(1);
    #[cfg(target_arch = "x86_64")]
    if is_quick() {
        // SAFETY: the instructions are there.
        return unsafe { each_dot_wide(input, rows, out) };
    }
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(width)) {
        *out = plain(row, input);
    }
}

/// Adds the rows to `out`, each times its weight.
pub(super) fn add_weighted(weights: &[f32], rows: &[f32], out: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_quick() {
        // SAFETY: the instructions are there.
        return unsafe { add_weighted_wide(weights, rows, out) };
    }
    for (weight, row) in weights.iter().zip(rows.chunks_exact(out.len().max(1))) {
        for (out, value) in out.iter_mut().zip(row) {
            *out += weight * value;
        }
    }
}

fn plain(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// # Safety
/// Every input is as long as the row.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn dots_wide<const N: usize>(row: &[f32], inputs: [&[f32]; N]) -> [f32; N] {
    let whole = row.len() / 16 * 16;
    let mut sums = [[_mm256_setzero_ps(); 2]; N];
    for at in (0..whole).step_by(16) {
        // SAFETY: 16 numbers from `at` on lie inside the row and, by the caller's promise, inside every input.
        unsafe {
            let weights = [_mm256_loadu_ps(row.as_ptr().add(at)), _mm256_loadu_ps(row.as_ptr().add(at + 8))];
            for (sum, input) in sums.iter_mut().zip(&inputs) {
                sum[0] = _mm256_fmadd_ps(weights[0], _mm256_loadu_ps(input.as_ptr().add(at)), sum[0]);
                sum[1] = _mm256_fmadd_ps(weights[1], _mm256_loadu_ps(input.as_ptr().add(at + 8)), sum[1]);
            }
        }
    }
    let mut out = [0.0; N];
    for ((out, sum), input) in out.iter_mut().zip(sums).zip(inputs) {
        *out = total(_mm256_add_ps(sum[0], sum[1])) + plain(&row[whole..], &input[whole..]);
    }
    out
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn each_dot_wide(input: &[f32], rows: &[f32], out: &mut [f32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(input.len().max(1))) {
        // SAFETY: the row is as long as the input.
        [*out] = unsafe { dots_wide(row, [input]) };
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn add_weighted_wide(weights: &[f32], rows: &[f32], out: &mut [f32]) {
    let width = out.len();
    let whole = width / 8 * 8;
    // Four rows at a time, so that what is added to is read and written a quarter as often.
    for (weights, rows) in weights.chunks(4).zip(rows.chunks(4 * width.max(1))) {
        for at in (0..whole).step_by(8) {
            // SAFETY: eight numbers from `at` on lie inside `out` and inside every row of the chunk.
            unsafe {
                let mut sum = _mm256_loadu_ps(out.as_ptr().add(at));
                for (weight, row) in weights.iter().zip(rows.chunks_exact(width)) {
                    sum = _mm256_fmadd_ps(_mm256_set1_ps(*weight), _mm256_loadu_ps(row.as_ptr().add(at)), sum);
                }
                _mm256_storeu_ps(out.as_mut_ptr().add(at), sum);
            }
        }
        for (weight, row) in weights.iter().zip(rows.chunks_exact(width.max(1))) {
            for (out, value) in out.iter_mut().zip(row).skip(whole) {
                *out += weight * value;
            }
        }
    }
}

/// The sum of eight lanes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
#[inline]
fn total(lanes: __m256) -> f32 {
    let four = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps::<1>(lanes));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, salt: usize) -> Vec<f32> {
        (0..n).map(|place| ((place * 37 + salt * 11) % 101) as f32 / 50.0 - 1.0).collect()
    }

    #[test]
    fn all_lengths_agree_with_the_plain_loops() {
        for width in [1, 7, 8, 9, 15, 16, 17, 64, 100] {
            let row = numbers(width, 0);
            let inputs = [numbers(width, 1), numbers(width, 2), numbers(width, 3)];
            let found = dots(&row, [&inputs[0][..], &inputs[1][..], &inputs[2][..]]);
            for (found, input) in found.iter().zip(&inputs) {
                assert!((found - plain(&row, input)).abs() < 1e-4, "{width}");
            }
            for n in [1, 3, 4, 5, 9] {
                let rows = numbers(n * width, 4);
                let mut each = vec![0.0; n];
                each_dot(&row, &rows, &mut each);
                let mut sum = row.clone();
                add_weighted(&each, &rows, &mut sum);
                let mut expected = row.clone();
                for (place, weight) in each.iter().enumerate() {
                    let one = &rows[place * width..(place + 1) * width];
                    assert!((weight - plain(&row, one)).abs() < 1e-4, "{width} {n}");
                    expected.iter_mut().zip(one).for_each(|(sum, value)| *sum += weight * value);
                }
                assert!(sum.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-3), "{width} {n}");
            }
        }
    }
}
