//! Local models that turn texts into vectors.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::encoder::{Encoder, Input, pooled};
use super::engine::Engine;
use super::failed;
use super::text::Text;
use super::worker::Worker;
use crate::error::{Error, Result};
use crate::model::Embed;
use crate::signal::{self, Progress};

/// Tokens that go through the model together.
const TOGETHER: usize = 2048;

/// What a model's card says about its use.
#[derive(Debug, Clone)]
pub(super) struct Recipe {
    /// Before questions and before passages.
    pub(super) question_prefix: String,
    pub(super) passage_prefix: String,
    /// Mean over tokens; otherwise the first token (`cls`).
    pub(super) is_mean: bool,
    /// Tokens of a window, special ones included.
    pub(super) longest: usize,
}

impl Recipe {
    /// From the files that sentence-transformers saves beside a model, with mean pooling where there are none.
    pub(super) fn from_folder(folder: &Path, longest: usize) -> Result<Self> {
        let pooling = super::json(&folder.join("1_Pooling/config.json"))?.unwrap_or(Value::Null);
        let is_on = |name: &str| pooling.get(name).and_then(Value::as_bool).unwrap_or(false);
        let (mean, first) = (is_on("pooling_mode_mean_tokens"), is_on("pooling_mode_cls_token"));
        if !pooling.is_null() && mean == first {
            return Err(Error::input("1_Pooling/config.json asks for a pooling that is not supported")
                .help("mean over tokens and the first token are"));
        }
        let settings = super::json(&folder.join("sentence_bert_config.json"))?.unwrap_or(Value::Null);
        let given = settings.get("max_seq_length").and_then(Value::as_u64).map(|n| n as usize);
        let prompts = super::json(&folder.join("config_sentence_transformers.json"))?.unwrap_or(Value::Null);
        let prompt = |names: &[&str]| {
            let found = names.iter().find_map(|name| prompts.get("prompts").and_then(|all| all.get(*name)));
            found.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        Ok(Self {
            question_prefix: prompt(&["query"]),
            passage_prefix: prompt(&["passage", "document"]),
            is_mean: !first,
            longest: given.unwrap_or(longest).min(longest),
        })
    }
}

pub(super) enum Model {
    Encoder(Encoder),
    /// E5-Mistral: the state of an end token that is appended here, for the tokenizer does not append it.
    Decoder(Box<Engine>),
}

pub(super) struct LocalEmbedder {
    pub(super) worker: Arc<Worker<Model>>,
    pub(super) text: Arc<Text>,
    pub(super) recipe: Recipe,
    /// The token that a decoder's text ends with.
    pub(super) end: Option<u32>,
    pub(super) spec: Value,
}

impl std::fmt::Debug for LocalEmbedder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "LocalEmbedder {}", self.spec)
    }
}

impl LocalEmbedder {
    /// Windows of at most the longest length: a text that is longer becomes several.
    fn windows(&self, text: &str) -> Result<Vec<Vec<u32>>> {
        let ids = self.text.encode(text, true)?;
        if let Some(end) = self.end {
            let mut ids = ids;
            ids.truncate(self.recipe.longest - 1);
            if ids.last() != Some(&end) {
                ids.push(end);
            }
            return Ok(vec![ids]);
        }
        if ids.len() <= self.recipe.longest {
            return Ok(vec![ids]);
        }
        let bare = self.text.encode(text, false)?;
        let around = ids.len() - bare.len();
        let room = self.recipe.longest.saturating_sub(around).max(1);
        // Special tokens stand before and after, as the tokenizer put them around the whole.
        let head = (0..=around).find(|n| ids.get(*n..*n + bare.len()) == Some(bare.as_slice())).ok_or_else(|| {
            Error::input("this tokenizer puts special tokens inside texts: long texts cannot be cut into windows")
        })?;
        let (open, close) = (&ids[..head], &ids[head + bare.len()..]);
        Ok(bare.chunks(room).map(|piece| [open, piece, close].concat()).collect())
    }

    fn all(&self, texts: &[String], prefix: &str) -> Result<Vec<Vec<f32>>> {
        let mut windows: Vec<(usize, Vec<u32>)> = Vec::new();
        for (place, text) in texts.iter().enumerate() {
            for ids in self.windows(&format!("{prefix}{text}"))? {
                windows.push((place, ids));
            }
        }
        // Texts of like length together: their products are of like shape.
        windows.sort_by_key(|(_, ids)| ids.len());
        let progress = Progress::new("Embedding", windows.len());
        let mut sums: Vec<Vec<f64>> = vec![Vec::new(); texts.len()];
        let mut rest = windows.as_slice();
        while !rest.is_empty() {
            signal::check("nothing of this embedding is kept")?;
            let mut tokens = 0;
            let fits = rest.iter().take_while(|(_, ids)| {
                tokens += ids.len();
                tokens <= TOGETHER
            });
            let n = fits.count().max(1);
            let (batch, after) = rest.split_at(n);
            let ids: Vec<Vec<u32>> = batch.iter().map(|(_, ids)| ids.clone()).collect();
            let is_mean = self.recipe.is_mean;
            let vectors = self.worker.call(move |model| model.vectors(ids, is_mean))??;
            for ((place, ids), vector) in batch.iter().zip(vectors) {
                let Some(sum) = sums.get_mut(*place) else { continue };
                sum.resize(vector.len(), 0.0);
                // The mean over a long text's tokens: each window weighs as much as it is long.
                for (sum, value) in sum.iter_mut().zip(vector) {
                    *sum += f64::from(value) * ids.len() as f64;
                }
            }
            progress.advance(n);
            rest = after;
        }
        Ok(sums.into_iter().map(|sum| normalised(&sum)).collect())
    }
}

fn normalised(vector: &[f64]) -> Vec<f32> {
    let norm = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
    vector.iter().map(|value| if norm > 0.0 { (value / norm) as f32 } else { 0.0 }).collect()
}

impl Model {
    fn vectors(&self, ids: Vec<Vec<u32>>, is_mean: bool) -> Result<Vec<Vec<f32>>> {
        match self {
            Self::Encoder(encoder) => {
                let lengths: Vec<usize> = ids.iter().map(Vec::len).collect();
                let batch: Vec<Input> = ids.into_iter().map(|ids| Input { kinds: vec![0; ids.len()], ids }).collect();
                pooled(&encoder.forward(&batch).map_err(failed)?, &lengths, is_mean)
            }
            Self::Decoder(engine) => engine
                .states(&ids)?
                .into_iter()
                .map(|states| {
                    let last = states.dim(0).and_then(|n| states.get(n.saturating_sub(1)));
                    last.and_then(|last| last.to_dtype(candle_core::DType::F32)?.to_vec1()).map_err(failed)
                })
                .collect(),
        }
    }
}

impl Embed for LocalEmbedder {
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        self.all(texts, &self.recipe.passage_prefix)
    }

    fn embed_questions(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        self.all(texts, &self.recipe.question_prefix)
    }

    fn spec(&self) -> Value {
        let recipe = &self.recipe;
        json!({"embedder": self.spec, "pooling": if self.end.is_some() { "last" } else if recipe.is_mean { "mean" } else { "first" },
            "question_prefix": recipe.question_prefix, "passage_prefix": recipe.passage_prefix, "longest": recipe.longest})
    }
}
