//! The seam for language models: prompts in, replies out.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::signal;

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions that hold for the whole conversation.
    System,
    /// The one who asks.
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What they say.
    pub content: String,
}

/// One request to a language model. All of it, with the model's own `spec`, identifies the call.
///
/// ```
/// use claimlab::model::Prompt;
/// let prompt = Prompt::new("Which article?").system("Answer in one word.").max_tokens(8).attempt(2);
/// assert_eq!(prompt.messages.len(), 2);
/// assert_eq!(prompt.temperature, 0.0);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// A JSON schema that the reply must satisfy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// The longest reply, in the model's tokens.
    pub max_tokens: u32,
    /// 0 is greedy decoding.
    pub temperature: f64,
    /// Texts at which the reply ends; they are not part of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// The seed of sampling, where the model has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Which repetition of the same request this is, from 1; repetitions are kept apart.
    pub attempt: u32,
}

impl Prompt {
    /// One message of the user's; greedy, at most 1,024 tokens, first attempt.
    #[must_use]
    pub fn new(user: impl Into<String>) -> Self {
        Self {
            messages: vec![Message { role: Role::User, content: user.into() }],
            schema: None,
            max_tokens: 1024,
            temperature: 0.0,
            stop: Vec::new(),
            seed: None,
            attempt: 1,
        }
    }

    /// Puts instructions before everything else.
    #[must_use]
    pub fn system(mut self, instructions: impl Into<String>) -> Self {
        self.messages.insert(0, Message { role: Role::System, content: instructions.into() });
        self
    }

    /// Asks for JSON that satisfies a schema. Whoever reads the reply validates it all the same.
    #[must_use]
    pub fn schema(mut self, schema: Value) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Limits the reply.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = tokens;
        self
    }

    /// Sets the attempt's number, from 1.
    #[must_use]
    pub fn attempt(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The limit of tokens was reached: the text is cut.
    Length,
}

impl Finish {
    /// The spelling in tables: `stop`, `length`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
        }
    }
}

/// What a language model said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The text. Never empty because of a failure: refusals and empty contents are errors.
    pub text: String,
    /// Why it ended.
    pub finish: Finish,
    /// Tokens read, if the model says.
    pub prompt_tokens: Option<u64>,
    /// Tokens written, if the model says.
    pub completion_tokens: Option<u64>,
    /// How long the call took, in milliseconds; `None` for a batch, which has no time of its own for each call.
    pub latency_ms: Option<f64>,
    /// What it cost in US dollars, where a price is known and the server counts tokens.
    pub cost_usd: Option<f64>,
    /// What a server told of itself; `None` for a model in this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Served>,
    /// What is odd about this call, such as why its cost is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Reply {
    /// A reply of which nothing is known but its text; the model was done.
    ///
    /// ```
    /// use claimlab::model::Reply;
    /// let reply = Reply { completion_tokens: Some(1), ..Reply::new("Yes") };
    /// assert_eq!((reply.text.as_str(), reply.latency_ms, reply.cost_usd), ("Yes", None, None));
    /// ```
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            finish: Finish::Stop,
            prompt_tokens: None,
            completion_tokens: None,
            latency_ms: None,
            cost_usd: None,
            served: None,
            note: None,
        }
    }
}

/// What stood behind a server's name for a model when it replied. The same name may mean another model tomorrow, and
/// temperature 0 repeats itself only as long as the fingerprint stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// The model that replied, often with the date of its release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The server's name for its own configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_fingerprint: Option<String>,
    /// The class of service that was paid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// Tokens read from the provider's cache, part of the tokens read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens of hidden reasoning, part of the tokens written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
}

/// Follows the calls of one request one by one: the journal, which writes each down before anybody sees it, or a
/// progress bar. Its methods are called from any thread.
pub trait Watch: Sync {
    /// Asked right before the call for the prompt at `place` is made; `false` leaves it out, for somebody else
    /// is making it or it is answered already.
    fn begin(&self, place: usize) -> bool;

    /// Told as soon as the call has ended, once for every place that was begun.
    fn end(&self, place: usize, result: Result<Reply>);
}

/// Calls that an engine without `generate_watched` of its own makes together.
const TOGETHER: usize = 16;

/// A language model.
pub trait Generate: std::fmt::Debug + Send + Sync {
    /// One result a prompt, in the same order. A failed call fails alone; an interrupt is an error of kind
    /// `Interrupted` in the places of all prompts that were not answered.
    fn generate(&self, prompts: &[Prompt]) -> Vec<Result<Reply>>;

    /// The same, call by call: asks `watch` before each call and tells it each result at once. An engine that makes
    /// many calls, or long ones, implements this and lets [`generate_all`] do the rest.
    fn generate_watched(&self, prompts: &[Prompt], watch: &dyn Watch) {
        let mut places = 0..prompts.len();
        loop {
            let taken: Vec<usize> = places.by_ref().take(TOGETHER).collect();
            if taken.is_empty() {
                return;
            }
            let begun: Vec<usize> = taken.into_iter().filter(|place| watch.begin(*place)).collect();
            let asked: Vec<Prompt> = begun.iter().filter_map(|place| prompts.get(*place).cloned()).collect();
            if asked.is_empty() {
                continue;
            }
            for (place, result) in begun.iter().zip(counted(self.generate(&asked), asked.len())) {
                watch.end(*place, result);
            }
        }
    }

    /// Says exactly what it is: name, revision, settings. Part of a call's identity.
    fn spec(&self) -> Value;

    /// How many tokens the model would read for this prompt; `None` where its tokenizer is not at hand.
    fn prompt_tokens(&self, _prompt: &Prompt) -> Option<usize> {
        None
    }

    /// How many tokens prompt and reply may have together, if that is known.
    fn context_length(&self) -> Option<usize> {
        None
    }

    /// Natural logarithms of the probabilities that the reply begins with each of these texts.
    ///
    /// # Errors
    /// When the model does not tell probabilities, or the computation fails.
    fn log_probabilities(&self, _prompt: &Prompt, _continuations: &[String]) -> Result<Vec<f64>> {
        Err(Error::input("this model does not tell log-probabilities").help("use a local model"))
    }
}

/// A named language model, as cells hold it. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct LanguageModel {
    name: Arc<str>,
    engine: Arc<dyn Generate>,
}

impl LanguageModel {
    /// Names an implementation.
    #[must_use]
    pub fn new(name: &str, engine: Arc<dyn Generate>) -> Self {
        Self { name: name.into(), engine }
    }

    /// The name, as columns of tables have it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name and settings.
    #[must_use]
    pub fn spec(&self) -> Value {
        json!({"model": self.name.as_ref(), "settings": self.engine.spec()})
    }

    /// One result a prompt, in the same order; each failure is that prompt's alone.
    #[must_use]
    pub fn generate(&self, prompts: &[Prompt]) -> Vec<Result<Reply>> {
        counted(self.engine.generate(prompts), prompts.len())
    }

    /// The same; `tell` hears of every result as soon as there is one, from any thread. For progress.
    #[must_use]
    pub fn generate_telling(
        &self,
        prompts: &[Prompt],
        tell: &(dyn Fn(usize, &Result<Reply>) + Sync),
    ) -> Vec<Result<Reply>> {
        collect(prompts.len(), tell, |watch| self.engine.generate_watched(prompts, watch))
    }

    /// What does the work, for wrappers of this room.
    pub(super) fn engine(&self) -> &Arc<dyn Generate> {
        &self.engine
    }

    /// How many tokens the model would read for this prompt; `None` where its tokenizer is not at hand.
    #[must_use]
    pub fn prompt_tokens(&self, prompt: &Prompt) -> Option<usize> {
        self.engine.prompt_tokens(prompt)
    }

    /// How many tokens prompt and reply may have together, if that is known.
    #[must_use]
    pub fn context_length(&self) -> Option<usize> {
        self.engine.context_length()
    }

    /// Natural logarithms of the probabilities that the reply begins with each of these texts, for checkers that
    /// weigh "Yes" against "No".
    ///
    /// # Errors
    /// When the model does not tell probabilities, or the computation fails.
    pub fn log_probabilities(&self, prompt: &Prompt, continuations: &[&str]) -> Result<Vec<f64>> {
        let texts: Vec<String> = continuations.iter().map(|text| (*text).to_owned()).collect();
        self.engine.log_probabilities(prompt, &texts)
    }

    /// Asks one question, for a look at the model from a cell.
    ///
    /// # Errors
    /// When the call fails.
    pub fn ask(&self, question: &str) -> Result<String> {
        let reply = self.generate(&[Prompt::new(question)]).pop();
        reply.unwrap_or_else(|| Err(Error::new(crate::ErrorKind::Internal, "no reply"))).map(|reply| reply.text)
    }

    /// Shows the settings.
    pub fn evcxr_display(&self) {
        signal::display(None, None, &format!("{:#}", self.spec()));
    }
}

/// All results of an engine that implements `generate_watched`, in order.
#[must_use]
pub fn generate_all(engine: &dyn Generate, prompts: &[Prompt]) -> Vec<Result<Reply>> {
    collect(prompts.len(), &|_, _| (), |watch| engine.generate_watched(prompts, watch))
}

/// An implementation's fault must not shift replies to other prompts.
fn counted(replies: Vec<Result<Reply>>, expected: usize) -> Vec<Result<Reply>> {
    let found = replies.len();
    if found == expected {
        return replies;
    }
    let fault = Error::new(crate::ErrorKind::Internal, format!("the model answered {found} of {expected} prompts"));
    vec![Err(fault); expected]
}

struct Collected<'a> {
    results: Mutex<Vec<Option<Result<Reply>>>>,
    tell: &'a (dyn Fn(usize, &Result<Reply>) + Sync),
}

impl Watch for Collected<'_> {
    fn begin(&self, _: usize) -> bool {
        true
    }

    fn end(&self, place: usize, result: Result<Reply>) {
        (self.tell)(place, &result);
        if let Some(slot) = self.results.lock().unwrap_or_else(PoisonError::into_inner).get_mut(place) {
            *slot = Some(result);
        }
    }
}

fn collect(
    n: usize,
    tell: &(dyn Fn(usize, &Result<Reply>) + Sync),
    run: impl FnOnce(&dyn Watch),
) -> Vec<Result<Reply>> {
    let collected = Collected { results: Mutex::new(vec![None; n]), tell };
    run(&collected);
    let results = collected.results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let silent = || Err(Error::new(crate::ErrorKind::Internal, "the model left a prompt without a result"));
    results.into_iter().map(|result| result.unwrap_or_else(silent)).collect()
}
