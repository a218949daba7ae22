//! Products of many rows with f32 weights, or with quantized ones that are unpacked on the way, on all threads.
//!
//! Reading prompts and embedding texts multiply hundreds of rows with every weight. Sixteen rows of weights at a time are
//! turned, so that their numbers stand side by side, and meet all rows of the input while they lie in a core's cache; the
//! whole of the unpacked weights never exists.

use std::sync::{Mutex, PoisonError};

use candle_core::quantized::QTensor;
use candle_core::utils::barrier_pool;
use candle_core::{CpuStorage, DType, Result, Storage, Tensor, bail};

use super::blocks::Out;
use super::unpack::unpack;
use super::vector::{COLUMNS, Rows, is_quick as is_quick_here, multiply, multiply_into};

/// Whether these products are the quick way for this input.
pub(super) fn is_quick(x: &Tensor) -> bool {
    x.device().is_cpu() && x.dtype() == DType::F32 && is_quick_here()
}

/// `x Wᵀ`, where `weight` is f32, contiguous and on the processor.
pub(super) fn dense(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let (height, width) = weight.dims2()?;
    let (storage, layout) = weight.storage_and_layout();
    let (Storage::Cpu(CpuStorage::F32(weights)), Some((from, to))) = (&*storage, layout.contiguous_offsets()) else {
        bail!("expected contiguous f32 on the CPU")
    };
    let weights = &weights[from..to];
    product(x, height, width, &|first, rows: &mut [f32]| {
        rows.copy_from_slice(&weights[first * width..][..rows.len()]);
        Ok(())
    })
}

/// `x Wᵀ`, where `weight` is quantized.
pub(super) fn quantized(x: &Tensor, weight: &QTensor) -> Result<Tensor> {
    let (height, width) = weight.shape().dims2()?;
    let (blocks, kind) = (weight.data()?, weight.dtype());
    if height == 0 || !width.is_multiple_of(kind.block_size()) {
        bail!("rows of {width} weights are not whole blocks of {kind:?}");
    }
    let row_bytes = blocks.len() / height;
    product(x, height, width, &|first, rows: &mut [f32]| {
        let bytes = blocks.get(first * row_bytes..(first + rows.len() / width) * row_bytes).unwrap_or_default();
        unpack(bytes, kind, width, rows)
    })
}

/// The product with a matrix whose rows, from one on, `fill` writes.
fn product(
    x: &Tensor,
    height: usize,
    width: usize,
    fill: &(dyn Fn(usize, &mut [f32]) -> Result<()> + Sync),
) -> Result<Tensor> {
    let (rows, x_width) = x.dims2()?;
    if x_width != width || width == 0 {
        bail!("a product of {x_width} columns with {width}");
    }
    let x = x.contiguous()?;
    let (storage, layout) = x.storage_and_layout();
    let Storage::Cpu(CpuStorage::F32(inputs)) = &*storage else { bail!("expected f32 on the CPU") };
    let inputs = Rows { numbers: &inputs[layout.start_offset()..][..rows * width], step: width };
    let mut out = vec![0_f32; rows * height];
    let target = Out::of(&mut out);
    let failed = Mutex::new(None);
    barrier_pool().execute_chunked(height.div_ceil(COLUMNS), |bands| {
        let (mut weights, mut turned) = (vec![0.0; COLUMNS * width], vec![0.0; COLUMNS * width]);
        for band in bands {
            let first = band * COLUMNS;
            let n = COLUMNS.min(height - first);
            if let Err(error) = fill(first, &mut weights[..n * width]) {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                return;
            }
            turn(&weights[..n * width], width, &mut turned);
            let turned = Rows { numbers: &turned, step: COLUMNS };
            if n == COLUMNS {
                // SAFETY: callers have asked `is_quick`; these columns of the output are this piece of work's alone.
                unsafe { multiply_into(inputs, turned, (target.at(first), height), (rows, width, COLUMNS)) };
                continue;
            }
            let mut part = vec![f32::NAN; rows * COLUMNS];
            multiply(inputs, turned, &mut part, width, COLUMNS);
            for (row, part) in part.chunks_exact(COLUMNS).enumerate() {
                for (column, value) in part.iter().enumerate().take(n) {
                    // SAFETY: as above.
                    unsafe { target.set(row * height + first + column, *value) };
                }
            }
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Tensor::from_vec(out, (rows, height), x.device()),
    }
}

/// Puts the numbers of up to 16 rows side by side.
fn turn(rows: &[f32], width: usize, out: &mut [f32]) {
    for (row, numbers) in rows.chunks_exact(width).enumerate() {
        for (place, number) in out.chunks_exact_mut(COLUMNS).zip(numbers) {
            place[row] = *number;
        }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;
    use candle_core::quantized::GgmlDType;

    use super::*;

    fn largest_difference(a: &Tensor, b: &Tensor) -> Result<f32> {
        (a - b)?.abs()?.max_all()?.to_scalar()
    }

    #[test]
    fn products_agree_with_candles() -> Result<()> {
        for (rows, height, width) in [(17, 16, 64), (30, 40, 32), (100, 7, 96), (64, 48, 128)] {
            let weight = Tensor::randn(0_f32, 0.1, (height, width), &Device::Cpu)?;
            let x = Tensor::randn(0_f32, 1.0, (rows + 1, width), &Device::Cpu)?.narrow(0, 1, rows)?;
            if !is_quick(&x) {
                return Ok(());
            }
            let found = dense(&x, &weight)?;
            assert!(largest_difference(&found, &x.matmul(&weight.t()?)?)? < 1e-4, "{rows} {height} {width}");
            for kind in [GgmlDType::Q4_1, GgmlDType::Q8_0] {
                let packed = QTensor::quantize(&weight, kind)?;
                let theirs = x.matmul(&packed.dequantize(&Device::Cpu)?.t()?)?;
                let found = quantized(&x, &packed)?;
                assert!(largest_difference(&found, &theirs)? < 1e-4, "{kind:?} {rows} {height} {width}");
            }
        }
        let narrow = Tensor::zeros((20, 8), DType::F32, &Device::Cpu)?;
        assert!(dense(&narrow, &Tensor::zeros((16, 9), DType::F32, &Device::Cpu)?).is_err());
        Ok(())
    }
}
