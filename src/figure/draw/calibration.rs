//! Calibration curves.

use std::collections::HashMap;

use polars::prelude::DataFrame;

use super::Drawn;
use super::axis::{self, BELOW, BESIDE, SHARES, Scale};
use super::canvas::{self, COLUMN, GREY, HAIR, LINE, POINT, SOFT, Words};
use super::palette;
use crate::analysis::{Interval, cluster_bootstrap};
use crate::error::{Error, Result};
use crate::figure::FEW;
use crate::table::{floats, texts};

const SIDE: f64 = 5600.0;
const TOP: f64 = 5.0 * POINT;
const COUNTS: f64 = 900.0;
const BINS: usize = 10;
const RESAMPLES: usize = 1000;
const SEED: u64 = 20_310_617;

/// One bin of confidence.
struct Bin {
    confidence: f64,
    right: Interval,
}

/// All verdicts with their confidence.
struct Verdicts {
    bins: Vec<Option<Bin>>,
    n: usize,
    /// Rows without confidence or without a known outcome.
    left_out: usize,
    calibration_error: f64,
    brier: f64,
}

pub(in crate::figure) fn draw(frame: &DataFrame, confidence: &str, correct: &str) -> Drawn {
    let verdicts = read(frame, confidence, correct)?;
    let left = BESIDE + (COLUMN - BESIDE - SIDE) / 2.0;
    let (right, bottom) = (left + SIDE, TOP + SIDE);
    let lower = bottom + 6.0 * POINT + COUNTS;
    let svg = canvas::paint(COLUMN, lower + BELOW + 10.0 * POINT, |canvas| {
        let across = Scale::new((0.0, 1.0), (left, right));
        let up = Scale::new((0.0, 1.0), (bottom, TOP));
        axis::beside(canvas, &up, (left, right), &SHARES, axis::percent, "right (%)")?;
        axis::below(canvas, &across, (bottom + 6.0 * POINT, lower), &SHARES, axis::percent, "confidence (%)")?;
        canvas.dashes((left, bottom), (right, TOP), GREY, HAIR)?;
        canvas.line((left, bottom), (right, bottom), GREY, HAIR)?;
        let most = verdicts.bins.iter().flatten().map(|bin| bin.right.n).max().unwrap_or(1) as f64;
        let mut line = Vec::new();
        for (place, bin) in verdicts.bins.iter().enumerate() {
            let Some(bin) = bin else { continue };
            let (a, b) = (across.at(place as f64 / BINS as f64), across.at((place as f64 + 1.0) / BINS as f64));
            let high = (COUNTS - 8.0 * POINT) * bin.right.n as f64 / most;
            canvas.rect(
                (a + POINT, lower - high),
                (b - a - 2.0 * POINT, high),
                palette::tint(palette::color(0), 0.45),
            )?;
            let words = Words::center().tiny().color(SOFT);
            canvas.text(((a + b) / 2.0, lower - high - 3.5 * POINT), &bin.right.n.to_string(), words)?;
            line.push((across.at(bin.confidence), up.at(bin.right.mean)));
        }
        canvas.path(&line, palette::color(0), LINE)?;
        for bin in verdicts.bins.iter().flatten() {
            let thin = (bin.right.n as i64) < FEW;
            let color = if thin { GREY } else { palette::color(0) };
            let (x, y) = (across.at(bin.confidence), up.at(bin.right.mean));
            if let (Some(low), Some(high)) = (bin.right.low, bin.right.high) {
                canvas.line((x, up.at(low)), (x, up.at(high)), color, LINE)?;
            }
            canvas.mark(0, (x, y), color, thin)?;
        }
        let words = Words::left().small().color(SOFT);
        let told = format!(
            "calibration error {}, Brier score {}, n = {}",
            short(verdicts.calibration_error),
            short(verdicts.brier),
            verdicts.n
        );
        canvas.text((left + 4.0 * POINT, TOP + 6.0 * POINT), &words.fit(&told, SIDE - 6.0 * POINT), words)?;
        let without = if verdicts.left_out > 0 {
            format!(" {} rows lack one of the two.", verdicts.left_out)
        } else {
            String::new()
        };
        let note = format!("Hollow and grey: fewer than {FEW} verdicts.{without}");
        canvas.text((2.0 * POINT, lower + BELOW + 4.5 * POINT), &note, words)
    })?;
    Ok((svg, format!("Calibration curve of {correct} by {confidence} over {} verdicts", verdicts.n)))
}

fn short(value: f64) -> String {
    format!("{value:.3}")
}

fn read(frame: &DataFrame, confidence: &str, correct: &str) -> Result<Verdicts> {
    let sure = floats(frame, confidence)?;
    let column = frame.column(correct).map_err(|_| Error::input(format!("there is no column {correct:?}")))?;
    let outcomes = column
        .bool()
        .map_err(|_| Error::input(format!("column {correct:?} holds {}, expected true and false", column.dtype())))?;
    let clusters = clusters(frame)?;
    let mut bins: Vec<Vec<(f64, f64, usize)>> = vec![Vec::new(); BINS];
    let (mut n, mut left_out, mut brier) = (0, 0, 0.0);
    for (row, outcome) in outcomes.iter().enumerate() {
        let (Some(sure), Some(right)) = (sure[row], outcome) else {
            left_out += 1;
            continue;
        };
        if !(0.0..=1.0).contains(&sure) {
            return Err(Error::input(format!("column {confidence:?}, row {}: {sure} is no confidence", row + 1))
                .help("a confidence is a number from 0 to 1"));
        }
        let right = f64::from(u8::from(right));
        bins[((sure * BINS as f64) as usize).min(BINS - 1)].push((sure, right, clusters[row]));
        brier += (sure - right).powi(2);
        n += 1;
    }
    if n == 0 {
        return Err(Error::input("no verdict has both a confidence and an outcome, so there is nothing to draw"));
    }
    let mut error = 0.0;
    let mut drawn = Vec::new();
    for held in bins {
        let values: Vec<(f64, usize)> = held.iter().map(|(_, right, cluster)| (*right, *cluster)).collect();
        let bin = cluster_bootstrap(&values, RESAMPLES, 0.95, SEED).map(|right| {
            let confidence = held.iter().map(|(sure, ..)| sure).sum::<f64>() / held.len() as f64;
            error += (confidence - right.mean).abs() * held.len() as f64 / n as f64;
            Bin { confidence, right }
        });
        drawn.push(bin);
    }
    Ok(Verdicts { bins: drawn, n, left_out, calibration_error: error, brier: brier / n as f64 })
}

/// Verdicts on one question are alike; without questions every row stands alone.
fn clusters(frame: &DataFrame) -> Result<Vec<usize>> {
    if frame.column("question_id").is_err() {
        return Ok((0..frame.height()).collect());
    }
    let mut known: HashMap<Option<String>, usize> = HashMap::new();
    Ok(texts(frame, "question_id")?
        .into_iter()
        .map(|question| {
            let next = known.len();
            *known.entry(question).or_insert(next)
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    #[test]
    fn error_and_score_are_those_of_their_definitions() -> Result<()> {
        let frame = df!(
            "confidence" => [Some(0.9), Some(0.9), Some(0.2), Some(0.2), None],
            "correct" => [true, false, false, false, true],
        )?;
        let found = read(&frame, "confidence", "correct")?;
        // Two bins of two: |0.9 − 0.5| and |0.2 − 0| weigh one half each; squares 0.01, 0.81, 0.04, 0.04.
        assert!((found.calibration_error - 0.3).abs() < 1e-12);
        assert!((found.brier - 0.225).abs() < 1e-12);
        assert_eq!((found.n, found.left_out), (4, 1));
        let frame = df!("confidence" => [1.5], "correct" => [true])?;
        assert!(read(&frame, "confidence", "correct").is_err());
        Ok(())
    }
}
