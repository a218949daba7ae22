//! The four counts of a judge against labels, and what follows from them.

use std::fmt;

/// How often a judge and people said PASS and FAIL. Numbers rather than whole counts, since a label may weigh more
/// than one (see [`super::LabelSet::weighted`]).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    /// Labelled PASS, judged PASS.
    pub pass_pass: f64,
    /// Labelled PASS, judged FAIL.
    pub pass_fail: f64,
    /// Labelled FAIL, judged PASS.
    pub fail_pass: f64,
    /// Labelled FAIL, judged FAIL.
    pub fail_fail: f64,
}

impl Counts {
    /// Adds one answer of this weight.
    pub(super) fn add(&mut self, label_passes: bool, judge_passes: bool, weight: f64) {
        match (label_passes, judge_passes) {
            (true, true) => self.pass_pass += weight,
            (true, false) => self.pass_fail += weight,
            (false, true) => self.fail_pass += weight,
            (false, false) => self.fail_fail += weight,
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            pass_pass: self.pass_pass + other.pass_pass,
            pass_fail: self.pass_fail + other.pass_fail,
            fail_pass: self.fail_pass + other.fail_pass,
            fail_fail: self.fail_fail + other.fail_fail,
        }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self {
            pass_pass: self.pass_pass - other.pass_pass,
            pass_fail: self.pass_fail - other.pass_fail,
            fail_pass: self.fail_pass - other.fail_pass,
            fail_fail: self.fail_fail - other.fail_fail,
        }
    }

    pub(super) fn total(self) -> f64 {
        self.pass_pass + self.pass_fail + self.fail_pass + self.fail_fail
    }

    pub(super) fn labelled_pass(self) -> f64 {
        self.pass_pass + self.pass_fail
    }

    pub(super) fn labelled_fail(self) -> f64 {
        self.fail_pass + self.fail_fail
    }
}

/// What a judge's agreement with people is measured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Statistic {
    /// The share of answers labelled PASS that the judge passes (sensitivity).
    PassRecall,
    /// The share of answers labelled FAIL that the judge fails (specificity).
    FailRecall,
    /// The mean of both recalls.
    BalancedAccuracy,
    /// The share of answers on which both agree.
    Accuracy,
    /// Cohen's kappa: agreement beyond what the two rates of PASS would give by chance (Cohen 1960).
    Kappa,
    /// Prevalence-adjusted bias-adjusted kappa, twice the accuracy minus one (Byrt, Bishop and Carlin 1993).
    PrevalenceAdjustedKappa,
    /// Matthews' correlation coefficient (Matthews 1975).
    Mcc,
    /// The share that the judge passes.
    JudgePassRate,
    /// The share that people pass: the base rate by which kappa is to be read.
    LabelPassRate,
}

impl Statistic {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 9] = [
        Self::PassRecall,
        Self::FailRecall,
        Self::BalancedAccuracy,
        Self::Accuracy,
        Self::Kappa,
        Self::PrevalenceAdjustedKappa,
        Self::Mcc,
        Self::JudgePassRate,
        Self::LabelPassRate,
    ];

    /// The spelling in tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PassRecall => "pass_recall",
            Self::FailRecall => "fail_recall",
            Self::BalancedAccuracy => "balanced_accuracy",
            Self::Accuracy => "accuracy",
            Self::Kappa => "kappa",
            Self::PrevalenceAdjustedKappa => "prevalence_adjusted_kappa",
            Self::Mcc => "mcc",
            Self::JudgePassRate => "judge_pass_rate",
            Self::LabelPassRate => "label_pass_rate",
        }
    }

    /// Its value; `None` where it is undefined.
    ///
    /// ```
    /// use claimlab::calibration::{Counts, Statistic};
    /// let counts = Counts { pass_pass: 45.0, pass_fail: 5.0, fail_pass: 10.0, fail_fail: 40.0 };
    /// assert_eq!(Statistic::BalancedAccuracy.of(counts).map(|value| (value * 1e6).round()), Some(850_000.0));
    /// assert_eq!(Statistic::Kappa.of(counts).map(|kappa| (kappa * 1e6).round()), Some(700_000.0));
    /// let all_pass = Counts { pass_pass: 9.0, pass_fail: 1.0, ..Counts::default() };
    /// assert_eq!(Statistic::FailRecall.of(all_pass), None);
    /// ```
    #[must_use]
    pub fn of(self, counts: Counts) -> Option<f64> {
        let Counts { pass_pass, pass_fail, fail_pass, fail_fail } = counts;
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
        let n = counts.total();
        match self {
            Self::PassRecall => share(pass_pass, counts.labelled_pass()),
            Self::FailRecall => share(fail_fail, counts.labelled_fail()),
            Self::BalancedAccuracy => {
                Some((share(pass_pass, counts.labelled_pass())? + share(fail_fail, counts.labelled_fail())?) / 2.0)
            }
            Self::Accuracy => share(pass_pass + fail_fail, n),
            Self::PrevalenceAdjustedKappa => share(pass_pass + fail_fail, n).map(|accuracy| 2.0 * accuracy - 1.0),
            Self::JudgePassRate => share(pass_pass + fail_pass, n),
            Self::LabelPassRate => share(counts.labelled_pass(), n),
            Self::Kappa => {
                let observed = share(pass_pass + fail_fail, n)?;
                let (judge_pass, judge_fail) = (pass_pass + fail_pass, pass_fail + fail_fail);
                let chance = (counts.labelled_pass() * judge_pass + counts.labelled_fail() * judge_fail) / (n * n);
                (chance < 1.0).then(|| (observed - chance) / (1.0 - chance))
            }
            Self::Mcc => {
                let product =
                    counts.labelled_pass() * counts.labelled_fail() * (pass_pass + fail_pass) * (pass_fail + fail_fail);
                (product > 0.0).then(|| (pass_pass * fail_fail - pass_fail * fail_pass) / product.sqrt())
            }
        }
    }

    /// Why it has no value for these counts.
    pub(super) fn undefined(self, counts: Counts) -> &'static str {
        if counts.total() <= 0.0 {
            "no labelled answer has a verdict"
        } else if counts.labelled_fail() <= 0.0 {
            "no answer is labelled FAIL"
        } else if counts.labelled_pass() <= 0.0 {
            "no answer is labelled PASS"
        } else {
            "the judge gave one verdict to all"
        }
    }

    /// The least and the greatest value that it can have.
    pub(super) fn range(self) -> (f64, f64) {
        match self {
            Self::Kappa | Self::PrevalenceAdjustedKappa | Self::Mcc => (-1.0, 1.0),
            _ => (0.0, 1.0),
        }
    }

    /// Part and whole, for statistics that are a plain share.
    pub(super) fn share(self, counts: Counts) -> Option<(f64, f64)> {
        match self {
            Self::PassRecall => Some((counts.pass_pass, counts.labelled_pass())),
            Self::FailRecall => Some((counts.fail_fail, counts.labelled_fail())),
            Self::Accuracy => Some((counts.pass_pass + counts.fail_fail, counts.total())),
            Self::JudgePassRate => Some((counts.pass_pass + counts.fail_pass, counts.total())),
            Self::LabelPassRate => Some((counts.labelled_pass(), counts.total())),
            _ => None,
        }
    }

    /// How many clusters it really rests on.
    pub(super) fn support(self, clusters: &[Counts]) -> usize {
        let with = |some: fn(Counts) -> f64| clusters.iter().filter(|one| some(**one) > 0.0).count();
        match self {
            Self::PassRecall => with(Counts::labelled_pass),
            Self::FailRecall => with(Counts::labelled_fail),
            Self::BalancedAccuracy => with(Counts::labelled_pass).min(with(Counts::labelled_fail)),
            _ => with(Counts::total),
        }
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}
