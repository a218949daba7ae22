//! Benchmarks in the shape of ClaimRAG-LAW's files, and ClaimRAG-LAW itself from the Hub or from a folder.

mod claims;
mod problems;
mod questions;
mod source;
mod spelling;

use std::path::Path;

pub(super) use problems::{Problems, Tolerance};
pub(super) use source::Source;
pub(super) use spelling::label as spelling_label;

use super::benchmark::{Benchmark, FileHash};
use super::bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::lab::lock::sha256_of;
use crate::lab::{Hub, HubRepo, Lab};
use crate::table::{LabelledClaims, QaPairs};

/// Reads question files and claim files into tables.
pub(super) fn read(
    rag: &[Source<'_>],
    claim: &[Source<'_>],
    tolerance: Tolerance,
    problems: &mut Problems,
) -> Result<(QaPairs, Option<LabelledClaims>)> {
    let (pairs, known) = questions::read(rag, problems)?;
    let labelled = if claim.is_empty() { None } else { Some(claims::read(claim, &known, problems)?) };
    problems.judge(tolerance)?;
    Ok((pairs, labelled))
}

/// One of the four files.
struct Known {
    file: &'static str,
    source: &'static str,
    language: &'static str,
    is_claim: bool,
    /// The sum at the pinned revision, where it is known.
    sha256: Option<&'static str>,
}

const REPOSITORY: &str = "SNTSVV/ClaimRAG-LAW";
const REVISION: &str = "5cc53a3aa72a02c7cb515087fb3e2d6acfac5573";
const FILES: [Known; 4] = [
    Known {
        file: "GDPR-RAG-LAW.json",
        source: "GDPR",
        language: "en",
        is_claim: false,
        sha256: Some("828d9616899cc72a3fae992d91df91350fa33aba876deeb4ae08243d37efaf75"),
    },
    Known { file: "CIVIL-RAG-LAW.json", source: "CIVIL", language: "fr", is_claim: false, sha256: None },
    Known {
        file: "GDPR-CLAIM-LAW.json",
        source: "GDPR",
        language: "en",
        is_claim: true,
        sha256: Some("75e4aa64a365b54b35734f74b474f6fd57110572d946fba817604171a67ca6c4"),
    },
    Known { file: "CIVIL-CLAIM-LAW.json", source: "CIVIL", language: "fr", is_claim: true, sha256: None },
];

/// Share of records that may be unreadable before a load fails.
const TOLERATED: f64 = 0.05;

impl Lab {
    /// ClaimRAG-LAW (arXiv 2605.21071, CC-BY-4.0) from the Hugging Face Hub, at a pinned revision. Where the sum of a file
    /// is known it is checked; otherwise it is recorded at the first download and checked ever after. Needs the network
    /// once; `HF_TOKEN`, `HF_HUB_OFFLINE` and `HF_HOME` mean what they always mean.
    ///
    /// The acts are not part of it: add them with [`Benchmark::with_acts`].
    ///
    /// # Errors
    /// When a file cannot be had or is not what it was, or more than 5 % of the records are unreadable. What is odd but
    /// readable is a row of [`Benchmark::problems`]; counts that differ from the published ones are in
    /// [`Benchmark::flags`].
    pub fn claimrag_law(&self) -> Result<Benchmark> {
        self.claimrag_law_at(&self.hub())
    }

    /// The same from a hub of one's own: a mirror, another cache.
    ///
    /// # Errors
    /// As [`Lab::claimrag_law`].
    pub fn claimrag_law_at(&self, hub: &Hub) -> Result<Benchmark> {
        let repo = HubRepo::dataset(REPOSITORY, REVISION);
        let mut contents = Vec::new();
        for known in &FILES {
            let path = hub.file(&repo, known.file, known.sha256)?;
            contents.push((known, bytes::read(&path)?));
        }
        assemble(&format!("ClaimRAG-LAW at {}", &REVISION[..8]), contents, Problems::default())
    }
}

/// ClaimRAG-LAW's four files, or some of them, from a folder.
pub(super) fn from_folder(folder: &Path) -> Result<Benchmark> {
    let mut contents = Vec::new();
    let mut problems = Problems::default();
    for known in &FILES {
        let path = folder.join(known.file);
        if path.exists() {
            contents.push((known, bytes::read(&path)?));
        } else {
            problems.note(known.file, 0, "", "the file is not in the folder", "left out");
        }
    }
    if !contents.iter().any(|(known, _)| !known.is_claim) {
        let names: Vec<&str> = FILES.iter().map(|known| known.file).collect();
        return Err(Error::new(
            ErrorKind::NotFound,
            format!("{} holds no question file of ClaimRAG-LAW; expected some of {names:?}", folder.display()),
        )
        .help("download the dataset's files into this folder, or let lab.claimrag_law() do it"));
    }
    assemble(&format!("ClaimRAG-LAW in {}", folder.display()), contents, problems)
}

fn assemble(name: &str, contents: Vec<(&Known, Vec<u8>)>, mut problems: Problems) -> Result<Benchmark> {
    let mut texts = Vec::new();
    let mut hashes = Vec::new();
    for (known, content) in contents {
        let found = sha256_of(&content);
        let length = content.len() as u64;
        let decoded = bytes::decode(known.file, content)?;
        for note in decoded.notes {
            problems.note(known.file, 0, "", &note, "read");
        }
        if known.sha256.is_some_and(|sum| sum != found) {
            let reason = format!("the file has the SHA-256 {found}, not that of the pinned revision");
            problems.note(known.file, 0, "", &reason, "read");
        }
        hashes.push(FileHash { name: known.file.to_owned(), sha256: found, bytes: length });
        texts.push((known, decoded.text));
    }
    let (mut rag, mut claim) = (Vec::new(), Vec::new());
    for (known, text) in &texts {
        let source = Source { file: known.file, text, source: known.source, language: known.language, act: None };
        if known.is_claim { claim.push(source) } else { rag.push(source) }
    }
    let (questions, claims) = read(&rag, &claim, Tolerance::share(TOLERATED), &mut problems)?;
    Benchmark::assemble(name, questions, claims, &problems, hashes)
}
