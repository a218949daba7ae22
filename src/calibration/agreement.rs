//! Do people agree with each other?

use std::collections::{BTreeMap, BTreeSet, HashMap};

use polars::prelude::DataFrame;

use super::counts::{Counts, Statistic};
use super::intervals::{IntervalMethod, REPLICATES, SEED, estimates};
use crate::analysis::Bootstrap;
use crate::error::{Error, Result};
use crate::signal;
use crate::table::{Criteria, CriterionLabels, FrameBuilder, Verdict, frame_to_html, integers, texts};

/// Agreement between annotators: Cohen's kappa for every pair, Krippendorff's alpha for all together.
#[derive(Debug, Clone)]
pub struct Agreement {
    pairs: DataFrame,
    alpha: Option<f64>,
    interval: Option<(f64, f64)>,
    units: usize,
}

/// One answer's labels by annotator, with its task.
struct Unit {
    task: String,
    labels: BTreeMap<String, Verdict>,
}

impl Agreement {
    /// Compares annotators on the answers that at least two of them labelled.
    ///
    /// Alpha is the nominal one, 1 − observed over expected disagreement, over all labels of those answers (Krippendorff
    /// 2011, "Computing Krippendorff's alpha-reliability"), with a percentile interval of a bootstrap over tasks. It is
    /// undefined where all labels are the same.
    ///
    /// # Errors
    /// When one annotator gave two labels to one answer, or a label is neither PASS nor FAIL.
    pub fn new(labels: &CriterionLabels, criteria: &Criteria) -> Result<Self> {
        let units = units(labels, criteria)?;
        let annotators: BTreeSet<&String> = units.iter().flat_map(|unit| unit.labels.keys()).collect();
        let annotators: Vec<&String> = annotators.into_iter().collect();
        let mut rows: Vec<(String, String, usize, [Option<f64>; 6])> = Vec::new();
        for (place, b) in annotators.iter().enumerate() {
            for a in &annotators[..place] {
                let (n, values) = pair(&units, a, b);
                if n > 0 {
                    rows.push(((*a).clone(), (*b).clone(), n, values));
                }
            }
        }
        let number = |place: usize| rows.iter().map(|row| row.3[place]).collect::<Vec<_>>();
        let pairs = FrameBuilder::new()
            .text("a", &rows.iter().map(|row| &row.0).collect::<Vec<_>>())
            .text("b", &rows.iter().map(|row| &row.1).collect::<Vec<_>>())
            .integer("n", &rows.iter().map(|row| row.2 as i64).collect::<Vec<_>>())
            .number("agreement", &number(0))
            .number("kappa", &number(1))
            .number("kappa_ci_low", &number(2))
            .number("kappa_ci_high", &number(3))
            .number("prevalence_adjusted_kappa", &number(4))
            .number("pass_rate_a", &number(5))
            .build()?;
        let shared: Vec<&Unit> = units.iter().filter(|unit| unit.labels.len() >= 2).collect();
        Ok(Self { pairs, alpha: alpha(shared.iter().copied()), interval: interval(&shared), units: shared.len() })
    }

    /// One row a pair of annotators.
    #[must_use]
    pub fn pairs(&self) -> DataFrame {
        self.pairs.clone()
    }

    /// Krippendorff's alpha; `None` where it is undefined.
    #[must_use]
    pub fn alpha(&self) -> Option<f64> {
        self.alpha
    }

    /// Its 95 % interval; `None` below two tasks.
    #[must_use]
    pub fn alpha_interval(&self) -> Option<(f64, f64)> {
        self.interval
    }

    /// Over how many answers.
    #[must_use]
    pub fn units(&self) -> usize {
        self.units
    }

    /// Shows both.
    pub fn evcxr_display(&self) {
        let alpha = match (self.alpha, self.interval) {
            (None, _) => "undefined: no answer was labelled twice, or all labels are the same".to_owned(),
            (Some(alpha), None) => format!("{alpha:.3}"),
            (Some(alpha), Some((low, high))) => format!("{alpha:.3} [{low:.3}, {high:.3}]"),
        };
        let line = format!("Krippendorff's alpha over {} answers labelled at least twice: {alpha}", self.units);
        let html = format!("{}<small>{line}</small>", frame_to_html(&self.pairs, 30));
        signal::display(Some(&html), None, &format!("{}\n{line}", self.pairs));
    }
}

fn units(labels: &CriterionLabels, criteria: &Criteria) -> Result<Vec<Unit>> {
    let frame = criteria.frame();
    let ids = texts(frame, "criterion_id")?;
    let tasks: HashMap<String, String> =
        ids.into_iter().zip(texts(frame, "task_id")?).filter_map(|(id, task)| Some((id?, task?))).collect();
    let frame = labels.frame();
    let (ids, systems, attempts) =
        (texts(frame, "criterion_id")?, texts(frame, "system")?, integers(frame, "attempt")?);
    let (annotators, given) = (texts(frame, "annotator")?, texts(frame, "label")?);
    let mut found: BTreeMap<(String, String, i64), Unit> = BTreeMap::new();
    for row in 0..frame.height() {
        let (Some(id), Some(system), Some(attempt), Some(annotator), Some(label)) =
            (&ids[row], &systems[row], attempts[row], &annotators[row], &given[row])
        else {
            continue;
        };
        let verdict = Verdict::parse(label)
            .ok_or_else(|| Error::input(format!("criterion {id:?}: the label is {label:?}, expected PASS or FAIL")))?;
        let task = tasks.get(id).cloned().unwrap_or_else(|| id.clone());
        let unit = found
            .entry((id.clone(), system.clone(), attempt))
            .or_insert_with(|| Unit { task, labels: BTreeMap::new() });
        if unit.labels.insert(annotator.clone(), verdict).is_some_and(|before| before != verdict) {
            return Err(Error::input(format!(
                "criterion {id:?}, attempt {attempt} of {system:?}: annotator {annotator:?} gave both PASS and FAIL"
            ))
            .help("keep the label that counts"));
        }
    }
    Ok(found.into_values().collect())
}

fn pair(units: &[Unit], a: &str, b: &str) -> (usize, [Option<f64>; 6]) {
    let mut tasks: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut n = 0;
    for unit in units {
        if let (Some(of_a), Some(of_b)) = (unit.labels.get(a), unit.labels.get(b)) {
            tasks.entry(&unit.task).or_default().add(*of_a == Verdict::Pass, *of_b == Verdict::Pass, 1.0);
            n += 1;
        }
    }
    let clusters: Vec<Counts> = tasks.into_values().collect();
    let wanted = [Statistic::Accuracy, Statistic::Kappa, Statistic::PrevalenceAdjustedKappa, Statistic::LabelPassRate];
    let found = estimates(&clusters, &wanted, IntervalMethod::default(), 0.95);
    let kappa = found[1].interval.unzip();
    (n, [found[0].value, found[1].value, kappa.0, kappa.1, found[2].value, found[3].value])
}

/// Nominal alpha by the coincidence matrix.
fn alpha<'a>(units: impl Iterator<Item = &'a Unit>) -> Option<f64> {
    // Pairs PASS–PASS, FAIL–FAIL and mixed ones, each answer's pairs weighing 1 / (labels − 1).
    let (mut passes, mut fails, mut mixed) = (0.0, 0.0, 0.0);
    for unit in units {
        let m = unit.labels.len() as f64;
        let p = unit.labels.values().filter(|label| **label == Verdict::Pass).count() as f64;
        passes += p;
        fails += m - p;
        mixed += 2.0 * p * (m - p) / (m - 1.0);
    }
    let n = passes + fails;
    let expected = 2.0 * passes * fails / (n - 1.0);
    (n > 1.0 && expected > 0.0).then(|| 1.0 - mixed / expected)
}

fn interval(units: &[&Unit]) -> Option<(f64, f64)> {
    let mut tasks: BTreeMap<&str, Vec<&Unit>> = BTreeMap::new();
    for unit in units {
        tasks.entry(&unit.task).or_default().push(unit);
    }
    let tasks: Vec<Vec<&Unit>> = tasks.into_values().collect();
    let drawn = |places: &[usize]| alpha(places.iter().flat_map(|task| tasks[*task].iter().copied()));
    Bootstrap::new().resamples(REPLICATES).seed(SEED).statistic(tasks.len(), &drawn)
}
