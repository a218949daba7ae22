//! Against golden outputs of Hugging Face transformers, of MLX and of numpy in f64, over tiny random checkpoints.

use std::path::PathBuf;
use std::sync::Arc;

use candle_core::{DType, Device, IndexOp, Tensor};
use serde_json::Value;

use super::decoder::{Cache, Decoder, Sequence};
use super::encoder::{Encoder, Head, Input, NOT_NEEDED, open, pooled};
use crate::Result;
use crate::error::Error;

const TOLERANCE: f32 = 1e-4;

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/parity").join(name)
}

fn read(name: &str, file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder(name).join(file)).unwrap()).unwrap()
}

fn load(name: &str, dtype: DType) -> Result<Decoder> {
    Decoder::from_folder(&folder(name), &read(name, "config.json"), None, dtype, &Device::Cpu)
}

fn whole(error: candle_core::Error) -> Error {
    super::failed(error)
}

fn numbers(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap() as f32).collect()
}

fn ids(value: &Value) -> Vec<Vec<u32>> {
    let row = |row: &Value| row.as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect();
    value.as_array().unwrap().iter().map(row).collect()
}

/// The tokens of each row that are not padding.
fn unpadded(golden: &Value) -> Vec<Vec<u32>> {
    let masks = ids(&golden["attention_mask"]);
    ids(&golden["input_ids"])
        .into_iter()
        .zip(masks)
        .map(|(row, mask)| row.into_iter().zip(mask).filter(|(_, mask)| *mask == 1).map(|(id, _)| id).collect())
        .collect()
}

fn differs(ours: &[f32], theirs: &[f32]) -> f32 {
    assert_eq!(ours.len(), theirs.len());
    ours.iter().zip(theirs).map(|(a, b)| (a - b).abs() / b.abs().max(1.0)).fold(0.0, f32::max)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// All rows of a batch through the decoder at once.
fn packed(decoder: &Decoder, rows: &[Vec<u32>]) -> Result<Vec<Tensor>> {
    let mut caches: Vec<Cache> = rows.iter().map(|row| decoder.cache(row.len()).unwrap()).collect();
    let mut batch: Vec<Sequence<'_>> =
        caches.iter_mut().zip(rows).map(|(cache, ids)| Sequence { cache, ids }).collect();
    let states = decoder.forward(&mut batch).map_err(whole)?;
    let mut from = 0;
    let mut parts = Vec::new();
    for row in rows {
        parts.push(states.narrow(0, from, row.len()).map_err(whole)?);
        from += row.len();
    }
    Ok(parts)
}

fn flat(tensor: &Tensor) -> Vec<f32> {
    tensor.to_dtype(DType::F32).and_then(|tensor| tensor.flatten_all()).and_then(|tensor| tensor.to_vec1()).unwrap()
}

#[test]
fn decoders_agree_with_numpy_and_mlx() -> Result<()> {
    for name in ["llama", "llama31", "mistral_sw", "mixtral", "e5_mistral"] {
        let (decoder, golden) = (load(name, DType::F32)?, read(name, "golden.json"));
        for (row, states) in packed(&decoder, &ids(&golden["input_ids"]))?.iter().enumerate() {
            let last = states.i(states.dim(0).unwrap() - 1).unwrap();
            let difference = differs(&flat(&last), &numbers(&golden["last_hidden"][row]));
            assert!(difference < TOLERANCE, "{name}: hidden states differ by {difference}");
            if let Some(logits) = golden.get("last_logits") {
                let ours = decoder.logits(&last.unsqueeze(0).unwrap()).map_err(whole)?;
                let difference = differs(&flat(&ours), &numbers(&logits[row]));
                assert!(difference < TOLERANCE, "{name}: logits differ by {difference}");
            } else {
                assert!(decoder.logits(&last.unsqueeze(0).unwrap()).is_err());
                let ours = flat(&last);
                let norm = ours.iter().map(|value| value * value).sum::<f32>().sqrt();
                let ours: Vec<f32> = ours.iter().map(|value| value / norm).collect();
                assert!(differs(&ours, &numbers(&golden["embedding"][row])) < TOLERANCE);
            }
        }
    }
    Ok(())
}

#[test]
fn decoders_agree_with_transformers_in_batches_of_unequal_lengths() -> Result<()> {
    for name in ["hf_llama", "hf_llama31", "hf_mistral_window", "hf_mixtral", "hf_qwen2", "hf_qwen3"] {
        let (decoder, golden) = (load(name, DType::F32)?, read(name, "golden.json"));
        let rows = unpadded(&golden);
        assert!(rows.iter().any(|row| row.len() != rows[0].len()));
        for (row, states) in packed(&decoder, &rows)?.iter().enumerate() {
            let logits = decoder.logits(states).map_err(whole)?.to_vec2::<f32>().map_err(whole)?;
            for (position, ours) in logits.iter().enumerate() {
                let difference = differs(ours, &numbers(&golden["logits"][row][position]));
                assert!(difference < TOLERANCE, "{name}: row {row}, position {position}: {difference}");
            }
        }
    }
    Ok(())
}

#[test]
fn pieces_single_steps_and_copied_prefixes_change_nothing() -> Result<()> {
    for name in ["hf_llama31", "hf_mistral_window", "hf_mixtral", "hf_qwen3"] {
        let decoder = load(name, DType::F32)?;
        let row = unpadded(&read(name, "golden.json")).remove(0);
        let all = packed(&decoder, std::slice::from_ref(&row))?.remove(0);
        let by = |pieces: &[usize]| -> Result<Tensor> {
            let mut cache = decoder.cache(row.len()).map_err(whole)?;
            let (mut from, mut parts) = (0, Vec::new());
            for (place, size) in pieces.iter().enumerate() {
                if place == 1 {
                    // What comes after may also start from a copy of what was before.
                    cache = decoder.copied(&cache, from, row.len()).map_err(whole)?;
                }
                let ids = &row[from..from + size];
                parts.push(decoder.forward(&mut [Sequence { cache: &mut cache, ids }]).map_err(whole)?);
                from += size;
            }
            assert_eq!(from, row.len());
            Tensor::cat(&parts, 0).map_err(whole)
        };
        for pieces in [vec![10, 14], vec![7, 7, 10], [vec![1; 24]].concat()] {
            let difference = differs(&flat(&by(&pieces)?), &flat(&all));
            assert!(difference < 1e-5, "{name} in pieces of {pieces:?}: {difference}");
        }
    }
    Ok(())
}

/// A checkpoint's tensors in another type, in a folder of its own.
fn saved_as(name: &str, dtype: DType, folder: &std::path::Path) -> candle_core::Result<()> {
    let tensors = candle_core::safetensors::load(self::folder(name).join("model.safetensors"), &Device::Cpu)?;
    let converted = tensors
        .into_iter()
        .map(|(name, tensor)| Ok((name, tensor.to_dtype(dtype)?)))
        .collect::<candle_core::Result<std::collections::HashMap<_, _>>>()?;
    candle_core::safetensors::save(&converted, folder.join("model.safetensors"))
}

#[test]
fn half_precision_points_the_same_way() -> Result<()> {
    for (name, stored, computed) in [
        ("hf_llama31", DType::F16, DType::F16),
        ("hf_qwen2", DType::F16, DType::F32),
        ("hf_mixtral", DType::F16, DType::F16),
        ("hf_llama", DType::BF16, DType::F32),
    ] {
        let golden = read(name, "golden.json");
        let rows = unpadded(&golden);
        let saved = tempfile::tempdir().map_err(|error| Error::io("folder", &error))?;
        saved_as(name, stored, saved.path()).map_err(whole)?;
        let decoder = Decoder::from_folder(saved.path(), &read(name, "config.json"), None, computed, &Device::Cpu)?;
        for (row, states) in packed(&decoder, &rows)?.iter().enumerate() {
            let logits = decoder.logits(states).map_err(whole)?.to_vec2::<f32>().map_err(whole)?;
            for (position, ours) in logits.iter().enumerate() {
                let alike = cosine(ours, &numbers(&golden["logits"][row][position]));
                assert!(alike > 0.999, "{name}, {stored:?} computed in {computed:?}: {alike}");
            }
        }
    }
    Ok(())
}

#[test]
fn encoders_agree_with_transformers_alone_and_in_batches() -> Result<()> {
    let (config, golden) = (read("hf_bert", "config.json"), read("hf_bert", "golden.json"));
    let weights = open(&folder("hf_bert"), &Device::Cpu)?;
    let encoder = Encoder::load(&config, &weights)?;
    weights.nothing_left(&NOT_NEEDED)?;
    let rows = unpadded(&golden);
    let input = |ids: &Vec<u32>| Input { kinds: vec![0; ids.len()], ids: ids.clone() };
    let batch: Vec<Input> = rows.iter().map(input).collect();
    let lengths: Vec<usize> = rows.iter().map(Vec::len).collect();
    let states = encoder.forward(&batch).map_err(whole)?;
    let means = pooled(&states, &lengths, true)?;
    for (row, ids) in rows.iter().enumerate() {
        let alone = encoder.forward(&[input(ids)]).map_err(whole)?.to_vec2::<f32>().map_err(whole)?;
        for (position, ours) in alone.iter().enumerate() {
            let difference = differs(ours, &numbers(&golden["last_hidden_state"][row][position]));
            assert!(difference < TOLERANCE, "row {row}, position {position}: {difference}");
        }
        assert!(differs(&means[row], &numbers(&golden["mean_pooled"][row])) < TOLERANCE);
    }
    Ok(())
}

#[test]
fn classifiers_agree_with_transformers() -> Result<()> {
    for name in ["hf_roberta_nli", "hf_xlmr_nli", "hf_deberta_v2_nli"] {
        let (config, golden) = (read(name, "config.json"), read(name, "golden.json"));
        let weights = open(&folder(name), &Device::Cpu)?;
        let (encoder, head) = (Encoder::load(&config, &weights)?, Head::load(&config, &weights)?);
        weights.nothing_left(&NOT_NEEDED)?;
        let rows = unpadded(&golden);
        let batch: Vec<Input> = rows.iter().map(|ids| Input { kinds: vec![0; ids.len()], ids: ids.clone() }).collect();
        let lengths: Vec<usize> = rows.iter().map(Vec::len).collect();
        let states = encoder.forward(&batch).map_err(whole)?;
        let logits = head.forward(&states, &lengths).map_err(whole)?.to_vec2::<f32>().map_err(whole)?;
        for (row, ours) in logits.iter().enumerate() {
            let difference = differs(ours, &numbers(&golden["logits"][row]));
            assert!(difference < TOLERANCE, "{name}, row {row}: {difference}");
        }
    }
    Ok(())
}

#[test]
fn checkpoints_with_missing_or_surplus_tensors_are_refused_by_name() -> Result<()> {
    let mut config = read("hf_llama", "config.json");
    config["num_hidden_layers"] = 2.into();
    let load = |config: &Value| Decoder::from_folder(&folder("hf_llama"), config, None, DType::F32, &Device::Cpu);
    assert!(load(&config).unwrap_err().to_string().contains("layers.2."));
    config["num_hidden_layers"] = 4.into();
    assert!(load(&config).unwrap_err().to_string().contains("layers.3."));
    Ok(())
}

/// A prompt that starts like another's, and continuations of it, from the engine.
#[test]
fn log_probabilities_are_those_of_the_logits() -> Result<()> {
    let decoder = load("hf_llama", DType::F32)?;
    let row = unpadded(&read("hf_llama", "golden.json")).remove(0);
    let (prompt, tail) = row.split_at(15);
    let states = packed(&decoder, std::slice::from_ref(&row))?.remove(0);
    let logits = decoder.logits(&states).map_err(whole)?.to_vec2::<f32>().map_err(whole)?;
    let expected: f64 = tail
        .iter()
        .enumerate()
        .filter_map(|(place, token)| super::sampling::log_probability(&logits[14 + place], *token))
        .sum();
    let text = Arc::new(super::text::tests::words()?);
    let mut engine = super::engine::Engine::new(decoder, text, 2);
    for _ in 0..2 {
        let found = engine.log_probabilities(prompt, &[tail[..1].to_vec(), tail.to_vec()])?;
        assert!((found[1] - expected).abs() < 1e-4 && found[0] > found[1], "{found:?} {expected}");
    }
    assert!(engine.log_probabilities(prompt, &[vec![]]).is_err());
    Ok(())
}
