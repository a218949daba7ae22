//! The seam for language models: prompts in, replies out.

use std::sync::Arc;

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
    /// How long the call took, in milliseconds.
    pub latency_ms: f64,
    /// What it cost in US dollars, where a price is known.
    pub cost_usd: Option<f64>,
}

/// A language model.
pub trait Generate: std::fmt::Debug + Send + Sync {
    /// One result a prompt, in the same order. A failed call fails alone; an interrupt is an error of kind
    /// `Interrupted` in the places of all prompts that were not answered.
    fn generate(&self, prompts: &[Prompt]) -> Vec<Result<Reply>>;

    /// Says exactly what it is: name, revision, settings. Part of a call's identity.
    fn spec(&self) -> Value;
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
        let mut replies = self.engine.generate(prompts);
        let n = replies.len();
        if n != prompts.len() {
            // An implementation's fault must not shift replies to other prompts.
            replies = prompts
                .iter()
                .map(|_| {
                    Err(Error::new(
                        crate::ErrorKind::Internal,
                        format!("{} answered {n} of {} prompts", self.name, prompts.len()),
                    ))
                })
                .collect();
        }
        replies
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
