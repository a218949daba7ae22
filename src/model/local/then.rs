//! What follows a product: done with some rows at a time, while they are in a core's cache.

use candle_core::{Result, Tensor, bail};

use super::activation::{gelu, gelu_row};
use super::norm::{Norm, normalise};
use super::numbers::numbers;

/// What follows a product and its bias.
#[derive(Debug, Clone, Copy)]
pub(super) enum Then<'a> {
    Nothing,
    /// The Gaussian error linear unit.
    Gelu,
    /// Rows of the same shape are added.
    Add(&'a Tensor),
    /// They are added, and the sums normalised.
    AddAndNormalise(&'a Tensor, &'a Norm),
}

/// Finishes some rows of a product, given the first one's number.
pub(super) type Finish<'a> = dyn Fn(usize, &mut [f32]) + Sync + 'a;

impl Then<'_> {
    /// Does it to a whole product.
    pub(super) fn apply(self, product: Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
        let product = match bias {
            Some(bias) => product.broadcast_add(bias)?,
            None => product,
        };
        match self {
            Self::Nothing => Ok(product),
            Self::Gelu => gelu(product),
            Self::Add(rows) => product + rows,
            Self::AddAndNormalise(rows, norm) => norm.forward(&(product + rows)?),
        }
    }

    /// Hands `product`, which has this shape, what finishes its rows, all of f32 on the processor.
    pub(super) fn with<R>(
        self,
        bias: Option<&Tensor>,
        (height, width): (usize, usize),
        product: impl FnOnce(&Finish<'_>) -> Result<R>,
    ) -> Result<R> {
        let (added, norm) = match self {
            Self::Nothing | Self::Gelu => (None, None),
            Self::Add(rows) => (Some(rows.contiguous()?), None),
            Self::AddAndNormalise(rows, norm) => (Some(rows.contiguous()?), Some(norm)),
        };
        if let Some(rows) = added.as_ref().filter(|rows| rows.dims() != [height, width]) {
            bail!("a product of {height} rows of {width} cannot be added to {:?}", rows.dims());
        }
        let bias = bias.map(Tensor::storage_and_layout);
        let added = added.as_ref().map(Tensor::storage_and_layout);
        let scales = norm.map(|norm| (norm.weight.storage_and_layout(), norm.bias.storage_and_layout(), norm.epsilon));
        let bias = bias.as_ref().map(|(storage, layout)| numbers(storage, layout)).transpose()?;
        let added = added.as_ref().map(|(storage, layout)| numbers(storage, layout)).transpose()?;
        let scales = match &scales {
            Some((weight, bias, epsilon)) => Some((numbers(&weight.0, weight.1)?, numbers(&bias.0, bias.1)?, *epsilon)),
            None => None,
        };
        product(&|first, rows| {
            for (place, row) in rows.chunks_exact_mut(width.max(1)).enumerate() {
                if let Some(bias) = bias {
                    row.iter_mut().zip(bias).for_each(|(value, bias)| *value += bias);
                }
                if let Some(added) = added.and_then(|added| added.get((first + place) * width..)) {
                    row.iter_mut().zip(added).for_each(|(value, added)| *value += added);
                }
                if let Some((weight, bias, epsilon)) = scales {
                    normalise(row, weight, bias, epsilon);
                }
            }
            if matches!(self, Self::Gelu) {
                gelu_row(rows);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::super::linear::Linear;
    use super::*;

    #[test]
    fn rows_of_another_shape_are_not_added() -> Result<()> {
        // Few rows and many take different ways.
        for rows in [2, 40] {
            let weight = Tensor::randn(0_f32, 1.0, (16, 32), &Device::Cpu)?;
            let x = Tensor::randn(0_f32, 1.0, (rows, 32), &Device::Cpu)?;
            let linear = Linear::dense(weight, None)?;
            let plain = linear.forward(&x)?;
            let twice = linear.forward_then(&x, Then::Add(&plain))?;
            assert!((twice - (plain * 2.0)?)?.abs()?.max_all()?.to_scalar::<f32>()? < 1e-4);
            for shape in [(rows - 1, 16), (rows + 1, 16), (rows, 17)] {
                let other = Tensor::zeros(shape, candle_core::DType::F32, &Device::Cpu)?;
                assert!(linear.forward_then(&x, Then::Add(&other)).is_err(), "{rows} {shape:?}");
            }
        }
        Ok(())
    }
}
