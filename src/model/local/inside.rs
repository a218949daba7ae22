//! Attention inside each text of a batch, on the processor: what encoders do.
//!
//! Queries, keys and values are read where the product left them, and every text's heads are pieces of work of their own.

use candle_core::{DType, Result, Tensor, bail};

use super::attention::softmax;
use super::numbers::numbers;
use super::share::{Out, share};
use super::tile::{BAND, COLUMNS, Rows, multiply_into};
use super::vector::is_quick;

/// Queries that one piece of work takes at a time.
const ROWS: usize = 8 * BAND;

/// Whether [`attend`] can do it: f32 on the processor, whole vectors in a head, and the instructions.
pub(super) fn is_possible(qkv: &Tensor, heads: usize) -> bool {
    let is_whole = qkv.dims().last().is_some_and(|width| width.is_multiple_of(3 * heads * COLUMNS));
    qkv.device().is_cpu() && qkv.dtype() == DType::F32 && is_whole && is_quick()
}

/// `qkv` is (tokens, queries, keys and values of all heads side by side), text after text. Returns (tokens, hidden).
pub(super) fn attend(qkv: &Tensor, lengths: &[usize], heads: usize) -> Result<Tensor> {
    let qkv = qkv.contiguous()?;
    let (tokens, columns) = qkv.dims2()?;
    if !is_possible(&qkv, heads) {
        bail!("attention of {heads} heads in {columns} columns is not what this can do");
    }
    if lengths.iter().sum::<usize>() != tokens {
        bail!("texts of {} tokens in a batch of {tokens}", lengths.iter().sum::<usize>());
    }
    let (storage, layout) = qkv.storage_and_layout();
    let all = numbers(&storage, layout)?;
    let hidden = columns / 3;
    let width = hidden / heads;
    let scale = (width as f32).sqrt().recip();
    let starts: Vec<usize> = lengths
        .iter()
        .scan(0, |at, length| {
            *at += length;
            Some(*at - length)
        })
        .collect();
    let mut out = vec![0.0_f32; tokens * hidden];
    let target = Out::of(&mut out);
    share(lengths.len() * heads, |units| {
        let (mut turned, mut scores) = (Vec::new(), Vec::new());
        for unit in units {
            let (start, length, head) = (starts[unit / heads], lengths[unit / heads], unit % heads);
            let from = |token: usize, part: usize| (start + token) * columns + part * hidden + head * width;
            let step = length.next_multiple_of(COLUMNS);
            turned.resize(width * step, 0.0_f32);
            for token in 0..length {
                let key = &all[from(token, 1)..][..width];
                for (row, number) in turned.chunks_exact_mut(step).zip(key) {
                    row[token] = number * scale;
                }
            }
            let keys = Rows { numbers: &turned[..], step };
            let values = Rows { numbers: &all[from(0, 2)..], step: columns };
            for first in (0..length).step_by(ROWS) {
                let rows = ROWS.min(length - first);
                scores.resize(rows * step, 0.0_f32);
                let queries = Rows { numbers: &all[from(first, 0)..], step: columns };
                // SAFETY: `is_possible`. Queries reach to `rows` rows of `width`, keys to `width` rows of `step`, whole
                // vectors; as many scores are ours.
                unsafe { multiply_into(queries, keys, (scores.as_mut_ptr(), step), (rows, width, step), false) };
                for row in scores.chunks_exact_mut(step) {
                    softmax(&mut row[..length]);
                }
                let scores = Rows { numbers: &scores, step };
                // SAFETY: `is_possible`. Values reach to `length` rows of `width`, scores to `rows` rows of
                // `length`, and a token's part of a head is written by one piece of work.
                unsafe {
                    let answer = target.at((start + first) * hidden + head * width);
                    multiply_into(scores, values, (answer, hidden), (rows, length, width), false);
                }
            }
        }
    });
    Tensor::from_vec(out, (tokens, hidden), qkv.device())
}
