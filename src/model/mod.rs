//! Models. In this release: one embedder that learns nothing and downloads nothing.

pub mod local;

use serde_json::Value;

use crate::error::Result;

/// Turns texts into vectors.
pub trait Embed: std::fmt::Debug + Send + Sync {
    /// One vector a text, all of one length, each of Euclidean norm 1 or all zeros.
    ///
    /// # Errors
    /// When the model fails.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>>;

    /// Says exactly what it is: name, revision, settings.
    fn spec(&self) -> Value;
}
