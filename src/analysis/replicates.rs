//! The resamples behind intervals, to look at.

use std::collections::HashMap;

use polars::prelude::DataFrame;

use super::bootstrap::Bootstrap;
use crate::error::{Error, Result};
use crate::table::{FrameBuilder, Scores, distinct, floats, texts};

impl Scores {
    /// The bootstrap means behind the intervals of [`Scores::by`], one row a resample: `replicate`, `slice` (the value
    /// of the column that is named), and a column for every metric (null where a slice has fewer than two questions).
    /// Within one metric, replicate *r* draws the same questions in every slice that has values for the same ones.
    ///
    /// # Errors
    /// When the column does not exist or does not hold text, or no resamples are asked for.
    pub fn replicates(&self, slice: &str, resamples: usize) -> Result<DataFrame> {
        if resamples == 0 || resamples > 100_000 {
            return Err(Error::input(format!("{resamples} resamples cannot be drawn; 1 to 100,000 can")));
        }
        let frame = self.frame();
        let (slices, metrics) = (distinct(frame, slice)?, distinct(frame, "metric")?);
        let (keys, names, values) = (texts(frame, slice)?, texts(frame, "metric")?, floats(frame, "value")?);
        let mut clusters: HashMap<String, usize> = HashMap::new();
        let mut held: HashMap<(String, String), Vec<(f64, usize)>> = HashMap::new();
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let next = clusters.len();
            let cluster = *clusters.entry(question.unwrap_or_default()).or_insert(next);
            if let (Some(key), Some(metric), Some(value)) = (&keys[row], &names[row], values[row]) {
                held.entry((key.clone(), metric.clone())).or_default().push((value, cluster));
            }
        }
        let rows: Vec<String> = slices.iter().flat_map(|key| vec![key.clone(); resamples]).collect();
        let numbers: Vec<i64> = slices.iter().flat_map(|_| 1..=resamples as i64).collect();
        let mut table = FrameBuilder::new().text(slice, &rows).integer("replicate", &numbers);
        for metric in &metrics {
            let mut column = Vec::with_capacity(rows.len());
            for key in &slices {
                let found = held.get(&(key.clone(), metric.clone()));
                let mut means: Vec<Option<f64>> = found
                    .map(|values| Bootstrap::new().resamples(resamples).replicates(values))
                    .unwrap_or_default()
                    .into_iter()
                    .map(Some)
                    .collect();
                means.resize(resamples, None);
                column.extend(means);
            }
            table = table.number(metric, &column);
        }
        table.build()
    }
}

#[cfg(test)]
mod tests {
    use polars::prelude::*;

    use crate::table::Scores;

    #[test]
    fn the_middle_of_the_replicates_is_the_interval() -> crate::Result<()> {
        let n = 30;
        let questions: Vec<String> = (0..n).map(|place| format!("q{place}")).collect();
        let values: Vec<f64> = (0..n).map(|place| f64::from(place * 7 % 11) / 11.0).collect();
        let scores = Scores::new(df!(
            "system" => vec!["s"; n as usize], "question_id" => questions, "attempt" => vec![1_i64; n as usize],
            "metric" => vec!["f1"; n as usize], "checker" => vec!["x"; n as usize],
            "value" => values, "undefined" => vec![None::<&str>; n as usize],
        )?)?;
        let drawn = scores.replicates("system", 2000)?;
        assert_eq!(drawn.height(), 2000);
        let mut means: Vec<f64> = drawn.column("f1")?.f64()?.iter().flatten().collect();
        means.sort_by(f64::total_cmp);
        let summary = scores.by(&["system"])?;
        let low = summary.frame().column("ci_low")?.f64()?.get(0).unwrap_or_default();
        assert!((means[49] - low).abs() < 1e-3 && means[49] <= low && low <= means[50], "{low}");
        assert!(scores.replicates("system", 0).is_err());
        Ok(())
    }
}
