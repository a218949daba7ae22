//! Products of f32 matrices, tile by tile, with all sums of a tile in registers: with AVX-512 where the machine has it,
//! else with AVX2.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64 as intrinsics;

use super::vector::is_quick;

/// A matrix of some rows, which are `step` numbers apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) numbers: &'a [f32],
    pub(super) step: usize,
}

/// Products have whole multiples of so many columns.
pub(super) const COLUMNS: usize = 16;
/// Rows of the right matrix by which its reading runs ahead.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 16;
/// Rows of the largest tile: work is best cut into multiples of it.
pub(super) const BAND: usize = 12;

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
    unsafe { multiply_into(a, b, (c.as_mut_ptr(), columns), (rows, inner, columns), false) };
    true
}

/// The same into rows that are `c`'s step apart, of which other threads may write other columns; added to what is there
/// if `is_sum`.
///
/// # Safety
/// [`is_quick`]; `a` reaches to `rows` rows of `inner` numbers, `b` to `inner` rows of `columns`, `c` to `rows` rows of
/// `columns`, which nobody else touches; `columns` is a multiple of [`COLUMNS`].
pub(super) unsafe fn multiply_into(
    a: Rows<'_>,
    b: Rows<'_>,
    c: (*mut f32, usize),
    (rows, inner, columns): (usize, usize, usize),
    is_sum: bool,
) {
    #[cfg(target_arch = "x86_64")]
    {
        let has_512 = is_x86_feature_detected!("avx512f");
        let mut column = 0;
        while column < columns {
            // SAFETY: these columns lie inside `b` and `c`, by the caller's promise.
            let (right, out) = unsafe { ((b.numbers.as_ptr().add(column), b.step), (c.0.add(column), c.1)) };
            let left = (a.numbers.as_ptr(), a.step);
            // SAFETY: the caller's promise; the instructions were looked for.
            column += unsafe {
                match (has_512, columns - column) {
                    (true, 32..) => {
                        wide::rows::<2>(left, right, out, (rows, inner), is_sum);
                        32
                    }
                    (true, _) => {
                        wide::rows::<1>(left, right, out, (rows, inner), is_sum);
                        16
                    }
                    (false, _) => {
                        narrow::rows::<2>(left, right, out, (rows, inner), is_sum);
                        16
                    }
                }
            };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (a, b, c, rows, inner, columns, is_sum);
}

/// The loops for one width of vectors, in tiles of so many rows; the sums of the tallest fill the registers.
#[cfg(target_arch = "x86_64")]
macro_rules! tiles {
    ($module:ident, $features:literal, $lanes:literal, [$($tall:literal),+],
     $zero:ident, $load:ident, $spread:ident, $multiply_add:ident, $add:ident, $store:ident) => {
        mod $module {
            use super::AHEAD;
            use super::intrinsics::{_MM_HINT_T0, _mm_prefetch};
            use super::intrinsics::{$add, $load, $multiply_add, $spread, $store, $zero};

            /// All rows, for `V` vectors of columns.
            ///
            /// # Safety
            /// As `multiply_into`, for these columns.
            #[target_feature(enable = $features)]
            pub(super) unsafe fn rows<const V: usize>(
                a: (*const f32, usize),
                b: (*const f32, usize),
                c: (*mut f32, usize),
                (rows, inner): (usize, usize),
                is_sum: bool,
            ) {
                let mut row = 0;
                while row < rows {
                    // SAFETY: these rows lie inside `a` and `c`, by the caller's promise.
                    row += unsafe {
                        let (a, c) = ((a.0.add(row * a.1), a.1), (c.0.add(row * c.1), c.1));
                        match rows - row {
                            $($tall.. => tile::<$tall, V>(a, b, c, inner, is_sum),)+
                            _ => tile::<1, V>(a, b, c, inner, is_sum),
                        }
                    };
                }
            }

            /// `N` rows; returns `N`.
            ///
            /// # Safety
            /// As `multiply_into`, for these rows and columns.
            #[target_feature(enable = $features)]
            unsafe fn tile<const N: usize, const V: usize>(
                (a, a_step): (*const f32, usize),
                (b, b_step): (*const f32, usize),
                (c, c_step): (*mut f32, usize),
                inner: usize,
                is_sum: bool,
            ) -> usize {
                let mut sums = [[$zero(); V]; N];
                // Checked sums and products of places would cost more than the work: the promise is that all are inside.
                for place in 0..inner {
                    let mut right = [$zero(); V];
                    for (lane, right) in right.iter_mut().enumerate() {
                        let at = place.wrapping_mul(b_step).wrapping_add(lane.wrapping_mul($lanes));
                        // SAFETY: the caller's promise.
                        *right = unsafe { $load(b.add(at)) };
                        if (lane * $lanes).is_multiple_of(16) {
                            // The right matrix does not fit into the first cache. A place beyond its end does no harm.
                            let ahead = b.wrapping_add(at).wrapping_add(AHEAD.wrapping_mul(b_step));
                            _mm_prefetch::<_MM_HINT_T0>(ahead.cast());
                        }
                    }
                    for (row, sums) in sums.iter_mut().enumerate() {
                        // SAFETY: the caller's promise.
                        let left = $spread(unsafe { *a.add(row.wrapping_mul(a_step).wrapping_add(place)) });
                        for (sum, right) in sums.iter_mut().zip(right) {
                            *sum = $multiply_add(left, right, *sum);
                        }
                    }
                }
                for (row, sums) in sums.iter().enumerate() {
                    for (lane, sum) in sums.iter().enumerate() {
                        // SAFETY: the caller's promise.
                        unsafe {
                            let out = c.add(row * c_step + lane * $lanes);
                            $store(out, if is_sum { $add(*sum, $load(out)) } else { *sum });
                        }
                    }
                }
                N
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
tiles!(
    wide,
    "avx512f",
    16,
    [12, 8, 6, 4, 3, 2],
    _mm512_setzero_ps,
    _mm512_loadu_ps,
    _mm512_set1_ps,
    _mm512_fmadd_ps,
    _mm512_add_ps,
    _mm512_storeu_ps
);
#[cfg(target_arch = "x86_64")]
tiles!(
    narrow,
    "avx2,fma",
    8,
    [6, 4, 3, 2],
    _mm256_setzero_ps,
    _mm256_loadu_ps,
    _mm256_set1_ps,
    _mm256_fmadd_ps,
    _mm256_add_ps,
    _mm256_storeu_ps
);

#[cfg(test)]
mod tests {
    use super::super::vector::tests::numbers;
    use super::*;

    #[test]
    fn products_agree_with_the_plain_loops() {
        for (rows, inner, columns) in [(1, 1, 16), (5, 7, 16), (6, 64, 32), (13, 33, 48), (26, 20, 64), (24, 9, 80)] {
            let (a_step, b_step) = (inner + 3, columns + 5);
            let (a, b) = (numbers(rows * a_step, 1), numbers(inner * b_step, 2));
            let mut c = vec![f32::NAN; rows * columns];
            let (left, right) = (Rows { numbers: &a, step: a_step }, Rows { numbers: &b, step: b_step });
            if !is_quick() {
                assert!(!multiply(left, right, &mut c, inner, columns));
                return;
            }
            assert!(multiply(left, right, &mut c, inner, columns));
            let expected = |place: usize| -> f32 {
                let (row, column) = (place / columns, place % columns);
                (0..inner).map(|i| a[row * a_step + i] * b[i * b_step + column]).sum()
            };
            let agrees = |c: &[f32], times: f32| {
                c.iter().enumerate().all(|(place, found)| (found - times * expected(place)).abs() < 1e-4)
            };
            assert!(agrees(&c, 1.0), "{rows} {inner} {columns}");
            // SAFETY: the same numbers, whose reach was looked at.
            unsafe { multiply_into(left, right, (c.as_mut_ptr(), columns), (rows, inner, columns), true) };
            assert!(agrees(&c, 2.0), "{rows} {inner} {columns}");
            #[cfg(target_arch = "x86_64")]
            for column in (0..columns).step_by(COLUMNS) {
                // SAFETY: as above; `is_quick` has found the instructions. Where both widths exist, both are tried.
                unsafe {
                    let (right, out) = ((b.as_ptr().add(column), b_step), (c.as_mut_ptr().add(column), columns));
                    narrow::rows::<2>((a.as_ptr(), a_step), right, out, (rows, inner), false);
                }
            }
            assert!(cfg!(not(target_arch = "x86_64")) || agrees(&c, 1.0), "{rows} {inner} {columns}");
            assert!(!multiply(left, Rows { numbers: &b[..columns], step: b_step }, &mut c, inner + 1, columns));
            assert!(!multiply(left, right, &mut c, inner, columns - 1));
        }
    }
}
