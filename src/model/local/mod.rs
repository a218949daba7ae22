//! Models that run in this process, on candle.
//!
//! [`Local`] opens a checkpoint: a folder as the Hugging Face Hub has them, or a GGUF file. Each opened model lives on a
//! thread of its own and stays in memory between cells.

mod counter;
mod open;

#[cfg(feature = "local")]
mod activation;
#[cfg(feature = "local")]
mod attention;
#[cfg(feature = "local")]
mod blocks;
#[cfg(all(feature = "local", target_arch = "x86_64"))]
mod blocks_x86;
#[cfg(feature = "local")]
mod chat;
#[cfg(feature = "local")]
mod config;
#[cfg(feature = "local")]
mod deberta;
#[cfg(feature = "local")]
mod decoder;
#[cfg(feature = "local")]
mod device;
#[cfg(feature = "local")]
mod embedder;
#[cfg(feature = "local")]
mod encoder;
#[cfg(feature = "local")]
mod engine;
#[cfg(feature = "local")]
mod experts;
#[cfg(feature = "local")]
mod heads;
#[cfg(feature = "local")]
mod inside;
#[cfg(feature = "local")]
mod interleaved;
#[cfg(feature = "local")]
mod linear;
#[cfg(feature = "local")]
mod load;
#[cfg(feature = "local")]
mod many;
#[cfg(feature = "local")]
mod names;
#[cfg(feature = "local")]
mod nli;
#[cfg(feature = "local")]
mod norm;
#[cfg(feature = "local")]
mod numbers;
#[cfg(feature = "local")]
mod panels;
#[cfg(all(test, feature = "local"))]
mod parity;
#[cfg(all(test, feature = "local"))]
mod parity_gguf;
#[cfg(feature = "local")]
mod prefill;
#[cfg(feature = "local")]
mod random_indexing;
#[cfg(feature = "local")]
mod rope;
#[cfg(feature = "local")]
mod rounded;
#[cfg(feature = "local")]
mod sampling;
#[cfg(feature = "local")]
mod share;
#[cfg(feature = "local")]
mod text;
#[cfg(feature = "local")]
mod then;
#[cfg(feature = "local")]
mod tile;
#[cfg(feature = "local")]
mod unpack;
#[cfg(feature = "local")]
mod vector;
#[cfg(feature = "local")]
mod weights;
#[cfg(feature = "local")]
mod worker;

pub(super) use counter::Counter;
pub use open::{Device, Local, Precision};
#[cfg(feature = "local")]
pub use random_indexing::RandomIndexing;

/// candle's failure as ours. What a checkpoint's files cause is found before; this is for the rest.
#[cfg(feature = "local")]
fn failed(error: candle_core::Error) -> crate::Error {
    crate::Error::new(crate::ErrorKind::Model, format!("the computation failed: {error}"))
}

/// A JSON file beside a model, `None` if it is not there.
#[cfg(feature = "local")]
fn json(path: &std::path::Path) -> crate::Result<Option<serde_json::Value>> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| crate::Error::input(format!("{}: {error}", path.display()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(crate::Error::file(path, &error)),
    }
}
