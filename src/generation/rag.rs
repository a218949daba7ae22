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
/// What a row says whose prompt nobody could measure. An overlong one is then the server's error, and a failure row.
const UNMEASURED: &str = "no tokenizer at hand: whether the prompt fits the model was not measured";

/// A prompt, how many passages were left out of it, and what is odd about it.
struct Fitted {
    prompt: Prompt,
    dropped: usize,
    note: Option<String>,
}

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

    /// The prompt with as many of the best passages as the model can read.
    fn prompt(&self, asked: &Asked) -> Result<Fitted> {
        let template = self.template.clone().unwrap_or_else(|| Template::built_in(asked.language));
        let with =
            |n: usize| template.prompt(&asked.question, asked.chunks.get(..n).unwrap_or_default(), self.max_tokens);
        let all = asked.chunks.len();
        let unmeasured = |prompt: Prompt| Fitted { prompt, dropped: 0, note: Some(UNMEASURED.to_owned()) };
        let Some(context) = self.model.context_length() else { return Ok(unmeasured(with(all))) };
        for kept in (0..=all).rev() {
            let prompt = with(kept);
            let Some(tokens) = self.model.prompt_tokens(&prompt) else { return Ok(unmeasured(with(all))) };
            if tokens + self.max_tokens as usize <= context {
                if kept == 0 && all > 0 {
                    break;
                }
                return Ok(Fitted { prompt, dropped: all - kept, note: None });
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
                Ok(Fitted { prompt, dropped, note }) => {
                    prompts.push(prompt);
                    places.push((place, dropped, note));
                }
                Err(error) => {
                    tell();
                    results[place] = Some(Err(error));
                }
            }
        }
        let replies = self.model.generate_telling(&prompts, &|_, reply| {
            // What an interrupt left unanswered is not done.
            if !reply.as_ref().is_err_and(|error| error.kind() == ErrorKind::Interrupted) {
                tell();
            }
        });
        for ((place, dropped, note), reply) in places.into_iter().zip(replies) {
            results[place] = Some(reply.and_then(|reply| {
                let (text, finish) = answer(&reply.text, reply.finish)?;
                let served = reply.served.unwrap_or_default();
                let notes: Vec<String> = note.into_iter().chain(reply.note).collect();
                Ok(Answered {
                    text,
                    finish,
                    prompt_tokens: reply.prompt_tokens,
                    completion_tokens: reply.completion_tokens,
                    latency_ms: reply.latency_ms,
                    cost_usd: reply.cost_usd,
                    dropped,
                    served_model: served.model,
                    system_fingerprint: served.system_fingerprint,
                    note: (!notes.is_empty()).then(|| notes.join("; ")),
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Generate, Reply, Served};

    /// Counts words where it has a context, and repeats how many passages it was given.
    #[derive(Debug)]
    struct Double {
        context: Option<usize>,
        counts: bool,
    }

    impl Generate for Double {
        fn generate(&self, prompts: &[Prompt]) -> Vec<Result<Reply>> {
            let reply = |prompt: &Prompt| Reply {
                served: Some(Served { model: Some("m-2026".into()), ..Served::default() }),
                note: Some("odd".into()),
                ..Reply::new(format!("{} passages", prompt.messages[0].content.matches('[').count()))
            };
            prompts.iter().map(|prompt| Ok(reply(prompt))).collect()
        }

        fn spec(&self) -> Value {
            json!("double")
        }

        fn prompt_tokens(&self, prompt: &Prompt) -> Option<usize> {
            self.counts.then(|| prompt.messages[0].content.split_whitespace().count())
        }

        fn context_length(&self) -> Option<usize> {
            self.context
        }
    }

    fn answered(context: Option<usize>, counts: bool) -> Result<Answered> {
        let model = LanguageModel::new("double", Arc::new(Double { context, counts }));
        let template = Template::parse("{context} {question}")?;
        let asked = Asked {
            question_id: "q".into(),
            question: "one two three".into(),
            language: Language::English,
            chunks: vec!["a b c d e".into(); 3],
            reference_answer: String::new(),
        };
        Rag::new(&model, Some(template), 10).answer(&asked)
    }

    #[test]
    fn passages_that_do_not_fit_are_dropped_and_counted() -> Result<()> {
        // A passage is six words with its number, the question three, the answer ten.
        for (context, passages, dropped) in [(31, "3 passages", 0), (30, "2 passages", 1), (19, "1 passages", 2)] {
            let found = answered(Some(context), true)?;
            assert_eq!((found.text.as_str(), found.dropped), (passages, dropped), "{context}");
            assert_eq!(found.note.as_deref(), Some("odd"));
            assert_eq!(found.served_model.as_deref(), Some("m-2026"));
        }
        assert_eq!(answered(Some(18), true).unwrap_err().kind(), ErrorKind::Limit);
        Ok(())
    }

    #[test]
    fn what_nobody_could_measure_is_said() -> Result<()> {
        for (context, counts) in [(None, true), (Some(4), false)] {
            let found = answered(context, counts)?;
            assert_eq!((found.text.as_str(), found.dropped), ("3 passages", 0));
            let note = found.note.unwrap_or_default();
            assert!(note.contains("not measured") && note.ends_with("; odd"), "{note}");
        }
        Ok(())
    }
}
