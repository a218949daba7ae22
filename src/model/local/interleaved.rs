//! Quantized weights, sixteen rows side by side.
//!
//! Checkpoints keep the blocks of a row one after the other: a product with them ends in sums across the lanes of a vector,
//! and unpacks two scales for every 32 weights. Here each lane is a row of its own, so scales are unpacked sixteen at a
//! time, and nothing is added across lanes: the products of a token take half as long. Unpacked, the numbers stand
//! as the products of many rows want them. As large as the checkpoint's own blocks, and kept instead of them.

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Result, Tensor, bail};
use half::f16;
use half::slice::HalfFloatSliceExt;

use super::activation::{fused, widened};

/// Weights of a row in a block.
pub(super) const BLOCK: usize = 32;
/// Rows that stand side by side.
pub(super) const ROWS: usize = 16;
/// Weights of a row that stand in one word, and words of a block with a byte for each.
const WORD: usize = 4;
const WORDS: usize = BLOCK / WORD;

/// Sixteen blocks of ggml's `block_q4_1`: weights are `d·q + m`. The low halves of a word's bytes are weights 4i to 4i + 3 of
/// the word's row, the high halves are the same of the block's second half.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Q4_1 {
    pub(super) d: [f16; ROWS],
    pub(super) m: [f16; ROWS],
    pub(super) q: [[u32; ROWS]; WORDS / 2],
}

/// Sixteen blocks of ggml's `block_q8_0`: weights are `d·(q - 128)`; ggml's bytes have a sign instead.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Q8_0 {
    pub(super) d: [f16; ROWS],
    pub(super) q: [[u32; ROWS]; WORDS],
}

/// What is taken from a byte of Q8_0.
pub(super) const MIDDLE: u8 = 128;

/// The types of blocks, panel by panel of sixteen rows.
#[derive(Debug)]
pub(super) enum Blocks {
    Q4_1(Vec<Q4_1>),
    Q8_0(Vec<Q8_0>),
}

impl Blocks {
    pub(super) fn kind(&self) -> GgmlDType {
        match self {
            Self::Q4_1(_) => GgmlDType::Q4_1,
            Self::Q8_0(_) => GgmlDType::Q8_0,
        }
    }
}

/// A matrix of (height, width) weights; what the last sixteen rows lack is zero.
#[derive(Debug)]
pub(super) struct Interleaved {
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) blocks: Blocks,
}

/// What both types can do.
trait Block: Copy {
    const ZERO: Self;
    /// Bytes of a block of one row, as ggml has it.
    const BYTES: usize;

    /// Puts a row's block into its lane.
    fn put(&mut self, row: usize, block: &[u8]);

    /// The weight of a row at a place.
    fn weight(&self, row: usize, place: usize) -> f32;
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(*bytes.first_chunk().unwrap_or(&[0; WORD]))
}

fn half(bytes: &[u8], place: usize) -> f16 {
    f16::from_bits(u16::from_le_bytes(*bytes[2 * place..].first_chunk().unwrap_or(&[0; 2])))
}

impl Block for Q4_1 {
    const ZERO: Self = Self { d: [f16::ZERO; ROWS], m: [f16::ZERO; ROWS], q: [[0; ROWS]; WORDS / 2] };
    const BYTES: usize = 20;

    fn put(&mut self, row: usize, block: &[u8]) {
        (self.d[row], self.m[row]) = (half(block, 0), half(block, 1));
        for (words, bytes) in self.q.iter_mut().zip(block[4..].chunks_exact(WORD)) {
            words[row] = word(bytes);
        }
    }

    fn weight(&self, row: usize, place: usize) -> f32 {
        let (high, place) = (place / (BLOCK / 2), place % (BLOCK / 2));
        let q = self.q[place / WORD][row] >> (8 * (place % WORD) + 4 * high) & 15;
        q as f32 * self.d[row].to_f32() + self.m[row].to_f32()
    }
}

impl Block for Q8_0 {
    const ZERO: Self = Self { d: [f16::ZERO; ROWS], q: [[0x8080_8080; ROWS]; WORDS] };
    const BYTES: usize = 34;

    fn put(&mut self, row: usize, block: &[u8]) {
        self.d[row] = half(block, 0);
        for (words, bytes) in self.q.iter_mut().zip(block[2..].chunks_exact(WORD)) {
            words[row] = word(bytes) ^ 0x8080_8080;
        }
    }

    fn weight(&self, row: usize, place: usize) -> f32 {
        let q = self.q[place / WORD][row] >> (8 * (place % WORD)) & 255;
        (q as f32 - f32::from(MIDDLE)) * self.d[row].to_f32()
    }
}

impl Interleaved {
    /// The weights of a matrix of one of these types, of whole blocks; `None` of any other.
    pub(super) fn of(weight: &QTensor) -> Result<Option<Self>> {
        let kind = weight.dtype();
        let Ok((height, width)) = weight.shape().dims2() else { return Ok(None) };
        if !matches!(kind, GgmlDType::Q4_1 | GgmlDType::Q8_0) || !width.is_multiple_of(BLOCK) {
            return Ok(None);
        }
        let bytes = weight.data()?;
        let blocks = match kind {
            GgmlDType::Q4_1 => Blocks::Q4_1(interleave(&bytes, height, width)?),
            _ => Blocks::Q8_0(interleave(&bytes, height, width)?),
        };
        Ok(Some(Self { height, width, blocks }))
    }

    /// Panels of sixteen rows.
    pub(super) fn panels(&self) -> usize {
        self.height.div_ceil(ROWS)
    }

    /// Blocks of a row.
    pub(super) fn row_blocks(&self) -> usize {
        self.width / BLOCK
    }

    /// Writes the weights of a row, which must exist.
    fn row(&self, row: usize, out: &mut [f32]) {
        fn write<B: Block>(blocks: &[B], row: usize, out: &mut [f32]) {
            for (block, out) in blocks.iter().zip(out.as_chunks_mut::<BLOCK>().0) {
                for (place, out) in out.iter_mut().enumerate() {
                    *out = block.weight(row, place);
                }
            }
        }
        let (panel, row) = (row / ROWS, row % ROWS);
        match &self.blocks {
            Blocks::Q4_1(blocks) => write(self.panel(blocks, panel), row, out),
            Blocks::Q8_0(blocks) => write(self.panel(blocks, panel), row, out),
        }
    }

    /// The rows with these numbers: (numbers, width).
    pub(super) fn rows(&self, numbers: &Tensor) -> Result<Tensor> {
        let numbers = numbers.to_vec1::<u32>()?;
        let mut out = vec![0.0; numbers.len() * self.width];
        for (number, out) in numbers.iter().zip(out.chunks_exact_mut(self.width.max(1))) {
            if *number as usize >= self.height {
                bail!("row {number} of {}", self.height);
            }
            self.row(*number as usize, out);
        }
        Tensor::from_vec(out, (numbers.len(), self.width), &candle_core::Device::Cpu)
    }

    /// Writes a panel's weights turned: those of sixteen rows at one place side by side, the next place's `step` numbers
    /// further.
    pub(super) fn turned(&self, panel: usize, out: &mut [f32], step: usize) {
        match &self.blocks {
            Blocks::Q4_1(blocks) => turn_q4_1(self.panel(blocks, panel), out, step),
            Blocks::Q8_0(blocks) => turn_q8_0(self.panel(blocks, panel), out, step),
        }
    }

    /// A panel's blocks.
    pub(super) fn panel<'a, B>(&self, blocks: &'a [B], panel: usize) -> &'a [B] {
        let n = self.row_blocks();
        &blocks[panel * n..(panel + 1) * n]
    }
}

/// On the thread that loads the model, a gigabyte a second: what reading the file takes.
fn interleave<B: Block>(bytes: &[u8], height: usize, width: usize) -> Result<Vec<B>> {
    let n = width / BLOCK;
    let row_bytes = n * B::BYTES;
    if n == 0 || bytes.len() != height * row_bytes {
        bail!("{} bytes for {height} rows of {n} blocks of {} bytes", bytes.len(), B::BYTES);
    }
    let mut blocks = vec![B::ZERO; height.div_ceil(ROWS) * n];
    for (panel, blocks) in blocks.chunks_exact_mut(n).enumerate() {
        let rows = bytes[panel * ROWS * row_bytes..].chunks_exact(row_bytes).take(ROWS);
        for (row, bytes) in rows.enumerate() {
            for (block, bytes) in blocks.iter_mut().zip(bytes.chunks_exact(B::BYTES)) {
                block.put(row, bytes);
            }
        }
    }
    Ok(blocks)
}

fn wide(halves: &[f16; ROWS]) -> [f32; ROWS] {
    let mut out = [0.0; ROWS];
    halves.convert_to_f32_slice(&mut out);
    out
}

widened!(turn_q4_1, turn_q4_1_plain(blocks: &[Q4_1], out: &mut [f32], step: usize));
widened!(turn_q8_0, turn_q8_0_plain(blocks: &[Q8_0], out: &mut [f32], step: usize));

#[inline(always)]
fn turn_q4_1_plain<const FUSED: bool>(blocks: &[Q4_1], out: &mut [f32], step: usize) {
    for (block, out) in blocks.iter().zip(out.chunks_mut(BLOCK * step)) {
        let (d, m) = (wide(&block.d), wide(&block.m));
        for (at, words) in block.q.iter().enumerate() {
            for byte in 0..WORD {
                for (half, shift) in [8 * byte, 8 * byte + 4].into_iter().enumerate() {
                    let place = half * (BLOCK / 2) + at * WORD + byte;
                    let Some(out) = out.get_mut(place * step..).and_then(|out| out.first_chunk_mut::<ROWS>()) else {
                        return;
                    };
                    for row in 0..ROWS {
                        // Through a number with a sign, which vectors of every age convert.
                        out[row] = fused::<FUSED>((words[row] >> shift & 15) as i32 as f32, d[row], m[row]);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn turn_q8_0_plain<const FUSED: bool>(blocks: &[Q8_0], out: &mut [f32], step: usize) {
    for (block, out) in blocks.iter().zip(out.chunks_mut(BLOCK * step)) {
        let d = wide(&block.d);
        for (at, words) in block.q.iter().enumerate() {
            for byte in 0..WORD {
                let place = at * WORD + byte;
                let Some(out) = out.get_mut(place * step..).and_then(|out| out.first_chunk_mut::<ROWS>()) else {
                    return;
                };
                for row in 0..ROWS {
                    let q = (words[row] >> (8 * byte) & 255) as i32 - i32::from(MIDDLE);
                    out[row] = q as f32 * d[row];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    #[test]
    fn weights_come_out_as_candles() -> Result<()> {
        for kind in [GgmlDType::Q4_1, GgmlDType::Q8_0] {
            // The last panel is not full.
            let (height, width) = (41, 96);
            let weight = QTensor::quantize(&Tensor::randn(0_f32, 0.1, (height, width), &Device::Cpu)?, kind)?;
            let theirs = weight.dequantize(&Device::Cpu)?.to_vec2::<f32>()?;
            let Some(ours) = Interleaved::of(&weight)? else { bail!("no interleaved {kind:?}") };
            let numbers: Vec<u32> = (0..height as u32).rev().collect();
            let mut rows = ours.rows(&Tensor::from_vec(numbers, height, &Device::Cpu)?)?.to_vec2::<f32>()?;
            rows.reverse();
            let same = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
            assert!(rows.iter().zip(&theirs).all(|(a, b)| same(a, b)), "{kind:?}");
            assert!(ours.rows(&Tensor::new(&[height as u32], &Device::Cpu)?).is_err());
            // Sixteen columns of twenty.
            let mut turned = vec![f32::NAN; width * 20];
            for panel in 0..ours.panels() {
                ours.turned(panel, &mut turned, 20);
                for row in 0..ROWS.min(height - panel * ROWS) {
                    let found: Vec<f32> = turned.iter().skip(row).step_by(20).copied().collect();
                    assert!(same(&found, &theirs[panel * ROWS + row]), "{kind:?} {panel} {row}");
                }
            }
        }
        let other =
            QTensor::quantize(&Tensor::zeros((16, 32), candle_core::DType::F32, &Device::Cpu)?, GgmlDType::Q4_0)?;
        assert!(Interleaved::of(&other)?.is_none());
        Ok(())
    }
}
