//! Many tests at once: p-values adjusted so that the usual threshold keeps its meaning.

/// Holm's adjustment (1979): with all adjusted values below α rejected, the chance of any false rejection is at most
/// α, whatever the tests have to do with each other.
///
/// Sorted ascending, the i-th of m values (from 0) becomes the largest `(m − j) · p(j)` of those up to it, at most 1.
/// The result is in the order of the input. A value that is NaN or outside 0..=1 is treated as missing: it stays
/// `None` and does not count towards m.
///
/// ```
/// use claimlab::analysis::holm;
/// assert_eq!(holm(&[0.01, 0.04, 0.03]), [Some(0.03), Some(0.06), Some(0.06)]);
/// ```
#[must_use]
pub fn holm(p: &[f64]) -> Vec<Option<f64>> {
    let order = ascending(p);
    let mut adjusted = vec![None; p.len()];
    let mut highest = 0.0_f64;
    for (rank, place) in order.iter().enumerate() {
        highest = highest.max((order.len() - rank) as f64 * p[*place]).min(1.0);
        adjusted[*place] = Some(highest);
    }
    adjusted
}

/// Benjamini and Hochberg's adjustment (1995): among the tests with adjusted values below q, the expected share of
/// false rejections is at most q, for independent or positively dependent tests.
///
/// The i-th smallest (from 1) of m values becomes the smallest `m / j · p(j)` of those from it on, at most 1. Order
/// and missing values as for [`holm`].
///
/// ```
/// use claimlab::analysis::benjamini_hochberg;
/// assert_eq!(benjamini_hochberg(&[0.01, 0.04, 0.03]), [Some(0.03), Some(0.04), Some(0.04)]);
/// ```
#[doc(alias = "false discovery rate")]
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<Option<f64>> {
    let order = ascending(p);
    let mut adjusted = vec![None; p.len()];
    let mut lowest = 1.0_f64;
    for (rank, place) in order.iter().enumerate().rev() {
        lowest = lowest.min(order.len() as f64 / (rank + 1) as f64 * p[*place]);
        adjusted[*place] = Some(lowest);
    }
    adjusted
}

/// The places of the valid values, smallest value first.
fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).filter(|place| (0.0..=1.0).contains(&p[*place])).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_values_stay_missing_and_do_not_count() {
        for adjust in [holm, benjamini_hochberg] {
            assert_eq!(adjust(&[f64::NAN, 0.02, 1.5]), [None, Some(0.02), None]);
            assert!(adjust(&[]).is_empty());
            assert_eq!(adjust(&[0.9, 1.0]).into_iter().flatten().fold(0.0, f64::max), 1.0);
        }
    }

    #[test]
    fn adjusted_values_keep_the_order_of_the_raw_ones() {
        let p = [0.03, 0.001, 0.2, 0.04, 0.9, 0.03];
        for adjust in [holm, benjamini_hochberg] {
            let adjusted: Vec<f64> = adjust(&p).into_iter().flatten().collect();
            for (a, x) in p.iter().enumerate() {
                for (b, y) in p.iter().enumerate() {
                    assert!(x > y || adjusted[a] <= adjusted[b], "{x} and {y}");
                }
                assert!(adjusted[a] >= *x);
            }
        }
    }
}
