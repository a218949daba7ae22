//! Acts of the European Union: the Official Journal's XHTML, EUR-Lex's consolidated HTML, and older pages without
//! identifiers.
//!
//! Paragraphs are `<p>`; an enumerator and its text are two cells of a table row (or of a grid), and become one line.
//! Parts come from `id` (`art_5`, `rct_12`, `cpt_III.sct_1`, `005.001`) or, where a page has none, from the classes of
//! headings.

use html5ever::{LocalName, local_name};

use super::builder::Builder;
use super::markup::{self, Reader, Tag};
use super::roles::{Role, role};
use super::{Kind, Parsed};
use crate::error::{Error, Result};

/// Elements deeper than this are read as if their tags were not there.
const DEPTH: usize = 512;

/// Reads an act.
///
/// # Errors
/// When no article or recital is found; says if the page looks like an error message.
pub(super) fn parse(html: &str) -> Result<Parsed> {
    let mut reader = markup::read(html, Act::default(), markup::is_xml(html));
    reader.close_down_to(0);
    let page_title = reader.page_title.trim().to_owned();
    let (text, parts) = reader.builder.finish();
    if !parts.iter().any(|part| part.kind.is_citable()) {
        return Err(not_an_act(&page_title, &text));
    }
    let mut about = Vec::new();
    if !page_title.is_empty() {
        about.push(("page_title".to_owned(), page_title));
    }
    if let Some(title) = parts.iter().find(|part| part.kind == Kind::Title) {
        about.push(("title".to_owned(), text.get(title.bytes.0..title.bytes.1).unwrap_or_default().replace('\n', " ")));
    }
    Ok(Parsed { text, parts, about })
}

fn not_an_act(page_title: &str, text: &str) -> Error {
    let begins: String = text.chars().take(120).collect();
    let told = format!("{page_title} {begins}").to_lowercase();
    let signs =
        ["404", "403", "500", "503", "not found", "error", "does not exist", "unavailable", "javascript", "captcha"];
    let found = "found no article or recital (elements whose id is like art_1 or rct_1 with <p> inside)";
    if signs.iter().any(|sign| told.contains(sign)) {
        return Error::input(format!(
            "{found}; the file looks like an error page instead of the act: {page_title:?}, {begins:?}"
        ))
        .help("fetch the act again, later or from a browser, and save the page's HTML");
    }
    Error::input(format!("{found}; the text begins {begins:?}"))
        .help("save the act's HTML or XHTML as the Official Journal publishes it, not the PDF or the summary page")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Naming {
    ArticleNumber,
    ArticleHeading,
    DivisionNumber,
    DivisionHeading,
    ParagraphNumber,
}

#[derive(Debug)]
struct Element {
    name: LocalName,
    role: Role,
    part: Option<usize>,
    naming: Option<Naming>,
    /// Where its text begins.
    mark: usize,
    /// Of a row: whether its first cell was read.
    has_cell: bool,
    /// Of a block: whether a numbered paragraph may begin here.
    is_norm: bool,
}

#[derive(Debug, Default)]
struct Act {
    builder: Builder,
    stack: Vec<Element>,
    /// Open tags beyond [`DEPTH`].
    beyond: usize,
    hidden: usize,
    page_title: String,
    /// Parts that headings opened on a page without identifiers: the article, and the divisions by rank.
    article: Option<usize>,
    divisions: Vec<(u8, usize)>,
    last_division: Option<usize>,
    /// Where the text ended before the heading of a division that is being read, and how many parts there were.
    heading_began: ((usize, usize), usize),
    notes: usize,
    has_article: bool,
}

impl Reader for Act {
    fn open(&mut self, tag: &Tag, is_empty: bool) {
        if tag.name == local_name!("br") || tag.name == local_name!("wbr") {
            return self.builder.space();
        }
        if tag.name == local_name!("hr") {
            return self.builder.line();
        }
        if is_empty {
            return;
        }
        if self.beyond > 0 || self.stack.len() >= DEPTH {
            self.beyond += 1;
            return;
        }
        let class = tag.attribute("class").unwrap_or_default();
        let role = role(&tag.name, class);
        self.imply_end_tags(&tag.name);
        match role {
            Role::Block => self.builder.line(),
            Role::Row => self.builder.line(),
            Role::Cell => {
                let row = self.stack.iter().rev().find(|element| element.role == Role::Row);
                if row.is_some_and(|row| row.has_cell && self.builder.mark() > row.mark) {
                    self.builder.glue();
                }
            }
            Role::Inline if tag.name == local_name!("div") => self.builder.glue(),
            Role::Hidden | Role::PageTitle => self.hidden += 1,
            Role::Inline => {}
        }
        let mut element = Element {
            name: tag.name.clone(),
            role,
            part: None,
            naming: None,
            mark: self.builder.mark(),
            has_cell: false,
            is_norm: class == "norm",
        };
        if self.hidden == 0 {
            self.open_part(&mut element, tag.attribute("id"), class);
        }
        self.stack.push(element);
    }

    fn close(&mut self, name: &LocalName) {
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        if let Some(depth) = self.stack.iter().rposition(|element| element.name == *name) {
            self.close_down_to(depth);
        }
    }

    fn text(&mut self, text: &str) {
        if self.hidden == 0 {
            self.builder.text(text);
        } else if self.stack.last().is_some_and(|element| element.role == Role::PageTitle) {
            self.page_title.push_str(text);
        }
    }
}

impl Act {
    /// Closes what HTML closes by itself where a tag begins.
    fn imply_end_tags(&mut self, name: &LocalName) {
        let ends: &[LocalName] = match *name {
            local_name!("td") | local_name!("th") => &[local_name!("td"), local_name!("th")],
            local_name!("tr") => &[local_name!("tr"), local_name!("td"), local_name!("th")],
            local_name!("li") => &[local_name!("li")],
            local_name!("body") => &[local_name!("head")],
            local_name!("p")
            | local_name!("div")
            | local_name!("table")
            | local_name!("ul")
            | local_name!("ol")
            | local_name!("h1")
            | local_name!("h2")
            | local_name!("h3")
            | local_name!("h4")
            | local_name!("section") => &[local_name!("p"), local_name!("head")],
            _ => return,
        };
        let mut depth = None;
        for (place, element) in self.stack.iter().enumerate().rev() {
            if ends.contains(&element.name) {
                depth = Some(place);
            }
            // A table within a cell, a list within an item: their own affair.
            let is_wall = match *name {
                local_name!("td") | local_name!("th") => {
                    matches!(element.name, local_name!("tr") | local_name!("table"))
                }
                local_name!("tr") => element.name == local_name!("table"),
                local_name!("li") => matches!(element.name, local_name!("ul") | local_name!("ol")),
                local_name!("body") => false,
                _ => matches!(
                    element.name,
                    local_name!("td") | local_name!("th") | local_name!("table") | local_name!("p")
                ),
            };
            if is_wall {
                break;
            }
        }
        if let Some(depth) = depth {
            self.close_down_to(depth);
        }
    }

    fn close_down_to(&mut self, depth: usize) {
        while self.stack.len() > depth {
            let Some(element) = self.stack.pop() else { return };
            self.leave(&element);
        }
    }

    fn leave(&mut self, element: &Element) {
        if matches!(element.role, Role::Hidden | Role::PageTitle) {
            self.hidden = self.hidden.saturating_sub(1);
            return;
        }
        if let Some(naming) = element.naming {
            let name = self.builder.since(element.mark).to_owned();
            self.name(naming, &name, element.part);
        }
        if element.role == Role::Cell {
            self.end_of_cell(element);
        }
        if element.role == Role::Row
            && let Some(part) = element.part
            && self.builder.id(part).is_empty()
        {
            self.builder.discard(part);
        }
        if let Some(part) = element.part
            && element.naming != Some(Naming::ArticleNumber)
        {
            self.builder.close(part);
        }
        if element.role != Role::Inline || element.name == local_name!("div") {
            self.builder.line();
        }
    }

    /// After the first cell of a row it is known whether the row is a point.
    fn end_of_cell(&mut self, cell: &Element) {
        let Some(row) = self.stack.iter_mut().rev().find(|element| element.role == Role::Row) else { return };
        if std::mem::replace(&mut row.has_cell, true) {
            return;
        }
        let Some(part) = row.part else { return };
        let enumerator = self.builder.since(cell.mark).to_owned();
        self.name_point(part, &enumerator);
    }

    fn name_point(&mut self, part: usize, enumerator: &str) {
        let above = self.builder.innermost_above(part);
        let number = number_of(enumerator);
        let is_recital = above.is_some_and(|above| self.builder.kind(above) == Some(Kind::Recital));
        match (above, number) {
            // The recital's own number stands in its first row.
            (Some(above), Some(number))
                if is_recital && self.builder.id(above).strip_prefix("rct_") == Some(&*number) =>
            {
                self.builder.set_number(above, enumerator);
                self.builder.discard(part);
            }
            (Some(above), Some(number)) => {
                let id = format!("{}.{number}", self.builder.id(above));
                self.builder.rename(part, Kind::Point, id);
                self.builder.set_number(part, enumerator);
            }
            // Before the first article a numbered row is a recital, on pages without identifiers.
            (None, Some(number)) if !self.has_article && number.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.builder.rename(part, Kind::Recital, format!("rct_{number}"));
                self.builder.set_number(part, enumerator);
            }
            _ => self.builder.discard(part),
        }
    }

    fn open_part(&mut self, element: &mut Element, id: Option<&str>, class: &str) {
        if let Some((kind, id)) = id.and_then(|id| self.identified(id)) {
            self.has_article |= kind == Kind::Article;
            let part = self.builder.open(kind, &id);
            if kind == Kind::Division {
                self.last_division = Some(part);
            }
            element.part = Some(part);
        }
        if element.role == Role::Row && element.part.is_none() {
            element.part = Some(self.builder.open(Kind::Point, ""));
        }
        if class.is_empty() {
            return;
        }
        match class.strip_prefix("oj-").unwrap_or(class) {
            "ti-art" | "title-article-norm" => {
                if self.builder.innermost(|kind| kind == Kind::Article).is_none_or(|open| Some(open) == self.article) {
                    self.end_headed_article();
                    let part = self.builder.open(Kind::Article, "");
                    self.article = Some(part);
                    element.part = Some(part);
                }
                self.has_article = true;
                element.naming = Some(Naming::ArticleNumber);
            }
            "sti-art" | "stitle-article-norm" => element.naming = Some(Naming::ArticleHeading),
            "ti-section-1" | "title-division-1" => {
                self.heading_began = (self.builder.place(), self.builder.opened());
                element.naming = Some(Naming::DivisionNumber);
            }
            "ti-section-2" | "title-division-2" => element.naming = Some(Naming::DivisionHeading),
            "no-parag" => element.naming = Some(Naming::ParagraphNumber),
            "note" | "footnote" => {
                self.end_headed_article();
                self.notes += 1;
                element.part = Some(self.builder.open(Kind::Note, &format!("note_{}", self.notes)));
            }
            _ => {}
        }
        if element.naming == Some(Naming::ParagraphNumber) {
            self.open_paragraph();
        }
    }

    /// What an identifier says, with the identifier that the part gets.
    fn identified(&self, id: &str) -> Option<(Kind, String)> {
        let last = id.rsplit('.').next().unwrap_or(id);
        let prefix = last.split('_').next().unwrap_or(last);
        let is_top = !id.contains('.');
        let kind = match prefix {
            "art" if is_top && last.len() > 4 => Kind::Article,
            "rct" if is_top && last.len() > 4 => Kind::Recital,
            "cit" if is_top => Kind::Citation,
            "anx" if is_top => Kind::Annex,
            "pbl" if is_top => Kind::Preamble,
            "fnp" if is_top => Kind::Final,
            "tit" if id == "tit_1" => Kind::Title,
            "prt" | "tis" | "ttr" | "cpt" | "chp" | "sct" | "sbs" | "lvr" if last.len() > 4 => Kind::Division,
            _ => {
                let article = self.builder.innermost(|kind| kind == Kind::Article)?;
                let (before, number) = id.split_once('.')?;
                let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
                let is_paragraph = before.len() == 3 && before.starts_with(|first: char| first.is_ascii_digit());
                if !is_paragraph || !digits(before) || !digits(number) {
                    return None;
                }
                let number = number.trim_start_matches('0');
                return Some((Kind::Paragraph, format!("{}.{number}", self.builder.id(article))));
            }
        };
        Some((kind, id.to_owned()))
    }

    /// A numbered paragraph of a consolidated act: the block around its number.
    fn open_paragraph(&mut self) {
        if self.builder.innermost(|kind| kind == Kind::Article).is_none() {
            return;
        }
        let block = self.stack.iter_mut().rev().find(|element| element.is_norm && element.part.is_none());
        if let Some(block) = block {
            block.part = Some(self.builder.open(Kind::Paragraph, ""));
        }
    }

    fn name(&mut self, naming: Naming, name: &str, own: Option<usize>) {
        if name.is_empty() {
            return;
        }
        match naming {
            Naming::ArticleNumber => {
                let Some(article) = own.or_else(|| self.builder.innermost(|kind| kind == Kind::Article)) else {
                    return;
                };
                self.builder.set_number(article, name);
                if self.builder.id(article).is_empty() {
                    let number: String = name.split_whitespace().skip(1).collect::<Vec<_>>().join("_");
                    let number = if number.is_empty() { name.replace(' ', "_") } else { number };
                    self.builder.rename(article, Kind::Article, format!("art_{}", number.trim_end_matches('.')));
                }
            }
            Naming::ArticleHeading => {
                if let Some(article) = self.builder.innermost(|kind| kind == Kind::Article) {
                    self.builder.set_heading(article, name);
                }
            }
            Naming::DivisionNumber => self.name_division(name),
            Naming::DivisionHeading => {
                let open = self.builder.innermost(|kind| kind == Kind::Division).or(self.last_division);
                if let Some(division) = open {
                    self.builder.set_heading(division, name);
                }
            }
            Naming::ParagraphNumber => {
                if let (Some(article), Some(paragraph)) = (
                    self.builder.innermost(|kind| kind == Kind::Article),
                    self.builder.innermost(|kind| kind == Kind::Paragraph),
                ) {
                    let number = number_of(name).unwrap_or_else(|| name.to_owned());
                    let id = format!("{}.{number}", self.builder.id(article));
                    self.builder.rename(paragraph, Kind::Paragraph, id);
                    self.builder.set_number(paragraph, &number);
                }
            }
        }
    }

    fn name_division(&mut self, name: &str) {
        let open = self.builder.innermost(|kind| kind == Kind::Division);
        if let Some(open) = open
            && self.builder.number(open).is_none()
        {
            self.builder.set_number(open, name);
            return;
        }
        // A page without identifiers: the heading's word tells its rank.
        let rank = super::lines::rank(name).unwrap_or(9);
        // Parts that were opened inside the heading cannot lie behind their article's end.
        let (mark, opened) = self.heading_began;
        let before = if opened == self.builder.opened() { mark } else { self.builder.place() };
        if let Some(article) = self.article.take() {
            self.builder.close_at(article, before);
        }
        while let Some((above, part)) = self.divisions.last().copied()
            && above >= rank
        {
            self.builder.close_at(part, before);
            self.divisions.pop();
        }
        let slug = name.to_lowercase().split_whitespace().collect::<Vec<_>>().join("_");
        let part = self.builder.open_from(Kind::Division, &slug, before);
        self.builder.set_number(part, name);
        self.divisions.push((rank, part));
        self.last_division = Some(part);
    }

    fn end_headed_article(&mut self) {
        if let Some(article) = self.article.take() {
            self.builder.close(article);
        }
    }
}

/// The bare number of an enumerator: `a` of `(a)`, `4` of `4.`, `iv` of `iv)`, `-` of a dash. Anything longer or else is
/// no enumerator.
fn number_of(enumerator: &str) -> Option<String> {
    let plain = enumerator.trim();
    if ["—", "–", "-", "•", "·"].contains(&plain) {
        return Some("-".to_owned());
    }
    let bare = plain.trim_start_matches(['(', '«', '‘', '"', '\u{a0}']).trim_end_matches([')', '.', '°', '\u{a0}']);
    let is_marked = bare.len() < plain.len();
    let is_short = bare.len() <= 6 && !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_marked && is_short).then(|| bare.to_owned())
}

#[cfg(test)]
#[path = "eurlex_tests.rs"]
mod tests;
