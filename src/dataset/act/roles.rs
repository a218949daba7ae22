//! What elements of HTML are to the text of an act.

use html5ever::{LocalName, local_name};

/// What an element does to the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Block,
    Inline,
    Row,
    Cell,
    /// Holds no text of the document.
    Hidden,
    PageTitle,
}

/// The role of an element by its name and class.
pub(super) fn role(name: &LocalName, class: &str) -> Role {
    match *name {
        local_name!("script") | local_name!("style") | local_name!("head") | local_name!("template") => Role::Hidden,
        local_name!("title") => Role::PageTitle,
        local_name!("tr") => Role::Row,
        local_name!("td") | local_name!("th") => Role::Cell,
        local_name!("div") if class.is_empty() => Role::Block,
        local_name!("div") if class.contains("inline-element") => Role::Inline,
        local_name!("div") if class.contains("grid-list-column") => Role::Cell,
        local_name!("div") if class.contains("grid-list") => Role::Row,
        local_name!("a")
        | local_name!("abbr")
        | local_name!("b")
        | local_name!("bdo")
        | local_name!("big")
        | local_name!("cite")
        | local_name!("code")
        | local_name!("del")
        | local_name!("dfn")
        | local_name!("em")
        | local_name!("font")
        | local_name!("i")
        | local_name!("ins")
        | local_name!("kbd")
        | local_name!("label")
        | local_name!("mark")
        | local_name!("q")
        | local_name!("s")
        | local_name!("samp")
        | local_name!("small")
        | local_name!("span")
        | local_name!("strong")
        | local_name!("sub")
        | local_name!("sup")
        | local_name!("time")
        | local_name!("u")
        | local_name!("var") => Role::Inline,
        _ => Role::Block,
    }
}
