//! Exact search over embeddings.

mod dot;
mod store;
mod vectors;

use std::sync::Arc;

use serde_json::{Value, json};

use super::Passage;
use super::acts::{Engine, Hit};
use crate::error::{Error, Result};
use crate::lab::Lab;
use crate::model::Embed;
use crate::signal::{self, Progress};
use vectors::Vectors;

/// Passages embedded at once; between two batches an interrupt is heard, and with a lab each batch is kept.
const BATCH: usize = 64;

/// How vectors are held in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// Four bytes a number, as models give them.
    #[default]
    F32,
    /// Two bytes a number: half the memory and about half the time, at a relative error of at most 0.05 % a number.
    F16,
}

/// How questions go to the model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Instruction {
    /// Through [`Embed::embed_questions`].
    #[default]
    Model,
    /// As passages do.
    Absent,
    /// As `Instruct: …\nQuery: …`, through [`Embed::embed`].
    Given(String),
}

/// A recipe for exact search by cosine over a model's embeddings.
///
/// ```
/// # #[cfg(feature = "local")]
/// # fn main() -> claimlab::Result<()> {
/// use std::sync::Arc;
/// use claimlab::model::{Embed, local::RandomIndexing};
/// use claimlab::retrieval::{Dense, Precision};
/// let model: Arc<dyn Embed> = Arc::new(RandomIndexing::new(7)?);
/// let plain = Dense::new("E5", &model).without_instruction();
/// let half = Dense::new("E5", &model).precision(Precision::F16);
/// assert_eq!((plain.name(), half.name()), ("E5 without instruction".to_owned(), "E5 f16".to_owned()));
/// # Ok(()) }
/// # #[cfg(not(feature = "local"))]
/// # fn main() {}
/// ```
#[derive(Debug, Clone)]
pub struct Dense {
    name: String,
    model: Arc<dyn Embed>,
    instruction: Instruction,
    precision: Precision,
}

impl Dense {
    /// The model's vectors in full precision, its questions instructed as the model's authors say.
    #[must_use]
    pub fn new(name: &str, model: &Arc<dyn Embed>) -> Self {
        Self { name: name.to_owned(), model: model.clone(), instruction: Instruction::Model, precision: Precision::F32 }
    }

    /// Sends questions as they are, as RAGChecker's script does with E5-Mistral.
    #[must_use]
    pub fn without_instruction(mut self) -> Self {
        self.instruction = Instruction::Absent;
        self
    }

    /// Sends questions as `Instruct: {task}`, a line break and `Query: {question}`, the form that E5-Mistral's and other
    /// instructed models' cards give.
    #[must_use]
    pub fn instruction(mut self, task: &str) -> Self {
        self.instruction = Instruction::Given(task.to_owned());
        self
    }

    /// Holds the vectors in this precision.
    #[must_use]
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// What a run's column `retriever` says.
    #[must_use]
    pub fn name(&self) -> String {
        let mut name = self.name.clone();
        match &self.instruction {
            Instruction::Model => {}
            Instruction::Absent => name += " without instruction",
            Instruction::Given(task) => name += &format!(" instructed {task:?}"),
        }
        if self.precision == Precision::F16 {
            name += " f16";
        }
        name
    }

    /// The engine over an act's passages; with a lab, vectors that it keeps are not computed again.
    pub(super) fn engine(&self, lab: Option<&Lab>, passages: &[Arc<Passage>]) -> Result<Box<dyn Engine>> {
        let mut rows = match lab {
            Some(lab) => store::embed_with(lab, &self.model, passages)?,
            None => embed(&self.model, passages, &mut |_| Ok(()))?,
        };
        let width = rows.first().map_or(0, Vec::len);
        let mut vectors = Vectors::new(width, self.precision)?;
        for (row, passage) in rows.drain(..).zip(passages) {
            vectors.push(&row).map_err(|error| error.context(format!("the vector of {}", passage.chunk_id)))?;
        }
        Ok(Box::new(Exact { vectors, recipe: self.clone() }))
    }

    /// One vector a passage, from the lab where it keeps them.
    #[cfg(feature = "remote")]
    pub(super) fn vectors(&self, lab: &Lab, passages: &[Arc<Passage>]) -> Result<Vec<Vec<f32>>> {
        store::embed_with(lab, &self.model, passages)
    }

    pub(super) fn spec(&self) -> Value {
        let instruction = match &self.instruction {
            Instruction::Model => json!("the model's own"),
            Instruction::Absent => json!(null),
            Instruction::Given(task) => json!(task),
        };
        let precision = match self.precision {
            Precision::F32 => "f32",
            Precision::F16 => "f16",
        };
        json!({"model": self.model.spec(), "instruction": instruction, "precision": precision})
    }

    pub(super) fn embed_questions(&self, questions: &[String]) -> Result<Vec<Vec<f32>>> {
        match &self.instruction {
            Instruction::Model => self.model.embed_questions(questions),
            Instruction::Absent => self.model.embed(questions),
            Instruction::Given(task) => {
                let instructed: Vec<String> =
                    questions.iter().map(|question| format!("Instruct: {task}\nQuery: {question}")).collect();
                self.model.embed(&instructed)
            }
        }
    }

    /// Shows the settings.
    pub fn evcxr_display(&self) {
        signal::display(None, None, &self.name());
    }
}

/// Embeds passages batch by batch; `keep` gets every batch before the next begins.
fn embed(
    model: &Arc<dyn Embed>,
    passages: &[Arc<Passage>],
    keep: &mut dyn FnMut(&[Vec<f32>]) -> Result<()>,
) -> Result<Vec<Vec<f32>>> {
    let progress = Progress::new("Embedding passages", passages.len());
    let mut rows = Vec::with_capacity(passages.len());
    for batch in passages.chunks(BATCH) {
        signal::check("embeddings that a lab keeps are not lost")?;
        let texts: Vec<String> = batch.iter().map(|passage| passage.text.clone()).collect();
        let made = model.embed(&texts)?;
        if made.len() != texts.len() {
            return Err(Error::input(format!("the model gave {} vectors for {} texts", made.len(), texts.len())));
        }
        keep(&made)?;
        rows.extend(made);
        progress.advance(batch.len());
    }
    Ok(rows)
}

/// Every passage's vector, compared with every question's.
#[derive(Debug)]
struct Exact {
    vectors: Vectors,
    recipe: Dense,
}

impl Engine for Exact {
    fn search(&self, questions: &[String], k: usize, keep: Option<&Arc<Vec<bool>>>) -> Result<Vec<Vec<Hit>>> {
        let asked = self.recipe.embed_questions(questions)?;
        if asked.len() != questions.len() {
            return Err(Error::input(format!(
                "the model gave {} vectors for {} questions",
                asked.len(),
                questions.len()
            )));
        }
        self.vectors.search(&asked, k, keep.map(|keep| keep.as_slice()))
    }

    fn spec(&self) -> Value {
        let mut spec = self.recipe.spec();
        spec["engine"] = json!("exact cosine");
        spec
    }

    fn index_bytes(&self) -> Option<u64> {
        Some(self.vectors.bytes())
    }
}
