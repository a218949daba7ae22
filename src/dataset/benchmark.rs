//! A benchmark: questions, the acts that answer them, and claims that people labelled.

use std::path::{Path, PathBuf};

use polars::prelude::DataFrame;

use super::records::{self, Source};
use super::{Chunking, Corpus, statistics};
use crate::error::{Error, ErrorKind, Result};
use crate::table::{Chunks, LabelledClaims, QaPairs, Show};

/// The bundled files: name, act, language.
const SAMPLE: [(&str, &str, &str); 2] = [("regulation-en", "REGULATION", "en"), ("code-civil-fr", "CIVIL", "fr")];

/// Questions with reference answers, the acts behind them, and labelled claims.
#[derive(Debug, Clone)]
pub struct Benchmark {
    name: String,
    questions: QaPairs,
    acts: Vec<Corpus>,
    claims: Option<LabelledClaims>,
}

impl Benchmark {
    /// The bundled sample; see [`Lab::sample`](crate::lab::Lab::sample).
    pub(crate) fn sample() -> Result<Self> {
        let files = [
            (
                include_str!("../../data/sample/regulation-en.html"),
                include_str!("../../data/sample/REGULATION-RAG.json"),
                include_str!("../../data/sample/REGULATION-CLAIM.json"),
            ),
            (
                include_str!("../../data/sample/code-civil-fr.html"),
                include_str!("../../data/sample/CIVIL-RAG.json"),
                include_str!("../../data/sample/CIVIL-CLAIM.json"),
            ),
        ];
        let texts = files.map(|(act, rag, claim)| (act.to_owned(), rag.to_owned(), claim.to_owned()));
        Self::assemble("sample (illustrative, not a research benchmark)", &texts)
    }

    /// Reads a folder of the sample's shape: `regulation-en.html`, `code-civil-fr.html`, and for each the files
    /// `…-RAG.json` and `…-CLAIM.json`.
    ///
    /// # Errors
    /// Names the file, the record and the field that is missing or of a wrong type.
    pub fn read_folder(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let read = |name: String| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).map_err(|error| Error::file(&path, &error))
        };
        let mut texts = Vec::new();
        for (act, prefix, _) in SAMPLE {
            texts.push((
                read(format!("{act}.html"))?,
                read(format!("{prefix}-RAG.json"))?,
                read(format!("{prefix}-CLAIM.json"))?,
            ));
        }
        Self::assemble(&folder.display().to_string(), &texts)
    }

    fn assemble(name: &str, texts: &[(String, String, String)]) -> Result<Self> {
        let mut acts = Vec::new();
        for ((source, _, language), (html, _, _)) in SAMPLE.iter().zip(texts) {
            acts.push(Corpus::from_html(source, language, html)?);
        }
        let files: Vec<(String, String)> = SAMPLE
            .iter()
            .map(|(_, prefix, _)| (format!("{prefix}-RAG.json"), format!("{prefix}-CLAIM.json")))
            .collect();
        let mut rag = Vec::new();
        let mut claim = Vec::new();
        for (((act, (_, rag_text, claim_text)), (rag_file, claim_file)), _) in
            acts.iter().zip(texts).zip(&files).zip(SAMPLE)
        {
            rag.push(Source { file: rag_file, text: rag_text, act });
            claim.push(Source { file: claim_file, text: claim_text, act });
        }
        let questions = records::questions(&rag)?;
        let claims = Some(records::claims(&claim)?);
        Ok(Self { name: name.to_owned(), questions, acts, claims })
    }

    /// Sixteen questions about the real GDPR, written for this project, with the act itself read from where
    /// `CLAIMLAB_GDPR` says (the Official Journal's XHTML, or a folder that holds one).
    ///
    /// # Errors
    /// When the act is not there; the message says how to get it.
    pub fn gdpr() -> Result<Self> {
        let path = gdpr_path()?;
        let act = Corpus::read_html("gdpr", "en", &path)?;
        let text = include_str!("../../data/gdpr/GDPR-QUESTIONS.json");
        let questions = records::questions(&[Source { file: "GDPR-QUESTIONS.json", text, act: &act }])?;
        Ok(Self { name: format!("GDPR ({})", path.display()), questions, acts: vec![act], claims: None })
    }

    /// What this benchmark is.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The questions.
    #[must_use]
    pub fn questions(&self) -> QaPairs {
        self.questions.clone()
    }

    /// The acts.
    #[must_use]
    pub fn acts(&self) -> Vec<Corpus> {
        self.acts.clone()
    }

    /// The labelled claims.
    ///
    /// # Errors
    /// When the benchmark has none.
    pub fn labelled_claims(&self) -> Result<LabelledClaims> {
        self.claims.clone().ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("the benchmark {} has no labelled claims", self.name))
        })
    }

    /// The acts cut into chunks.
    ///
    /// # Errors
    /// As [`Chunking::cut`].
    pub fn chunks(&self, chunking: &Chunking) -> Result<Chunks> {
        chunking.cut(&self.acts)
    }

    /// The counts that ClaimRAG-LAW's Table 1 gives: questions by persona and category, claims by validity and label.
    ///
    /// # Errors
    /// When a column is missing.
    pub fn statistics(&self) -> Result<DataFrame> {
        statistics::table_1(&self.questions, self.claims.as_ref())
    }

    /// Shows the statistics.
    pub fn evcxr_display(&self) {
        match self.statistics() {
            Ok(table) => table.evcxr_display(),
            Err(error) => crate::signal::display(None, None, &error.to_string()),
        }
    }
}

fn gdpr_path() -> Result<PathBuf> {
    let absent = |found: String| {
        Error::new(ErrorKind::NotFound, found).help(
            "the act is not part of this project. Open CELEX 32016R0679 on EUR-Lex, save the English HTML of the \
             Official Journal's version (OJ L 119, 4.5.2016), and set CLAIMLAB_GDPR to that file before starting \
             the kernel",
        )
    };
    let Some(path) = std::env::var_os("CLAIMLAB_GDPR").map(PathBuf::from) else {
        return Err(absent("the text of the GDPR is not here: CLAIMLAB_GDPR is not set".to_owned()));
    };
    if path.is_file() {
        return Ok(path);
    }
    let mut found: Vec<PathBuf> = std::fs::read_dir(&path)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|file| {
            let name = file.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
            name.contains("32016r0679") && name.contains("en") && name.contains("oj") && name.ends_with("html")
        })
        .collect();
    found.sort();
    found.pop().ok_or_else(|| {
        absent(format!("CLAIMLAB_GDPR is {}, which is neither the act's file nor a folder with it", path.display()))
    })
}
