//! Distributions of replicates.

use polars::prelude::DataFrame;

use super::Drawn;
use super::axis::{self, BELOW, Scale};
use super::canvas::{self, COLUMN, Canvas, GREY, HAIR, INK, POINT, SOFT, Words};
use super::means;
use super::palette;
use crate::error::{Error, Result};
use crate::table::{floats, texts};

const ROW: f64 = 34.0 * POINT;
const TOP: f64 = 4.0 * POINT;
const BINS: usize = 48;
/// Fewer draw no shape.
const LEAST: usize = 10;

pub(in crate::figure) fn draw(frame: &DataFrame, value: &str, group: &str) -> Drawn {
    let (values, names) = (floats(frame, value)?, texts(frame, group)?);
    let mut groups: Vec<(String, Vec<f64>)> = Vec::new();
    for (value, name) in values.iter().zip(&names) {
        let Some(value) = value.filter(|number| number.is_finite()) else { continue };
        let name = name.as_deref().unwrap_or("(none)");
        match groups.iter_mut().find(|(known, _)| known == name) {
            Some((_, held)) => held.push(value),
            None => groups.push((name.to_owned(), vec![value])),
        }
    }
    if let Some((name, held)) = groups.iter().find(|(_, held)| held.len() < LEAST) {
        let found = format!("{} replicates of {name} are too few to draw; {LEAST} at least", held.len());
        return Err(Error::input(found).help("scores.replicates(&[\"system\"], 2000) draws them"));
    }
    let Some((low, high)) = extent(&groups) else {
        return Err(Error::input(format!("the column {value:?} holds no numbers, so there is nothing to draw")));
    };
    palette::enough(groups.len(), group)?;
    // Shares are shown in per cent, anything else (a difference, a count) as it is.
    let is_share = low >= -1.0 && high <= 1.0;
    let label: fn(f64) -> String = if is_share { axis::percent } else { axis::plain };
    let bottom = TOP + ROW * groups.len() as f64;
    let (left, right) = (6.0 * POINT, COLUMN - 6.0 * POINT);
    let svg = canvas::paint(COLUMN, bottom + BELOW + 10.0 * POINT, |canvas| {
        let room = (high - low).max(1e-6) * 0.06;
        let scale = Scale::new((low - room, high + room), (left, right));
        let unit = if is_share { " (%)" } else { "" };
        let title = format!("{}{unit}", means::directed("metric", value));
        axis::below(canvas, &scale, (TOP, bottom), &scale.ticks(7), label, &title)?;
        if low < 0.0 && high > 0.0 {
            canvas.dashes((scale.at(0.0), TOP), (scale.at(0.0), bottom), INK, HAIR)?;
        }
        for (place, (name, held)) in groups.iter_mut().enumerate() {
            held.sort_by(f64::total_cmp);
            let base = TOP + ROW * (place as f64 + 1.0);
            shape(canvas, &scale, base, (low, high), held, place)?;
            let words = Words::left().bold();
            let text = words.fit(&means::shown(group, name), COLUMN * 0.6);
            canvas.text((left, base - ROW + 6.0 * POINT), &text, words)?;
        }
        let note = "Shape: replicates. Bar: their middle 95 %; dot: their mean.";
        canvas.text((2.0 * POINT, bottom + BELOW + 4.5 * POINT), note, Words::left().small().color(SOFT))
    })?;
    Ok((svg, format!("Distributions of {value} by {group}")))
}

fn extent(groups: &[(String, Vec<f64>)]) -> Option<(f64, f64)> {
    let all = || groups.iter().flat_map(|(_, held)| held.iter().copied());
    all().reduce(f64::min).zip(all().reduce(f64::max))
}

/// A histogram as steps, with its middle below.
fn shape(
    canvas: &Canvas<'_>,
    scale: &Scale,
    base: f64,
    (low, high): (f64, f64),
    sorted: &[f64],
    place: usize,
) -> Result<()> {
    let color = palette::color(place);
    let floor = base - 5.0 * POINT;
    let step = ((high - low) / BINS as f64).max(1e-9);
    let mut counts = [0_usize; BINS];
    for value in sorted {
        counts[(((value - low) / step) as usize).min(BINS - 1)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    let room = ROW - 16.0 * POINT;
    let mut steps = vec![(scale.at(low), floor)];
    for (bin, count) in counts.iter().enumerate() {
        let y = floor - room * *count as f64 / most;
        steps.push((scale.at(low + step * bin as f64), y));
        steps.push((scale.at(low + step * (bin as f64 + 1.0)), y));
    }
    steps.push((scale.at(high), floor));
    canvas.polygon(&steps, palette::tint(color, 0.45))?;
    canvas.line((scale.at(low), floor), (scale.at(high), floor), GREY, HAIR)?;
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    let y = floor + 2.5 * POINT;
    canvas.line((scale.at(at(0.025)), y), (scale.at(at(0.975)), y), color, 1.4 * POINT)?;
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    canvas.mark(0, (scale.at(mean), y), color, false)
}
