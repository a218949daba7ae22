//! From a drawing to files.

use usvg::{Group, Indent, Node, Tree, WriteOptions};

use super::{failed, font};
use crate::error::Result;
use crate::table::escape;

/// Units of a drawing in an inch: it counts hundredths of a millimetre.
const INCH: f64 = 2540.0;

fn read(drawn: &str) -> Result<Tree> {
    Tree::from_str(drawn, &font::options()).map_err(failed)
}

/// The drawing with its text as outlines, the words invisible above them, and its size in millimetres.
pub(in crate::figure) fn outlined(drawn: &str, alt: &str) -> Result<String> {
    let tree = read(drawn)?;
    let options = WriteOptions {
        coordinates_precision: 1,
        transforms_precision: 4,
        indent: Indent::None,
        ..WriteOptions::default()
    };
    let svg = tree.to_string(&options);
    let body = svg.find('>').map_or("", |end| &svg[end + 1..]).trim_end().trim_end_matches("</svg>");
    let body = body.replacen("<defs/>", "", 1);
    let (width, height) = (f64::from(tree.size().width()), f64::from(tree.size().height()));
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}mm\" height=\"{}mm\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"{}\">{body}<g fill-opacity=\"0\" aria-hidden=\"true\">{}</g></svg>\n",
        width / 100.0,
        height / 100.0,
        escape(&font::clean(alt)),
        words(drawn, &tree),
    ))
}

/// The drawing's text elements, each stretched to the width of its outlines whatever font a viewer has.
fn words(drawn: &str, tree: &Tree) -> String {
    let mut widths = Vec::new();
    lengths(tree.root(), &mut widths);
    let mut texts = String::new();
    for (element, width) in drawn.split("<text ").skip(1).zip(widths) {
        let Some(end) = element.find("</text>") else { continue };
        let (attributes, text) = element[..end].split_once('>').unwrap_or((&element[..end], ""));
        texts.push_str(&format!(
            "<text textLength=\"{width:.0}\" lengthAdjust=\"spacingAndGlyphs\" {attributes}>{}</text>",
            text.trim()
        ));
    }
    texts
}

fn lengths(group: &Group, found: &mut Vec<f32>) {
    for node in group.children() {
        match node {
            Node::Group(group) => lengths(group, found),
            Node::Text(text) => found.push(text.bounding_box().width()),
            _ => {}
        }
    }
}

/// The drawing as PNG.
pub(in crate::figure) fn png(drawn: &str, dpi: f64) -> Result<Vec<u8>> {
    let tree = read(drawn)?;
    let scale = dpi / INCH;
    let pixels = |units: f32| (f64::from(units) * scale).ceil().max(1.0) as u32;
    let (width, height) = (pixels(tree.size().width()), pixels(tree.size().height()));
    let mut image = resvg::tiny_skia::Pixmap::new(width, height)
        .ok_or_else(|| failed(format!("a picture of {width} × {height} pixels is too large")))?;
    let scale = resvg::tiny_skia::Transform::from_scale(scale as f32, scale as f32);
    resvg::render(&tree, scale, &mut image.as_mut());
    image.encode_png().map_err(failed)
}

/// The drawing as PDF.
pub(in crate::figure) fn pdf(drawn: &str) -> Result<Vec<u8>> {
    let page = svg2pdf::PageOptions { dpi: INCH as f32 };
    // As outlines: svg2pdf names and orders embedded fonts by a hash that is another one in every run.
    let outlined = svg2pdf::ConversionOptions { embed_text: false, ..Default::default() };
    svg2pdf::to_pdf(&read(drawn)?, outlined, page).map_err(failed)
}
