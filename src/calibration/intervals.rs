//! Intervals for statistics of a judge, clustered by task.
//!
//! Answers to one task stand and fall together, so tasks are the units: the bootstrap draws whole tasks, the jackknife
//! leaves whole tasks out. How often each method's 95 % interval holds the truth was measured
//! (`cargo bench --profile dev --bench judge_coverage`, report in `benches/judge_coverage.md`); the default is the one that came closest
//! at 30 tasks.

use std::fmt;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::counts::{Counts, Statistic};
use super::quantile::student;
use crate::analysis::normal::{normal_cdf, normal_quantile};

/// How an interval is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum IntervalMethod {
    /// Cluster bootstrap, percentiles (Field and Welsh 2007).
    Percentile,
    /// Cluster bootstrap, bias-corrected and accelerated (Efron 1987).
    Bca,
    /// Estimate ± Student quantile × standard error of the delete-one-task jackknife.
    JackknifeT,
    /// The same on the scale of the logit of the statistic within its range, carried back: stays within the range, and
    /// is asymmetric near its ends. Where the statistic sits at an end, and the jackknife sees no variance, the end is
    /// bounded as if every task were one draw.
    #[default]
    LogitJackknifeT,
    /// Wilson's score interval with the sample size that the clustering leaves (sample size over design effect), and
    /// Student's quantile; for plain shares only.
    WilsonClustered,
    /// Wilson's score interval (Wilson 1927) as if answers were independent; for plain shares only. Too narrow where
    /// answers to a task are alike: a bound to compare with.
    Wilson,
}

impl IntervalMethod {
    /// All methods.
    pub const ALL: [Self; 6] =
        [Self::Percentile, Self::Bca, Self::JackknifeT, Self::LogitJackknifeT, Self::WilsonClustered, Self::Wilson];

    /// The name that tables give it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Percentile => "cluster_bootstrap_percentile",
            Self::Bca => "cluster_bootstrap_bca",
            Self::JackknifeT => "cluster_jackknife_t",
            Self::LogitJackknifeT => "cluster_jackknife_logit_t",
            Self::WilsonClustered => "wilson_clustered",
            Self::Wilson => "wilson_unclustered",
        }
    }
}

impl fmt::Display for IntervalMethod {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// A statistic with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Which one.
    pub statistic: Statistic,
    /// Its value; `None` where it is undefined.
    pub value: Option<f64>,
    /// The interval; `None` where the method gives none: fewer than two tasks, a statistic that is no plain share, one
    /// task on which all depends, or more than half of the resamples undefined.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// Shows value and interval.
    pub fn evcxr_display(&self) {
        let plain = match (self.value, self.interval) {
            (None, _) => format!("{}: undefined", self.statistic),
            (Some(value), None) => format!("{}: {value:.3}", self.statistic),
            (Some(value), Some((low, high))) => format!("{}: {value:.3} [{low:.3}, {high:.3}]", self.statistic),
        };
        crate::signal::display(None, None, &plain);
    }
}

/// Resamples behind a bootstrap interval.
pub(super) const REPLICATES: usize = 2000;
/// The seed of every resample, so that a table is the same tomorrow.
pub(super) const SEED: u64 = 20_310_617;

/// Statistics over clusters (one [`Counts`] a task), with intervals of this level. All come from the same resamples,
/// which depend on nothing but the number of tasks and their order.
///
/// ```
/// use claimlab::calibration::{Counts, IntervalMethod, Statistic, estimates};
/// let task = |right: f64, wrong: f64| Counts { pass_pass: right, pass_fail: wrong, fail_pass: wrong, fail_fail: right };
/// let tasks = [task(3.0, 1.0), task(2.0, 0.0), task(4.0, 1.0), task(1.0, 1.0)];
/// let found = estimates(&tasks, &[Statistic::PassRecall], IntervalMethod::default(), 0.95);
/// assert_eq!(found[0].value, Some(10.0 / 13.0));
/// assert!(found[0].interval.is_some_and(|(low, high)| 0.0 < low && high < 1.0));
/// ```
#[must_use]
pub fn estimates(clusters: &[Counts], statistics: &[Statistic], method: IntervalMethod, level: f64) -> Vec<Estimate> {
    let clusters: Vec<Counts> = clusters.iter().copied().filter(|one| one.total() > 0.0).collect();
    let whole = clusters.iter().fold(Counts::default(), |sum, one| sum.plus(*one));
    let resampled = matches!(method, IntervalMethod::Percentile | IntervalMethod::Bca) && clusters.len() >= 2;
    let draws = if resampled { resamples(&clusters) } else { Vec::new() };
    let estimate = |statistic: &Statistic| {
        let value = statistic.of(whole);
        let possible = statistic.support(&clusters) >= 2 && level > 0.0 && level < 1.0;
        let interval = value.filter(|_| possible).and_then(|value| {
            let case = Case { statistic: *statistic, value, whole, clusters: &clusters, level };
            match method {
                IntervalMethod::Percentile => case.percentile(&draws),
                IntervalMethod::Bca => case.bca(&draws),
                IntervalMethod::JackknifeT => case.jackknife_t(),
                IntervalMethod::LogitJackknifeT => case.logit_jackknife_t(),
                IntervalMethod::WilsonClustered => case.wilson(true),
                IntervalMethod::Wilson => case.wilson(false),
            }
        });
        Estimate { statistic: *statistic, value, interval }
    };
    statistics.iter().map(estimate).collect()
}

/// The counts of each resample. Resample *r* uses stream *r* of the seeded generator, on whichever thread.
pub(super) fn resamples(clusters: &[Counts]) -> Vec<Counts> {
    let seeded = ChaCha8Rng::seed_from_u64(SEED);
    (0..REPLICATES)
        .into_par_iter()
        .map(|stream| {
            let mut rng = seeded.clone();
            rng.set_stream(stream as u64);
            (0..clusters.len())
                .fold(Counts::default(), |sum, _| sum.plus(clusters[rng.random_range(0..clusters.len())]))
        })
        .collect()
}

struct Case<'a> {
    statistic: Statistic,
    value: f64,
    whole: Counts,
    clusters: &'a [Counts],
    level: f64,
}

impl Case<'_> {
    fn tail(&self) -> f64 {
        (1.0 - self.level) / 2.0
    }

    fn sorted(&self, draws: &[Counts]) -> Option<Vec<f64>> {
        let mut values: Vec<f64> = draws.iter().filter_map(|draw| self.statistic.of(*draw)).collect();
        values.sort_by(f64::total_cmp);
        (2 * values.len() > draws.len()).then_some(values)
    }

    fn percentile(&self, draws: &[Counts]) -> Option<(f64, f64)> {
        let values = self.sorted(draws)?;
        Some((quantile(&values, self.tail())?, quantile(&values, 1.0 - self.tail())?))
    }

    fn bca(&self, draws: &[Counts]) -> Option<(f64, f64)> {
        let values = self.sorted(draws)?;
        let n = values.len() as f64;
        let below = values.iter().filter(|value| **value < self.value).count() as f64;
        let equal = values.iter().filter(|value| **value == self.value).count() as f64;
        // Ties are split, since these statistics take few values.
        let share = ((below + equal / 2.0) / n).clamp(0.5 / n, 1.0 - 0.5 / n);
        let bias = normal_quantile(share);
        let left_out = self.left_out()?;
        let mean = left_out.iter().sum::<f64>() / left_out.len() as f64;
        let (square, cube) = left_out
            .iter()
            .fold((0.0, 0.0), |(square, cube), value| (square + (mean - value).powi(2), cube + (mean - value).powi(3)));
        let acceleration = if square > 0.0 { cube / (6.0 * square.powf(1.5)) } else { 0.0 };
        let adjusted = |tail: f64| {
            let z = bias + normal_quantile(tail);
            normal_cdf(bias + z / (1.0 - acceleration * z))
        };
        Some((quantile(&values, adjusted(self.tail()))?, quantile(&values, adjusted(1.0 - self.tail()))?))
    }

    /// The statistic with each task left out; `None` if it is undefined without one of them.
    fn left_out(&self) -> Option<Vec<f64>> {
        self.clusters.iter().map(|one| self.statistic.of(self.whole.minus(*one))).collect()
    }

    fn standard_error(&self) -> Option<f64> {
        let left_out = self.left_out()?;
        let n = left_out.len() as f64;
        let mean = left_out.iter().sum::<f64>() / n;
        let square: f64 = left_out.iter().map(|value| (value - mean).powi(2)).sum();
        Some(((n - 1.0) / n * square).sqrt())
    }

    fn student(&self) -> Option<f64> {
        let support = self.statistic.support(self.clusters);
        (support >= 2).then(|| student(1.0 - self.tail(), (support - 1) as f64))
    }

    fn jackknife_t(&self) -> Option<(f64, f64)> {
        let half = self.student()? * self.standard_error()?;
        let (least, greatest) = self.statistic.range();
        Some(((self.value - half).max(least), (self.value + half).min(greatest)))
    }

    fn logit_jackknife_t(&self) -> Option<(f64, f64)> {
        let (least, greatest) = self.statistic.range();
        let width = greatest - least;
        let p = (self.value - least) / width;
        let error = self.standard_error()? / width;
        let back = |share: f64| least + width * share;
        let quantile = self.student()?;
        if !(p > 1e-12 && p < 1.0 - 1e-12) {
            // All tasks agree: the exact binomial bound (Clopper and Pearson 1934) with one draw a task.
            let bound = self.tail().powf(1.0 / self.statistic.support(self.clusters) as f64);
            return Some(if p < 0.5 { (least, back(1.0 - bound)) } else { (back(bound), greatest) });
        }
        let center = (p / (1.0 - p)).ln();
        let half = quantile * error / (p * (1.0 - p));
        let inverse = |logit: f64| 1.0 / (1.0 + (-logit).exp());
        Some((back(inverse(center - half)), back(inverse(center + half))))
    }

    fn wilson(&self, clustered: bool) -> Option<(f64, f64)> {
        let (part, whole) = self.statistic.share(self.whole)?;
        let p = part / whole;
        let (mut n, mut z) = (whole, normal_quantile(1.0 - self.tail()));
        if clustered {
            z = self.student()?;
            let (error, simple) = (self.standard_error()?, p * (1.0 - p) / whole);
            // Clustering may look favourable by chance; it is never credited with more answers than there are.
            let design = if simple > 0.0 { (error * error / simple).max(1.0) } else { 1.0 };
            n = whole / design;
        }
        let square = z * z;
        let center = (p + square / (2.0 * n)) / (1.0 + square / n);
        let half = z * (p * (1.0 - p) / n + square / (4.0 * n * n)).sqrt() / (1.0 + square / n);
        Some(((center - half).max(0.0), (center + half).min(1.0)))
    }
}

/// The quantile of sorted values, interpolated linearly between the two nearest (type 7 of Hyndman and Fan 1996).
pub(super) fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let position = q.clamp(0.0, 1.0) * (sorted.len().checked_sub(1)?) as f64;
    let below = sorted.get(position.floor() as usize)?;
    let above = sorted.get(position.ceil() as usize)?;
    Some(below + (above - below) * position.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(n: usize) -> Vec<Counts> {
        (0..n)
            .map(|i| Counts {
                pass_pass: (i % 4) as f64,
                pass_fail: f64::from(u8::from(i % 3 == 0)),
                fail_pass: f64::from(u8::from(i % 5 == 0)),
                fail_fail: (i % 3) as f64,
            })
            .collect()
    }

    #[test]
    fn every_method_brackets_the_value_and_stays_within_the_range() {
        for n in [5, 12, 60] {
            for method in IntervalMethod::ALL {
                for found in estimates(&clusters(n), &Statistic::ALL, method, 0.95) {
                    let value = found.value.unwrap();
                    let (least, greatest) = found.statistic.range();
                    if let Some((low, high)) = found.interval {
                        assert!(low <= value && value <= high, "{method} {} {found:?}", found.statistic);
                        assert!(least <= low && high <= greatest, "{method} {found:?}");
                    } else {
                        assert!(found.statistic.share(Counts::default()).is_none(), "{method} {found:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn degenerate_data_have_no_interval_or_a_stated_one() {
        assert!(
            estimates(&[], &Statistic::ALL, IntervalMethod::Percentile, 0.95).iter().all(|one| one.value.is_none())
        );
        let all_pass = vec![Counts { pass_pass: 2.0, ..Counts::default() }; 10];
        for method in IntervalMethod::ALL {
            let found = estimates(&all_pass, &[Statistic::PassRecall, Statistic::FailRecall], method, 0.95);
            assert_eq!((found[0].value, found[1].value, found[1].interval), (Some(1.0), None, None));
        }
        let exact = estimates(&all_pass, &[Statistic::PassRecall], IntervalMethod::LogitJackknifeT, 0.95);
        // scipy.stats.binomtest(10, 10).proportion_ci(0.95, "exact").low
        assert!((exact[0].interval.unwrap().0 - 0.691_502_892_181_239_2).abs() < 1e-12);
        // FAIL labels in one task only: without it the recall is undefined.
        let mut one = vec![Counts { pass_pass: 2.0, ..Counts::default() }; 5];
        one.push(Counts { fail_fail: 1.0, fail_pass: 1.0, ..Counts::default() });
        let found = estimates(&one, &[Statistic::FailRecall], IntervalMethod::LogitJackknifeT, 0.95);
        assert_eq!((found[0].value, found[0].interval), (Some(0.5), None));
    }

    #[test]
    fn wilson_is_wilson() {
        // statsmodels 0.14: proportion_confint(8, 10, method="wilson").
        let counts: Vec<Counts> = (0..10)
            .map(|i| {
                if i < 8 {
                    Counts { pass_pass: 1.0, ..Counts::default() }
                } else {
                    Counts { pass_fail: 1.0, ..Counts::default() }
                }
            })
            .collect();
        let found = estimates(&counts, &[Statistic::PassRecall], IntervalMethod::Wilson, 0.95);
        let (low, high) = found[0].interval.unwrap();
        assert!((low - 0.490_162_471_536_641_7).abs() < 1e-9 && (high - 0.943_317_848_545_625_5).abs() < 1e-9);
    }
}
