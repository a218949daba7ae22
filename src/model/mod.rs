//! Models, behind three seams: embed, generate, classify.

mod cassette;
mod checksum;
mod classify;
mod generate;
mod journaled;
pub mod local;
mod remote;
mod scripted;
mod shelf;

pub use classify::{Classifier, Classify, Pair, Probabilities};
pub use generate::{Finish, Generate, LanguageModel, Message, Prompt, Reply, Role, Served, Watch, generate_all};
pub use local::{Device, Local, Precision};
pub use remote::{Endpoint, Imported, Price, violation};
pub use shelf::Shelf;

use serde_json::Value;

use crate::error::Result;

/// Turns texts into vectors.
pub trait Embed: std::fmt::Debug + Send + Sync {
    /// One vector a passage, all of one length, each of Euclidean norm 1 or all zeros.
    ///
    /// # Errors
    /// When the model fails.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>>;

    /// The same for questions, which some models want prefixed or instructed differently.
    ///
    /// # Errors
    /// When the model fails.
    fn embed_questions(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        self.embed(texts)
    }

    /// Says exactly what it is: name, revision, settings.
    fn spec(&self) -> Value;
}
