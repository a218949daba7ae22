//! Normalisation of rows.

use candle_core::{DType, Result, Tensor};

use super::activation::{each_row, fused, widened};
use super::numbers::numbers;
use super::weights::Weights;
use crate::error::Result as OurResult;

/// Layer normalisation, as encoders have it.
#[derive(Debug)]
pub(super) struct Norm {
    pub(super) weight: Tensor,
    pub(super) bias: Tensor,
    pub(super) epsilon: f32,
}

impl Norm {
    pub(super) fn load(weights: &Weights, name: &str, epsilon: f64) -> OurResult<Self> {
        let either = |new: &str, old: &str| {
            let new = format!("{name}.{new}");
            if weights.has(&new) { weights.tensor(&new) } else { weights.tensor(&format!("{name}.{old}")) }
        };
        Ok(Self { weight: either("weight", "gamma")?, bias: either("bias", "beta")?, epsilon: epsilon as f32 })
    }

    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        candle_nn::ops::layer_norm(&x.contiguous()?, &self.weight, &self.bias, self.epsilon)
    }
}

/// Rows over their root mean square, as decoders have it; f32 in and out.
pub(super) fn over_root_mean_square(x: &Tensor, weight: &Tensor, epsilon: f32) -> Result<Tensor> {
    let x = x.contiguous()?;
    if !x.device().is_cpu() || x.dtype() != DType::F32 || weight.dtype() != DType::F32 {
        return candle_nn::ops::rms_norm(&x, weight, epsilon);
    }
    let width = weight.elem_count();
    let (storage, layout) = x.storage_and_layout();
    let (scales, scales_layout) = weight.storage_and_layout();
    let (rows, weight) = (numbers(&storage, layout)?, numbers(&scales, scales_layout)?);
    let mut out = vec![0.0_f32; rows.len()];
    each_row(&mut out, width, |row, out| {
        root_mean_square(&rows[row * width..][..out.len()], weight, epsilon, out);
    });
    Tensor::from_vec(out, x.shape(), x.device())
}

widened!(pub(super) normalise, normalise_plain(row: &mut [f32], weight: &[f32], bias: &[f32], epsilon: f32));

#[inline(always)]
fn normalise_plain<const FUSED: bool>(row: &mut [f32], weight: &[f32], bias: &[f32], epsilon: f32) {
    let width = row.len() as f32;
    let mean = sum(row, |value| value) / width;
    let spread = sum(row, |value| (value - mean) * (value - mean)) / width;
    let inverse = (spread + epsilon).sqrt().recip();
    for ((value, weight), bias) in row.iter_mut().zip(weight).zip(bias) {
        *value = fused::<FUSED>((*value - mean) * inverse, *weight, *bias);
    }
}

widened!(pub(super) root_mean_square, root_mean_square_plain(row: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]));

#[inline(always)]
fn root_mean_square_plain<const FUSED: bool>(row: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]) {
    let square = sum(row, |value| value * value) / row.len() as f32;
    let inverse = (square + epsilon).sqrt().recip();
    for ((out, value), weight) in out.iter_mut().zip(row).zip(weight) {
        *out = value * inverse * weight;
    }
}

const LANES: usize = 16;

/// The sum of all terms, in lanes: the compiler adds one by one if it is told to add in order.
#[inline(always)]
fn sum(row: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += term(*value);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|value| term(*value)).sum::<f32>()
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    #[test]
    fn rows_come_out_as_candles() -> Result<()> {
        for width in [1, 15, 64, 100] {
            let random = |mean: f32| Tensor::randn(mean, 0.5, width, &Device::Cpu);
            let (x, weight, bias) = (random(2.0)?, random(1.0)?, random(0.0)?);
            let plain = |tensor: &Tensor| tensor.to_vec1::<f32>();
            let differs = |ours: &[f32], theirs: &Tensor| -> Result<bool> {
                Ok(ours.iter().zip(plain(&theirs.flatten_all()?)?).any(|(a, b)| (a - b).abs() > 1e-4))
            };
            let mut row = plain(&x)?;
            normalise(&mut row, &plain(&weight)?, &plain(&bias)?, 1e-5);
            let norm = Norm { weight: weight.clone(), bias, epsilon: 1e-5 };
            let x = x.unsqueeze(0)?;
            // Of a single number the spread is zero, and rounding is all that is left.
            assert!(width == 1 || !differs(&row, &norm.forward(&x)?)?, "{width}");
            let ours = over_root_mean_square(&x, &weight, 1e-5)?.flatten_all()?;
            assert!(!differs(&plain(&ours)?, &candle_nn::ops::rms_norm(&x, &weight, 1e-5)?)?, "{width}");
        }
        Ok(())
    }
}
