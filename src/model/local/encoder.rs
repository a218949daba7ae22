//! Encoders: BERT, RoBERTa and XLM-R, and DeBERTa-v2 (in `deberta`).
//!
//! Texts are packed, never padded, as in the decoder: there is no mask that could be wrong.

use candle_core::{DType, Result, Tensor};
use rayon::prelude::{IntoParallelIterator, ParallelIterator};
use serde_json::Value;

use super::attention::softmax_rows;
use super::config::whole;
use super::deberta::Positions;
use super::failed;
use super::inside;
use super::linear::{Linear, Stack};
use super::norm::Norm;
use super::then::Then;
use super::weights::Weights;
use crate::error::{Error, Result as OurResult};

/// One text, or pair of texts, as an encoder reads it.
#[derive(Debug, Clone)]
pub(super) struct Input {
    pub(super) ids: Vec<u32>,
    /// Which text of a pair each token belongs to.
    pub(super) kinds: Vec<u32>,
}

#[derive(Debug)]
struct Layer {
    qkv: Stack,
    attended: Linear,
    attended_norm: Norm,
    up: Linear,
    down: Linear,
    norm: Norm,
}

/// An encoder's weights.
#[derive(Debug)]
pub(super) struct Encoder {
    words: Tensor,
    positions: Option<Tensor>,
    /// The position of a text's first token: RoBERTa begins after its padding id.
    first_position: usize,
    kinds: Option<Tensor>,
    norm: Norm,
    layers: Vec<Layer>,
    heads: usize,
    /// DeBERTa's relative positions.
    relative: Option<Positions>,
    /// The longest text in tokens.
    pub(super) longest: usize,
}

/// Tensors that belong to training or to other uses of the same checkpoint.
pub(super) const NOT_NEEDED: [&str; 7] =
    ["position_ids", "pooler.", "cls.", "lm_head.", "lm_predictions.", "mask_predictions.", "classifier."];

impl Encoder {
    pub(super) fn load(config: &Value, weights: &Weights) -> OurResult<Self> {
        let kind = config.get("model_type").and_then(Value::as_str).unwrap_or_default();
        let is_deberta = kind == "deberta-v2";
        if !["bert", "roberta", "xlm-roberta", "camembert", "deberta-v2"].contains(&kind) {
            return Err(refuse(format!(
                "model_type {kind:?}; bert, roberta, xlm-roberta, camembert and deberta-v2 are"
            )));
        }
        if let Some(act) = config.get("hidden_act").and_then(Value::as_str)
            && act != "gelu"
        {
            return Err(refuse(format!("hidden_act {act:?}, expected \"gelu\"")));
        }
        if let Some(positions) = config.get("position_embedding_type").and_then(Value::as_str)
            && positions != "absolute"
        {
            return Err(refuse(format!("position_embedding_type {positions:?}")));
        }
        let need = |name: &str| whole(config, name)?.ok_or_else(|| Error::input(format!("config.json lacks {name:?}")));
        let epsilon = config.get("layer_norm_eps").and_then(Value::as_f64).unwrap_or(1e-12);
        let heads = need("num_attention_heads")?;
        if heads == 0 || !need("hidden_size")?.is_multiple_of(heads) {
            return Err(Error::input("config.json: hidden_size is not a multiple of num_attention_heads"));
        }
        let longest = need("max_position_embeddings")?;
        let first_position = match kind {
            "bert" | "deberta-v2" => 0,
            _ => whole(config, "pad_token_id")?.unwrap_or(1) + 1,
        };
        let names = if is_deberta { ["query_proj", "key_proj", "value_proj"] } else { ["query", "key", "value"] };
        let mut layers = Vec::new();
        for place in 0..need("num_hidden_layers")? {
            let at = |part: &str| format!("encoder.layer.{place}.{part}");
            let qkv = names.map(|name| at(&format!("attention.self.{name}")));
            layers.push(Layer {
                qkv: Stack(weights.stacked(&qkv, &[None; 3])?),
                attended: weights.linear(&at("attention.output.dense"))?,
                attended_norm: Norm::load(weights, &at("attention.output.LayerNorm"), epsilon)?,
                up: weights.linear(&at("intermediate.dense"))?,
                down: weights.linear(&at("output.dense"))?,
                norm: Norm::load(weights, &at("output.LayerNorm"), epsilon)?,
            });
        }
        let is_placed = !is_deberta || config.get("position_biased_input") != Some(&Value::Bool(false));
        Ok(Self {
            words: weights.tensor("embeddings.word_embeddings.weight")?,
            positions: if is_placed { Some(weights.tensor("embeddings.position_embeddings.weight")?) } else { None },
            first_position,
            kinds: weights.optional("embeddings.token_type_embeddings.weight")?,
            norm: Norm::load(weights, "embeddings.LayerNorm", epsilon)?,
            layers,
            heads,
            relative: if is_deberta { Some(Positions::load(config, weights, heads, epsilon)?) } else { None },
            longest: longest.saturating_sub(first_position),
        })
    }

    /// The last layer's states of all texts, packed: (tokens, hidden).
    pub(super) fn forward(&self, batch: &[Input]) -> Result<Tensor> {
        if self.words.device().is_cpu() {
            return candle_core::utils::with_threadpool(|| self.states(batch));
        }
        self.states(batch)
    }

    fn states(&self, batch: &[Input]) -> Result<Tensor> {
        let device = self.words.device();
        let gather = |table: &Tensor, ids: Vec<u32>| {
            let n = ids.len();
            let size = table.dim(0)?;
            if let Some(odd) = ids.iter().find(|id| **id as usize >= size) {
                candle_core::bail!("token or position {odd} is outside a table of {size}");
            }
            table.index_select(&Tensor::from_vec(ids, n, device)?, 0)
        };
        let mut states = gather(&self.words, batch.iter().flat_map(|one| one.ids.iter().copied()).collect())?;
        if let Some(table) = &self.positions {
            let places =
                |one: &Input| (0..one.ids.len()).map(|place| (place + self.first_position) as u32).collect::<Vec<_>>();
            states = (states + gather(table, batch.iter().flat_map(places).collect())?)?;
        }
        if let Some(table) = &self.kinds {
            let known = table.dim(0)? as u32;
            let kinds = batch.iter().flat_map(|one| one.kinds.iter().map(|kind| (*kind).min(known - 1))).collect();
            states = (states + gather(table, kinds)?)?;
        }
        let mut states = self.norm.forward(&states)?;
        let lengths: Vec<usize> = batch.iter().map(|one| one.ids.len()).collect();
        let relative = self.relative.as_ref().map(Positions::embeddings).transpose()?;
        for layer in &self.layers {
            let biases = match (&self.relative, &relative) {
                (Some(positions), Some(table)) => Some((positions, layer.qkv.forward(table)?)),
                _ => None,
            };
            let attended = self.attention(&layer.qkv.forward(&states)?, &lengths, biases.as_ref())?;
            states = layer.attended.forward_then(&attended, Then::AddAndNormalise(&states, &layer.attended_norm))?;
            let through = layer.up.forward_then(&states, Then::Gelu)?;
            states = layer.down.forward_then(&through, Then::AddAndNormalise(&states, &layer.norm))?;
        }
        Ok(states)
    }

    fn attention(&self, qkv: &Tensor, lengths: &[usize], biases: Option<&(&Positions, Tensor)>) -> Result<Tensor> {
        if biases.is_none() && inside::is_possible(qkv, self.heads) {
            return inside::attend(qkv, lengths, self.heads);
        }
        let hidden = qkv.dim(1)? / 3;
        let width = hidden / self.heads;
        let terms = biases.map_or(1, |(positions, _)| positions.terms());
        let scale = ((width * terms) as f64).sqrt().recip();
        let mut from = 0;
        let spans: Vec<(usize, usize)> = lengths
            .iter()
            .map(|length| {
                from += length;
                (from - length, *length)
            })
            .collect();
        let one = |(from, length): (usize, usize)| -> Result<Tensor> {
            let part = |place: usize| {
                qkv.narrow(0, from, length)?
                    .narrow(1, place * hidden, hidden)?
                    .contiguous()?
                    .reshape((length, self.heads, width))?
                    .transpose(0, 1)?
                    .contiguous()
            };
            let (q, k, v) = ((part(0)? * scale)?, part(1)?, part(2)?);
            let mut scores = q.matmul(&k.t()?)?;
            if let Some((positions, table)) = biases {
                scores = (scores + positions.bias(&q, &(&k * scale)?, table)?)?;
            }
            softmax_rows(&scores)?.matmul(&v)?.transpose(0, 1)?.contiguous()?.reshape((length, hidden))
        };
        let parts: Vec<Tensor> = if qkv.device().is_cpu() && spans.len() > 1 {
            spans.into_par_iter().map(one).collect::<Result<_>>()?
        } else {
            spans.into_iter().map(one).collect::<Result<_>>()?
        };
        Tensor::cat(&parts, 0)
    }
}

/// What stands on an encoder: a classifier over the first token.
#[derive(Debug)]
pub(super) struct Head {
    dense: Linear,
    act: Act,
    out: Linear,
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Tanh,
    Gelu,
}

impl Head {
    pub(super) fn load(config: &Value, weights: &Weights) -> OurResult<Self> {
        let kind = config.get("model_type").and_then(Value::as_str).unwrap_or_default();
        let lacks = |name: &str| {
            Error::input(format!("the checkpoint lacks {name:?}: it is not a sequence classifier"))
                .help("take a model fine-tuned for natural language inference")
        };
        let plain = |name: &str| weights.unprefixed(name)?.ok_or_else(|| lacks(name));
        Ok(match kind {
            "bert" => Self { dense: weights.linear("pooler.dense")?, act: Act::Tanh, out: plain("classifier")? },
            "deberta-v2" => {
                let act = config.get("pooler_hidden_act").and_then(Value::as_str).unwrap_or("gelu");
                if act != "gelu" {
                    return Err(refuse(format!("pooler_hidden_act {act:?}")));
                }
                Self { dense: plain("pooler.dense")?, act: Act::Gelu, out: plain("classifier")? }
            }
            _ => Self { dense: plain("classifier.dense")?, act: Act::Tanh, out: plain("classifier.out_proj")? },
        })
    }

    /// Logits of every text, from the packed states and the texts' lengths.
    pub(super) fn forward(&self, states: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        let mut at = 0;
        let firsts: Vec<u32> = lengths
            .iter()
            .map(|length| {
                at += length;
                (at - length) as u32
            })
            .collect();
        let n = firsts.len();
        let first = states.index_select(&Tensor::from_vec(firsts, n, states.device())?, 0)?;
        let dense = self.dense.forward(&first)?;
        let acted = match self.act {
            Act::Tanh => dense.tanh()?,
            Act::Gelu => dense.gelu_erf()?,
        };
        self.out.forward(&acted)?.to_dtype(DType::F32)
    }
}

pub(super) fn refuse(what: impl std::fmt::Display) -> Error {
    Error::input(format!("this encoder is not supported: {what}"))
        .help("open another model, or serve this one and use Endpoint::embedder")
}

/// Opens an encoder's weights, under whichever wrapper's name they were saved.
pub(super) fn open(folder: &std::path::Path, device: &candle_core::Device) -> OurResult<Weights> {
    let prefixes = ["", "bert.", "roberta.", "deberta.", "model."];
    Weights::safetensors(folder, DType::F32, device, &prefixes, "embeddings.word_embeddings.weight")
        .map_err(|error| failed_context(error, folder))
}

fn failed_context(error: Error, folder: &std::path::Path) -> Error {
    error.context(format!("opening the encoder in {}", folder.display()))
}

/// Mean of each text's states, or its first, as numbers.
pub(super) fn pooled(states: &Tensor, lengths: &[usize], is_mean: bool) -> OurResult<Vec<Vec<f32>>> {
    let mut from = 0;
    lengths
        .iter()
        .map(|length| {
            let own = states.narrow(0, from, *length).map_err(failed)?;
            from += length;
            let one = if is_mean { own.mean(0) } else { own.get(0) };
            one.and_then(|one| one.to_vec1()).map_err(failed)
        })
        .collect()
}
