//! Batches: requests to a file that is handed to the provider, results from a file that comes back.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::chat::RemoteChat;
use super::endpoint::{Endpoint, Imported};
use super::failure::quoted;
use super::message::{Answer, answer, request, served, usage};
use crate::error::{Error, ErrorKind, Result};
use crate::lab::{Entry, Journal, Lab};
use crate::model::{Generate, Prompt, Reply};

/// Requests that a provider takes in one file.
const MOST: usize = 50_000;

impl Endpoint {
    /// Writes the calls that the lab's journal does not hold yet as a batch file (JSONL with `custom_id`), for providers
    /// that take files at half the price. Returns how many there are. Upload the file, and give what comes back to
    /// [`Self::import_batch`].
    ///
    /// # Errors
    /// When there are more than 50,000, or the file cannot be written.
    pub fn export_batch(&self, model: &str, prompts: &[Prompt], lab: &Lab, file: impl AsRef<Path>) -> Result<usize> {
        let chat = RemoteChat::new(self, model)?;
        let journal = lab.journal()?;
        let mut lines = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for prompt in prompts {
            let key = Journal::key(model, &chat.spec(), &json!(prompt));
            if journal.find(&key)?.is_none() && seen.insert(key.clone()) {
                let body = request(model, prompt, &chat.capability, self, 1);
                lines.push(json!({"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}));
            }
        }
        if lines.len() > MOST {
            return Err(
                Error::input(format!("{} calls; a batch file holds {MOST}", lines.len())).help("export them in parts")
            );
        }
        let file = file.as_ref();
        let mut text = String::new();
        for line in &lines {
            text.push_str(&line.to_string());
            text.push('\n');
        }
        let written = std::fs::File::create(file).and_then(|mut open| open.write_all(text.as_bytes()));
        written.map_err(|error| Error::file(file, &error))?;
        Ok(lines.len())
    }

    /// Reads a batch's results into the lab's journal, where the journaled model finds them. The prompts are the ones
    /// that were exported; results of others are failures, and so is what the provider could not answer.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn import_batch(
        &self,
        model: &str,
        prompts: &[Prompt],
        lab: &Lab,
        results: impl AsRef<Path>,
    ) -> Result<Imported> {
        let chat = RemoteChat::new(self, model)?;
        let journal = lab.journal()?;
        let settings = chat.spec();
        let known: HashMap<String, &Prompt> =
            prompts.iter().map(|prompt| (Journal::key(model, &settings, &json!(prompt)), prompt)).collect();
        let path = results.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
        let mut imported = Imported::default();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let read = serde_json::from_str::<Value>(line)
                .map_err(|error| Error::input(error.to_string()))
                .and_then(|line| Self::reply(&line, &known));
            match read {
                Ok((key, prompt, reply)) => {
                    if journal.find(&key)?.is_none() {
                        journal.record(Entry {
                            key,
                            model: model.to_owned(),
                            settings: settings.clone(),
                            request: json!(prompt),
                            reply: json!(reply),
                        })?;
                    }
                    imported.recorded += 1;
                }
                Err(error) => imported.failures.push(format!("line {}: {error}", number + 1)),
            }
        }
        Ok(imported)
    }

    fn reply<'a>(line: &Value, known: &HashMap<String, &'a Prompt>) -> Result<(String, &'a Prompt, Reply)> {
        let key = line.get("custom_id").and_then(Value::as_str).unwrap_or_default();
        let prompt = *known.get(key).ok_or_else(|| Error::input(format!("{key:?} is none of these prompts")))?;
        let body = line.pointer("/response/body").unwrap_or(&Value::Null);
        let status = line.pointer("/response/status_code").and_then(Value::as_u64).unwrap_or(0);
        if status != 200 {
            let told = line
                .get("error")
                .filter(|error| !error.is_null())
                .or_else(|| body.get("error"))
                .unwrap_or(&Value::Null);
            return Err(Error::new(ErrorKind::Model, format!("status {status}: {}", quoted(&told.to_string(), None))));
        }
        let Answer::Text { text, finish } = answer(body, prompt)? else {
            return Err(Error::new(ErrorKind::Model, "the model wrote nothing within its limit of tokens"));
        };
        let used = usage(body);
        // The price of a batch is not the table's, and a call in it has no time of its own.
        let reply = Reply {
            finish,
            prompt_tokens: used.map(|used| used.prompt),
            completion_tokens: used.map(|used| used.completion),
            served: Some(served(body)),
            note: Some("from a batch: cost and latency are not known".to_owned()),
            ..Reply::new(text)
        };
        Ok((key.to_owned(), prompt, reply))
    }
}
