//! Sums of products over f32, with AVX2 where the machine has it: the compiler leaves such loops one by one, since their
//! result depends on the order of additions.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256, _mm_add_ps, _mm_add_ss, _mm_cvtss_f32, _mm_movehdup_ps, _mm_movehl_ps, _mm_storeu_ps, _mm256_add_ps,
    _mm256_castps256_ps128, _mm256_extractf128_ps, _mm256_fmadd_ps, _mm256_hadd_ps, _mm256_loadu_ps, _mm256_set1_ps,
    _mm256_setzero_ps, _mm256_storeu_ps,
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

/// The product of a row with an input of its length.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
#[inline]
fn dot_wide(row: &[f32], input: &[f32]) -> f32 {
    let mut sums = [_mm256_setzero_ps(); 2];
    let ((rows, rest), (inputs, input_rest)) = (row.as_chunks::<16>(), input.as_chunks::<16>());
    for (row, input) in rows.iter().zip(inputs) {
        for (half, sum) in sums.iter_mut().enumerate() {
            // SAFETY: eight of sixteen numbers.
            let (row, input) =
                unsafe { (_mm256_loadu_ps(row.as_ptr().add(8 * half)), _mm256_loadu_ps(input.as_ptr().add(8 * half))) };
            *sum = _mm256_fmadd_ps(row, input, *sum);
        }
    }
    total(_mm256_add_ps(sums[0], sums[1])) + plain(rest, input_rest)
}

/// Rows whose sums are added up together.
#[cfg(target_arch = "x86_64")]
const TOGETHER: usize = 4;

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn each_dot_wide(input: &[f32], rows: &[f32], out: &mut [f32]) {
    let width = input.len().max(1);
    let (eights, rest) = input.as_chunks::<LANES>();
    let (fours, last) = out.as_chunks_mut::<TOGETHER>();
    let together = TOGETHER * width;
    for (out, rows) in fours.iter_mut().zip(rows.chunks_exact(together)) {
        let mut sums = [_mm256_setzero_ps(); TOGETHER];
        for (at, input) in eights.iter().enumerate() {
            // SAFETY: eight numbers of the input, and as many of each row, from this place on.
            unsafe {
                let input = _mm256_loadu_ps(input.as_ptr());
                for (row, sum) in sums.iter_mut().enumerate() {
                    // Checked, these products would cost more than the work.
                    let place = row.wrapping_mul(width).wrapping_add(at.wrapping_mul(LANES));
                    *sum = _mm256_fmadd_ps(input, _mm256_loadu_ps(rows.as_ptr().add(place)), *sum);
                }
            }
        }
        let [a, b, c, d] = sums;
        let pairs = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
        let four = _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps::<1>(pairs));
        // SAFETY: four numbers fit.
        unsafe { _mm_storeu_ps(out.as_mut_ptr(), four) };
        if !rest.is_empty() {
            for (out, row) in out.iter_mut().zip(rows.chunks_exact(width)) {
                *out += plain(&row[width - rest.len()..], rest);
            }
        }
    }
    let done = fours.len() * together;
    for (out, row) in last.iter_mut().zip(rows[done.min(rows.len())..].chunks_exact(width)) {
        *out = dot_wide(row, input);
    }
}

/// Numbers of a vector.
#[cfg(target_arch = "x86_64")]
const LANES: usize = 8;

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn add_weighted_wide(weights: &[f32], rows: &[f32], out: &mut [f32]) {
    let width = out.len();
    let (large, rest) = out.as_chunks_mut::<{ 8 * LANES }>();
    let mut column = 0;
    for out in large {
        // SAFETY: these columns lie inside every row.
        unsafe { add_columns::<8>(weights, rows, out.as_mut_ptr(), (column, width)) };
        column += 8 * LANES;
    }
    let (small, rest) = rest.as_chunks_mut::<LANES>();
    for out in small {
        // SAFETY: as above.
        unsafe { add_columns::<1>(weights, rows, out.as_mut_ptr(), (column, width)) };
        column += LANES;
    }
    if !rest.is_empty() {
        for (weight, row) in weights.iter().zip(rows.chunks_exact(width)) {
            rest.iter_mut().zip(&row[column..]).for_each(|(out, value)| *out += weight * value);
        }
    }
}

/// Adds `N` vectors of columns of all rows, sums in registers.
///
/// # Safety
/// `out` and every row from the column on have as many numbers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn add_columns<const N: usize>(weights: &[f32], rows: &[f32], out: *mut f32, (column, width): (usize, usize)) {
    let mut sums = [_mm256_setzero_ps(); N];
    for (lane, sum) in sums.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        *sum = unsafe { _mm256_loadu_ps(out.add(lane.wrapping_mul(LANES))) };
    }
    for (weight, row) in weights.iter().zip(rows.chunks_exact(width)) {
        let weight = _mm256_set1_ps(*weight);
        let row = row[column..].as_ptr();
        for (lane, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *sum = _mm256_fmadd_ps(weight, unsafe { _mm256_loadu_ps(row.add(lane.wrapping_mul(LANES))) }, *sum);
        }
    }
    for (lane, sum) in sums.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { _mm256_storeu_ps(out.add(lane.wrapping_mul(LANES)), *sum) };
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
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn numbers(n: usize, salt: usize) -> Vec<f32> {
        (0..n).map(|place| ((place * 37 + salt * 11) % 101) as f32 / 50.0 - 1.0).collect()
    }

    #[test]
    fn all_lengths_agree_with_the_plain_loops() {
        for width in [1, 7, 8, 9, 15, 16, 17, 64, 100, 145] {
            let row = numbers(width, 0);
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
