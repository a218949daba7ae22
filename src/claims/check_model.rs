//! A language model as a checker: one claim a call, or several numbered ones.

use serde_json::{Value, json};

use super::Statement;
use super::check::{CheckClaims, Finding, Request};
use super::labels::{Said, read_label, read_numbered_labels};
use super::prompts;
use crate::error::{ErrorKind, Result};
use crate::model::{LanguageModel, Prompt, Reply};

/// Tokens that a verdict may take, and a verdict with its reason.
const TOKENS: u32 = 24;
const TOKENS_EXPLAINED: u32 = 160;
/// Calls that are handed to the model together.
const BATCH: usize = 256;

#[derive(Debug)]
pub(super) struct ModelChecker {
    model: LanguageModel,
    joint: usize,
    rationale: bool,
}

/// A group of claims of one request: what one call is about.
struct Group<'a> {
    place: usize,
    first: usize,
    request: &'a Request,
    claims: &'a [Statement],
}

impl ModelChecker {
    pub(super) fn new(model: &LanguageModel, joint: usize, rationale: bool) -> Self {
        Self { model: model.clone(), joint: joint.max(1), rationale }
    }

    fn tokens(&self, claims: usize) -> u32 {
        let each = if self.rationale { TOKENS_EXPLAINED } else { TOKENS };
        64 + each * u32::try_from(claims).unwrap_or(64)
    }

    fn prompt(&self, group: &Group<'_>) -> Prompt {
        let tokens = self.tokens(group.claims.len());
        let text = match group.claims {
            [claim] => prompts::single(group.request, claim, self.rationale),
            claims => prompts::joint(group.request, claims, self.rationale),
        };
        Prompt::new(text).max_tokens(tokens)
    }

    /// Asks about every group; claims without a verdict come back as the reason why.
    fn ask(&self, groups: &[Group<'_>]) -> Result<Vec<Vec<Finding>>> {
        let mut found = Vec::with_capacity(groups.len());
        for batch in groups.chunks(BATCH) {
            let prompts: Vec<Prompt> = batch.iter().map(|group| self.prompt(group)).collect();
            for (group, reply) in batch.iter().zip(self.model.generate(&prompts)) {
                match reply {
                    Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                    Err(error) => found.push(vec![Finding::failed(error.to_string()); group.claims.len()]),
                    Ok(reply) => found.push(read(&reply, group.claims.len())),
                }
            }
        }
        Ok(found)
    }
}

/// The verdicts of one reply.
fn read(reply: &Reply, n: usize) -> Vec<Finding> {
    let mut numbered = read_numbered_labels(&reply.text, n);
    (1..=n)
        .map(|number| {
            let said = if n == 1 { read_label(&reply.text) } else { None };
            match said.or_else(|| numbered.remove(&number)) {
                Some(Said { label, reason }) => Finding::label(label, reason),
                None => Finding::failed(unread(reply, number, n)),
            }
        })
        .collect()
}

fn unread(reply: &Reply, number: usize, n: usize) -> String {
    let start: String = reply.text.chars().take(200).collect();
    let of = if n == 1 { String::new() } else { format!(" for claim {number} of {n}") };
    format!("no verdict{of} in the reply ({}): {start:?}", reply.finish.as_str())
}

impl CheckClaims for ModelChecker {
    fn check(&self, requests: &[Request]) -> Result<Vec<Vec<Finding>>> {
        let mut groups = Vec::new();
        for (place, request) in requests.iter().enumerate() {
            for (part, claims) in request.claims.chunks(self.joint).enumerate() {
                groups.push(Group { place, first: part * self.joint, request, claims });
            }
        }
        let mut findings: Vec<Vec<Finding>> =
            requests.iter().map(|request| vec![Finding::failed("not asked"); request.claims.len()]).collect();
        for (group, found) in groups.iter().zip(self.ask(&groups)?) {
            findings[group.place][group.first..group.first + found.len()].clone_from_slice(&found);
        }
        // What a joint reply left out is asked about once more, alone.
        let mut alone = Vec::new();
        for group in groups.iter().filter(|group| group.claims.len() > 1) {
            for (offset, claim) in group.claims.iter().enumerate() {
                if findings[group.place][group.first + offset].label.is_err() {
                    let claims = std::slice::from_ref(claim);
                    alone.push(Group { first: group.first + offset, claims, ..*group });
                }
            }
        }
        for (group, found) in alone.iter().zip(self.ask(&alone)?) {
            findings[group.place][group.first..=group.first].clone_from_slice(&found);
        }
        Ok(findings)
    }

    fn spec(&self) -> Value {
        json!({"kind": "language model", "model": self.model.spec(), "claims a call": self.joint,
            "rationale": self.rationale, "prompts": prompts::VERSION})
    }
}
