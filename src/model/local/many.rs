//! Products of many rows with f32 weights, or with quantized ones that are unpacked on the way, on all threads.
//!
//! Reading prompts and embedding texts multiply hundreds of rows with every weight. Weights are turned, 32 rows of them at a
//! time, so that their numbers stand side by side; each thread then takes some rows of the input through all of them, in
//! pieces that stay in its core's caches. Of large matrices only a part is unpacked and turned at a time.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use candle_core::quantized::QTensor;
use candle_core::{DType, Result, Tensor, bail};

use super::interleaved::{Interleaved, ROWS};
use super::numbers::numbers;
use super::share::{Out, share};
use super::then::Finish;
use super::tile::{BAND, COLUMNS, Rows, multiply_into};
use super::unpack::unpack;
use super::vector::is_quick as is_quick_here;

/// Rows of weights that are turned together: the columns of the largest tile.
const PANEL: usize = 32;
/// Numbers of a row that are multiplied at a time, so that those of the rows of a tile stay in the first cache.
const DEPTH: usize = 768;
/// Rows of input that one thread takes at least: enough to read each panel for.
const BANDS: usize = 4 * BAND;
/// Turned numbers that exist at a time.
const GROUP: usize = 1 << 20;
/// Rows of input from which on threads share them; of fewer, they share the weights.
const SHARED: usize = 16 * BAND;

/// Whether these products are the quick way for this input.
pub(super) fn is_quick(x: &Tensor) -> bool {
    x.device().is_cpu() && x.dtype() == DType::F32 && is_quick_here()
}

/// `x Wᵀ`, where `weight` is f32, contiguous and on the processor.
pub(super) fn dense(x: &Tensor, weight: &Tensor, finish: &Finish<'_>) -> Result<Tensor> {
    let (height, width) = weight.dims2()?;
    let (storage, layout) = weight.storage_and_layout();
    let weights = numbers(&storage, layout)?;
    product(x, (height, width), finish, &|panel, turned: &mut [f32]| {
        let from = panel * PANEL * width;
        turn(&weights[from..weights.len().min(from + PANEL * width)], width, turned);
        Ok(())
    })
}

/// `x Wᵀ`, where weights lie interleaved.
pub(super) fn interleaved(x: &Tensor, weight: &Interleaved, finish: &Finish<'_>) -> Result<Tensor> {
    product(x, (weight.height, weight.width), finish, &|panel, turned: &mut [f32]| {
        for half in 0..PANEL / ROWS {
            let of = panel * (PANEL / ROWS) + half;
            if of < weight.panels() {
                weight.turned(of, &mut turned[half * ROWS..], PANEL);
            }
        }
        Ok(())
    })
}

/// `x Wᵀ`, where `weight` is quantized.
pub(super) fn quantized(x: &Tensor, weight: &QTensor, finish: &Finish<'_>) -> Result<Tensor> {
    let (height, width) = weight.shape().dims2()?;
    let (blocks, kind) = (weight.data()?, weight.dtype());
    if height == 0 || !width.is_multiple_of(kind.block_size()) {
        bail!("rows of {width} weights are not whole blocks of {kind:?}");
    }
    let row_bytes = blocks.len() / height;
    product(x, (height, width), finish, &|panel, turned: &mut [f32]| {
        let rows = panel * PANEL..height.min((panel + 1) * PANEL);
        let bytes = blocks.get(rows.start * row_bytes..rows.end * row_bytes).unwrap_or_default();
        let mut unpacked = vec![0.0; rows.len() * width];
        unpack(bytes, kind, width, &mut unpacked)?;
        turn(&unpacked, width, turned);
        Ok(())
    })
}

/// The product with a matrix of which `fill` writes the panels, turned.
fn product(
    x: &Tensor,
    (height, width): (usize, usize),
    finish: &Finish<'_>,
    fill: &(dyn Fn(usize, &mut [f32]) -> Result<()> + Sync),
) -> Result<Tensor> {
    let (rows, x_width) = x.dims2()?;
    if x_width != width || width == 0 || height == 0 {
        bail!("a product of {x_width} columns with {height} rows of {width}");
    }
    let x = x.contiguous()?;
    let (storage, layout) = x.storage_and_layout();
    let inputs = numbers(&storage, layout)?;
    // Not zeros: whoever writes a place first has its page made, and that is better done by all threads than by one.
    let mut out = Vec::<f32>::with_capacity(rows * height);
    let target = Out::of(out.spare_capacity_mut());
    let panels = height.div_ceil(PANEL);
    let group = (GROUP / (PANEL * width)).clamp(1, panels);
    let mut turned = vec![0.0_f32; group * PANEL * width];
    let failed = Mutex::new(None);
    for first in (0..panels).step_by(group) {
        let n = group.min(panels - first);
        let places = Out::of(&mut turned);
        share(n, |panels| {
            for panel in panels {
                // SAFETY: each panel is written by one piece of work.
                let place = unsafe { places.part(panel * PANEL * width, PANEL * width) };
                if let Err(error) = fill(first + panel, place) {
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    return;
                }
            }
        });
        let turned = &turned;
        let through = |rows: Range<usize>, panels: Range<usize>| {
            for depth in (0..width).step_by(DEPTH) {
                for panel in panels.clone() {
                    let column = (first + panel) * PANEL;
                    let weights = Rows { numbers: &turned[(panel * width + depth) * PANEL..], step: PANEL };
                    let inputs = Rows { numbers: &inputs[rows.start * width + depth..], step: width };
                    let shape = (rows.len(), DEPTH.min(width - depth), PANEL.min(height - column));
                    // SAFETY: callers have asked `is_quick`; these rows and columns are this piece of work's alone.
                    unsafe {
                        let out = target.at(rows.start * height + column);
                        columns(inputs, weights, (out, height), shape, depth > 0);
                    }
                }
            }
        };
        if rows >= SHARED {
            share(rows.div_ceil(BANDS), |bands| {
                let of = bands.start * BANDS..rows.min(bands.end * BANDS);
                through(of.clone(), 0..n);
                if first + n == panels {
                    // SAFETY: these rows are this piece of work's alone.
                    finish(of.start, unsafe { target.part(of.start * height, of.len() * height) });
                }
            });
        } else {
            share(n, |panels| through(0..rows, panels));
        }
    }
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    // SAFETY: every panel of the last group, and so of all, was multiplied with every row.
    unsafe { out.set_len(rows * height) };
    if rows < SHARED {
        finish(0, &mut out);
    }
    Tensor::from_vec(out, (rows, height), x.device())
}

/// [`multiply_into`] for any number of columns up to a panel's; the panel has all of its own.
///
/// # Safety
/// As [`multiply_into`].
unsafe fn columns(
    inputs: Rows<'_>,
    weights: Rows<'_>,
    (out, step): (*mut f32, usize),
    (rows, inner, columns): (usize, usize, usize),
    is_sum: bool,
) {
    let whole = columns / COLUMNS * COLUMNS;
    // SAFETY: the caller's promise.
    unsafe { multiply_into(inputs, weights, (out, step), (rows, inner, whole), is_sum) };
    if whole == columns {
        return;
    }
    let weights = Rows { numbers: &weights.numbers[whole..], step: weights.step };
    for row in 0..rows {
        let inputs = Rows { numbers: &inputs.numbers[row * inputs.step..], step: inputs.step };
        let mut part = [0.0_f32; COLUMNS];
        // SAFETY: a panel has whole multiples of columns, and `part` is ours.
        unsafe { multiply_into(inputs, weights, (part.as_mut_ptr(), COLUMNS), (1, inner, COLUMNS), false) };
        for (column, value) in part.iter().enumerate().take(columns - whole) {
            // SAFETY: these columns of the row are the caller's.
            let out = unsafe { &mut *out.add(row * step + whole + column) };
            *out = if is_sum { *out + value } else { *value };
        }
    }
}

/// Numbers of a row that are turned at a time, so that where they go stays in the first cache.
const TURNED: usize = 64;

/// Puts the numbers of up to 32 rows side by side.
fn turn(rows: &[f32], width: usize, out: &mut [f32]) {
    for from in (0..width).step_by(TURNED) {
        let to = width.min(from + TURNED);
        let out = &mut out[from * PANEL..to * PANEL];
        for (row, numbers) in rows.chunks_exact(width).enumerate() {
            for (place, number) in out.as_chunks_mut::<PANEL>().0.iter_mut().zip(&numbers[from..to]) {
                place[row] = *number;
            }
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
        for (rows, height, width) in
            [(17, 16, 64), (30, 40, 32), (100, 7, 96), (64, 48, 128), (250, 33, 320), (193, 2060, 544)]
        {
            let weight = Tensor::randn(0_f32, 0.1, (height, width), &Device::Cpu)?;
            let x = Tensor::randn(0_f32, 1.0, (rows + 1, width), &Device::Cpu)?.narrow(0, 1, rows)?;
            if !is_quick(&x) {
                return Ok(());
            }
            let ours = dense(&x, &weight, &|_, _| {})?;
            assert!(largest_difference(&ours, &x.matmul(&weight.t()?)?)? < 1e-4, "{rows} {height} {width}");
            for kind in [GgmlDType::Q4_1, GgmlDType::Q8_0] {
                let packed = QTensor::quantize(&weight, kind)?;
                let theirs = x.matmul(&packed.dequantize(&Device::Cpu)?.t()?)?;
                let ours = quantized(&x, &packed, &|_, _| {})?;
                assert!(largest_difference(&ours, &theirs)? < 1e-4, "{kind:?} {rows} {height} {width}");
                let Some(packed) = Interleaved::of(&packed)? else { bail!("{kind:?} is not interleaved") };
                let ours = interleaved(&x, &packed, &|_, _| {})?;
                assert!(largest_difference(&ours, &theirs)? < 1e-4, "{kind:?} {rows} {height} {width}");
            }
        }
        let narrow = Tensor::zeros((20, 8), DType::F32, &Device::Cpu)?;
        assert!(dense(&narrow, &Tensor::zeros((16, 9), DType::F32, &Device::Cpu)?, &|_, _| {}).is_err());
        Ok(())
    }
}
