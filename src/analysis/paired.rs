//! Tests of paired observations: the same questions, or the same claims, under two systems.

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// McNemar's exact test of two yes/no outcomes on the same items: the two-sided p-value from the items on which they
/// differ (`only_first` have the outcome under the first alone, `only_second` under the second alone).
///
/// Under the null hypothesis each such item is a fair coin: `2 · P(Bin(n, ½) ≤ min)`, at most 1. Five items all on one
/// side give 0.0625: fewer than six can never be significant at 0.05. The items must be independent; for claims that
/// come in answers use [`sign_flip`] with the answer as cluster.
///
/// ```
/// use claimlab::analysis::mcnemar;
/// assert!((mcnemar(0, 5) - 0.0625).abs() < 1e-12);
/// assert!((mcnemar(6, 0) - 0.03125).abs() < 1e-12);
/// assert_eq!(mcnemar(0, 0), 1.0);
/// ```
#[must_use]
pub fn mcnemar(only_first: u64, only_second: u64) -> f64 {
    let (n, least) = (only_first + only_second, only_first.min(only_second));
    // Sums of C(n, i) / 2ⁿ, each term from the last one; in logarithms, since 2⁻ⁿ underflows for n above 1074.
    let mut term = -(n as f64) * std::f64::consts::LN_2;
    let mut sum = term.exp();
    for i in 0..least {
        term += ((n - i) as f64).ln() - ((i + 1) as f64).ln();
        sum += term.exp();
    }
    (2.0 * sum).min(1.0)
}

/// What a sign-flip test found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignFlip {
    /// The mean of the clusters' sums: with one value a cluster, the mean difference.
    pub mean: f64,
    /// The two-sided p-value.
    pub p: f64,
    /// How many clusters were flipped.
    pub clusters: usize,
    /// Whether all assignments of signs were tried; otherwise they were drawn.
    pub exact: bool,
}

/// The paired sign-flip permutation test (Fisher's randomisation test): were the two systems alike, each cluster's
/// difference might as well have had the other sign.
///
/// `differences` are (value, cluster); several values of a cluster are summed and flipped together. The statistic is
/// the absolute sum. With `2^clusters` at most `permutations` all assignments are tried and p is the share that reaches
/// the observed one; otherwise `permutations` are drawn and `p = (1 + reached) / (1 + permutations)` (Phipson & Smyth
/// 2010), never 0. The smallest p that G clusters can give is `2 / 2^G`.
///
/// Deterministic: permutation *r* uses stream *r* of ChaCha8 seeded with `seed`, on any number of threads.
///
/// `None` without values, or when one is not finite.
///
/// ```
/// use claimlab::analysis::sign_flip;
/// let test = sign_flip(&[(0.5, 0), (0.25, 1), (0.5, 2), (0.75, 3)], 10_000, 7).unwrap();
/// assert_eq!((test.mean, test.p, test.exact), (0.5, 0.125, true)); // two of sixteen
/// ```
#[must_use]
pub fn sign_flip(differences: &[(f64, usize)], permutations: usize, seed: u64) -> Option<SignFlip> {
    if differences.is_empty() || differences.iter().any(|(value, _)| !value.is_finite()) {
        return None;
    }
    let mut clusters: BTreeMap<usize, f64> = BTreeMap::new();
    for (value, cluster) in differences {
        *clusters.entry(*cluster).or_default() += value;
    }
    let sums: Vec<f64> = clusters.into_values().collect();
    let n = sums.len();
    let observed = sums.iter().sum::<f64>().abs();
    // Sums of the same numbers in another order differ in their last bits; those are ties.
    let slack = 1e-12 * sums.iter().map(|sum| sum.abs()).sum::<f64>();
    let reaches = |sum: f64| sum.abs() >= observed - slack;
    let exact = n < 63 && (1_u64 << n) <= permutations as u64;
    let p = if exact {
        let flipped = |signs: u64| {
            sums.iter().enumerate().map(|(bit, sum)| if signs >> bit & 1 == 1 { -sum } else { *sum }).sum::<f64>()
        };
        let reached = (0..1_u64 << n).into_par_iter().filter(|signs| reaches(flipped(*signs))).count();
        reached as f64 / (1_u64 << n) as f64
    } else {
        let seeded = ChaCha8Rng::seed_from_u64(seed);
        let drawn = |stream: usize| {
            let mut random = seeded.clone();
            random.set_stream(stream as u64);
            sums.chunks(64)
                .map(|part| {
                    let signs: u64 = random.random();
                    part.iter()
                        .enumerate()
                        .map(|(bit, sum)| if signs >> bit & 1 == 1 { -sum } else { *sum })
                        .sum::<f64>()
                })
                .sum::<f64>()
        };
        let reached = (0..permutations).into_par_iter().filter(|stream| reaches(drawn(*stream))).count();
        (1 + reached) as f64 / (1 + permutations) as f64
    };
    Some(SignFlip { mean: differences.iter().map(|(value, _)| value).sum::<f64>() / n as f64, p, clusters: n, exact })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_do_not_underflow() {
        assert!((mcnemar(1000, 1000) - 1.0).abs() < 1e-9);
        assert!(mcnemar(2000, 1000) > 0.0 && mcnemar(2000, 1000) < 1e-70);
        assert_eq!(mcnemar(3, 1), mcnemar(1, 3));
    }

    #[test]
    fn drawn_and_exact_p_values_agree_within_their_error() {
        let differences: Vec<(f64, usize)> = (0..14).map(|i| ((i * 7 % 11) as f64 / 10.0 - 0.3, i)).collect();
        let exact = sign_flip(&differences, 1 << 14, 1).unwrap();
        let drawn = sign_flip(&differences, (1 << 14) - 1, 1).unwrap();
        assert!(exact.exact && !drawn.exact);
        let error = (exact.p * (1.0 - exact.p) / f64::from(1 << 14)).sqrt();
        assert!((exact.p - drawn.p).abs() < 4.0 * error, "{} and {}", exact.p, drawn.p);
        assert_eq!(sign_flip(&differences, 500, 9), sign_flip(&differences, 500, 9));
    }

    #[test]
    fn clusters_are_flipped_whole_and_bad_values_refused() {
        // Four values of one question are one coin, not four.
        let test = sign_flip(&[(1.0, 0), (1.0, 0), (1.0, 0), (1.0, 0)], 1000, 1).unwrap();
        assert_eq!((test.p, test.clusters), (1.0, 1));
        assert_eq!(sign_flip(&[], 10, 1), None);
        assert_eq!(sign_flip(&[(f64::NAN, 0)], 10, 1), None);
        assert_eq!(sign_flip(&[(0.0, 0), (0.0, 1)], 1000, 1).unwrap().p, 1.0);
    }
}
