//! What calls cost.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Tokens read.
    pub input: f64,
    /// Tokens written, reasoning included.
    pub output: f64,
    /// Tokens read from the provider's cache; `None`: as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
}

/// Tokens of one call.
#[cfg(feature = "remote")]
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) prompt: u64,
    pub(super) cached: u64,
    pub(super) completion: u64,
    pub(super) reasoning: u64,
}

impl Price {
    /// What a call cost, in US dollars.
    #[cfg(feature = "remote")]
    pub(super) fn of(&self, usage: Usage) -> f64 {
        let cached = usage.cached.min(usage.prompt);
        let read =
            (usage.prompt - cached) as f64 * self.input + cached as f64 * self.cached_input.unwrap_or(self.input);
        (read + usage.completion as f64 * self.output) / 1e6
    }

    pub(super) fn is_sound(&self) -> bool {
        [Some(self.input), Some(self.output), self.cached_input]
            .into_iter()
            .flatten()
            .all(|price| price.is_finite() && price >= 0.0)
    }
}

/// Reads a table of prices: JSON, the model's name to `{"input": …, "output": …}` in US dollars a million tokens.
pub(super) fn read(path: &Path) -> Result<BTreeMap<String, Price>> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Error::file(path, &error)
            .help("write {\"MODEL\": {\"input\": 2.5, \"output\": 10}}: US dollars a million tokens")
    })?;
    let prices: BTreeMap<String, Price> =
        serde_json::from_str(&text).map_err(|error| Error::input(format!("{}: {error}", path.display())))?;
    match prices.iter().find(|(_, price)| !price.is_sound()) {
        Some((model, _)) => Err(Error::input(format!("{}: the price of {model:?} is not a price", path.display()))),
        None => Ok(prices),
    }
}

#[cfg(all(test, feature = "remote"))]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_have_their_own_price() {
        let price = Price { input: 2.0, output: 10.0, cached_input: Some(0.5) };
        let usage = Usage { prompt: 1_000_000, cached: 400_000, completion: 100_000, reasoning: 50_000 };
        assert!((price.of(usage) - (1.2 + 0.2 + 1.0)).abs() < 1e-12);
    }
}
