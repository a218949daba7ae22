//! The font that the library carries, and how wide its words are.

use std::sync::{Arc, OnceLock};

use usvg::fontdb::{Database, Source};
use usvg::{Node, Options, Tree};

/// As the files name it, with what a viewer without it may take for the invisible words.
pub(super) const FAMILY: &str = "'Source Sans 3', sans-serif";

/// Source Sans 3 (Adobe, SIL Open Font License 1.1): Latin with all of French, Greek, Cyrillic.
const FILES: [&[u8]; 2] = [
    include_bytes!("../../../data/fonts/SourceSans3-Regular.ttf"),
    include_bytes!("../../../data/fonts/SourceSans3-Semibold.ttf"),
];

/// How SVG is read here: with the embedded font and no other, so that no machine draws differently.
pub(super) fn options() -> Options<'static> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = Database::new();
        for file in FILES {
            fonts.load_font_source(Source::Binary(Arc::new(file)));
        }
        fonts.set_sans_serif_family("Source Sans 3");
        Arc::new(fonts)
    });
    Options { fontdb: fonts.clone(), font_family: "Source Sans 3".to_owned(), ..Options::default() }
}

/// Text without what XML forbids, on one line.
pub(super) fn clean(text: &str) -> String {
    let spaced: String = text
        .chars()
        .map(|letter| match letter {
            space if space.is_whitespace() => ' ',
            '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
            control if control.is_control() => '\u{fffd}',
            other => other,
        })
        .collect();
    spaced.trim().to_owned()
}

/// How wide a text is at this size, as it is laid out with kerning.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    const UNIT: f64 = 1000.0;
    let weight = if bold { "bold" } else { "normal" };
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"><text font-size=\"{UNIT}\" \
         font-weight=\"{weight}\">{}</text></svg>",
        crate::table::escape(&clean(text))
    );
    let found = Tree::from_str(&svg, &options()).ok().and_then(|tree| match tree.root().children().first() {
        Some(Node::Text(text)) => Some(f64::from(text.bounding_box().width())),
        _ => None,
    });
    found.unwrap_or(0.0) * size / UNIT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_grow_with_text_size_and_weight() {
        let one = width("précision", 100.0, false);
        assert!(one > 300.0 && one < 500.0, "{one}");
        assert!((width("précision", 200.0, false) - 2.0 * one).abs() < 1.0);
        assert!(width("précision", 100.0, true) > one);
        assert!(width("précision et rappel", 100.0, false) > 1.8 * one);
        assert_eq!(width("", 100.0, false), 0.0);
    }

    #[test]
    fn french_needs_no_other_font() {
        // A missing glyph would have the width of the box that stands for it.
        let missing = width("\u{4e2d}", 100.0, false);
        for letter in "àâæçéèêëîïôœùûüÿÀÂÆÇÉÈÊËÎÏÔŒÙÛÜŸ«»’–—…€§°ªº²³→↑↓±×≥≤Δκ".chars()
        {
            assert_ne!(width(&letter.to_string(), 100.0, false), missing, "{letter}");
        }
    }

    #[test]
    fn what_xml_forbids_is_replaced() {
        assert_eq!(clean(" a\u{0}b\n\u{1b}c\u{ffff} "), "a\u{fffd}b \u{fffd}c\u{fffd}");
    }
}
