//! pass^k: the probability that k independent attempts all succeed.

use std::fmt;

/// What a missing or failed attempt counts as, and a judgement that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MissingPolicy {
    /// As a failure: every task has as many attempts as the system has attempt numbers (τ-bench's convention).
    CountsAsFailure,
    /// Not at all: a task has the attempts that were scored; tasks with fewer than k are left out and counted
    /// (τ²-bench's convention, except that k is not lowered).
    LeftOut,
}

impl MissingPolicy {
    /// The spelling in tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CountsAsFailure => "missing_counts_as_failure",
            Self::LeftOut => "missing_left_out",
        }
    }
}

impl fmt::Display for MissingPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The unbiased estimate of pᵏ from `c` successes in `n` independent attempts, C(c, k) / C(n, k) (Yao et al. 2024,
/// arXiv 2406.12045, section 2); `None` where k is 0 or above n, or c above n. Computed as a product of ratios, so
/// nothing overflows.
///
/// ```
/// use claimlab::calibration::pass_hat_k;
/// assert_eq!(pass_hat_k(4, 2, 1), Some(0.5));
/// assert_eq!(pass_hat_k(4, 2, 2), Some(1.0 / 6.0));
/// assert_eq!(pass_hat_k(4, 2, 3), Some(0.0));
/// assert_eq!(pass_hat_k(4, 2, 5), None); // k > n
/// ```
#[must_use]
pub fn pass_hat_k(n: u64, c: u64, k: u64) -> Option<f64> {
    if k == 0 || k > n || c > n {
        return None;
    }
    if c < k {
        return Some(0.0);
    }
    // C(c, k) / C(n, k) is also C(n − k, n − c) / C(n, n − c): the shorter product is the more exact one.
    let missed = n - c;
    let ratio = |above: u64, below: u64| above as f64 / below as f64;
    Some(if k <= missed {
        (0..k).map(|i| ratio(c - i, n - i)).product()
    } else {
        (0..missed).map(|i| ratio(n - k - i, n - i)).product()
    })
}

#[cfg(test)]
mod tests {
    use super::pass_hat_k;

    #[test]
    fn all_and_none() {
        for n in 1..=60 {
            for k in 1..=n {
                assert_eq!(pass_hat_k(n, n, k), Some(1.0));
                assert_eq!(pass_hat_k(n, 0, k), Some(0.0));
                assert!((pass_hat_k(n, k, 1).unwrap() - k as f64 / n as f64).abs() < 1e-15);
            }
        }
        assert_eq!(pass_hat_k(0, 0, 1), None);
        assert_eq!(pass_hat_k(3, 4, 1), None);
        assert_eq!(pass_hat_k(3, 3, 0), None);
    }

    #[test]
    fn it_is_the_share_of_subsets_that_all_succeed() {
        // By counting subsets of a list whose first c entries succeed.
        for n in 1..=10_u32 {
            for c in 0..=n {
                for k in 1..=n {
                    let subsets: Vec<u32> = (0_u32..1 << n).filter(|set| set.count_ones() == k).collect();
                    let good = subsets.iter().filter(|set| **set < 1 << c).count();
                    let share = good as f64 / subsets.len() as f64;
                    let found = pass_hat_k(n.into(), c.into(), k.into()).unwrap();
                    assert!((found - share).abs() < 1e-14, "{n} {c} {k}: {found} {share}");
                }
            }
        }
    }
}
