//! Pairs of systems on the same questions: differences, tests, and what could have been found.

use std::collections::{BTreeMap, HashMap};

use polars::prelude::DataFrame;

use super::bootstrap::Pairs;
use super::summary::clusters;
use super::{Bootstrap, FEW, benjamini_hochberg, holm, minimum_detectable_difference, sign_flip};
use crate::error::{Error, Result};
use crate::table::{FrameBuilder, Scores, floats, texts};

/// Permutations of the sign-flip tests; with up to thirteen clusters all assignments are tried.
const PERMUTATIONS: usize = 10_000;
/// The level and the power for which the minimum detectable difference is given.
const ALPHA: f64 = 0.05;
const POWER: f64 = 0.8;

impl Scores {
    /// Every pair of systems on the questions that both have a value for, by metric and by these columns.
    ///
    /// One row a pair: the mean of `a − b` with its 95 % interval, the p-value of the sign-flip test, adjusted by Holm
    /// within the metric and by Benjamini and Hochberg over the whole table, the smallest difference that this many
    /// questions show with 80 % power at 0.05, and how many questions only one side has. What is resampled and flipped
    /// is the column `unit`, where there is one, else the question. Below [`FEW`] clusters there is no p-value: such
    /// slices are not ranked.
    ///
    /// # Errors
    /// When there are fewer than two systems, or a column does not exist or does not hold text.
    ///
    /// ```
    /// use claimlab::polars::prelude::*;
    /// use claimlab::table::Scores;
    /// let questions: Vec<String> = (0..40).flat_map(|i| [format!("q{i}"), format!("q{i}")]).collect();
    /// let values: Vec<f64> = (0..40).flat_map(|i| { let low = f64::from(i % 4) / 5.0; [low + 0.25, low] }).collect();
    /// let scores = Scores::new(df!("system" => ["new", "old"].repeat(40), "question_id" => questions,
    ///     "attempt" => vec![1_i64; 80], "metric" => vec!["f1"; 80], "checker" => vec!["c"; 80], "value" => values,
    ///     "undefined" => vec![None::<&str>; 80])?)?;
    /// let row = scores.compare(&[])?;
    /// assert_eq!(row.height(), 1);
    /// assert!((row.column("difference")?.f64()?.get(0).unwrap() - 0.25).abs() < 1e-12);
    /// assert!(row.column("p")?.f64()?.get(0).unwrap() < 0.001);
    /// # Ok::<(), claimlab::Error>(())
    /// ```
    pub fn compare(&self, slices: &[&str]) -> Result<DataFrame> {
        let cells = Cells::read(self, slices)?;
        if cells.systems.len() < 2 {
            return Err(Error::input(format!("there is nothing to compare: the scores hold {:?}", cells.systems))
                .help("put the scores of two systems into one table"));
        }
        cells.pairs(slices)
    }
}

/// A slice's columns and the metric.
type Key = Vec<Option<String>>;

/// Values by slice and metric, then by system: (value, question).
struct Cells {
    systems: Vec<String>,
    cluster_of: HashMap<usize, usize>,
    keys: Vec<Key>,
    values: Vec<BTreeMap<usize, Vec<(f64, usize)>>>,
}

impl Cells {
    fn read(scores: &Scores, slices: &[&str]) -> Result<Self> {
        let frame = scores.frame();
        let columns: Vec<Vec<Option<String>>> = slices.iter().map(|name| texts(frame, name)).collect::<Result<_>>()?;
        let (metrics, values) = (texts(frame, "metric")?, floats(frame, "value")?);
        let (questions, names) = (texts(frame, "question_id")?, texts(frame, "system")?);
        let clusters = clusters(scores)?;
        let mut cells = Self { systems: Vec::new(), cluster_of: HashMap::new(), keys: Vec::new(), values: Vec::new() };
        let (mut known, mut places): (HashMap<&str, usize>, HashMap<Key, usize>) = Default::default();
        for row in 0..frame.height() {
            let (Some(question), Some(name)) = (questions[row].as_deref(), names[row].as_deref()) else { continue };
            let next = known.len();
            let question = *known.entry(question).or_insert(next);
            cells.cluster_of.insert(question, clusters[row]);
            let system = cells.systems.iter().position(|known| known == name).unwrap_or_else(|| {
                cells.systems.push(name.to_owned());
                cells.systems.len() - 1
            });
            let key: Key = columns.iter().map(|column| column[row].clone()).chain([metrics[row].clone()]).collect();
            let place = *places.entry(key.clone()).or_insert_with(|| {
                cells.keys.push(key);
                cells.values.push(BTreeMap::new());
                cells.keys.len() - 1
            });
            if let Some(value) = values[row].filter(|value| value.is_finite()) {
                cells.values[place].entry(system).or_default().push((value, question));
            }
        }
        Ok(cells)
    }

    fn pairs(&self, slices: &[&str]) -> Result<DataFrame> {
        let mut rows: Vec<Row<'_>> = Vec::new();
        let none = Vec::new();
        for (key, values) in self.keys.iter().zip(&self.values) {
            for (a, first) in self.systems.iter().enumerate() {
                for (b, second) in self.systems.iter().enumerate().skip(a + 1) {
                    let pairs = Pairs::new(values.get(&a).unwrap_or(&none), values.get(&b).unwrap_or(&none));
                    rows.push(Row::new(key, first, second, &pairs, &self.cluster_of));
                }
            }
        }
        table(slices, &rows)
    }
}

struct Row<'a> {
    key: &'a Key,
    a: &'a str,
    b: &'a str,
    difference: Option<f64>,
    ends: Option<(f64, f64)>,
    p: Option<f64>,
    detectable: Option<f64>,
    n: usize,
    clusters: usize,
    only: (usize, usize),
}

impl<'a> Row<'a> {
    fn new(key: &'a Key, a: &'a str, b: &'a str, pairs: &Pairs, cluster_of: &HashMap<usize, usize>) -> Self {
        let settings = Bootstrap::new();
        let clustered: Vec<(f64, usize)> = pairs
            .differences
            .iter()
            .map(|(value, question)| (*value, cluster_of.get(question).copied().unwrap_or(*question)))
            .collect();
        let interval = settings.mean(&clustered);
        let clusters = interval.map_or(0, |interval| interval.clusters);
        let ranked = clusters >= FEW;
        Self {
            key,
            a,
            b,
            difference: interval.map(|interval| interval.mean),
            ends: interval.and_then(|interval| interval.low.zip(interval.high)),
            p: sign_flip(&clustered, PERMUTATIONS, settings.seed).filter(|_| ranked).map(|test| test.p),
            detectable: deviation(&clustered).and_then(|sd| minimum_detectable_difference(sd, clusters, ALPHA, POWER)),
            n: pairs.differences.len(),
            clusters,
            only: (pairs.only_a, pairs.only_b),
        }
    }

    fn metric(&self) -> Option<&String> {
        self.key.last().and_then(Option::as_ref)
    }
}

/// The standard deviation of the clusters' means.
fn deviation(values: &[(f64, usize)]) -> Option<f64> {
    let mut clusters: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for (value, cluster) in values {
        let (sum, n) = clusters.entry(*cluster).or_default();
        *sum += value;
        *n += 1.0;
    }
    let means: Vec<f64> = clusters.into_values().map(|(sum, n)| sum / n).collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let squares: f64 = means.iter().map(|value| (value - mean).powi(2)).sum();
    (means.len() > 1).then(|| (squares / (means.len() - 1) as f64).sqrt())
}

fn table(slices: &[&str], rows: &[Row<'_>]) -> Result<DataFrame> {
    let raw: Vec<f64> = rows.iter().map(|row| row.p.unwrap_or(f64::NAN)).collect();
    let mut within = vec![None; rows.len()];
    let mut metrics: Vec<Option<&String>> = rows.iter().map(Row::metric).collect();
    metrics.sort_unstable();
    metrics.dedup();
    for metric in metrics {
        let places: Vec<usize> = (0..rows.len()).filter(|place| rows[*place].metric() == metric).collect();
        let adjusted = holm(&places.iter().map(|place| raw[*place]).collect::<Vec<_>>());
        places.into_iter().zip(adjusted).for_each(|(place, p)| within[place] = p);
    }
    let mut table = FrameBuilder::new();
    for (place, name) in slices.iter().chain(&["metric"]).enumerate() {
        table = table.text_or_null(name, &rows.iter().map(|row| row.key[place].as_ref()).collect::<Vec<_>>());
    }
    let count = |pick: fn(&Row<'_>) -> usize| rows.iter().map(|row| pick(row) as i64).collect::<Vec<_>>();
    table
        .text("a", &rows.iter().map(|row| row.a).collect::<Vec<_>>())
        .text("b", &rows.iter().map(|row| row.b).collect::<Vec<_>>())
        .number("difference", &rows.iter().map(|row| row.difference).collect::<Vec<_>>())
        .number("ci_low", &rows.iter().map(|row| row.ends.map(|ends| ends.0)).collect::<Vec<_>>())
        .number("ci_high", &rows.iter().map(|row| row.ends.map(|ends| ends.1)).collect::<Vec<_>>())
        .number("p", &rows.iter().map(|row| row.p).collect::<Vec<_>>())
        .number("p_holm", &within)
        .number("p_bh", &benjamini_hochberg(&raw))
        .number("detectable", &rows.iter().map(|row| row.detectable).collect::<Vec<_>>())
        .integer("n", &count(|row| row.n))
        .integer("n_clusters", &count(|row| row.clusters))
        .integer("only_a", &count(|row| row.only.0))
        .integer("only_b", &count(|row| row.only.1))
        .boolean("few", &rows.iter().map(|row| Some(row.clusters < FEW)).collect::<Vec<_>>())
        .build()
}

#[cfg(test)]
mod tests {
    use polars::prelude::*;

    use super::*;

    #[test]
    fn pairs_say_over_how_many_and_few_are_not_tested() -> Result<()> {
        let scores = Scores::new(df!(
            "system" => ["a", "b", "a", "b", "a", "c"],
            "question_id" => ["1", "1", "2", "2", "3", "1"],
            "attempt" => [1_i64; 6], "metric" => ["f1"; 6], "checker" => ["x"; 6],
            "value" => [Some(1.0), Some(0.5), Some(0.5), None, Some(0.0), Some(0.0)],
            "undefined" => [None, None, None, Some("failed"), None, None],
        )?)?;
        let table = scores.compare(&[])?;
        assert_eq!(table.height(), 3);
        let whole = |name: &str| -> Result<Vec<i64>> { Ok(table.column(name)?.i64()?.into_no_null_iter().collect()) };
        assert_eq!((whole("n")?, whole("only_a")?, whole("only_b")?), (vec![1, 1, 1], vec![2, 2, 0], vec![0, 0, 0]));
        assert_eq!(table.column("difference")?.f64()?.get(0), Some(0.5));
        assert_eq!(table.column("p")?.null_count(), 3);
        assert!(scores.only("system", "a")?.compare(&[]).unwrap_err().to_string().contains("nothing to compare"));
        Ok(())
    }
}
