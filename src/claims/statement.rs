//! One claim: a sentence, or a triple read as one.

/// A claim as text, with its triple where it came as one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Statement {
    text: String,
    triple: Option<[String; 3]>,
}

impl Statement {
    /// A claim in plain words. White space and control characters become single spaces.
    #[must_use]
    pub fn sentence(text: &str) -> Self {
        Self { text: tidy(text), triple: None }
    }

    /// A subject, predicate and object; as text they stand side by side.
    ///
    /// ```
    /// use claimlab::claims::Statement;
    /// let claim = Statement::triple(["L'article 5", "prévoit", "la loyauté"]);
    /// assert_eq!(claim.text(), "L'article 5 prévoit la loyauté");
    /// ```
    #[must_use]
    pub fn triple(parts: [&str; 3]) -> Self {
        let triple = parts.map(tidy);
        Self { text: tidy(&triple.join(" ")), triple: Some(triple) }
    }

    /// The claim as one sentence.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Subject, predicate and object, where it came as a triple.
    #[must_use]
    pub fn parts(&self) -> Option<[&str; 3]> {
        self.triple.as_ref().map(|parts| parts.each_ref().map(String::as_str))
    }

    /// The same triple under another wording.
    pub(super) fn with_text(self, text: &str) -> Self {
        Self { text: tidy(text), triple: self.triple }
    }

    /// What two claims share that differ in case and spacing alone.
    pub(super) fn key(&self) -> String {
        let parts = self.triple.as_ref().map_or_else(|| self.text.clone(), |parts| parts.join("\u{1f}"));
        parts.trim_end_matches(['.', ' ']).to_lowercase()
    }
}

/// Single spaces, no control characters; typographic spaces inside stay as they are.
fn tidy(text: &str) -> String {
    let plain: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    plain.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_spaces_and_the_rest_stays() {
        assert_eq!(Statement::sentence(" a\u{0}b\r\n\tc <i>d</i>\u{a0}e ").text(), "a b c <i>d</i>\u{a0}e");
        assert_eq!(Statement::triple(["A ", "", " B"]).text(), "A B");
    }
}
