//! Shares of counted items.

use super::normal::normal_quantile;

/// Wilson's score interval for a share of `n` independent items (Wilson 1927).
///
/// Centre `(p + z²/2n) / (1 + z²/n)`, half-width `z · √(p(1 − p)/n + z²/4n²) / (1 + z²/n)`. It stays in 0..=1 and has
/// width where the share is 0 or 1. For items that come in clusters (claims of one answer) it is too narrow: see
/// [`cluster_bootstrap`](super::cluster_bootstrap).
///
/// `None` without items, when more are counted than there are, or for a level that is not between 0 and 1.
///
/// ```
/// use claimlab::analysis::wilson;
///
/// let (low, high) = wilson(1, 7, 0.95).unwrap(); // one contradiction of seven found
/// assert!((low - 0.0257).abs() < 1e-4 && (high - 0.5131).abs() < 1e-4);
/// assert_eq!(wilson(0, 0, 0.95), None);
/// ```
#[must_use]
pub fn wilson(count: u64, n: u64, level: f64) -> Option<(f64, f64)> {
    if n == 0 || count > n || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let (size, share) = (n as f64, count as f64 / n as f64);
    let z = normal_quantile((1.0 + level) / 2.0);
    let scale = 1.0 + z * z / size;
    let centre = (share + z * z / (2.0 * size)) / scale;
    let half = z * (share * (1.0 - share) / size + z * z / (4.0 * size * size)).sqrt() / scale;
    // At the ends the bound is exact; the subtraction is not.
    let low = if count == 0 { 0.0 } else { centre - half };
    let high = if count == n { 1.0 } else { centre + half };
    Some((low.max(0.0), high.min(1.0)))
}

/// The smallest mean difference between two systems on the same `n` questions that a two-sided test at level
/// `alpha` finds with probability `power`: `(z(1 − alpha/2) + z(power)) · sd / √n`, where `sd` is the standard
/// deviation of the questions' differences (Miller 2024, arXiv:2411.00640, section 5, for one draw a question).
///
/// For shares of a yes/no outcome `sd` is about the root of the share of questions on which the two differ.
///
/// `None` below two questions or for numbers out of range.
///
/// ```
/// use claimlab::analysis::minimum_detectable_difference;
///
/// // 317 questions, two systems that disagree on a fifth of them.
/// let difference = minimum_detectable_difference(0.2_f64.sqrt(), 317, 0.05, 0.8).unwrap();
/// assert!((difference - 0.0704).abs() < 1e-4);
/// ```
#[doc(alias = "power")]
#[must_use]
pub fn minimum_detectable_difference(sd: f64, n: usize, alpha: f64, power: f64) -> Option<f64> {
    let inside = |share: f64| share > 0.0 && share < 1.0;
    if n < 2 || !sd.is_finite() || sd < 0.0 || !inside(alpha) || !inside(power) {
        return None;
    }
    Some((normal_quantile(1.0 - alpha / 2.0) + normal_quantile(power)) * sd / (n as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_the_share_and_stays_between_0_and_1() {
        for (count, n) in [(0, 1), (1, 1), (0, 40), (40, 40), (3, 10), (999, 1000)] {
            let (low, high) = wilson(count, n, 0.95).unwrap();
            let share = count as f64 / n as f64;
            assert!(0.0 <= low && low <= share && share <= high && high <= 1.0 && low < high, "{count}/{n}");
        }
        assert_eq!(wilson(2, 1, 0.95), None);
        assert_eq!(wilson(1, 2, 1.0), None);
        assert_eq!(minimum_detectable_difference(f64::NAN, 10, 0.05, 0.8), None);
        assert_eq!(minimum_detectable_difference(0.1, 1, 0.05, 0.8), None);
    }
}
