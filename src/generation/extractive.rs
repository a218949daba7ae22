//! The extractive baseline.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::{Answer, Answered, Asked};
use crate::error::Result;
use crate::text::{Language, content_words, sentences};

/// Sentences quoted at most.
const QUOTED: usize = 3;
/// Share of the question's weight that the best sentence must cover, or else the answer is an abstention.
const ENOUGH: f64 = 0.18;
/// Share of the best sentence's score that a further one must reach.
const ALSO: f64 = 0.6;

/// Quotes what shares most with the question, weighted by how rare a word is among the retrieved sentences.
#[derive(Debug)]
pub(super) struct Extractive;

/// What the baseline says when it finds nothing; `text::is_abstention` knows these words.
fn abstention(language: Language) -> &'static str {
    match language {
        Language::English => "I cannot answer this question from the retrieved provisions.",
        Language::French => "Je ne peux pas répondre à cette question à partir des dispositions retrouvées.",
    }
}

impl Answer for Extractive {
    fn answer(&self, asked: &Asked) -> Result<Answered> {
        let mut seen = HashSet::new();
        let found: Vec<&str> = asked
            .chunks
            .iter()
            .flat_map(|chunk| sentences(chunk, asked.language))
            .filter(|sentence| seen.insert(*sentence))
            .collect();
        let words: Vec<HashSet<String>> =
            found.iter().map(|sentence| content_words(sentence, asked.language).into_iter().collect()).collect();
        let mut frequency: HashMap<&str, f64> = HashMap::new();
        for word in words.iter().flatten() {
            *frequency.entry(word).or_default() += 1.0;
        }
        let n = found.len() as f64;
        let weight = |word: &str| (1.0 + n / (1.0 + frequency.get(word).copied().unwrap_or(0.0))).ln();
        let question: HashSet<String> = content_words(&asked.question, asked.language).into_iter().collect();
        let whole: f64 = question.iter().map(|word| weight(word)).sum();
        let mut scored: Vec<(usize, f64)> = words
            .iter()
            .enumerate()
            // A heading shares words with the question and says nothing.
            .filter(|(_, words)| words.len() >= 5)
            .map(|(place, words)| {
                let shared: f64 = question.iter().filter(|word| words.contains(*word)).map(|word| weight(word)).sum();
                (place, if whole > 0.0 { shared / whole } else { 0.0 })
            })
            .collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let Some(&(_, best)) = scored.first().filter(|(_, score)| *score >= ENOUGH) else {
            let text = abstention(asked.language).to_owned();
            return Ok(Answered { text, finish: "abstained", ..Answered::default() });
        };
        let mut chosen: Vec<usize> =
            scored.iter().take(QUOTED).filter(|(_, score)| *score >= best * ALSO).map(|(place, _)| *place).collect();
        chosen.sort_unstable();
        let quoted: Vec<&str> = chosen.iter().filter_map(|place| found.get(*place).copied()).collect();
        Ok(Answered { text: quoted.join(" "), finish: "stop", ..Answered::default() })
    }

    fn spec(&self) -> Value {
        json!({"kind": "extractive baseline", "quoted": QUOTED, "enough": ENOUGH, "also": ALSO})
    }
}
