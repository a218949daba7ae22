//! DeBERTa's disentangled attention (He et al. 2021, equation 4): content to position, and position to content.

use candle_core::{Device, Result, Tensor};
use serde_json::Value;

use super::config::whole;
use super::encoder::refuse;
use super::norm::Norm;
use super::weights::Weights;
use crate::error::{Error, Result as OurResult};

#[derive(Debug)]
pub(super) struct Positions {
    table: Tensor,
    norm: Option<Norm>,
    heads: usize,
    /// Half of the table: positions from `-span` to `span - 1`.
    span: i64,
    buckets: i64,
    furthest: i64,
    content_to_position: bool,
    position_to_content: bool,
}

impl Positions {
    pub(super) fn load(config: &Value, weights: &Weights, heads: usize, epsilon: f64) -> OurResult<Self> {
        let is_on = |name: &str| config.get(name).and_then(Value::as_bool).unwrap_or(false);
        if !is_on("relative_attention") {
            return Err(refuse("deberta-v2 without relative_attention"));
        }
        if !is_on("share_att_key") {
            return Err(refuse("deberta-v2 without share_att_key"));
        }
        if whole(config, "conv_kernel_size")?.is_some_and(|size| size > 0) {
            return Err(refuse("deberta-v2 with a convolution (conv_kernel_size)"));
        }
        if let Some(size) = whole(config, "embedding_size")?
            && Some(size) != whole(config, "hidden_size")?
        {
            return Err(refuse("deberta-v2 with an embedding_size of its own"));
        }
        let number = |name: &str| config.get(name).and_then(Value::as_i64).unwrap_or(-1);
        let furthest = match number("max_relative_positions") {
            given if given >= 1 => given,
            _ => number("max_position_embeddings"),
        };
        let buckets = number("position_buckets");
        let span = if buckets > 0 { buckets } else { furthest };
        let table = weights.tensor("encoder.rel_embeddings.weight")?;
        if furthest < 2 || table.dims().first() != Some(&(2 * span.max(0) as usize)) {
            return Err(Error::input(format!(
                "rel_embeddings has the shape {:?}, config.json asks for {} rows",
                table.dims(),
                2 * span
            )));
        }
        // A list, or the same joined by "|".
        let kinds = match config.get("pos_att_type") {
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(Value::String(joined)) => joined.split('|').map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let is_normed =
            config.get("norm_rel_ebd").and_then(Value::as_str).is_some_and(|kind| kind.contains("layer_norm"));
        Ok(Self {
            table,
            norm: if is_normed { Some(Norm::load(weights, "encoder.LayerNorm", epsilon)?) } else { None },
            heads,
            span,
            buckets,
            furthest,
            content_to_position: kinds.iter().any(|kind| kind == "c2p"),
            position_to_content: kinds.iter().any(|kind| kind == "p2c"),
        })
    }

    /// Terms that are added up, which the scores are scaled by.
    pub(super) fn terms(&self) -> usize {
        1 + usize::from(self.content_to_position) + usize::from(self.position_to_content)
    }

    pub(super) fn embeddings(&self) -> Result<Tensor> {
        match &self.norm {
            Some(norm) => norm.forward(&self.table),
            None => Ok(self.table.clone()),
        }
    }

    /// What positions add to the scores of one text. `q` and `k` are scaled, (heads, tokens, width); `table` is what
    /// queries, keys and values of the layer make of the relative positions, side by side.
    pub(super) fn bias(&self, q: &Tensor, k: &Tensor, table: &Tensor) -> Result<Tensor> {
        let (heads, tokens, width) = q.dims3()?;
        let rows = table.dim(0)?;
        let part = |place: usize| {
            table
                .narrow(1, place * heads * width, heads * width)?
                .contiguous()?
                .reshape((rows, self.heads, width))?
                .transpose(0, 1)?
                .contiguous()
        };
        let flat = |x: Tensor| x.to_device(&Device::Cpu)?.flatten_all()?.to_vec1::<f32>();
        let to_position = if self.content_to_position { Some(flat(q.matmul(&part(1)?.t()?)?)?) } else { None };
        let to_content = if self.position_to_content { Some(flat(k.matmul(&part(0)?.t()?)?)?) } else { None };
        let places: Vec<usize> = (1 - tokens as i64..tokens as i64).map(|apart| self.row(apart)).collect();
        let mut bias = vec![0.0_f32; heads * tokens * tokens];
        for (row, values) in bias.chunks_mut(tokens.max(1)).enumerate() {
            let (head, query) = (row / tokens, row % tokens);
            for (key, value) in values.iter_mut().enumerate() {
                let place = places[query + tokens - 1 - key];
                if let Some(scores) = &to_position {
                    *value += scores[row * rows + place];
                }
                if let Some(scores) = &to_content {
                    *value += scores[(head * tokens + key) * rows + place];
                }
            }
        }
        Tensor::from_vec(bias, (heads, tokens, tokens), q.device())
    }

    /// The row of the table for a query so far after its key.
    fn row(&self, apart: i64) -> usize {
        let place = if self.buckets > 0 { bucket(apart, self.buckets, self.furthest) } else { apart };
        (place + self.span).clamp(0, 2 * self.span - 1) as usize
    }
}

/// Distances up to half the buckets stand for themselves, further ones share logarithmic buckets.
fn bucket(apart: i64, buckets: i64, furthest: i64) -> i64 {
    let middle = buckets / 2;
    if apart.abs() <= middle {
        return apart;
    }
    let (size, middle_f) = (apart.abs() as f64, middle as f64);
    let steps = (size / middle_f).ln() / ((furthest - 1) as f64 / middle_f).ln() * (middle_f - 1.0);
    (steps.ceil() as i64 + middle) * apart.signum()
}

#[cfg(test)]
mod tests {
    use super::bucket;

    #[test]
    fn buckets_are_odd_functions_that_never_fall() {
        let all: Vec<i64> = (-127..128).map(|apart| bucket(apart, 32, 128)).collect();
        assert!(all.windows(2).all(|pair| pair[0] <= pair[1]));
        assert!((0..128).all(|apart| bucket(-apart, 32, 128) == -bucket(apart, 32, 128)));
        assert_eq!((bucket(16, 32, 128), bucket(127, 32, 128)), (16, 31));
    }
}
