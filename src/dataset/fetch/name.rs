//! Names of acts and the addresses they stand at.

use crate::error::{Error, Result};

/// The languages of the EU: two letters, and the three that the Publications Office asks for.
const LANGUAGES: [(&str, &str); 24] = [
    ("bg", "bul"),
    ("cs", "ces"),
    ("da", "dan"),
    ("de", "deu"),
    ("el", "ell"),
    ("en", "eng"),
    ("es", "spa"),
    ("et", "est"),
    ("fi", "fin"),
    ("fr", "fra"),
    ("ga", "gle"),
    ("hr", "hrv"),
    ("hu", "hun"),
    ("it", "ita"),
    ("lt", "lit"),
    ("lv", "lav"),
    ("mt", "mlt"),
    ("nl", "nld"),
    ("pl", "pol"),
    ("pt", "por"),
    ("ro", "ron"),
    ("sk", "slk"),
    ("sl", "slv"),
    ("sv", "swe"),
];

/// What an act is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    Celex { number: String, language: &'static str, code: &'static str },
    Eli { path: String, language: &'static str },
}

impl Name {
    pub fn parse(act: &str, language: &str) -> Result<Self> {
        let (language, code) = LANGUAGES.iter().copied().find(|(two, _)| *two == language).ok_or_else(|| {
            Error::input(format!("{language:?} is no language of the EU's publications"))
                .help("use two letters, as in \"en\" or \"fr\"")
        })?;
        let act = act.trim();
        if let Some(at) = act.find("eli/") {
            let path = act[at..].trim_end_matches('/').trim_end_matches("/xml");
            let is_plain =
                |text: &str| text.chars().all(|letter| letter.is_ascii_alphanumeric() || "/_-.".contains(letter));
            if is_plain(path) && !path.contains("..") && !path.contains("//") {
                let path = if path.ends_with(&format!("/{language}")) {
                    path.to_owned()
                } else {
                    format!("{path}/{language}")
                };
                return Ok(Self::Eli { path, language });
            }
        }
        let is_celex = act.len() >= 9
            && act.len() <= 40
            && act.bytes().take(5).all(|byte| byte.is_ascii_digit())
            && act.bytes().nth(5).is_some_and(|byte| byte.is_ascii_uppercase())
            && act.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"()-_".contains(&byte));
        if is_celex {
            return Ok(Self::Celex { number: act.to_owned(), language, code });
        }
        Err(Error::input(format!("{act:?} is neither a CELEX number nor an ELI of Legilux"))
            .help("a CELEX number is like 32016R0679, an ELI like eli/etat/leg/loi/2018/08/01/a686/jo"))
    }

    /// The path of the address.
    pub fn address(&self) -> String {
        match self {
            Self::Celex { number, .. } => {
                let number = number.replace('(', "%28").replace(')', "%29");
                format!("/resource/celex/{number}")
            }
            Self::Eli { path, .. } => format!("/{path}/xml"),
        }
    }

    /// The file's name in the lab.
    pub fn file(&self) -> String {
        match self {
            Self::Celex { number, language, .. } => format!("{}.{language}.html", number.replace(['(', ')'], "_")),
            Self::Eli { path, .. } => format!("{}.xml", path.replace('/', "_")),
        }
    }

    #[cfg(feature = "remote")]
    pub fn accept(&self) -> &'static str {
        match self {
            Self::Celex { .. } => "application/xhtml+xml, text/html;q=0.9",
            Self::Eli { .. } => "application/xml, text/xml;q=0.9",
        }
    }

    #[cfg(feature = "remote")]
    pub fn accept_language(&self) -> &'static str {
        match self {
            Self::Celex { code, .. } => code,
            Self::Eli { language, .. } => language,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_addresses_and_files_and_nothing_else_does() {
        let gdpr = Name::parse("32016R0679", "en").unwrap();
        assert_eq!((gdpr.address(), gdpr.file()), ("/resource/celex/32016R0679".into(), "32016R0679.en.html".into()));
        let loi = Name::parse("http://data.legilux.public.lu/eli/etat/leg/loi/2018/08/01/a686/jo/", "fr").unwrap();
        assert_eq!(loi.address(), "/eli/etat/leg/loi/2018/08/01/a686/jo/fr/xml");
        assert_eq!(loi.file(), "eli_etat_leg_loi_2018_08_01_a686_jo_fr.xml");
        assert_eq!(Name::parse("eli/x/fr/xml", "fr").unwrap().address(), "/eli/x/fr/xml");
        for (act, language) in
            [("GDPR", "en"), ("32016R0679", "english"), ("eli/../../etc", "fr"), ("", "en"), ("32016R06 79", "en")]
        {
            assert!(Name::parse(act, language).is_err(), "{act} {language}");
        }
    }
}
