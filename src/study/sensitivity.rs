//! How far a checker's errors may have moved the metrics: a sensitivity analysis.
//!
//! The eleven metrics are ORs over chunks and ratios of counts, so no formula corrects them for a checker's error rates.
//! Here the true labels are imputed many times from the observed ones, and the metrics computed from each imputation.
//! The assumptions are strong: errors fall independently of each other and at the same rates in all directions, texts
//! and systems. Real errors cluster (the same hard claim is misjudged against ten chunks), so the result shows what is
//! at stake, and is no estimate.

use std::collections::BTreeMap;

use polars::prelude::DataFrame;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::{CheckerReport, Evaluation};
use crate::analysis::normal_quantile;
use crate::error::{Error, Result};
use crate::metrics::{ConfusionMatrix, LabelMatrices, Metric, Mode, matrices_of_run, score};
use crate::signal::{self, Progress};
use crate::table::{FrameBuilder, Label, integers, texts};

/// How often a checker is right about entailed and about other claims, counted on labelled ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorRates {
    found: u64,
    positives: u64,
    cleared: u64,
    negatives: u64,
}

impl ErrorRates {
    /// Of `positives` entailed claims `found` were called entailed; of `negatives` others `cleared` were not.
    ///
    /// # Errors
    /// When a class is empty, or a count is larger than its total.
    pub fn new(found: u64, positives: u64, cleared: u64, negatives: u64) -> Result<Self> {
        if positives == 0 || negatives == 0 || found > positives || cleared > negatives {
            return Err(Error::input(format!(
                "{found} of {positives} and {cleared} of {negatives} are no error rates"
            ))
            .help("count labelled claims of both kinds"));
        }
        Ok(Self { found, positives, cleared, negatives })
    }

    /// The rates that a comparison with people's labels found.
    ///
    /// # Errors
    /// When people called no claim, or every claim, entailed.
    pub fn of(report: &CheckerReport) -> Result<Self> {
        Self::of_matrix(&report.entailed_or_not()?)
    }

    fn of_matrix(matrix: &ConfusionMatrix) -> Result<Self> {
        let rows = matrix.rows();
        match rows.as_slice() {
            [yes, no] => Self::new(yes[0], yes.iter().sum(), no[1], no.iter().sum()),
            _ => Err(Error::input("error rates need two classes")),
        }
    }

    /// The recalls on entailed and on other claims.
    #[must_use]
    pub fn recalls(&self) -> (f64, f64) {
        (self.found as f64 / self.positives as f64, self.cleared as f64 / self.negatives as f64)
    }

    /// A draw from what is believed of the two recalls after the count (Jeffreys' prior).
    fn draw(&self, random: &mut ChaCha8Rng) -> (f64, f64) {
        let beta = |random: &mut ChaCha8Rng, right: u64, wrong: u64| {
            let (a, b) = (gamma(random, right as f64 + 0.5), gamma(random, wrong as f64 + 0.5));
            a / (a + b)
        };
        (
            beta(random, self.found, self.positives - self.found),
            beta(random, self.cleared, self.negatives - self.cleared),
        )
    }
}

/// A gamma variable of unit scale (Marsaglia & Tsang 2000).
fn gamma(random: &mut ChaCha8Rng, shape: f64) -> f64 {
    if shape < 1.0 {
        let u: f64 = random.random();
        return gamma(random, shape + 1.0) * u.powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        // Never 0 or 1, where the quantile is infinite.
        let x = normal_quantile(random.random::<f64>().clamp(1e-16, 1.0 - 1e-16));
        let v = (1.0 + c * x).powi(3);
        let u: f64 = random.random();
        if v > 0.0 && u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// One response: system, retriever, question, matrices.
type Answer = (String, String, String, LabelMatrices);

/// Chances that a claim is truly entailed, given that the checker said so, and given that it did not.
#[derive(Debug, Clone, Copy)]
struct Chances {
    if_called: f64,
    if_not: f64,
}

impl Chances {
    /// By Bayes' rule, with the prevalence that Rogan and Gladen's correction gives; `None` for a checker that is no
    /// better than chance.
    fn new(share: f64, (q1, q0): (f64, f64)) -> Option<Self> {
        if q0 + q1 <= 1.0 {
            return None;
        }
        let prevalence = ((share + q0 - 1.0) / (q0 + q1 - 1.0)).clamp(0.0, 1.0);
        let of = |yes: f64, no: f64| {
            let (yes, no) = (yes * prevalence, no * (1.0 - prevalence));
            if yes + no > 0.0 { yes / (yes + no) } else { 0.0 }
        };
        Some(Self { if_called: of(q1, 1.0 - q0), if_not: of(1.0 - q1, q0) })
    }

    fn impute(self, label: Option<Label>, random: &mut ChaCha8Rng) -> Option<Label> {
        // Drawn for every cell, so that the stream does not depend on the labels.
        let u: f64 = random.random();
        let chance = if label? == Label::Entailment { self.if_called } else { self.if_not };
        Some(if u < chance { Label::Entailment } else { Label::Neutral })
    }
}

/// The means of the eleven metrics by system as measured, and between which values 95 % of the imputations lie.
///
/// `simulations` sets of true labels are drawn; see the assumptions at the top of this file's module. The column `kind`
/// says on every row that it is a sensitivity analysis. Deterministic for a seed.
///
/// # Errors
/// When the tables do not fit together, the rates are no better than chance, or the user interrupts.
pub fn error_sensitivity(
    evaluation: &Evaluation,
    rates: &ErrorRates,
    simulations: usize,
    seed: u64,
) -> Result<DataFrame> {
    let (q1, q0) = rates.recalls();
    if q0 + q1 <= 1.0 {
        return Err(Error::input(format!(
            "recalls of {q1:.3} and {q0:.3} are no better than chance: nothing to impute"
        )));
    }
    let answers = answers(evaluation)?;
    let mut systems: Vec<&str> = Vec::new();
    answers.iter().for_each(|answer| {
        if !systems.contains(&answer.0.as_str()) {
            systems.push(&answer.0);
        }
    });
    let measured = means(&answers, &systems)?;
    let progress = Progress::new("Imputing labels", simulations);
    let one = |stream: usize| -> Result<Option<Vec<Option<f64>>>> {
        signal::check("nothing of this step is kept")?;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream as u64);
        let drawn = rates.draw(&mut random);
        progress.advance(1);
        match imputed(&answers, drawn, seed ^ random.random::<u64>()) {
            Some(answers) => means(&answers, &systems).map(Some),
            None => Ok(None),
        }
    };
    let found: Vec<Option<Vec<Option<f64>>>> = (0..simulations).into_par_iter().map(one).collect::<Result<_>>()?;
    let found: Vec<Vec<Option<f64>>> = found.into_iter().flatten().collect();
    table(&systems, &measured, &found)
}

fn answers(evaluation: &Evaluation) -> Result<Vec<Answer>> {
    let frame = evaluation.run.frame();
    let (systems, questions) = (texts(frame, "system")?, texts(frame, "question_id")?);
    let attempts = integers(frame, "attempt")?;
    let retrievers: BTreeMap<_, _> = texts(frame, "retriever")?
        .into_iter()
        .enumerate()
        .map(|(row, name)| ((systems[row].clone(), questions[row].clone(), attempts[row]), name.unwrap_or_default()))
        .collect();
    let claims = (&evaluation.reference, &evaluation.response);
    Ok(matrices_of_run(&evaluation.found, &evaluation.run, claims, &evaluation.checks)?
        .into_iter()
        .map(|(system, question, attempt, labels)| {
            let key = (Some(system.clone()), Some(question.clone()), Some(attempt));
            (system, retrievers.get(&key).cloned().unwrap_or_default(), question, labels)
        })
        .collect())
}

/// A set of true labels; `None` where the drawn rates are no better than chance.
fn imputed(answers: &[Answer], rates: (f64, f64), seed: u64) -> Option<Vec<Answer>> {
    let mut chances: BTreeMap<(&str, usize), Chances> = BTreeMap::new();
    for answer in answers {
        for direction in 0..4 {
            let owner = if direction == 3 { answer.1.as_str() } else { answer.0.as_str() };
            if !chances.contains_key(&(owner, direction)) {
                let share = entailed_share(answers, owner, direction);
                chances.insert((owner, direction), Chances::new(share, rates)?);
            }
        }
    }
    let one = |(system, retriever, question, labels): &Answer| -> Option<Answer> {
        let mut own = seeded(seed, &[system, question]);
        // What systems on a retriever share is imputed alike for all of them.
        let mut shared = seeded(seed, &["", retriever, question]);
        let mut labels = labels.clone();
        let chance = |direction: usize| {
            chances.get(&(if direction == 3 { retriever.as_str() } else { system.as_str() }, direction)).copied()
        };
        let (correct, stated, found, recalled) = (chance(0)?, chance(1)?, chance(2)?, chance(3)?);
        labels.response_vs_reference.iter_mut().for_each(|label| *label = correct.impute(*label, &mut own));
        labels.reference_vs_response.iter_mut().for_each(|label| *label = stated.impute(*label, &mut own));
        labels.response_vs_chunks.iter_mut().flatten().for_each(|label| *label = found.impute(*label, &mut own));
        labels.reference_vs_chunks.iter_mut().flatten().for_each(|label| *label = recalled.impute(*label, &mut shared));
        Some((system.clone(), retriever.clone(), question.clone(), labels))
    };
    answers.iter().map(one).collect()
}

/// The share of checks of a direction that found entailment, over a system's responses (a retriever's, for what is
/// shared).
fn entailed_share(answers: &[Answer], owner: &str, direction: usize) -> f64 {
    let (mut called, mut n) = (0.0, 0.0);
    let mut count = |label: &Option<Label>| {
        n += f64::from(u8::from(label.is_some()));
        called += f64::from(u8::from(*label == Some(Label::Entailment)));
    };
    for (system, retriever, _, labels) in answers {
        let own = if direction == 3 { retriever } else { system };
        if owner != own {
            continue;
        }
        match direction {
            0 => labels.response_vs_reference.iter().for_each(&mut count),
            1 => labels.reference_vs_response.iter().for_each(&mut count),
            2 => labels.response_vs_chunks.iter().flatten().for_each(&mut count),
            _ => labels.reference_vs_chunks.iter().flatten().for_each(&mut count),
        }
    }
    if n > 0.0 { called / n } else { 0.0 }
}

fn seeded(seed: u64, names: &[&str]) -> ChaCha8Rng {
    let bytes = names.iter().flat_map(|name| name.bytes().chain([0]));
    let hash =
        bytes.fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    ChaCha8Rng::seed_from_u64(hash)
}

/// The mean of every metric, system after system.
fn means(answers: &[Answer], systems: &[&str]) -> Result<Vec<Option<f64>>> {
    let mut sums = vec![(0.0, 0_usize); systems.len() * Metric::ALL.len()];
    for (system, _, question, labels) in answers {
        let Some(place) = systems.iter().position(|known| known == system) else { continue };
        let scores =
            score(labels, Mode::Strict).map_err(|error| Error::input(format!("question {question}: {error}")))?;
        for (metric, (_, outcome)) in scores.into_iter().enumerate() {
            if let Some(value) = outcome.value() {
                let cell = &mut sums[place * Metric::ALL.len() + metric];
                *cell = (cell.0 + value, cell.1 + 1);
            }
        }
    }
    Ok(sums.into_iter().map(|(sum, n)| (n > 0).then(|| sum / n as f64)).collect())
}

fn table(systems: &[&str], measured: &[Option<f64>], found: &[Vec<Option<f64>>]) -> Result<DataFrame> {
    let quantiles = |column: usize| -> [Option<f64>; 3] {
        let mut values: Vec<f64> = found.iter().filter_map(|row| row[column]).collect();
        values.sort_by(f64::total_cmp);
        let at = |q: f64| values.get((q * values.len().saturating_sub(1) as f64).round() as usize).copied();
        [at(0.025), at(0.5), at(0.975)]
    };
    let quantiles: Vec<[Option<f64>; 3]> = (0..measured.len()).map(quantiles).collect();
    let n = Metric::ALL.len();
    let names: Vec<&str> = systems.iter().flat_map(|system| vec![*system; n]).collect();
    let metrics: Vec<&str> = systems.iter().flat_map(|_| Metric::ALL.map(Metric::as_str)).collect();
    FrameBuilder::new()
        .text("system", &names)
        .text("metric", &metrics)
        .number("measured", measured)
        .number("imputed_low", &quantiles.iter().map(|one| one[0]).collect::<Vec<_>>())
        .number("imputed_median", &quantiles.iter().map(|one| one[1]).collect::<Vec<_>>())
        .number("imputed_high", &quantiles.iter().map(|one| one[2]).collect::<Vec<_>>())
        .integer("simulations", &vec![found.len() as i64; names.len()])
        .text("kind", &vec!["sensitivity analysis, not an estimate"; names.len()])
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_must_be_counts_of_both_classes() {
        assert!(ErrorRates::new(1, 0, 1, 1).is_err());
        assert!(ErrorRates::new(2, 1, 1, 1).is_err());
        assert_eq!(ErrorRates::new(80, 100, 45, 50).unwrap().recalls(), (0.8, 0.9));
    }

    #[test]
    fn drawn_rates_scatter_around_the_counted_ones() {
        let rates = ErrorRates::new(80, 100, 45, 50).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let drawn: Vec<(f64, f64)> = (0..4000).map(|_| rates.draw(&mut random)).collect();
        let mean = |pick: fn(&(f64, f64)) -> f64| drawn.iter().map(pick).sum::<f64>() / 4000.0;
        assert!((mean(|one| one.0) - 80.5 / 101.0).abs() < 0.003, "{}", mean(|one| one.0));
        assert!((mean(|one| one.1) - 45.5 / 51.0).abs() < 0.003, "{}", mean(|one| one.1));
    }

    #[test]
    fn a_perfect_checker_leaves_the_labels_alone_and_a_poor_one_moves_ors_most() {
        let labels = LabelMatrices::from_letters("ennn", "en", "en nn nn nn", "en nn").unwrap();
        let answers: Vec<Answer> =
            (0..50).map(|i| ("s".to_owned(), "r".to_owned(), format!("q{i}"), labels.clone())).collect();
        let before = means(&answers, &["s"]).unwrap();
        assert_eq!(means(&imputed(&answers, (1.0, 1.0), 3).unwrap(), &["s"]).unwrap(), before);
        let after = means(&imputed(&answers, (0.7, 0.9), 3).unwrap(), &["s"]).unwrap();
        assert_ne!(after, before);
        assert!(imputed(&answers, (0.5, 0.5), 3).is_none());
    }
}
