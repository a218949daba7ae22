//! A language model as an extractor.

use serde_json::{Value, json};

use super::Statement;
use super::extract::{ExtractClaims, Passage};
use super::prompts::{self, Form};
use super::triples::{Extracted, Lost, json_in, list_of, read_triples};
use crate::error::{ErrorKind, Result};
use crate::model::{Finish, LanguageModel, Prompt, Reply};
use crate::text::sentences;

/// The longest reply; a cut reply is asked for once more with twice as much.
const TOKENS: u32 = 2048;
/// Characters of a text that one call is about; a longer one is read in parts of whole sentences.
const PART: usize = 12_000;

#[derive(Debug)]
pub(super) struct ModelExtractor {
    model: LanguageModel,
    form: Form,
}

impl ModelExtractor {
    pub(super) fn new(model: &LanguageModel, form: Form) -> Self {
        Self { model: model.clone(), form }
    }

    fn prompt(&self, part: &Passage, retry: Option<&Extracted>) -> Prompt {
        let (mut text, schema) = prompts::extraction(part, self.form);
        let mut tokens = TOKENS;
        if let Some(failed) = retry {
            text.push_str(prompts::again(part.language));
            if failed.lost.iter().any(|lost| lost.reason == CUT) {
                tokens *= 2;
            }
        }
        let prompt = Prompt::new(text).max_tokens(tokens);
        match schema {
            Some(schema) => prompt.schema(schema),
            None => prompt,
        }
    }

    fn read(&self, reply: &Reply) -> Extracted {
        let mut found = match self.form {
            Form::Triples | Form::TripleLines => read_triples(&reply.text),
            Form::Sentences => read_sentences(&reply.text),
        };
        if reply.finish == Finish::Length {
            // What would have followed is unknown, even where all that is there could be read.
            found.lost.insert(0, Lost::new(CUT, &reply.text));
        }
        found
    }

    fn ask(&self, parts: &[&Passage], retry: Option<&[&Extracted]>) -> Result<Vec<Extracted>> {
        let prompts: Vec<Prompt> = parts
            .iter()
            .enumerate()
            .map(|(place, part)| self.prompt(part, retry.and_then(|all| all.get(place)).copied()))
            .collect();
        let read = |reply: Result<Reply>| match reply {
            Ok(reply) => Ok(self.read(&reply)),
            Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
            Err(error) => Ok(Extracted::failed(error.to_string(), "")),
        };
        self.model.generate(&prompts).into_iter().map(read).collect()
    }
}

/// Why a reply that reached its limit counts as incomplete.
const CUT: &str = "the reply reached its limit of tokens";

/// Claims as sentences: a list of texts in JSON.
fn read_sentences(reply: &str) -> Extracted {
    let mut found = Extracted::default();
    let value = json_in(reply);
    match value.as_ref().and_then(|value| list_of(value)) {
        Some(list) => {
            for one in list {
                match one.as_str().filter(|text| text.chars().any(char::is_alphanumeric)) {
                    Some(text) => found.push(Statement::sentence(text)),
                    None => found.lost.push(Lost::new("not a sentence", &one.to_string())),
                }
            }
        }
        None => found.lost.push(Lost::new("no list of sentences in the reply", reply)),
    }
    found
}

/// A text in parts of whole sentences; a sentence longer than a part stands alone.
fn parts(passage: &Passage) -> Vec<Passage> {
    if passage.text.chars().count() <= PART {
        return vec![passage.clone()];
    }
    let mut found: Vec<String> = Vec::new();
    for sentence in sentences(&passage.text, passage.language) {
        match found.last_mut() {
            Some(part) if part.chars().count() + sentence.chars().count() < PART => {
                part.push(' ');
                part.push_str(sentence);
            }
            _ => found.push(sentence.to_owned()),
        }
    }
    found.into_iter().map(|text| Passage { text, ..passage.clone() }).collect()
}

impl ExtractClaims for ModelExtractor {
    fn extract(&self, passages: &[Passage]) -> Result<Vec<Extracted>> {
        let split: Vec<Vec<Passage>> = passages.iter().map(parts).collect();
        let all: Vec<&Passage> = split.iter().flatten().collect();
        let mut found = self.ask(&all, None)?;
        // What could not be read is asked for once more; a failed call was retried by the model already.
        let again: Vec<usize> =
            (0..found.len()).filter(|place| found[*place].lost.iter().any(|lost| !lost.raw.is_empty())).collect();
        let asked: Vec<&Passage> = again.iter().map(|place| all[*place]).collect();
        let failed: Vec<&Extracted> = again.iter().map(|place| &found[*place]).collect();
        let second = self.ask(&asked, Some(&failed))?;
        for (place, better) in again.into_iter().zip(second) {
            if better.lost.is_empty() {
                found[place] = better;
            }
        }
        let mut rest = found.into_iter();
        Ok(split
            .iter()
            .map(|parts| {
                let mut whole = Extracted::default();
                for part in rest.by_ref().take(parts.len()) {
                    part.claims.into_iter().for_each(|claim| whole.push(claim));
                    whole.lost.extend(part.lost);
                }
                whole
            })
            .collect())
    }

    fn spec(&self) -> Value {
        let form = match self.form {
            Form::Triples => "triples",
            Form::TripleLines => "triple lines",
            Form::Sentences => "sentences",
        };
        json!({"kind": "language model", "model": self.model.spec(), "form": form, "prompts": prompts::VERSION})
    }
}
