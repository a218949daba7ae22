//! Several checkers, one label.

use serde_json::{Value, json};

use super::Merge;
use super::check::{CheckClaims, Checker, Finding, Request};
use crate::error::Result;
use crate::table::Label;

#[derive(Debug)]
pub(super) struct Vote {
    members: Vec<Checker>,
}

impl Vote {
    pub(super) fn new(members: &[Checker]) -> Self {
        Self { members: members.to_vec() }
    }

    fn decide(&self, votes: &[&Finding]) -> Finding {
        let labels: Vec<Option<Label>> = votes.iter().map(|vote| vote.label.as_ref().ok().copied()).collect();
        let told: Vec<String> = self
            .members
            .iter()
            .zip(votes)
            .map(|(member, vote)| match &vote.label {
                Ok(label) => format!("{}: {label}", member.name()),
                Err(why) => format!("{}: failed ({why})", member.name()),
            })
            .collect();
        match Merge::Majority.of(&labels) {
            Some(label) => Finding::label(label, Some(told.join("; "))),
            None => Finding::failed(format!("no majority: {}", told.join("; "))),
        }
    }
}

impl CheckClaims for Vote {
    fn check(&self, requests: &[Request]) -> Result<Vec<Vec<Finding>>> {
        let votes: Vec<Vec<Vec<Finding>>> =
            self.members.iter().map(|member| member.findings(requests)).collect::<Result<_>>()?;
        let one = |place: usize, claim: usize| {
            let own: Vec<&Finding> = votes.iter().map(|member| &member[place][claim]).collect();
            self.decide(&own)
        };
        Ok(requests
            .iter()
            .enumerate()
            .map(|(place, request)| (0..request.claims.len()).map(|claim| one(place, claim)).collect())
            .collect())
    }

    fn spec(&self) -> Value {
        json!({"kind": "majority vote", "members": self.members.iter().map(Checker::spec).collect::<Vec<_>>()})
    }
}
