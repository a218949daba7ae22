//! Rows of quantized weights as f32.

use std::borrow::Cow;

use candle_core::quantized::{GgmlDType, QStorage, QTensor};
use candle_core::{CpuStorage, Device, Result, bail};

use super::activation::{fused, widened};
use super::blocks::{BLOCK, BYTES, scales};

/// Writes whole rows, whose blocks `bytes` are, into `out`, which holds as many rows of `width`.
pub(super) fn unpack(bytes: &[u8], kind: GgmlDType, width: usize, out: &mut [f32]) -> Result<()> {
    let rows = out.len() / width.max(1);
    if bytes.len() != rows * width / kind.block_size() * kind.type_size() {
        bail!("{} bytes of {kind:?} for {rows} rows of {width}", bytes.len());
    }
    if kind == GgmlDType::Q4_1 {
        unpack_q4_1(bytes, out);
        return Ok(());
    }
    unpack_by_candle(bytes, kind, (rows, width), out)
}

widened!(unpack_q4_1, unpack_q4_1_plain(blocks: &[u8], out: &mut [f32]));

#[inline(always)]
fn unpack_q4_1_plain<const FUSED: bool>(blocks: &[u8], out: &mut [f32]) {
    for (block, values) in blocks.chunks_exact(BYTES).zip(out.as_chunks_mut::<BLOCK>().0) {
        let (d, m) = scales(block);
        let (low, high) = values.split_at_mut(BLOCK / 2);
        for ((low, high), byte) in low.iter_mut().zip(high).zip(&block[4..]) {
            *low = fused::<FUSED>(f32::from(byte & 15), d, m);
            *high = fused::<FUSED>(f32::from(byte >> 4), d, m);
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
    use candle_core::Tensor;

    use super::*;

    #[test]
    fn weights_come_out_as_candles() -> Result<()> {
        for kind in [GgmlDType::Q4_1, GgmlDType::Q8_0] {
            let weight = QTensor::quantize(&Tensor::randn(0_f32, 0.1, (40, 64), &Device::Cpu)?, kind)?;
            let mut ours = vec![0.0; 40 * 64];
            unpack(&weight.data()?, kind, 64, &mut ours)?;
            let theirs = weight.dequantize(&Device::Cpu)?.flatten_all()?.to_vec1::<f32>()?;
            assert!(ours.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 1e-6), "{kind:?}");
            assert!(unpack(&weight.data()?, kind, 64, &mut ours[1..]).is_err());
        }
        Ok(())
    }
}
