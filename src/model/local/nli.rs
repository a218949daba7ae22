//! Local sequence classifiers for natural language inference.

use std::sync::Arc;

use serde_json::Value;

use super::encoder::{Encoder, Head, Input};
use super::failed;
use super::text::Text;
use super::worker::Worker;
use crate::error::{Error, Result};
use crate::model::{Classify, Pair, Probabilities};
use crate::signal;

/// Tokens that go through the model together.
const TOGETHER: usize = 2048;
/// Tokens that neighbouring windows of a long premise share.
const OVERLAP: usize = 32;

pub(super) struct Model {
    pub(super) encoder: Encoder,
    pub(super) head: Head,
}

/// Where each label stands among the logits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Order {
    entailment: usize,
    neutral: usize,
    contradiction: usize,
}

impl Order {
    /// From the config's `id2label`: models differ in it.
    pub(super) fn from_config(config: &Value) -> Result<Self> {
        let names = config.get("id2label").and_then(Value::as_object);
        let place = |label: &str| {
            names?.iter().find_map(|(id, name)| {
                let same = name.as_str()?.eq_ignore_ascii_case(label);
                if same { id.parse().ok() } else { None }
            })
        };
        match (names.map(serde_json::Map::len), place("entailment"), place("neutral"), place("contradiction")) {
            (Some(3), Some(entailment), Some(neutral), Some(contradiction)) => {
                Ok(Self { entailment, neutral, contradiction })
            }
            _ => Err(Error::input(format!(
                "config.json: id2label is {}, expected entailment, neutral and contradiction",
                config.get("id2label").unwrap_or(&Value::Null)
            ))
            .help("the order of labels is never guessed: write it into the model's config.json, as its card says")),
        }
    }

    fn probabilities(self, logits: &[f32]) -> Option<Probabilities> {
        let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weights: Vec<f64> = logits.iter().map(|logit| f64::from(logit - top).exp()).collect();
        let sum: f64 = weights.iter().sum();
        let share = |place: usize| weights.get(place).map(|weight| weight / sum).filter(|share| share.is_finite());
        Some(Probabilities {
            entailment: share(self.entailment)?,
            neutral: share(self.neutral)?,
            contradiction: share(self.contradiction)?,
        })
    }
}

pub(super) struct LocalClassifier {
    pub(super) worker: Arc<Worker<Model>>,
    pub(super) text: Arc<Text>,
    pub(super) order: Order,
    pub(super) longest: usize,
    pub(super) spec: Value,
}

impl std::fmt::Debug for LocalClassifier {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "LocalClassifier {}", self.spec)
    }
}

impl LocalClassifier {
    /// The pair as the model reads it, or several if the premise is too long to be read at once.
    fn windows(&self, pair: &Pair) -> Result<Vec<Input>> {
        let whole = self.encode(&pair.premise, &pair.hypothesis)?;
        if whole.ids.len() <= self.longest {
            return Ok(vec![whole]);
        }
        let failed = |error| Error::input(format!("tokenizing a premise: {error}"));
        let premise = self.text.tokenizer.encode(pair.premise.as_str(), false).map_err(failed)?;
        let around = whole.ids.len() - premise.get_ids().len();
        let room = self.longest.saturating_sub(around + 2);
        if room <= OVERLAP {
            return Err(Error::input(format!(
                "the hypothesis takes {around} of the {} tokens that the model reads: no room for a premise",
                self.longest
            )));
        }
        let offsets = premise.get_offsets();
        let mut windows = Vec::new();
        let mut from = 0;
        while from < offsets.len() {
            let to = (from + room).min(offsets.len());
            let start = offsets.get(from).map_or(0, |span| span.0);
            let end = offsets.get(to - 1).map_or(pair.premise.len(), |span| span.1);
            let part = pair.premise.get(start..end).unwrap_or(&pair.premise);
            let mut input = self.encode(part, &pair.hypothesis)?;
            // A word cut in two may give a token more than it had inside the whole.
            input.ids.truncate(self.longest);
            input.kinds.truncate(self.longest);
            windows.push(input);
            if to == offsets.len() {
                break;
            }
            from = to - OVERLAP;
        }
        Ok(windows)
    }

    fn encode(&self, premise: &str, hypothesis: &str) -> Result<Input> {
        let encoded = self.text.tokenizer.encode((premise, hypothesis), true);
        let encoding = encoded.map_err(|error| Error::input(format!("tokenizing a pair: {error}")))?;
        Ok(Input { ids: encoding.get_ids().to_vec(), kinds: encoding.get_type_ids().to_vec() })
    }

    fn batch(&self, inputs: Vec<Input>) -> Result<Vec<Probabilities>> {
        let order = self.order;
        let logits = self.worker.call(move |model| -> Result<Vec<Vec<f32>>> {
            let lengths: Vec<usize> = inputs.iter().map(|input| input.ids.len()).collect();
            let states = model.encoder.forward(&inputs).map_err(failed)?;
            model.head.forward(&states, &lengths).and_then(|logits| logits.to_vec2()).map_err(failed)
        })??;
        let odd = || Error::new(crate::ErrorKind::Model, "the classifier's logits are not three numbers");
        logits.iter().map(|row| order.probabilities(row).ok_or_else(odd)).collect()
    }
}

/// One answer from a long premise's windows: entailed by one is entailed; else contradicted by one is contradicted; else
/// neutral (as RefChecker merges passages).
fn merged(windows: &[Probabilities]) -> Option<Probabilities> {
    let best = |is: fn(&Probabilities) -> bool, size: fn(&Probabilities) -> f64| {
        windows.iter().filter(|one| is(one)).max_by(|a, b| size(a).total_cmp(&size(b))).copied()
    };
    best(|p| p.entailment >= p.neutral && p.entailment >= p.contradiction, |p| p.entailment)
        .or_else(|| best(|p| p.contradiction > p.neutral, |p| p.contradiction))
        .or_else(|| best(|_| true, |p| p.neutral))
}

impl Classify for LocalClassifier {
    fn classify(&self, pairs: &[Pair]) -> Vec<Result<Probabilities>> {
        let mut failures: Vec<Option<Error>> = vec![None; pairs.len()];
        let mut windows: Vec<(usize, Input)> = Vec::new();
        for (place, pair) in pairs.iter().enumerate() {
            match self.windows(pair) {
                Ok(several) => windows.extend(several.into_iter().map(|input| (place, input))),
                Err(error) => failures[place] = Some(error),
            }
        }
        windows.sort_by_key(|(_, input)| input.ids.len());
        let mut found: Vec<Vec<Probabilities>> = vec![Vec::new(); pairs.len()];
        let mut rest = windows.as_slice();
        while !rest.is_empty() {
            let mut tokens = 0;
            let fits = rest.iter().take_while(|(_, input)| {
                tokens += input.ids.len();
                tokens <= TOGETHER
            });
            let (batch, after) = rest.split_at(fits.count().max(1));
            let inputs = batch.iter().map(|(_, input)| input.clone()).collect();
            let answered =
                signal::check("verdicts so far are kept where they are stored").and_then(|()| self.batch(inputs));
            match answered {
                Ok(probabilities) => {
                    for ((place, _), one) in batch.iter().zip(probabilities) {
                        found[*place].push(one);
                    }
                    rest = after;
                }
                Err(error) => {
                    // An interrupt ends everything that was not answered; another failure is that batch's alone.
                    let ends = error.kind() == crate::ErrorKind::Interrupted;
                    for (place, _) in if ends { rest } else { batch } {
                        failures[*place] = Some(error.clone());
                    }
                    rest = if ends { &[] } else { after };
                }
            }
        }
        failures
            .into_iter()
            .zip(found)
            .map(|(failure, windows)| match failure {
                Some(error) => Err(error),
                None => merged(&windows).ok_or_else(|| Error::input("the pair has no tokens")),
            })
            .collect()
    }

    fn spec(&self) -> Value {
        self.spec.clone()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_labels_comes_from_the_config() -> Result<()> {
        let order =
            Order::from_config(&json!({"id2label": {"0": "CONTRADICTION", "1": "neutral", "2": "Entailment"}}))?;
        assert_eq!(order, Order { entailment: 2, neutral: 1, contradiction: 0 });
        for odd in
            [json!({"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}), json!({"0": "entailment", "1": "not_entailment"})]
        {
            assert!(Order::from_config(&json!({"id2label": odd})).unwrap_err().to_string().contains("never guessed"));
        }
        Ok(())
    }

    #[test]
    fn one_entailing_window_entails() {
        let p = |entailment, neutral, contradiction| Probabilities { entailment, neutral, contradiction };
        let (yes, maybe, no) = (p(0.6, 0.3, 0.1), p(0.1, 0.8, 0.1), p(0.0, 0.1, 0.9));
        assert_eq!(merged(&[maybe, no, yes]), Some(yes));
        assert_eq!(merged(&[maybe, no]), Some(no));
        assert_eq!(merged(&[maybe]), Some(maybe));
        assert_eq!(merged(&[]), None);
    }
}
