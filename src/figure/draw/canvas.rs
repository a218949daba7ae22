//! A sheet of hundredths of a millimetre with the few marks that figures need.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::failed;
use super::font::{self, FAMILY};
use crate::error::Result;

/// One column of a paper.
pub(super) const COLUMN: f64 = 8500.0;
/// Both columns.
pub(super) const PAGE: f64 = 17_500.0;
/// A typographic point.
pub(super) const POINT: f64 = 35.28;
/// Thin lines.
pub(super) const HAIR: f64 = 0.35 * POINT;
/// Lines that carry data.
pub(super) const LINE: f64 = 1.1 * POINT;
/// Radius of a mark.
pub(super) const MARK: f64 = 1.9 * POINT;
pub(super) const INK: RGBColor = RGBColor(34, 34, 34);
pub(super) const FAINT: RGBColor = RGBColor(226, 226, 226);
/// What is there but must not be leaned on.
pub(super) const GREY: RGBColor = RGBColor(150, 150, 150);
/// Words beside the matter.
pub(super) const SOFT: RGBColor = RGBColor(95, 95, 95);

/// How words are set.
#[derive(Clone, Copy)]
pub(super) struct Words {
    size: f64,
    bold: bool,
    color: RGBColor,
    at: HPos,
}

impl Words {
    pub(super) fn left() -> Self {
        Self { size: 7.0 * POINT, bold: false, color: INK, at: HPos::Left }
    }

    pub(super) fn right() -> Self {
        Self { at: HPos::Right, ..Self::left() }
    }

    pub(super) fn center() -> Self {
        Self { at: HPos::Center, ..Self::left() }
    }

    pub(super) fn small(self) -> Self {
        Self { size: 6.0 * POINT, ..self }
    }

    pub(super) fn tiny(self) -> Self {
        Self { size: 5.5 * POINT, ..self }
    }

    pub(super) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(super) fn color(self, color: RGBColor) -> Self {
        Self { color, ..self }
    }

    /// How wide this text is.
    pub(super) fn width(self, text: &str) -> f64 {
        font::width(text, self.size, self.bold)
    }

    /// The text, or as much of its beginning as fits, with an ellipsis.
    pub(super) fn fit(self, text: &str, room: f64) -> String {
        let width = self.width(text);
        if width <= room {
            return text.to_owned();
        }
        let letters = text.chars().count();
        let mut kept = ((letters as f64 * room / width) as usize).min(letters);
        while kept > 1 {
            let head: String = text.chars().take(kept).collect();
            let cut = format!("{}…", head.trim_end());
            if self.width(&cut) <= room {
                return cut;
            }
            kept -= 1;
        }
        "…".to_owned()
    }
}

/// Draws on a white sheet.
pub(super) fn paint(width: f64, height: f64, draw: impl FnOnce(&Canvas<'_>) -> Result<()>) -> Result<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (width.round() as u32, height.round() as u32)).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        let canvas = Canvas(area);
        draw(&canvas)?;
        canvas.0.present().map_err(failed)?;
    }
    Ok(svg)
}

/// The sheet.
pub(super) struct Canvas<'a>(DrawingArea<SVGBackend<'a>, Shift>);

fn whole((x, y): (f64, f64)) -> (i32, i32) {
    (x.round() as i32, y.round() as i32)
}

impl Canvas<'_> {
    pub(super) fn path(&self, points: &[(f64, f64)], color: impl Color, width: f64) -> Result<()> {
        let points: Vec<(i32, i32)> = points.iter().copied().map(whole).collect();
        let style = color.stroke_width(width.round() as u32);
        self.0.draw(&PathElement::new(points, style)).map_err(failed)
    }

    pub(super) fn line(&self, from: (f64, f64), to: (f64, f64), color: impl Color, width: f64) -> Result<()> {
        self.path(&[from, to], color, width)
    }

    /// A straight line in dashes.
    pub(super) fn dashes(&self, from: (f64, f64), to: (f64, f64), color: RGBColor, width: f64) -> Result<()> {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let (length, step) = ((dx * dx + dy * dy).sqrt(), 4.0 * POINT);
        let mut done = 0.0;
        while done < length {
            let end = (done + 0.6 * step).min(length);
            let at = |along: f64| (from.0 + dx * along / length, from.1 + dy * along / length);
            self.line(at(done), at(end), color, width)?;
            done += step;
        }
        Ok(())
    }

    pub(super) fn polygon(&self, points: &[(f64, f64)], color: impl Color) -> Result<()> {
        let points: Vec<(i32, i32)> = points.iter().copied().map(whole).collect();
        self.0.draw(&Polygon::new(points, color.filled())).map_err(failed)
    }

    pub(super) fn rect(&self, (x, y): (f64, f64), (width, height): (f64, f64), color: RGBColor) -> Result<()> {
        let corners = [whole((x, y)), whole((x + width, y + height))];
        self.0.draw(&Rectangle::new(corners, color.filled())).map_err(failed)
    }

    pub(super) fn frame(&self, (x, y): (f64, f64), (w, h): (f64, f64), color: RGBColor, width: f64) -> Result<()> {
        // A little beyond the first corner, so that the last corner closes.
        self.path(&[(x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y), (x + width, y)], color, width)
    }

    /// Slanting lines in a box: here is no data.
    pub(super) fn hatch(&self, (x, y): (f64, f64), (w, h): (f64, f64), color: RGBColor) -> Result<()> {
        let step = 2.2 * POINT;
        let mut along = step;
        while along < w + h {
            let from = (x + (along - h).max(0.0), y + along.min(h));
            let to = (x + along.min(w), y + (along - w).max(0.0));
            self.line(from, to, color, HAIR)?;
            along += step;
        }
        Ok(())
    }

    /// A mark whose shape goes with a place in a list; hollow where it must not be leaned on.
    pub(super) fn mark(&self, shape: usize, (x, y): (f64, f64), color: RGBColor, hollow: bool) -> Result<()> {
        let r = MARK;
        let points: Vec<(f64, f64)> = match shape % 5 {
            0 => {
                let radius = r.round() as i32;
                if hollow {
                    let style = color.stroke_width((0.8 * POINT) as u32);
                    self.0.draw(&Circle::new(whole((x, y)), radius, WHITE.filled())).map_err(failed)?;
                    return self.0.draw(&Circle::new(whole((x, y)), radius, style)).map_err(failed);
                }
                return self.0.draw(&Circle::new(whole((x, y)), radius, color.filled())).map_err(failed);
            }
            1 => [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)].to_vec(),
            2 => [(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)].to_vec(),
            3 => [(0.0, -1.2), (1.15, 0.85), (-1.15, 0.85)].to_vec(),
            _ => [(0.0, 1.2), (1.15, -0.85), (-1.15, -0.85)].to_vec(),
        };
        let mut placed: Vec<(f64, f64)> = points.iter().map(|(dx, dy)| (x + dx * r, y + dy * r)).collect();
        if !hollow {
            return self.polygon(&placed, color);
        }
        self.polygon(&placed, WHITE)?;
        placed.extend_from_within(..2);
        self.path(&placed, color, 0.8 * POINT)
    }

    /// Words whose middle is at this height.
    pub(super) fn text(&self, (x, y): (f64, f64), text: &str, words: Words) -> Result<()> {
        self.set((x, y + 0.08 * words.size), text, words, FontTransform::None)
    }

    /// Words that read upwards; the point is where they are anchored, in the middle of their height.
    pub(super) fn upwards(&self, (x, y): (f64, f64), text: &str, words: Words) -> Result<()> {
        self.set((x + 0.08 * words.size, y), text, words, FontTransform::Rotate270)
    }

    fn set(&self, at: (f64, f64), text: &str, words: Words, turn: FontTransform) -> Result<()> {
        let text = font::clean(text);
        if text.is_empty() {
            return Ok(());
        }
        let style = if words.bold { FontStyle::Bold } else { FontStyle::Normal };
        // The SVG backend divides sizes by this number.
        let font = FontDesc::new(FontFamily::Name(FAMILY), words.size * 1.24, style).transform(turn);
        let style = TextStyle::from(font).color(&words.color).pos(Pos::new(words.at, VPos::Center));
        self.0.draw_text(&text, &style, whole(at)).map_err(failed)
    }
}
