//! Markdown by its headings, and the text of a piece of Markdown.

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

use super::builder::Builder;
use super::markup::{self, Reader};
use super::{Kind, Parsed, lines};

/// Reads a document: headings are divisions, or articles where they or an anchor before them (`<a id="art_5">`) say so;
/// a head of `key: value` lines between `---` describes the document.
pub(super) fn parse(text: &str) -> Parsed {
    let (about, body) = front_matter(text);
    let mut document = Document::default();
    read(body, &mut document);
    document.end_article();
    let (text, parts) = document.builder.finish();
    Parsed { text, parts, about }
}

/// Adds the text of a piece of Markdown to a builder, markup left out.
pub(super) fn add(builder: &mut Builder, text: &str) {
    let mut document = Document { builder: std::mem::take(builder), is_fragment: true, ..Document::default() };
    read(text, &mut document);
    *builder = document.builder;
    builder.line();
}

fn front_matter(text: &str) -> (Vec<(String, String)>, &str) {
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"));
    let Some((head, body)) = rest.and_then(|rest| rest.split_once("\n---")) else { return (Vec::new(), text) };
    let about = head.lines().filter_map(|line| {
        let (key, value) = line.split_once(':')?;
        let value = value.trim();
        let bare = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')).unwrap_or(value);
        Some((key.trim().to_owned(), bare.replace("''", "'")))
    });
    (about.collect(), body)
}

#[derive(Debug, Default)]
struct Document {
    builder: Builder,
    is_fragment: bool,
    headings: Vec<(u8, usize)>,
    article: Option<usize>,
    anchor: Option<String>,
    /// The heading that is being read, and where its text begins.
    heading: Option<(usize, usize)>,
}

fn read(text: &str, document: &mut Document) {
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                document.builder.line();
                if !document.is_fragment {
                    document.begin_heading(rank(level), text.get(range).unwrap_or_default());
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                document.end_heading();
                document.builder.line();
            }
            Event::Start(Tag::Item) => {
                document.builder.line();
                // The marker as written: Markdown would number the items anew.
                let marker = text.get(range).unwrap_or_default().split_whitespace().next().unwrap_or_default();
                document.builder.text(marker);
                document.builder.glue();
            }
            Event::Start(Tag::Paragraph | Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::List(_)) | Event::Rule => {
                document.builder.line();
            }
            Event::End(
                TagEnd::Paragraph | TagEnd::BlockQuote(_) | TagEnd::CodeBlock | TagEnd::List(_) | TagEnd::Item,
            ) => {
                document.builder.line();
            }
            Event::Text(text) | Event::Code(text) => document.builder.text(&text),
            Event::SoftBreak | Event::HardBreak => document.builder.space(),
            Event::Html(html) | Event::InlineHtml(html) => markup::read(&html, Inline(document), false).end(),
            _ => {}
        }
    }
}

fn rank(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

impl Document {
    fn end_article(&mut self) {
        if let Some(article) = self.article.take() {
            self.builder.close(article);
        }
    }

    /// Whether a heading is an article's is told by its source, since only divisions end by the rank of headings.
    fn begin_heading(&mut self, level: u8, source: &str) {
        self.end_article();
        let bare = source.trim_start_matches(['#', ' ', '*', '_']);
        let number = lines::article_number(bare.lines().next().unwrap_or_default());
        let anchor = self.anchor.take().filter(|anchor| anchor.starts_with("art"));
        let part = if anchor.is_some() || number.is_some() {
            let id = anchor.unwrap_or_else(|| format!("art_{}", number.unwrap_or_default()));
            let part = self.builder.open(Kind::Article, &id);
            self.article = Some(part);
            part
        } else {
            while let Some((above, part)) = self.headings.last().copied()
                && above >= level
            {
                self.builder.close(part);
                self.headings.pop();
            }
            let part = self.builder.open(Kind::Division, "");
            self.headings.push((level, part));
            part
        };
        self.heading = Some((part, self.builder.mark()));
    }

    fn end_heading(&mut self) {
        let Some((part, mark)) = self.heading.take() else { return };
        let heading = self.builder.since(mark).to_owned();
        match (self.builder.kind(part), heading.split_once(" — ")) {
            (Some(Kind::Article), None) => self.builder.set_number(part, &heading),
            (_, Some((number, rest))) => {
                self.builder.set_number(part, number.trim());
                self.builder.set_heading(part, rest.trim());
            }
            _ => self.builder.set_heading(part, &heading),
        }
        if self.builder.kind(part) == Some(Kind::Division) {
            self.builder.rename(part, Kind::Division, lines::slug(&heading));
        }
    }
}

/// HTML within Markdown: anchors are noted, text is text.
struct Inline<'a>(&'a mut Document);

impl Inline<'_> {
    fn end(self) {}
}

impl Reader for Inline<'_> {
    fn open(&mut self, tag: &markup::Tag, _is_empty: bool) {
        if let Some(id) = tag.attribute("id").or_else(|| tag.attribute("name")) {
            self.0.anchor = Some(id.to_owned());
        }
    }

    fn close(&mut self, _name: &html5ever::LocalName) {}

    fn text(&mut self, text: &str) {
        self.0.builder.text(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_nest_anchors_name_articles_and_markers_stay() {
        let parsed = parse(
            "---\ntitle: 'L''acte'\nlicense: CC\n---\n\n## Livre I\n\n### Titre I\n\n<a id=\"art_1er\"></a>\n\n### Art. 1er.\n\n\
             Les **lois** sont\nexécutoires:\n\n3. trois;\n7. sept.\n\n<a id=\"art_2\"></a>\n\n### Art. 2. — ( L. 1987 )\n\nFin \\* ici.\n\n\
             ## Livre II\n\ntexte\n",
        );
        assert_eq!(
            parsed.text,
            "Livre I\nTitre I\nArt. 1er.\nLes lois sont exécutoires:\n3. trois;\n7. sept.\nArt. 2. — ( L. 1987 )\nFin * ici.\nLivre II\ntexte"
        );
        let told: Vec<(&str, &str, usize)> =
            parsed.parts.iter().map(|part| (&*part.id, part.kind.as_str(), part.path.len())).collect();
        assert_eq!(
            told,
            [
                ("livre_i", "division", 0),
                ("titre_i", "division", 1),
                ("art_1er", "article", 2),
                ("art_2", "article", 2),
                ("livre_ii", "division", 0)
            ]
        );
        let last = &parsed.parts[0];
        assert!(parsed.text[last.bytes.0..last.bytes.1].ends_with("Fin * ici."));
        assert_eq!(parsed.about[0], ("title".to_owned(), "L'acte".to_owned()));
    }
}
