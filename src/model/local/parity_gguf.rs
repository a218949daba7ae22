//! GGUF files against the same weights from safetensors: every block type, the order of rotated rows, merged experts.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use candle_core::quantized::gguf_file::{Value as Gguf, write};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Result, Tensor};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::decoder::{Decoder, Sequence};
use super::weights::Weights;

const HIDDEN: usize = 256;
const HEADS: usize = 4;
const SHARED: usize = 2;
const INNER: usize = 512;
const VOCABULARY: usize = 64;
const EXPERTS: usize = 3;

/// Rows as llama.cpp stores them: the halves of each head interleaved.
fn interleaved(weight: &Tensor, heads: usize) -> Result<Tensor> {
    let (rows, width) = weight.dims2()?;
    weight.reshape((heads, 2, rows / heads / 2, width))?.transpose(1, 2)?.contiguous()?.reshape((rows, width))
}

/// Weights with a deviation of 0.06, drawn with a seed: inputs that were rounded may lead to another expert where two are
/// nearly as good, and then nothing that follows is alike. With this seed none does.
fn random(source: &RefCell<ChaCha8Rng>, rows: usize, width: usize) -> Result<Tensor> {
    let mut source = source.borrow_mut();
    let values: Vec<f32> = (0..rows * width).map(|_| source.random_range(-0.1..0.1)).collect();
    Tensor::from_vec(values, (rows, width), &Device::Cpu)
}

/// A GGUF file and a folder with the same weights, unpacked; returns both decoders.
fn twins(folder: &Path, dtype: GgmlDType, has_experts: bool, divisors: bool) -> Result<(Decoder, Decoder)> {
    let mut gguf: Vec<(String, QTensor)> = Vec::new();
    let mut dense: HashMap<String, Tensor> = HashMap::new();
    let source = RefCell::new(ChaCha8Rng::seed_from_u64(7));
    let norm = || random(&source, 1, HIDDEN)?.flatten_all()? + 1.0;
    let plain = |name: &str,
                 other: &str,
                 tensor: Tensor,
                 gguf: &mut Vec<(String, QTensor)>,
                 dense: &mut HashMap<String, Tensor>|
     -> Result<()> {
        gguf.push((name.into(), QTensor::quantize(&tensor, GgmlDType::F32)?));
        dense.insert(other.into(), tensor);
        Ok(())
    };
    // The value of a block depends on its row alone, so that quantizing and interleaving may change places.
    let mut matrix = |name: &str,
                      other: &str,
                      rows: usize,
                      width: usize,
                      heads: Option<usize>,
                      kind: GgmlDType,
                      dense: &mut HashMap<String, Tensor>|
     -> Result<()> {
        let unpacked = QTensor::quantize(&random(&source, rows, width)?, kind)?.dequantize(&Device::Cpu)?;
        let stored = match heads {
            Some(heads) => interleaved(&unpacked, heads)?,
            None => unpacked,
        };
        let stored = QTensor::quantize(&stored, kind)?;
        let exact = stored.dequantize(&Device::Cpu)?;
        let exact = match heads {
            Some(heads) => exact
                .reshape((heads, rows / heads / 2, 2, width))?
                .transpose(1, 2)?
                .contiguous()?
                .reshape((rows, width))?,
            None => exact,
        };
        dense.insert(other.into(), exact);
        gguf.push((name.into(), stored));
        Ok(())
    };
    let kv = HIDDEN / HEADS * SHARED;
    matrix("token_embd.weight", "model.embed_tokens.weight", VOCABULARY, HIDDEN, None, GgmlDType::Q8_0, &mut dense)?;
    matrix("output.weight", "lm_head.weight", VOCABULARY, HIDDEN, None, GgmlDType::Q6K, &mut dense)?;
    for layer in 0..2 {
        let hf = |name: &str| format!("model.layers.{layer}.{name}.weight");
        let own = |name: &str| format!("blk.{layer}.{name}.weight");
        matrix(&own("attn_q"), &hf("self_attn.q_proj"), HIDDEN, HIDDEN, Some(HEADS), dtype, &mut dense)?;
        matrix(&own("attn_k"), &hf("self_attn.k_proj"), kv, HIDDEN, Some(SHARED), dtype, &mut dense)?;
        // Mixed files keep values finer than queries and keys.
        matrix(&own("attn_v"), &hf("self_attn.v_proj"), kv, HIDDEN, None, GgmlDType::Q6K, &mut dense)?;
        matrix(&own("attn_output"), &hf("self_attn.o_proj"), HIDDEN, HIDDEN, None, dtype, &mut dense)?;
        if has_experts {
            matrix(
                &own("ffn_gate_inp"),
                &hf("block_sparse_moe.gate"),
                EXPERTS,
                HIDDEN,
                None,
                GgmlDType::F32,
                &mut dense,
            )?;
        } else {
            matrix(&own("ffn_gate"), &hf("mlp.gate_proj"), INNER, HIDDEN, None, dtype, &mut dense)?;
            matrix(&own("ffn_up"), &hf("mlp.up_proj"), INNER, HIDDEN, None, dtype, &mut dense)?;
            matrix(&own("ffn_down"), &hf("mlp.down_proj"), HIDDEN, INNER, None, dtype, &mut dense)?;
        }
    }
    for layer in 0..2 {
        if has_experts {
            for (own, short, rows, width) in [
                ("ffn_gate_exps", "w1", INNER, HIDDEN),
                ("ffn_up_exps", "w3", INNER, HIDDEN),
                ("ffn_down_exps", "w2", HIDDEN, INNER),
            ] {
                let all = QTensor::quantize(
                    &random(&source, EXPERTS * rows, width)?.reshape((EXPERTS, rows, width))?,
                    dtype,
                )?;
                let exact = all.dequantize(&Device::Cpu)?;
                for expert in 0..EXPERTS {
                    let name = format!("model.layers.{layer}.block_sparse_moe.experts.{expert}.{short}.weight");
                    dense.insert(name, exact.get(expert)?.contiguous()?);
                }
                gguf.push((format!("blk.{layer}.{own}.weight"), all));
            }
        }
        for (own, other) in [("attn_norm", "input_layernorm"), ("ffn_norm", "post_attention_layernorm")] {
            plain(
                &format!("blk.{layer}.{own}.weight"),
                &format!("model.layers.{layer}.{other}.weight"),
                norm()?,
                &mut gguf,
                &mut dense,
            )?;
        }
    }
    plain("output_norm.weight", "model.norm.weight", norm()?, &mut gguf, &mut dense)?;
    let mut config = json!({"model_type": if has_experts { "mixtral" } else { "llama" }, "hidden_size": HIDDEN,
        "num_attention_heads": HEADS, "num_key_value_heads": SHARED, "num_hidden_layers": 2, "vocab_size": VOCABULARY,
        "max_position_embeddings": 512, "rms_norm_eps": 1e-5, "rope_theta": 10000.0});
    let mut header: Vec<(&str, Gguf)> = vec![
        ("general.architecture", Gguf::String("llama".into())),
        ("llama.embedding_length", Gguf::U32(HIDDEN as u32)),
        ("llama.attention.head_count", Gguf::U32(HEADS as u32)),
        ("llama.attention.head_count_kv", Gguf::U32(SHARED as u32)),
        ("llama.block_count", Gguf::U32(2)),
        ("llama.context_length", Gguf::U32(512)),
        ("llama.attention.layer_norm_rms_epsilon", Gguf::F32(1e-5)),
        ("llama.rope.freq_base", Gguf::F32(10000.0)),
    ];
    if has_experts {
        config["num_local_experts"] = EXPERTS.into();
        config["num_experts_per_tok"] = 2.into();
        header.push(("llama.expert_count", Gguf::U32(EXPERTS as u32)));
        header.push(("llama.expert_used_count", Gguf::U32(2)));
    }
    if divisors {
        // A constant divisor is the same as linear scaling.
        config["rope_scaling"] = json!({"rope_type": "linear", "factor": 4.0});
        let freqs = Tensor::full(4_f32, HIDDEN / HEADS / 2, &Device::Cpu)?;
        gguf.push(("rope_freqs.weight".into(), QTensor::quantize(&freqs, GgmlDType::F32)?));
    }
    let path = folder.join("model.gguf");
    let metadata: Vec<(&str, &Gguf)> = header.iter().map(|(name, value)| (*name, value)).collect();
    let tensors: Vec<(&str, &QTensor)> = gguf.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    write(&mut std::fs::File::create(&path)?, &metadata, &tensors)?;
    candle_core::safetensors::save(&dense, folder.join("model.safetensors"))?;
    let told = |error: crate::Error| candle_core::Error::Msg(error.to_string());
    let ours = Decoder::from_gguf(&Weights::gguf(&path, &Device::Cpu).map_err(told)?).map_err(told)?;
    let reference = Decoder::from_folder(folder, &config, None, DType::F32, &Device::Cpu).map_err(told)?;
    Ok((ours, reference))
}

fn logits(decoder: &Decoder, pieces: &[&[u32]]) -> Result<Vec<f32>> {
    let mut cache = decoder.cache(128)?;
    let mut last = None;
    for ids in pieces {
        last = Some(decoder.forward(&mut [Sequence { cache: &mut cache, ids }])?);
    }
    let states = last.unwrap();
    decoder.logits(&states.narrow(0, states.dim(0)? - 1, 1)?)?.flatten_all()?.to_vec1()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn every_block_type_gives_what_its_unpacked_weights_give() -> Result<()> {
    let ids: Vec<u32> = (0..40).map(|n| (n * 7 + 3) % VOCABULARY as u32).collect();
    let cases = [
        (GgmlDType::Q8_0, false, false),
        (GgmlDType::Q4_1, false, true),
        (GgmlDType::Q4K, false, false),
        (GgmlDType::Q3K, false, false),
        (GgmlDType::Q3K, true, false),
        (GgmlDType::Q4_1, true, false),
    ];
    for (dtype, has_experts, divisors) in cases {
        let folder = tempfile::tempdir()?;
        let (ours, reference) = twins(folder.path(), dtype, has_experts, divisors)?;
        let expected = logits(&reference, &[&ids])?;
        // Read at once, weights are unpacked and only the last product, over one row, rounds its inputs.
        let read = cosine(&logits(&ours, &[&ids])?, &expected);
        // Written one by one, inputs are rounded to bytes in every product, as llama.cpp does.
        let pieces: Vec<&[u32]> = ids.chunks(1).collect();
        let written = cosine(&logits(&ours, &pieces)?, &expected);
        assert!(read > 0.9995 && written > 0.995, "{dtype:?}, experts {has_experts}: {read}, {written}");
    }
    Ok(())
}

#[test]
fn weights_of_another_shape_than_the_config_says_are_refused_when_they_are_loaded() -> Result<()> {
    let folder = tempfile::tempdir()?;
    twins(folder.path(), GgmlDType::Q8_0, false, false)?;
    let load = |hidden: usize, shared: usize, width: usize| {
        let config = json!({"model_type": "llama", "hidden_size": hidden, "num_attention_heads": HEADS,
            "num_key_value_heads": shared, "head_dim": width, "num_hidden_layers": 2, "vocab_size": VOCABULARY,
            "max_position_embeddings": 512, "rms_norm_eps": 1e-5, "rope_theta": 10000.0});
        Decoder::from_folder(folder.path(), &config, None, DType::F32, &Device::Cpu).map(|_| ())
    };
    assert!(load(HIDDEN, SHARED, HIDDEN / HEADS).is_ok());
    let told = load(HIDDEN + 1, SHARED, HIDDEN / HEADS).unwrap_err().to_string();
    assert!(told.contains(&format!("embeddings of {HIDDEN}")), "{told}");
    for (shared, width) in [(HEADS, HIDDEN / HEADS), (SHARED, 32), (1, HIDDEN / HEADS)] {
        let told = load(HIDDEN, shared, width).unwrap_err().to_string();
        let expected = (HEADS + 2 * shared) * width;
        assert!(told.contains("layer 0") && told.contains(&format!("asks for {expected}")), "{told}");
    }
    Ok(())
}

#[test]
fn a_file_that_ends_too_early_is_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    twins(folder.path(), GgmlDType::Q8_0, false, false)?;
    let path = folder.path().join("model.gguf");
    let bytes = std::fs::read(&path)?;
    for keep in [0, 3, 100, bytes.len() / 2, bytes.len() - 1000] {
        std::fs::write(&path, &bytes[..keep])?;
        let opened = Weights::gguf(&path, &Device::Cpu).and_then(|weights| Decoder::from_gguf(&weights));
        let told = opened.map(|_| ()).unwrap_err().to_string();
        assert!(!told.is_empty(), "{keep}");
    }
    Ok(())
}
