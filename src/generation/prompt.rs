//! The prompt that asks a model to answer from passages, and what is taken from its reply.

use std::path::Path;

use crate::error::{Error, Result};
use crate::model::{Finish, Prompt};
use crate::text::Language;

/// A line that separates instructions from the question in a user's template.
const PARTING: &str = "---";

/// Instructions and the user's message, with places for the question and the passages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    system: Option<String>,
    user: String,
}

impl Template {
    /// Our own wording, in the language of the question.
    pub(super) fn built_in(language: Language) -> Self {
        let (system, user) = match language {
            Language::English => (
                "You answer legal questions. Use only the numbered passages that you are given. Answer briefly, in full \
                 sentences, in the language of the question. If the passages do not answer the question, say so. Write \
                 your answer between <answer> and </answer>.",
                "Passages:\n\n{context}\n\nQuestion: {question}",
            ),
            Language::French => (
                "Tu réponds à des questions juridiques. Appuie-toi uniquement sur les passages numérotés qui te sont \
                 donnés. Réponds brièvement, par des phrases complètes, dans la langue de la question. Si les passages ne \
                 répondent pas à la question, dis-le. Écris ta réponse entre <answer> et </answer>.",
                "Passages :\n\n{context}\n\nQuestion : {question}",
            ),
        };
        Self { system: Some(system.to_owned()), user: user.to_owned() }
    }

    /// A user's file: `{context}` and `{question}` stand where the passages and the question go. What comes before a line
    /// `---` are instructions.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
        Self::parse(&text).map_err(|error| error.context(path.display().to_string()))
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let lines: Vec<&str> = text.lines().collect();
        let parting = lines.iter().position(|line| line.trim() == PARTING);
        let join = |lines: &[&str]| lines.join("\n").trim().to_owned();
        let (system, user) = match parting {
            Some(at) => (Some(join(&lines[..at])), join(&lines[at + 1..])),
            None => (None, join(&lines)),
        };
        for place in ["{question}", "{context}"] {
            if !user.contains(place) {
                return Err(Error::input(format!("the template's message lacks {place}"))
                    .help("write {context} where the passages go, and {question} where the question goes"));
            }
        }
        Ok(Self { system: system.filter(|text| !text.is_empty()), user })
    }

    /// What is asked for a question and its passages, best first.
    pub(super) fn prompt(&self, question: &str, passages: &[String], max_tokens: u32) -> Prompt {
        let context: Vec<String> =
            passages.iter().enumerate().map(|(place, text)| format!("[{}] {}", place + 1, text.trim())).collect();
        let user = filled(&self.user, question, &context.join("\n\n"));
        let mut prompt = Prompt::new(user).max_tokens(max_tokens);
        if let Some(system) = &self.system {
            prompt = prompt.system(filled(system, question, ""));
        }
        prompt.stop = vec!["</answer>".to_owned()];
        prompt
    }

    /// The text itself, for the specification of a run.
    pub(super) fn text(&self) -> String {
        format!("{}\n{PARTING}\n{}", self.system.as_deref().unwrap_or_default(), self.user)
    }
}

/// Fills the places of a template in one pass: what is put in is never looked at for places again.
fn filled(template: &str, question: &str, context: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let (value, after) = if let Some(after) = from.strip_prefix("{question}") {
            (question, after)
        } else if let Some(after) = from.strip_prefix("{context}") {
            (context, after)
        } else {
            from.split_at(1)
        };
        out.push_str(value);
        rest = after;
    }
    out + rest
}

/// The answer in a reply: what stands between the tags, which the model may have left open at its end, or the whole
/// reply if it used none. Anything else is off the menu.
pub(super) fn answer(reply: &str, finish: Finish) -> Result<(String, &'static str)> {
    let odd = |what: &str| {
        let start: String = reply.chars().take(120).collect();
        Err(Error::new(crate::ErrorKind::Model, format!("the reply {what}: {start:?}")))
    };
    let opened: Vec<usize> = reply.match_indices("<answer>").map(|(at, _)| at + "<answer>".len()).collect();
    let closed = reply.find("</answer>");
    let text = match (opened.as_slice(), closed) {
        ([], None) => reply,
        ([from], None) => &reply[*from..],
        ([from], Some(to)) if *from <= to => &reply[*from..to],
        ([], Some(_)) => return odd("closes an answer that it did not open"),
        _ => return odd("holds several answers"),
    };
    let text = text.trim();
    if text.is_empty() { odd("holds an empty answer") } else { Ok((text.to_owned(), finish.as_str())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_once_and_never_in_what_was_filled_in() -> Result<()> {
        let template = Template::parse("Be brief.\n---\nQ: {question} {x}\nC: {context}")?;
        let prompt = template.prompt("what is {context}?", &["{question}".into(), " b ".into()], 9);
        assert_eq!(prompt.messages[0].content, "Be brief.");
        assert_eq!(prompt.messages[1].content, "Q: what is {context}? {x}\nC: [1] {question}\n\n[2] b");
        assert!(Template::parse("{question}").unwrap_err().to_string().contains("{context}"));
        Ok(())
    }

    #[test]
    fn answers_are_found_or_refused_but_never_guessed() {
        let of = |reply: &str| answer(reply, Finish::Stop).map(|(text, _)| text).ok();
        assert_eq!(of("<answer> Yes. </answer> more").as_deref(), Some("Yes."));
        assert_eq!(of("Let me see.<answer>Yes.").as_deref(), Some("Yes."));
        assert_eq!(of(" Yes. ").as_deref(), Some("Yes."));
        for odd in ["</answer>", "<answer></answer>", "<answer>a</answer><answer>b</answer>", "</answer>x<answer>y", ""]
        {
            assert_eq!(of(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn the_built_in_wording_speaks_the_questions_language() {
        let french = Template::built_in(Language::French).prompt("Qui ?", &[], 5);
        assert!(french.messages[0].content.contains("juridiques"));
        assert_ne!(french.messages[0], Template::built_in(Language::English).prompt("Who?", &[], 5).messages[0]);
    }
}
