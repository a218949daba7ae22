//! The figures, one constructor each.

use polars::prelude::DataFrame;

use super::Figure;
#[cfg(feature = "figures")]
use super::draw;
use crate::error::Result;
use crate::metrics::Metric;
use crate::table::{Scores, Summary};

/// Draws, or says that this build cannot.
macro_rules! drawn {
    ($call:expr) => {{
        #[cfg(feature = "figures")]
        {
            let (drawn, alt) = $call?;
            Ok(Self { svg: draw::outlined(&drawn, &alt)?, drawn, alt })
        }
        #[cfg(not(feature = "figures"))]
        {
            Err(crate::error::Error::feature_disabled("figures", "figures"))
        }
    }};
}

#[cfg_attr(not(feature = "figures"), allow(unused_variables))]
impl Figure {
    /// Means with their intervals: one row a metric, one colour a value of `color`, one panel a value of `panel` (both
    /// columns of the summary). With more than two panels it is as wide as two columns (175 mm).
    ///
    /// # Errors
    /// When a column does not exist, there are more colours than can be told apart, the summary has several rows for
    /// one point, or this build draws nothing. The same holds for all figures.
    pub fn intervals(summary: &Summary, color: &str, panel: &str) -> Result<Self> {
        drawn!(draw::intervals(summary, color, panel))
    }

    /// A forest plot: one metric over all questions and by each of these columns, with intervals over questions and
    /// the number of questions beside each. Slices stand in the order of their appearance; those with fewer than
    /// [`FEW`](super::FEW) values are grey. The scores may be of one system or of several.
    ///
    /// # Errors
    /// As [`Figure::intervals`]; when the scores lack the metric.
    pub fn forest(scores: &Scores, metric: Metric, slices: &[&str]) -> Result<Self> {
        drawn!(draw::forest(scores, metric, slices))
    }

    /// Grouped bars with intervals: one group a value of `group`, one colour a value of `color`; either may be
    /// `metric`.
    ///
    /// # Errors
    /// As [`Figure::intervals`].
    pub fn bars(summary: &Summary, group: &str, color: &str) -> Result<Self> {
        drawn!(draw::bars(summary, group, color))
    }

    /// Mean precision against mean recall with their intervals, over lines of equal F1: one colour a value of `color`,
    /// one shape a value of `shape`. The F1 of two means, which the lines show, is not the mean of the questions' F1.
    ///
    /// # Errors
    /// As [`Figure::intervals`]; when the summary lacks one of the two metrics.
    pub fn precision_recall(summary: &Summary, color: &str, shape: &str) -> Result<Self> {
        drawn!(draw::precision_recall(summary, color, shape))
    }

    /// A heat map of means, for example persona × category of one metric, or metric × system. Every cell says its
    /// mean and the number of values behind it; cells with fewer than [`FEW`](super::FEW) are grey. Columns that do not
    /// fit in 85 mm are drawn over both columns of a paper (175 mm).
    ///
    /// # Errors
    /// As [`Figure::intervals`]; when neither axis is `metric` and the summary holds several metrics; when the columns do
    /// not fit in 175 mm either.
    pub fn heat_map(summary: &Summary, rows: &str, columns: &str) -> Result<Self> {
        drawn!(draw::heat_map(summary, rows, columns))
    }

    /// A confusion matrix of two columns of labels, the first being the truth: counts, shares of each row, recall and
    /// precision of each label. A missing label of the checker is a column of its own.
    ///
    /// # Errors
    /// When a column does not exist or does not hold text, or there are more than six labels.
    pub fn confusion(labels: &DataFrame, truth: &str, found: &str) -> Result<Self> {
        drawn!(draw::confusion(labels, truth, found))
    }

    /// What response claims are made of, one bar a value of `slice`: correct claims (self-knowledge, or found in a
    /// chunk), noise from relevant and from irrelevant chunks, hallucination. Two brackets make the identities
    /// visible: precision + both noises + hallucination, and faithfulness + self-knowledge + hallucination, are the
    /// whole. What a table leaves unaccounted for is hatched.
    ///
    /// # Errors
    /// As [`Figure::intervals`]; when the summary lacks one of the six metrics.
    pub fn noise(summary: &Summary, slice: &str) -> Result<Self> {
        drawn!(draw::noise(summary, slice))
    }

    /// Curves of one metric over a column of numbers, for example claim recall at k: one colour a value of `color`,
    /// with a band for the intervals.
    ///
    /// # Errors
    /// As [`Figure::intervals`]; when `x` does not hold numbers or the summary holds several metrics.
    pub fn curves(summary: &Summary, x: &str, color: &str) -> Result<Self> {
        drawn!(draw::curves(summary, x, color))
    }

    /// The distribution of a column of replicates, such as [`Scores::replicates`], one row a value of `group`, with
    /// its mean and the middle 95 %.
    ///
    /// # Errors
    /// When a column does not exist, or a group has fewer than ten replicates.
    pub fn distributions(replicates: &DataFrame, value: &str, group: &str) -> Result<Self> {
        drawn!(draw::distributions(replicates, value, group))
    }

    /// A calibration curve: how often a verdict is right, by how sure the checker was, in ten bins, with 95 % intervals
    /// (over questions where the table has `question_id`), the counts, the expected calibration error (Guo et al.
    /// 2017, ICML) and the Brier score (1950).
    ///
    /// # Errors
    /// When `confidence` does not hold numbers from 0 to 1 or `correct` not true and false.
    pub fn calibration(verdicts: &DataFrame, confidence: &str, correct: &str) -> Result<Self> {
        drawn!(draw::calibration(verdicts, confidence, correct))
    }

    /// Reliability against what it costs: Task Pass^k of each system of a
    /// [leaderboard](crate::calibration::Reliability::leaderboard) upwards with its interval, its mean cost and its mean
    /// latency to the right, one panel each, on logarithmic axes unless something costs nothing. Filled points are those
    /// that no other beats on all three axes; a system without a score or an amount is counted under the figure.
    ///
    /// # Errors
    /// When a column of the leaderboard is missing, a score is no share, an amount is negative, or no system has both.
    pub fn pareto(leaderboard: &DataFrame) -> Result<Self> {
        drawn!(draw::pareto(leaderboard))
    }
}
