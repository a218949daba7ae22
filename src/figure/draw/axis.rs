//! Scales from values to places, with their ticks.

use plotters::coord::ranged1d::{BoldPoints, Ranged};
use plotters::coord::types::RangedCoordf64;

use super::canvas::{Canvas, FAINT, HAIR, INK, POINT, SOFT, Words};
use crate::error::Result;

/// A linear scale.
pub(super) struct Scale {
    values: RangedCoordf64,
    places: (i32, i32),
}

impl Scale {
    /// From a range of finite values to a range of places.
    pub(super) fn new(values: (f64, f64), places: (f64, f64)) -> Self {
        // A single value would have no extent.
        let (low, high) = if values.0 < values.1 { values } else { (values.0 - 0.5, values.0 + 0.5) };
        Self { values: (low..high).into(), places: (places.0.round() as i32, places.1.round() as i32) }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        f64::from(self.values.map(&value, self.places))
    }

    /// At most this many round values.
    pub(super) fn ticks(&self, most: usize) -> Vec<f64> {
        self.values.key_points(BoldPoints(most))
    }
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    plain((share * 1000.0).round() / 10.0)
}

/// A number without a tail of zeros.
pub(super) fn plain(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    (if text == "-0" { "0" } else { text }).to_owned()
}

/// Vertical grid lines with numbers below and a title under them; takes [`BELOW`] of room.
pub(super) fn below(
    canvas: &Canvas<'_>,
    scale: &Scale,
    (top, bottom): (f64, f64),
    ticks: &[f64],
    label: fn(f64) -> String,
    title: &str,
) -> Result<()> {
    for tick in ticks {
        let x = scale.at(*tick);
        canvas.line((x, top), (x, bottom), FAINT, HAIR)?;
        canvas.line((x, bottom), (x, bottom + 1.5 * POINT), INK, HAIR)?;
        canvas.text((x, bottom + 5.5 * POINT), &label(*tick), Words::center().small())?;
    }
    let (from, to) = (f64::from(scale.places.0), f64::from(scale.places.1));
    canvas.line((from, bottom), (to, bottom), INK, HAIR)?;
    let words = Words::center().color(SOFT);
    canvas.text(((from + to) / 2.0, bottom + 13.0 * POINT), &words.fit(title, (to - from).abs()), words)
}

/// Horizontal grid lines with numbers to the left.
pub(super) fn beside(
    canvas: &Canvas<'_>,
    scale: &Scale,
    (left, right): (f64, f64),
    ticks: &[f64],
    label: fn(f64) -> String,
    title: &str,
) -> Result<()> {
    for tick in ticks {
        let y = scale.at(*tick);
        canvas.line((left, y), (right, y), FAINT, HAIR)?;
        canvas.line((left - 1.5 * POINT, y), (left, y), INK, HAIR)?;
        canvas.text((left - 3.0 * POINT, y), &label(*tick), Words::right().small())?;
    }
    let (from, to) = (f64::from(scale.places.0), f64::from(scale.places.1));
    canvas.line((left, from), (left, to), INK, HAIR)?;
    let words = Words::center().color(SOFT);
    canvas.upwards((left - 17.0 * POINT, (from + to) / 2.0), &words.fit(title, (to - from).abs()), words)
}

/// The room under a chart that numbers and title take.
pub(super) const BELOW: f64 = 18.0 * POINT;
/// The room left of a chart that numbers and title take.
pub(super) const BESIDE: f64 = 22.0 * POINT;

/// Ticks of shares.
pub(super) const SHARES: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_maps_its_ends_and_a_single_value() {
        let scale = Scale::new((0.0, 1.0), (100.0, 300.0));
        assert_eq!((scale.at(0.0), scale.at(0.5), scale.at(1.0)), (100.0, 200.0, 300.0));
        let one = Scale::new((3.0, 3.0), (0.0, 100.0));
        assert_eq!(one.at(3.0), 50.0);
        assert_eq!(percent(0.125), "12.5");
        assert_eq!(plain(-0.00001), "0");
    }
}
