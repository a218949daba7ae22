//! A language model behind the journal: what was answered once is never asked again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::generate::{Generate, LanguageModel, Prompt, Reply, Watch, generate_all};
use crate::error::{Error, ErrorKind, Result};
use crate::lab::{Claim, Entry, Journal, Lab};
use crate::signal;

/// How often a call that another process is making is looked for.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug)]
struct Journaled {
    name: Arc<str>,
    engine: Arc<dyn Generate>,
    journal: Journal,
}

impl LanguageModel {
    /// The same model with a memory: every reply is in the lab's journal before it is returned, and a call that is in
    /// the journal is answered from there. Failures are not recorded; attempts are kept apart. Several processes may
    /// share the lab: a call that one of them is making is waited for, not made twice.
    ///
    /// # Errors
    /// When the journal cannot be opened.
    ///
    /// ```
    /// # use claimlab::prelude::*;
    /// use claimlab::model::LanguageModel;
    /// # let folder = tempfile::tempdir().map_err(|e| Error::io("temporary folder", &e))?;
    /// let lab = Lab::at(folder.path())?;
    /// let model = LanguageModel::scripted("echo", |_| Ok("once".into())).journaled(&lab)?;
    /// assert_eq!(model.ask("What?")?, "once");
    /// assert_eq!(model.ask("What?")?, "once");
    /// assert_eq!(lab.journal()?.len(), 1);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn journaled(&self, lab: &Lab) -> Result<Self> {
        let engine = Journaled { name: self.name().into(), engine: self.engine().clone(), journal: lab.journal()? };
        Ok(Self::new(self.name(), Arc::new(engine)))
    }
}

/// One distinct call and the places of all prompts that ask for it.
struct Call<'a> {
    key: String,
    prompt: &'a Prompt,
    places: Vec<usize>,
}

impl Generate for Journaled {
    fn generate(&self, prompts: &[Prompt]) -> Vec<Result<Reply>> {
        generate_all(self, prompts)
    }

    fn generate_watched(&self, prompts: &[Prompt], watch: &dyn Watch) {
        let settings = self.engine.spec();
        let mut missing = Vec::new();
        for mut call in distinct(&self.name, &settings, prompts) {
            call.places.retain(|place| watch.begin(*place));
            if call.places.is_empty() {
                continue;
            }
            match self.recorded(&call.key) {
                Ok(None) => missing.push(call),
                Ok(Some(reply)) => deliver(watch, &call, &Ok(reply)),
                Err(error) => deliver(watch, &call, &Err(error)),
            }
        }
        while !missing.is_empty() {
            let ask = Ask {
                of: self,
                settings: &settings,
                calls: &missing,
                watch,
                claims: Mutex::default(),
                elsewhere: Mutex::default(),
                stop: Mutex::default(),
            };
            let asked: Vec<Prompt> = missing.iter().map(|call| call.prompt.clone()).collect();
            self.engine.generate_watched(&asked, &ask);
            let stop = ask.stop.into_inner().unwrap_or_else(PoisonError::into_inner);
            let mut elsewhere = ask.elsewhere.into_inner().unwrap_or_else(PoisonError::into_inner);
            elsewhere.sort_unstable();
            let mut place = 0;
            missing.retain(|_| {
                place += 1;
                elsewhere.binary_search(&(place - 1)).is_ok()
            });
            missing = self.wait(missing, watch, stop);
        }
    }

    fn spec(&self) -> Value {
        self.engine.spec()
    }

    fn prompt_tokens(&self, prompt: &Prompt) -> Option<usize> {
        self.engine.prompt_tokens(prompt)
    }

    fn context_length(&self) -> Option<usize> {
        self.engine.context_length()
    }

    fn log_probabilities(&self, prompt: &Prompt, continuations: &[String]) -> Result<Vec<f64>> {
        self.engine.log_probabilities(prompt, continuations)
    }
}

impl Journaled {
    fn recorded(&self, key: &str) -> Result<Option<Reply>> {
        let Some(entry) = self.journal.find(key)? else { return Ok(None) };
        serde_json::from_value(entry.reply).map(Some).map_err(|error| {
            Error::input(format!("the journal's reply to call {key} cannot be read: {error}"))
                .help(format!("delete the line of {key} in {}", self.journal.path().display()))
        })
    }

    /// Waits until others have answered, or given up, at least one of the calls that they are making.
    fn wait<'a>(&self, mut calls: Vec<Call<'a>>, watch: &dyn Watch, mut stop: Option<Error>) -> Vec<Call<'a>> {
        while !calls.is_empty() {
            stop = stop.or_else(|| signal::check("replies so far are in the journal").err());
            if let Some(error) = stop {
                calls.iter().for_each(|call| deliver(watch, call, &Err(error.clone())));
                return Vec::new();
            }
            let mut is_free = false;
            calls.retain(|call| match self.recorded(&call.key) {
                Ok(None) => {
                    // Claimed for a moment only, to see whether its maker is gone.
                    is_free |= self.journal.claim(&call.key).is_ok_and(|claim| claim.is_some());
                    true
                }
                Ok(Some(reply)) => {
                    deliver(watch, call, &Ok(reply));
                    false
                }
                Err(error) => {
                    deliver(watch, call, &Err(error));
                    false
                }
            });
            if is_free {
                return calls;
            }
            std::thread::sleep(LOOK);
        }
        calls
    }
}

fn distinct<'a>(name: &str, settings: &Value, prompts: &'a [Prompt]) -> Vec<Call<'a>> {
    let mut calls: Vec<Call<'a>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (place, prompt) in prompts.iter().enumerate() {
        let key = Journal::key(name, settings, &json!(prompt));
        match known.get(&key).and_then(|call| calls.get_mut(*call)) {
            Some(call) => call.places.push(place),
            None => {
                known.insert(key.clone(), calls.len());
                calls.push(Call { key, prompt, places: vec![place] });
            }
        }
    }
    calls
}

fn deliver(watch: &dyn Watch, call: &Call<'_>, result: &Result<Reply>) {
    for place in &call.places {
        watch.end(*place, result.clone());
    }
}

/// Stands between the engine and whoever watches: claims before, records after.
struct Ask<'a> {
    of: &'a Journaled,
    settings: &'a Value,
    calls: &'a [Call<'a>],
    watch: &'a dyn Watch,
    claims: Mutex<HashMap<usize, Claim>>,
    /// Calls that somebody else is making.
    elsewhere: Mutex<Vec<usize>>,
    /// An interrupt, which ends the waiting for others too.
    stop: Mutex<Option<Error>>,
}

impl Watch for Ask<'_> {
    fn begin(&self, place: usize) -> bool {
        let Some(call) = self.calls.get(place) else { return false };
        let claim = match self.of.journal.claim(&call.key) {
            Ok(Some(claim)) => claim,
            Ok(None) => {
                self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner).push(place);
                return false;
            }
            Err(error) => {
                deliver(self.watch, call, &Err(error));
                return false;
            }
        };
        // Between the first look and the claim somebody may have finished it.
        match self.of.recorded(&call.key) {
            Ok(None) => {
                self.claims.lock().unwrap_or_else(PoisonError::into_inner).insert(place, claim);
                true
            }
            Ok(Some(reply)) => {
                deliver(self.watch, call, &Ok(reply));
                false
            }
            Err(error) => {
                deliver(self.watch, call, &Err(error));
                false
            }
        }
    }

    fn end(&self, place: usize, result: Result<Reply>) {
        let Some(call) = self.calls.get(place) else { return };
        let result = result.and_then(|reply| {
            self.of.journal.record(Entry {
                key: call.key.clone(),
                model: self.of.name.to_string(),
                settings: self.settings.clone(),
                request: json!(call.prompt),
                reply: json!(reply),
            })?;
            Ok(reply)
        });
        if let Err(error) = &result
            && error.kind() == ErrorKind::Interrupted
        {
            *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
        }
        self.claims.lock().unwrap_or_else(PoisonError::into_inner).remove(&place);
        deliver(self.watch, call, &result);
    }
}
