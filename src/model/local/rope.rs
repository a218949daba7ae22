//! Rotary positions (Su et al. 2021, "RoFormer"), in f32 whatever the weights are: half precision rounds positions.

use candle_core::{DType, Device, Result, Tensor};

use super::config::{DecoderConfig, RopeScaling};

/// Cosines and sines of all positions up to the context's length, made as far as they are needed.
#[derive(Debug)]
pub(super) struct Rope {
    frequencies: Vec<f64>,
    dtype: DType,
    device: Device,
}

impl Rope {
    pub(super) fn new(config: &DecoderConfig, dtype: DType, device: &Device) -> Self {
        let width = config.head_width as f64;
        let plain = (0..config.head_width / 2).map(|pair| config.theta.powf(-2.0 * pair as f64 / width));
        let frequencies = plain.enumerate().map(|(pair, frequency)| scaled(frequency, pair, &config.scaling)).collect();
        Self { frequencies, dtype, device: device.clone() }
    }

    /// Cosines and sines for these positions: two tensors (positions, half a head).
    pub(super) fn at(&self, positions: &[usize]) -> Result<(Tensor, Tensor)> {
        let half = self.frequencies.len();
        let mut cosines = Vec::with_capacity(positions.len() * half);
        let mut sines = Vec::with_capacity(positions.len() * half);
        for position in positions {
            for frequency in &self.frequencies {
                let (sine, cosine) = (*position as f64 * frequency).sin_cos();
                cosines.push(cosine as f32);
                sines.push(sine as f32);
            }
        }
        let tensor = |values: Vec<f32>| {
            Tensor::from_vec(values, (positions.len(), half), &Device::Cpu)?
                .to_device(&self.device)?
                .to_dtype(self.dtype)
        };
        Ok((tensor(cosines)?, tensor(sines)?))
    }
}

fn scaled(frequency: f64, pair: usize, scaling: &RopeScaling) -> f64 {
    match scaling {
        RopeScaling::None => frequency,
        RopeScaling::Linear(factor) => frequency / factor,
        RopeScaling::Divisors(divisors) => frequency / f64::from(divisors.get(pair).copied().unwrap_or(1.0)),
        RopeScaling::Llama3 { factor, low, high, original } => {
            let length = 2.0 * std::f64::consts::PI / frequency;
            if length < original / high {
                frequency
            } else if length > original / low {
                frequency / factor
            } else {
                let smooth = (original / length - low) / (high - low);
                (1.0 - smooth) * frequency / factor + smooth * frequency
            }
        }
    }
}
