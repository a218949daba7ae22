//! Dense weights, 32 rows side by side: as the products of [`super::tile`] read them, one number after the other.

use candle_core::{DType, Result, Tensor, bail};

use super::numbers::numbers;
use super::vector::is_quick;

/// Rows that stand side by side: the columns of the largest tile.
pub(super) const PANEL: usize = 32;

/// A matrix of (height, width) numbers; what the last panel lacks is zero.
#[derive(Debug)]
pub(super) struct Panels {
    pub(super) height: usize,
    pub(super) width: usize,
    /// Panel by panel: the first number of each of its rows, then the second.
    pub(super) numbers: Vec<f32>,
}

impl Panels {
    /// Those of a matrix of f32 on the processor, where its products are quick; `None` of any other.
    pub(super) fn of(weight: &Tensor) -> Result<Option<Self>> {
        let Ok((height, width)) = weight.dims2() else { return Ok(None) };
        if !weight.device().is_cpu() || weight.dtype() != DType::F32 || width == 0 || !is_quick() {
            return Ok(None);
        }
        let weight = weight.contiguous()?;
        let (storage, layout) = weight.storage_and_layout();
        let rows = numbers(&storage, layout)?;
        let mut turned = vec![0.0; height.div_ceil(PANEL) * PANEL * width];
        let each = PANEL * width;
        for (out, rows) in turned.chunks_exact_mut(each).zip(rows.chunks(each)) {
            turn(rows, width, out);
        }
        Ok(Some(Self { height, width, numbers: turned }))
    }

    /// The rows with these numbers: (numbers, width).
    pub(super) fn rows(&self, places: &Tensor) -> Result<Tensor> {
        let places = places.to_vec1::<u32>()?;
        let mut out: Vec<f32> = Vec::with_capacity(places.len() * self.width);
        for place in &places {
            let place = *place as usize;
            if place >= self.height {
                bail!("row {place} of {}", self.height);
            }
            let panel = &self.numbers[place / PANEL * PANEL * self.width..][..PANEL * self.width];
            out.extend(panel.iter().skip(place % PANEL).step_by(PANEL));
        }
        Tensor::from_vec(out, (places.len(), self.width), &candle_core::Device::Cpu)
    }
}

/// Numbers of a row that are turned at a time, so that where they go stays in the first cache.
const TURNED: usize = 64;

/// Puts the numbers of up to 32 rows side by side.
pub(super) fn turn(rows: &[f32], width: usize, out: &mut [f32]) {
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

    use super::*;

    #[test]
    fn rows_come_out_as_they_went_in() -> Result<()> {
        let (height, width) = (70, 100);
        let weight = Tensor::randn(0_f32, 1.0, (height, width), &Device::Cpu)?;
        let Some(panels) = Panels::of(&weight)? else { return Ok(()) };
        let places: Vec<u32> = vec![69, 0, 31, 32, 63, 64, 5];
        let places = Tensor::from_vec(places, 7, &Device::Cpu)?;
        assert_eq!(panels.rows(&places)?.to_vec2::<f32>()?, weight.index_select(&places, 0)?.to_vec2::<f32>()?);
        assert!(panels.rows(&Tensor::new(&[70_u32], &Device::Cpu)?).is_err());
        assert!(Panels::of(&weight.to_dtype(DType::F64)?)?.is_none());
        Ok(())
    }
}
