//! Akoma Ntoso, as Legilux publishes it: the structure is in the elements' names, numbers and headings in `<num>` and
//! `<heading>`. What stands in `<meta>` or in elements of Legilux's own name space describes the act and is not its text.

use html5ever::LocalName;

use super::builder::Builder;
use super::markup::{self, Reader, Tag};
use super::{Kind, Parsed, lines};
use crate::error::{Error, Result};

const DEPTH: usize = 512;

/// Reads an act.
///
/// # Errors
/// When it has no article.
pub(super) fn parse(xml: &str) -> Result<Parsed> {
    let mut act = markup::read(xml, Act::default(), true);
    act.close_down_to(0);
    let (text, parts) = act.builder.finish();
    if !parts.iter().any(|part| part.kind == Kind::Article) {
        return Err(Error::input("found no <article> in the Akoma Ntoso document")
            .help("take the XML of the act itself, not of a collection or of its metadata"));
    }
    Ok(Parsed { text, parts, about: act.about })
}

#[derive(Debug)]
struct Element {
    name: LocalName,
    part: Option<usize>,
    mark: usize,
    is_hidden: bool,
    /// Of a list: how many items began.
    items: usize,
}

#[derive(Debug, Default)]
struct Act {
    builder: Builder,
    stack: Vec<Element>,
    beyond: usize,
    hidden: usize,
    about: Vec<(String, String)>,
    /// The piece of metadata whose text is being read.
    telling: Option<(String, String)>,
}

/// Elements whose text runs on in the line.
const INLINE: [&str; 22] = [
    "b",
    "i",
    "u",
    "sup",
    "sub",
    "span",
    "ref",
    "mref",
    "rref",
    "a",
    "del",
    "ins",
    "def",
    "term",
    "date",
    "noteref",
    "mod",
    "abbr",
    "em",
    "strong",
    "embeddedtext",
    "quotedtext",
];

fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "article" => Kind::Article,
        "book" | "tome" | "part" | "title" | "subtitle" | "chapter" | "subchapter" | "section" | "subsection"
        | "division" | "subdivision" | "hcontainer" => Kind::Division,
        "paragraph" | "subparagraph" => Kind::Paragraph,
        "point" | "li" | "item" => Kind::Point,
        "recital" => Kind::Recital,
        "citation" => Kind::Citation,
        "preface" => Kind::Title,
        "preamble" => Kind::Preamble,
        "conclusions" => Kind::Final,
        "annex" | "attachment" => Kind::Annex,
        "embeddedstructure" | "quotedstructure" => Kind::Quotation,
        "note" | "authorialnote" => Kind::Note,
        _ => return None,
    })
}

impl Reader for Act {
    fn open(&mut self, tag: &Tag, is_empty: bool) {
        let name: &str = &tag.name;
        self.describe(tag, name);
        if is_empty {
            if matches!(name, "br" | "eol") {
                self.builder.space();
            }
            return;
        }
        if self.beyond > 0 || self.stack.len() >= DEPTH {
            self.beyond += 1;
            return;
        }
        let is_hidden = name == "meta" || name.contains(':');
        self.hidden += usize::from(is_hidden);
        if self.hidden == 0 && !INLINE.contains(&name) {
            self.builder.line();
        }
        let in_quotation = self.builder.innermost(|kind| kind == Kind::Quotation).is_some();
        let part = match kind(name) {
            Some(kind) if self.hidden == 0 && !in_quotation => {
                let own = tag.attribute("eid").or_else(|| tag.attribute("id"));
                Some(self.open_part(kind, own, name))
            }
            _ => None,
        };
        self.stack.push(Element { name: tag.name.clone(), part, mark: self.builder.mark(), is_hidden, items: 0 });
    }

    fn close(&mut self, name: &LocalName) {
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        if let Some((key, text)) = self.telling.take() {
            let told = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if !told.is_empty() {
                self.about.push((key, told));
            }
        }
        let Some(depth) = self.stack.iter().rposition(|element| element.name == *name) else { return };
        self.close_down_to(depth);
    }

    fn text(&mut self, text: &str) {
        if self.hidden == 0 {
            self.builder.text(text);
        } else if let Some((_, told)) = &mut self.telling {
            told.push_str(text);
        }
    }
}

impl Act {
    fn close_down_to(&mut self, depth: usize) {
        while self.stack.len() > depth {
            let Some(element) = self.stack.pop() else { return };
            self.leave(&element);
        }
    }

    fn open_part(&mut self, kind: Kind, own: Option<&str>, name: &str) -> usize {
        let above = self.builder.innermost(|kind| kind.is_citable() || matches!(kind, Kind::Paragraph | Kind::Point));
        // Items are numbered by the list, not in their text.
        let list = self.stack.last_mut().filter(|_| name == "li");
        let item = list.map(|list| {
            list.items += 1;
            list.items.to_string()
        });
        if let (Some(item), Some(above)) = (&item, above) {
            let id = format!("{}.{item}", self.builder.id(above));
            let part = self.builder.open(kind, &id);
            self.builder.set_number(part, item);
            return part;
        }
        let id = match (kind, own, above) {
            // Numbers inside an article are unique within it only; they are set when <num> is read.
            (Kind::Paragraph | Kind::Point, _, Some(above)) => format!("{}.{name}", self.builder.id(above)),
            (_, Some(own), _) => own.to_owned(),
            _ => name.to_owned(),
        };
        self.builder.open(kind, &id)
    }

    fn leave(&mut self, element: &Element) {
        self.hidden -= usize::from(element.is_hidden);
        if element.is_hidden || self.hidden > 0 {
            return;
        }
        let name: &str = &element.name;
        if matches!(name, "num" | "heading") {
            let text = self.builder.since(element.mark).to_owned();
            if let Some(part) = self.stack.last().and_then(|around| around.part)
                && !text.is_empty()
            {
                self.name(part, name, &text);
            }
        }
        if let Some(part) = element.part {
            self.builder.close(part);
        }
        let around = self.stack.last().and_then(|around| around.part).and_then(|part| self.builder.kind(part));
        if name == "num" && matches!(around, Some(Kind::Paragraph | Kind::Point)) {
            self.builder.glue();
        } else if !INLINE.contains(&name) {
            self.builder.line();
        }
    }

    fn name(&mut self, part: usize, what: &str, text: &str) {
        if what == "heading" {
            return self.builder.set_heading(part, text);
        }
        self.builder.set_number(part, text);
        let Some(kind) = self.builder.kind(part) else { return };
        let id = match kind {
            Kind::Paragraph | Kind::Point => {
                let bare: String = text.chars().filter(|letter| letter.is_alphanumeric() || *letter == '-').collect();
                let above = self.builder.innermost_above(part).map(|above| self.builder.id(above).to_owned());
                above.map(|above| format!("{above}.{bare}"))
            }
            Kind::Article if self.builder.id(part) == "article" => {
                lines::article_number(text).map(|number| format!("art_{number}"))
            }
            _ => None,
        };
        if let Some(id) = id {
            self.builder.rename(part, kind, id);
        }
    }

    /// What the metadata say: the act's address, date, title, licence.
    fn describe(&mut self, tag: &Tag, name: &str) {
        let wanted = [("frbrthis", "value", "eli"), ("frbrdate", "date", "date")];
        for (element, field, key) in wanted {
            if name == element
                && let Some(value) = tag.attribute(field)
                && !self.about.iter().any(|(known, _)| known == key)
            {
                self.about.push((key.to_owned(), value.to_owned()));
            }
        }
        if name == "scl:jolux"
            && let Some(key @ ("title" | "license" | "publicationDate")) = tag.attribute("scl:name")
            && !self.about.iter().any(|(known, _)| known == key)
        {
            self.telling = Some((key.to_owned(), String::new()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_parts_and_metadata_are_no_text() {
        let parsed = parse(
            r#"<?xml version="1.0"?><akomaNtoso xmlns:scl="x"><act><meta><FRBRWork><FRBRthis value="eli/1"/></FRBRWork>
            <scl:jolux scl:name="title">Loi &lt;1&gt;</scl:jolux></meta><preface><longTitle><p>Loi du 1<sup>er</sup> août</p></longTitle>
            </preface><body><title id="titre_ier"><num><b>Titre I<sup>er</sup></b></num><heading>Dispositions</heading>
            <article id="art_1er"><scl:JOLUXWork><scl:jolux scl:name="x">no text</scl:jolux></scl:JOLUXWork>
            <num>Art. 1<sup>er</sup>.</num><paragraph><num>(1)</num><alinea><content><p>Un &amp; <![CDATA[deux]]>:</p>
            <ol><li>a;</li><li>b.</li></ol></content></alinea></paragraph></article>
            <article id="art_2"><num>Art. 2.</num><alinea><content><p>Modifie :</p><embeddedStructure>
            <article id="art_9"><num>Art. 9.</num><alinea><p>Cité.</p></alinea></article></embeddedStructure></content></alinea>
            </article></title></body></act></akomaNtoso>"#,
        )
        .unwrap();
        assert_eq!(
            parsed.text,
            "Loi du 1er août\nTitre Ier\nDispositions\nArt. 1er.\n(1) Un & deux:\na;\nb.\nArt. 2.\nModifie :\nArt. 9.\nCité."
        );
        let told: Vec<(&str, &str)> = parsed.parts.iter().map(|part| (&*part.id, part.kind.as_str())).collect();
        assert_eq!(
            told,
            [
                ("preface", "title"),
                ("titre_ier", "division"),
                ("art_1er", "article"),
                ("art_1er.1", "paragraph"),
                ("art_1er.1.1", "point"),
                ("art_1er.1.2", "point"),
                ("art_2", "article"),
                ("embeddedstructure", "quotation"),
            ]
        );
        assert_eq!(parsed.parts[3].breadcrumb(), "Titre Ier — Dispositions › Art. 1er. › (1)");
        assert_eq!(parsed.about, [("eli".to_owned(), "eli/1".to_owned()), ("title".to_owned(), "Loi <1>".to_owned())]);
    }

    #[test]
    fn a_document_without_articles_is_an_error() {
        assert!(parse("<akomaNtoso><act><body><p>x</p></body></act></akomaNtoso>").is_err());
    }
}
