//! Rows of quantized weights as f32, as candle unpacks them.

use std::borrow::Cow;

use candle_core::quantized::{GgmlDType, QStorage, QTensor};
use candle_core::{Device, Result, bail};

use super::numbers::numbers;

/// Writes whole rows, whose blocks `bytes` are, into `out`, which holds as many rows of `width`.
pub(super) fn unpack(bytes: &[u8], kind: GgmlDType, width: usize, out: &mut [f32]) -> Result<()> {
    let rows = out.len() / width.max(1);
    if bytes.len() != rows * width / kind.block_size() * kind.type_size() {
        bail!("{} bytes of {kind:?} for {rows} rows of {width}", bytes.len());
    }
    let storage = QStorage::from_data(Cow::Borrowed(bytes), &Device::Cpu, kind)?;
    let dense = QTensor::new(storage, (rows, width))?.dequantize(&Device::Cpu)?;
    let (storage, layout) = dense.storage_and_layout();
    let values = numbers(&storage, layout)?;
    if values.len() != out.len() {
        bail!("{kind:?} did not become {} numbers", out.len());
    }
    out.copy_from_slice(values);
    Ok(())
}

#[cfg(test)]
mod tests {
    use candle_core::Tensor;

    use super::*;

    #[test]
    fn weights_come_out_as_candles() -> Result<()> {
        for kind in [GgmlDType::Q4_1, GgmlDType::Q8_0, GgmlDType::Q4_0] {
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
