//! Arithmetic that any table of results must satisfy, ours and others'.

use crate::metrics::Metric;

/// Sums that are 1 for every response: each of its claims is correct, noise or invented; and in a chunk, known
/// otherwise or invented.
pub(super) const IDENTITIES: [&[Metric]; 2] = [
    &[
        Metric::Precision,
        Metric::NoiseSensitivityInRelevant,
        Metric::NoiseSensitivityInIrrelevant,
        Metric::Hallucination,
    ],
    &[Metric::Hallucination, Metric::SelfKnowledge, Metric::Faithfulness],
];

/// A number in per cent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share(pub f64);

/// The least and the greatest of shares that must be equal, if they are further apart than rounding explains.
pub(super) fn spread(shares: &[Share], rounding: f64) -> Option<(f64, f64)> {
    let low = shares.iter().map(|share| share.0).reduce(f64::min)?;
    let high = shares.iter().map(|share| share.0).reduce(f64::max)?;
    (high - low > rounding).then_some((low, high))
}

/// Whether some whole number out of `n` gives this percentage when rounded to one decimal (the GRIM test: Brown &
/// Heathers 2017, *Social Psychological and Personality Science* 8, 363–369).
pub(super) fn is_reachable(percent: f64, n: usize) -> bool {
    let near = percent * n as f64 / 100.0;
    let rounds_to_it = |count: f64| {
        count >= 0.0 && count <= n as f64 && ((count * 1000.0 / n as f64).round() / 10.0 - percent).abs() < 1e-6
    };
    n > 0 && (rounds_to_it(near.floor()) || rounds_to_it(near.ceil()))
}

/// Whether a printed F1 can be that of the printed precision and recall, all rounded to one decimal.
pub(super) fn is_harmonic(precision: f64, recall: f64, f1: f64) -> bool {
    let mean = |p: f64, r: f64| if p + r > 0.0 { 2.0 * p * r / (p + r) } else { 0.0 };
    let half = 0.05 + 1e-9;
    mean((precision - half).max(0.0), (recall - half).max(0.0)) - half <= f1
        && f1 <= mean(precision + half, recall + half) + half
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_counts_that_exist_are_reachable() {
        // 216 and 217 of 295 are 73.2 and 73.6; 109 of 151 is 72.2.
        assert!(!is_reachable(73.4, 295));
        assert!(is_reachable(73.2, 295) && is_reachable(73.6, 295) && is_reachable(72.2, 151));
        assert!(is_reachable(0.0, 7) && is_reachable(100.0, 7) && !is_reachable(50.0, 0));
    }

    #[test]
    fn f1_must_fit_its_parts() {
        assert!(is_harmonic(84.6, 73.4, 78.6));
        assert!(is_harmonic(2.6, 14.3, 4.4));
        assert!(!is_harmonic(84.6, 73.4, 79.6));
        assert!(is_harmonic(0.0, 0.0, 0.0));
    }
}
