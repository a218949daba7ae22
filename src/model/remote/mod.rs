//! Models behind an HTTP interface like OpenAI's: OpenAI itself, vLLM, llama.cpp's server, Ollama, any base URL.
//!
//! Keys come from the environment when a call is made, and are in no log, error, journal or `Debug` output.

mod endpoint;
mod price;
mod schema;

#[cfg(feature = "remote")]
mod batch;
#[cfg(feature = "remote")]
mod capability;
#[cfg(feature = "remote")]
mod chat;
#[cfg(feature = "remote")]
mod client;
#[cfg(feature = "remote")]
mod embed;
#[cfg(feature = "remote")]
mod failure;
#[cfg(all(test, feature = "remote"))]
mod faults;
#[cfg(feature = "remote")]
mod limits;
#[cfg(feature = "remote")]
mod message;
#[cfg(feature = "remote")]
mod money;
#[cfg(feature = "remote")]
mod wait;

pub use endpoint::{Endpoint, Imported};
pub use price::Price;
pub use schema::violation;
