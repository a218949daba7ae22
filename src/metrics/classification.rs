//! Predicted labels against given ones: the confusion matrix and what follows from it.
//!
//! A share whose denominator is empty does not exist: it is `None`, never 0. The matrix knows its menu of labels, so a
//! label that nobody gave still counts as a class. Items without a prediction are counted apart and in no share.

use std::fmt;

use polars::prelude::DataFrame;

use crate::error::{Error, Result};
use crate::table::{FrameBuilder, Show};

/// Counts of items by the label that was given (row, say by people) and the label that was predicted (column).
///
/// ```
/// use claimlab::metrics::ConfusionMatrix;
///
/// let given = ["pass", "pass", "pass", "fail", "fail"];
/// let predicted = [Some("pass"), Some("pass"), Some("fail"), Some("fail"), None];
/// let matrix = ConfusionMatrix::new(&["pass", "fail"], &given, &predicted)?;
/// assert_eq!((matrix.total(), matrix.unanswered()), (4, 1));
/// assert_eq!(matrix.accuracy(), Some(0.75));
/// assert_eq!(matrix.majority(), Some(0.75)); // always saying `pass`
/// assert_eq!(matrix.recall("pass"), Some(2.0 / 3.0));
/// assert_eq!(matrix.recall("fail"), Some(1.0));
/// assert_eq!(matrix.balanced_accuracy(), Some((2.0 / 3.0 + 1.0) / 2.0));
/// assert_eq!(matrix.kappa(), Some(0.5));
/// # Ok::<(), claimlab::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfusionMatrix {
    labels: Vec<String>,
    /// Row after row.
    counts: Vec<u64>,
    unanswered: u64,
}

impl ConfusionMatrix {
    /// Counts pairs of given and predicted labels; a prediction that failed is `None`.
    ///
    /// # Errors
    /// When the lists differ in length, a label is not on the menu, or the menu is empty or repeats itself.
    pub fn new<L, G, P>(labels: &[L], given: &[G], predicted: &[Option<P>]) -> Result<Self>
    where
        L: AsRef<str>,
        G: AsRef<str>,
        P: AsRef<str>,
    {
        if given.len() != predicted.len() {
            return Err(Error::input(format!("{} given labels, but {} predicted ones", given.len(), predicted.len()))
                .help("give one prediction an item, None where there is none"));
        }
        let mut matrix = Self::empty(labels)?;
        for (given, predicted) in given.iter().zip(predicted) {
            let row = matrix.place(given.as_ref())?;
            match predicted {
                Some(label) => {
                    let column = matrix.place(label.as_ref())?;
                    *matrix.at(row, column) += 1;
                }
                None => matrix.unanswered += 1,
            }
        }
        Ok(matrix)
    }

    /// Takes counts as they stand: one row a given label, one column a predicted one.
    ///
    /// # Errors
    /// When the counts are not square in the number of labels.
    pub fn from_counts<L: AsRef<str>>(labels: &[L], rows: &[Vec<u64>]) -> Result<Self> {
        let mut matrix = Self::empty(labels)?;
        let n = matrix.labels.len();
        if rows.len() != n || rows.iter().any(|row| row.len() != n) {
            return Err(Error::input(format!("{n} labels need {n} rows of {n} counts; found {rows:?}")));
        }
        matrix.counts = rows.concat();
        Ok(matrix)
    }

    fn empty<L: AsRef<str>>(labels: &[L]) -> Result<Self> {
        let labels: Vec<String> = labels.iter().map(|label| label.as_ref().to_owned()).collect();
        let repeated = labels.iter().enumerate().any(|(place, label)| labels[..place].contains(label));
        if labels.is_empty() || repeated {
            return Err(Error::input(format!("the menu of labels is {labels:?}"))
                .help("name every class once, those that nobody gave included"));
        }
        Ok(Self { counts: vec![0; labels.len() * labels.len()], labels, unanswered: 0 })
    }

    fn place(&self, label: &str) -> Result<usize> {
        self.labels.iter().position(|known| known == label).ok_or_else(|| {
            Error::input(format!("label {label:?} is not on the menu {:?}", self.labels))
                .help("rename the label, or make it a missing one if the item has no verdict")
        })
    }

    fn at(&mut self, row: usize, column: usize) -> &mut u64 {
        let width = self.labels.len();
        &mut self.counts[row * width + column]
    }

    fn get(&self, row: usize, column: usize) -> f64 {
        self.counts[row * self.labels.len() + column] as f64
    }

    fn row(&self, row: usize) -> f64 {
        (0..self.labels.len()).map(|column| self.get(row, column)).sum()
    }

    fn column(&self, column: usize) -> f64 {
        (0..self.labels.len()).map(|row| self.get(row, column)).sum()
    }

    fn known(&self, label: &str) -> Option<usize> {
        self.labels.iter().position(|known| known == label)
    }

    /// Adds the counts of another matrix over the same labels.
    ///
    /// # Errors
    /// When the labels differ.
    pub fn add(&mut self, other: &Self) -> Result<()> {
        if self.labels != other.labels {
            return Err(Error::input(format!("the labels {:?} are not {:?}", other.labels, self.labels)));
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, more)| *own += more);
        self.unanswered += other.unanswered;
        Ok(())
    }

    /// The classes, in the order of rows and columns.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        self.labels.clone()
    }

    /// How often `given` was predicted as `predicted`; 0 for labels off the menu.
    #[must_use]
    pub fn count(&self, given: &str, predicted: &str) -> u64 {
        match (self.known(given), self.known(predicted)) {
            (Some(row), Some(column)) => self.counts[row * self.labels.len() + column],
            _ => 0,
        }
    }

    /// The counts, one row a given label.
    #[must_use]
    pub fn rows(&self) -> Vec<Vec<u64>> {
        self.counts.chunks(self.labels.len()).map(<[u64]>::to_vec).collect()
    }

    /// Items with a prediction.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Items without a prediction; in no share.
    #[must_use]
    pub fn unanswered(&self) -> u64 {
        self.unanswered
    }

    /// Items whose prediction is the given label.
    #[must_use]
    pub fn correct(&self) -> u64 {
        (0..self.labels.len()).map(|place| self.counts[place * self.labels.len() + place]).sum()
    }

    /// The share of correct predictions. `None` without items.
    #[must_use]
    pub fn accuracy(&self) -> Option<f64> {
        share(self.correct() as f64, self.total() as f64)
    }

    /// The accuracy of always predicting the label that was given most often: what accuracy has to beat.
    #[must_use]
    pub fn majority(&self) -> Option<f64> {
        let most = (0..self.labels.len()).map(|row| self.row(row)).fold(0.0, f64::max);
        share(most, self.total() as f64)
    }

    /// Of the items predicted as `label`, the share that has it. `None` when nothing was predicted so.
    #[must_use]
    pub fn precision(&self, label: &str) -> Option<f64> {
        let class = self.known(label)?;
        share(self.get(class, class), self.column(class))
    }

    /// Of the items that have `label`, the share predicted so. `None` when no item has it.
    #[doc(alias = "sensitivity")]
    #[must_use]
    pub fn recall(&self, label: &str) -> Option<f64> {
        let class = self.known(label)?;
        share(self.get(class, class), self.row(class))
    }

    /// `2 TP / (2 TP + FP + FN)`, which is the harmonic mean of precision and recall where both exist, and 0 where a
    /// label was given but never predicted. `None` when it was neither.
    #[must_use]
    pub fn f1(&self, label: &str) -> Option<f64> {
        let class = self.known(label)?;
        share(2.0 * self.get(class, class), self.row(class) + self.column(class))
    }

    /// The mean of the classes' F1. `None` when a class has none.
    #[must_use]
    pub fn macro_f1(&self) -> Option<f64> {
        self.mean(|label| self.f1(label))
    }

    /// The mean of the classes' recalls: 1 over the number of classes for any constant or random prediction. `None`
    /// when a class was never given.
    #[must_use]
    pub fn balanced_accuracy(&self) -> Option<f64> {
        self.mean(|label| self.recall(label))
    }

    fn mean(&self, value: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        let sum = self.labels.iter().map(|label| value(label)).sum::<Option<f64>>()?;
        Some(sum / self.labels.len() as f64)
    }

    /// Cohen's kappa (Cohen 1960): agreement beyond what the two margins give by chance. 1 is perfect, 0 is chance,
    /// below 0 is worse. `None` when chance alone agrees always (one label only).
    ///
    /// It falls with skewed margins at equal accuracy; read it beside [`pabak`](Self::pabak) and
    /// [`majority`](Self::majority).
    #[must_use]
    pub fn kappa(&self) -> Option<f64> {
        let n = self.total() as f64;
        let observed = self.accuracy()?;
        let chance: f64 =
            (0..self.labels.len()).map(|class| self.row(class) * self.column(class)).sum::<f64>() / (n * n);
        share(observed - chance, 1.0 - chance)
    }

    /// Kappa as it would be were all labels equally frequent: `(k · accuracy − 1) / (k − 1)` for k classes (Byrt,
    /// Bishop & Carlin 1993; for two classes `2 · accuracy − 1`). `None` for a single class.
    #[doc(alias = "prevalence-adjusted bias-adjusted kappa")]
    #[must_use]
    pub fn pabak(&self) -> Option<f64> {
        let classes = self.labels.len() as f64;
        share(classes * self.accuracy()? - 1.0, classes - 1.0)
    }

    /// Matthews' correlation coefficient, in Gorodkin's form for several classes (2004). −1 to 1; `None` when only one
    /// label was given or only one predicted.
    #[doc(alias = "matthews_corrcoef")]
    #[must_use]
    pub fn mcc(&self) -> Option<f64> {
        let n = self.total() as f64;
        let classes = 0..self.labels.len();
        let both: f64 = classes.clone().map(|class| self.row(class) * self.column(class)).sum();
        let rows: f64 = classes.clone().map(|class| self.row(class).powi(2)).sum();
        let columns: f64 = classes.map(|class| self.column(class).powi(2)).sum();
        let spread = (n * n - rows) * (n * n - columns);
        share(self.correct() as f64 * n - both, spread.sqrt())
    }

    /// The view of one label against all others.
    ///
    /// # Errors
    /// When the label is not on the menu.
    pub fn binary(&self, label: &str) -> Result<Self> {
        let class = self.place(label)?;
        let mut matrix = Self::empty(&[label.to_owned(), format!("not {label}")])?;
        for row in 0..self.labels.len() {
            for column in 0..self.labels.len() {
                *matrix.at(usize::from(row != class), usize::from(column != class)) +=
                    self.counts[row * self.labels.len() + column];
            }
        }
        matrix.unanswered = self.unanswered;
        Ok(matrix)
    }

    /// The matrix as a table: one row a given label, one column a predicted one.
    ///
    /// # Errors
    /// When a label is named `given`.
    pub fn table(&self) -> Result<DataFrame> {
        let mut table = FrameBuilder::new().text("given", &self.labels);
        for (column, label) in self.labels.iter().enumerate() {
            let counts: Vec<i64> =
                self.counts.iter().skip(column).step_by(self.labels.len()).map(|n| *n as i64).collect();
            table = table.integer(label, &counts);
        }
        table.build()
    }

    /// One row a class: how many items have it, how many were predicted so, precision, recall and F1.
    ///
    /// # Errors
    /// Never for a matrix that was made by this type.
    pub fn by_class(&self) -> Result<DataFrame> {
        let classes = 0..self.labels.len();
        let of = |value: fn(&Self, &str) -> Option<f64>| {
            self.labels.iter().map(|label| value(self, label)).collect::<Vec<_>>()
        };
        FrameBuilder::new()
            .text("label", &self.labels)
            .integer("given", &classes.clone().map(|class| self.row(class) as i64).collect::<Vec<_>>())
            .integer("predicted", &classes.map(|class| self.column(class) as i64).collect::<Vec<_>>())
            .number("precision", &of(Self::precision))
            .number("recall", &of(Self::recall))
            .number("f1", &of(Self::f1))
            .build()
    }

    /// Shows the matrix.
    pub fn evcxr_display(&self) {
        match self.table() {
            Ok(table) => table.evcxr_display(),
            Err(error) => crate::signal::display(None, None, &error.to_string()),
        }
    }
}

/// One number over a whole matrix, by name: what reports list and intervals are computed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Agreement {
    /// [`ConfusionMatrix::accuracy`].
    Accuracy,
    /// [`ConfusionMatrix::balanced_accuracy`].
    BalancedAccuracy,
    /// [`ConfusionMatrix::macro_f1`].
    MacroF1,
    /// [`ConfusionMatrix::kappa`].
    Kappa,
    /// [`ConfusionMatrix::pabak`].
    Pabak,
    /// [`ConfusionMatrix::mcc`].
    Mcc,
}

impl Agreement {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 6] =
        [Self::Accuracy, Self::BalancedAccuracy, Self::MacroF1, Self::Kappa, Self::Pabak, Self::Mcc];

    /// The name in tables, such as `balanced_accuracy`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::BalancedAccuracy => "balanced_accuracy",
            Self::MacroF1 => "macro_f1",
            Self::Kappa => "kappa",
            Self::Pabak => "pabak",
            Self::Mcc => "mcc",
        }
    }

    /// Its value, where it exists.
    #[must_use]
    pub fn of(self, matrix: &ConfusionMatrix) -> Option<f64> {
        match self {
            Self::Accuracy => matrix.accuracy(),
            Self::BalancedAccuracy => matrix.balanced_accuracy(),
            Self::MacroF1 => matrix.macro_f1(),
            Self::Kappa => matrix.kappa(),
            Self::Pabak => matrix.pabak(),
            Self::Mcc => matrix.mcc(),
        }
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A quotient, where it exists.
fn share(numerator: f64, denominator: f64) -> Option<f64> {
    let value = numerator / denominator;
    (denominator != 0.0 && value.is_finite()).then_some(value)
}

#[cfg(test)]
#[path = "classification_tests.rs"]
mod tests;
