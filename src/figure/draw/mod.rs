//! How the figures are drawn: plotters puts shapes and words on a canvas of hundredths of a millimetre; usvg lays out
//! the text; resvg and svg2pdf write the files.

mod axis;
mod bars;
mod calibration;
mod canvas;
mod confusion;
mod curves;
mod distributions;
mod export;
#[cfg(test)]
mod fits_tests;
mod font;
mod forest;
mod heat_map;
mod intervals;
mod legend;
mod means;
mod noise;
mod palette;
mod pareto;
mod precision_recall;

pub(super) use bars::draw as bars;
pub(super) use calibration::draw as calibration;
pub(super) use confusion::draw as confusion;
pub(super) use curves::draw as curves;
pub(super) use distributions::draw as distributions;
pub(super) use export::{outlined, pdf, png};
pub(super) use forest::draw as forest;
pub(super) use heat_map::draw as heat_map;
pub(super) use intervals::draw as intervals;
pub(super) use noise::draw as noise;
pub(super) use pareto::draw as pareto;
pub(super) use precision_recall::draw as precision_recall;

/// A picture with text as text, and what it shows in words.
type Drawn = crate::error::Result<(String, String)>;

fn failed(error: impl std::fmt::Display) -> crate::error::Error {
    crate::error::Error::new(crate::error::ErrorKind::Internal, format!("the figure could not be drawn: {error}"))
}
