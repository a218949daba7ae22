//! What colours and shapes mean.

use plotters::style::RGBColor;

use super::canvas::{Canvas, HAIR, INK, LINE, POINT, Words};
use crate::error::Result;

/// How an entry is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) enum Key {
    /// A filled mark of this shape.
    Mark(usize, RGBColor),
    /// A box of one colour.
    Box(RGBColor),
    /// A hatched box.
    Hatch(RGBColor),
    /// A line with a mark of this shape.
    Line(usize, RGBColor),
}

/// Entries set in rows.
pub(super) struct Legend {
    entries: Vec<(Key, String, (f64, f64))>,
    /// How high all rows are.
    pub(super) height: f64,
}

const ROW: f64 = 9.5 * POINT;
const KEY: f64 = 9.0 * POINT;

impl Legend {
    /// Sets entries in rows as wide as there is room.
    pub(super) fn new(entries: &[(Key, String)], left: f64, right: f64) -> Self {
        let (mut x, mut y) = (left, 0.0);
        let mut placed = Vec::new();
        for (key, text) in entries {
            let text = Words::left().fit(text, right - left - KEY);
            let width = KEY + Words::left().width(&text) + 8.0 * POINT;
            if x > left && x + width - 8.0 * POINT > right {
                (x, y) = (left, y + ROW);
            }
            placed.push((*key, text, (x, y)));
            x += width;
        }
        let height = if placed.is_empty() { 0.0 } else { y + ROW };
        Self { entries: placed, height }
    }

    /// Draws all with the first row's upper edge here.
    pub(super) fn draw(&self, canvas: &Canvas<'_>, top: f64) -> Result<()> {
        for (key, text, (x, y)) in &self.entries {
            let middle = top + y + ROW / 2.0;
            let half = 2.6 * POINT;
            match *key {
                Key::Mark(shape, color) => canvas.mark(shape, (x + 3.0 * POINT, middle), color, false)?,
                Key::Box(color) => {
                    canvas.rect((*x, middle - half), (6.0 * POINT, 2.0 * half), color)?;
                }
                Key::Hatch(color) => {
                    canvas.hatch((*x, middle - half), (6.0 * POINT, 2.0 * half), color)?;
                    canvas.frame((*x, middle - half), (6.0 * POINT, 2.0 * half), INK, HAIR)?;
                }
                Key::Line(shape, color) => {
                    canvas.line((*x, middle), (x + 7.0 * POINT, middle), color, LINE)?;
                    canvas.mark(shape, (x + 3.5 * POINT, middle), color, false)?;
                }
            }
            canvas.text((x + KEY, middle), text, Words::left())?;
        }
        Ok(())
    }
}
