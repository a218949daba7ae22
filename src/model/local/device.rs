//! What a model computes on.

use candle_core::{DType, Device as Candle};

use super::{Device, Precision, failed};
use crate::error::{Error, Result};

impl Device {
    /// What `Auto` would take here, in plain words.
    #[must_use]
    pub fn chosen(self) -> String {
        match self.open() {
            Ok(Candle::Cpu) => format!("processor, {} threads", candle_core::utils::get_num_threads()),
            Ok(Candle::Cuda(_)) => "CUDA GPU".to_owned(),
            Ok(Candle::Metal(_)) => "Metal GPU".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    pub(super) fn open(self) -> Result<Candle> {
        let absent = |what: &str, feature: &str, error: candle_core::Error| {
            failed(error)
                .context(format!("opening {what}"))
                .help(format!("build with `--features {feature}`, or use Device::Cpu"))
        };
        match self {
            Self::Cpu => Ok(Candle::Cpu),
            Self::Cuda(number) => Candle::new_cuda(number).map_err(|error| absent("an NVIDIA GPU", "cuda", error)),
            Self::Metal => Candle::new_metal(0).map_err(|error| absent("Apple's GPU", "metal", error)),
            Self::Auto if candle_core::utils::cuda_is_available() => Self::Cuda(0).open(),
            Self::Auto if candle_core::utils::metal_is_available() => Self::Metal.open(),
            Self::Auto => Ok(Candle::Cpu),
        }
    }

    /// What identifies a result: the kind of device, not its number.
    pub(super) fn kind(self) -> Result<&'static str> {
        Ok(match self.open()? {
            Candle::Cpu => "cpu",
            Candle::Cuda(_) => "cuda",
            Candle::Metal(_) => "metal",
        })
    }
}

impl Precision {
    pub(super) fn on(self, device: &Candle) -> Result<DType> {
        Ok(match self {
            Self::Auto if device.is_cpu() => DType::F32,
            Self::Bf16 if device.is_cpu() => {
                return Err(Error::input("the processor does not multiply bf16 here")
                    .help("Precision::Auto reads bf16 checkpoints and computes in f32"));
            }
            Self::Auto | Self::Bf16 => DType::BF16,
            Self::F32 => DType::F32,
            Self::F16 => DType::F16,
        })
    }
}
