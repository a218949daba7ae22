//! Mixture of experts: each token goes through the few experts that its router likes best (Jiang et al. 2024, "Mixtral
//! of Experts", section 2.1).

use candle_core::{D, DType, Result, Tensor};

use super::activation::gated;
use super::linear::{Linear, Stack};
use super::names::Names;
use super::weights::Weights;
use crate::error::Result as OurResult;

#[derive(Debug)]
pub(super) struct Experts {
    router: Linear,
    /// Gate and up as one, and down, of every expert.
    experts: Vec<(Stack, Linear)>,
    used: usize,
}

impl Experts {
    pub(super) fn load(weights: &Weights, names: &Names, place: usize, all: usize, used: usize) -> OurResult<Self> {
        let at = |part: &str| names.layer(place, part);
        let router = weights.linear(&at(names.router))?;
        let merged = at("ffn_gate_exps.weight");
        let experts = if weights.has(&merged) {
            let gates = weights.experts(&merged)?;
            let ups = weights.experts(&at("ffn_up_exps.weight"))?;
            let downs = weights.experts(&at("ffn_down_exps.weight"))?;
            gates.into_iter().zip(ups).zip(downs).map(|((gate, up), down)| (Stack(vec![gate, up]), down)).collect()
        } else {
            let is_gguf = weights.header().is_some();
            (0..all)
                .map(|expert| {
                    let named = |old: &str, short: &str| {
                        at(&if is_gguf {
                            format!("{old}.{expert}")
                        } else {
                            format!("block_sparse_moe.experts.{expert}.{short}")
                        })
                    };
                    let both = [named("ffn_gate", "w1"), named("ffn_up", "w3")];
                    Ok((Stack(weights.stacked(&both, &[None, None])?), weights.linear(&named("ffn_down", "w2"))?))
                })
                .collect::<OurResult<Vec<_>>>()?
        };
        if experts.len() != all {
            return Err(crate::Error::input(format!("layer {place} has {} experts, expected {all}", experts.len())));
        }
        Ok(Self { router, experts, used })
    }

    /// Tokens are grouped by expert, so that each expert's weights are read once.
    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let logits = self.router.forward(x)?.to_dtype(DType::F32)?;
        let likes = candle_nn::ops::softmax(&logits, D::Minus1)?.to_vec2::<f32>()?;
        let mut tokens = vec![Vec::new(); self.experts.len()];
        let mut shares = vec![Vec::new(); self.experts.len()];
        for (token, likes) in likes.iter().enumerate() {
            let mut order: Vec<usize> = (0..likes.len()).collect();
            order.sort_by(|a, b| likes[*b].total_cmp(&likes[*a]).then(a.cmp(b)));
            order.truncate(self.used);
            let total: f32 = order.iter().map(|expert| likes[*expert]).sum();
            for expert in order {
                tokens[expert].push(token as u32);
                shares[expert].push(likes[expert] / total);
            }
        }
        let mut out = x.zeros_like()?;
        for ((expert, tokens), shares) in self.experts.iter().zip(tokens).zip(shares) {
            if tokens.is_empty() {
                continue;
            }
            let n = tokens.len();
            let places = Tensor::from_vec(tokens, n, x.device())?;
            let chosen = x.index_select(&places, 0)?;
            let through = expert.1.forward(&gated(&expert.0.forward(&chosen)?)?)?;
            let shares = Tensor::from_vec(shares, (n, 1), x.device())?.to_dtype(x.dtype())?;
            out = out.index_add(&places, &through.broadcast_mul(&shares)?, 0)?;
        }
        Ok(out)
    }
}
