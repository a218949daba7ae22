//! A language model for tests: whoever writes the test writes its replies.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::generate::{Generate, LanguageModel, Prompt, Reply, Watch, generate_all};
use crate::error::Result;
use crate::signal;

type Script = dyn Fn(&Prompt) -> Result<String> + Send + Sync;

struct Scripted(Box<Script>);

impl std::fmt::Debug for Scripted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Scripted")
    }
}

impl LanguageModel {
    /// A test double, not a model: `script` writes the reply to each prompt, or fails it.
    ///
    /// ```
    /// use claimlab::Error;
    /// use claimlab::model::{LanguageModel, Prompt};
    /// let model = LanguageModel::scripted("echo", |prompt: &Prompt| match prompt.messages.last() {
    ///     Some(message) => Ok(message.content.to_uppercase()),
    ///     None => Err(Error::input("no message")),
    /// });
    /// assert_eq!(model.ask("quid?")?, "QUID?");
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn scripted(name: &str, script: impl Fn(&Prompt) -> Result<String> + Send + Sync + 'static) -> Self {
        Self::new(name, Arc::new(Scripted(Box::new(script))))
    }
}

impl Generate for Scripted {
    fn generate(&self, prompts: &[Prompt]) -> Vec<Result<Reply>> {
        generate_all(self, prompts)
    }

    fn generate_watched(&self, prompts: &[Prompt], watch: &dyn Watch) {
        for (place, prompt) in prompts.iter().enumerate() {
            if !watch.begin(place) {
                continue;
            }
            if let Err(interrupted) = signal::check("the replies so far are kept where the model is journaled") {
                watch.end(place, Err(interrupted.clone()));
                for rest in place + 1..prompts.len() {
                    if watch.begin(rest) {
                        watch.end(rest, Err(interrupted.clone()));
                    }
                }
                return;
            }
            let began = Instant::now();
            let reply = (self.0)(prompt)
                .map(|text| Reply { latency_ms: Some(began.elapsed().as_secs_f64() * 1000.0), ..Reply::new(text) });
            watch.end(place, reply);
        }
    }

    fn spec(&self) -> Value {
        json!({"kind": "scripted test double"})
    }
}
