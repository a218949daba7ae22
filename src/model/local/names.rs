//! What the tensors of a decoder are called.

/// One naming scheme. `{}` in `layer` is the layer's place.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) embedding: &'static str,
    pub(super) norm: &'static str,
    pub(super) head: &'static str,
    layer: &'static str,
    pub(super) before_attention: &'static str,
    pub(super) query: &'static str,
    pub(super) key: &'static str,
    pub(super) value: &'static str,
    pub(super) output: &'static str,
    pub(super) query_norm: &'static str,
    pub(super) key_norm: &'static str,
    pub(super) before_mlp: &'static str,
    pub(super) gate: &'static str,
    pub(super) up: &'static str,
    pub(super) down: &'static str,
    pub(super) router: &'static str,
}

impl Names {
    pub(super) const SAFETENSORS: Self = Self {
        embedding: "embed_tokens",
        norm: "norm",
        head: "lm_head",
        layer: "layers",
        before_attention: "input_layernorm",
        query: "self_attn.q_proj",
        key: "self_attn.k_proj",
        value: "self_attn.v_proj",
        output: "self_attn.o_proj",
        query_norm: "self_attn.q_norm",
        key_norm: "self_attn.k_norm",
        before_mlp: "post_attention_layernorm",
        gate: "mlp.gate_proj",
        up: "mlp.up_proj",
        down: "mlp.down_proj",
        router: "block_sparse_moe.gate",
    };

    pub(super) const GGUF: Self = Self {
        embedding: "token_embd",
        norm: "output_norm",
        head: "output",
        layer: "blk",
        before_attention: "attn_norm",
        query: "attn_q",
        key: "attn_k",
        value: "attn_v",
        output: "attn_output",
        query_norm: "attn_q_norm",
        key_norm: "attn_k_norm",
        before_mlp: "ffn_norm",
        gate: "ffn_gate",
        up: "ffn_up",
        down: "ffn_down",
        router: "ffn_gate_inp",
    };

    pub(super) fn layer(&self, place: usize, part: &str) -> String {
        format!("{}.{place}.{part}", self.layer)
    }
}
