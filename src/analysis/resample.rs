//! Intervals for many means at once: all cells that stand on the same clusters share their draws.
//!
//! A cell is one mean, say a metric of a system in a slice. Cells of a slice hold the same questions, so one draw of
//! questions serves all of them, and a draw costs one pass over a row of sums. That makes tables of thousands of means
//! affordable, and keeps the cells of a slice comparable draw by draw.

use rayon::prelude::*;

use super::Bootstrap;
use super::bootstrap::Interval;
use crate::error::Result;
use crate::signal::{self, Progress};

/// The values of one cell: (value or missing, cluster), one entry a row of the table.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub rows: Vec<(Option<f64>, usize)>,
}

/// Cells over the same clusters, as sums and counts by cluster.
struct Block {
    clusters: usize,
    /// Places of the cells in the caller's list.
    cells: Vec<usize>,
    /// Sums by cluster (row) and cell (column).
    sums: Vec<f64>,
    /// Counts by cluster and pattern; cells with the same counts share a pattern.
    counts: Vec<f64>,
    patterns: usize,
    pattern_of: Vec<usize>,
}

/// The mean of every cell with its interval; `None` for a cell without values, or with one that is not finite.
///
/// The mean is over the values that exist, in every resample too (a ratio of sums); a resample in which a cell has no
/// value is left out of that cell's interval, which does not exist when these are more than a tenth.
///
/// # Errors
/// Only when it is interrupted.
pub(super) fn intervals(cells: &[Cell], settings: &Bootstrap) -> Result<Vec<Option<Interval>>> {
    let mut found = vec![None; cells.len()];
    let blocks = blocks(cells);
    let progress = Progress::new("Bootstrapping intervals", blocks.len() * settings.resamples);
    for block in blocks {
        for (place, interval) in block.intervals(settings, &progress)? {
            found[place] = interval;
        }
    }
    Ok(found)
}

fn blocks(cells: &[Cell]) -> Vec<Block> {
    let clusters_of = |cell: &Cell| {
        let mut clusters: Vec<usize> = cell.rows.iter().map(|(_, cluster)| *cluster).collect();
        clusters.sort_unstable();
        clusters.dedup();
        clusters
    };
    let mut groups: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    let mut known: std::collections::HashMap<Vec<usize>, usize> = std::collections::HashMap::new();
    for (place, cell) in cells.iter().enumerate() {
        if cell.rows.iter().any(|(value, _)| value.is_some_and(|value| !value.is_finite())) {
            continue;
        }
        let clusters = clusters_of(cell);
        let group = *known.entry(clusters.clone()).or_insert_with(|| {
            groups.push((clusters, Vec::new()));
            groups.len() - 1
        });
        groups[group].1.push(place);
    }
    groups.into_iter().map(|(clusters, members)| Block::new(&clusters, members, cells)).collect()
}

impl Block {
    fn new(clusters: &[usize], members: Vec<usize>, cells: &[Cell]) -> Self {
        let (height, width) = (clusters.len(), members.len());
        let mut sums = vec![0.0; height * width];
        let mut patterns: Vec<Vec<f64>> = Vec::new();
        let mut pattern_of = Vec::with_capacity(width);
        for (column, place) in members.iter().enumerate() {
            let mut counts = vec![0.0; height];
            // The order of additions must not depend on the order of the rows.
            let mut rows = cells[*place].rows.clone();
            rows.sort_by(|a, b| a.1.cmp(&b.1).then(a.0.unwrap_or(0.0).total_cmp(&b.0.unwrap_or(0.0))));
            for (value, cluster) in rows {
                let (Some(value), Ok(row)) = (value, clusters.binary_search(&cluster)) else { continue };
                sums[row * width + column] += value;
                counts[row] += 1.0;
            }
            pattern_of.push(patterns.iter().position(|known| *known == counts).unwrap_or_else(|| {
                patterns.push(counts);
                patterns.len() - 1
            }));
        }
        let counts = (0..height).flat_map(|row| patterns.iter().map(move |pattern| pattern[row])).collect();
        Self { clusters: height, cells: members, sums, counts, patterns: patterns.len(), pattern_of }
    }

    fn intervals(&self, settings: &Bootstrap, progress: &Progress) -> Result<Vec<(usize, Option<Interval>)>> {
        let everything: Vec<usize> = (0..self.clusters).collect();
        let estimates = self.means(&everything);
        let resampled = self.resampled(settings, progress)?;
        let leave_one_out: Vec<Vec<f64>> = if settings.bca && !resampled.is_empty() {
            let without = |left: usize| -> Vec<usize> { (0..self.clusters).filter(|one| *one != left).collect() };
            (0..self.clusters).into_par_iter().map(|left| self.means(&without(left))).collect()
        } else {
            Vec::new()
        };
        let one = |column: usize| {
            let estimate = estimates[column];
            if estimate.is_nan() {
                return (self.cells[column], None);
            }
            let mut draws: Vec<f64> = resampled.iter().map(|row| row[column]).filter(|value| !value.is_nan()).collect();
            let enough = settings.resamples > 0 && draws.len() * 10 >= settings.resamples * 9;
            let without =
                || Some(leave_one_out.iter().map(|row| row[column]).filter(|value| !value.is_nan()).collect());
            let ends = if enough { settings.interval(&mut draws, estimate, &without) } else { None };
            let pattern = self.pattern_of[column];
            let counts = || (0..self.clusters).map(move |row| self.counts[row * self.patterns + pattern]);
            let interval = Interval {
                mean: estimate,
                low: ends.map(|ends| ends.0),
                high: ends.map(|ends| ends.1),
                n: counts().sum::<f64>() as usize,
                clusters: counts().filter(|count| *count > 0.0).count(),
            };
            (self.cells[column], Some(interval))
        };
        Ok((0..self.cells.len()).into_par_iter().map(one).collect())
    }

    /// One row of means a resample; none where there can be no interval.
    fn resampled(&self, settings: &Bootstrap, progress: &Progress) -> Result<Vec<Vec<f64>>> {
        if self.clusters < 2 || !(settings.level > 0.0 && settings.level < 1.0) {
            progress.advance(settings.resamples);
            return Ok(Vec::new());
        }
        let one = |stream: usize| -> Result<Vec<f64>> {
            signal::check("nothing of the intervals is kept")?;
            progress.advance(1);
            Ok(self.means(&settings.draw(stream, self.clusters)))
        };
        (0..settings.resamples).into_par_iter().map(one).collect()
    }

    /// The mean of every cell over these clusters; NaN without values.
    fn means(&self, drawn: &[usize]) -> Vec<f64> {
        let width = self.cells.len();
        let mut sums = vec![0.0; width];
        let mut counts = vec![0.0; self.patterns];
        for row in drawn {
            let values = &self.sums[row * width..(row + 1) * width];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            let sizes = &self.counts[row * self.patterns..(row + 1) * self.patterns];
            counts.iter_mut().zip(sizes).for_each(|(count, size)| *count += size);
        }
        sums.iter_mut().zip(&self.pattern_of).for_each(|(sum, pattern)| *sum /= counts[*pattern]);
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(rows: impl IntoIterator<Item = (Option<f64>, usize)>) -> Cell {
        Cell { rows: rows.into_iter().collect() }
    }

    #[test]
    fn cells_without_gaps_have_the_intervals_of_the_single_function() {
        let values: Vec<(f64, usize)> = (0..60).map(|i| ((i * 37 % 101) as f64 / 101.0, i / 2)).collect();
        let cells = [cell(values.iter().map(|(value, cluster)| (Some(*value), *cluster)))];
        for settings in [Bootstrap::new().resamples(300), Bootstrap::new().resamples(300).bca()] {
            let (table, single) = (intervals(&cells, &settings).unwrap()[0].unwrap(), settings.mean(&values).unwrap());
            assert_eq!((table.n, table.clusters), (single.n, single.clusters));
            for (a, b) in [(table.mean, single.mean), (table.low.unwrap(), single.low.unwrap())] {
                assert!((a - b).abs() < 1e-12, "{table:?} {single:?}");
            }
        }
    }

    #[test]
    fn missing_values_leave_the_mean_and_shrink_n() {
        let rows = |missing: usize| (0..40).map(move |i| ((i >= missing).then_some((i % 4) as f64), i));
        let found = intervals(&[cell(rows(0)), cell(rows(20)), cell(rows(40))], &Bootstrap::new()).unwrap();
        assert_eq!((found[0].unwrap().n, found[1].unwrap().n), (40, 20));
        assert_eq!(found[1].unwrap().mean, 1.5);
        assert!(found[1].unwrap().low.unwrap() < found[0].unwrap().low.unwrap());
        assert_eq!(found[2], None);
    }

    #[test]
    fn a_value_that_is_not_finite_has_no_mean_and_spoils_no_neighbour() {
        let good = cell((0..10).map(|i| (Some(i as f64), i)));
        let bad = cell((0..10).map(|i| (Some(if i == 3 { f64::NAN } else { 1.0 }), i)));
        let found = intervals(&[good.clone(), bad], &Bootstrap::new()).unwrap();
        assert_eq!(found[0], intervals(&[good], &Bootstrap::new()).unwrap()[0]);
        assert_eq!(found[1], None);
    }
}
