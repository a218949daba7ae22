//! The embedded baseline as a checker.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use serde_json::{Value, json};

use super::check::{CheckClaims, Finding, Request};
use super::lexical;
use crate::error::Result;
use crate::text::Language;

/// Texts that are kept read; with more, the memory is emptied.
const READ: usize = 4096;

/// Text and language → the text as the baseline reads it.
type Premises = HashMap<(Arc<str>, Language), Arc<lexical::Premise>>;

/// A chunk is a premise for every system and claim; it is read once.
#[derive(Debug, Default)]
pub(super) struct LexicalChecker {
    read: Mutex<Premises>,
}

impl LexicalChecker {
    fn premises(&self, requests: &[Request]) -> Premises {
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() > READ {
            known.clear();
        }
        let mut missing: Vec<(&Arc<str>, Language)> = requests
            .iter()
            .map(|request| (&request.premise, request.language))
            .filter(|(text, language)| !known.contains_key(&((*text).clone(), *language)))
            .collect();
        missing.sort_unstable_by_key(|(text, language)| (*text, language.code()));
        missing.dedup();
        let read: Vec<_> = missing
            .par_iter()
            .map(|(text, language)| (((*text).clone(), *language), Arc::new(lexical::Premise::new(text, *language))))
            .collect();
        known.extend(read);
        let of = |request: &Request| {
            let key = (request.premise.clone(), request.language);
            known.get(&key).cloned().map(|premise| (key, premise))
        };
        requests.iter().filter_map(of).collect()
    }
}

impl CheckClaims for LexicalChecker {
    fn check(&self, requests: &[Request]) -> Result<Vec<Vec<Finding>>> {
        let premises = self.premises(requests);
        let one = |request: &Request| {
            let premise = premises.get(&(request.premise.clone(), request.language));
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
