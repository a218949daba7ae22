//! Dots with intervals: metrics as rows, panels side by side.

use super::Drawn;
use super::axis::{self, SHARES, Scale};
use super::canvas::{self, COLUMN, FAINT, GREY, HAIR, LINE, PAGE, POINT, Words};
use super::legend::{Key, Legend};
use super::means::{self, Mean};
use super::palette;
use crate::figure::FEW;
use crate::table::Summary;

const GAP: f64 = 9.0 * POINT;
const TITLE: f64 = 12.0 * POINT;
const NOTE: f64 = 10.0 * POINT;
/// Panels in one row of the figure.
const ACROSS: usize = 4;

pub(in crate::figure) fn draw(summary: &Summary, color: &str, panel: &str) -> Drawn {
    let rows = means::read(summary, &[color, panel, "metric"])?;
    let (colors, panels, metrics) = (means::values(&rows, 0), means::values(&rows, 1), means::values(&rows, 2));
    palette::enough(colors.len(), color)?;
    let across = panels.len().min(ACROSS);
    let width = if panels.len() > 2 { PAGE } else { COLUMN };
    let names = metrics.iter().map(|metric| Words::right().width(&means::directed("metric", metric)));
    let labels = names.fold(0.0, f64::max).min(110.0 * POINT) + 5.0 * POINT;
    let each = (width - labels - 2.0 * POINT) / across as f64;
    let row = (4.2 * POINT * colors.len() as f64).max(9.5 * POINT) + 2.5 * POINT;
    let high = TITLE + row * metrics.len() as f64 + axis::BELOW;
    let entries: Vec<(Key, String)> = colors
        .iter()
        .enumerate()
        .map(|(place, name)| (Key::Mark(place, palette::color(place)), means::shown(color, name)))
        .collect();
    let legend = Legend::new(&entries, 2.0 * POINT, width);
    let below = high * panels.len().div_ceil(across) as f64;
    let is_thin = rows.iter().any(|(_, mean)| mean.is_thin());
    let note = if is_thin { NOTE } else { 0.0 };
    let svg = canvas::paint(width, below + legend.height + note + 2.0 * POINT, |canvas| {
        for (place, name) in panels.iter().enumerate() {
            let (column, line) = (place % across, place / across);
            let top = high * line as f64 + TITLE;
            let bottom = top + row * metrics.len() as f64;
            let left = labels + each * column as f64;
            let right = left + each - GAP;
            let scale = Scale::new((0.0, 1.0), (left, right));
            let title = Words::center().bold();
            canvas.text(
                ((left + right) / 2.0, top - TITLE / 2.0),
                &title.fit(&means::shown(panel, name), each - 2.0 * POINT),
                title,
            )?;
            let ticks: &[f64] = if each < 90.0 * POINT { &[0.0, 0.5, 1.0] } else { &SHARES };
            axis::below(canvas, &scale, (top, bottom), ticks, axis::percent, "mean (%)")?;
            for (at, metric) in metrics.iter().enumerate() {
                let upper = top + row * at as f64;
                if column == 0 {
                    let label = means::directed("metric", metric);
                    let words = Words::right();
                    canvas.text(
                        (left - 3.0 * POINT, upper + row / 2.0),
                        &words.fit(&label, labels - 5.0 * POINT),
                        words,
                    )?;
                }
                if at > 0 {
                    canvas.line((left, upper), (right, upper), FAINT, HAIR)?;
                }
                for (series, value) in colors.iter().enumerate() {
                    let Some(found) = means::find(&rows, &[value, name, metric]) else { continue };
                    let y = upper + row * (series as f64 + 1.0) / (colors.len() as f64 + 1.0);
                    point(canvas, &scale, y, series, &found)?;
                }
            }
        }
        legend.draw(canvas, below)?;
        if is_thin {
            let text = format!("Hollow and grey: fewer than {FEW} questions; not to be ranked.");
            canvas.text((2.0 * POINT, below + legend.height + NOTE / 2.0), &text, Words::left().small())?;
        }
        Ok(())
    })?;
    Ok((svg, format!("Means with 95 % intervals by {color} and {panel}: {} points", rows.len())))
}

/// A mean with its interval; hollow and grey where it rests on too little.
pub(super) fn point(
    canvas: &canvas::Canvas<'_>,
    scale: &Scale,
    y: f64,
    series: usize,
    found: &Mean,
) -> crate::error::Result<()> {
    let Some(mean) = found.mean else { return Ok(()) };
    let color = if found.is_thin() { GREY } else { palette::color(series) };
    if let Some((low, high)) = found.interval {
        canvas.line((scale.at(low), y), (scale.at(high), y), color, LINE)?;
    }
    canvas.mark(series, (scale.at(mean), y), color, found.is_thin())
}
