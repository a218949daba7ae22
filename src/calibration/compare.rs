//! Is one judge really better than another, on the same answers?

use std::collections::BTreeMap;

use polars::prelude::DataFrame;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::counts::{Counts, Statistic};
use super::intervals::{REPLICATES, SEED, quantile};
use super::join::Judged;
use super::labels::LabelSet;
use super::screening::Screening;
use crate::error::Result;
use crate::table::{FrameBuilder, Verdict};

/// Sign flips behind a p-value.
const FLIPS: usize = 9_999;

/// Compares every pair of judges on the labelled answers that both judged. One row a pair:
///
/// * `difference`: balanced accuracy of `a` minus that of `b`, with a paired cluster-bootstrap percentile interval over
///   tasks;
/// * `p_pass`, `p_fail`: exact McNemar tests on the answers labelled PASS and FAIL (McNemar 1947; exact binomial form),
///   which take answers as independent;
/// * `p_sign_flip`: permutation test on the number of right verdicts, the signs of whole tasks flipped, 9,999 times;
/// * `p_holm`: the same, adjusted for the number of pairs (Holm 1979).
///
/// # Errors
/// When the table cannot be built.
pub fn compare(screening: &Screening) -> Result<DataFrame> {
    let judged = screening.judged();
    let mut rows: Vec<Pair<'_>> = Vec::new();
    for (place, b) in judged.iter().enumerate() {
        rows.extend(judged[..place].iter().map(|a| Pair::new(a, b, screening.labels())));
    }
    let adjusted = holm(&rows.iter().map(|row| row.p_sign_flip).collect::<Vec<_>>());
    let number = |pick: fn(&Pair<'_>) -> Option<f64>| rows.iter().map(pick).collect::<Vec<_>>();
    let count = |pick: fn(&Pair<'_>) -> usize| rows.iter().map(|row| pick(row) as i64).collect::<Vec<_>>();
    FrameBuilder::new()
        .text("a", &rows.iter().map(|row| row.a.key.to_string()).collect::<Vec<_>>())
        .text("b", &rows.iter().map(|row| row.b.key.to_string()).collect::<Vec<_>>())
        .integer("n", &count(|row| row.n))
        .integer("n_tasks", &count(|row| row.tasks))
        .number("difference", &number(|row| row.difference))
        .number("ci_low", &number(|row| row.interval.map(|ends| ends.0)))
        .number("ci_high", &number(|row| row.interval.map(|ends| ends.1)))
        .integer("pass_only_a", &count(|row| row.discordant[0][0]))
        .integer("pass_only_b", &count(|row| row.discordant[0][1]))
        .number("p_pass", &number(|row| mcnemar(row.discordant[0])))
        .integer("fail_only_a", &count(|row| row.discordant[1][0]))
        .integer("fail_only_b", &count(|row| row.discordant[1][1]))
        .number("p_fail", &number(|row| mcnemar(row.discordant[1])))
        .number("p_sign_flip", &number(|row| row.p_sign_flip))
        .number("p_holm", &adjusted)
        .build()
}

struct Pair<'a> {
    a: &'a Judged,
    b: &'a Judged,
    n: usize,
    tasks: usize,
    difference: Option<f64>,
    interval: Option<(f64, f64)>,
    /// Right in one only: of answers labelled PASS, then FAIL; by `a`, then `b`.
    discordant: [[usize; 2]; 2],
    p_sign_flip: Option<f64>,
}

impl<'a> Pair<'a> {
    fn new(a: &'a Judged, b: &'a Judged, labels: &LabelSet) -> Self {
        let mut tasks: BTreeMap<&str, (Counts, Counts)> = BTreeMap::new();
        let mut discordant = [[0; 2]; 2];
        let mut n = 0;
        for (place, item) in labels.items.iter().enumerate() {
            let (Some(of_a), Some(of_b)) = (a.first(place), b.first(place)) else { continue };
            n += 1;
            let counts = tasks.entry(&item.task).or_default();
            let passes = item.label == Verdict::Pass;
            counts.0.add(passes, of_a == Verdict::Pass, item.weight);
            counts.1.add(passes, of_b == Verdict::Pass, item.weight);
            let side = &mut discordant[usize::from(!passes)];
            match (of_a == item.label, of_b == item.label) {
                (true, false) => side[0] += 1,
                (false, true) => side[1] += 1,
                _ => {}
            }
        }
        let clusters: Vec<(Counts, Counts)> = tasks.into_values().collect();
        let whole = clusters.iter().fold((Counts::default(), Counts::default()), sum);
        Self {
            a,
            b,
            n,
            tasks: clusters.len(),
            difference: difference(whole),
            interval: interval(&clusters),
            discordant,
            p_sign_flip: sign_flip(&clusters),
        }
    }
}

fn sum(total: (Counts, Counts), one: &(Counts, Counts)) -> (Counts, Counts) {
    (total.0.plus(one.0), total.1.plus(one.1))
}

fn difference((a, b): (Counts, Counts)) -> Option<f64> {
    Some(Statistic::BalancedAccuracy.of(a)? - Statistic::BalancedAccuracy.of(b)?)
}

fn interval(clusters: &[(Counts, Counts)]) -> Option<(f64, f64)> {
    if clusters.len() < 2 {
        return None;
    }
    let seeded = ChaCha8Rng::seed_from_u64(SEED);
    let mut values: Vec<f64> = (0..REPLICATES)
        .into_par_iter()
        .filter_map(|stream| {
            let mut rng = seeded.clone();
            rng.set_stream(stream as u64);
            let drawn = (0..clusters.len()).map(|_| &clusters[rng.random_range(0..clusters.len())]);
            difference(drawn.fold((Counts::default(), Counts::default()), sum))
        })
        .collect();
    values.sort_by(f64::total_cmp);
    (2 * values.len() > REPLICATES).then_some(())?;
    Some((quantile(&values, 0.025)?, quantile(&values, 0.975)?))
}

fn sign_flip(clusters: &[(Counts, Counts)]) -> Option<f64> {
    let right = |counts: Counts| counts.pass_pass + counts.fail_fail;
    let gains: Vec<f64> = clusters.iter().map(|(a, b)| right(*a) - right(*b)).filter(|gain| *gain != 0.0).collect();
    if clusters.is_empty() {
        return None;
    }
    let observed = gains.iter().sum::<f64>().abs() - 1e-9;
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let extreme = (0..FLIPS)
        .filter(|_| {
            let total: f64 = gains.iter().map(|gain| if rng.random::<bool>() { *gain } else { -gain }).sum();
            total.abs() >= observed
        })
        .count();
    Some((1 + extreme) as f64 / (1 + FLIPS) as f64)
}

/// Twice the smaller binomial tail at one half, at most 1; `None` without discordant pairs.
pub(super) fn mcnemar([a, b]: [usize; 2]) -> Option<f64> {
    let n = a + b;
    if n == 0 {
        return None;
    }
    let mut log = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = log.exp();
    for i in 1..=a.min(b) {
        log += ((n - i + 1) as f64 / i as f64).ln();
        tail += log.exp();
    }
    Some((2.0 * tail).min(1.0))
}

/// Holm's step-down adjustment; missing values stay missing and do not count.
fn holm(values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<usize> = (0..values.len()).filter(|place| values[*place].is_some()).collect();
    order.sort_by(|a, b| values[*a].unwrap_or(1.0).total_cmp(&values[*b].unwrap_or(1.0)));
    let mut adjusted = vec![None; values.len()];
    let mut greatest: f64 = 0.0;
    for (rank, place) in order.iter().enumerate() {
        greatest = greatest.max(values[*place].unwrap_or(1.0) * (order.len() - rank) as f64).min(1.0);
        adjusted[*place] = Some(greatest);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcnemar_is_the_exact_binomial_test() {
        // scipy.stats.binomtest(min, n, 0.5).pvalue
        for (counts, expected) in
            [([0, 5], 0.0625), ([6, 0], 0.031_25), ([3, 12], 0.035_156_25), ([10, 10], 1.0), ([0, 1100], 0.0)]
        {
            assert!((mcnemar(counts).unwrap() - expected).abs() < 1e-12, "{counts:?}");
        }
        assert_eq!(mcnemar([0, 0]), None);
        assert!((mcnemar([600, 700]).unwrap() - 0.006_021_7).abs() < 1e-5, "{:?}", mcnemar([600, 700]));
    }

    #[test]
    fn holm_steps_down_and_never_decreases() {
        // statsmodels multipletests([0.01, 0.04, 0.03], method="holm")
        let found = holm(&[Some(0.01), None, Some(0.04), Some(0.03)]);
        assert_eq!(found, [Some(0.03), None, Some(0.06), Some(0.06)]);
    }

    #[test]
    fn equal_judges_are_never_told_apart() {
        let same = Counts { pass_pass: 2.0, fail_fail: 1.0, ..Counts::default() };
        assert_eq!(sign_flip(&vec![(same, same); 8]), Some(1.0));
        assert_eq!(interval(&vec![(same, same); 8]), Some((0.0, 0.0)));
        assert_eq!(sign_flip(&[]), None);
    }
}
