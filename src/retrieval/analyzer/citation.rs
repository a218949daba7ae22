//! Citations of provisions as single terms: `art. 1382`, `Article 6(1)(f)`, `L. 121-1`, `s. 24(1)`, `recital 26`.

/// What a citation begins with, and what its term begins with.
const KEYWORDS: [(&str, &str); 14] = [
    ("article", "art."),
    ("articles", "art."),
    ("art", "art."),
    ("arts", "art."),
    ("section", "sec."),
    ("sections", "sec."),
    ("sec", "sec."),
    ("s", "sec."),
    ("ss", "sec."),
    ("recital", "rec."),
    ("recitals", "rec."),
    ("considérant", "rec."),
    ("considérants", "rec."),
    ("consid", "rec."),
];
/// Parts of a French code that number articles of their own.
const CODE_PARTS: [char; 4] = ['l', 'r', 'd', 'a'];
const ORDINALS: [&str; 9] = ["er", "ter", "bis", "quater", "quinquies", "sexies", "septies", "octies", "ère"];

/// Calls `found` with the term of every citation. A citation below an article, as in `Article 6(1)(f)`, also gives the
/// article's own term, so that both ways of asking meet.
pub(super) fn each(text: &str, found: &mut impl FnMut(&str)) {
    let mut before = None;
    let mut skip_to = 0;
    for (at, letter) in text.char_indices() {
        let starts = at >= skip_to && letter.is_alphabetic() && !before.is_some_and(char::is_alphanumeric);
        before = Some(letter);
        if !starts {
            continue;
        }
        let Some(rest) = text.get(at..) else { continue };
        let mut reader = Reader { rest };
        if let Some((article, whole)) = reader.citation() {
            found(&article);
            if whole != article {
                found(&whole);
            }
            skip_to = text.len() - reader.rest.len();
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// A citation at this place: the article's term and the whole one.
    fn citation(&mut self) -> Option<(String, String)> {
        let word_end = self.rest.find(|letter: char| !letter.is_alphabetic()).unwrap_or(self.rest.len());
        let word = self.rest.get(..word_end)?;
        // Citations are short words; anything else is decided without an allocation.
        if word.len() > 14 {
            return None;
        }
        let word = word.to_lowercase();
        if let Some((_, prefix)) = KEYWORDS.iter().find(|(keyword, _)| *keyword == word) {
            self.rest = self.rest.get(word_end..)?;
            // "s 24" is no section; "art 24" is an article.
            let pointed = self.take('.');
            if !self.spaces() || !pointed && matches!(word.as_str(), "s" | "ss") {
                return None;
            }
            let code = self.code_part();
            return self.number(prefix, code);
        }
        let mut letters = word.chars();
        if let (Some(letter), None) = (letters.next(), letters.next())
            && CODE_PARTS.contains(&letter)
        {
            let code = self.code_part();
            let (article, whole) = self.number("art.", code)?;
            // "L. 121-1" is a citation, "a 3" is not.
            return article.contains('-').then_some((article, whole));
        }
        None
    }

    fn take(&mut self, wanted: char) -> bool {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn spaces(&mut self) -> bool {
        let rest = self.rest.trim_start_matches(char::is_whitespace);
        let moved = rest.len() < self.rest.len();
        self.rest = rest;
        moved
    }

    /// The letter of a code's part, as in `L. 121-1`, `L121-1` and `R.* 12-3`.
    fn code_part(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?.to_ascii_lowercase();
        if !CODE_PARTS.contains(&letter) {
            return None;
        }
        let rest = self.rest.get(1..)?;
        let after = rest.strip_prefix('.').unwrap_or(rest);
        let after = after.strip_prefix('*').unwrap_or(after).trim_start_matches(char::is_whitespace);
        after.starts_with(|digit: char| digit.is_ascii_digit()).then(|| {
            self.rest = after;
            letter
        })
    }

    /// The number and what hangs on it: `1382`, `1382-1`, `6(1)(f)`, `1er`, `57 bis`.
    fn number(&mut self, prefix: &str, code: Option<char>) -> Option<(String, String)> {
        let mut term = String::from(prefix);
        term.extend(code);
        self.digits(&mut term)?;
        while let Some(rest) = self.rest.strip_prefix(['-', '\u{2010}', '\u{2011}']) {
            if !rest.starts_with(|digit: char| digit.is_ascii_digit()) {
                break;
            }
            self.rest = rest;
            term.push('-');
            self.digits(&mut term)?;
        }
        self.ordinal(&mut term);
        let article = term.clone();
        while let Some(rest) = self.rest.strip_prefix('(') {
            let Some((inside, after)) = rest.split_once(')') else { break };
            if inside.is_empty() || inside.len() > 4 || !inside.chars().all(|letter| letter.is_ascii_alphanumeric()) {
                break;
            }
            term.push('(');
            term.push_str(&inside.to_ascii_lowercase());
            term.push(')');
            self.rest = after;
        }
        Some((article, term))
    }

    fn digits(&mut self, term: &mut String) -> Option<()> {
        let end = self.rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(self.rest.len());
        let digits = self.rest.get(..end).filter(|digits| !digits.is_empty() && digits.len() <= 9)?;
        term.push_str(digits);
        self.rest = self.rest.get(end..)?;
        Some(())
    }

    /// `1er` is the number 1; `57 bis` is another article than 57.
    fn ordinal(&mut self, term: &mut String) {
        let after_space = self.rest.trim_start_matches([' ', '\u{a0}']);
        let end = after_space.find(|letter: char| !letter.is_alphabetic()).unwrap_or(after_space.len());
        let (word, rest) = after_space.split_at(end);
        let glued = after_space.len() == self.rest.len();
        let word = if word.len() <= 9 { word.to_lowercase() } else { String::new() };
        if !ORDINALS.contains(&word.as_str()) {
            return;
        }
        if word == "er" || word == "ère" {
            if glued {
                self.rest = rest;
            }
            return;
        }
        term.push_str(&word);
        self.rest = rest;
    }
}

#[cfg(test)]
mod tests {
    fn terms(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        super::each(text, &mut |term| found.push(term.to_owned()));
        found
    }

    #[test]
    fn spellings_of_one_citation_meet() {
        for text in ["art. 1382", "Article 1382", "l'article 1382", "ARTICLES 1382 et suivants", "art. 1382 C. civ."] {
            assert_eq!(terms(text), ["art.1382"], "{text}");
        }
        for text in ["L. 121-1", "L.121-1", "l’article L. 121-1 du Code", "art. L121-1", "article L. 121‑1"] {
            assert_eq!(terms(text), ["art.l121-1"], "{text}");
        }
        assert_eq!(terms("Article 1er"), ["art.1"]);
        assert_eq!(terms("article 57 bis"), ["art.57bis"]);
        assert_eq!(terms("section 24(1)"), terms("s. 24(1)"));
        assert_eq!(terms("recital 26"), terms("considérant 26"));
    }

    #[test]
    fn a_point_of_an_article_also_names_the_article() {
        assert_eq!(terms("under Article 6(1)(f) and Article 17(3)"), ["art.6", "art.6(1)(f)", "art.17", "art.17(3)"]);
    }

    #[test]
    fn other_words_and_numbers_are_no_citations() {
        for text in ["a 3", "l'an 2016", "the art of 1900", "part 3", "s'il 3", "Article", "art. ", "d 12", "it's 12"] {
            assert!(terms(text).is_empty(), "{text}: {:?}", terms(text));
        }
    }
}
