//! Where tensors come from: safetensors files or a GGUF file, read once and counted.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use candle_core::quantized::gguf_file::Content;
use candle_core::quantized::{GgmlDType, QStorage, QTensor};
use candle_core::safetensors::MmapedSafetensors;
use candle_core::{DType, Device, Tensor};
use memmap2::Mmap;
use serde_json::Value;

use super::failed;
use super::linear::Linear;
use crate::error::{Error, ErrorKind, Result};

#[derive(Debug)]
enum Source {
    Safetensors { files: Box<Files>, prefix: String },
    Gguf { content: Box<Content>, bytes: Mmap },
}

/// Gives the memory map a `Debug` that does not print it.
struct Files(MmapedSafetensors);

impl std::fmt::Debug for Files {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("safetensors")
    }
}

/// The tensors of a checkpoint, and which of them have been asked for.
#[derive(Debug)]
pub(super) struct Weights {
    source: Source,
    used: RefCell<HashSet<String>>,
    /// What dense weights are converted to.
    pub(super) dtype: DType,
    pub(super) device: Device,
}

impl Weights {
    /// The safetensors of a folder, one file or several with an index. `prefixes` are tried in turn: the same
    /// architecture is saved with and without the name of its wrapper.
    pub(super) fn safetensors(
        folder: &Path,
        dtype: DType,
        device: &Device,
        prefixes: &[&str],
        probe: &str,
    ) -> Result<Self> {
        let paths = safetensors_files(folder)?;
        // SAFETY: the map is read only, and dropped once the model is loaded; a checkpoint that somebody overwrites in
        // these seconds is as broken as one that was copied while being overwritten.
        let files = unsafe { MmapedSafetensors::multi(&paths) }
            .map_err(|error| Error::input(format!("{}: not readable as safetensors: {error}", folder.display())))?;
        let names: HashSet<String> = files.tensors().into_iter().map(|(name, _)| name).collect();
        let prefix = prefixes.iter().find(|prefix| names.contains(&format!("{prefix}{probe}"))).ok_or_else(|| {
            Error::input(format!(
                "{}: no tensor {probe:?}, with or without the prefixes {prefixes:?}",
                folder.display()
            ))
        })?;
        let source = Source::Safetensors { files: Box::new(Files(files)), prefix: (*prefix).to_owned() };
        Ok(Self { source, used: RefCell::default(), dtype, device: device.clone() })
    }

    /// The tensors of a GGUF file, with its header.
    pub(super) fn gguf(path: &Path, device: &Device) -> Result<Self> {
        let file = std::fs::File::open(path).map_err(|error| Error::file(path, &error))?;
        let mut reader = std::io::BufReader::new(&file);
        let content = Content::read(&mut reader)
            .map_err(|error| Error::input(format!("{}: not readable as GGUF: {error}", path.display())))?;
        // SAFETY: as above.
        let bytes = unsafe { Mmap::map(&file) }.map_err(|error| Error::file(path, &error))?;
        let source = Source::Gguf { content: Box::new(content), bytes };
        Ok(Self { source, used: RefCell::default(), dtype: DType::F32, device: device.clone() })
    }

    /// The header, of a GGUF file.
    pub(super) fn header(&self) -> Option<&Content> {
        match &self.source {
            Source::Gguf { content, .. } => Some(content),
            Source::Safetensors { .. } => None,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        match &self.source {
            Source::Safetensors { files, prefix } => files.0.get(&format!("{prefix}{name}")).is_ok(),
            Source::Gguf { content, .. } => content.tensor_infos.contains_key(name),
        }
    }

    /// A dense tensor in the weights' type.
    pub(super) fn tensor(&self, name: &str) -> Result<Tensor> {
        self.tensor_as(name, self.dtype)
    }

    /// A dense tensor in another type: norms stay in f32.
    pub(super) fn tensor_as(&self, name: &str, dtype: DType) -> Result<Tensor> {
        match &self.source {
            Source::Safetensors { files, prefix } => {
                let full = format!("{prefix}{name}");
                let found = files.0.load(&full, &self.device).map_err(|_| missing(&full))?;
                self.used.borrow_mut().insert(full);
                found.to_dtype(dtype).map_err(failed)
            }
            Source::Gguf { .. } => {
                self.quantized(name)?.dequantize(&self.device).and_then(|tensor| tensor.to_dtype(dtype)).map_err(failed)
            }
        }
    }

    /// The same if it is there.
    pub(super) fn optional(&self, name: &str) -> Result<Option<Tensor>> {
        if self.has(name) { self.tensor(name).map(Some) } else { Ok(None) }
    }

    pub(super) fn quantized(&self, name: &str) -> Result<QTensor> {
        let (bytes, dtype, dims) = self.blocks(name)?;
        quantized_from(bytes, dtype, dims, &self.device)
    }

    /// Several matrices over the same input as one, rows below rows, so that one product does for all. Quantized
    /// ones of different types stay apart.
    pub(super) fn stacked(&self, names: &[String], turn: &[Option<usize>]) -> Result<Vec<Linear>> {
        match &self.source {
            Source::Safetensors { .. } => {
                let mut parts = Vec::new();
                let mut biases = Vec::new();
                for name in names {
                    let part = self.tensor(&format!("{name}.weight"))?;
                    biases.push((part.dims().first().copied().unwrap_or(0), self.optional(&format!("{name}.bias"))?));
                    parts.push(part);
                }
                let bias = stacked_bias(&biases, self.dtype, &self.device)?;
                let all = Tensor::cat(&parts, 0).and_then(|all| Linear::dense(all, bias)).map_err(failed)?;
                Ok(vec![all])
            }
            Source::Gguf { .. } => {
                let mut made: Vec<(Vec<u8>, GgmlDType, Vec<usize>, Vec<(usize, Option<Tensor>)>)> = Vec::new();
                for (place, name) in names.iter().enumerate() {
                    let (bytes, dtype, dims) = self.blocks(&format!("{name}.weight"))?;
                    let (rows, width) = two(&dims)?;
                    let bytes = match turn.get(place).copied().flatten() {
                        Some(heads) => Cow::Owned(unturned(bytes, rows, heads)),
                        None => Cow::Borrowed(bytes),
                    };
                    let bias = self.optional(&format!("{name}.bias"))?;
                    match made.last_mut().filter(|last| last.1 == dtype && last.2.get(1) == Some(&width)) {
                        Some((all, _, shape, biases)) => {
                            all.extend_from_slice(&bytes);
                            if let Some(first) = shape.first_mut() {
                                *first += rows;
                            }
                            biases.push((rows, bias));
                        }
                        None => made.push((bytes.into_owned(), dtype, vec![rows, width], vec![(rows, bias)])),
                    }
                }
                made.into_iter()
                    .map(|(bytes, dtype, dims, biases)| {
                        let bias = stacked_bias(&biases, DType::F32, &self.device)?;
                        Linear::quantized(quantized_from(&bytes, dtype, dims, &self.device)?, bias).map_err(failed)
                    })
                    .collect()
            }
        }
    }

    /// One matrix.
    pub(super) fn linear(&self, name: &str) -> Result<Linear> {
        let made = self.stacked(&[name.to_owned()], &[None])?.pop();
        made.ok_or_else(|| missing(name))
    }

    /// The matrices of all experts from one merged tensor (experts, rows, width).
    pub(super) fn experts(&self, name: &str) -> Result<Vec<Linear>> {
        let (bytes, dtype, dims) = self.blocks(name)?;
        let [experts, rows, width] = dims.as_slice() else {
            return Err(Error::input(format!("{name} has the shape {dims:?}, expected three dimensions")));
        };
        let each = bytes.len() / experts.max(&1);
        bytes
            .chunks_exact(each.max(1))
            .map(|part| {
                let weight = quantized_from(part, dtype, vec![*rows, *width], &self.device)?;
                Linear::quantized(weight, None).map_err(failed)
            })
            .collect()
    }

    /// A matrix whose name stands without the common prefix, if it is there: heads.
    pub(super) fn unprefixed(&self, name: &str) -> Result<Option<Linear>> {
        let Source::Safetensors { files, .. } = &self.source else {
            return if self.has(&format!("{name}.weight")) { self.linear(name).map(Some) } else { Ok(None) };
        };
        let load = |part: &str| {
            let full = format!("{name}.{part}");
            let found = files.0.load(&full, &self.device).ok()?;
            self.used.borrow_mut().insert(full);
            Some(found.to_dtype(self.dtype).map_err(failed))
        };
        let Some(weight) = load("weight") else { return Ok(None) };
        Linear::dense(weight?, load("bias").transpose()?).map(Some).map_err(failed)
    }

    fn blocks(&self, name: &str) -> Result<(&[u8], GgmlDType, Vec<usize>)> {
        let Source::Gguf { content, bytes } = &self.source else {
            return Err(Error::new(ErrorKind::Internal, format!("{name}: dense weights have no blocks")));
        };
        let info = content.tensor_infos.get(name).ok_or_else(|| missing(name))?;
        self.used.borrow_mut().insert(name.to_owned());
        let dims = info.shape.dims().to_vec();
        let size = info.shape.elem_count() / info.ggml_dtype.block_size() * info.ggml_dtype.type_size();
        let start = usize::try_from(content.tensor_data_offset.saturating_add(info.offset)).unwrap_or(usize::MAX);
        let end = start.saturating_add(size);
        let found = bytes.get(start..end).ok_or_else(|| {
            Error::input(format!(
                "the GGUF file ends at byte {}, inside {name}, which needs bytes to {end}",
                bytes.len()
            ))
            .help("the download is incomplete: fetch the file again")
        })?;
        Ok((found, info.ggml_dtype, dims))
    }

    /// Refuses tensors that nothing asked for: they would change the result if they were used.
    pub(super) fn nothing_left(&self, may_stay: &[&str]) -> Result<()> {
        let names: Vec<String> = match &self.source {
            Source::Safetensors { files, .. } => files.0.tensors().into_iter().map(|(name, _)| name).collect(),
            Source::Gguf { content, .. } => content.tensor_infos.keys().cloned().collect(),
        };
        let used = self.used.borrow();
        let mut left: Vec<&String> = names
            .iter()
            .filter(|name| !used.contains(*name) && !may_stay.iter().any(|part| name.contains(part)))
            .collect();
        left.sort();
        match left.first() {
            None => Ok(()),
            Some(first) => Err(Error::input(format!(
                "the checkpoint holds {} tensors that this architecture does not use, the first is {first:?}",
                left.len()
            ))
            .help("the model differs from what its config says; it is refused rather than computed wrongly")),
        }
    }
}

fn missing(name: &str) -> Error {
    Error::input(format!("the checkpoint lacks the tensor {name:?}"))
        .help("compare config.json with the files: is a part of the download missing?")
}

fn two(dims: &[usize]) -> Result<(usize, usize)> {
    match dims {
        [rows, width] => Ok((*rows, *width)),
        other => Err(Error::input(format!("a matrix has the shape {other:?}"))),
    }
}

fn quantized_from(bytes: &[u8], dtype: GgmlDType, dims: Vec<usize>, device: &Device) -> Result<QTensor> {
    QStorage::from_data(Cow::Borrowed(bytes), device, dtype)
        .and_then(|storage| QTensor::new(storage, dims))
        .map_err(failed)
}

fn stacked_bias(parts: &[(usize, Option<Tensor>)], dtype: DType, device: &Device) -> Result<Option<Tensor>> {
    if parts.iter().all(|(_, bias)| bias.is_none()) {
        return Ok(None);
    }
    let whole: Vec<Tensor> = parts
        .iter()
        .map(|(rows, bias)| match bias {
            Some(bias) => bias.to_dtype(dtype),
            None => Tensor::zeros(*rows, dtype, device),
        })
        .collect::<candle_core::Result<_>>()
        .map_err(failed)?;
    Tensor::cat(&whole, 0).map(Some).map_err(failed)
}

/// llama.cpp stores queries and keys of llama models with the two halves of each head interleaved; this puts the
/// rows back. A row is a whole number of blocks, so no value is touched.
fn unturned(bytes: &[u8], rows: usize, heads: usize) -> Vec<u8> {
    let row = bytes.len() / rows.max(1);
    let width = rows / heads.max(1);
    let mut out = vec![0; bytes.len()];
    for head in 0..heads {
        for place in 0..width {
            // Row 2i of a stored head is row i of its first half, row 2i + 1 is row i of its second half.
            let from = (head * width + place) * row;
            let to = (head * width + place / 2 + (place % 2) * (width / 2)) * row;
            if let (Some(source), Some(target)) = (bytes.get(from..from + row), out.get_mut(to..to + row)) {
                target.copy_from_slice(source);
            }
        }
    }
    out
}

/// The safetensors files of a folder: those of the index, or the one file.
pub(super) fn safetensors_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let index = folder.join("model.safetensors.index.json");
    if index.is_file() {
        let text = std::fs::read_to_string(&index).map_err(|error| Error::file(&index, &error))?;
        let map: Value =
            serde_json::from_str(&text).map_err(|error| Error::input(format!("{}: {error}", index.display())))?;
        let mut names: Vec<&str> = map
            .get("weight_map")
            .and_then(Value::as_object)
            .map(|files| files.values().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        names.sort_unstable();
        names.dedup();
        // A name in an index must not lead out of the folder.
        if let Some(odd) = names.iter().find(|name| name.contains(['/', '\\']) || name.is_empty()) {
            return Err(Error::input(format!("{}: {odd:?} is not the name of a file", index.display())));
        }
        let paths: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
        if let Some(absent) = paths.iter().find(|path| !path.is_file()) {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("{} is named in the index but missing", absent.display()),
            )
            .help("the download is incomplete: fetch the model again"));
        }
        if !paths.is_empty() {
            return Ok(paths);
        }
    }
    let one = folder.join("model.safetensors");
    if one.is_file() {
        return Ok(vec![one]);
    }
    Err(Error::new(ErrorKind::NotFound, format!("no model.safetensors in {}", folder.display()))
        .help("give a folder with config.json, tokenizer.json and safetensors, or a GGUF file; pickled .bin files are refused"))
}
