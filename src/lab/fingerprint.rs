//! Identity of inputs: the same specification over the same data has the same fingerprint.

use polars::prelude::{AnyValue, DataFrame};
use sha2::{Digest, Sha256};

use crate::error::Result;

/// A SHA-256 digest, built up from what an artifact depends on.
#[derive(Debug, Clone, Default)]
pub struct Fingerprint(Sha256);

impl Fingerprint {
    /// A digest of nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text. Lengths are part of the digest, so that `ab` + `c` differs from `a` + `bc`.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
        self
    }

    /// Adds a frame: names, types and every value in order.
    ///
    /// # Errors
    /// When a value cannot be read.
    pub fn frame(mut self, frame: &DataFrame) -> Result<Self> {
        for column in frame.columns() {
            self = self.text(column.name()).text(&column.dtype().to_string());
            for row in 0..column.len() {
                self = match column.get(row)? {
                    AnyValue::Null => {
                        self.0.update([0]);
                        self
                    }
                    AnyValue::String(text) => self.text(text),
                    AnyValue::Float64(number) => {
                        self.0.update(number.to_bits().to_le_bytes());
                        self
                    }
                    AnyValue::Int64(number) => {
                        self.0.update(number.to_le_bytes());
                        self
                    }
                    other => self.text(&other.to_string()),
                };
            }
        }
        Ok(self)
    }

    /// The first 128 bits as hexadecimal digits.
    #[must_use]
    pub fn finish(self) -> String {
        self.0.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}
