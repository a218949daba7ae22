//! A local language model as a checker that weighs the three labels instead of writing one.

use serde_json::{Value, json};

use super::check::{CheckClaims, Finding, Request};
use super::prompts;
use crate::error::{ErrorKind, Result};
use crate::model::{LanguageModel, Probabilities, Prompt};
use crate::table::Label;

#[derive(Debug)]
pub(super) struct LikelihoodChecker {
    model: LanguageModel,
}

impl LikelihoodChecker {
    pub(super) fn new(model: &LanguageModel) -> Self {
        Self { model: model.clone() }
    }
}

/// The label whose text is likeliest, with the three shares of their total.
fn weigh(logarithms: &[f64]) -> Finding {
    let [entailment, neutral, contradiction] = *logarithms else {
        return Finding::failed(format!("the model weighed {} of 3 labels", logarithms.len()));
    };
    let most = entailment.max(neutral).max(contradiction);
    if logarithms.iter().any(|one| one.is_nan() || *one > 0.0) || most == f64::NEG_INFINITY {
        return Finding::failed(format!("the model gave {logarithms:?} for log-probabilities"));
    }
    let weights = [entailment, neutral, contradiction].map(|one| (one - most).exp());
    let total: f64 = weights.iter().sum();
    let [entailment, neutral, contradiction] = weights.map(|weight| weight / total);
    // Of equals the first of entailment, neutral, contradiction.
    let label = if entailment >= neutral && entailment >= contradiction {
        Label::Entailment
    } else if neutral >= contradiction {
        Label::Neutral
    } else {
        Label::Contradiction
    };
    Finding {
        label: Ok(label),
        reason: None,
        probabilities: Some(Probabilities { entailment, neutral, contradiction }),
    }
}

impl CheckClaims for LikelihoodChecker {
    fn check(&self, requests: &[Request]) -> Result<Vec<Vec<Finding>>> {
        let labels = Label::ALL.map(Label::as_str);
        let mut found = Vec::with_capacity(requests.len());
        for request in requests {
            let mut findings = Vec::with_capacity(request.claims.len());
            for claim in &request.claims {
                crate::signal::check("the batches of checks before this one are kept")?;
                let prompt = Prompt::new(prompts::single(request, claim, false));
                match self.model.log_probabilities(&prompt, &labels) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                    Err(error) => findings.push(Finding::failed(error.to_string())),
                    Ok(logarithms) => findings.push(weigh(&logarithms)),
                }
            }
            found.push(findings);
        }
        Ok(found)
    }

    fn spec(&self) -> Value {
        json!({"kind": "log-probabilities of the labels", "model": self.model.spec(), "prompts": prompts::VERSION})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_label_wins_and_numbers_that_are_none_fail() {
        let found = weigh(&[-1.0, -3.0, -2.0]);
        assert_eq!(found.label, Ok(Label::Entailment));
        let shares = found.probabilities.unwrap();
        assert!((shares.entailment + shares.neutral + shares.contradiction - 1.0).abs() < 1e-12);
        assert!((shares.entailment / shares.contradiction - 1.0_f64.exp()).abs() < 1e-9);
        assert_eq!(weigh(&[-900.0, -800.0, f64::NEG_INFINITY]).label, Ok(Label::Neutral));
        for bad in [&[-1.0, f64::NAN, -2.0][..], &[0.5, -1.0, -1.0], &[f64::NEG_INFINITY; 3], &[-1.0]] {
            assert!(weigh(bad).label.is_err(), "{bad:?}");
        }
    }
}
