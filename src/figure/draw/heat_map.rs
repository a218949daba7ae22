//! Heat maps of means.

use super::Drawn;
use super::canvas::{self, COLUMN, Canvas, GREY, HAIR, PAGE, POINT, SOFT, Words};
use super::means::{self, Mean};
use super::palette;
use crate::error::{Error, Result};
use crate::figure::FEW;
use crate::table::Summary;

const CELL: f64 = 15.0 * POINT;
const SCALE: f64 = 24.0 * POINT;
/// The least that a number in a cell needs.
const NARROW: f64 = 11.5 * POINT;

pub(in crate::figure) fn draw(summary: &Summary, rows: &str, columns: &str) -> Drawn {
    let metric = if [rows, columns].contains(&"metric") { None } else { Some(means::only_metric(summary)?) };
    let cells = means::read(summary, &[rows, columns])?;
    let (down, across) = (means::values(&cells, 0), means::values(&cells, 1));
    let side = Words::right();
    let names: Vec<String> = down.iter().map(|name| means::directed(rows, name)).collect();
    let labels = names.iter().map(|name| side.width(name)).fold(0.0, f64::max).min(95.0 * POINT) + 5.0 * POINT;
    let each = |sheet: f64| (sheet - labels - POINT) / across.len() as f64;
    // What does not fit in one column of a paper is drawn over both.
    let sheet = if each(COLUMN) < NARROW { PAGE } else { COLUMN };
    if each(sheet) < NARROW {
        return Err(Error::input(format!("{} values of {columns:?} do not fit side by side", across.len()))
            .help("make them the rows of the heat map, or keep fewer of them"));
    }
    let wide = each(sheet).min(60.0 * POINT);
    let heads: Vec<String> = across.iter().map(|name| means::directed(columns, name)).collect();
    let is_flat = heads.iter().all(|name| Words::center().width(name) <= wide - 2.0 * POINT);
    let longest = heads.iter().map(|name| side.width(name)).fold(0.0, f64::max).min(85.0 * POINT);
    let top = if is_flat { 12.0 * POINT } else { longest + 5.0 * POINT };
    let bottom = top + CELL * down.len() as f64;
    let svg = canvas::paint(sheet, bottom + SCALE, |canvas| {
        for (place, name) in heads.iter().enumerate() {
            let x = labels + wide * (place as f64 + 0.5);
            if is_flat {
                canvas.text((x, top / 2.0), name, Words::center())?;
            } else {
                canvas.upwards((x, top - 3.0 * POINT), &Words::left().fit(name, longest), Words::left())?;
            }
        }
        for (row, name) in down.iter().enumerate() {
            let y = top + CELL * row as f64;
            canvas.text((labels - 3.0 * POINT, y + CELL / 2.0), &side.fit(&names[row], labels - 5.0 * POINT), side)?;
            for (column, head) in across.iter().enumerate() {
                let found = means::find(&cells, &[name, head]);
                cell(canvas, (labels + wide * column as f64, y), (wide, CELL), found)?;
            }
        }
        let title = metric.as_ref().map_or_else(|| "mean".to_owned(), |name| means::directed("metric", name));
        ramp(canvas, (labels, sheet), bottom + 5.0 * POINT, &format!("{title} (%)"))
    })?;
    Ok((svg, format!("Heat map of means by {rows} and {columns}, {} cells", cells.len())))
}

fn cell(canvas: &Canvas<'_>, (x, y): (f64, f64), (w, h): (f64, f64), found: Option<Mean>) -> Result<()> {
    let (inner, middle) = ((w - 0.8 * POINT, h - 0.8 * POINT), x + w / 2.0);
    let Some(Mean { mean: Some(mean), n, .. }) = found else {
        canvas.frame((x, y), inner, canvas::FAINT, HAIR)?;
        let empty = found.map_or_else(String::new, |_| "–".to_owned());
        return canvas.text((middle, y + h / 2.0), &empty, Words::center().color(GREY));
    };
    let thin = n < FEW;
    let (ink, note) = if thin {
        canvas.hatch((x, y), inner, palette::tint(GREY, 0.4))?;
        canvas.frame((x, y), inner, canvas::FAINT, HAIR)?;
        (GREY, GREY)
    } else {
        let ground = palette::shade(mean);
        canvas.rect((x, y), inner, ground)?;
        (palette::ink_on(ground), palette::ink_on(ground))
    };
    let text = format!("{:.0}", mean * 100.0);
    canvas.text((middle, y + 0.36 * h), &text, Words::center().color(ink))?;
    canvas.text((middle, y + 0.77 * h), &n.to_string(), Words::center().tiny().color(note))
}

/// The key to the shades, below the cells or as far to the left of them as its words need.
fn ramp(canvas: &Canvas<'_>, (cells, sheet): (f64, f64), y: f64, title: &str) -> Result<()> {
    let (wide, high) = (60.0 * POINT, 5.0 * POINT);
    let words = Words::left().small().color(SOFT);
    let note = format!("small: values; hatched: fewer than {FEW}");
    let beside = wide + 8.0 * POINT;
    let needed = beside + words.width(&note).max(words.width(title)) + 2.0 * POINT;
    let x = cells.min(sheet - needed).max(6.0 * POINT);
    for step in 0..40 {
        let at = x + wide * f64::from(step) / 40.0;
        canvas.rect((at, y), (wide / 40.0 + 2.0, high), palette::shade(f64::from(step) / 39.0))?;
    }
    for (share, label) in [(0.0, "0"), (0.5, "50"), (1.0, "100")] {
        canvas.text((x + wide * share, y + high + 5.0 * POINT), label, Words::center().small())?;
    }
    canvas.text((x + beside, y + high / 2.0), &words.fit(title, sheet - x - beside - POINT), words)?;
    canvas.text((x + beside, y + high + 5.0 * POINT), &note, words)
}
