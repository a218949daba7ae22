//! Products of few rows with quantized weights, on all threads.
//!
//! candle multiplies the common types with vector instructions of AVX2, and Q4_1 in a plain loop. Here are Q4_1, and where
//! the processor multiplies bytes at once also Q8_0, which heads are often kept in.

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Result, Tensor, bail};

use super::interleaved::{Interleaved, ROWS};
use super::numbers::numbers;
use super::rounded::{Rounded, Row};
use super::share::{Out, share};
use super::then::Finish;

/// Rows of input that share one pass over the weights.
const TOGETHER: usize = 4;

/// Whether [`product`] is possible here for these weights, and then the quick way.
pub(super) fn is_quick(weight: &QTensor) -> bool {
    weight.device().is_cpu() && is_possible(weight.dtype())
}

fn is_possible(kind: GgmlDType) -> bool {
    match kind {
        GgmlDType::Q4_1 => has_vectors(),
        GgmlDType::Q8_0 => has_vectors() && has_byte_products(),
        _ => false,
    }
}

#[cfg(target_arch = "x86_64")]
use super::blocks_x86::{has_byte_products, has_vectors};

#[cfg(not(target_arch = "x86_64"))]
fn has_byte_products() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_vectors() -> bool {
    false
}

/// `x Wᵀ` for a few rows of input, and what follows; a row comes out the same whatever stands beside it.
pub(super) fn product(x: &Tensor, weight: &Interleaved, finish: &Finish<'_>) -> Result<Tensor> {
    let (rows, width) = x.dims2()?;
    let height = weight.height;
    if width != weight.width {
        bail!("a product of {width} columns with {}", weight.width);
    }
    if !is_possible(weight.blocks.kind()) {
        bail!("no quick product over {:?} here", weight.blocks.kind());
    }
    let x = x.contiguous()?;
    let (storage, layout) = x.storage_and_layout();
    let inputs = Rounded::of(numbers(&storage, layout)?);
    let mut out = vec![0_f32; rows * height];
    let target = Out::of(&mut out);
    share(weight.panels(), |panels| {
        for panel in panels {
            let column = panel * ROWS;
            let columns = ROWS.min(height - column);
            for first in (0..rows).step_by(TOGETHER) {
                let n = TOGETHER.min(rows - first);
                // Where there are fewer, the last one is repeated for nothing.
                let row = |place: usize| inputs.row(first + place.min(n - 1), weight.row_blocks());
                let sums = match n {
                    1 => [panel_products(weight, panel, [row(0)])[0]; TOGETHER],
                    _ => panel_products(weight, panel, [row(0), row(1), row(2), row(3)]),
                };
                for (place, sums) in sums.iter().enumerate().take(n) {
                    // SAFETY: these columns of these rows of the output are this piece of work's alone.
                    let out = unsafe { target.part((first + place) * height + column, columns) };
                    out.copy_from_slice(&sums[..columns]);
                }
            }
        }
    });
    finish(0, &mut out);
    Tensor::from_vec(out, (rows, height), x.device())
}

/// The products of sixteen rows of weights with each of some rows of input.
#[cfg(target_arch = "x86_64")]
fn panel_products<const N: usize>(weight: &Interleaved, panel: usize, inputs: [Row<'_>; N]) -> [[f32; ROWS]; N] {
    use super::blocks_x86::{byte_products_q4_1, byte_products_q8_0, pair_products};
    use super::interleaved::Blocks;

    // SAFETY: `product` has asked `is_possible`.
    unsafe {
        match &weight.blocks {
            Blocks::Q4_1(blocks) if has_byte_products() => byte_products_q4_1(weight.panel(blocks, panel), inputs),
            Blocks::Q4_1(blocks) => inputs.map(|input| pair_products(weight.panel(blocks, panel), input)),
            Blocks::Q8_0(blocks) => byte_products_q8_0(weight.panel(blocks, panel), inputs),
        }
    }
}

/// `product` has refused by then.
#[cfg(not(target_arch = "x86_64"))]
fn panel_products<const N: usize>(_: &Interleaved, _: usize, _: [Row<'_>; N]) -> [[f32; ROWS]; N] {
    [[f32::NAN; ROWS]; N]
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::super::interleaved::BLOCK;
    use super::*;

    fn largest_difference(a: &Tensor, b: &Tensor) -> Result<f32> {
        (a - b)?.abs()?.max_all()?.to_scalar()
    }

    fn interleaved(weight: &QTensor) -> Result<Interleaved> {
        match Interleaved::of(weight)? {
            Some(weight) => Ok(weight),
            None => bail!("{:?} is not interleaved", weight.dtype()),
        }
    }

    #[test]
    fn the_product_is_that_of_rounded_inputs() -> Result<()> {
        for kind in [GgmlDType::Q4_1, GgmlDType::Q8_0] {
            for (rows, height, width) in [(1, 48, 32), (3, 41, 128), (4, 16, 320), (11, 7, 608)] {
                let weight = Tensor::randn(0_f32, 0.1, (height, width), &Device::Cpu)?;
                let x = Tensor::randn(0_f32, 1.0, (rows, width), &Device::Cpu)?;
                let weight = QTensor::quantize(&weight, kind)?;
                let ours = interleaved(&weight)?;
                if !is_quick(&weight) {
                    assert!(product(&x, &ours, &|_, _| {}).is_err());
                    continue;
                }
                let dense = x.matmul(&weight.dequantize(&Device::Cpu)?.t()?)?;
                let found = product(&x, &ours, &|_, _| {})?;
                // Inputs are rounded to bytes: one part in 127 of each block's largest.
                assert!(largest_difference(&found, &dense)? < 0.1, "{kind:?} {width}");
                // With the inputs as they were rounded, nothing else is.
                let inputs = Rounded::of(&x.flatten_all()?.to_vec1::<f32>()?);
                let inputs = inputs.row(0, rows * width / BLOCK);
                let rounded: Vec<f32> =
                    inputs.q.iter().zip(inputs.scales).flat_map(|(q, scale)| q.map(|q| f32::from(q) * scale)).collect();
                let rounded = Tensor::from_vec(rounded, (rows, width), &Device::Cpu)?;
                let exact = rounded.matmul(&weight.dequantize(&Device::Cpu)?.t()?)?;
                assert!(largest_difference(&found, &exact)? < 1e-4, "{kind:?} {width}");
                let last = product(&x.narrow(0, rows - 1, 1)?, &ours, &|_, _| {})?;
                assert_eq!(last.to_vec2::<f32>()?[0], found.to_vec2::<f32>()?[rows - 1], "{kind:?} {rows}");
                assert!(
                    product(&Tensor::zeros((1, width + BLOCK), x.dtype(), x.device())?, &ours, &|_, _| {}).is_err()
                );
            }
        }
        Ok(())
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn instructions_of_both_ages_agree() -> Result<()> {
        use super::super::blocks_x86::{byte_products_q4_1, pair_products};
        use super::super::interleaved::Blocks;

        if !has_vectors() || !has_byte_products() {
            return Ok(());
        }
        for blocks in [1, 5, 24] {
            let weight = Tensor::randn(0_f32, 0.1, (ROWS, blocks * BLOCK), &Device::Cpu)?;
            let weight = interleaved(&QTensor::quantize(&weight, GgmlDType::Q4_1)?)?;
            let x = Tensor::randn(0_f32, 1.0, blocks * BLOCK, &Device::Cpu)?.to_vec1::<f32>()?;
            let inputs = Rounded::of(&x);
            let Blocks::Q4_1(all) = &weight.blocks else { bail!("another type") };
            // SAFETY: the instructions are there.
            let (new, old) = unsafe {
                (byte_products_q4_1(all, [inputs.row(0, blocks)]), pair_products(all, inputs.row(0, blocks)))
            };
            assert!(new[0].iter().zip(old).all(|(new, old)| (new - old).abs() < 1e-4), "{blocks}");
        }
        Ok(())
    }
}
