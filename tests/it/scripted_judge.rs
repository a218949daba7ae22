//! A judge with known error rates: a test instrument, not a model. It looks the truth up in labels and errs on purpose.

use std::collections::HashMap;

use claimlab::judging::JudgingSet;
use claimlab::model::{Generate, Prompt, Reply};
use claimlab::table::texts;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// How often it errs.
#[derive(Debug, Clone, Copy)]
pub struct Rates {
    /// The chance to pass what is labelled PASS.
    pub pass_recall: f64,
    /// The chance to fail what is labelled FAIL.
    pub fail_recall: f64,
    /// The chance of a reply that is of no use: prose, or evidence that is not in the answer.
    pub broken: f64,
    /// The chance that a repeat is decided anew instead of as before.
    pub restless: f64,
}

#[derive(Debug)]
pub struct ScriptedJudge {
    name: String,
    /// A part of the prompt's instructions, and the rates under it; the first that is found counts.
    rates: Vec<(&'static str, Rates)>,
    /// The rates when it is asked about a list.
    batched: Rates,
    truth: HashMap<(String, String), bool>,
}

/// A number from 0 to 1 that depends on the parts alone.
fn chance(parts: &[&str]) -> f64 {
    let digest = Sha256::digest(parts.join("\u{1f}"));
    let bits = digest.iter().take(8).fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

impl ScriptedJudge {
    pub fn new(name: &str, set: &JudgingSet, rates: Vec<(&'static str, Rates)>, batched: Rates) -> Self {
        let frame = set.criteria().frame();
        let words: HashMap<String, (String, String)> = texts(frame, "criterion_id")
            .unwrap()
            .into_iter()
            .zip(texts(frame, "task_id").unwrap())
            .zip(texts(frame, "text").unwrap())
            .map(|((id, task), text)| (id.unwrap(), (task.unwrap(), text.unwrap())))
            .collect();
        let frame = set.attempts().frame();
        let (tasks, systems) = (texts(frame, "task_id").unwrap(), texts(frame, "system").unwrap());
        let attempts = claimlab::table::integers(frame, "attempt").unwrap();
        let answers: HashMap<(String, String, i64), String> = texts(frame, "answer")
            .unwrap()
            .into_iter()
            .enumerate()
            .filter_map(|(row, answer)| Some(((systems[row].clone()?, tasks[row].clone()?, attempts[row]?), answer?)))
            .collect();
        let frame = set.labels().frame();
        let (systems, labels) = (texts(frame, "system").unwrap(), texts(frame, "label").unwrap());
        let attempts = claimlab::table::integers(frame, "attempt").unwrap();
        let truth = texts(frame, "criterion_id")
            .unwrap()
            .into_iter()
            .enumerate()
            .filter_map(|(row, criterion)| {
                let (task, text) = words.get(&criterion?)?.clone();
                let answer = answers.get(&(systems[row].clone()?, task, attempts[row]?))?.clone();
                Some(((text, answer), labels[row].as_deref() == Some("PASS")))
            })
            .collect();
        Self { name: name.to_owned(), rates, batched, truth }
    }

    fn rates(&self, prompt: &Prompt) -> Rates {
        let system = &prompt.messages[0].content;
        self.rates.iter().find(|(part, _)| system.contains(part)).map(|(_, rates)| *rates).expect("a known prompt")
    }

    /// PASS or FAIL, or `None` for a broken reply.
    fn decide(&self, rates: Rates, criterion: &str, answer: &str, way: &str, attempt: u32) -> Option<bool> {
        let key = [self.name.as_str(), way, criterion, answer];
        let repeat = attempt.to_string();
        let with = |what: &'static str| {
            let mut parts = key.to_vec();
            parts.push(what);
            parts
        };
        let fresh = |what: &'static str| {
            let mut parts = with(what);
            parts.push(&repeat);
            chance(&parts)
        };
        if fresh("broken") < rates.broken {
            return None;
        }
        let draw = if fresh("restless") < rates.restless { fresh("error") } else { chance(&with("error")) };
        let truth = *self.truth.get(&(criterion.to_owned(), answer.to_owned())).expect("a labelled answer");
        let right = draw < if truth { rates.pass_recall } else { rates.fail_recall };
        Some(truth == right)
    }

    fn verdict(&self, passes: Option<bool>, answer: &str) -> Value {
        let quote: String = answer.lines().next().unwrap_or_default().chars().take(60).collect();
        match passes {
            Some(true) => json!({"evidence": [quote], "reason": "scripted: it is there", "verdict": "PASS"}),
            Some(false) => json!({"evidence": [], "reason": "scripted: it is missing", "verdict": "FAIL"}),
            None => json!({"evidence": ["words that no answer has"], "reason": "scripted", "verdict": "PASS"}),
        }
    }
}

impl Generate for ScriptedJudge {
    fn generate(&self, prompts: &[Prompt]) -> Vec<claimlab::Result<Reply>> {
        prompts
            .iter()
            .map(|prompt| {
                let told: Value = serde_json::from_str(&prompt.messages[1].content).expect("JSON");
                let answer = told["answer"].as_str().unwrap_or_default();
                let text = match told["criteria"].as_array() {
                    None => {
                        let criterion = told["criterion"].as_str().unwrap_or_default();
                        let label = chance(&[&prompt.messages[0].content]).to_string();
                        let passes = self.decide(
                            self.rates(prompt),
                            criterion,
                            answer,
                            &format!("single {label}"),
                            prompt.attempt,
                        );
                        self.verdict(passes, answer).to_string()
                    }
                    Some(list) => {
                        let verdicts: Vec<Value> = list
                            .iter()
                            .filter_map(|one| {
                                let criterion = one["criterion"].as_str().unwrap_or_default();
                                let passes = self.decide(self.batched, criterion, answer, "batched", prompt.attempt)?;
                                let mut verdict = self.verdict(Some(passes), answer);
                                verdict["criterion"] = one["number"].clone();
                                Some(verdict)
                            })
                            .collect();
                        json!({"verdicts": verdicts}).to_string()
                    }
                };
                let tokens = |text: &str| Some(text.len() as u64 / 4);
                let read: String = prompt.messages.iter().map(|message| message.content.as_str()).collect();
                Ok(Reply {
                    prompt_tokens: tokens(&read),
                    completion_tokens: tokens(&text),
                    latency_ms: Some(300.0 + text.len() as f64),
                    cost_usd: Some((read.len() + 4 * text.len()) as f64 * 1e-7),
                    ..Reply::new(text)
                })
            })
            .collect()
    }

    fn spec(&self) -> Value {
        json!({"kind": "scripted judge, a test instrument", "name": self.name})
    }
}

/// What the lenient judge does under the baseline: passes too much.
pub const LENIENT_BASELINE: Rates = Rates { pass_recall: 0.95, fail_recall: 0.70, broken: 0.01, restless: 0.2 };
/// What it does when it is told to look for every part.
pub const LENIENT_EVERY_PART: Rates = Rates { pass_recall: 0.92, fail_recall: 0.86, broken: 0.01, restless: 0.2 };
/// What the strict judge does: fails too much.
pub const STRICT_BASELINE: Rates = Rates { pass_recall: 0.72, fail_recall: 0.94, broken: 0.01, restless: 0.2 };
/// What both do with lists: pass more, and forget some.
pub const BATCHED: Rates = Rates { pass_recall: 0.97, fail_recall: 0.55, broken: 0.03, restless: 0.2 };

/// Words that only the prompt `every_part` has.
const EVERY_PART: &str = "Take the requirement apart";

/// The lenient and the strict judge of the bundled cassette.
pub fn judges(set: &JudgingSet) -> [ScriptedJudge; 2] {
    [
        ScriptedJudge::new(
            "scripted-lenient",
            set,
            vec![(EVERY_PART, LENIENT_EVERY_PART), ("", LENIENT_BASELINE)],
            BATCHED,
        ),
        ScriptedJudge::new("scripted-strict", set, vec![("", STRICT_BASELINE)], BATCHED),
    ]
}
