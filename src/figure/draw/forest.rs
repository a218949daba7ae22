//! Forest plots.

use super::Drawn;
use super::axis::{self, SHARES, Scale};
use super::canvas::{self, COLUMN, GREY, HAIR, INK, POINT, SOFT, Words};
use super::intervals::point;
use super::legend::{Key, Legend};
use super::means::{self, Mean};
use super::palette;
use crate::error::{Error, Result};
use crate::figure::FEW;
use crate::metrics::Metric;
use crate::table::{Scores, distinct};

/// One line of the plot.
enum Line {
    /// The name of a slicing column.
    Heading(String),
    /// A slice with one mean for every system.
    Slice { name: String, is_all: bool, means: Vec<Option<Mean>> },
}

const TOP: f64 = 11.0 * POINT;
const NOTE: f64 = 10.0 * POINT;

pub(in crate::figure) fn draw(scores: &Scores, metric: Metric, slices: &[&str]) -> Drawn {
    let scores = scores.only("metric", metric.as_str())?;
    if scores.height() == 0 {
        return Err(Error::input(format!("the scores hold no value of {metric}")));
    }
    let systems = distinct(scores.frame(), "system")?;
    palette::enough(systems.len(), "system")?;
    let lines = lines(&scores, &systems, slices)?;
    let alone = systems.len() == 1;
    let row = (4.2 * POINT * systems.len() as f64).max(8.5 * POINT) + 1.5 * POINT;
    let heading = 11.0 * POINT;
    let height_of = |line: &Line| if matches!(line, Line::Heading(_)) { heading } else { row };
    let high: f64 = lines.iter().map(height_of).sum();
    let labels = labels_width(&lines);
    let (counts, numbers) = (counts_width(&lines), if alone { 52.0 * POINT } else { 0.0 });
    let (left, right) = (labels + 4.0 * POINT, COLUMN - counts - numbers - 4.0 * POINT);
    let entries: Vec<(Key, String)> = systems
        .iter()
        .enumerate()
        .map(|(place, name)| (Key::Mark(place, palette::color(place)), name.clone()))
        .collect();
    let legend = Legend::new(&entries, 2.0 * POINT, COLUMN);
    let bottom = TOP + high;
    let total = bottom + axis::BELOW + legend.height + NOTE;
    let svg = canvas::paint(COLUMN, total, |canvas| {
        let scale = Scale::new((0.0, 1.0), (left, right));
        axis::below(canvas, &scale, (TOP, bottom), &SHARES, axis::percent, &title(metric))?;
        let head = Words::right().small().color(SOFT);
        canvas.text((right + counts, TOP / 2.0), "n", head)?;
        if alone {
            canvas.text((COLUMN - 2.0 * POINT, TOP / 2.0), "mean [95 %]", head)?;
            overall(canvas, &scale, &lines, (TOP, bottom))?;
        }
        let mut y = TOP;
        for line in &lines {
            let middle = y + height_of(line) / 2.0;
            y += height_of(line);
            let (name, is_all, means) = match line {
                Line::Heading(name) => {
                    let words = Words::left().small().bold().color(SOFT);
                    canvas.text((2.0 * POINT, middle + POINT), &words.fit(name, labels - 2.0 * POINT), words)?;
                    continue;
                }
                Line::Slice { name, is_all, means } => (name, *is_all, means),
            };
            let thin = means.iter().flatten().all(Mean::is_thin);
            let ink = if thin { GREY } else { INK };
            let label = if is_all { Words::left().bold() } else { Words::left() }.color(ink);
            let indent = if is_all { 2.0 } else { 6.0 } * POINT;
            canvas.text((indent, middle), &label.fit(name, labels - indent), label)?;
            for (place, found) in means.iter().enumerate() {
                let Some(found) = found else { continue };
                let offset = (place as f64 + 1.0) / (systems.len() as f64 + 1.0) - 0.5;
                point(canvas, &scale, middle + row * offset, place, found)?;
            }
            let side = Words::right().small().color(ink);
            canvas.text((right + counts, middle), &counted(means), side)?;
            if let ([Some(one)], true) = (means.as_slice(), alone) {
                canvas.text((COLUMN - 2.0 * POINT, middle), &written(one), side)?;
            }
        }
        legend.draw(canvas, bottom + axis::BELOW)?;
        let note = format!("Lines: 95 % intervals over questions. Grey: fewer than {FEW} questions; not to be ranked.");
        canvas.text((2.0 * POINT, total - NOTE / 2.0), &note, Words::left().small().color(SOFT))
    })?;
    let label = metric.label();
    Ok((svg, format!("{label} over all questions and by {}: {}", slices.join(", "), systems.join(", "))))
}

fn title(metric: Metric) -> String {
    format!("{} (%){}", metric.label(), if metric.higher_is_better() { "" } else { ", less is better" })
}

fn lines(scores: &Scores, systems: &[String], slices: &[&str]) -> Result<Vec<Line>> {
    let all = means::read(&scores.by(&["system"])?, &["system"])?;
    let of = |rows: &[(Vec<String>, Mean)], key: &dyn Fn(&str) -> Vec<String>| -> Vec<Option<Mean>> {
        let found = |system: &String| {
            let key = key(system);
            rows.iter().find(|(held, _)| *held == key).map(|(_, mean)| *mean)
        };
        systems.iter().map(found).collect()
    };
    let means = of(&all, &|system| vec![system.to_owned()]);
    let mut lines = vec![Line::Slice { name: "All questions".to_owned(), is_all: true, means }];
    for slice in slices {
        lines.push(Line::Heading(means::spelled(slice)));
        let rows = means::read(&scores.by(&["system", slice])?, &["system", slice])?;
        for value in means::values(&rows, 1) {
            let means = of(&rows, &|system| vec![system.to_owned(), value.clone()]);
            lines.push(Line::Slice { name: means::shown(slice, &value), is_all: false, means });
        }
    }
    Ok(lines)
}

fn labels_width(lines: &[Line]) -> f64 {
    let widest = lines.iter().map(|line| match line {
        Line::Heading(name) => Words::left().small().bold().width(name) + 4.0 * POINT,
        Line::Slice { name, is_all: true, .. } => Words::left().bold().width(name) + 4.0 * POINT,
        Line::Slice { name, .. } => Words::left().width(name) + 8.0 * POINT,
    });
    widest.fold(0.0, f64::max).clamp(40.0 * POINT, 95.0 * POINT)
}

/// The room for how many values there are, between the chart and the numbers.
fn counts_width(lines: &[Line]) -> f64 {
    let widest = lines.iter().map(|line| match line {
        Line::Heading(_) => 0.0,
        Line::Slice { means, .. } => Words::right().small().width(&counted(means)),
    });
    widest.fold(8.0 * POINT, f64::max) + 8.0 * POINT
}

/// A dashed line through the mean over all questions.
fn overall(canvas: &canvas::Canvas<'_>, scale: &Scale, lines: &[Line], (top, bottom): (f64, f64)) -> Result<()> {
    let Some(Line::Slice { means, .. }) = lines.first() else { return Ok(()) };
    let Some(mean) = means.iter().flatten().find_map(|found| found.mean) else { return Ok(()) };
    canvas.dashes((scale.at(mean), top), (scale.at(mean), bottom), GREY, HAIR)
}

/// How many values there are, as a range where systems differ.
fn counted(means: &[Option<Mean>]) -> String {
    let counts: Vec<i64> = means.iter().map(|found| found.map_or(0, |one| one.n)).collect();
    match (counts.iter().min(), counts.iter().max()) {
        (Some(low), Some(high)) if low < high => format!("{low}–{high}"),
        (Some(one), _) => one.to_string(),
        _ => String::new(),
    }
}

fn written(found: &Mean) -> String {
    let whole = |share: f64| format!("{:.0}", share * 100.0);
    match (found.mean, found.interval) {
        (Some(mean), Some((low, high))) => format!("{} [{}, {}]", whole(mean), whole(low), whole(high)),
        (Some(mean), None) => whole(mean),
        (None, _) => "–".to_owned(),
    }
}
