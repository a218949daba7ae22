//! Precision against recall, over lines of equal F1.

use super::Drawn;
use super::axis::{self, BELOW, BESIDE, SHARES, Scale};
use super::canvas::{self, COLUMN, Canvas, GREY, HAIR, LINE, POINT, SOFT, Words};
use super::legend::{Key, Legend};
use super::means;
use super::palette;
use crate::error::{Error, Result};
use crate::figure::FEW;
use crate::table::Summary;

const SIDE: f64 = 6300.0;
const TOP: f64 = 5.0 * POINT;
const NOTE: f64 = 10.0 * POINT;

pub(in crate::figure) fn draw(summary: &Summary, color: &str, shape: &str) -> Drawn {
    let read = |metric: &str| -> Result<_> {
        let one = summary.only("metric", metric)?;
        if one.height() == 0 {
            return Err(Error::input(format!("the summary has no {metric}, which this figure needs")));
        }
        means::read(&one, &[color, shape])
    };
    let (precision, recall) = (read("precision")?, read("recall")?);
    let (colors, shapes) = (means::values(&precision, 0), means::values(&precision, 1));
    palette::enough(colors.len(), color)?;
    let mut entries: Vec<(Key, String)> = colors
        .iter()
        .enumerate()
        .map(|(place, name)| (Key::Box(palette::color(place)), means::shown(color, name)))
        .collect();
    if color != shape {
        let marks = shapes.iter().enumerate();
        entries.extend(marks.map(|(place, name)| (Key::Mark(place, SOFT), means::shown(shape, name))));
    }
    let legend = Legend::new(&entries, 2.0 * POINT, COLUMN);
    let left = BESIDE + (COLUMN - BESIDE - SIDE) / 2.0;
    let (right, bottom) = (left + SIDE, TOP + SIDE);
    let is_thin = precision.iter().chain(&recall).any(|(_, mean)| mean.is_thin());
    let note = if is_thin { NOTE } else { 0.0 };
    let svg = canvas::paint(COLUMN, bottom + BELOW + legend.height + note + POINT, |canvas| {
        let across = Scale::new((0.0, 1.0), (left, right));
        let up = Scale::new((0.0, 1.0), (bottom, TOP));
        axis::below(canvas, &across, (TOP, bottom), &SHARES, axis::percent, "recall (%)")?;
        axis::beside(canvas, &up, (left, right), &SHARES, axis::percent, "precision (%)")?;
        equal_f1(canvas, &across, &up)?;
        for (key, p) in &precision {
            let Some(r) = recall.iter().find(|(found, _)| found == key).map(|(_, mean)| mean) else { continue };
            let (Some(x), Some(y)) = (r.mean, p.mean) else { continue };
            let place = |list: &[String], value: &String| list.iter().position(|one| one == value).unwrap_or(0);
            let thin = p.is_thin() || r.is_thin();
            let ink = if thin { GREY } else { palette::color(place(&colors, &key[0])) };
            let (x, y) = (across.at(x), up.at(y));
            if let Some((low, high)) = r.interval {
                canvas.line((across.at(low), y), (across.at(high), y), ink, LINE)?;
            }
            if let Some((low, high)) = p.interval {
                canvas.line((x, up.at(low)), (x, up.at(high)), ink, LINE)?;
            }
            let mark = if color == shape { place(&colors, &key[0]) } else { place(&shapes, &key[1]) };
            canvas.mark(mark, (x, y), ink, thin)?;
        }
        legend.draw(canvas, bottom + BELOW)?;
        if is_thin {
            let text = format!("Hollow and grey: fewer than {FEW} questions; not to be ranked.");
            canvas.text((2.0 * POINT, bottom + BELOW + legend.height + NOTE / 2.0), &text, Words::left().small())?;
        }
        Ok(())
    })?;
    Ok((svg, format!("Mean precision against mean recall by {color} and {shape}, over lines of equal F1")))
}

/// `p = f · r ÷ (2 r − f)` for F1 from 0.1 to 0.9.
fn equal_f1(canvas: &Canvas<'_>, across: &Scale, up: &Scale) -> Result<()> {
    for tenth in 1..=9 {
        let f1 = f64::from(tenth) / 10.0;
        // From where precision is 1 to where recall is 1; both ends are f ÷ (2 − f).
        let start = f1 / (2.0 - f1);
        let points: Vec<(f64, f64)> = (0..=60)
            .map(|step| {
                // Steps widen with recall, since the curve is steep at its left end.
                let recall = start * (1.0 / start).powf(f64::from(step) / 60.0);
                (across.at(recall), up.at((f1 * recall / (2.0 * recall - f1)).min(1.0)))
            })
            .collect();
        canvas.path(&points, palette::tint(SOFT, 0.45), HAIR)?;
        let (x, y) = (across.at(1.0), up.at(start));
        let label = if tenth == 9 { "F1 90".to_owned() } else { format!("{}", tenth * 10) };
        canvas.text((x + 1.5 * POINT, y), &label, Words::left().small().color(SOFT))?;
    }
    Ok(())
}
