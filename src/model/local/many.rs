//! Products with f32 weights, or with quantized ones that are unpacked on the way, on all threads.
//!
//! Reading prompts and embedding texts multiply hundreds of rows with every weight. Weights stand in panels, 32 rows of
//! them side by side; each thread takes some rows of the input through all of them, in pieces that stay in its core's
//! caches. Of quantized matrices a part is unpacked at a time. Few rows of input are shared by all threads, which share
//! the weights: writing replies reads each weight once for all of them, and memory is the limit.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use candle_core::quantized::QTensor;
use candle_core::{DType, Result, Tensor, bail};

use super::interleaved::{Interleaved, ROWS};
use super::numbers::numbers;
use super::panels::{PANEL, Panels, turn};
use super::share::{Out, share};
use super::then::Finish;
use super::tile::{BAND, COLUMNS, Rows, multiply_into};
use super::unpack::unpack;
use super::vector::is_quick as is_quick_here;

/// Numbers of a row that are multiplied at a time, so that those of the rows of a tile stay in the first cache.
const DEPTH: usize = 768;
/// Rows of input that one thread takes at least: enough to read each panel for.
const BANDS: usize = 4 * BAND;
/// Numbers of the panels that rows are taken through at a time, and of those that exist unpacked.
const GROUP: usize = 1 << 20;
/// Rows of input from which on threads share them; of fewer, they share the weights.
const SHARED: usize = 16 * BAND;

/// Whether these products are the quick way for this input.
pub(super) fn is_quick(x: &Tensor) -> bool {
    x.device().is_cpu() && x.dtype() == DType::F32 && is_quick_here()
}

/// `x Wᵀ`; a row comes out the same whatever stands beside it.
pub(super) fn dense(x: &Tensor, weight: &Panels, finish: &Finish<'_>) -> Result<Tensor> {
    product(x, (weight.height, weight.width), finish, Source::Panels(&weight.numbers))
}

/// `x Wᵀ`, where weights lie interleaved.
pub(super) fn interleaved(x: &Tensor, weight: &Interleaved, finish: &Finish<'_>) -> Result<Tensor> {
    let fill = |panel, turned: &mut [f32]| {
        for half in 0..PANEL / ROWS {
            let of = panel * (PANEL / ROWS) + half;
            if of < weight.panels() {
                weight.turned(of, &mut turned[half * ROWS..], PANEL);
            }
        }
        Ok(())
    };
    product(x, (weight.height, weight.width), finish, Source::Unpacked(&fill))
}

/// `x Wᵀ`, where `weight` is quantized.
pub(super) fn quantized(x: &Tensor, weight: &QTensor, finish: &Finish<'_>) -> Result<Tensor> {
    let (height, width) = weight.shape().dims2()?;
    let (blocks, kind) = (weight.data()?, weight.dtype());
    if height == 0 || !width.is_multiple_of(kind.block_size()) {
        bail!("rows of {width} weights are not whole blocks of {kind:?}");
    }
    let row_bytes = blocks.len() / height;
    let fill = |panel, turned: &mut [f32]| {
        let rows = panel * PANEL..height.min((panel + 1) * PANEL);
        let bytes = blocks.get(rows.start * row_bytes..rows.end * row_bytes).unwrap_or_default();
        let mut unpacked = vec![0.0; rows.len() * width];
        unpack(bytes, kind, width, &mut unpacked)?;
        turn(&unpacked, width, turned);
        Ok(())
    };
    product(x, (height, width), finish, Source::Unpacked(&fill))
}

/// Where a product's panels come from.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// All of them, one after the other.
    Panels(&'a [f32]),
    /// Written when they are needed, given a panel's number.
    Unpacked(&'a (dyn Fn(usize, &mut [f32]) -> Result<()> + Sync)),
}

fn product(x: &Tensor, (height, width): (usize, usize), finish: &Finish<'_>, source: Source<'_>) -> Result<Tensor> {
    let (rows, x_width) = x.dims2()?;
    if x_width != width || width == 0 || height == 0 {
        bail!("a product of {x_width} columns with {height} rows of {width}");
    }
    if !is_quick(x) {
        bail!("panels need f32 on a processor with AVX2");
    }
    let x = x.contiguous()?;
    let (storage, layout) = x.storage_and_layout();
    let inputs = numbers(&storage, layout)?;
    // Not zeros: whoever writes a place first has its page made, and that is better done by all threads than by one.
    let mut out = Vec::<f32>::with_capacity(rows * height);
    let target = Out::of(out.spare_capacity_mut());
    let (panels, each) = (height.div_ceil(PANEL), PANEL * width);
    let (group, mut scratch) = match source {
        Source::Panels(_) if rows < SHARED => (panels, Vec::new()),
        Source::Panels(_) => ((GROUP / each).clamp(1, panels), Vec::new()),
        Source::Unpacked(_) => {
            let group = (GROUP / each).clamp(1, panels);
            (group, vec![0.0_f32; group * each])
        }
    };
    for first in (0..panels).step_by(group) {
        let n = group.min(panels - first);
        let turned = match source {
            Source::Panels(all) => &all[first * each..(first + n) * each],
            Source::Unpacked(fill) => {
                fill_all(fill, first, &mut scratch[..n * each], each)?;
                &scratch
            }
        };
        let through = |rows: Range<usize>, panels: Range<usize>| {
            for depth in (0..width).step_by(DEPTH) {
                for panel in panels.clone() {
                    let column = (first + panel) * PANEL;
                    let weights = Rows { numbers: &turned[(panel * width + depth) * PANEL..], step: PANEL };
                    let inputs = Rows { numbers: &inputs[rows.start * width + depth..], step: width };
                    let shape = (rows.len(), DEPTH.min(width - depth), PANEL.min(height - column));
                    // SAFETY: `is_quick` was asked; these rows and columns are this piece of work's alone.
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
    // SAFETY: every panel of the last group, and so of all, was multiplied with every row.
    unsafe { out.set_len(rows * height) };
    if rows < SHARED {
        finish(0, &mut out);
    }
    Tensor::from_vec(out, (rows, height), x.device())
}

/// Fills panels from one on, on all threads.
fn fill_all(
    fill: &(dyn Fn(usize, &mut [f32]) -> Result<()> + Sync),
    first: usize,
    panels: &mut [f32],
    each: usize,
) -> Result<()> {
    let failed = Mutex::new(Ok(()));
    let (n, places) = (panels.len() / each, Out::of(panels));
    share(n, |panels| {
        for panel in panels {
            // SAFETY: each panel is written by one piece of work.
            let place = unsafe { places.part(panel * each, each) };
            if let Err(error) = fill(first + panel, place) {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Err(error);
                return;
            }
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner)
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

#[cfg(test)]
mod tests {
    use candle_core::Device;
    use candle_core::quantized::GgmlDType;

    use super::super::interleaved::BLOCK;
    use super::*;

    fn largest_difference(a: &Tensor, b: &Tensor) -> Result<f32> {
        (a - b)?.abs()?.max_all()?.to_scalar()
    }

    #[test]
    fn products_agree_with_candles() -> Result<()> {
        for (rows, height, width) in
            [(1, 50, 100), (17, 16, 64), (30, 40, 32), (100, 7, 96), (64, 48, 128), (250, 33, 320), (193, 2060, 544)]
        {
            let weight = Tensor::randn(0_f32, 0.1, (height, width), &Device::Cpu)?;
            let x = Tensor::randn(0_f32, 1.0, (rows + 1, width), &Device::Cpu)?.narrow(0, 1, rows)?;
            if !is_quick(&x) {
                return Ok(());
            }
            let Some(panels) = Panels::of(&weight)? else { bail!("no panels of f32") };
            let ours = dense(&x, &panels, &|_, _| {})?;
            assert!(largest_difference(&ours, &x.matmul(&weight.t()?)?)? < 1e-4, "{rows} {height} {width}");
            let last = dense(&x.narrow(0, rows - 1, 1)?, &panels, &|_, _| {})?;
            assert_eq!(last.to_vec2::<f32>()?[0], ours.to_vec2::<f32>()?[rows - 1], "{rows} {height} {width}");
            if !width.is_multiple_of(BLOCK) {
                continue;
            }
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
        let Some(wide) = Panels::of(&Tensor::zeros((16, 9), DType::F32, &Device::Cpu)?)? else { bail!("no panels") };
        assert!(dense(&Tensor::zeros((20, 8), DType::F32, &Device::Cpu)?, &wide, &|_, _| {}).is_err());
        Ok(())
    }
}
