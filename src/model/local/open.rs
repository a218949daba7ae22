//! How a local model is opened; the same with and without the feature `local`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Result;
use crate::model::{Classifier, Embed, LanguageModel};
use crate::signal;

/// What a model computes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// The first GPU that this build and this machine have, else the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// An NVIDIA GPU by its number, in builds with the feature `cuda`.
    Cuda(usize),
    /// Apple's GPU, in builds with the feature `metal`.
    Metal,
}

/// The numbers that dense weights are kept and multiplied in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// f32 on the processor, bf16 on a GPU. Quantized checkpoints keep their own.
    #[default]
    Auto,
    /// Single precision.
    F32,
    /// Half precision.
    F16,
    /// bfloat16.
    Bf16,
}

/// A checkpoint on this machine, and how to open it: a folder with `config.json`, `tokenizer.json` and safetensors, or a
/// GGUF file (with `tokenizer.json` beside it unless its own tokenizer is one that is known to come out right).
///
/// ```
/// use claimlab::model::{Device, Local};
/// let missing = Local::at("no/such/folder").device(Device::Cpu).language_model("M");
/// assert!(missing.unwrap_err().to_string().contains("no/such/folder"));
/// ```
#[derive(Debug, Clone)]
pub struct Local {
    pub(super) path: PathBuf,
    pub(super) device: Device,
    pub(super) precision: Precision,
    pub(super) slots: usize,
    pub(super) prefixes: Option<(String, String)>,
    pub(super) longest: Option<usize>,
}

impl Local {
    /// A folder or a GGUF file.
    #[must_use]
    pub fn at(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            device: Device::Auto,
            precision: Precision::Auto,
            slots: 4,
            prefixes: None,
            longest: None,
        }
    }

    /// Where to compute [`Device::Auto`].
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// What dense weights are kept in [`Precision::Auto`].
    #[must_use]
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// How many replies are written at a time [4]. With 1, a reply never depends on its neighbours, to the last bit.
    #[must_use]
    pub fn slots(mut self, slots: usize) -> Self {
        self.slots = slots.max(1);
        self
    }

    /// What an embedder puts before questions and before passages, as the model's card says [what its files say, or
    /// nothing]. E5: `("query: ", "passage: ")`.
    #[must_use]
    pub fn prefixes(mut self, question: &str, passage: &str) -> Self {
        self.prefixes = Some((question.to_owned(), passage.to_owned()));
        self
    }

    /// The task that an instructed embedder such as E5-Mistral puts before questions, in that model's form:
    /// `Instruct: {task}`, a line break, `Query: {question}`. Passages stay plain.
    #[must_use]
    pub fn task(self, task: &str) -> Self {
        self.prefixes(&format!("Instruct: {task}\nQuery: "), "")
    }

    /// The most tokens that an embedder or a classifier reads at once [what the model's files say].
    #[must_use]
    pub fn longest(mut self, tokens: usize) -> Self {
        self.longest = Some(tokens.max(4));
        self
    }

    /// Shows what is to be opened, and on what.
    pub fn evcxr_display(&self) {
        signal::display(None, None, &format!("{} on {}", self.path.display(), self.device.chosen()));
    }
}

#[cfg(not(feature = "local"))]
impl Device {
    /// What this would take here, in plain words.
    #[must_use]
    pub fn chosen(self) -> String {
        "nothing: this build has no local models".to_owned()
    }
}

#[cfg(not(feature = "local"))]
impl Local {
    /// Opens a decoder.
    ///
    /// # Errors
    /// Always: this build has no local models.
    pub fn language_model(&self, _name: &str) -> Result<LanguageModel> {
        Err(crate::Error::feature_disabled("local models", "local"))
    }

    /// Opens an embedder.
    ///
    /// # Errors
    /// Always: this build has no local models.
    pub fn embedder(&self) -> Result<Arc<dyn Embed>> {
        Err(crate::Error::feature_disabled("local models", "local"))
    }

    /// Opens a classifier.
    ///
    /// # Errors
    /// Always: this build has no local models.
    pub fn classifier(&self, _name: &str) -> Result<Classifier> {
        Err(crate::Error::feature_disabled("local models", "local"))
    }
}

#[cfg(feature = "local")]
impl Local {
    /// Opens a decoder: Llama, Mistral, Mixtral, Qwen2, Qwen3, SmolLM2. A JSON schema in a prompt is not enforced while
    /// the reply is written; whoever reads the reply validates it.
    ///
    /// # Errors
    /// When files are missing or broken, or ask for what is not supported; the message names it.
    pub fn language_model(&self, name: &str) -> Result<LanguageModel> {
        super::load::language_model(self, name)
    }

    /// Opens an embedder: BERT's family with mean or first-token pooling, or a decoder such as E5-Mistral, whose text's
    /// last state is the vector.
    ///
    /// # Errors
    /// When files are missing or broken, or ask for what is not supported; the message names it.
    pub fn embedder(&self) -> Result<Arc<dyn Embed>> {
        super::load::embedder(self)
    }

    /// Opens a sequence classifier for natural language inference: BERT, RoBERTa, XLM-R, DeBERTa-v2.
    ///
    /// # Errors
    /// When files are missing or broken, or ask for what is not supported; the message names it.
    pub fn classifier(&self, name: &str) -> Result<Classifier> {
        super::load::classifier(self, name)
    }
}
