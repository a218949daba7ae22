//! How many tokens a conversation has, for a model that runs elsewhere.

use std::path::Path;

use crate::error::Result;

/// A tokenizer that only counts.
#[derive(Clone)]
pub(in crate::model) struct Counter {
    #[cfg(all(feature = "local", feature = "remote"))]
    text: std::sync::Arc<super::text::Text>,
}

impl std::fmt::Debug for Counter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Counter")
    }
}

#[cfg(all(feature = "local", feature = "remote"))]
impl Counter {
    /// Tokens that a server may put around each message, where its chat template is not at hand.
    const AROUND: usize = 8;

    /// Reads `tokenizer.json`, and the chat template beside it if there is one.
    pub(in crate::model) fn read(file: &Path) -> Result<Self> {
        Ok(Self { text: std::sync::Arc::new(super::text::Text::from_file(file)?) })
    }

    /// About as many tokens as the model will read; `None` if the messages cannot be tokenized.
    pub(in crate::model) fn count(&self, messages: &[crate::model::Message]) -> Option<usize> {
        if self.text.has_template() {
            return self.text.conversation(messages).ok().map(|ids| ids.len());
        }
        let counts = messages.iter().map(|message| self.text.encode(&message.content, false).ok().map(|ids| ids.len()));
        let inside: Option<usize> = counts.sum();
        inside.map(|tokens| tokens + Self::AROUND * (messages.len() + 1))
    }
}

#[cfg(not(all(feature = "local", feature = "remote")))]
impl Counter {
    pub(in crate::model) fn read(_file: &Path) -> Result<Self> {
        Err(crate::Error::feature_disabled("tokenizers for remote models", "local,remote"))
    }
}
