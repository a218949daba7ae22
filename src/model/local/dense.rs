//! Products of few rows with dense f32 weights, on all threads.
//!
//! Writing replies multiplies one row a reply with every weight of the model: each weight is read once, and memory is the
//! limit. candle multiplies one row on one thread, and copies weights to multiply several.

use candle_core::{CpuStorage, DType, Result, Storage, Tensor, bail};

use super::share::{Out, share};
use super::vector::{self, is_quick as is_quick_here};

/// Rows up to which this is the quick way.
const MOST: usize = 16;
/// Rows that share one pass over a row of weights.
const TOGETHER: usize = 4;

/// Whether [`product`] is the quick way for this input.
pub(super) fn is_quick(x: &Tensor, weight: &Tensor) -> bool {
    x.dims().first().is_some_and(|rows| *rows <= MOST)
        && x.device().is_cpu()
        && x.dtype() == DType::F32
        && weight.dtype() == DType::F32
        && weight.is_contiguous()
        && is_quick_here()
}

/// `x Wᵀ`; a row comes out the same whatever stands beside it.
pub(super) fn product(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let (rows, width) = x.dims2()?;
    let (height, weight_width) = weight.dims2()?;
    if width != weight_width {
        bail!("a product of {width} columns with {weight_width}");
    }
    let x = x.contiguous()?;
    let (x_storage, x_layout) = x.storage_and_layout();
    let (weight_storage, weight_layout) = weight.storage_and_layout();
    let (Storage::Cpu(CpuStorage::F32(inputs)), Storage::Cpu(CpuStorage::F32(weights))) =
        (&*x_storage, &*weight_storage)
    else {
        bail!("expected f32 on the CPU")
    };
    let inputs = &inputs[x_layout.start_offset()..][..rows * width];
    let weights = &weights[weight_layout.start_offset()..][..height * width];
    let mut out = vec![0_f32; rows * height];
    let target = Out::of(&mut out);
    share(height, |range| {
        for row in range {
            let weights = &weights[row * width..(row + 1) * width];
            for (group, inputs) in inputs.chunks(TOGETHER * width.max(1)).enumerate() {
                let sums = dots(weights, inputs);
                for (place, sum) in sums.iter().enumerate().take(inputs.len() / width.max(1)) {
                    // SAFETY: row < height and the input's row < rows; each pair is computed once.
                    unsafe { target.set((group * TOGETHER + place) * height + row, *sum) };
                }
            }
        }
    });
    Tensor::from_vec(out, (rows, height), x.device())
}

/// One row of weights with up to four rows of input.
fn dots(weights: &[f32], inputs: &[f32]) -> [f32; TOGETHER] {
    let width = weights.len();
    let row = |place: usize| inputs.get(place * width..(place + 1) * width).unwrap_or_default();
    let mut sums = [0.0; TOGETHER];
    if inputs.len() == TOGETHER * width {
        sums = vector::dots(weights, [row(0), row(1), row(2), row(3)]);
    } else {
        for (place, sum) in sums.iter_mut().enumerate().take(inputs.len() / width.max(1)) {
            [*sum] = vector::dots(weights, [row(place)]);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    #[test]
    fn products_agree_with_candles_and_do_not_depend_on_neighbours() -> Result<()> {
        for (rows, height, width) in [(1, 50, 64), (3, 7, 100), (4, 9, 16), (9, 33, 37), (16, 5, 8)] {
            let weight = Tensor::randn(0_f32, 0.2, (height, width), &Device::Cpu)?;
            let x = Tensor::randn(0_f32, 1.0, (rows, width), &Device::Cpu)?;
            if !is_quick_here() {
                return Ok(());
            }
            assert!(is_quick(&x, &weight) && !is_quick(&x, &weight.t()?));
            let ours = product(&x, &weight)?;
            let theirs = x.matmul(&weight.t()?)?;
            let difference = (&ours - theirs)?.abs()?.max_all()?.to_scalar::<f32>()?;
            assert!(difference < 1e-4, "{rows} {height} {width}: {difference}");
            let last = product(&x.narrow(0, rows - 1, 1)?, &weight)?;
            assert_eq!(last.to_vec2::<f32>()?[0], ours.to_vec2::<f32>()?[rows - 1]);
        }
        Ok(())
    }
}
