//! A language model that answers from passages.

use serde_json::{Value, json};

use super::prompt::{Template, answer};
use super::{Answer, Answered, Asked};
use crate::error::{Error, ErrorKind, Result};
use crate::lab::Fingerprint;
use crate::model::{LanguageModel, Prompt};
use crate::text::Language;

/// The longest answer, in the model's tokens.
pub(super) const MAX_TOKENS: u32 = 512;

#[derive(Debug)]
pub(super) struct Rag {
    model: LanguageModel,
    /// A user's template, for all languages; `None` is ours.
    template: Option<Template>,
    max_tokens: u32,
}

impl Rag {
    pub(super) fn new(model: &LanguageModel, template: Option<Template>, max_tokens: u32) -> Self {
        Self { model: model.clone(), template, max_tokens }
    }

    /// The prompt with as many of the best passages as the model can read, and how many were dropped.
    fn prompt(&self, asked: &Asked) -> Result<(Prompt, usize)> {
        let template = self.template.clone().unwrap_or_else(|| Template::built_in(asked.language));
        let with =
            |n: usize| template.prompt(&asked.question, asked.chunks.get(..n).unwrap_or_default(), self.max_tokens);
        let all = asked.chunks.len();
        let Some(context) = self.model.context_length() else { return Ok((with(all), 0)) };
        let fits = |prompt: &Prompt| {
            self.model.prompt_tokens(prompt).is_none_or(|tokens| tokens + self.max_tokens as usize <= context)
        };
        for kept in (0..=all).rev() {
            let prompt = with(kept);
            if fits(&prompt) {
                if kept == 0 && all > 0 {
                    break;
                }
                return Ok((prompt, all - kept));
            }
        }
        Err(Error::new(
            ErrorKind::Limit,
            format!(
                "not even one passage fits into the {context} tokens of {} with an answer of {}",
                self.model.name(),
                self.max_tokens
            ),
        )
        .help("cut smaller chunks, or shorten the answer"))
    }
}

impl Answer for Rag {
    fn answer(&self, asked: &Asked) -> Result<Answered> {
        let all = self.answer_all(std::slice::from_ref(asked), &|| ());
        all.into_iter().next().unwrap_or_else(|| Err(Error::new(ErrorKind::Internal, "no answer")))
    }

    fn answer_all(&self, asked: &[Asked], tell: &(dyn Fn() + Sync)) -> Vec<Result<Answered>> {
        let mut results: Vec<Option<Result<Answered>>> = vec![None; asked.len()];
        let (mut prompts, mut places) = (Vec::new(), Vec::new());
        for (place, one) in asked.iter().enumerate() {
            match self.prompt(one) {
                Ok((prompt, dropped)) => {
                    prompts.push(prompt);
                    places.push((place, dropped));
                }
                Err(error) => {
                    tell();
                    results[place] = Some(Err(error));
                }
            }
        }
        let replies = self.model.generate_telling(&prompts, &|_, _| tell());
        for ((place, dropped), reply) in places.into_iter().zip(replies) {
            results[place] = Some(reply.and_then(|reply| {
                let (text, finish) = answer(&reply.text, reply.finish)?;
                Ok(Answered {
                    text,
                    finish,
                    prompt_tokens: reply.prompt_tokens,
                    completion_tokens: reply.completion_tokens,
                    latency_ms: Some(reply.latency_ms),
                    cost_usd: reply.cost_usd,
                    dropped,
                })
            }));
        }
        let lost = || Err(Error::new(ErrorKind::Internal, "a question was left without an answer"));
        results.into_iter().map(|result| result.unwrap_or_else(lost)).collect()
    }

    fn spec(&self) -> Value {
        let wording = match &self.template {
            Some(template) => template.text(),
            None => {
                [Language::English, Language::French].map(|language| Template::built_in(language).text()).join("\n")
            }
        };
        json!({"kind": "language model", "model": self.model.spec(), "max_tokens": self.max_tokens, "temperature": 0,
            "template": Fingerprint::new().text(&wording).finish()})
    }
}
