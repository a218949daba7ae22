//! From files to models.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::chat::Chat;
use super::config::whole;
use super::decoder::Decoder;
use super::embedder::{LocalEmbedder, Model as EmbedModel, Recipe};
use super::encoder::{Encoder, Head, NOT_NEEDED, open};
use super::engine::Engine;
use super::nli::{LocalClassifier, Model as NliModel, Order};
use super::text::Text;
use super::weights::{Weights, safetensors_files};
use super::worker::Worker;
use super::{Local, json as json_file};
use crate::error::{Error, ErrorKind, Result};
use crate::model::checksum::checksum;
use crate::model::{Classifier, Embed, LanguageModel};

/// The files that a model consists of.
struct Files {
    folder: PathBuf,
    gguf: Option<PathBuf>,
    weights: Vec<PathBuf>,
}

impl Files {
    fn of(local: &Local) -> Result<Self> {
        let path = &local.path;
        if path.is_dir() {
            let mut ggufs: Vec<PathBuf> = std::fs::read_dir(path)
                .map_err(|error| Error::file(path, &error))?
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|kind| kind == "gguf"))
                .collect();
            ggufs.sort();
            return match ggufs.as_slice() {
                [] => Ok(Self { folder: path.clone(), gguf: None, weights: safetensors_files(path)? }),
                [one] => Ok(Self { folder: path.clone(), gguf: Some(one.clone()), weights: ggufs }),
                several => Err(Error::input(format!("{} holds {} GGUF files", path.display(), several.len()))
                    .help("name one of them")),
            };
        }
        if path.is_file() {
            let folder = path.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
            return Ok(Self { folder, gguf: Some(path.clone()), weights: vec![path.clone()] });
        }
        Err(Error::new(ErrorKind::NotFound, format!("there is no model at {}", path.display()))
            .help("give a folder with config.json, tokenizer.json and safetensors, or a GGUF file"))
    }

    fn config(&self) -> Result<Value> {
        let path = self.folder.join("config.json");
        json_file(&path)?.ok_or_else(|| Error::new(ErrorKind::NotFound, format!("{} is missing", path.display())))
    }

    fn bytes(&self) -> u64 {
        self.weights.iter().filter_map(|path| std::fs::metadata(path).ok()).map(|data| data.len()).sum()
    }

    /// What identifies the model: the weights' digests, and not where they lie.
    fn identity(&self, local: &Local, text: &Text) -> Result<Value> {
        let sums = self.weights.iter().map(|path| checksum(path)).collect::<Result<Vec<_>>>()?;
        Ok(json!({"kind": "local", "weights_sha256": sums, "text": text.sum, "device": local.device.kind()?,
            "precision": format!("{:?}", local.precision).to_lowercase()}))
    }

    fn text(&self) -> Result<Text> {
        if self.folder.join("tokenizer.json").is_file() {
            return Text::from_folder(&self.folder);
        }
        match &self.gguf {
            Some(path) => {
                let weights = Weights::gguf(path, &candle_core::Device::Cpu)?;
                let header = weights.header().ok_or_else(|| Error::input("not a GGUF file"))?;
                Text::from_gguf(header).map_err(|error| error.context(path.display().to_string()))
            }
            None => Text::from_folder(&self.folder),
        }
    }
}

fn decoder(files: &Files, local: &Local) -> Result<Decoder> {
    let device = local.device.open()?;
    match &files.gguf {
        Some(path) => {
            let weights = Weights::gguf(path, &device)?;
            Decoder::from_gguf(&weights).map_err(|error| error.context(path.display().to_string()))
        }
        None => {
            let generation = json_file(&files.folder.join("generation_config.json"))?;
            let dtype = local.precision.on(&device)?;
            Decoder::from_folder(&files.folder, &files.config()?, generation.as_ref(), dtype, &device)
                .map_err(|error| error.context(files.folder.display().to_string()))
        }
    }
}

fn engine(local: &Local, files: Files, text: &Arc<Text>, name: &str) -> Arc<Worker<Engine>> {
    let (local, text) = (local.clone(), text.clone());
    Worker::new(name, files.bytes(), move || Ok(Engine::new(decoder(&files, &local)?, text.clone(), local.slots)))
}

pub(super) fn language_model(local: &Local, name: &str) -> Result<LanguageModel> {
    let files = Files::of(local)?;
    let text = Arc::new(files.text()?);
    let spec = files.identity(local, &text)?;
    let worker = engine(local, files, &text, name);
    worker.ready()?;
    let context = worker.call(|engine| engine.decoder.config.context)?;
    Ok(LanguageModel::new(name, Arc::new(Chat { worker, text, slots: local.slots, context, spec })))
}

fn is_decoder(config: &Value) -> bool {
    let kind = config.get("model_type").and_then(Value::as_str).unwrap_or_default();
    ["llama", "mistral", "mixtral", "qwen2", "qwen3"].contains(&kind)
}

pub(super) fn embedder(local: &Local) -> Result<Arc<dyn Embed>> {
    let files = Files::of(local)?;
    let text = Arc::new(files.text()?);
    let spec = files.identity(local, &text)?;
    let name = local.path.file_name().map_or_else(|| "embedder".to_owned(), |name| name.to_string_lossy().into_owned());
    let config = if files.gguf.is_some() { Value::Null } else { files.config()? };
    let limit = whole(&config, "max_position_embeddings")?.unwrap_or(4096);
    if files.gguf.is_some() || is_decoder(&config) {
        let mut recipe = Recipe::from_folder(&files.folder, limit.min(4096))?;
        adapt(&mut recipe, local);
        let end = text.end_id().or_else(|| {
            let id = whole(&config, "eos_token_id").ok().flatten()?;
            Some(id as u32)
        });
        let end = end
            .ok_or_else(|| Error::input("the tokenizer names no token that ends a text, whose state is the vector"))?;
        let (from, words) = (local.clone(), text.clone());
        let worker = Worker::new(&name, files.bytes(), move || {
            Ok(EmbedModel::Decoder(Box::new(Engine::new(decoder(&files, &from)?, words.clone(), 1))))
        });
        worker.ready()?;
        return Ok(Arc::new(LocalEmbedder { worker, text, recipe, end: Some(end), spec }));
    }
    let offset = if config.get("model_type").and_then(Value::as_str) == Some("bert") { 0 } else { 2 };
    let mut recipe = Recipe::from_folder(&files.folder, limit.saturating_sub(offset).max(1))?;
    adapt(&mut recipe, local);
    let device = local.device.open()?;
    let worker = Worker::new(&name, files.bytes(), move || {
        let weights = open(&files.folder, &device)?;
        let encoder = Encoder::load(&config, &weights)?;
        weights.nothing_left(&NOT_NEEDED)?;
        Ok(EmbedModel::Encoder(encoder))
    });
    worker.ready()?;
    Ok(Arc::new(LocalEmbedder { worker, text, recipe, end: None, spec }))
}

fn adapt(recipe: &mut Recipe, local: &Local) {
    if let Some((question, passage)) = &local.prefixes {
        recipe.question_prefix.clone_from(question);
        recipe.passage_prefix.clone_from(passage);
    }
    recipe.longest = local.longest.unwrap_or(recipe.longest).min(recipe.longest).max(4);
}

pub(super) fn classifier(local: &Local, name: &str) -> Result<Classifier> {
    let files = Files::of(local)?;
    let text = Arc::new(files.text()?);
    let config = files.config()?;
    let order = Order::from_config(&config)?;
    let spec = files.identity(local, &text)?;
    let device = local.device.open()?;
    let worker = Worker::new(name, files.bytes(), move || {
        let weights = open(&files.folder, &device)?;
        let (encoder, head) = (Encoder::load(&config, &weights)?, Head::load(&config, &weights)?);
        weights.nothing_left(&NOT_NEEDED)?;
        Ok(NliModel { encoder, head })
    });
    let most = worker.call(|model| model.encoder.longest)?;
    // Models for pairs are fine-tuned on 512 tokens at most, whatever their table of positions would allow.
    let longest = local.longest.unwrap_or(512).min(most);
    Ok(Classifier::new(name, Arc::new(LocalClassifier { worker, text, order, longest, spec })))
}
