//! One decoder for Llama, Mistral, Mixtral, Qwen2, Qwen3 and SmolLM2.
//!
//! Sequences are packed, never padded: the matrix products run over the tokens of all sequences together, attention
//! runs over each sequence's own keys. So batches of unequal lengths need no mask, and a prompt next to another gets
//! the same computation as alone.

use std::sync::atomic::{AtomicBool, Ordering};

use candle_core::{DType, Device, Result, Tensor};
use serde_json::Value;

use super::activation::gated;
use super::attention::{Sight, attend};
use super::config::DecoderConfig;
use super::experts::Experts;
use super::failed;
use super::heads::Heads;
use super::linear::{Linear, Stack, Weight};
use super::names::Names;
use super::norm::over_root_mean_square;
use super::numbers::numbers;
use super::rope::Rope;
use super::then::Then;
use super::weights::Weights;
use crate::error::{Error, ErrorKind, Result as OurResult};

/// Keys and values of one sequence, allocated once.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    /// Each (shared heads, capacity, width).
    layers: Vec<(Tensor, Tensor)>,
    pub(super) length: usize,
    pub(super) capacity: usize,
}

impl Cache {
    /// Forgets everything from this position on.
    pub(super) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }
}

/// New tokens of a sequence, and what it has seen before.
pub(super) struct Sequence<'a> {
    pub(super) cache: &'a mut Cache,
    pub(super) ids: &'a [u32],
}

#[derive(Debug)]
enum Mlp {
    Dense { up: Stack, down: Linear },
    Experts(Experts),
}

#[derive(Debug)]
struct Layer {
    before_attention: Tensor,
    qkv: Stack,
    /// Norms of single heads' queries and keys (Qwen3).
    head_norms: Option<(Tensor, Tensor)>,
    output: Linear,
    before_mlp: Tensor,
    mlp: Mlp,
}

/// A decoder's weights.
#[derive(Debug)]
pub(super) struct Decoder {
    pub(super) config: DecoderConfig,
    embedding: Weight,
    layers: Vec<Layer>,
    norm: Tensor,
    head: Option<Linear>,
    rope: Rope,
    dtype: DType,
    device: Device,
}

impl Decoder {
    /// Loads from a folder with safetensors.
    pub(super) fn from_folder(
        folder: &std::path::Path,
        config: &Value,
        generation: Option<&Value>,
        dtype: DType,
        device: &Device,
    ) -> OurResult<Self> {
        let config = DecoderConfig::from_json(config, generation)?;
        let weights = Weights::safetensors(folder, dtype, device, &["model.", ""], "embed_tokens.weight")?;
        Self::load(config, &weights, &Names::SAFETENSORS)
    }

    /// Loads from a GGUF file that has been opened.
    pub(super) fn from_gguf(weights: &Weights) -> OurResult<Self> {
        let divisors = if weights.has("rope_freqs.weight") {
            let tensor = weights.tensor("rope_freqs.weight")?;
            Some(tensor.to_device(&Device::Cpu).and_then(|tensor| tensor.to_vec1::<f32>()).map_err(failed)?)
        } else {
            None
        };
        let header = weights.header().ok_or_else(|| Error::new(ErrorKind::Internal, "not a GGUF file"))?;
        let config = DecoderConfig::from_gguf(header, divisors)?;
        Self::load(config, weights, &Names::GGUF)
    }

    fn load(config: DecoderConfig, weights: &Weights, names: &Names) -> OurResult<Self> {
        let norm = |name: &str| weights.tensor_as(&format!("{name}.weight"), DType::F32);
        let embedding_name = format!("{}.weight", names.embedding);
        let embedding = if weights.header().is_some() {
            Weight::quantized(weights.quantized(&embedding_name)?).map_err(failed)?
        } else {
            Weight::dense(weights.tensor(&embedding_name)?).map_err(failed)?
        };
        let width = embedding.shape().map_err(failed)?.1;
        if width != config.hidden {
            return Err(two_models(&format!("embeddings of {width} numbers, where its config says {}", config.hidden)));
        }
        let is_interleaved = weights.header().is_some() && config.architecture == "llama";
        let mut layers = Vec::with_capacity(config.layers);
        for place in 0..config.layers {
            let at = |part: &str| names.layer(place, part);
            let turn = |heads: usize| is_interleaved.then_some(heads);
            let qkv = weights.stacked(
                &[at(names.query), at(names.key), at(names.value)],
                &[turn(config.heads), turn(config.kv_heads), None],
            )?;
            let qkv = Stack(qkv);
            let query_norm = at(names.query_norm);
            let head_norms = if weights.has(&format!("{query_norm}.weight")) {
                Some((norm(&query_norm)?, norm(&at(names.key_norm))?))
            } else {
                None
            };
            check_heads(&config, place, qkv.height().map_err(failed)?, head_norms.as_ref())?;
            layers.push(Layer {
                before_attention: norm(&at(names.before_attention))?,
                qkv,
                head_norms,
                output: weights.linear(&at(names.output))?,
                before_mlp: norm(&at(names.before_mlp))?,
                mlp: match config.experts {
                    None => Mlp::Dense {
                        up: Stack(weights.stacked(&[at(names.gate), at(names.up)], &[None, None])?),
                        down: weights.linear(&at(names.down))?,
                    },
                    Some((all, used)) => Mlp::Experts(Experts::load(weights, names, place, all, used)?),
                },
            });
        }
        let final_norm = norm(names.norm)?;
        let head = Self::load_head(&config, weights, names, &embedding)?;
        weights.nothing_left(&["rotary_emb.inv_freq", "rope_freqs"])?;
        let rope = Rope::new(&config, DType::F32, &weights.device);
        let (dtype, device) = (weights.dtype, weights.device.clone());
        Ok(Self { config, embedding, layers, norm: final_norm, head, rope, dtype, device })
    }

    /// The head: its own weights, the embedding's if they are tied, or none in a model for embeddings.
    fn load_head(
        config: &DecoderConfig,
        weights: &Weights,
        names: &Names,
        embedding: &Weight,
    ) -> OurResult<Option<Linear>> {
        if let Some(own) = weights.unprefixed(names.head)? {
            return Ok(Some(own));
        }
        Ok(config.tied.then(|| Linear::new(embedding.clone(), None)))
    }

    /// An empty cache for so many tokens.
    pub(super) fn cache(&self, capacity: usize) -> Result<Cache> {
        let shape = (self.config.kv_heads, capacity, self.config.head_width);
        let one = || Tensor::zeros(shape, self.dtype, &self.device);
        let layers = (0..self.config.layers).map(|_| Ok((one()?, one()?))).collect::<Result<_>>()?;
        Ok(Cache { layers, length: 0, capacity })
    }

    /// A cache of its own that begins with the first `length` positions of another.
    pub(super) fn copied(&self, from: &Cache, length: usize, capacity: usize) -> Result<Cache> {
        let mut made = self.cache(capacity)?;
        for ((k, v), (from_k, from_v)) in made.layers.iter().zip(&from.layers) {
            if length > 0 {
                k.slice_set(&from_k.narrow(1, 0, length)?.contiguous()?, 1, 0)?;
                v.slice_set(&from_v.narrow(1, 0, length)?.contiguous()?, 1, 0)?;
            }
        }
        made.length = length;
        Ok(made)
    }

    /// The last layer's states, normalised, of all new tokens, packed in order: (tokens, hidden). Every cache must
    /// have room.
    pub(super) fn forward(&self, batch: &mut [Sequence<'_>]) -> Result<Tensor> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        match self.forward_unless(batch, &NEVER)? {
            Some(states) => Ok(states),
            None => candle_core::bail!("stopped by nobody"),
        }
    }

    /// The same; `None` if it was stopped between two layers, and the caches are as they were.
    pub(super) fn forward_unless(&self, batch: &mut [Sequence<'_>], stop: &AtomicBool) -> Result<Option<Tensor>> {
        if !self.device.is_cpu() {
            return self.layers(batch, stop);
        }
        // On a thread of the pool, or else each of a token's hundred small operations would wake one up.
        candle_core::utils::with_threadpool(|| self.layers(batch, stop))
    }

    fn layers(&self, batch: &mut [Sequence<'_>], stop: &AtomicBool) -> Result<Option<Tensor>> {
        let ids: Vec<u32> = batch.iter().flat_map(|one| one.ids.iter().copied()).collect();
        let tokens = ids.len();
        if let Some(odd) = ids.iter().find(|id| **id as usize >= self.config.vocabulary) {
            candle_core::bail!("token {odd} is outside the vocabulary of {}", self.config.vocabulary);
        }
        if let Some(full) = batch.iter().find(|one| one.cache.length + one.ids.len() > one.cache.capacity) {
            candle_core::bail!("a cache for {} tokens is full", full.cache.capacity);
        }
        let positions: Vec<usize> =
            batch.iter().flat_map(|one| one.cache.length..one.cache.length + one.ids.len()).collect();
        let (cosines, sines) = self.rope.at(&positions)?;
        let seen = self.seen(batch)?;
        let ids = Tensor::from_vec(ids, tokens, &self.device)?;
        let mut states = self.embedding.rows(&ids)?;
        for (place, layer) in self.layers.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let normed = self.normed(&states, &layer.before_attention)?;
            let attended = self.attention(layer, place, &normed, batch, &seen, (&cosines, &sines))?;
            states = layer.output.forward_then(&attended, Then::Add(&states))?;
            let normed = self.normed(&states, &layer.before_mlp)?;
            states = match &layer.mlp {
                Mlp::Dense { up, down } => down.forward_then(&gated(&up.forward(&normed)?)?, Then::Add(&states))?,
                Mlp::Experts(experts) => (states + experts.forward(&normed)?)?,
            };
        }
        for one in batch.iter_mut() {
            one.cache.length += one.ids.len();
        }
        self.normed(&states, &self.norm).map(Some)
    }

    /// What the new tokens of each sequence see, once for all layers.
    fn seen(&self, batch: &[Sequence<'_>]) -> Result<Vec<(Sight, Option<Tensor>)>> {
        batch
            .iter()
            .map(|one| {
                let sight = Sight { offset: one.cache.length, window: self.config.window };
                Ok((sight, sight.mask(one.ids.len(), self.dtype, &self.device)?))
            })
            .collect()
    }

    /// Logits of some states, in f32.
    pub(super) fn logits(&self, states: &Tensor) -> Result<Tensor> {
        match &self.head {
            Some(head) => head.forward(states)?.to_dtype(DType::F32),
            None => candle_core::bail!("the checkpoint has no lm_head: it is made for embeddings, not for text"),
        }
    }

    fn normed(&self, states: &Tensor, weight: &Tensor) -> Result<Tensor> {
        let wide = states.to_dtype(DType::F32)?;
        over_root_mean_square(&wide, weight, self.config.epsilon as f32)?.to_dtype(self.dtype)
    }

    /// What every query takes from the values: (tokens, heads · width).
    fn attention(
        &self,
        layer: &Layer,
        place: usize,
        normed: &Tensor,
        batch: &[Sequence<'_>],
        seen: &[(Sight, Option<Tensor>)],
        (cosines, sines): (&Tensor, &Tensor),
    ) -> Result<Tensor> {
        let qkv = layer.qkv.forward(normed)?;
        if !qkv.device().is_cpu() || qkv.dtype() != DType::F32 {
            let (q, k, v) = self.turned(layer, &qkv, (cosines, sines))?;
            return attend_each(&q, place, batch, seen, &|(from, new), (keys, values), at| {
                keys.slice_set(&k.narrow(0, from, new)?.transpose(0, 1)?.contiguous()?, 1, at)?;
                values.slice_set(&v.narrow(0, from, new)?.transpose(0, 1)?.contiguous()?, 1, at)
            });
        }
        let (rows, cosines, sines) =
            (qkv.storage_and_layout(), cosines.storage_and_layout(), sines.storage_and_layout());
        let norms = layer.head_norms.as_ref().map(|(q, k)| (q.storage_and_layout(), k.storage_and_layout()));
        let norms = match &norms {
            Some((q, k)) => Some((numbers(&q.0, q.1)?, numbers(&k.0, k.1)?, self.config.epsilon as f32)),
            None => None,
        };
        let heads = Heads {
            rows: numbers(&rows.0, rows.1)?,
            heads: self.config.heads,
            shared: self.config.kv_heads,
            width: self.config.head_width,
            cosines: numbers(&cosines.0, cosines.1)?,
            sines: numbers(&sines.0, sines.1)?,
            norms,
        }
        .checked()?;
        attend_each(&heads.queries()?, place, batch, seen, &|new, cache, at| heads.remember(new, cache, at))
    }

    /// Queries, turned and scaled, keys, turned, and values: each (tokens, heads, width).
    fn turned(
        &self,
        layer: &Layer,
        qkv: &Tensor,
        (cosines, sines): (&Tensor, &Tensor),
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let (heads, shared, width) = (self.config.heads, self.config.kv_heads, self.config.head_width);
        let tokens = qkv.dim(0)?;
        let part = |from: usize, heads: usize| {
            qkv.narrow(1, from * width, heads * width)?.contiguous()?.reshape((tokens, heads, width))
        };
        let (mut q, mut k) = (part(0, heads)?, part(heads, shared)?);
        if let Some((query_norm, key_norm)) = &layer.head_norms {
            q = self.normed(&q, query_norm)?;
            k = self.normed(&k, key_norm)?;
        }
        let turn = |x: &Tensor| {
            let wide = x.to_dtype(DType::F32)?.unsqueeze(0)?;
            candle_nn::rotary_emb::rope_thd(&wide, cosines, sines)?.squeeze(0)
        };
        let q = (turn(&q)? * (width as f64).sqrt().recip())?.to_dtype(self.dtype)?;
        Ok((q, turn(&k)?.to_dtype(self.dtype)?, part(heads + shared, shared)?))
    }
}

/// Refuses weights of another shape than the config says, when they are loaded and not when they are first used.
fn check_heads(config: &DecoderConfig, layer: usize, rows: usize, norms: Option<&(Tensor, Tensor)>) -> OurResult<()> {
    let (heads, shared, width) = (config.heads, config.kv_heads, config.head_width);
    let expected = (heads + 2 * shared) * width;
    let is_head = |norm: &Tensor| norm.elem_count() == width;
    if rows == expected && norms.is_none_or(|(query, key)| is_head(query) && is_head(key)) {
        return Ok(());
    }
    let told = match norms {
        Some((query, key)) if rows == expected => {
            let (query, key) = (query.elem_count(), key.elem_count());
            format!("norms of {query} and {key} numbers in layer {layer}, where its config says heads of {width}")
        }
        _ => format!(
            "{rows} rows for queries, keys and values in layer {layer}, where its config asks for {expected}: {heads} heads of queries, {shared} of \
             keys and as many of values, each {width} wide"
        ),
    };
    Err(two_models(&told))
}

fn two_models(told: &str) -> Error {
    Error::input(format!("the checkpoint has {told}"))
        .help("config (or GGUF header) and weights are of two models, or one is damaged: fetch the model again")
}

/// Puts keys and values of some new tokens (the first, and how many) into a layer's cache, from a position on.
type Remember<'a> = dyn Fn((usize, usize), (&Tensor, &Tensor), usize) -> Result<()> + 'a;

/// Every sequence's queries over its own keys, once `remember` has put the new ones into its cache.
fn attend_each(
    q: &Tensor,
    place: usize,
    batch: &[Sequence<'_>],
    seen: &[(Sight, Option<Tensor>)],
    remember: &Remember<'_>,
) -> Result<Tensor> {
    let mut attended = Vec::with_capacity(batch.len());
    let mut from = 0;
    for (one, (sight, mask)) in batch.iter().zip(seen) {
        let (new, offset) = (one.ids.len(), one.cache.length);
        let Some((keys, values)) = one.cache.layers.get(place) else { candle_core::bail!("a cache of another model") };
        remember((from, new), (keys, values), offset)?;
        attended.push(attend(
            &q.narrow(0, from, new)?,
            &keys.narrow(1, 0, offset + new)?,
            &values.narrow(1, 0, offset + new)?,
            *sight,
            mask.as_ref(),
        )?);
        from += new;
    }
    match attended.as_slice() {
        [one] => Ok(one.clone()),
        several => Tensor::cat(several, 0),
    }
}
