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
    let (clusters, origin, n) = clustered(values)?;
    let (low, high) = percentile_interval(&clusters, origin, resamples, level, seed).unzip();
    Some(Interval { mean: origin + ratio(clusters.iter()), low, high, n, clusters: clusters.len() })
}

/// The means of the resamples behind [`cluster_bootstrap`]'s interval, in the order of their streams; none where it
/// has no interval.
pub(super) fn cluster_replicates(values: &[(f64, usize)], resamples: usize, seed: u64) -> Vec<f64> {
    match clustered(values) {
        Some((clusters, origin, _)) if clusters.len() > 1 => resampled_means(&clusters, origin, resamples, seed),
        _ => Vec::new(),
    }
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
/// Rows are (cluster, value). A cluster with several values on a side counts with their mean, and every shared
/// cluster weighs the same. Pairing by question removes the difficulty of the questions from the comparison, so
/// the interval is usually much narrower than the two systems' own intervals suggest.
///
/// `None` when nothing is shared, or a shared value is not finite; no interval as for [`cluster_bootstrap`].
///
/// ```
/// use claimlab::analysis::paired_difference;
///
/// let bm25 = [(0, 0.50), (1, 0.25), (2, 1.00), (3, 0.75)];
/// let dense = [(0, 0.75), (1, 0.50), (2, 1.00), (9, 0.00)];
/// let difference = paired_difference(&dense, &bm25, 2000, 0.95, 7).unwrap();
/// assert_eq!((difference.pairs, difference.only_a, difference.only_b), (3, 1, 1));
/// assert!((difference.interval.mean - 0.5 / 3.0).abs() < 1e-12);
/// ```
pub fn paired_difference(
    a: &[(usize, f64)],
    b: &[(usize, f64)],
    resamples: usize,
    level: f64,
    seed: u64,
) -> Option<PairedDifference> {
    let (a, b) = (cluster_means(a), cluster_means(b));
    let differences: Vec<(f64, usize)> =
        a.iter().filter_map(|(cluster, mean)| Some((mean - b.get(cluster)?, *cluster))).collect();
    let pairs = differences.len();
    Some(PairedDifference {
        interval: cluster_bootstrap(&differences, resamples, level, seed)?,
        pairs,
        only_a: a.len() - pairs,
        only_b: b.len() - pairs,
    })
}

/// All that a resample needs to know of a cluster.
struct Cluster {
    sum: f64,
    n: usize,
}

/// Total of the sums over total of the sizes.
fn ratio<'a>(clusters: impl Iterator<Item = &'a Cluster>) -> f64 {
    let (sum, n) = clusters.fold((0.0, 0), |(sum, n), cluster| (sum + cluster.sum, n + cluster.n));
    sum / n as f64
}

fn percentile_interval(
    clusters: &[Cluster],
    origin: f64,
    resamples: usize,
    level: f64,
    seed: u64,
) -> Option<(f64, f64)> {
    if clusters.len() < 2 || resamples == 0 || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let mut means = resampled_means(clusters, origin, resamples, seed);
    means.sort_by(f64::total_cmp);
    Some((quantile(&means, (1.0 - level) / 2.0)?, quantile(&means, (1.0 + level) / 2.0)?))
}

/// One mean a resample; resample *r* draws from stream *r*.
fn resampled_means(clusters: &[Cluster], origin: f64, resamples: usize, seed: u64) -> Vec<f64> {
    let seeded = ChaCha8Rng::seed_from_u64(seed);
    let resample = |stream: usize| {
        let mut rng = seeded.clone();
        rng.set_stream(stream as u64);
        origin + ratio((0..clusters.len()).map(|_| &clusters[rng.random_range(0..clusters.len())]))
    };
    (0..resamples).map(resample).collect()
}

/// The quantile of sorted values, interpolated linearly between the two nearest (type 7 of Hyndman & Fan 1996).
fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let position = q * (sorted.len().checked_sub(1)?) as f64;
    let below = sorted.get(position.floor() as usize)?;
    let above = sorted.get(position.ceil() as usize)?;
    Some(below + (above - below) * position.fract())
}

/// The mean of each cluster, whatever the order of the rows.
fn cluster_means(rows: &[(usize, f64)]) -> BTreeMap<usize, f64> {
    let mut values: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for &(cluster, value) in rows {
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
