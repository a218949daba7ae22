//! A benchmark: questions, the acts that answer them, and claims that people labelled.

use std::path::{Path, PathBuf};

use polars::prelude::DataFrame;

use super::claimrag::{self, Problems, Source, Tolerance};
use super::statistics::Statistics;
use super::{Chunking, Corpus, Relevance, card, published};
use crate::error::{Error, ErrorKind, Result};
use crate::lab::lock::sha256_of;
use crate::table::{Chunks, FrameBuilder, LabelledClaims, QaPairs};

/// The bundled files: name, act, language.
const SAMPLE: [(&str, &str, &str); 2] = [("regulation-en", "REGULATION", "en"), ("code-civil-fr", "CIVIL", "fr")];

/// Questions with reference answers, the acts behind them, and labelled claims.
#[derive(Debug, Clone)]
pub struct Benchmark {
    name: String,
    questions: QaPairs,
    acts: Vec<Corpus>,
    claims: Option<LabelledClaims>,
    problems: DataFrame,
    files: Vec<FileHash>,
}

/// A file that a benchmark was read from.
#[derive(Debug, Clone)]
pub(super) struct FileHash {
    pub name: String,
    pub sha256: String,
    pub bytes: u64,
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
        Self::of_sample("sample (illustrative, not a research benchmark)", &texts)
    }

    /// Reads a folder of the sample's shape: `regulation-en.html`, `code-civil-fr.html`, and for each the files
    /// `…-RAG.json` and `…-CLAIM.json`.
    ///
    /// # Errors
    /// Names the file, the record and the field that is missing or of a wrong type.
    pub fn read_folder(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let read = |name: String| super::bytes::read_text(&folder.join(name)).map(|decoded| decoded.text);
        let mut texts = Vec::new();
        for (act, prefix, _) in SAMPLE {
            texts.push((
                read(format!("{act}.html"))?,
                read(format!("{prefix}-RAG.json"))?,
                read(format!("{prefix}-CLAIM.json"))?,
            ));
        }
        Self::of_sample(&folder.display().to_string(), &texts)
    }

    /// ClaimRAG-LAW's four JSON files, or some of them, from a folder. [`Lab::claimrag_law`](crate::lab::Lab::claimrag_law)
    /// fetches them.
    ///
    /// # Errors
    /// When there is no question file, a file is not what it should be, or more than 5 % of the records are unreadable.
    pub fn claimrag_law(folder: impl AsRef<Path>) -> Result<Self> {
        claimrag::from_folder(folder.as_ref())
    }

    /// A benchmark of one's own: tables made with [`read_frame`](super::read_frame) or otherwise.
    ///
    /// # Errors
    /// When the columns do not fit together.
    pub fn new(name: &str, questions: QaPairs, claims: Option<LabelledClaims>) -> Result<Self> {
        Self::assemble(name, questions, claims, &Problems::default(), Vec::new())
    }

    pub(super) fn assemble(
        name: &str,
        questions: QaPairs,
        claims: Option<LabelledClaims>,
        problems: &Problems,
        files: Vec<FileHash>,
    ) -> Result<Self> {
        Ok(Self { name: name.to_owned(), questions, acts: Vec::new(), claims, problems: problems.frame()?, files })
    }

    fn of_sample(name: &str, texts: &[(String, String, String)]) -> Result<Self> {
        let mut acts = Vec::new();
        for ((source, _, language), (html, _, _)) in SAMPLE.iter().zip(texts) {
            acts.push(Corpus::from_html(source, language, html)?);
        }
        let mut files = Vec::new();
        let names: Vec<[String; 3]> = SAMPLE
            .iter()
            .map(|(act, prefix, _)| {
                [format!("{act}.html"), format!("{prefix}-RAG.json"), format!("{prefix}-CLAIM.json")]
            })
            .collect();
        let (mut rag, mut claim) = (Vec::new(), Vec::new());
        for ((act, (html, rag_text, claim_text)), [act_file, rag_file, claim_file]) in
            acts.iter().zip(texts).zip(&names)
        {
            for (name, text) in [(act_file, html), (rag_file, rag_text), (claim_file, claim_text)] {
                files.push(FileHash {
                    name: name.clone(),
                    sha256: sha256_of(text.as_bytes()),
                    bytes: text.len() as u64,
                });
            }
            let source =
                |file, text| Source { file, text, source: act.source(), language: act.language(), act: Some(act) };
            rag.push(source(rag_file, rag_text));
            claim.push(source(claim_file, claim_text));
        }
        let mut problems = Problems::default();
        let (questions, claims) = claimrag::read(&rag, &claim, Tolerance::Nothing, &mut problems)?;
        Ok(Self { acts, ..Self::assemble(name, questions, claims, &problems, files)? })
    }

    /// Sixteen questions about the real GDPR, written for this project, with the act itself read from where
    /// `CLAIMLAB_GDPR` says (the Official Journal's XHTML, or a folder that holds one).
    ///
    /// # Errors
    /// When the act is not there; the message says how to get it.
    pub fn gdpr() -> Result<Self> {
        let path = gdpr_path()?;
        Self::gdpr_questions(&Corpus::read_html("gdpr", "en", &path)?)
    }

    /// The same sixteen questions with an act that you have read, or fetched with
    /// [`Lab::fetch_act`](crate::lab::Lab::fetch_act).
    ///
    /// # Errors
    /// When the act lacks an article that a question names.
    pub fn gdpr_questions(act: &Corpus) -> Result<Self> {
        let text = include_str!("../../data/gdpr/GDPR-QUESTIONS.json");
        let file = "GDPR-QUESTIONS.json";
        let source = Source { file, text, source: act.source(), language: act.language(), act: Some(act) };
        let mut problems = Problems::default();
        let (questions, claims) = claimrag::read(&[source], &[], Tolerance::Nothing, &mut problems)?;
        let hash = FileHash { name: file.to_owned(), sha256: sha256_of(text.as_bytes()), bytes: text.len() as u64 };
        let name = format!("sixteen questions about {}", act.source());
        Ok(Self { acts: vec![act.clone()], ..Self::assemble(&name, questions, claims, &problems, vec![hash])? })
    }

    /// The same with these acts, which chunks are cut from. An act answers a benchmark's source of the same name.
    #[must_use]
    pub fn with_acts(mut self, acts: &[Corpus]) -> Self {
        self.acts = acts.to_vec();
        self
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
    /// When the benchmark has no act, and as [`Chunking::cut`].
    pub fn chunks(&self, chunking: &Chunking) -> Result<Chunks> {
        self.need_acts()?;
        chunking.cut(&self.acts)
    }

    /// The passages of the questions found again in the acts, and the chunks that they make relevant: those that share
    /// at least half of the shorter of passage and chunk. [`Relevance::find`] takes another share.
    ///
    /// # Errors
    /// When the benchmark has no act.
    pub fn relevance(&self, chunks: &Chunks) -> Result<Relevance> {
        self.need_acts()?;
        Relevance::find(&self.questions, &self.acts, chunks, 0.5)
    }

    fn need_acts(&self) -> Result<()> {
        if self.acts.is_empty() {
            return Err(Error::new(ErrorKind::NotFound, format!("the benchmark {} has no acts", self.name)).help(
                "add them: benchmark.with_acts(&[Corpus::read(\"GDPR\", \"en\", path)?]), or fetch one with lab.fetch_act",
            ));
        }
        Ok(())
    }

    /// What was wrong with the files: one row a problem with `file`, `record`, `field`, `reason` and `effect`.
    #[must_use]
    pub fn problems(&self) -> DataFrame {
        self.problems.clone()
    }

    /// The distinct passages that answer questions, with how many questions and claims rest on each.
    ///
    /// # Errors
    /// When a column is missing.
    pub fn context_units(&self) -> Result<DataFrame> {
        card::context_units(&self.questions, self.claims.as_ref())
    }

    /// The counts that ClaimRAG-LAW gives in its Table 1: questions by persona and category, claims by validity and
    /// label; one row a source and a row of totals. Shown as a table, and written as Markdown, LaTeX or CSV.
    ///
    /// # Errors
    /// When a column is missing.
    pub fn statistics(&self) -> Result<Statistics> {
        Statistics::of(&self.questions, self.claims.as_ref())
    }

    /// The counts beside those that were published for these sources, with where, and whether they agree.
    ///
    /// # Errors
    /// When a column is missing.
    pub fn flags(&self) -> Result<DataFrame> {
        published::beside(self.statistics()?.frame())
    }

    /// Reference answers that their own passage does not carry: one row a question with labelled claims, with how many
    /// of its valid claims are entailed, neutral and contradicted by the passage, and whether any is not entailed.
    ///
    /// # Errors
    /// When the benchmark has no labelled claims.
    pub fn gold_quality(&self) -> Result<DataFrame> {
        card::gold_quality(&self.labelled_claims()?)
    }

    /// A data card in Markdown: what the benchmark is, its counts, its problems, and the SHA-256 of files and tables.
    ///
    /// # Errors
    /// When a column is missing.
    pub fn card(&self) -> Result<String> {
        card::write(self)
    }

    pub(super) fn files(&self) -> &[FileHash] {
        &self.files
    }

    /// The files that it was read from, with their SHA-256.
    ///
    /// # Errors
    /// When the columns do not fit together.
    pub fn sources(&self) -> Result<DataFrame> {
        let names: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        let sums: Vec<&str> = self.files.iter().map(|file| file.sha256.as_str()).collect();
        let bytes: Vec<i64> = self.files.iter().map(|file| file.bytes as i64).collect();
        FrameBuilder::new().text("file", &names).integer("bytes", &bytes).text("sha256", &sums).build()
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
