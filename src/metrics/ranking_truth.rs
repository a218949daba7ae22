//! What is relevant to a question: chunks, or provisions projected on chunks by the characters that they share.

use std::collections::{BTreeMap, HashMap};

use polars::prelude::DataFrame;

use crate::error::{Error, Result};
use crate::table::{Chunks, floats, integers, texts};

/// What one question needs.
#[derive(Debug, Clone, Default)]
pub(super) struct Judged {
    /// Chunks with a grade above 0.
    grades: HashMap<String, f64>,
    /// What must be found, each as the chunks that hold it.
    units: Vec<Vec<String>>,
}

impl Judged {
    pub(super) fn grade(&self, chunk: &str) -> f64 {
        self.grades.get(chunk).copied().unwrap_or_default()
    }

    /// Chunks that are relevant and no more is known of them.
    #[cfg(test)]
    pub(super) fn binary(chunks: impl Iterator<Item = String>) -> Self {
        let units: Vec<Vec<String>> = chunks.map(|chunk| vec![chunk]).collect();
        Self { grades: units.iter().flatten().map(|chunk| (chunk.clone(), 1.0)).collect(), units }
    }

    /// The grades of the best possible ranking.
    pub(super) fn ideal(&self) -> Vec<f64> {
        let mut grades: Vec<f64> = self.grades.values().copied().collect();
        grades.sort_by(|a, b| b.total_cmp(a));
        grades
    }

    /// The share of units that one of these chunks holds.
    pub(super) fn recall<'a>(&self, found: impl Iterator<Item = &'a String>) -> f64 {
        let found: std::collections::HashSet<&String> = found.collect();
        let held = self.units.iter().filter(|unit| unit.iter().any(|chunk| found.contains(chunk))).count();
        held as f64 / self.units.len().max(1) as f64
    }
}

/// Relevance judgements: which chunks answer which question.
#[derive(Debug, Clone)]
pub struct Judgements {
    questions: BTreeMap<String, Judged>,
}

impl Judgements {
    /// From chunks: columns `question_id` and `chunk_id`, and where there is one `grade` (a number; 0 and less is not
    /// relevant) or `relevant` (true or false). Each relevant chunk is a unit to be found.
    ///
    /// # Errors
    /// When a column is missing or of another type, or a chunk is judged twice for a question.
    pub fn of_chunks(frame: &DataFrame) -> Result<Self> {
        let (questions, chunks) = (texts(frame, "question_id")?, texts(frame, "chunk_id")?);
        let grades: Vec<Option<f64>> = if frame.column("grade").is_ok() {
            floats(frame, "grade")?
        } else if let Ok(relevant) = frame.column("relevant") {
            relevant.bool()?.iter().map(|relevant| relevant.map(|relevant| f64::from(u8::from(relevant)))).collect()
        } else {
            vec![Some(1.0); frame.height()]
        };
        let mut judged: BTreeMap<String, Judged> = BTreeMap::new();
        for ((question, chunk), grade) in questions.into_iter().zip(chunks).zip(grades) {
            let (Some(question), Some(chunk)) = (question, chunk) else { continue };
            let Some(grade) = grade.filter(|grade| *grade > 0.0 && grade.is_finite()) else { continue };
            let one = judged.entry(question.clone()).or_default();
            if one.grades.insert(chunk.clone(), grade).is_some() {
                return Err(Error::input(format!("the chunk {chunk:?} is judged twice for the question {question:?}")));
            }
            one.units.push(vec![chunk]);
        }
        Ok(Self { questions: judged })
    }

    /// From passages of documents, such as provisions: columns `question_id`, `document_id`, `start` and `end` (characters
    /// of the document's text, as in [`Chunks`]); rows without a place are left out. Each row is a unit to be found, and
    /// a chunk holds it when the two share at least `min_share` of the characters of the shorter one. Recall then means
    /// the same for every way of cutting the documents.
    ///
    /// # Errors
    /// When a column is missing or of another type, or `min_share` is not above 0 and at most 1.
    pub fn of_passages(frame: &DataFrame, chunks: &Chunks, min_share: f64) -> Result<Self> {
        if !(min_share > 0.0 && min_share <= 1.0) {
            return Err(Error::input(format!("a share of {min_share} is not above 0 and at most 1"))
                .help("0.5 is half of the shorter of passage and chunk"));
        }
        let of_chunks = spans(chunks.frame(), "chunk_id")?;
        let mut by_document: HashMap<&str, Vec<&Span>> = HashMap::new();
        for span in &of_chunks {
            by_document.entry(&span.document).or_default().push(span);
        }
        let mut judged: BTreeMap<String, Judged> = BTreeMap::new();
        for passage in spans(frame, "question_id")? {
            let held: Vec<String> = by_document
                .get(passage.document.as_str())
                .into_iter()
                .flatten()
                .filter(|chunk| chunk.share(&passage) >= min_share)
                .map(|chunk| chunk.name.clone())
                .collect();
            let one = judged.entry(passage.name.clone()).or_default();
            one.grades.extend(held.iter().map(|chunk| (chunk.clone(), 1.0)));
            one.units.push(held);
        }
        Ok(Self { questions: judged })
    }

    /// How many questions have something relevant.
    #[must_use]
    pub fn n_questions(&self) -> usize {
        self.questions.len()
    }

    pub(super) fn of(&self, question: &str) -> Option<&Judged> {
        self.questions.get(question)
    }

    /// The relevant chunks, one row a question and chunk: `question_id`, `chunk_id`, `grade`.
    ///
    /// # Errors
    /// Never for judgements that this type has made.
    pub fn frame(&self) -> Result<DataFrame> {
        let mut rows: Vec<(&str, &str, f64)> = Vec::new();
        for (question, judged) in &self.questions {
            rows.extend(judged.grades.iter().map(|(chunk, grade)| (question.as_str(), chunk.as_str(), *grade)));
        }
        rows.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
        crate::table::FrameBuilder::new()
            .text("question_id", &rows.iter().map(|row| row.0).collect::<Vec<_>>())
            .text("chunk_id", &rows.iter().map(|row| row.1).collect::<Vec<_>>())
            .number("grade", &rows.iter().map(|row| Some(row.2)).collect::<Vec<_>>())
            .build()
    }

    /// Shows the relevant chunks.
    pub fn evcxr_display(&self) {
        use crate::table::Show;
        match self.frame() {
            Ok(frame) => frame.evcxr_display(),
            Err(error) => crate::signal::display(None, None, &error.to_string()),
        }
    }
}

/// Some characters of a document, named by a chunk or by the question that needs them.
struct Span {
    name: String,
    document: String,
    start: i64,
    end: i64,
}

impl Span {
    /// Shared characters over those of the shorter one.
    fn share(&self, other: &Self) -> f64 {
        let shared = (self.end.min(other.end) - self.start.max(other.start)).max(0);
        let shorter = (self.end - self.start).min(other.end - other.start).max(1);
        shared as f64 / shorter as f64
    }
}

fn spans(frame: &DataFrame, name: &str) -> Result<Vec<Span>> {
    let names = texts(frame, name)?.into_iter().zip(texts(frame, "document_id")?);
    let places = integers(frame, "start")?.into_iter().zip(integers(frame, "end")?);
    Ok(names
        .zip(places)
        .filter_map(|((name, document), (start, end))| {
            Some(Span { name: name?, document: document?, start: start?, end: end? })
        })
        .collect())
}
