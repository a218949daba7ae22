//! Any HTML: paragraphs as lines, headings as divisions.

use html5ever::tokenizer::Tag;
use html5ever::{LocalName, local_name};

use super::builder::Builder;
use super::markup::{self, Reader};
use super::{Kind, Parsed, lines};

/// Reads a page: every block of text is a part `p_1`, `p_2`, …, every heading a division around what follows it.
pub(super) fn parse(html: &str) -> Parsed {
    let mut page = markup::read(html, Page::default(), markup::is_xml(html));
    page.end_block();
    let (text, parts) = page.builder.finish();
    let title = page.title.split_whitespace().collect::<Vec<_>>().join(" ");
    let about = if title.is_empty() { Vec::new() } else { vec![("title".to_owned(), title)] };
    Parsed { text, parts, about }
}

/// A page that is being read. [`super::stream`] takes its lines away as they are finished.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) builder: Builder,
    title: String,
    hidden: Option<LocalName>,
    block: Option<usize>,
    blocks: usize,
    headings: Vec<(u8, usize)>,
    heading: Option<(u8, usize, usize)>,
}

impl Reader for Page {
    fn open(&mut self, tag: &Tag, is_empty: bool) {
        if self.hidden.is_some() {
            return;
        }
        match tag.name {
            local_name!("br") => self.builder.space(),
            local_name!("td") | local_name!("th") => self.builder.space(),
            local_name!("script") | local_name!("style") | local_name!("title") | local_name!("template")
                if !is_empty =>
            {
                self.hidden = Some(tag.name.clone());
            }
            ref name if is_inline(name) => {}
            ref name => {
                self.end_block();
                if let Some(level) = level(name)
                    && !is_empty
                {
                    self.begin_heading(level);
                }
            }
        }
    }

    fn close(&mut self, name: &LocalName) {
        if self.hidden.as_ref() == Some(name) {
            self.hidden = None;
        } else if self.hidden.is_none() && !is_inline(name) && !matches!(*name, local_name!("td") | local_name!("th")) {
            self.end_block();
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(hidden) = &self.hidden {
            if *hidden == local_name!("title") && self.title.len() < 1000 {
                self.title.push_str(text);
            }
            return;
        }
        if self.block.is_none() && self.heading.is_none() && !text.trim().is_empty() {
            self.blocks += 1;
            self.block = Some(self.builder.open(Kind::Paragraph, &format!("p_{}", self.blocks)));
        }
        self.builder.text(text);
    }
}

impl Page {
    /// Takes away the lines that are finished; only for streams, where parts are not kept.
    pub(super) fn take_lines(&mut self) -> Vec<String> {
        self.builder.take_lines(self.block.is_none() && self.heading.is_none())
    }

    /// Takes away all lines at the end of a stream.
    pub(super) fn take_all(&mut self) -> Vec<String> {
        self.end_block();
        self.builder.take_lines(true)
    }

    fn end_block(&mut self) {
        if let Some((_, part, mark)) = self.heading.take() {
            let heading = self.builder.since(mark).to_owned();
            if !heading.is_empty() {
                let number = lines::article_number(&heading);
                let kind = if number.is_some() { Kind::Article } else { Kind::Division };
                let id = number.map_or_else(|| lines::slug(&heading), |number| format!("art_{number}"));
                self.builder.rename(part, kind, id);
                self.builder.set_heading(part, &heading);
            }
        }
        if let Some(block) = self.block.take() {
            self.builder.close(block);
        }
        self.builder.line();
    }

    fn begin_heading(&mut self, level: u8) {
        while let Some((above, part)) = self.headings.last().copied()
            && above >= level
        {
            self.builder.close(part);
            self.headings.pop();
        }
        let part = self.builder.open(Kind::Division, "heading");
        self.headings.push((level, part));
        self.heading = Some((level, part, self.builder.mark()));
    }
}

fn level(name: &LocalName) -> Option<u8> {
    match *name {
        local_name!("h1") => Some(1),
        local_name!("h2") => Some(2),
        local_name!("h3") => Some(3),
        local_name!("h4") => Some(4),
        local_name!("h5") => Some(5),
        local_name!("h6") => Some(6),
        _ => None,
    }
}

fn is_inline(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("a")
            | local_name!("b")
            | local_name!("i")
            | local_name!("u")
            | local_name!("em")
            | local_name!("strong")
            | local_name!("span")
            | local_name!("sup")
            | local_name!("sub")
            | local_name!("small")
            | local_name!("font")
            | local_name!("abbr")
            | local_name!("cite")
            | local_name!("code")
            | local_name!("q")
            | local_name!("mark")
            | local_name!("del")
            | local_name!("ins")
            | local_name!("label")
            | local_name!("time")
            | local_name!("img")
            | local_name!("wbr")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_become_lines_and_headings_divisions() {
        let parsed = parse(
            "<title>Code</title><h1>Livre I</h1>loose<p>One <b>two</b>.<p>Three<h2>Article 4 — Vol</h2><ul><li>a<li>b</ul>\
             <h1>Livre II</h1><table><tr><td>x</td><td>y</td></tr></table>",
        );
        assert_eq!(parsed.text, "Livre I\nloose\nOne two.\nThree\nArticle 4 — Vol\na\nb\nLivre II\nx y");
        let told: Vec<(&str, &str)> = parsed.parts.iter().map(|part| (&*part.id, part.kind.as_str())).collect();
        assert_eq!(told[0], ("livre_i", "division"));
        assert_eq!(told[4], ("art_4", "article"));
        assert_eq!(told[7], ("livre_ii", "division"));
        assert_eq!(parsed.parts[5].path, ["Livre I", "Article 4 — Vol"]);
        assert_eq!(parsed.about, [("title".to_owned(), "Code".to_owned())]);
    }
}
