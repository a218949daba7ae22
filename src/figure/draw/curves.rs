//! A metric along a number.

use super::Drawn;
use super::axis::{self, BELOW, BESIDE, SHARES, Scale};
use super::canvas::{self, COLUMN, LINE, POINT, Words};
use super::legend::{Key, Legend};
use super::means;
use super::palette;
use crate::error::{Error, Result};
use crate::table::{Summary, floats, texts};

const HIGH: f64 = 4600.0;
const TOP: f64 = 5.0 * POINT;

/// One value of a curve with its interval.
struct Point {
    x: f64,
    y: f64,
    interval: Option<(f64, f64)>,
}

pub(in crate::figure) fn draw(summary: &Summary, x: &str, color: &str) -> Drawn {
    let metric = means::only_metric(summary)?;
    let frame = summary.frame();
    let places = numbers(summary, x)?;
    let names = texts(frame, color)?;
    let (means, lows, highs) = (floats(frame, "mean")?, floats(frame, "ci_low")?, floats(frame, "ci_high")?);
    let mut curves: Vec<(String, Vec<Point>)> = Vec::new();
    for (row, name) in names.iter().enumerate() {
        let Some(y) = means[row] else { continue };
        let interval = lows[row].zip(highs[row]);
        let all = [Some(y), lows[row], highs[row], Some(places[row])];
        if all.into_iter().flatten().any(|value| !value.is_finite()) {
            return Err(Error::input(format!("row {} of the summary holds a number that is not finite", row + 1)));
        }
        let name = name.as_deref().unwrap_or("(none)");
        let point = Point { x: places[row], y, interval };
        match curves.iter_mut().find(|(known, _)| known == name) {
            Some((_, points)) => points.push(point),
            None => curves.push((name.to_owned(), vec![point])),
        }
    }
    palette::enough(curves.len(), color)?;
    for (name, points) in &mut curves {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        if points.windows(2).any(|pair| pair[0].x == pair[1].x) {
            return Err(Error::input(format!("the summary holds several rows for one {x} of {name}"))
                .help(format!("summarise by {color:?} and {x:?} only")));
        }
    }
    let all: Vec<f64> = curves.iter().flat_map(|(_, points)| points.iter().map(|point| point.x)).collect();
    let (Some(first), Some(last)) = (all.iter().copied().reduce(f64::min), all.iter().copied().reduce(f64::max)) else {
        return Err(Error::input("the summary has no values, so there is nothing to draw"));
    };
    let entries: Vec<(Key, String)> = curves
        .iter()
        .enumerate()
        .map(|(place, (name, _))| (Key::Line(place, palette::color(place)), means::shown(color, name)))
        .collect();
    let legend = Legend::new(&entries, 2.0 * POINT, COLUMN);
    // Half of the last number stands right of the chart.
    let beyond = Words::center().small().width(&axis::plain(last)) / 2.0 + POINT;
    let (left, right, bottom) = (BESIDE, COLUMN - beyond.max(6.0 * POINT), TOP + HIGH);
    let svg = canvas::paint(COLUMN, bottom + BELOW + legend.height + POINT, |canvas| {
        let across = Scale::new((first, last), (left + 4.0 * POINT, right));
        let up = Scale::new((0.0, 1.0), (bottom, TOP));
        let label = format!("{} (%)", means::directed("metric", &metric));
        axis::beside(canvas, &up, (left, right), &SHARES, axis::percent, &label)?;
        axis::below(canvas, &across, (TOP, bottom), &ticks(&all, &across), axis::plain, &means::spelled(x))?;
        // Opaque bands with edges: a transparent one would make the PDF another file every time, and edges show where
        // bands lie on each other.
        let bands: Vec<[Vec<(f64, f64)>; 2]> = curves
            .iter()
            .map(|(_, points)| {
                let ends = |end: fn((f64, f64)) -> f64| {
                    points.iter().filter_map(|point| Some((across.at(point.x), up.at(end(point.interval?))))).collect()
                };
                [ends(|interval| interval.0), ends(|interval| interval.1)]
            })
            .collect();
        for (place, [lower, upper]) in bands.iter().enumerate().filter(|(_, [lower, _])| lower.len() > 1) {
            let band: Vec<(f64, f64)> = lower.iter().chain(upper.iter().rev()).copied().collect();
            canvas.polygon(&band, palette::tint(palette::color(place), 0.14))?;
        }
        for (place, edges) in bands.iter().enumerate() {
            for edge in edges.iter().filter(|edge| edge.len() > 1) {
                canvas.path(edge, palette::tint(palette::color(place), 0.5), LINE / 2.0)?;
            }
        }
        for (place, (_, points)) in curves.iter().enumerate() {
            let color = palette::color(place);
            let line: Vec<(f64, f64)> = points.iter().map(|point| (across.at(point.x), up.at(point.y))).collect();
            canvas.path(&line, color, LINE)?;
            for at in line {
                canvas.mark(place, at, color, false)?;
            }
        }
        legend.draw(canvas, bottom + BELOW)
    })?;
    Ok((svg, format!("{} by {x}, one curve a {color}", means::shown("metric", &metric))))
}

/// The values themselves when they are few, else round numbers.
fn ticks(all: &[f64], across: &Scale) -> Vec<f64> {
    let mut values = all.to_vec();
    values.sort_by(f64::total_cmp);
    values.dedup();
    if values.len() <= 12 { values } else { across.ticks(8) }
}

/// A column of numbers, or of text that spells numbers (slices are text).
fn numbers(summary: &Summary, column: &str) -> Result<Vec<f64>> {
    let wrong =
        |row: usize, found: &str| Error::input(format!("column {column:?}, row {}: {found} is not a number", row + 1));
    let frame = summary.frame();
    if let Ok(spelled) = texts(frame, column) {
        return spelled
            .iter()
            .enumerate()
            .map(|(row, text)| {
                let text = text.as_deref().unwrap_or("a missing value");
                text.parse()
                    .ok()
                    .filter(|number: &f64| number.is_finite())
                    .ok_or_else(|| wrong(row, &format!("{text:?}")))
            })
            .collect();
    }
    let values = floats(frame, column)?;
    values.into_iter().enumerate().map(|(row, value)| value.ok_or_else(|| wrong(row, "a missing value"))).collect()
}
