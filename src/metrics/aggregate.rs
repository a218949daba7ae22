//! RAGChecker's average over questions, bit for bit.

/// The sum of `values` in numpy's order of additions (pairwise summation in blocks).
///
/// Floating-point addition is not associative, so an average that must round to the same decimal as numpy's must
/// add in the same order: up to 7 values one after the other; up to 128 in eight interleaved partial sums; more
/// are halved, at a multiple of eight, and each half is summed likewise. The rounding error grows with `log n`
/// rather than `n`.
///
/// ```
/// use claimlab::metrics::pairwise_sum;
///
/// assert_eq!(pairwise_sum(&[0.5, 0.25]), 0.75);
/// let tenths = [0.1; 10];
/// assert_eq!(pairwise_sum(&tenths), 1.0);
/// assert_ne!(tenths.iter().sum::<f64>(), 1.0); // left to right: 0.9999999999999999
/// ```
#[doc(alias = "numpy.sum")]
pub fn pairwise_sum(values: &[f64]) -> f64 {
    const LANES: usize = 8;
    const BLOCK: usize = 128;
    let n = values.len();
    if n < LANES {
        return values.iter().fold(0.0, |sum, x| sum + x);
    }
    if n > BLOCK {
        let half = n / 2;
        let (left, right) = values.split_at(half - half % LANES);
        return pairwise_sum(left) + pairwise_sum(right);
    }
    let (rows, tail) = values.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for row in rows {
        for (lane, x) in lanes.iter_mut().zip(row) {
            *lane += x;
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    tail.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, x| sum + x)
}

/// RAGChecker's aggregate of one metric: the plain mean over all questions, times 100, rounded to one decimal.
///
/// Formula: `round1(100 · Σ values / n)`, summed as [`pairwise_sum`] does and rounded as numpy does (half to even
/// on the value times ten, so 18.75 becomes 18.8 and 81.25 becomes 81.2). Range: 0 to 100. No values: `None`
/// (RAGChecker writes a bare `NaN`, which is not JSON).
///
/// In RAGChecker's own use the degenerate zeros of [`Mode::RagChecker`](super::Mode::RagChecker) are among the
/// values, and F1 is the mean of the questions' F1, not the F1 of the means. Give it strict values only together
/// with the counts of the undefined and the failed.
///
/// ```
/// use claimlab::metrics::percent;
///
/// assert_eq!(percent(&[1.0, 0.5, 0.5]), Some(66.7));
/// assert_eq!(percent(&[0.1875]), Some(18.8));
/// assert_eq!(percent(&[0.8125]), Some(81.2));
/// assert_eq!(percent(&[]), None);
/// ```
pub fn percent(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let mean = pairwise_sum(values) / values.len() as f64;
    Some((mean * 100.0 * 10.0).round_ties_even() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_sums_do_not_depend_on_the_order_of_additions() {
        for n in [0, 1, 7, 8, 9, 15, 16, 127, 128, 129, 200, 1000, 4097] {
            let values: Vec<f64> = (0..n).map(|i| i as f64).collect();
            assert_eq!(pairwise_sum(&values), (n * n.max(1) - n) as f64 / 2.0, "n = {n}");
        }
    }

    #[test]
    fn rounding_follows_numpy_at_ties() {
        // Times 100 first, then times 10: 0.0055 is 5.5 tenths of a percent by one product, less by the two.
        for (mean, expected) in [(0.0035, 0.4), (0.0625, 6.2), (0.0005, 0.0), (0.0055, 0.5), (0.0145, 1.5)] {
            assert_eq!(percent(&[mean]), Some(expected), "{mean}");
        }
    }

    /// Values for which only numpy's order of additions gives this sum: 10¹⁶ swallows a 1 that is added to it.
    #[test]
    fn the_order_of_additions_is_numpys() {
        let sum = |n: usize, at: &[(usize, f64)]| {
            let mut values = vec![0.0; n];
            at.iter().for_each(|&(i, x)| values[i] = x);
            pairwise_sum(&values)
        };
        // Below eight: left to right.
        assert_eq!(sum(7, &[(0, 1e16), (1, 1.0), (2, -1e16), (3, 1.0)]), 1.0);
        // Eight lanes, joined as a tree: (10¹⁶ + 1) + (-10¹⁶ + 1).
        assert_eq!(sum(8, &[(0, 1e16), (1, 1.0), (2, -1e16), (3, 1.0)]), 0.0);
        // The tail comes last; the lanes have cancelled by then.
        assert_eq!(sum(9, &[(0, 1e16), (1, -1e16), (8, 1.0)]), 1.0);
        // 136 values are halved at 64, not at 68: the last two of these meet in a lane of the right half.
        assert_eq!(sum(136, &[(63, 1e16), (64, -1e16), (72, 1.0)]), 0.0);
    }
}
