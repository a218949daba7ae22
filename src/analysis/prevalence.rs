//! A share measured by a fallible checker, corrected for the checker's known errors.
//!
//! Both corrections need labels of a *random* sample of the same kind of items, and correct one yes/no predicate whose
//! items stand alone. RAGChecker's metrics are ORs over chunks and ratios of counts: an error of one in a hundred for a
//! chunk is one in ten for "any of ten chunks". For those see `study::error_sensitivity`.

use super::normal::normal_quantile;

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corrected {
    /// The share, within 0..=1.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Rogan and Gladen's correction (1978): `(p + q₀ − 1) / (q₀ + q₁ − 1)` for a share `p` of items that the checker calls
/// positive, with the checker's recall on negatives `q₀` and on positives `q₁` taken from labelled items; the interval
/// is Lang and Reiczigel's (2014, equations 6 to 8), which counts the uncertainty of all three.
///
/// `called` of `n` unlabelled items are called positive; of `positives` labelled positives `found` are called so, and
/// of `negatives` labelled negatives `cleared` are not. Clipped to 0..=1.
///
/// `None` where a denominator is empty, a count is larger than its total, or the checker is no better than chance
/// (`q₀ + q₁ ≤ 1`): nothing can be corrected then.
///
/// ```
/// use claimlab::analysis::rogan_gladen;
/// // 300 of 1,000 called entailed; a checker that finds 80 of 100 and clears 90 of 100.
/// let corrected = rogan_gladen((300, 1000), (80, 100), (90, 100), 0.95).unwrap();
/// assert!((corrected.estimate - 0.2 / 0.7).abs() < 1e-12);
/// assert!(corrected.low < 0.23 && corrected.high > 0.34);
/// ```
#[must_use]
pub fn rogan_gladen(
    (called, n): (u64, u64),
    (found, positives): (u64, u64),
    (cleared, negatives): (u64, u64),
    level: f64,
) -> Option<Corrected> {
    let valid = n > 0 && positives > 0 && negatives > 0 && called <= n && found <= positives && cleared <= negatives;
    if !valid || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let [called, n, found, positives, cleared, negatives] =
        [called, n, found, positives, cleared, negatives].map(|count| count as f64);
    let (p, q1, q0) = (called / n, found / positives, cleared / negatives);
    if q0 + q1 <= 1.0 {
        return None;
    }
    let z = normal_quantile((1.0 + level) / 2.0);
    let estimate = (p + q0 - 1.0) / (q0 + q1 - 1.0);
    // Lang and Reiczigel's added counts: z²/2 positives in z² items, one success in two labels a class.
    let (n_, m1, m0) = (n + z * z, positives + 2.0, negatives + 2.0);
    let (p_, q1_, q0_) = ((called + z * z / 2.0) / n_, (found + 1.0) / m1, (cleared + 1.0) / m0);
    let youden = q0_ + q1_ - 1.0;
    if youden <= 0.0 {
        return None;
    }
    let centre = (p_ + q0_ - 1.0) / youden;
    let (spread1, spread0) = (q1_ * (1.0 - q1_) / m1, q0_ * (1.0 - q0_) / m0);
    let shift = 2.0 * z * z * (centre * spread1 - (1.0 - centre) * spread0);
    let variance = p_ * (1.0 - p_) / n_ + (1.0 - centre).powi(2) * spread0 + centre.powi(2) * spread1;
    let half = z * variance.sqrt() / youden;
    let clip = |value: f64| value.clamp(0.0, 1.0);
    Some(Corrected { estimate: clip(estimate), low: clip(centre + shift - half), high: clip(centre + shift + half) })
}

/// Prediction-powered inference for a mean (Angelopoulos et al. 2023, arXiv:2301.09633, algorithm 1): the mean of the
/// predictions on many unlabelled items plus the mean error of the predictions on the labelled ones, with the normal
/// interval `± z · √(Var(f)/N + Var(y − f)/n)`. It needs no error rates, and is right whatever the checker; a bad checker
/// only widens it.
///
/// `labelled` are (label, prediction). Not clipped: an interval that leaves 0..=1 says that the sample is small.
///
/// `None` below two items on a side, or when a value is not finite.
///
/// ```
/// use claimlab::analysis::prediction_powered;
/// let unlabelled = [1.0, 0.0, 1.0, 1.0];
/// let labelled = [(1.0, 1.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0)];
/// let corrected = prediction_powered(&unlabelled, &labelled, 0.95).unwrap();
/// assert_eq!(corrected.estimate, 0.75 - 0.25);
/// ```
#[doc(alias = "PPI")]
#[must_use]
pub fn prediction_powered(unlabelled: &[f64], labelled: &[(f64, f64)], level: f64) -> Option<Corrected> {
    let finite = unlabelled.iter().chain(labelled.iter().flat_map(|(label, prediction)| [label, prediction]));
    if unlabelled.len() < 2 || labelled.len() < 2 || finite.copied().any(|value| !value.is_finite()) {
        return None;
    }
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    let errors: Vec<f64> = labelled.iter().map(|(label, prediction)| label - prediction).collect();
    let (mean, variance) = moments(unlabelled);
    let (shift, spread) = moments(&errors);
    let error = (variance / unlabelled.len() as f64 + spread / errors.len() as f64).sqrt();
    let half = normal_quantile((1.0 + level) / 2.0) * error;
    let estimate = mean + shift;
    Some(Corrected { estimate, low: estimate - half, high: estimate + half })
}

/// The mean and the variance (over n).
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perfect_checker_needs_no_correction_and_a_useless_one_allows_none() {
        let corrected = rogan_gladen((300, 1000), (500, 500), (500, 500), 0.95).unwrap();
        assert!((corrected.estimate - 0.3).abs() < 1e-12 && corrected.low < 0.3 && corrected.high > 0.3);
        assert_eq!(rogan_gladen((300, 1000), (50, 100), (50, 100), 0.95), None);
        assert_eq!(rogan_gladen((3, 2), (50, 100), (90, 100), 0.95), None);
        assert_eq!(rogan_gladen((1, 2), (0, 0), (90, 100), 0.95), None);
        // Fewer called than the false alarms alone would give: clipped, not negative.
        assert_eq!(rogan_gladen((10, 1000), (80, 100), (90, 100), 0.95).unwrap().estimate, 0.0);
    }

    #[test]
    fn too_few_items_have_no_prediction_powered_estimate() {
        assert_eq!(prediction_powered(&[1.0], &[(1.0, 1.0), (0.0, 0.0)], 0.95), None);
        assert_eq!(prediction_powered(&[1.0, f64::NAN], &[(1.0, 1.0), (0.0, 0.0)], 0.95), None);
    }
}
