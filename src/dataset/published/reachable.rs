//! Whether printed percentages can come from whole numbers.

/// Half of the last printed digit, in percent points, with room for either convention at a tie.
const HALF: f64 = 0.05 + 1e-9;
/// How far to look for a number of cases that would do.
const NEAR: i64 = 20;

/// Whole numbers that give printed percentages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// Cases of the class.
    pub n: i64,
    /// Cases of the class that were found: recall is `correct / n`.
    pub correct: i64,
    /// Cases that were said to be of the class: precision is `correct / predicted`.
    pub predicted: i64,
}

/// The ways in which precision, recall and F1 (in percent, printed to one decimal) can come from `n` cases: whole numbers
/// `correct ≤ n` and `predicted ≥ correct` whose ratios round to what is printed. None means that the row cannot be right
/// for this `n`. The idea is the GRIM test's (Brown and Heathers, 2017).
///
/// ```
/// use claimlab::dataset::published::reach;
/// let found = reach(284, 89.3, 82.4, 85.7);
/// assert_eq!((found[0].correct, found[0].predicted), (234, 262));
/// assert!(reach(295, 84.6, 73.4, 78.6).is_empty());
/// ```
#[must_use]
pub fn reach(n: i64, precision: f64, recall: f64, f1: f64) -> Vec<Reached> {
    let near = |value: f64, printed: f64| (value - printed).abs() <= HALF;
    let mut found = Vec::new();
    for correct in 0..=n.max(0) {
        if n == 0 || !near(100.0 * correct as f64 / n as f64, recall) {
            continue;
        }
        // Precision bounds the number of predictions from both sides.
        let most = if precision > HALF { (100.0 * correct as f64 / (precision - HALF)).ceil() as i64 } else { 50 * n };
        for predicted in correct.max(1)..=most.max(correct).max(1) {
            let p = 100.0 * correct as f64 / predicted as f64;
            let harmonic = 200.0 * correct as f64 / (n + predicted) as f64;
            if near(p, precision) && near(harmonic, f1) {
                found.push(Reached { n, correct, predicted });
            }
        }
    }
    found
}

/// The number of cases nearest to `n` with which the percentages can be reached.
pub(super) fn nearest(n: i64, precision: f64, recall: f64, f1: f64) -> Option<Reached> {
    (1..=NEAR)
        .flat_map(|distance| [n - distance, n + distance])
        .find_map(|other| reach(other, precision, recall, f1).first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_whole_numbers_print_is_reached_from_them() {
        for n in [1_i64, 7, 24, 77, 151] {
            for correct in 0..=n {
                for predicted in [correct.max(1), correct + 3, 2 * n] {
                    let round = |value: f64| (value * 10.0).round() / 10.0;
                    let p = round(100.0 * correct as f64 / predicted as f64);
                    let r = round(100.0 * correct as f64 / n as f64);
                    let f1 = round(200.0 * correct as f64 / (n + predicted) as f64);
                    let found = reach(n, p, r, f1);
                    assert!(
                        found.iter().any(|one| (one.correct, one.predicted) == (correct, predicted)),
                        "{n} {correct}"
                    );
                }
            }
        }
    }
}
