//! Cells that are answered at once: `:vars` and `:sql`.

use std::collections::HashMap;

use claimlab_protocol::{Answer, Ask, Bundle, Variable};

use super::Session;
use crate::outcome::CellError;

impl Session {
    /// The answer to a cell that is nothing but `:vars` or `:sql QUERY`; `None` for all others.
    pub(super) fn answer_at_once(&self, code: &str) -> Option<Result<Bundle, CellError>> {
        let code = code.trim();
        if code == ":vars" {
            return Some(self.variables());
        }
        let query =
            code.strip_prefix(":sql").filter(|rest| rest.starts_with(char::is_whitespace) || rest.is_empty())?;
        let query = query.trim().trim_end_matches(';');
        if query.is_empty() {
            return Some(Err(CellError::new("Error", ":sql needs a query, for example `:sql SELECT * FROM scores`")));
        }
        Some(match self.questions.ask(&Ask::Sql { query: query.to_owned() }) {
            Ok(Answer::Show { data }) => Ok(data),
            Ok(_) => Err(CellError::new("KernelError", "the child answered a query with something else")),
            Err(error) => Err(self.interrupt.explain(error)),
        })
    }

    /// Name, type and content of every variable.
    fn variables(&self) -> Result<Bundle, CellError> {
        let types: HashMap<&str, &str> = self.context.0.variables_and_types().collect();
        let variables = match self.questions.ask(&Ask::Variables)? {
            Answer::Variables { variables } => variables,
            _ => Vec::new(),
        };
        let rows: Vec<(String, String, String)> = variables
            .into_iter()
            .filter_map(|Variable { name, content }| {
                let kind = types.get(name.as_str())?;
                Some((name, short(kind), content.unwrap_or_default()))
            })
            .collect();
        Ok(table(&rows))
    }
}

/// A type without the paths in front of its names.
fn short(kind: &str) -> String {
    let mut text = String::new();
    for part in kind.split_inclusive(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != ':') {
        text.push_str(part.rsplit("::").next().unwrap_or(part));
    }
    text
}

fn table(rows: &[(String, String, String)]) -> Bundle {
    let escape = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
            .replace('\'', "&#39;")
    };
    let mut html = String::from("<table><thead><tr><th>variable</th><th>type</th><th>content</th></tr></thead><tbody>");
    let mut plain = String::new();
    for (name, kind, content) in rows {
        html.push_str(&format!(
            "<tr><td>{}</td><td><code>{}</code></td><td>{}</td></tr>",
            escape(name),
            escape(kind),
            escape(content)
        ));
        plain.push_str(&format!("{name}: {kind}  {content}\n"));
    }
    html.push_str("</tbody></table>");
    if rows.is_empty() {
        html = "<i>no variables yet</i>".to_owned();
        plain = "no variables yet".to_owned();
    }
    Bundle::from([("text/html".to_owned(), html), ("text/plain".to_owned(), plain.trim_end().to_owned())])
}

#[cfg(test)]
mod tests {
    use super::{short, table};

    #[test]
    fn types_lose_their_paths() {
        assert_eq!(short("claimlab::polars::prelude::DataFrame"), "DataFrame");
        assert_eq!(short("std::vec::Vec<claimlab::study::System>"), "Vec<System>");
        assert_eq!(short("(i32, &'static str)"), "(i32, &'static str)");
    }

    #[test]
    fn contents_are_escaped() {
        let shown = table(&[("a".into(), "String".into(), "<script>".into())]);
        assert!(shown["text/html"].contains("&lt;script&gt;") && !shown["text/html"].contains("<script>"));
    }
}
