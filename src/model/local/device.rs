//! What a model computes on.

use std::sync::{Mutex, PoisonError};

use candle_core::{DType, Device as Candle};

use super::{Device, Precision, failed};
use crate::error::{Error, Result};

impl Device {
    /// What `Auto` would take here, in plain words.
    #[must_use]
    pub fn chosen(self) -> String {
        match self.open() {
            Ok(Candle::Cpu) => {
                format!("processor, {} threads{}", candle_core::utils::get_num_threads(), self.passed_over())
            }
            Ok(Candle::Cuda(_)) => "CUDA GPU".to_owned(),
            Ok(Candle::Metal(_)) => "Metal GPU".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    /// Why a build that knows GPUs does not compute on one.
    fn passed_over(self) -> &'static str {
        let knows_one = candle_core::utils::cuda_is_available() || candle_core::utils::metal_is_available();
        if self == Self::Auto && knows_one { "; this build knows GPUs, but none answers here" } else { "" }
    }

    /// The device, opened once: two handles on one GPU count as two devices, whose tensors do not mix.
    pub(super) fn open(self) -> Result<Candle> {
        static OPENED: Mutex<Vec<(Device, Candle)>> = Mutex::new(Vec::new());
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = opened.iter().find(|(device, _)| *device == self) {
            return Ok(known.clone());
        }
        let found = match self {
            // What is in the build need not be in the machine.
            Self::Auto => Self::Cuda(0).try_open().or_else(|_| Self::Metal.try_open()).unwrap_or(Candle::Cpu),
            named => named.try_open()?,
        };
        opened.push((self, found.clone()));
        Ok(found)
    }

    fn try_open(self) -> Result<Candle> {
        let absent = |what: &str, feature: &str, error: candle_core::Error| {
            failed(error)
                .context(format!("opening {what}"))
                .help(format!("build with `--features {feature}`, or use Device::Cpu"))
        };
        match self {
            Self::Cpu | Self::Auto => Ok(Candle::Cpu),
            Self::Cuda(number) => Candle::new_cuda(number).map_err(|error| absent("an NVIDIA GPU", "cuda", error)),
            Self::Metal => Candle::new_metal(0).map_err(|error| absent("Apple's GPU", "metal", error)),
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
