//! Quantized weights as f32, for products with many rows: on all threads, into memory that is kept for the next product.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use candle_core::quantized::{GgmlDType, QStorage, QTensor};
use candle_core::utils::barrier_pool;
use candle_core::{CpuStorage, DType, Device, InplaceOp1, Layout, Result, Tensor, bail};

use super::activation::widened;
use super::blocks::{BLOCK, BYTES, Out, scales};

/// Rows of a matrix that one piece of work covers.
const ROWS: usize = 16;
/// Weights of a matrix up to which its memory is kept: 64 MiB. Fresh memory costs as much time as unpacking into it.
const KEPT: usize = 1 << 24;

/// Memory that nobody uses now; more than one only if several models compute at once.
static FREE: Mutex<Vec<Tensor>> = Mutex::new(Vec::new());

/// `x Wᵀ`, where `x` is (rows, width).
pub(super) fn product(x: &Tensor, weight: &QTensor) -> Result<Tensor> {
    let (height, width) = weight.shape().dims2()?;
    let wanted = height * width;
    if wanted > KEPT {
        return x.matmul(&unpacked(weight, &Tensor::zeros(wanted, DType::F32, &Device::Cpu)?)?.t()?);
    }
    let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let memory = match free.filter(|memory| memory.elem_count() >= wanted) {
        Some(memory) => memory,
        None => Tensor::zeros(wanted, DType::F32, &Device::Cpu)?,
    };
    let product = x.matmul(&unpacked(weight, &memory)?.t()?);
    FREE.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    product
}

/// The weights, as a view of the beginning of `memory`.
fn unpacked(weight: &QTensor, memory: &Tensor) -> Result<Tensor> {
    let (height, width) = weight.shape().dims2()?;
    let view = memory.narrow(0, 0, height * width)?;
    view.inplace_op1(&Unpack { weight, height, width })?;
    view.reshape((height, width))
}

struct Unpack<'a> {
    weight: &'a QTensor,
    height: usize,
    width: usize,
}

impl InplaceOp1 for Unpack<'_> {
    fn name(&self) -> &'static str {
        "unpack"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let (CpuStorage::F32(values), Some((from, to))) = (storage, layout.contiguous_offsets()) else {
            bail!("unpacking needs contiguous f32")
        };
        let blocks = self.weight.data()?;
        let kind = self.weight.dtype();
        let row_bytes = self.width / kind.block_size() * kind.type_size();
        let (height, width) = (self.height, self.width);
        if to - from != height * width || blocks.len() != height * row_bytes {
            bail!("{} bytes of {kind:?} for {height} rows of {width}", blocks.len());
        }
        let target = Out::of(&mut values[from..to]);
        let failed = Mutex::new(None);
        barrier_pool().execute_chunked(height.div_ceil(ROWS), |range| {
            for piece in range {
                let (first, last) = (piece * ROWS, height.min((piece + 1) * ROWS));
                let bytes = &blocks[first * row_bytes..last * row_bytes];
                // SAFETY: each band of rows is written by one piece of work.
                let values = unsafe { target.part(first * width, (last - first) * width) };
                if kind == GgmlDType::Q4_1 {
                    unpack_q4_1(bytes, values);
                } else if let Err(error) = unpack_by_candle(bytes, kind, (last - first, width), values) {
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                }
            }
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

widened!(unpack_q4_1, unpack_q4_1_wide, unpack_q4_1_plain(blocks: &[u8], out: &mut [f32]));

#[inline(always)]
fn unpack_q4_1_plain(blocks: &[u8], out: &mut [f32]) {
    for (block, values) in blocks.chunks_exact(BYTES).zip(out.as_chunks_mut::<BLOCK>().0) {
        let (d, m) = scales(block);
        let (low, high) = values.split_at_mut(BLOCK / 2);
        for ((low, high), byte) in low.iter_mut().zip(high).zip(&block[4..]) {
            // Not `mul_add`: where a machine lacks the instruction, that is a function call a weight.
            *low = f32::from(byte & 15) * d + m;
            *high = f32::from(byte >> 4) * d + m;
        }
    }
}

/// Other types as candle unpacks them.
fn unpack_by_candle(bytes: &[u8], kind: GgmlDType, shape: (usize, usize), out: &mut [f32]) -> Result<()> {
    let storage = QStorage::from_data(Cow::Borrowed(bytes), &Device::Cpu, kind)?;
    let dense = QTensor::new(storage, shape)?.dequantize(&Device::Cpu)?;
    let (storage, layout) = dense.storage_and_layout();
    match (&*storage, layout.contiguous_offsets()) {
        (candle_core::Storage::Cpu(CpuStorage::F32(values)), Some((from, to))) if to - from == out.len() => {
            out.copy_from_slice(&values[from..to]);
            Ok(())
        }
        _ => bail!("{kind:?} did not become {} numbers", out.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_candles_weights_whatever_lay_in_the_memory_before() -> Result<()> {
        for kind in [GgmlDType::Q4_1, GgmlDType::Q8_0, GgmlDType::Q4_1] {
            // Heights that are no multiple of a piece, each another one.
            for height in [40, 7, 48] {
                let weight = Tensor::randn(0_f32, 0.1, (height, 64), &Device::Cpu)?;
                let weight = QTensor::quantize(&weight, kind)?;
                let x = Tensor::randn(0_f32, 1.0, (30, 64), &Device::Cpu)?;
                let dense = x.matmul(&weight.dequantize(&Device::Cpu)?.t()?)?;
                let difference = (product(&x, &weight)? - dense)?.abs()?.max_all()?.to_scalar::<f32>()?;
                assert!(difference < 1e-5, "{kind:?} {height}: {difference}");
            }
        }
        Ok(())
    }
}
