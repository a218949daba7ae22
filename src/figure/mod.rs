//! Figures for papers, and pages for looking into questions.
//!
//! Every figure is drawn for one column of a paper (85 mm), with type of 6 to 7 points from the font that the library
//! carries, in colours that stay apart for colour-blind readers (Okabe & Ito 2008; shades: ColorBrewer's Blues,
//! Harrower & Brewer 2003) and with marks whose shapes differ as well. The same tables give the same bytes.
//!
//! Text in the SVG is drawn as outlines, with the words themselves lying invisible above it. Notebooks show an SVG as an
//! image, where no font from outside can be had, and word processors ignore fonts inside an SVG: only outlines look the
//! same everywhere. The invisible words keep it searchable and selectable where a viewer allows that. In a PDF the text
//! is outlines too, since svg2pdf would embed the font under another name in every run.

#[cfg(feature = "figures")]
mod draw;
mod figures;
mod page;

pub use page::Page;

use std::path::Path;

use crate::error::{Error, Result};
use crate::signal;

/// Below this many values a slice is greyed, and never ranked: with fewer than about twenty questions a bootstrap
/// interval is too narrow to be trusted (see [`cluster_bootstrap`](crate::analysis::cluster_bootstrap)).
pub const FEW: i64 = crate::analysis::FEW as i64;

/// Dots an inch in PNG files: what journals ask for line art.
#[cfg(feature = "figures")]
const DPI: f64 = 600.0;

/// How much larger than on paper a notebook shows a figure, and how wide at most in millimetres, so that a figure over two
/// columns fits beside a notebook's prompts.
const ON_SCREEN: f64 = 1.8;
const SCREEN: f64 = 235.0;

/// A figure, drawn for one column of a paper.
///
/// ```
/// # fn main() -> Result<(), claimlab::Error> {
/// use claimlab::figure::Figure;
/// use claimlab::polars::prelude::*;
/// use claimlab::table::Summary;
///
/// let summary = Summary::new(df!(
///     "system" => ["BM25", "dense"], "metric" => ["f1", "f1"], "mean" => [0.61, 0.55],
///     "ci_low" => [0.52, 0.47], "ci_high" => [0.70, 0.64],
///     "n" => [78_i64, 78], "n_undefined" => [0_i64, 0], "n_failed" => [0_i64, 0],
/// )?)?;
/// let figure = Figure::bars(&summary, "metric", "system")?;
/// assert!(figure.svg().contains("BM25"));
/// # let folder = tempfile::tempdir().map_err(|e| claimlab::Error::io("temporary folder", &e))?;
/// # let folder = folder.path();
/// figure.save(folder.join("f1.pdf"))?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Figure {
    /// As drawn, with text as text.
    #[cfg(feature = "figures")]
    drawn: String,
    /// With text as outlines.
    svg: String,
    alt: String,
}

impl Figure {
    /// The SVG source, as wide as a column (85 mm; 175 mm where a figure says so), with text as outlines.
    #[must_use]
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// What the figure shows, in words.
    #[must_use]
    pub fn alt(&self) -> &str {
        &self.alt
    }

    /// The figure as PNG, at 600 dots an inch.
    ///
    /// # Errors
    /// When this build draws nothing.
    pub fn png(&self) -> Result<Vec<u8>> {
        #[cfg(feature = "figures")]
        {
            draw::png(&self.drawn, DPI)
        }
        #[cfg(not(feature = "figures"))]
        {
            Err(Error::feature_disabled("figures", "figures"))
        }
    }

    /// The figure as PDF, one page of its own size, its text as outlines.
    ///
    /// # Errors
    /// When this build draws nothing.
    pub fn pdf(&self) -> Result<Vec<u8>> {
        #[cfg(feature = "figures")]
        {
            draw::pdf(&self.drawn)
        }
        #[cfg(not(feature = "figures"))]
        {
            Err(Error::feature_disabled("figures", "figures"))
        }
    }

    /// Writes the figure as what the name ends in: `.svg`, `.png` or `.pdf`.
    ///
    /// # Errors
    /// When the name ends in something else, or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let kind = path.extension().map(|kind| kind.to_string_lossy().to_lowercase()).unwrap_or_default();
        let bytes = match kind.as_str() {
            "svg" => self.svg.clone().into_bytes(),
            "png" => self.png()?,
            "pdf" => self.pdf()?,
            _ => {
                return Err(Error::input(format!("a figure cannot be saved as {}", path.display()))
                    .help("end the name with .svg, .png or .pdf"));
            }
        };
        std::fs::write(path, bytes).map_err(|error| Error::file(path, &error))
    }

    /// Shows the figure.
    pub fn evcxr_display(&self) {
        signal::display(None, Some(&larger(&self.svg)), &self.alt);
    }
}

/// The same SVG in the size for a screen.
fn larger(svg: &str) -> String {
    let place = |name: &str| {
        let start = format!(" {name}=\"");
        let from = svg.find(&start)? + start.len();
        let to = from + svg[from..].find("mm\"")?;
        Some((from..to, svg[from..to].parse::<f64>().ok()?))
    };
    let (Some((width_at, width)), Some((height_at, height))) = (place("width"), place("height")) else {
        return svg.to_owned();
    };
    let factor = ON_SCREEN.min(SCREEN / width);
    let mut sizes = [(width_at, width), (height_at, height)];
    // From the back, so that the first place stays where it is.
    sizes.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
    let mut text = svg.to_owned();
    for (at, size) in sizes {
        text.replace_range(at, &format!("{:.1}", size * factor));
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_screen_shows_the_same_picture_larger() {
        let svg = "<svg width=\"85mm\" height=\"40.5mm\" viewBox=\"0 0 8500 4050\"><g stroke-width=\"3\"/></svg>";
        let shown = super::larger(svg);
        assert_eq!(shown, svg.replace("85mm", "153.0mm").replace("40.5mm", "72.9mm"));
        // Over two columns it would not fit.
        let wide = super::larger(&svg.replace("85mm", "175mm"));
        assert!(wide.contains("width=\"235.0mm\" height=\"54.4mm\""), "{wide}");
    }
}
