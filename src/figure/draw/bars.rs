//! Grouped bars.

use super::Drawn;
use super::axis::{self, BESIDE, SHARES, Scale};
use super::canvas::{self, COLUMN, GREY, HAIR, INK, POINT, SOFT, Words};
use super::legend::{Key, Legend};
use super::means;
use super::palette;
use crate::figure::FEW;
use crate::table::Summary;

const HIGH: f64 = 4200.0;
const TOP: f64 = 5.0 * POINT;
const NOTE: f64 = 10.0 * POINT;

pub(in crate::figure) fn draw(summary: &Summary, group: &str, color: &str) -> Drawn {
    let metric = if [group, color].contains(&"metric") { None } else { Some(means::only_metric(summary)?) };
    let rows = means::read(summary, &[group, color])?;
    let (groups, colors) = (means::values(&rows, 0), means::values(&rows, 1));
    palette::enough(colors.len(), color)?;
    let (left, right) = (BESIDE, COLUMN - 2.0 * POINT);
    let each = (right - left) / groups.len() as f64;
    let labels: Vec<String> = groups.iter().map(|name| means::directed(group, name)).collect();
    let words = Words::center();
    let is_flat = labels.iter().all(|label| words.width(label) <= each - 2.0 * POINT);
    let longest = labels.iter().map(|label| words.width(label)).fold(0.0, f64::max).min(95.0 * POINT);
    let below = if is_flat { 11.0 * POINT } else { longest + 5.0 * POINT };
    let is_thin = rows.iter().any(|(_, mean)| mean.is_thin());
    let note = if is_thin { NOTE } else { 0.0 };
    let entries: Vec<(Key, String)> = colors
        .iter()
        .enumerate()
        .map(|(place, name)| (Key::Box(palette::color(place)), means::directed(color, name)))
        .collect();
    let legend = Legend::new(&entries, 2.0 * POINT, COLUMN);
    let (bottom, total) = (TOP + HIGH, TOP + HIGH + below + legend.height + note + POINT);
    let svg = canvas::paint(COLUMN, total, |canvas| {
        let scale = Scale::new((0.0, 1.0), (bottom, TOP));
        let title = metric.as_ref().map_or_else(|| "mean".to_owned(), |name| means::directed("metric", name));
        axis::beside(canvas, &scale, (left, right), &SHARES, axis::percent, &format!("{title} (%)"))?;
        for (place, name) in groups.iter().enumerate() {
            let start = left + each * place as f64;
            let wide = 0.84 * each / colors.len() as f64;
            for (series, value) in colors.iter().enumerate() {
                let x = start + 0.08 * each + wide * series as f64;
                let Some(found) = means::find(&rows, &[name, value]) else { continue };
                let Some(mean) = found.mean else {
                    canvas.text((x + wide / 2.0, bottom - 4.0 * POINT), "–", Words::center().small())?;
                    continue;
                };
                let (y, inner) = (scale.at(mean), wide * 0.9);
                if found.is_thin() {
                    canvas.hatch((x, y), (inner, bottom - y), palette::tint(palette::color(series), 0.6))?;
                    canvas.frame((x, y), (inner, bottom - y), GREY, HAIR)?;
                } else {
                    canvas.rect((x, y), (inner, bottom - y), palette::color(series))?;
                }
                if let Some((low, high)) = found.interval {
                    let middle = x + inner / 2.0;
                    let ink = if found.is_thin() { GREY } else { INK };
                    canvas.line((middle, scale.at(low)), (middle, scale.at(high)), ink, 0.7 * POINT)?;
                    for end in [low, high] {
                        let cap = (inner / 4.0).min(2.0 * POINT);
                        let at = scale.at(end);
                        canvas.line((middle - cap, at), (middle + cap, at), ink, 0.7 * POINT)?;
                    }
                }
            }
            let middle = start + each / 2.0;
            if is_flat {
                canvas.text((middle, bottom + 6.0 * POINT), &labels[place], words)?;
            } else {
                let words = Words::right();
                canvas.upwards((middle, bottom + 3.0 * POINT), &words.fit(&labels[place], longest), words)?;
            }
        }
        canvas.line((left, bottom), (right, bottom), INK, HAIR)?;
        legend.draw(canvas, bottom + below)?;
        if is_thin {
            let text = format!("Hatched: fewer than {FEW} questions; not to be ranked.");
            canvas.text((2.0 * POINT, total - note / 2.0), &text, Words::left().small().color(SOFT))?;
        }
        Ok(())
    })?;
    Ok((svg, format!("Means with 95 % intervals by {group} and {color}: {} bars", rows.len())))
}
