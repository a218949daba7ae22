//! The dot-and-interval plot.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Metric;
use crate::table::{Summary, distinct, floats, texts};

/// Colours that stay apart in print and for colour-blind readers (Okabe and Ito 2008).
const COLORS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];
const ROW: f64 = 1.0;
const LABELS: i32 = 215;
/// Pixels that all panels share, and the least that one gets.
const PANELS: i32 = 660;
const PANEL: i32 = 165;

/// One mean with its interval.
struct Point {
    color: usize,
    row: usize,
    mean: f64,
    interval: Option<(f64, f64)>,
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Internal, format!("the figure could not be drawn: {error}"))
}

pub(super) fn draw(summary: &Summary, color: &str, panel: &str) -> Result<String> {
    let frame = summary.frame();
    let colors = distinct(frame, color)?;
    if colors.len() > COLORS.len() {
        return Err(Error::input(format!("{} values of {color:?} cannot be told apart by colour", colors.len()))
            .help(format!("keep at most {} of them", COLORS.len())));
    }
    let panels = distinct(frame, panel)?;
    let metrics = distinct(frame, "metric")?;
    let count = panels.len().max(1) as i32;
    let width = LABELS + (PANELS / count).max(PANEL) * count + 20;
    let height = 60 + 34 * metrics.len() as i32 + 24 * colors.len().div_ceil(2) as i32;
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (width as u32, height as u32)).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let legend = 24 * colors.len().div_ceil(2) as i32;
        let (upper, lower) = root.split_vertically(height - legend);
        let (names, charts) = upper.split_horizontally(LABELS);
        for (place, part) in charts.split_evenly((1, panels.len().max(1))).iter().enumerate() {
            let name = panels.get(place).map_or("", String::as_str);
            let points = points(summary, (color, &colors), (panel, name), &metrics)?;
            one_panel(part, &name.replace('_', " "), &points, (metrics.len(), colors.len(), panels.len()))?;
        }
        label_rows(&names, &metrics, height - legend)?;
        label_colors(&lower, &colors)?;
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

fn points(
    summary: &Summary,
    (color, colors): (&str, &[String]),
    (panel, name): (&str, &str),
    metrics: &[String],
) -> Result<Vec<Point>> {
    let frame = summary.frame();
    let (series, parts, rows) = (texts(frame, color)?, texts(frame, panel)?, texts(frame, "metric")?);
    let (means, lows, highs) = (floats(frame, "mean")?, floats(frame, "ci_low")?, floats(frame, "ci_high")?);
    let mut found = Vec::new();
    for (at, mean) in means.iter().enumerate() {
        let (Some(mean), true) = (*mean, parts[at].as_deref() == Some(name)) else { continue };
        let place = |list: &[String], value: &Option<String>| list.iter().position(|one| Some(one) == value.as_ref());
        if let (Some(color), Some(row)) = (place(colors, &series[at]), place(metrics, &rows[at])) {
            found.push(Point { color, row, mean, interval: lows[at].zip(highs[at]) });
        }
    }
    Ok(found)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn one_panel(
    area: &Area<'_>,
    name: &str,
    points: &[Point],
    (rows, colors, panels): (usize, usize, usize),
) -> Result<()> {
    let top = rows as f64 * ROW;
    let mut chart = ChartBuilder::on(area)
        .margin_right(14)
        .margin_left(6)
        .caption(name, ("sans-serif", if panels > 2 { 12 } else { 16 }))
        .x_label_area_size(26)
        .build_cartesian_2d(0.0..1.0, 0.0..top)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .x_labels(if panels > 2 { 3 } else { 6 })
        .y_labels(0)
        .x_label_formatter(&|value| format!("{value:.1}"))
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.12))
        .axis_style(BLACK.mix(0.5))
        .label_style(("sans-serif", 13))
        .draw()
        .map_err(failed)?;
    for row in 1..rows {
        let y = row as f64 * ROW;
        chart.draw_series([PathElement::new(vec![(0.0, y), (1.0, y)], BLACK.mix(0.08))]).map_err(failed)?;
    }
    for point in points {
        let color = COLORS[point.color % COLORS.len()];
        let offset = (point.color as f64 + 1.0) / (colors as f64 + 1.0);
        let y = top - (point.row as f64 + offset) * ROW;
        if let Some((low, high)) = point.interval {
            chart.draw_series([PathElement::new(vec![(low, y), (high, y)], color.stroke_width(2))]).map_err(failed)?;
        }
        chart.draw_series([Circle::new((point.mean, y), 3, color.filled())]).map_err(failed)?;
    }
    Ok(())
}

/// Names of the metrics, beside the rows of the panels (a caption above, axis labels below).
fn label_rows(area: &Area<'_>, metrics: &[String], height: i32) -> Result<()> {
    let (top, bottom) = (27, height - 27);
    let style = ("sans-serif", 14).into_font().color(&BLACK).pos(Pos::new(HPos::Right, VPos::Center));
    for (row, metric) in metrics.iter().enumerate() {
        let label = Metric::parse(metric).map_or_else(|| metric.clone(), |known| known.label().to_owned());
        let y = top + (bottom - top) * (2 * row as i32 + 1) / (2 * metrics.len().max(1) as i32);
        area.draw(&Text::new(label, (LABELS - 8, y), style.clone())).map_err(failed)?;
    }
    Ok(())
}

fn label_colors(area: &Area<'_>, colors: &[String]) -> Result<()> {
    let width = area.get_pixel_range().0.len() as i32;
    for (place, name) in colors.iter().enumerate() {
        let (x, y) = (20 + (place as i32 % 2) * (width / 2), 12 + 24 * (place as i32 / 2));
        area.draw(&Circle::new((x, y), 4, COLORS[place % COLORS.len()].filled())).map_err(failed)?;
        let style = ("sans-serif", 14).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(name.clone(), (x + 10, y), style)).map_err(failed)?;
    }
    Ok(())
}
