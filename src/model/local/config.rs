//! What kind of decoder a checkpoint is, from `config.json` or the header of a GGUF file.
//!
//! Everything that changes the computation is read or refused by name: a setting that is silently ignored gives
//! plausible nonsense.

use candle_core::quantized::gguf_file::{Content, Value as Gguf};
use serde_json::Value;

use crate::error::{Error, Result};

/// How rotary positions are stretched.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RopeScaling {
    None,
    /// All positions divided by this.
    Linear(f64),
    /// Llama 3.1: low frequencies divided, high ones kept, a ramp between.
    Llama3 {
        factor: f64,
        low: f64,
        high: f64,
        original: f64,
    },
    /// A divisor for every frequency, as `rope_freqs.weight` of a GGUF file has it.
    Divisors(Vec<f32>),
}

/// The shape and the rules of a decoder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DecoderConfig {
    pub(super) architecture: String,
    pub(super) hidden: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) kv_heads: usize,
    pub(super) head_width: usize,
    pub(super) vocabulary: usize,
    pub(super) epsilon: f64,
    pub(super) theta: f64,
    pub(super) scaling: RopeScaling,
    /// Keys that a position sees, itself included.
    pub(super) window: Option<usize>,
    pub(super) context: usize,
    pub(super) tied: bool,
    /// Experts, and how many of them a token goes through.
    pub(super) experts: Option<(usize, usize)>,
    /// Tokens that end a text.
    pub(super) ends: Vec<u32>,
}

fn refuse(what: impl std::fmt::Display) -> Error {
    Error::input(format!("this decoder is not supported: {what}"))
        .help("serve the model with vLLM or llama.cpp and open it with LanguageModel::remote")
}

impl DecoderConfig {
    /// Reads `config.json`, and `generation_config.json` where there is one for the tokens that end a text.
    pub(super) fn from_json(config: &Value, generation: Option<&Value>) -> Result<Self> {
        let architecture =
            config.get("model_type").and_then(Value::as_str).unwrap_or("without a model_type").to_owned();
        if !["llama", "mistral", "mixtral", "qwen2", "qwen3"].contains(&architecture.as_str()) {
            return Err(refuse(format!(
                "model_type {architecture:?} in config.json; llama, mistral, mixtral, qwen2 and qwen3 are"
            )));
        }
        if let Some(act) = config.get("hidden_act").and_then(Value::as_str)
            && act != "silu"
        {
            return Err(refuse(format!("hidden_act {act:?}, expected \"silu\"")));
        }
        for (name, allowed) in [("quantization_config", false), ("mlp_bias", false)] {
            if config.get(name).is_some_and(|value| !value.is_null() && *value != Value::Bool(allowed)) {
                return Err(refuse(format!("{name} {}", config[name])));
            }
        }
        let sliding_layers = config
            .get("layer_types")
            .and_then(Value::as_array)
            .map(|kinds| (kinds.iter().filter(|kind| kind.as_str() != Some("full_attention")).count(), kinds.len()));
        let window = whole(config, "sliding_window")?;
        let window = match architecture.as_str() {
            "mistral" | "mixtral" => window,
            "qwen2" | "qwen3" if config.get("use_sliding_window") == Some(&Value::Bool(true)) => {
                return Err(refuse("use_sliding_window true (a window in some layers only)"));
            }
            _ => None,
        };
        if let Some((sliding, all)) = sliding_layers
            && sliding != if window.is_some() { all } else { 0 }
        {
            return Err(refuse(format!("layer_types with {sliding} of {all} layers that are not full_attention")));
        }
        let need = |name: &str| whole(config, name)?.ok_or_else(|| Error::input(format!("config.json lacks {name:?}")));
        let (hidden, heads) = (need("hidden_size")?, need("num_attention_heads")?);
        let (theta, scaling) = rope(config)?;
        let made = Self {
            hidden,
            layers: need("num_hidden_layers")?,
            heads,
            kv_heads: whole(config, "num_key_value_heads")?.unwrap_or(heads),
            head_width: whole(config, "head_dim")?.unwrap_or(hidden / heads.max(1)),
            vocabulary: need("vocab_size")?,
            epsilon: config.get("rms_norm_eps").and_then(Value::as_f64).unwrap_or(1e-6),
            theta,
            scaling,
            window,
            context: need("max_position_embeddings")?,
            tied: config.get("tie_word_embeddings").and_then(Value::as_bool).unwrap_or(false),
            experts: match whole(config, "num_local_experts")? {
                Some(experts) => Some((experts, need("num_experts_per_tok")?)),
                None => None,
            },
            ends: [Some(config), generation].into_iter().flatten().flat_map(ends).collect(),
            architecture,
        };
        made.checked()
    }

    /// Reads the header of a GGUF file.
    pub(super) fn from_gguf(content: &Content, divisors: Option<Vec<f32>>) -> Result<Self> {
        let text = |name: &str| match content.metadata.get(name) {
            Some(Gguf::String(text)) => Some(text.clone()),
            _ => None,
        };
        let architecture = text("general.architecture").unwrap_or_default();
        if !["llama", "qwen2", "qwen3"].contains(&architecture.as_str()) {
            return Err(refuse(format!(
                "general.architecture {architecture:?} in the GGUF file; llama (with Mistral, Mixtral and SmolLM2), qwen2 and qwen3 are"
            )));
        }
        let number = |name: &str| content.metadata.get(&format!("{architecture}.{name}")).and_then(gguf_number);
        let need = |name: &str| {
            number(name)
                .map(|value| value as usize)
                .ok_or_else(|| Error::input(format!("the GGUF file lacks {architecture}.{name}")))
        };
        if let Some(kind) = text(&format!("{architecture}.rope.scaling.type"))
            && !["none", "linear"].contains(&kind.as_str())
        {
            return Err(refuse(format!("rope.scaling.type {kind:?}")));
        }
        let (hidden, heads) = (need("embedding_length")?, need("attention.head_count")?);
        let head_width = number("attention.key_length").map_or(hidden / heads.max(1), |width| width as usize);
        if let Some(turned) = number("rope.dimension_count")
            && turned as usize != head_width
        {
            return Err(refuse(format!("rope.dimension_count {turned} with heads of width {head_width}")));
        }
        let scaling = match (divisors, number("rope.scaling.factor")) {
            (Some(divisors), _) => RopeScaling::Divisors(divisors),
            (None, Some(factor)) if factor != 1.0 => RopeScaling::Linear(factor),
            _ => RopeScaling::None,
        };
        let end = |name: &str| content.metadata.get(name).and_then(gguf_number).map(|id| id as u32);
        let made = Self {
            hidden,
            layers: need("block_count")?,
            heads,
            kv_heads: number("attention.head_count_kv").map_or(heads, |heads| heads as usize),
            head_width,
            vocabulary: content
                .tensor_infos
                .get("token_embd.weight")
                .and_then(|info| info.shape.dims().first().copied())
                .ok_or_else(|| Error::input("the GGUF file lacks token_embd.weight"))?,
            epsilon: number("attention.layer_norm_rms_epsilon").unwrap_or(1e-5),
            theta: number("rope.freq_base").unwrap_or(10_000.0),
            scaling,
            window: number("attention.sliding_window").map(|window| window as usize).filter(|window| *window > 0),
            context: need("context_length")?,
            tied: !content.tensor_infos.contains_key("output.weight"),
            experts: match number("expert_count").filter(|count| *count > 0.0) {
                Some(experts) => Some((experts as usize, need("expert_used_count")?)),
                None => None,
            },
            ends: ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"].into_iter().filter_map(end).collect(),
            architecture,
        };
        made.checked()
    }

    fn checked(self) -> Result<Self> {
        let sound = self.hidden > 0
            && self.layers > 0
            && self.heads > 0
            && self.kv_heads > 0
            && self.heads.is_multiple_of(self.kv_heads)
            && self.head_width > 0
            && self.head_width.is_multiple_of(2)
            && self.context > 0
            && self.experts.is_none_or(|(all, used)| used > 0 && used <= all);
        if sound { Ok(self) } else { Err(Error::input(format!("the shape of this decoder makes no sense: {self:?}"))) }
    }
}

/// A whole number; null and absent are `None`.
pub(super) fn whole(config: &Value, name: &str) -> Result<Option<usize>> {
    match config.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_u64()
            .map(|value| Some(value as usize))
            .ok_or_else(|| Error::input(format!("config.json: {name} is {value}, expected a whole number"))),
    }
}

fn ends(config: &Value) -> Vec<u32> {
    let id = |value: &Value| value.as_u64().map(|id| id as u32);
    match config.get("eos_token_id") {
        Some(Value::Array(several)) => several.iter().filter_map(id).collect(),
        Some(one) => id(one).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Both spellings: `rope_theta` with `rope_scaling`, and `rope_parameters` of newer files.
fn rope(config: &Value) -> Result<(f64, RopeScaling)> {
    let newer = config.get("rope_parameters").filter(|value| value.is_object());
    let older = config.get("rope_scaling").filter(|value| value.is_object());
    let theta = newer
        .and_then(|parameters| parameters.get("rope_theta"))
        .or_else(|| config.get("rope_theta"))
        .and_then(Value::as_f64)
        .ok_or_else(|| Error::input("config.json has neither rope_theta nor rope_parameters.rope_theta"))?;
    let Some(parameters) = newer.or(older) else { return Ok((theta, RopeScaling::None)) };
    let kind = ["rope_type", "type"].iter().find_map(|name| parameters.get(*name)).and_then(Value::as_str);
    let need = |name: &str| {
        parameters
            .get(name)
            .and_then(Value::as_f64)
            .ok_or_else(|| Error::input(format!("config.json: the rope parameters lack {name:?}")))
    };
    let scaling = match kind.unwrap_or("default") {
        "default" => RopeScaling::None,
        "linear" => RopeScaling::Linear(need("factor")?),
        "llama3" => RopeScaling::Llama3 {
            factor: need("factor")?,
            low: need("low_freq_factor")?,
            high: need("high_freq_factor")?,
            original: need("original_max_position_embeddings")?,
        },
        other => return Err(refuse(format!("rope_type {other:?}; default, linear and llama3 are"))),
    };
    Ok((theta, scaling))
}

pub(super) fn gguf_number(value: &Gguf) -> Option<f64> {
    Some(match value {
        Gguf::U8(n) => f64::from(*n),
        Gguf::I8(n) => f64::from(*n),
        Gguf::U16(n) => f64::from(*n),
        Gguf::I16(n) => f64::from(*n),
        Gguf::U32(n) => f64::from(*n),
        Gguf::I32(n) => f64::from(*n),
        Gguf::U64(n) => *n as f64,
        Gguf::I64(n) => *n as f64,
        Gguf::F32(n) => f64::from(*n),
        Gguf::F64(n) => *n,
        Gguf::Bool(_) | Gguf::String(_) | Gguf::Array(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain() -> Value {
        json!({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
            "vocab_size": 10, "max_position_embeddings": 100, "rope_theta": 1e4, "eos_token_id": [1, 2]})
    }

    fn with(name: &str, value: Value) -> Result<DecoderConfig> {
        let mut config = plain();
        config[name] = value;
        DecoderConfig::from_json(&config, None)
    }

    #[test]
    fn both_spellings_of_rope_are_read_and_none_is_an_error() -> Result<()> {
        let older = with("rope_scaling", json!({"type": "linear", "factor": 2.0}))?;
        let newer = with("rope_parameters", json!({"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}))?;
        assert_eq!(older, newer);
        assert_eq!(older.ends, [1, 2]);
        let mut config = plain();
        config.as_object_mut().unwrap().remove("rope_theta");
        assert!(DecoderConfig::from_json(&config, None).unwrap_err().to_string().contains("rope_theta"));
        Ok(())
    }

    #[test]
    fn what_is_not_supported_is_refused_by_name() {
        for (name, value) in [
            ("model_type", json!("gpt_oss")),
            ("hidden_act", json!("gelu")),
            ("rope_scaling", json!({"rope_type": "yarn", "factor": 4.0})),
            ("quantization_config", json!({"quant_method": "gptq"})),
            ("layer_types", json!(["full_attention", "sliding_attention"])),
        ] {
            let told = with(name, value.clone()).unwrap_err().to_string();
            assert!(told.contains("not supported"), "{name}: {told}");
        }
    }
}
