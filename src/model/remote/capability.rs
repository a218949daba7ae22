//! What a model's interface accepts. Names decide first, then what the server itself refuses.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::endpoint::Parameters;

/// How one model wants to be asked.
#[derive(Debug)]
pub(super) struct Capability {
    /// The name of the limit on tokens.
    limit: Mutex<&'static str>,
    /// Fields that are left out.
    without: Mutex<BTreeSet<String>>,
}

/// One line a family: what a name begins with, the name of the limit, and what must not be sent.
const FAMILIES: [(&str, &str, &[&str]); 7] = [
    ("gpt-5-chat", "max_completion_tokens", &[]),
    ("gpt-5", "max_completion_tokens", REASONING),
    ("o1", "max_completion_tokens", REASONING),
    ("o3", "max_completion_tokens", REASONING),
    ("o4", "max_completion_tokens", REASONING),
    ("gpt-", "max_completion_tokens", &[]),
    ("", "max_tokens", &[]),
];

/// Models that think first take no sampling parameters.
const REASONING: &[&str] = &["temperature", "top_p", "seed", "stop"];

impl Capability {
    pub(super) fn of(model: &str, parameters: &Parameters) -> Self {
        // A provider's name may stand before the model's.
        let bare = model.rsplit('/').next().unwrap_or(model);
        let (limit, without) = FAMILIES
            .iter()
            .find(|(begin, _, _)| bare.starts_with(begin))
            .map_or(("max_tokens", &[][..]), |(_, limit, without)| (*limit, *without));
        // From GPT-5.1 on, a model that is told not to think takes sampling parameters again.
        let is_thoughtless = parameters.get("reasoning_effort").and_then(Value::as_str) == Some("none");
        let without = if is_thoughtless { &[][..] } else { without };
        let without = without.iter().map(|name| (*name).to_owned()).collect();
        Self { limit: Mutex::new(limit), without: Mutex::new(without) }
    }

    pub(super) fn limit(&self) -> &'static str {
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn accepts(&self, field: &str) -> bool {
        !self.without.lock().unwrap_or_else(PoisonError::into_inner).contains(field)
    }

    /// Learns from a refusal that names a field; false when there is nothing to change.
    pub(super) fn learn(&self, field: &str) -> bool {
        let other = match field {
            "max_tokens" => Some("max_completion_tokens"),
            "max_completion_tokens" => Some("max_tokens"),
            _ => None,
        };
        if let Some(other) = other {
            let mut limit = self.limit.lock().unwrap_or_else(PoisonError::into_inner);
            // Each spelling is tried once; a server that refuses both is not asked again and again.
            let mut without = self.without.lock().unwrap_or_else(PoisonError::into_inner);
            *limit = other;
            return without.insert(format!("tried {field}"));
        }
        let known = ["temperature", "top_p", "seed", "stop", "response_format"];
        known.contains(&field) && self.without.lock().unwrap_or_else(PoisonError::into_inner).insert(field.to_owned())
    }

    /// Whether replies are greedy when temperature 0 is asked for: what a report must say.
    pub(super) fn is_greedy(&self) -> bool {
        self.accepts("temperature")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn families_differ_in_what_they_accept() {
        let told = |model: &str| {
            let capability = Capability::of(model, &Parameters::new());
            (capability.limit(), capability.accepts("temperature"))
        };
        assert_eq!(told("gpt-5-mini"), ("max_completion_tokens", false));
        assert_eq!(told("gpt-5-chat-latest"), ("max_completion_tokens", true));
        assert_eq!(told("gpt-4o-2024-08-06"), ("max_completion_tokens", true));
        assert_eq!(told("openai/o3-mini"), ("max_completion_tokens", false));
        assert_eq!(told("meta-llama/Llama-3.1-8B-Instruct"), ("max_tokens", true));
        let told_not_to_think = Parameters::from([("reasoning_effort".to_owned(), json!("none"))]);
        assert!(Capability::of("gpt-5.1", &told_not_to_think).accepts("temperature"));
    }

    #[test]
    fn a_refusal_is_learnt_once() {
        let capability = Capability::of("local", &Parameters::new());
        assert!(capability.learn("temperature") && !capability.learn("temperature"));
        assert!(capability.learn("max_tokens") && capability.limit() == "max_completion_tokens");
        assert!(capability.learn("max_completion_tokens") && !capability.learn("max_tokens"));
        assert!(!capability.learn("messages"));
    }
}
