//! What response claims are made of.

use plotters::style::RGBColor;

use super::Drawn;
use super::axis::{self, BELOW, SHARES, Scale};
use super::canvas::{self, COLUMN, Canvas, INK, POINT, SOFT, Words};
use super::legend::{Key, Legend};
use super::means::{self, Mean};
use super::palette;
use crate::error::{Error, Result};
use crate::table::Summary;

const METRICS: [&str; 6] = [
    "precision",
    "self_knowledge",
    "noise_sensitivity_in_relevant",
    "noise_sensitivity_in_irrelevant",
    "hallucination",
    "faithfulness",
];
const NAMES: [&str; 5] = [
    "self-knowledge",
    "correct, from a chunk",
    "noise from relevant chunks",
    "noise from irrelevant chunks",
    "hallucination",
];
const ROW: f64 = 41.0 * POINT;
const BAR: f64 = 10.0 * POINT;
/// What rounding may leave open.
const SLACK: f64 = 0.0035;

/// Correct is blue and green, wrong is warm: what the reader must see first.
fn colors() -> [RGBColor; 5] {
    [4, 0, 5, 7, 1].map(palette::color)
}

pub(in crate::figure) fn draw(summary: &Summary, slice: &str) -> Drawn {
    let rows = means::read(summary, &[slice, "metric"])?;
    let slices = means::values(&rows, 0);
    let mut bars = Vec::new();
    for name in &slices {
        let of = |metric: &str| {
            means::find(&rows, &[name, metric]).ok_or_else(|| {
                Error::input(format!("the summary has no {metric} where {slice} is {name:?}"))
                    .help(format!("the noise breakdown needs {}", METRICS.join(", ")))
            })
        };
        let found: Vec<Mean> = METRICS.iter().map(|metric| of(metric)).collect::<Result<_>>()?;
        bars.push((means::shown(slice, name), found));
    }
    let entries: Vec<(Key, String)> = NAMES
        .iter()
        .zip(colors())
        .map(|(name, color)| (Key::Box(color), (*name).to_owned()))
        .chain(bars.iter().any(|(_, found)| gap(found) > SLACK).then(|| {
            (Key::Hatch(SOFT), "unaccounted for (means over different questions, or an inconsistency)".to_owned())
        }))
        .collect();
    let legend = Legend::new(&entries, 2.0 * POINT, COLUMN);
    let (left, right) = (8.0 * POINT, COLUMN - 8.0 * POINT);
    let bottom = ROW * bars.len() as f64 + 3.0 * POINT;
    let svg = canvas::paint(COLUMN, bottom + BELOW + legend.height + POINT, |canvas| {
        let scale = Scale::new((0.0, 1.0), (left, right));
        axis::below(canvas, &scale, (2.0 * POINT, bottom), &SHARES, axis::percent, "share of response claims (%)")?;
        for (place, (name, found)) in bars.iter().enumerate() {
            bar(canvas, &scale, ROW * place as f64, name, found)?;
        }
        legend.draw(canvas, bottom + BELOW)
    })?;
    Ok((svg, format!("Shares of response claims that are correct, noise or hallucinated, by {slice}")))
}

/// What the two identities leave open, at worst.
fn gap(found: &[Mean]) -> f64 {
    let value = |place: usize| found[place].mean.unwrap_or(0.0);
    let first = value(0) + value(2) + value(3) + value(4);
    let second = value(5) + value(1) + value(4);
    (1.0 - first).abs().max((1.0 - second).abs())
}

fn bar(canvas: &Canvas<'_>, scale: &Scale, top: f64, name: &str, found: &[Mean]) -> Result<()> {
    let n = found.iter().map(|mean| mean.n).min().unwrap_or(0);
    let words = Words::left().bold();
    let soft = Words::left().small().color(SOFT);
    let text = words.fit(name, 150.0 * POINT);
    canvas.text((scale.at(0.0), top + 6.0 * POINT), &text, words)?;
    let after = scale.at(0.0) + words.width(&text) + 4.0 * POINT;
    let thin = if found.iter().any(Mean::is_thin) { ", too few to rank" } else { "" };
    canvas.text((after, top + 6.0 * POINT), &format!("n = {n}{thin}"), soft)?;
    let values: Vec<f64> = found.iter().filter_map(|mean| mean.mean).collect();
    let [precision, own, relevant, irrelevant, invented, faithful] = values[..] else {
        return canvas.text((scale.at(0.0), top + 18.0 * POINT), "no values", soft);
    };
    let y = top + 20.5 * POINT;
    let parts = [own, (precision - own).max(0.0), relevant, irrelevant, invented];
    let mut from: f64 = 0.0;
    let mut places = Vec::new();
    for (part, color) in parts.into_iter().zip(colors()) {
        // Published shares may sum to more than the whole: what is beyond it has no room.
        let (a, b) = (scale.at(from.min(1.0)), scale.at((from + part).min(1.0)));
        places.push((a, b));
        canvas.rect((a, y), (b - a, BAR), color)?;
        let text = format!("{:.0}", part * 100.0);
        let inside = Words::center().small().color(palette::ink_on(color));
        if inside.width(&text) + 2.0 * POINT < b - a {
            canvas.text(((a + b) / 2.0, y + BAR / 2.0), &text, inside)?;
        }
        from += part;
    }
    if 1.0 - from > SLACK {
        let (a, b) = (scale.at(from), scale.at(1.0));
        canvas.hatch((a, y), (b - a, BAR), SOFT)?;
    }
    let second = faithful + own + invented;
    bracket(canvas, (places[0].0, places[1].1), y - 1.2 * POINT, -1.0, &format!("precision {:.0}", precision * 100.0))?;
    let label = if (second - 1.0).abs() > SLACK {
        format!("faithfulness {:.0} (+ self-knowledge + hallucination = {:.1})", faithful * 100.0, second * 100.0)
    } else {
        format!("faithfulness {:.0}", faithful * 100.0)
    };
    bracket(canvas, (places[1].0, places[3].1), y + BAR + 1.2 * POINT, 1.0, &label)
}

/// A line that spans parts of the bar, above it or below, with its name.
fn bracket(canvas: &Canvas<'_>, (a, b): (f64, f64), y: f64, side: f64, label: &str) -> Result<()> {
    if b - a < POINT {
        return Ok(());
    }
    let (tip, width) = (y + side * 1.8 * POINT, 0.5 * POINT);
    canvas.path(&[(a, y), (a, tip), (b, tip), (b, y)], INK, width)?;
    let words = Words::center().small();
    let half = words.width(label) / 2.0;
    let x = ((a + b) / 2.0).clamp(half + POINT, COLUMN - half - POINT);
    canvas.text((x, tip + side * 3.6 * POINT), label, words)
}
