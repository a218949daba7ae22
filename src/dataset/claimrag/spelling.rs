//! The spellings of personas, categories, correctness and labels that files are known or likely to have.

use serde_json::{Map, Value};

use crate::table::Label;

/// Letters and digits alone, in lower case: `Jurisdiction/time-specific` and `jurisdiction_time_specific` are one.
fn plain(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn choose(text: &str, table: &[(&'static str, &[&str])]) -> Option<&'static str> {
    let plain = plain(text);
    table.iter().find(|(_, spellings)| spellings.contains(&&*plain)).map(|(name, _)| *name)
}

/// `citizen`, `civil_officer` or `legal_expert`; the paper's P1 to P3.
pub(super) fn persona(text: &str) -> Option<&'static str> {
    choose(
        text,
        &[
            (
                "citizen",
                &[
                    "citizen",
                    "citizens",
                    "layperson",
                    "laypersoncitizen",
                    "citizenlayperson",
                    "layman",
                    "laypeople",
                    "generalpublic",
                    "citoyen",
                    "p1",
                ],
            ),
            (
                "civil_officer",
                &["civilofficer", "civilofficers", "civilservant", "publicofficer", "officer", "fonctionnaire", "p2"],
            ),
            (
                "legal_expert",
                &[
                    "legalexpert",
                    "legalexperts",
                    "expert",
                    "lawyer",
                    "legalprofessional",
                    "juriste",
                    "expertjuridique",
                    "p3",
                ],
            ),
        ],
    )
}

/// The four categories; the paper's CG1 to CG4.
pub(super) fn category(text: &str) -> Option<&'static str> {
    choose(
        text,
        &[
            ("general_legal_research", &["generallegalresearch", "generalresearch", "generallegal", "general", "cg1"]),
            ("factual_recall", &["factualrecall", "factual", "recall", "cg2"]),
            ("false_premise", &["falsepremise", "falsepremises", "cg3"]),
            (
                "jurisdiction_time_specific",
                &[
                    "jurisdictiontimespecific",
                    "jurisdictionandtimespecific",
                    "jurisdictionortimespecific",
                    "jurisdictionspecific",
                    "timespecific",
                    "jurisdictiontime",
                    "jurisdictionalandtimespecific",
                    "timejurisdictionspecific",
                    "jurisdictionspecifictimespecific",
                    "cg4",
                ],
            ),
        ],
    )
}

/// `correct`, `partially_correct` or `incorrect`.
pub(super) fn correctness(text: &str) -> Option<&'static str> {
    choose(
        text,
        &[
            ("correct", &["correct", "true", "valid"]),
            ("partially_correct", &["partiallycorrect", "partlycorrect", "partial", "partially"]),
            ("incorrect", &["incorrect", "false", "wrong", "invalid"]),
        ],
    )
}

/// `single` or `multi`.
pub(super) fn hops(text: &str) -> Option<&'static str> {
    choose(text, &[("single", &["single", "singlehop", "1"]), ("multi", &["multi", "multihop", "multiple", "2"])])
}

/// A label, whatever its case.
pub(in crate::dataset) fn label(text: &str) -> Option<Label> {
    match &*plain(text) {
        "entailment" | "entailed" | "entails" => Some(Label::Entailment),
        "neutral" => Some(Label::Neutral),
        "contradiction" | "contradicted" | "contradictory" | "contradicts" => Some(Label::Contradiction),
        _ => None,
    }
}

const PERSONA_KEYS: [&str; 8] =
    ["user_persona", "persona", "target_user", "target_persona", "user_type", "user_profile", "user", "role"];

/// The key that holds a record's persona: one of the likely names, or else a field whose value is a persona.
pub(super) fn persona_key(record: &Map<String, Value>) -> Option<&str> {
    let has = |key: &str| record.get_key_value(key).map(|(key, _)| key.as_str());
    PERSONA_KEYS.iter().find_map(|key| has(key)).or_else(|| {
        let is_free = |key: &str| !["query", "gt_answer", "relevant_chunk", "query_id"].contains(&key);
        let names = |value: &Value| value.as_str().is_some_and(|text| persona(text).is_some());
        record.iter().find(|(key, value)| is_free(key) && names(value)).map(|(key, _)| key.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_that_differ_in_case_and_punctuation_are_one() {
        for text in ["Jurisdiction/time-specific", "jurisdiction_time_specific", "Jurisdiction / Time Specific", "CG4"]
        {
            assert_eq!(category(text), Some("jurisdiction_time_specific"), "{text}");
        }
        assert_eq!(persona("Civil Officer"), Some("civil_officer"));
        assert_eq!(persona("Layperson/Citizen"), Some("citizen"));
        assert_eq!(correctness("Partially Correct"), Some("partially_correct"));
        assert_eq!((label("ENTAILMENT "), label("Doesn't Make Sense")), (Some(Label::Entailment), None));
        assert_eq!((persona("banana"), category(""), hops("three")), (None, None, None));
    }

    #[test]
    fn the_persona_is_found_under_a_key_that_nobody_foresaw() {
        let record: Map<String, Value> =
            serde_json::from_str(r#"{"query": "lawyer", "intended_audience": "Legal expert"}"#).unwrap();
        assert_eq!(persona_key(&record), Some("intended_audience"));
        let none: Map<String, Value> = serde_json::from_str(r#"{"query": "lawyer"}"#).unwrap();
        assert_eq!(persona_key(&none), None);
    }
}
