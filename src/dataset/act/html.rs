//! Any HTML: paragraphs as lines, headings as divisions.

use html5ever::{LocalName, local_name};

use super::builder::Builder;
use super::markup::{self, Reader, Tag};
use super::{Kind, Parsed, lines};
use crate::error::{Error, Result};

/// Reads a page: every block of text is a part `p_1`, `p_2`, …, every heading a division around what follows it.
pub(super) fn parse(html: &str) -> Parsed {
    let mut page = markup::read(html, Page::default(), markup::is_xml(html));
    page.end_block();
    let (text, parts) = page.builder.finish();
    let title = page.title.split_whitespace().collect::<Vec<_>>().join(" ");
    let about = if title.is_empty() { Vec::new() } else { vec![("title".to_owned(), title)] };
    Parsed { text, parts, about }
}

/// The same for a page that is to be a document: a short one whose title or first line says that something failed is none.
pub(super) fn parse_document(html: &str) -> Result<Parsed> {
    let parsed = parse(html);
    if let Some(told) = failure(&parsed) {
        return Err(Error::input(format!("the file looks like an error page instead of the document: {told:?}"))
            .help("fetch the document again, later or from a browser, and save the page's HTML"));
    }
    Ok(parsed)
}

/// What a page says that tells of a failure: a title such as `Not Found`, or a first line such as `503 Service Unavailable`.
fn failure(page: &Parsed) -> Option<&str> {
    const SIGNS: [&str; 8] = [
        "not found",
        "unavailable",
        "access denied",
        "forbidden",
        "bad gateway",
        "unauthorized",
        "too many requests",
        "server error",
    ];
    // Servers' own pages hold no more text.
    if page.text.len() > 2000 {
        return None;
    }
    let is_failure = |line: &str| {
        let line = line.to_lowercase();
        SIGNS.iter().any(|sign| line.contains(sign))
    };
    let has_status = |line: &str| {
        let code = line.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
        code.len() == 3 && code.starts_with(['4', '5']) && code.bytes().all(|byte| byte.is_ascii_digit())
    };
    let title = page.about.first().map_or("", |(_, title)| title.as_str());
    let wants_script = |title: &str| ["javascript", "captcha"].iter().any(|sign| title.to_lowercase().contains(sign));
    if is_failure(title) || wants_script(title) {
        return Some(title);
    }
    page.text.lines().next().filter(|line| has_status(line) && is_failure(line))
}

/// What a start tag does to the text of a page.
pub(super) enum Effect {
    Nothing,
    Space,
    /// What the element holds is no text.
    Hide,
    Line,
    Heading(u8),
}

/// The effect of a start tag.
pub(super) fn effect(name: &LocalName, is_empty: bool) -> Effect {
    match *name {
        local_name!("br") | local_name!("td") | local_name!("th") => Effect::Space,
        local_name!("script") | local_name!("style") | local_name!("title") | local_name!("template") if !is_empty => {
            Effect::Hide
        }
        ref name if is_inline(name) => Effect::Nothing,
        ref name => level(name).filter(|_| !is_empty).map_or(Effect::Line, Effect::Heading),
    }
}

/// Whether an end tag ends a line.
pub(super) fn ends_line(name: &LocalName) -> bool {
    !is_inline(name) && !matches!(*name, local_name!("td") | local_name!("th"))
}

/// A page that is being read.
#[derive(Debug, Default)]
struct Page {
    builder: Builder,
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
        match effect(&tag.name, is_empty) {
            Effect::Nothing => {}
            Effect::Space => self.builder.space(),
            Effect::Hide => self.hidden = Some(tag.name.clone()),
            Effect::Line => self.end_block(),
            Effect::Heading(level) => {
                self.end_block();
                self.begin_heading(level);
            }
        }
    }

    fn close(&mut self, name: &LocalName) {
        if self.hidden.as_ref() == Some(name) {
            self.hidden = None;
        } else if self.hidden.is_none() && ends_line(name) {
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
    fn a_servers_own_page_is_no_document() {
        for page in [
            "<title>503 Service Unavailable</title><h1>Try again</h1>",
            "<title>Page Not Found</title><p>Sorry.",
            "<h1>404 Not Found</h1><hr>nginx",
            "<title>Enable JavaScript to go on</title><p>One moment.",
        ] {
            let told = parse_document(page).map(|parsed| parsed.text).unwrap_err().to_string();
            assert!(told.contains("error page") && told.contains("help:"), "{told}");
        }
        for page in ["<title>Act</title><p>500 euros are due.", "<p>It is forbidden to hunt.", "<p>4041 not found."] {
            assert!(parse_document(page).is_ok(), "{page}");
        }
        let long = format!("<title>Not found: an essay</title><p>{}", "Text. ".repeat(400));
        assert!(parse_document(&long).is_ok());
    }

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
