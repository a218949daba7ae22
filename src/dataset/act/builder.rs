//! Text with its parts, as it grows while a publication is read.
#![cfg_attr(not(feature = "html"), allow(dead_code))]

use super::spacing::{Gap, Run, runs};
use super::{Kind, Provision};
use crate::dataset::unique::UniqueIds;

/// Parts within parts beyond this are no parts of their own, and their text is the outer one's. No act goes half as deep; a
/// page that does would fill the memory with the paths of its parts.
const NESTED: usize = 24;

/// Collects text, one line a paragraph and single spaces, and the parts that are open meanwhile.
#[derive(Debug, Default)]
pub(super) struct Builder {
    text: String,
    chars: usize,
    parts: Vec<Part>,
    open: Vec<usize>,
    /// How many of the innermost open parts have no text yet.
    fresh: usize,
    gap: Gap,
    glued: bool,
}

#[derive(Debug)]
struct Part {
    kind: Kind,
    id: String,
    number: Option<String>,
    heading: Option<String>,
    parent: Option<usize>,
    start: Option<(usize, usize)>,
    end: (usize, usize),
    is_dropped: bool,
}

impl Builder {
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes so far; what is added later is found with [`Builder::since`].
    pub fn mark(&self) -> usize {
        self.text.len()
    }

    /// The text added since a mark.
    pub fn since(&self, mark: usize) -> &str {
        self.text.get(mark..).unwrap_or_default().trim()
    }

    /// Opens a part inside those that are open. Its text begins with the next text.
    pub fn open(&mut self, kind: Kind, id: &str) -> usize {
        let place = self.parts.len();
        self.parts.push(Part {
            kind,
            id: id.to_owned(),
            number: None,
            heading: None,
            parent: self.open.last().copied(),
            start: None,
            end: (0, 0),
            is_dropped: self.open.len() >= NESTED,
        });
        self.open.push(place);
        self.fresh += 1;
        place
    }

    /// Where the text ends now, in characters and bytes.
    pub fn place(&self) -> (usize, usize) {
        (self.chars, self.text.len())
    }

    /// How many parts were opened so far.
    pub fn opened(&self) -> usize {
        self.parts.len()
    }

    /// Opens a part whose text began at a place, with what was added since.
    pub fn open_from(&mut self, kind: Kind, id: &str, place: (usize, usize)) -> usize {
        let part = self.open(kind, id);
        self.fresh = 0;
        let gap = usize::from(self.text.get(place.1..).is_some_and(|text| text.starts_with(['\n', ' '])));
        if let Some(opened) = self.parts.get_mut(part) {
            opened.start = Some((place.0 + gap, place.1 + gap));
        }
        part
    }

    /// Closes a part and all that were opened inside it.
    pub fn close(&mut self, part: usize) {
        self.close_at(part, self.place());
    }

    /// The same, where the part ended before the text's end.
    pub fn close_at(&mut self, part: usize, end: (usize, usize)) {
        let Some(depth) = self.open.iter().rposition(|open| *open == part) else { return };
        for closed in self.open.drain(depth..).rev() {
            self.fresh = self.fresh.saturating_sub(1);
            let Some(part) = self.parts.get_mut(closed) else { continue };
            part.end = end;
            // A part opened after the place where it is to end has no text.
            let start = part.start.get_or_insert(end);
            *start = (*start).min(end);
        }
        self.fresh = self.fresh.min(self.open.len());
    }

    /// Takes a part back; what was opened inside it stays.
    pub fn discard(&mut self, part: usize) {
        if let Some(found) = self.parts.get_mut(part) {
            found.is_dropped = true;
        }
    }

    /// The innermost open part that satisfies a condition.
    pub fn innermost(&self, is_wanted: impl Fn(Kind) -> bool) -> Option<usize> {
        let open = self.open.iter().rev().copied();
        open.into_iter()
            .find(|place| self.parts.get(*place).is_some_and(|part| !part.is_dropped && is_wanted(part.kind)))
    }

    /// The nearest citable part or sub-part around an open part.
    pub fn innermost_above(&self, part: usize) -> Option<usize> {
        let depth = self.open.iter().rposition(|open| *open == part)?;
        let above = self.open.get(..depth)?.iter().rev().copied();
        above.into_iter().find(|place| {
            self.parts.get(*place).is_some_and(|part| {
                let holds_points = part.kind.is_citable() || matches!(part.kind, Kind::Paragraph | Kind::Point);
                !part.is_dropped && holds_points && !part.id.is_empty()
            })
        })
    }

    pub fn kind(&self, part: usize) -> Option<Kind> {
        self.parts.get(part).map(|part| part.kind)
    }

    pub fn id(&self, part: usize) -> &str {
        self.parts.get(part).map_or("", |part| &part.id)
    }

    pub fn number(&self, part: usize) -> Option<&str> {
        self.parts.get(part).and_then(|part| part.number.as_deref())
    }

    pub fn rename(&mut self, part: usize, kind: Kind, id: String) {
        if let Some(found) = self.parts.get_mut(part) {
            (found.kind, found.id) = (kind, id);
        }
    }

    pub fn set_number(&mut self, part: usize, number: &str) {
        if let Some(found) = self.parts.get_mut(part) {
            found.number = Some(number.to_owned());
        }
    }

    pub fn set_heading(&mut self, part: usize, heading: &str) {
        if let Some(found) = self.parts.get_mut(part) {
            found.heading = Some(heading.to_owned());
        }
    }

    /// The next text begins a line.
    pub fn line(&mut self) {
        if !self.glued {
            self.gap = Gap::Line;
        }
    }

    /// The next text continues the line after a space, whatever blocks begin before it.
    pub fn glue(&mut self) {
        self.gap = Gap::Space;
        self.glued = true;
    }

    /// The next text stands apart from what is there.
    pub fn space(&mut self) {
        self.gap = self.gap.max(Gap::Space);
    }

    /// Adds text; runs of white space become one space.
    pub fn text(&mut self, text: &str) {
        for run in runs(text) {
            match run {
                Run::Space => self.space(),
                Run::Words(words) => self.push(words),
            }
        }
    }

    fn push(&mut self, piece: &str) {
        if !self.text.is_empty() && self.gap != Gap::None {
            self.text.push(if self.gap == Gap::Line { '\n' } else { ' ' });
            self.chars += 1;
        }
        (self.gap, self.glued) = (Gap::None, false);
        if self.fresh > 0 {
            let from = self.open.len() - self.fresh;
            for place in self.open.get(from..).unwrap_or_default() {
                if let Some(part) = self.parts.get_mut(*place) {
                    part.start = Some((self.chars, self.text.len()));
                }
            }
            self.fresh = 0;
        }
        self.text.push_str(piece);
        self.chars += if piece.is_ascii() { piece.len() } else { piece.chars().count() };
    }

    /// The text and its parts in order. Identifiers that occur twice get `~2`, `~3`, ….
    pub fn finish(mut self) -> (String, Vec<Provision>) {
        if let Some(outermost) = self.open.first().copied() {
            self.close(outermost);
        }
        let mut places: Vec<Option<usize>> = Vec::with_capacity(self.parts.len());
        let mut found: Vec<Provision> = Vec::with_capacity(self.parts.len());
        let mut ids = UniqueIds::default();
        for part in self.parts {
            // A dropped part stands for its parent, so that what it holds finds its way up.
            let parent = part.parent.and_then(|parent| places.get(parent).copied().flatten());
            if part.is_dropped {
                places.push(parent);
                continue;
            }
            let id = ids.give(if part.id.is_empty() { part.kind.as_str() } else { &part.id });
            let path = match parent.and_then(|parent| found.get(parent)) {
                Some(above) => {
                    let mut path = above.path.clone();
                    path.push(above.label());
                    path
                }
                None => Vec::new(),
            };
            let (mut start, mut end) = (part.start.unwrap_or(part.end), part.end);
            // A part without text lies where the text of the part around it is.
            if let Some(around) = parent.and_then(|parent| found.get(parent))
                && start == end
                && start.0 < around.start
            {
                start = (around.start, around.bytes.0);
                end = start;
            }
            places.push(Some(found.len()));
            found.push(Provision {
                id,
                kind: part.kind,
                number: part.number,
                heading: part.heading,
                path,
                parent,
                start: start.0,
                end: end.0,
                bytes: (start.1, end.1),
            });
        }
        (self.text, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_begin_with_their_first_text_and_offsets_count_characters() {
        let mut builder = Builder::new();
        builder.text("  Préambule ");
        builder.line();
        let article = builder.open(Kind::Article, "art_1");
        builder.line();
        builder.text("Article\n1");
        builder.line();
        let point = builder.open(Kind::Point, "art_1.a");
        builder.text("(a)");
        builder.line();
        builder.glue();
        builder.line();
        builder.text("l’été");
        builder.close(point);
        builder.close(article);
        builder.line();
        builder.text("fin");
        let (text, parts) = builder.finish();
        assert_eq!(text, "Préambule\nArticle 1\n(a) l’été\nfin");
        let at = |part: &Provision| text.get(part.bytes.0..part.bytes.1).unwrap().to_owned();
        assert_eq!(at(&parts[0]), "Article 1\n(a) l’été");
        assert_eq!(at(&parts[1]), "(a) l’été");
        assert_eq!((parts[0].start, parts[0].end, parts[1].parent), (10, 29, Some(0)));
    }

    #[test]
    fn a_part_that_ends_before_its_text_begins_is_empty() {
        let mut builder = Builder::new();
        let article = builder.open(Kind::Article, "art_1");
        builder.text("a");
        let place = builder.place();
        builder.line();
        builder.text("b");
        let late = builder.open_from(Kind::Paragraph, "art_1.1", place);
        builder.close_at(late, place);
        builder.close(article);
        let (_, parts) = builder.finish();
        assert_eq!((parts[1].start, parts[1].end, parts[1].bytes), (1, 1, (1, 1)));
    }

    #[test]
    fn a_discarded_part_hands_its_children_up_and_twins_are_told_apart() {
        let mut builder = Builder::new();
        let outer = builder.open(Kind::Article, "art_1");
        let row = builder.open(Kind::Point, "");
        builder.text("x");
        let inner = builder.open(Kind::Point, "art_1.a");
        builder.text("y");
        builder.close(inner);
        builder.discard(row);
        builder.close(row);
        builder.close(outer);
        let twin = builder.open(Kind::Article, "art_1");
        builder.close(twin);
        let (_, parts) = builder.finish();
        let told: Vec<(&str, Option<usize>)> = parts.iter().map(|part| (&*part.id, part.parent)).collect();
        assert_eq!(told, [("art_1", None), ("art_1.a", Some(0)), ("art_1~2", None)]);
    }
}
