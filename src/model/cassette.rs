//! A journal file as a model: recorded replies, and nothing else.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::generate::{Generate, LanguageModel, Prompt, Reply};
use crate::error::{Error, ErrorKind, Result};
use crate::lab::Journal;

#[derive(Debug)]
struct Cassette {
    name: Arc<str>,
    path: PathBuf,
    settings: Value,
    /// Replies by the digest of the prompt.
    replies: HashMap<String, Reply>,
}

impl LanguageModel {
    /// Replays the calls to the model `name` that a journal file holds (a copy of a lab's `calls.jsonl`). A call that is
    /// not in it is an error that says so; nothing is ever asked of a real model, and the file is not changed.
    ///
    /// # Errors
    /// When the file is missing or unreadable, holds no call to `name`, or holds calls to several models of that name.
    pub fn cassette(name: &str, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if !path.is_file() {
            return Err(Error::new(ErrorKind::NotFound, format!("there is no cassette {}", path.display()))
                .help("record one: ask a journaled model, then copy calls.jsonl from the lab's folder"));
        }
        let entries = Journal::read(path)?;
        let mut settings: Option<Value> = None;
        let mut replies = HashMap::new();
        let mut others: Vec<String> = Vec::new();
        for entry in entries {
            if entry.model != name {
                if !others.contains(&entry.model) {
                    others.push(entry.model);
                }
                continue;
            }
            if settings.as_ref().is_some_and(|known| *known != entry.settings) {
                return Err(Error::input(format!(
                    "{}: {name:?} stands for two models whose settings differ",
                    path.display()
                ))
                .help("keep the lines of one of them"));
            }
            let unreadable = |error| Error::input(format!("{}: call {}: {error}", path.display(), entry.key));
            let prompt: Prompt = serde_json::from_value(entry.request).map_err(unreadable)?;
            let reply: Reply = serde_json::from_value(entry.reply).map_err(unreadable)?;
            replies.insert(digest(&prompt), reply);
            settings = Some(entry.settings);
        }
        let Some(settings) = settings else {
            return Err(Error::input(format!(
                "{}: no call to {name:?}; the models in it are {others:?}",
                path.display()
            )));
        };
        let engine = Cassette { name: name.into(), path: path.to_owned(), settings, replies };
        Ok(Self::new(name, Arc::new(engine)))
    }
}

fn digest(prompt: &Prompt) -> String {
    Journal::key("", &Value::Null, &json!(prompt))
}

impl Generate for Cassette {
    fn generate(&self, prompts: &[Prompt]) -> Vec<Result<Reply>> {
        prompts
            .iter()
            .map(|prompt| {
                self.replies.get(&digest(prompt)).cloned().ok_or_else(|| {
                    let asked = prompt.messages.last().map_or("", |message| message.content.as_str());
                    let start: String = asked.chars().take(80).collect();
                    Error::new(
                        ErrorKind::NotFound,
                        format!(
                            "the cassette {} has no reply of {:?} to this call (attempt {}): {start:?}",
                            self.path.display(),
                            self.name,
                            prompt.attempt
                        ),
                    )
                    .help("record it again with the changed prompt")
                })
            })
            .collect()
    }

    fn spec(&self) -> Value {
        json!({"cassette of": self.settings})
    }
}
