//! Inputs rounded to bytes, 32 at a time.

use super::activation::{fused, widened};
use super::interleaved::BLOCK;

/// Rows of inputs in blocks: each number stands for `scale · q`; and the sums of what they stand for.
pub(super) struct Rounded {
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

impl Rounded {
    /// Of rows that are whole blocks.
    pub(super) fn of(x: &[f32]) -> Self {
        let n = x.len() / BLOCK;
        let mut made = Self { scales: vec![0.0; n], sums: vec![0.0; n], q: vec![[0; BLOCK]; n] };
        round(x, &mut made.scales, &mut made.sums, &mut made.q);
        made
    }

    /// A row of so many blocks.
    pub(super) fn row(&self, row: usize, blocks: usize) -> Row<'_> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_rounded_to_the_nearest_with_ties_to_even() {
        let mut values = [0.0_f32; BLOCK];
        values[..8].copy_from_slice(&[127.0, -127.0, 0.5, 1.5, -0.5, -1.5, 2.4, -2.6]);
        let input = Rounded::of(&values);
        assert_eq!(input.scales, [1.0]);
        assert_eq!(input.q[0][..8], [127, -127, 0, 2, 0, -2, 2, -3]);
        assert_eq!(input.sums, [-1.0]);
        for odd in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for times in [1, 2, BLOCK] {
                let mut values = [1.0_f32; BLOCK];
                values[..times].fill(odd);
                assert!(Rounded::of(&values).scales[0].is_nan(), "{odd} {times} times");
            }
        }
        let nothing = Rounded::of(&[0.0; BLOCK]);
        assert_eq!((nothing.scales, nothing.sums, nothing.q), (vec![0.0], vec![0.0], vec![[0; BLOCK]]));
    }
}
