//! The embedded baseline as a checker.

use std::collections::HashMap;

use rayon::prelude::*;
use serde_json::{Value, json};

use super::check::{CheckClaims, Finding, Request};
use super::lexical;
use crate::error::Result;
use crate::text::Language;

#[derive(Debug)]
pub(super) struct LexicalChecker;

impl CheckClaims for LexicalChecker {
    fn check(&self, requests: &[Request]) -> Result<Vec<Vec<Finding>>> {
        // A text is a premise many times; it is read once.
        let mut texts: Vec<(&str, Language)> =
            requests.iter().map(|request| (request.premise.as_ref(), request.language)).collect();
        texts.sort_unstable_by_key(|(text, language)| (*text, language.code()));
        texts.dedup();
        let premises: HashMap<(&str, Language), lexical::Premise> = texts
            .par_iter()
            .map(|(text, language)| ((*text, *language), lexical::Premise::new(text, *language)))
            .collect();
        let one = |request: &Request| {
            let premise = premises.get(&(request.premise.as_ref(), request.language));
            let check = |claim: &super::Statement| match premise {
                Some(premise) => {
                    let verdict = premise.check(claim.text());
                    Finding::label(verdict.label, Some(verdict.reason))
                }
                None => Finding::failed("the text was not read"),
            };
            request.claims.iter().map(check).collect()
        };
        Ok(requests.par_iter().map(one).collect())
    }

    fn spec(&self) -> Value {
        json!({"kind": "lexical baseline"})
    }
}
