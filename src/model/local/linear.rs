//! Matrix products: dense, or over the blocks of a quantized checkpoint.

use std::sync::Arc;

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{DType, Module, Result, Tensor};

use super::interleaved::Interleaved;
use super::panels::Panels;
use super::then::Then;
use super::{blocks, many};

/// Rows of input from which on it pays to unpack quantized weights and multiply densely.
const UNPACK: usize = 24;

/// `x ↦ x Wᵀ + b`.
#[derive(Debug, Clone)]
pub(super) struct Linear {
    weight: Weight,
    bias: Option<Tensor>,
}

/// A matrix of weights; copies share it.
#[derive(Debug, Clone)]
pub(super) enum Weight {
    /// Of any type, on any device.
    Dense(Tensor),
    /// Dense weights whose products are quick that way.
    Panels(Arc<Panels>),
    /// Quantized weights whose products are quick that way.
    Interleaved(Arc<Interleaved>),
    Quantized(Arc<QTensor>),
}

impl Weight {
    /// Those of a quantized checkpoint; what is stored in half precision becomes f32.
    pub(super) fn quantized(weight: QTensor) -> Result<Self> {
        if matches!(weight.dtype(), GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16) {
            return Self::dense(weight.dequantize(&weight.device())?.to_dtype(DType::F32)?);
        }
        if blocks::is_quick(&weight)
            && let Some(interleaved) = Interleaved::of(&weight)?
        {
            return Ok(Self::Interleaved(Arc::new(interleaved)));
        }
        Ok(Self::Quantized(Arc::new(weight)))
    }

    pub(super) fn dense(weight: Tensor) -> Result<Self> {
        Ok(match Panels::of(&weight)? {
            Some(panels) => Self::Panels(Arc::new(panels)),
            None => Self::Dense(weight),
        })
    }

    /// Height and width.
    pub(super) fn shape(&self) -> Result<(usize, usize)> {
        match self {
            Self::Dense(weight) => weight.dims2(),
            Self::Panels(weight) => Ok((weight.height, weight.width)),
            Self::Interleaved(weight) => Ok((weight.height, weight.width)),
            Self::Quantized(weight) => weight.shape().dims2(),
        }
    }

    /// The rows with these numbers: (numbers, width).
    pub(super) fn rows(&self, numbers: &Tensor) -> Result<Tensor> {
        match self {
            Self::Dense(weight) => weight.index_select(numbers, 0),
            Self::Panels(weight) => weight.rows(numbers),
            Self::Interleaved(weight) => weight.rows(numbers),
            Self::Quantized(weight) => weight.embedding(numbers),
        }
    }
}

impl Linear {
    pub(super) fn new(weight: Weight, bias: Option<Tensor>) -> Self {
        Self { weight, bias }
    }

    pub(super) fn dense(weight: Tensor, bias: Option<Tensor>) -> Result<Self> {
        Weight::dense(weight).map(|weight| Self::new(weight, bias))
    }

    pub(super) fn quantized(weight: QTensor, bias: Option<Tensor>) -> Result<Self> {
        Weight::quantized(weight).map(|weight| Self::new(weight, bias))
    }

    /// `x` is (rows, width).
    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.forward_then(x, Then::Nothing)
    }

    /// The same, and what follows.
    pub(super) fn forward_then(&self, x: &Tensor, then: Then<'_>) -> Result<Tensor> {
        let bias = self.bias.as_ref();
        let product = match &self.weight {
            Weight::Dense(weight) => x.matmul(&weight.t()?)?,
            Weight::Panels(weight) => {
                let shape = (x.dim(0)?, weight.height);
                return then.with(bias, shape, |finish| many::dense(x, weight, finish));
            }
            Weight::Interleaved(weight) => {
                let shape = (x.dim(0)?, weight.height);
                let product = if x.dim(0)? >= UNPACK { many::interleaved } else { blocks::product };
                return then.with(bias, shape, |finish| product(x, weight, finish));
            }
            Weight::Quantized(weight) if x.device().is_cpu() && x.dim(0)? >= UNPACK => {
                if many::is_quick(x) {
                    let shape = (x.dim(0)?, weight.shape().dims2()?.0);
                    return then.with(bias, shape, |finish| many::quantized(x, weight, finish));
                }
                x.matmul(&weight.dequantize(x.device())?.t()?)?
            }
            Weight::Quantized(weight) => QMatMul::QTensor(weight.clone()).forward(x)?,
        };
        then.apply(product, bias)
    }
}

/// Several products of the same input, side by side.
#[derive(Debug, Clone)]
pub(super) struct Stack(pub(super) Vec<Linear>);

impl Stack {
    /// Numbers that a row of input becomes, together.
    pub(super) fn height(&self) -> Result<usize> {
        self.0.iter().map(|part| Ok(part.weight.shape()?.0)).sum()
    }

    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        match self.0.as_slice() {
            [one] => one.forward(x),
            several => {
                let parts: Vec<Tensor> = several.iter().map(|part| part.forward(x)).collect::<Result<_>>()?;
                Tensor::cat(&parts, 1)
            }
        }
    }
}
