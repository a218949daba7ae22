//! Attention of many queries: what reading a prompt does.
//!
//! A band of queries meets the keys that it sees, and no others: half of a causal prompt's scores are never computed, and
//! what is computed stays in the cache of its core.

use candle_core::{CpuStorage, CustomOp3, Layout, Result, Shape, Tensor};

use super::attention::{Inputs, Sight, softmax};
use super::share::{Out, share};
use super::tile::{BAND, COLUMNS, Rows, multiply};
use super::vector::is_quick;

/// Rows (queries of all heads that share their keys) that one piece of work covers.
const ROWS: usize = 4 * BAND;
/// Keys that one piece of turning them covers.
const KEYS: usize = 64;

/// Whether [`attend`] can do it: whole vectors in a head, and the instructions.
pub(super) fn is_possible(q: &Tensor) -> bool {
    q.dims().last().is_some_and(|width| width.is_multiple_of(COLUMNS)) && is_quick()
}

/// As [`super::attention::attend`], in f32 on the processor.
pub(super) fn attend(q: &Tensor, k: &Tensor, v: &Tensor, sight: Sight) -> Result<Tensor> {
    q.contiguous()?.apply_op3_no_bwd(k, v, &ManyQueries { sight })
}

struct ManyQueries {
    sight: Sight,
}

impl CustomOp3 for ManyQueries {
    fn name(&self) -> &'static str {
        "many_queries"
    }

    fn cpu_fwd(
        &self,
        q: &CpuStorage,
        q_layout: &Layout,
        k: &CpuStorage,
        k_layout: &Layout,
        v: &CpuStorage,
        v_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let inputs = Inputs::read((q, q_layout), (k, k_layout), (v, v_layout))?;
        let Inputs { q, queries, heads, width, shared, group, keys, .. } = inputs;
        let turned = Turned::of(shared, keys, width, |head| inputs.k(head, 0, keys));
        let rows = queries * group;
        let blocks = rows.div_ceil(ROWS);
        let mut out = vec![0.0_f32; queries * heads * width];
        let target = Out::of(&mut out);
        let place = |head: usize, row: usize| (row / group * heads + head * group + row % group) * width;
        share(shared * blocks, |units| {
            let (mut asked, mut scores, mut answer) = (Vec::new(), Vec::new(), Vec::new());
            for unit in units {
                let (head, block) = (unit / blocks, unit % blocks);
                let (from, to) = (block * ROWS, rows.min((block + 1) * ROWS));
                let first = self.sight.range(from / group).0.min(keys);
                let last = self.sight.range((to - 1) / group).1.min(keys);
                let (seen, columns) = (last - first, (last - first).next_multiple_of(COLUMNS));
                asked.clear();
                for row in from..to {
                    asked.extend_from_slice(&q[place(head, row)..][..width]);
                }
                scores.resize((to - from) * columns, 0.0);
                answer.resize((to - from) * width, 0.0);
                let queries = Rows { numbers: &asked, step: width };
                let mut is_done = multiply(queries, turned.from(head, first), &mut scores, width, columns);
                for (row, scores) in (from..to).zip(scores.chunks_exact_mut(columns)) {
                    let (begin, end) = self.sight.range(row / group);
                    let (before, rest) = scores.split_at_mut(begin.clamp(first, last) - first);
                    let (inside, after) = rest.split_at_mut(end.clamp(first, last) - begin.clamp(first, last));
                    before.fill(0.0);
                    after.fill(0.0);
                    softmax(inside);
                }
                let values = Rows { numbers: inputs.v(head, first, keys), step: width };
                is_done &= multiply(Rows { numbers: &scores, step: columns }, values, &mut answer, seen, width);
                if !is_done {
                    answer.fill(f32::NAN);
                }
                for (row, values) in (from..to).zip(answer.chunks_exact(width)) {
                    // SAFETY: a row of a head is written by one piece of work.
                    unsafe { target.part(place(head, row), width) }.copy_from_slice(values);
                }
            }
        });
        Ok((CpuStorage::F32(out), Shape::from((queries, heads * width))))
    }
}

/// Keys with their numbers side by side: for each head and each place in a key, that number of all keys.
struct Turned {
    numbers: Vec<f32>,
    /// Numbers of one place; a little more than there are keys, so that a piece may read beyond the last.
    step: usize,
    width: usize,
}

impl Turned {
    fn of<'a>(shared: usize, keys: usize, width: usize, rows: impl Fn(usize) -> &'a [f32] + Sync) -> Self {
        let step = keys.next_multiple_of(COLUMNS) + COLUMNS;
        let mut numbers = vec![0.0_f32; shared * width * step];
        let target = Out::of(&mut numbers);
        let pieces = keys.div_ceil(KEYS);
        share(shared * pieces, |units| {
            for unit in units {
                let (head, piece) = (unit / pieces, unit % pieces);
                let (from, to) = (piece * KEYS, keys.min((piece + 1) * KEYS));
                let rows = &rows(head)[from * width..to * width];
                for place in 0..width {
                    // SAFETY: these keys' numbers at this place are written by one piece of work.
                    let line = unsafe { target.part((head * width + place) * step + from, to - from) };
                    for (number, row) in line.iter_mut().zip(rows.chunks_exact(width)) {
                        *number = row[place];
                    }
                }
            }
        });
        Self { numbers, step, width }
    }

    /// The keys of a head from one on.
    fn from(&self, head: usize, first: usize) -> Rows<'_> {
        Rows { numbers: &self.numbers[head * self.width * self.step + first..], step: self.step }
    }
}
