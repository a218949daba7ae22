//! The Official Journal's HTML: paragraphs in order, and which provision each belongs to.

use super::Provision;
use crate::error::Result;

/// Text and provisions of an act.
#[cfg(feature = "html")]
pub(super) fn parse(html: &str) -> Result<(String, Vec<Provision>)> {
    use scraper::{ElementRef, Html, Selector};

    use crate::error::Error;

    let page = Html::parse_document(html);
    let selector = Selector::parse("p").map_err(|error| Error::input(format!("selector: {error}")))?;
    let mut text = String::new();
    let mut length = 0;
    let mut provisions: Vec<Provision> = Vec::new();
    let mut last_row = None;
    for paragraph in page.select(&selector) {
        let words: Vec<String> = paragraph.text().flat_map(str::split_whitespace).map(str::to_owned).collect();
        if words.is_empty() {
            continue;
        }
        let line = words.join(" ");
        let mut provision = None;
        let mut row = None;
        for ancestor in paragraph.ancestors().filter_map(ElementRef::wrap) {
            if row.is_none() && ancestor.value().name() == "tr" {
                row = Some(ancestor.id());
            }
            if provision.is_none() {
                provision = ancestor.value().id().filter(|id| is_provision(id)).map(str::to_owned);
            }
        }
        // "(a)" and its text are two cells of one row of a table; they are one paragraph.
        let joins = row.is_some() && row == last_row;
        last_row = row;
        if length > 0 {
            text.push(if joins { ' ' } else { '\n' });
            length += 1;
        }
        let start = length;
        length += line.chars().count();
        text.push_str(&line);
        if let Some(id) = provision {
            match provisions.last_mut() {
                Some(last) if last.id == id => last.end = length,
                _ => provisions.push(Provision { id, start, end: length }),
            }
        }
    }
    if provisions.is_empty() {
        return Err(Error::input(
            "found no article or recital (elements whose id is like art_1 or rct_1 with <p> inside)",
        )
        .help("save the act's HTML or XHTML as the Official Journal publishes it, not the PDF or the summary page"));
    }
    Ok((text, provisions))
}

#[cfg(feature = "html")]
fn is_provision(id: &str) -> bool {
    ["art_", "rct_"]
        .iter()
        .any(|prefix| id.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && !rest.contains('.')))
}

/// This build cannot parse HTML.
#[cfg(not(feature = "html"))]
pub(super) fn parse(_html: &str) -> Result<(String, Vec<Provision>)> {
    Err(crate::Error::feature_disabled("HTML parser", "html"))
}
