//! Matrix products: dense, or over the blocks of a quantized checkpoint.

use std::sync::Arc;

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{DType, Device, Module, Result, Tensor};

use super::failed;
use super::then::Then;
use super::{blocks, dense, many};

/// Rows of input from which on it pays to unpack quantized weights and multiply densely.
const UNPACK: usize = 24;

/// `x ↦ x Wᵀ + b`.
#[derive(Debug, Clone)]
pub(super) struct Linear {
    weight: Weight,
    bias: Option<Tensor>,
}

#[derive(Debug, Clone)]
enum Weight {
    Dense(Tensor),
    Quantized(Arc<QTensor>),
}

impl Linear {
    pub(super) fn dense(weight: Tensor, bias: Option<Tensor>) -> Self {
        Self { weight: Weight::Dense(weight), bias }
    }

    pub(super) fn quantized(weight: QTensor, bias: Option<Tensor>) -> crate::Result<Self> {
        Self::shared(Arc::new(weight), bias)
    }

    /// Over weights that something else uses too, such as a tied embedding.
    pub(super) fn shared(weight: Arc<QTensor>, bias: Option<Tensor>) -> crate::Result<Self> {
        let weight = match weight.dtype() {
            GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16 => {
                let dense = weight.dequantize(&weight.device()).and_then(|dense| dense.to_dtype(DType::F32));
                Weight::Dense(dense.map_err(failed)?)
            }
            _ => Weight::Quantized(weight),
        };
        Ok(Self { weight, bias })
    }

    /// `x` is (rows, width).
    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.forward_then(x, Then::Nothing)
    }

    /// The same, and what follows.
    pub(super) fn forward_then(&self, x: &Tensor, then: Then<'_>) -> Result<Tensor> {
        let bias = self.bias.as_ref();
        let product = match &self.weight {
            Weight::Dense(weight) if dense::is_quick(x, weight) => dense::product(x, weight)?,
            Weight::Dense(weight) if many::is_quick(x) && weight.is_contiguous() => {
                let shape = (x.dim(0)?, weight.dim(0)?);
                return then.with(bias, shape, |finish| many::dense(x, weight, finish));
            }
            Weight::Dense(weight) => x.matmul(&weight.t()?)?,
            Weight::Quantized(weight) if matches!(x.device(), Device::Cpu) => {
                if x.dim(0)? >= UNPACK && many::is_quick(x) {
                    let shape = (x.dim(0)?, weight.shape().dims2()?.0);
                    return then.with(bias, shape, |finish| many::quantized(x, weight, finish));
                } else if x.dim(0)? >= UNPACK {
                    x.matmul(&weight.dequantize(x.device())?.t()?)?
                } else if blocks::is_quick(weight) {
                    blocks::product(x, weight)?
                } else {
                    QMatMul::QTensor(weight.clone()).forward(x)?
                }
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
