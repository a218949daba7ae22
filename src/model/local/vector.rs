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

/// A matrix of some rows, which are `step` numbers apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) numbers: &'a [f32],
    pub(super) step: usize,
}

/// Columns that [`multiply`] computes at a time.
pub(super) const COLUMNS: usize = 16;
/// Rows that it computes at a time.
pub(super) const BAND: usize = 6;

/// `c = a b`: `a` has rows of `inner` numbers, `b` has `inner` rows, `c` has rows of `columns` numbers, whole multiples of
/// [`COLUMNS`], without gaps. False, and nothing is done, if the numbers do not suffice or the machine lacks AVX2.
pub(super) fn multiply(a: Rows<'_>, b: Rows<'_>, c: &mut [f32], inner: usize, columns: usize) -> bool {
    if inner == 0 || columns == 0 || !columns.is_multiple_of(COLUMNS) || !is_quick() {
        return false;
    }
    let rows = c.len() / columns;
    let reaches = |matrix: Rows<'_>, rows: usize, width: usize| {
        rows == 0 || (rows - 1) * matrix.step + width <= matrix.numbers.len()
    };
    if !reaches(a, rows, inner) || !reaches(b, inner, columns) {
        return false;
    }
    // SAFETY: the instructions are there, and all rows lie inside their slices.
    unsafe { multiply_into(a, b, (c.as_mut_ptr(), columns), (rows, inner, columns)) };
    true
}

/// The same into rows that are `c`'s step apart, of which other threads may write other columns.
///
/// # Safety
/// [`is_quick`]; `a` reaches to `rows` rows of `inner` numbers, `b` to `inner` rows of `columns`, `c` to `rows` rows of
/// `columns`, which nobody else touches; `columns` is a multiple of [`COLUMNS`].
pub(super) unsafe fn multiply_into(
    a: Rows<'_>,
    b: Rows<'_>,
    c: (*mut f32, usize),
    (rows, inner, columns): (usize, usize, usize),
) {
    #[cfg(target_arch = "x86_64")]
    for column in (0..columns).step_by(COLUMNS) {
        let mut row = 0;
        while row < rows {
            // SAFETY: these rows and columns lie inside all three, by the caller's promise.
            unsafe {
                let left = (a.numbers.as_ptr().add(row * a.step), a.step);
                let right = (b.numbers.as_ptr().add(column), b.step);
                let out = (c.0.add(row * c.1 + column), c.1);
                if row + BAND <= rows {
                    tile::<BAND>(left, right, out, inner);
                    row += BAND;
                } else {
                    tile::<1>(left, right, out, inner);
                    row += 1;
                }
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (a, b, c, rows, inner, columns);
}

fn plain(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Some rows and 16 columns of a product, all sums in registers.
///
/// # Safety
/// As [`multiply_into`], for `N` rows and 16 columns from these places on.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn tile<const N: usize>(
    (a, a_step): (*const f32, usize),
    (b, b_step): (*const f32, usize),
    (c, c_step): (*mut f32, usize),
    inner: usize,
) {
    let mut sums = [[_mm256_setzero_ps(); 2]; N];
    for place in 0..inner {
        // SAFETY: the caller's promise.
        unsafe {
            let right = b.add(place * b_step);
            let (low, high) = (_mm256_loadu_ps(right), _mm256_loadu_ps(right.add(8)));
            for (row, sum) in sums.iter_mut().enumerate() {
                let left = _mm256_set1_ps(*a.add(row * a_step + place));
                sum[0] = _mm256_fmadd_ps(left, low, sum[0]);
                sum[1] = _mm256_fmadd_ps(left, high, sum[1]);
            }
        }
    }
    for (row, sum) in sums.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe {
            _mm256_storeu_ps(c.add(row * c_step), sum[0]);
            _mm256_storeu_ps(c.add(row * c_step + 8), sum[1]);
        }
    }
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
    fn products_of_matrices_agree_with_the_plain_loops() {
        for (rows, inner, columns) in [(1, 1, 16), (5, 7, 16), (6, 64, 32), (13, 33, 48)] {
            let (a_step, b_step) = (inner + 3, columns + 5);
            let (a, b) = (numbers(rows * a_step, 1), numbers(inner * b_step, 2));
            let mut c = vec![f32::NAN; rows * columns];
            let (left, right) = (Rows { numbers: &a, step: a_step }, Rows { numbers: &b, step: b_step });
            if !is_quick() {
                assert!(!multiply(left, right, &mut c, inner, columns));
                return;
            }
            assert!(multiply(left, right, &mut c, inner, columns));
            for (place, found) in c.iter().enumerate() {
                let (row, column) = (place / columns, place % columns);
                let expected: f32 = (0..inner).map(|i| a[row * a_step + i] * b[i * b_step + column]).sum();
                assert!((found - expected).abs() < 1e-4, "{rows} {inner} {columns}");
            }
            assert!(!multiply(left, Rows { numbers: &b[..columns], step: b_step }, &mut c, inner + 1, columns));
            assert!(!multiply(left, right, &mut c, inner, columns - 1));
        }
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
