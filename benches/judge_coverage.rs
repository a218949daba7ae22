//! How often do 95 % intervals hold the truth? Simulates judge studies and writes the table of `benches/judge_coverage.md`.
//!
//! `cargo bench --profile dev --bench judge_coverage -- [studies]` (1,000 by default; some minutes on two cores).
//!
//! A study has 30 or 300 tasks. Each task has 1 to 6 labelled answers, each labelled PASS with the task's own chance.
//! The judge's PASS recall (0.90) and FAIL recall (0.75) are the same for all tasks, or vary between tasks as beta
//! variables with an intraclass correlation of 0.3. The truth of every statistic is known in closed form.

use claimlab::calibration::{Counts, IntervalMethod, Statistic, estimates};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const PASS_RECALL: f64 = 0.90;
const FAIL_RECALL: f64 = 0.75;
const PASS_RATE: f64 = 0.60;

const STATISTICS: [Statistic; 6] = [
    Statistic::PassRecall,
    Statistic::FailRecall,
    Statistic::BalancedAccuracy,
    Statistic::Accuracy,
    Statistic::Kappa,
    Statistic::Mcc,
];

/// A beta variable of this mean and intraclass correlation, by Jöhnk's and Cheng's way out: two gammas by Marsaglia and
/// Tsang (2000).
fn beta(mean: f64, correlation: f64, rng: &mut ChaCha8Rng) -> f64 {
    if correlation <= 0.0 {
        return mean;
    }
    let size = 1.0 / correlation - 1.0;
    let (a, b) = (gamma(mean * size, rng), gamma((1.0 - mean) * size, rng));
    a / (a + b)
}

fn gamma(shape: f64, rng: &mut ChaCha8Rng) -> f64 {
    if shape < 1.0 {
        let u: f64 = rng.random();
        return gamma(shape + 1.0, rng) * u.powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
        let normal = (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos();
        let cube = (1.0 + c * normal).powi(3);
        let accept: f64 = 1.0 - rng.random::<f64>();
        if cube > 0.0 && accept.ln() < 0.5 * normal * normal + d - d * cube + d * cube.ln() {
            return d * cube;
        }
    }
}

fn study(tasks: usize, correlation: f64, rng: &mut ChaCha8Rng) -> Vec<Counts> {
    (0..tasks)
        .map(|_| {
            let pass_rate = beta(PASS_RATE, 0.2, rng);
            let (pass, fail) = (beta(PASS_RECALL, correlation, rng), beta(FAIL_RECALL, correlation, rng));
            let mut counts = Counts::default();
            for _ in 0..rng.random_range(1..=6) {
                if rng.random::<f64>() < pass_rate {
                    if rng.random::<f64>() < pass { counts.pass_pass += 1.0 } else { counts.pass_fail += 1.0 }
                } else if rng.random::<f64>() < fail {
                    counts.fail_fail += 1.0;
                } else {
                    counts.fail_pass += 1.0;
                }
            }
            counts
        })
        .collect()
}

fn main() {
    let studies: u64 = std::env::args().nth(1).and_then(|given| given.parse().ok()).unwrap_or(1000);
    let population = Counts {
        pass_pass: PASS_RATE * PASS_RECALL,
        pass_fail: PASS_RATE * (1.0 - PASS_RECALL),
        fail_pass: (1.0 - PASS_RATE) * (1.0 - FAIL_RECALL),
        fail_fail: (1.0 - PASS_RATE) * FAIL_RECALL,
    };
    let truths: Vec<f64> = STATISTICS.iter().filter_map(|statistic| statistic.of(population)).collect();
    println!(
        "| tasks | correlation in tasks | method | {} | mean distance from 95 % |",
        STATISTICS.map(Statistic::as_str).join(" | ")
    );
    println!("|---|---|---|{}---|", "---|".repeat(STATISTICS.len()));
    let mut distances = vec![(0.0, 0_u32); IntervalMethod::ALL.len()];
    for tasks in [30, 300] {
        for correlation in [0.0, 0.3] {
            for (place, method) in IntervalMethod::ALL.into_iter().enumerate() {
                // The same studies for every method.
                let found: Vec<Vec<Option<(bool, f64)>>> = (0..studies)
                    .into_par_iter()
                    .map(|number| {
                        let mut rng = ChaCha8Rng::seed_from_u64(number);
                        rng.set_stream(tasks as u64 * 10 + u64::from(correlation > 0.0));
                        let clusters = study(tasks, correlation, &mut rng);
                        estimates(&clusters, &STATISTICS, method, 0.95)
                            .iter()
                            .zip(&truths)
                            .map(|(one, truth)| {
                                one.interval.map(|(low, high)| (low <= *truth && *truth <= high, high - low))
                            })
                            .collect()
                    })
                    .collect();
                let mut cells = Vec::new();
                for statistic in 0..STATISTICS.len() {
                    let intervals: Vec<(bool, f64)> = found.iter().filter_map(|study| study[statistic]).collect();
                    if intervals.is_empty() {
                        cells.push("–".to_owned());
                        continue;
                    }
                    // A study without an interval did not cover.
                    let covered = intervals.iter().filter(|one| one.0).count() as f64 / studies as f64;
                    let width = intervals.iter().map(|one| one.1).sum::<f64>() / intervals.len() as f64;
                    cells.push(format!("{:.1} % ({width:.3})", 100.0 * covered));
                    if tasks == 30 {
                        distances[place].0 += (covered - 0.95).abs();
                        distances[place].1 += 1;
                    }
                }
                let mean = if tasks == 30 {
                    let here: Vec<f64> = cells
                        .iter()
                        .filter_map(|cell| cell.split(' ').next().and_then(|share| share.parse::<f64>().ok()))
                        .map(|share| (share - 95.0).abs())
                        .collect();
                    format!("{:.2}", here.iter().sum::<f64>() / here.len().max(1) as f64)
                } else {
                    String::new()
                };
                println!("| {tasks} | {correlation} | {method} | {} | {mean} |", cells.join(" | "));
            }
        }
    }
    println!(
        "\nAt 30 tasks, mean distance of the coverage from 95 %, in points, over both correlations and all statistics:\n"
    );
    for (method, (sum, n)) in IntervalMethod::ALL.into_iter().zip(&distances) {
        println!("* {method}: {:.2} over {n} cells", 100.0 * sum / f64::from(*n).max(1.0));
    }
    println!(
        "\n{studies} studies a row; coverage in %, mean width in brackets; seeds 0 to {}.",
        studies.saturating_sub(1)
    );
}
