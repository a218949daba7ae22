//! Where a remote model is, and how it may be used; the same with and without the feature `remote`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::price::{self, Price};
use crate::error::{Error, Result};
use crate::model::local::Counter;
use crate::model::{Embed, LanguageModel};
use crate::signal;
#[cfg(not(feature = "remote"))]
use crate::{lab::Lab, model::Prompt};

/// What became of a batch's results.
#[derive(Debug, Clone, Default)]
pub struct Imported {
    /// Replies that are in the journal now.
    pub recorded: usize,
    /// What failed, and why: these calls are still to be made.
    pub failures: Vec<String>,
}

impl Imported {
    /// Shows counts and the first failures.
    pub fn evcxr_display(&self) {
        let mut lines = vec![format!("{} replies recorded, {} failed", self.recorded, self.failures.len())];
        lines.extend(self.failures.iter().take(10).cloned());
        signal::display(None, None, &lines.join("\n"));
    }
}

/// A server with an interface like OpenAI's, and limits on its use.
///
/// ```
/// use claimlab::model::Endpoint;
/// let gpt = Endpoint::openai().price("gpt-4o", 2.5, 10.0)?.cost_limit(20.0)?;
/// let cluster = Endpoint::at("http://localhost:8000/v1")?.concurrency(128).retries(8);
/// assert!(!format!("{gpt:?}{cluster:?}").contains("sk-"));
/// # Ok::<(), claimlab::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub(super) base: String,
    /// The variable that holds the key, never the key.
    pub(super) key_variable: Option<String>,
    pub(super) concurrency: usize,
    pub(super) requests_per_minute: Option<f64>,
    pub(super) tokens_per_minute: Option<f64>,
    pub(super) timeout: Duration,
    pub(super) retries: u32,
    /// The first wait before a retry.
    pub(super) patience: Duration,
    pub(super) prices: BTreeMap<String, Price>,
    pub(super) cost_limit: Option<f64>,
    pub(super) parameters: Parameters,
    /// What counts a prompt's tokens, and how many may be read and written together.
    pub(super) tokenizer: Option<(Counter, usize)>,
}

/// Further fields of every request.
pub(super) type Parameters = BTreeMap<String, Value>;

impl Endpoint {
    /// OpenAI, with the key in `OPENAI_API_KEY`.
    #[must_use]
    pub fn openai() -> Self {
        Self::plain("https://api.openai.com/v1").key_from("OPENAI_API_KEY")
    }

    /// Any other server: the URL up to and with `/v1`. A key is sent only after [`Self::key_from`].
    ///
    /// # Errors
    /// When the URL is not one, or holds a password.
    pub fn at(base: &str) -> Result<Self> {
        let base = base.trim().trim_end_matches('/');
        let rest = base.strip_prefix("https://").or_else(|| base.strip_prefix("http://"));
        let host = rest.map(|rest| rest.split('/').next().unwrap_or_default());
        match host {
            Some(host) if host.contains('@') => {
                Err(Error::input("the URL holds a name or password; keys come from the environment only")
                    .help("Endpoint::at(URL)?.key_from(\"VARIABLE\")"))
            }
            Some(host) if !host.is_empty() && !base.contains(['?', '#', ' ']) => Ok(Self::plain(base)),
            _ => Err(Error::input(format!("{base:?} is not the URL of a server"))
                .help("for example http://localhost:8000/v1")),
        }
    }

    fn plain(base: &str) -> Self {
        Self {
            base: base.to_owned(),
            key_variable: None,
            concurrency: 16,
            requests_per_minute: None,
            tokens_per_minute: None,
            timeout: Duration::from_secs(600),
            retries: 6,
            patience: Duration::from_millis(500),
            prices: BTreeMap::new(),
            cost_limit: None,
            parameters: Parameters::new(),
            tokenizer: None,
        }
    }

    /// The environment variable that holds the key. It is read when calls are made.
    #[must_use]
    pub fn key_from(mut self, variable: &str) -> Self {
        self.key_variable = Some(variable.to_owned());
        self
    }

    /// Calls at a time at most [16]; fewer while the server says that it is too many.
    #[must_use]
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls.clamp(1, 512);
        self
    }

    /// Calls begun in a minute at most.
    #[must_use]
    pub fn requests_per_minute(mut self, calls: u32) -> Self {
        self.requests_per_minute = Some(f64::from(calls.max(1)));
        self
    }

    /// Tokens asked for in a minute at most, the longest possible replies included, as OpenAI counts them.
    #[must_use]
    pub fn tokens_per_minute(mut self, tokens: u32) -> Self {
        self.tokens_per_minute = Some(f64::from(tokens.max(1)));
        self
    }

    /// Seconds that one call may take [600].
    #[must_use]
    pub fn timeout(mut self, seconds: u32) -> Self {
        self.timeout = Duration::from_secs(u64::from(seconds.max(1)));
        self
    }

    /// How often one call is tried again after a failure that may pass [6].
    #[must_use]
    pub fn retries(mut self, times: u32) -> Self {
        self.retries = times;
        self
    }

    /// A model's price in US dollars a million tokens, read and written. No prices are built in: they change.
    ///
    /// # Errors
    /// When a number is not a price.
    pub fn price(mut self, model: &str, input: f64, output: f64) -> Result<Self> {
        let price = Price { input, output, cached_input: None };
        if !price.is_sound() {
            return Err(Error::input(format!("{input} and {output} are not prices of a million tokens")));
        }
        self.prices.insert(model.to_owned(), price);
        Ok(self)
    }

    /// Prices from a JSON file: `{"MODEL": {"input": 2.5, "output": 10, "cached_input": 1.25}}`.
    ///
    /// # Errors
    /// When the file is missing or holds something else.
    pub fn prices(mut self, file: impl AsRef<Path>) -> Result<Self> {
        self.prices.extend(price::read(file.as_ref())?);
        Ok(self)
    }

    /// The most that each model opened from this may spend, in US dollars. A call that could exceed it, at its longest, is
    /// not begun. What is not known counts as the most that it could be: an answer without a count of its tokens, one
    /// that was lost on the way, and a call that an interrupt gave up.
    ///
    /// # Errors
    /// When the number is not an amount.
    pub fn cost_limit(mut self, dollars: f64) -> Result<Self> {
        if !dollars.is_finite() || dollars < 0.0 {
            return Err(Error::input(format!("{dollars} is not an amount of US dollars")));
        }
        self.cost_limit = Some(dollars);
        Ok(self)
    }

    /// A further field of every request, such as `reasoning_effort`; part of a call's identity.
    #[must_use]
    pub fn parameter(mut self, name: &str, value: Value) -> Self {
        self.parameters.insert(name.to_owned(), value);
        self
    }

    /// The `tokenizer.json` of the models opened from this, and how many tokens prompt and reply may have together. Prompts
    /// are then measured before they are sent, and passages that do not fit are dropped and counted; without it a
    /// generation run says that nothing was measured. With `tokenizer_config.json` beside it, its chat template counts
    /// too; without, a few tokens are added for each message.
    ///
    /// # Errors
    /// When the file is missing or no tokenizer, or this build has no tokenizers (feature `local`).
    pub fn tokenizer(mut self, file: impl AsRef<Path>, context: usize) -> Result<Self> {
        self.tokenizer = Some((Counter::read(file.as_ref())?, context));
        Ok(self)
    }

    /// Shows the settings; of the key, the variable's name.
    pub fn evcxr_display(&self) {
        let key = self.key_variable.as_deref().unwrap_or("none");
        let limit = self.cost_limit.map_or_else(|| "none".to_owned(), |limit| format!("{limit:.2} USD"));
        signal::display(
            None,
            None,
            &format!("{} · key from {key} · {} calls at a time · cost limit {limit}", self.base, self.concurrency),
        );
    }
}

#[cfg(not(feature = "remote"))]
impl Endpoint {
    /// A model of this server.
    ///
    /// # Errors
    /// Always: this build has no remote models.
    pub fn language_model(&self, _model: &str) -> Result<LanguageModel> {
        Err(Error::feature_disabled("remote models", "remote"))
    }

    /// An embedding model of this server.
    ///
    /// # Errors
    /// Always: this build has no remote models.
    pub fn embedder(&self, _model: &str, _question_prefix: &str) -> Result<Arc<dyn Embed>> {
        Err(Error::feature_disabled("remote models", "remote"))
    }

    /// Writes a batch file.
    ///
    /// # Errors
    /// Always: this build has no remote models.
    pub fn export_batch(
        &self,
        _model: &str,
        _prompts: &[Prompt],
        _lab: &Lab,
        _file: impl AsRef<Path>,
    ) -> Result<usize> {
        Err(Error::feature_disabled("remote models", "remote"))
    }

    /// Reads a batch's results.
    ///
    /// # Errors
    /// Always: this build has no remote models.
    pub fn import_batch(
        &self,
        _model: &str,
        _prompts: &[Prompt],
        _lab: &Lab,
        _results: impl AsRef<Path>,
    ) -> Result<Imported> {
        Err(Error::feature_disabled("remote models", "remote"))
    }
}

#[cfg(feature = "remote")]
impl Endpoint {
    /// A model of this server, by the server's name for it. Nothing is asked of the server yet.
    ///
    /// # Errors
    /// When there is a cost limit but no price for this model.
    pub fn language_model(&self, model: &str) -> Result<LanguageModel> {
        Ok(LanguageModel::new(model, Arc::new(super::chat::RemoteChat::new(self, model)?)))
    }

    /// An embedding model of this server. Some want a prefix before questions; `""` is none.
    ///
    /// # Errors
    /// When there is a cost limit but no price for this model.
    pub fn embedder(&self, model: &str, question_prefix: &str) -> Result<Arc<dyn Embed>> {
        Ok(Arc::new(super::embed::RemoteEmbedder::new(self, model, question_prefix)?))
    }
}
