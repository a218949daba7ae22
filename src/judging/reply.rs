//! Reading a judge's reply. Nothing is guessed: what is not the asked form is a failure with its reason.

use serde_json::{Map, Value};

use super::evidence::stands_in;
use crate::model::{Finish, Reply};
use crate::table::Verdict;

/// What became of one judgement.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Judgement {
    pub verdict: Option<Verdict>,
    pub failure: Option<String>,
    /// What the judge said where it could not be credited.
    pub said: Option<Verdict>,
    pub evidence: Vec<String>,
    pub reason: Option<String>,
}

impl Judgement {
    pub fn failed(why: impl Into<String>) -> Self {
        Self { failure: Some(why.into()), ..Self::default() }
    }
}

/// Reads a reply about one criterion.
pub(super) fn read_single(reply: &Reply, answer: &str) -> Judgement {
    match object(reply) {
        Ok(object) => judgement(&object, &[], answer).unwrap_or_else(Judgement::failed),
        Err(why) => Judgement::failed(why),
    }
}

/// Reads a reply about `count` numbered criteria: one judgement each, in their order.
pub(super) fn read_batched(reply: &Reply, count: usize, answer: &str) -> Vec<Judgement> {
    let list = object(reply).and_then(|mut object| match (object.remove("verdicts"), object.keys().next()) {
        (_, Some(other)) => Err(format!("unasked field {other:?}")),
        (Some(Value::Array(list)), None) => Ok(list),
        _ => Err("no list \"verdicts\"".to_owned()),
    });
    let list = match list {
        Ok(list) => list,
        Err(why) => return vec![Judgement::failed(why); count],
    };
    let mut found: Vec<Option<Judgement>> = vec![None; count];
    for value in list {
        let Value::Object(object) = value else {
            return vec![Judgement::failed("a verdict is no object"); count];
        };
        let Some(number) = object.get("criterion").and_then(Value::as_u64) else {
            return vec![Judgement::failed("a verdict does not say which criterion"); count];
        };
        let place = (number as usize).checked_sub(1).and_then(|place| found.get_mut(place));
        // A number that was never given means that the list is out of step; no verdict in it can be trusted.
        let Some(place) = place else {
            return vec![Judgement::failed(format!("a verdict on criterion {number}, which was not asked")); count];
        };
        *place = Some(match place.take() {
            None => judgement(&object, &["criterion"], answer).unwrap_or_else(Judgement::failed),
            Some(_) => Judgement::failed("two verdicts on this criterion"),
        });
    }
    found.into_iter().map(|one| one.unwrap_or_else(|| Judgement::failed("no verdict on this criterion"))).collect()
}

fn object(reply: &Reply) -> Result<Map<String, Value>, String> {
    if reply.finish == Finish::Length {
        return Err("the reply was cut at the limit of tokens".to_owned());
    }
    match serde_json::from_str(reply.text.trim()) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("the reply is no JSON object".to_owned()),
        Err(error) => Err(format!("the reply is not JSON: {error}")),
    }
}

fn judgement(object: &Map<String, Value>, also: &[&str], answer: &str) -> Result<Judgement, String> {
    let asked = ["evidence", "reason", "verdict"];
    if let Some(other) = object.keys().find(|key| !asked.contains(&key.as_str()) && !also.contains(&key.as_str())) {
        return Err(format!("unasked field {other:?}"));
    }
    let text =
        |name: &str| object.get(name).and_then(Value::as_str).ok_or_else(|| format!("no text in the field {name:?}"));
    let said = text("verdict")?;
    let said = match said {
        "PASS" => Verdict::Pass,
        "FAIL" => Verdict::Fail,
        other => return Err(format!("the verdict is {other:?}, neither PASS nor FAIL")),
    };
    let reason = text("reason")?.to_owned();
    let evidence: Vec<String> = object
        .get("evidence")
        .and_then(Value::as_array)
        .and_then(|list| list.iter().map(|quote| quote.as_str().map(str::to_owned)).collect())
        .ok_or_else(|| "no list of texts in the field \"evidence\"".to_owned())?;
    let failure = if let Some(absent) = evidence.iter().find(|quote| !stands_in(quote, answer)) {
        Some(format!("evidence that is not in the answer: {absent:?}"))
    } else if said == Verdict::Pass && evidence.is_empty() {
        Some("a PASS without evidence".to_owned())
    } else {
        None
    };
    let credited = failure.is_none();
    Ok(Judgement {
        verdict: credited.then_some(said),
        said: (!credited).then_some(said),
        failure,
        evidence,
        reason: Some(reason),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &str) -> Reply {
        Reply::new(text)
    }

    const ANSWER: &str = "The notice period is 30 days.";

    #[test]
    fn only_the_asked_form_with_true_evidence_is_a_verdict() {
        let pass = read_single(&reply(r#"{"evidence":["30 days"],"reason":"r","verdict":"PASS"}"#), ANSWER);
        assert_eq!((pass.verdict, pass.failure), (Some(Verdict::Pass), None));
        let fail = read_single(&reply(r#"{"evidence":[],"reason":"silent","verdict":"FAIL"}"#), ANSWER);
        assert_eq!(fail.verdict, Some(Verdict::Fail));
        for (text, why) in [
            (r#"{"evidence":["60 days"],"reason":"r","verdict":"PASS"}"#, "not in the answer"),
            (r#"{"evidence":["60 days"],"reason":"r","verdict":"FAIL"}"#, "not in the answer"),
            (r#"{"evidence":[],"reason":"r","verdict":"PASS"}"#, "without evidence"),
            (r#"{"evidence":["30 days"],"reason":"r","verdict":"pass"}"#, "neither PASS nor FAIL"),
            (r#"{"evidence":["30 days"],"verdict":"PASS"}"#, "reason"),
            (r#"{"evidence":"30 days","reason":"r","verdict":"PASS"}"#, "evidence"),
            (r#"{"evidence":["30 days"],"reason":"r","verdict":"PASS","score":5}"#, "unasked"),
            ("PASS", "not JSON"),
            ("```json\n{}\n```", "not JSON"),
            ("[]", "no JSON object"),
            ("", "not JSON"),
        ] {
            let found = read_single(&reply(text), ANSWER);
            assert_eq!(found.verdict, None, "{text}");
            assert!(found.failure.as_deref().unwrap().contains(why), "{text}: {:?}", found.failure);
        }
        let said = read_single(&reply(r#"{"evidence":["60 days"],"reason":"r","verdict":"PASS"}"#), ANSWER);
        assert_eq!(said.said, Some(Verdict::Pass));
        let cut = Reply { finish: Finish::Length, ..reply("{}") };
        assert!(read_single(&cut, ANSWER).failure.unwrap().contains("cut"));
    }

    #[test]
    fn a_batched_reply_is_matched_by_number_and_gaps_are_failures() {
        let one = |number: u64, verdict: &str| {
            format!(r#"{{"criterion":{number},"evidence":["30 days"],"reason":"r","verdict":"{verdict}"}}"#)
        };
        let list = |items: &[String]| reply(&format!(r#"{{"verdicts":[{}]}}"#, items.join(",")));
        let found = read_batched(&list(&[one(3, "FAIL"), one(1, "PASS")]), 3, ANSWER);
        assert_eq!(found[0].verdict, Some(Verdict::Pass));
        assert_eq!(found[1].failure.as_deref(), Some("no verdict on this criterion"));
        assert_eq!(found[2].verdict, Some(Verdict::Fail));
        let twice = read_batched(&list(&[one(1, "PASS"), one(1, "FAIL"), one(2, "FAIL")]), 2, ANSWER);
        assert_eq!(twice[0].failure.as_deref(), Some("two verdicts on this criterion"));
        assert_eq!(twice[1].verdict, Some(Verdict::Fail));
        for bad in
            [list(&[one(1, "PASS"), one(9, "PASS")]), list(&[one(0, "PASS")]), reply("{\"verdicts\":{}}"), reply("no")]
        {
            assert!(read_batched(&bad, 2, ANSWER).iter().all(|one| one.verdict.is_none() && one.failure.is_some()));
        }
    }
}
