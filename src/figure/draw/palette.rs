//! Colours.

use plotters::style::RGBColor;

use crate::error::{Error, Result};

/// Okabe and Ito's colours (2008, "Color universal design"), which stay apart in the common kinds of colour
/// blindness; their yellow comes last, being too light for thin lines.
pub(super) const COLORS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
    RGBColor(240, 228, 66),
];

/// ColorBrewer's Blues in nine steps (Harrower & Brewer 2003): one hue from light to dark, safe for colour-blind
/// readers and in grey print.
const SHADES: [(f64, f64, f64); 9] = [
    (247.0, 251.0, 255.0),
    (222.0, 235.0, 247.0),
    (198.0, 219.0, 239.0),
    (158.0, 202.0, 225.0),
    (107.0, 174.0, 214.0),
    (66.0, 146.0, 198.0),
    (33.0, 113.0, 181.0),
    (8.0, 81.0, 156.0),
    (8.0, 48.0, 107.0),
];

/// Says so when there are more colours than can be told apart.
pub(super) fn enough(count: usize, column: &str) -> Result<()> {
    if count > COLORS.len() {
        return Err(Error::input(format!("{count} values of {column:?} cannot be told apart by colour"))
            .help(format!("keep at most {} of them", COLORS.len())));
    }
    Ok(())
}

pub(super) fn color(place: usize) -> RGBColor {
    COLORS[place % COLORS.len()]
}

/// The shade of a share.
pub(super) fn shade(share: f64) -> RGBColor {
    let place = share.clamp(0.0, 1.0) * (SHADES.len() - 1) as f64;
    let (below, above) = (SHADES[place.floor() as usize], SHADES[place.ceil() as usize]);
    let between = |a: f64, b: f64| (a + (b - a) * place.fract()).round() as u8;
    RGBColor(between(below.0, above.0), between(below.1, above.1), between(below.2, above.2))
}

/// The colour mixed with white: `share` of it.
pub(super) fn tint(color: RGBColor, share: f64) -> RGBColor {
    let mixed = |part: u8| (255.0 - (255.0 - f64::from(part)) * share).round() as u8;
    RGBColor(mixed(color.0), mixed(color.1), mixed(color.2))
}

/// Black or white, whichever reads better on a colour (contrast of WCAG 2's relative luminance).
pub(super) fn ink_on(background: RGBColor) -> RGBColor {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.03928 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    let light = 0.2126 * linear(background.0) + 0.7152 * linear(background.1) + 0.0722 * linear(background.2);
    if light > 0.179 { RGBColor(20, 20, 20) } else { RGBColor(255, 255, 255) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_darken_and_words_on_them_stay_readable() {
        assert_eq!(shade(0.0), RGBColor(247, 251, 255));
        assert_eq!(shade(1.0), RGBColor(8, 48, 107));
        let light = |color: RGBColor| u32::from(color.0) + u32::from(color.1) + u32::from(color.2);
        let steps: Vec<u32> = (0..=100).map(|percent| light(shade(f64::from(percent) / 100.0))).collect();
        assert!(steps.is_sorted_by(|a, b| a >= b));
        assert_eq!(ink_on(shade(0.1)), RGBColor(20, 20, 20));
        assert_eq!(ink_on(shade(1.0)), RGBColor(255, 255, 255));
        assert_eq!(tint(RGBColor(0, 100, 200), 0.0), RGBColor(255, 255, 255));
    }
}
