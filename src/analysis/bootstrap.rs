//! Confidence intervals by resampling whole questions.
//!
//! Values that belong to one question (several attempts, several claims) are alike, so they are not independent
//! draws; resampling them one by one would give intervals that are too narrow. The *cluster bootstrap* draws
//! whole questions with replacement instead (Field & Welsh 2007, "Bootstrapping clustered data", J. R. Statist.
//! Soc. B 69, 369–390). Intervals are percentile intervals (Efron & Tibshirani 1993, *An Introduction to the
//! Bootstrap*, ch. 13).

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::normal::{normal_cdf, normal_quantile};

/// How intervals are drawn: how many resamples, at which level, from which seed, and whether corrected.
///
/// ```
/// use claimlab::analysis::Bootstrap;
///
/// let values = [(1.0, 0), (0.0, 1), (0.5, 2), (0.75, 3), (1.0, 4)];
/// let plain = Bootstrap::new().mean(&values).unwrap();
/// let other = Bootstrap::new().resamples(10_000).level(0.9).seed(7).bca().mean(&values).unwrap();
/// assert_eq!(plain.mean, other.mean);
/// assert!(plain.low < Some(plain.mean) && other.high > Some(other.mean));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    pub(super) resamples: usize,
    pub(super) level: f64,
    pub(super) seed: u64,
    pub(super) bca: bool,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { resamples: 2000, level: 0.95, seed: 20_310_617, bca: false }
    }
}

impl Bootstrap {
    /// 2,000 resamples, 95 % percentile intervals, always the same seed: a table is the same tomorrow.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many resamples are drawn; 0 leaves the intervals out.
    #[must_use]
    pub fn resamples(mut self, resamples: usize) -> Self {
        self.resamples = resamples;
        self
    }

    /// The coverage that intervals aim at, between 0 and 1.
    #[must_use]
    pub fn level(mut self, level: f64) -> Self {
        self.level = level;
        self
    }

    /// The seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Bias-corrected and accelerated intervals (Efron 1987) instead of percentile ones. Not better in every case: with
    /// few clusters the acceleration is itself a rough estimate. Where it does not exist (all resamples on one side of
    /// the estimate) there is no interval.
    #[must_use]
    pub fn bca(mut self) -> Self {
        self.bca = true;
        self
    }

    /// The mean of (value, cluster) with its interval; see [`cluster_bootstrap`].
    #[must_use]
    pub fn mean(&self, values: &[(f64, usize)]) -> Option<Interval> {
        mean_interval(values, self)
    }

    /// The mean difference of (value, cluster) lists with its interval; see [`paired_difference`].
    #[must_use]
    pub fn difference(&self, a: &[(f64, usize)], b: &[(f64, usize)]) -> Option<PairedDifference> {
        difference_interval(a, b, self)
    }

    /// The interval of any statistic of `clusters` clusters. The statistic gets the indices of the clusters drawn, with
    /// repetitions, and may not exist for a draw (a class that was not drawn has no recall): such resamples are left
    /// out, and there is no interval when they are more than a tenth.
    #[must_use]
    pub fn statistic(
        &self,
        clusters: usize,
        statistic: &(dyn Fn(&[usize]) -> Option<f64> + Sync),
    ) -> Option<(f64, f64)> {
        let mut found = self.draws(clusters, statistic)?;
        let everything: Vec<usize> = (0..clusters).collect();
        let leave_one_out = || {
            let without =
                |left: usize| statistic(&everything.iter().copied().filter(|one| *one != left).collect::<Vec<_>>());
            (0..clusters).map(without).collect::<Option<Vec<f64>>>()
        };
        self.interval(&mut found, statistic(&everything)?, &leave_one_out)
    }

    fn draws(&self, clusters: usize, statistic: &(dyn Fn(&[usize]) -> Option<f64> + Sync)) -> Option<Vec<f64>> {
        if clusters < 2 || self.resamples == 0 || !(self.level > 0.0 && self.level < 1.0) {
            return None;
        }
        let found: Vec<f64> =
            (0..self.resamples).into_par_iter().filter_map(|stream| statistic(&self.draw(stream, clusters))).collect();
        (found.len() * 10 >= self.resamples * 9).then_some(found)
    }

    /// The clusters of one resample.
    pub(super) fn draw(&self, stream: usize, clusters: usize) -> Vec<usize> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(stream as u64);
        (0..clusters).map(|_| random.random_range(0..clusters)).collect()
    }

    /// The interval from the resampled values; `leave_one_out` is asked for only where the acceleration needs it.
    pub(super) fn interval(
        &self,
        found: &mut [f64],
        estimate: f64,
        leave_one_out: &dyn Fn() -> Option<Vec<f64>>,
    ) -> Option<(f64, f64)> {
        let (mut low, mut high) = ((1.0 - self.level) / 2.0, (1.0 + self.level) / 2.0);
        if self.bca && found.iter().any(|value| *value != estimate) {
            let below = found.iter().filter(|value| **value < estimate).count();
            let equal = found.iter().filter(|value| **value == estimate).count();
            let bias = normal_quantile((below as f64 + equal as f64 / 2.0) / found.len() as f64);
            let acceleration = acceleration(&leave_one_out()?);
            let corrected = |share: f64| {
                let z = bias + normal_quantile(share);
                normal_cdf(bias + z / (1.0 - acceleration * z))
            };
            (low, high) = (corrected(low), corrected(high));
        }
        Some((quantile(found, low)?, quantile(found, high)?))
    }
}

/// Efron's acceleration from the estimates without each cluster; 0 where they are all equal.
fn acceleration(without: &[f64]) -> f64 {
    let mean = without.iter().sum::<f64>() / without.len().max(1) as f64;
    let (squares, cubes) = without.iter().fold((0.0, 0.0), |(squares, cubes), value| {
        let distance: f64 = mean - value;
        (squares + distance.powi(2), cubes + distance.powi(3))
    });
    if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 }
}

/// A mean and what the data say about its precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The mean over all values.
    pub mean: f64,
    /// The lower end; `None` when there is no interval (see [`cluster_bootstrap`]).
    pub low: Option<f64>,
    /// The upper end; `None` exactly when `low` is.
    pub high: Option<f64>,
    /// How many values the mean is over.
    pub n: usize,
    /// How many clusters (questions) they come from: the effective sample size of the interval.
    pub clusters: usize,
}

/// The mean difference between two systems on the questions that both answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedDifference {
    /// The mean of `a − b` over the pairs, with its interval; `n` and `clusters` are both the number of pairs.
    pub interval: Interval,
    /// How many clusters have values on both sides.
    pub pairs: usize,
    /// How many clusters only `a` has; left out.
    pub only_a: usize,
    /// How many clusters only `b` has; left out.
    pub only_b: usize,
}

/// The mean of `values` with a cluster-bootstrap percentile interval.
///
/// Each value comes with the index of its cluster (its question). A resample draws as many clusters as there
/// are, with replacement, and takes the sum of all values drawn over their number: the ratio of sums, so that it
/// estimates the same mean over values as the data do when clusters differ in size (a cluster with more values
/// weighs more, and the denominator varies too). The interval runs between the `(1 − level)/2` and
/// `(1 + level)/2` quantiles of the resampled means, interpolated linearly.
///
/// Why percentiles: metrics are bounded shares, often skewed near 0 or 1. A percentile interval stays within
/// the range of the values and need not be symmetric; mean ± z · s.e. may leave it and is always symmetric. With
/// few clusters (under about 20) it is somewhat too narrow.
///
/// Deterministic: resample *r* uses stream *r* of ChaCha8 seeded with `seed`, so the result depends neither on
/// the number of threads nor on the order of `values`.
///
/// No interval (`low` and `high` are `None`, the mean stands): fewer than two clusters, no resamples, or a
/// `level` that is not between 0 and 1. No result at all (`None`): no values, or one that is not finite.
///
/// ```
/// use claimlab::analysis::cluster_bootstrap;
///
/// // Three questions; the second was attempted twice.
/// let interval = cluster_bootstrap(&[(1.0, 0), (0.0, 1), (0.5, 1), (0.5, 2)], 2000, 0.95, 7).unwrap();
/// assert_eq!((interval.mean, interval.n, interval.clusters), (0.5, 4, 3));
/// assert!(interval.low < Some(0.5) && interval.high > Some(0.5));
///
/// // One question says nothing about the next.
/// let interval = cluster_bootstrap(&[(1.0, 0), (0.5, 0)], 2000, 0.95, 7).unwrap();
/// assert_eq!((interval.mean, interval.low, interval.high), (0.75, None, None));
/// ```
pub fn cluster_bootstrap(values: &[(f64, usize)], resamples: usize, level: f64, seed: u64) -> Option<Interval> {
    Bootstrap { resamples, level, seed, bca: false }.mean(values)
}

fn mean_interval(values: &[(f64, usize)], settings: &Bootstrap) -> Option<Interval> {
    let (clusters, origin, n) = clustered(values)?;
    let mean = |drawn: &[usize]| Some(mean_of(drawn, &clusters, origin));
    let everything: Vec<usize> = (0..clusters.len()).collect();
    let (low, high) = settings.statistic(clusters.len(), &mean).unzip();
    Some(Interval { mean: mean(&everything)?, low, high, n, clusters: clusters.len() })
}

impl Bootstrap {
    /// The means of the resamples behind [`Bootstrap::mean`]'s interval, in the order of their streams; none where
    /// there is no interval.
    pub(super) fn replicates(&self, values: &[(f64, usize)]) -> Vec<f64> {
        let Some((clusters, origin, _)) = clustered(values).filter(|found| found.0.len() > 1) else {
            return Vec::new();
        };
        let draw = |stream| mean_of(&self.draw(stream, clusters.len()), &clusters, origin);
        (0..self.resamples).into_par_iter().map(draw).collect()
    }
}

fn mean_of(drawn: &[usize], clusters: &[Cluster], origin: f64) -> f64 {
    let (sum, n) = drawn.iter().fold((0.0, 0), |(sum, n), one| (sum + clusters[*one].sum, n + clusters[*one].n));
    origin + sum / n as f64
}

/// Sums by cluster, the origin they count from, and how many values there are; nothing without finite values.
fn clustered(values: &[(f64, usize)]) -> Option<(Vec<Cluster>, f64, usize)> {
    if values.iter().any(|(value, _)| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.1.cmp(&b.1).then(a.0.total_cmp(&b.0)));
    // Sums are of distances from one of the values: equal values then have exactly their own mean.
    let origin = sorted.first()?.0;
    let clusters = sorted
        .chunk_by(|a, b| a.1 == b.1)
        .map(|rows| Cluster { sum: rows.iter().map(|(value, _)| value - origin).sum(), n: rows.len() })
        .collect();
    Some((clusters, origin, sorted.len()))
}

/// The mean difference `a − b` over the clusters that both have, with a bootstrap percentile interval.
///
/// Rows are (value, cluster). A cluster with several values on a side counts with their mean, and every shared
/// cluster weighs the same. Pairing by question removes the difficulty of the questions from the comparison, so
/// the interval is usually much narrower than the two systems' own intervals suggest.
///
/// `None` when nothing is shared, or a shared value is not finite; no interval as for [`cluster_bootstrap`].
///
/// ```
/// use claimlab::analysis::paired_difference;
///
/// let bm25 = [(0.50, 0), (0.25, 1), (1.00, 2), (0.75, 3)];
/// let dense = [(0.75, 0), (0.50, 1), (1.00, 2), (0.00, 9)];
/// let difference = paired_difference(&dense, &bm25, 2000, 0.95, 7).unwrap();
/// assert_eq!((difference.pairs, difference.only_a, difference.only_b), (3, 1, 1));
/// assert!((difference.interval.mean - 0.5 / 3.0).abs() < 1e-12);
/// ```
pub fn paired_difference(
    a: &[(f64, usize)],
    b: &[(f64, usize)],
    resamples: usize,
    level: f64,
    seed: u64,
) -> Option<PairedDifference> {
    Bootstrap { resamples, level, seed, bca: false }.difference(a, b)
}

fn difference_interval(a: &[(f64, usize)], b: &[(f64, usize)], settings: &Bootstrap) -> Option<PairedDifference> {
    let pairs = Pairs::new(a, b);
    Some(PairedDifference {
        interval: settings.mean(&pairs.differences)?,
        pairs: pairs.differences.len(),
        only_a: pairs.only_a,
        only_b: pairs.only_b,
    })
}

/// The differences `a − b` of what both have, with the place each stands at.
pub(super) struct Pairs {
    pub differences: Vec<(f64, usize)>,
    pub only_a: usize,
    pub only_b: usize,
}

impl Pairs {
    pub fn new(a: &[(f64, usize)], b: &[(f64, usize)]) -> Self {
        let (a, b) = (cluster_means(a), cluster_means(b));
        let differences: Vec<(f64, usize)> =
            a.iter().filter_map(|(place, mean)| Some((mean - b.get(place)?, *place))).collect();
        let n = differences.len();
        Self { differences, only_a: a.len() - n, only_b: b.len() - n }
    }
}

/// All that a resample needs to know of a cluster.
struct Cluster {
    sum: f64,
    n: usize,
}

/// The quantile of values in any order, interpolated linearly between the two nearest (type 7 of Hyndman & Fan 1996).
/// The values are reordered.
pub(super) fn quantile(values: &mut [f64], q: f64) -> Option<f64> {
    let position = q * (values.len().checked_sub(1)?) as f64;
    if position.is_nan() {
        return None;
    }
    let (_, below, rest) = values.select_nth_unstable_by(position.floor() as usize, f64::total_cmp);
    let below = *below;
    let above = rest.iter().copied().min_by(f64::total_cmp).unwrap_or(below);
    Some(below + (above - below) * position.fract())
}

/// The mean of each cluster, whatever the order of the rows.
fn cluster_means(rows: &[(f64, usize)]) -> BTreeMap<usize, f64> {
    let mut values: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for &(value, cluster) in rows {
        values.entry(cluster).or_default().push(value);
    }
    let mean = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        let origin = values.first().copied().unwrap_or_default();
        origin + values.iter().map(|value| value - origin).sum::<f64>() / values.len() as f64
    };
    values.into_iter().map(|(cluster, values)| (cluster, mean(values))).collect()
}

#[cfg(test)]
#[path = "bootstrap_tests.rs"]
mod tests;
