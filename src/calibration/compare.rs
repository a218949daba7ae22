//! Is one judge really better than another, on the same answers?

use std::collections::BTreeMap;

use polars::prelude::DataFrame;

use super::counts::{Counts, Statistic};
use super::intervals::{REPLICATES, SEED};
use super::join::Judged;
use super::labels::LabelSet;
use super::screening::Screening;
use crate::analysis::{Bootstrap, holm, mcnemar, sign_flip};
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
    let adjusted = holm(&rows.iter().map(|row| row.p_sign_flip.unwrap_or(f64::NAN)).collect::<Vec<_>>());
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
        .number("p_pass", &number(|row| exact(row.discordant[0])))
        .integer("fail_only_a", &count(|row| row.discordant[1][0]))
        .integer("fail_only_b", &count(|row| row.discordant[1][1]))
        .number("p_fail", &number(|row| exact(row.discordant[1])))
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
            p_sign_flip: flipped(&clusters),
        }
    }
}

/// McNemar's exact test; `None` without discordant pairs, of which nothing can be said.
pub(super) fn exact([a, b]: [usize; 2]) -> Option<f64> {
    (a + b > 0).then(|| mcnemar(a as u64, b as u64))
}

fn sum(total: (Counts, Counts), one: &(Counts, Counts)) -> (Counts, Counts) {
    (total.0.plus(one.0), total.1.plus(one.1))
}

fn difference((a, b): (Counts, Counts)) -> Option<f64> {
    Some(Statistic::BalancedAccuracy.of(a)? - Statistic::BalancedAccuracy.of(b)?)
}

fn interval(clusters: &[(Counts, Counts)]) -> Option<(f64, f64)> {
    let drawn = |places: &[usize]| {
        difference(
            places.iter().fold((Counts::default(), Counts::default()), |total, place| sum(total, &clusters[*place])),
        )
    };
    Bootstrap::new().resamples(REPLICATES).seed(SEED).statistic(clusters.len(), &drawn)
}

/// By whole tasks: gains in right verdicts.
fn flipped(clusters: &[(Counts, Counts)]) -> Option<f64> {
    let right = |counts: Counts| counts.pass_pass + counts.fail_fail;
    let gains: Vec<(f64, usize)> =
        clusters.iter().enumerate().map(|(task, (a, b))| (right(*a) - right(*b), task)).collect();
    sign_flip(&gains, FLIPS, SEED).map(|test| test.p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_judges_are_never_told_apart() {
        let same = Counts { pass_pass: 2.0, fail_fail: 1.0, ..Counts::default() };
        assert_eq!(flipped(&[(same, same); 8]), Some(1.0));
        assert_eq!(interval(&[(same, same); 8]), Some((0.0, 0.0)));
        assert_eq!(flipped(&[]), None);
    }
}
