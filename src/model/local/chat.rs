//! A local decoder as a language model.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use serde_json::Value;

use super::engine::{Engine, Request};
use super::text::Text;
use super::worker::Worker;
use crate::error::{Error, Result};
use crate::model::{Generate, Prompt, Reply, Watch, generate_all};
use crate::signal;

/// How often an interrupt is looked for.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct Chat {
    pub(super) worker: Arc<Worker<Engine>>,
    pub(super) text: Arc<Text>,
    pub(super) slots: usize,
    pub(super) context: usize,
    pub(super) spec: Value,
}

impl Generate for Chat {
    fn generate(&self, prompts: &[Prompt]) -> Vec<Result<Reply>> {
        generate_all(self, prompts)
    }

    fn generate_watched(&self, prompts: &[Prompt], watch: &dyn Watch) {
        let (requests, to_do) = channel::<Request>();
        let (done, ended) = channel();
        let cancel = Arc::new(AtomicBool::new(false));
        let is_cancelled = cancel.clone();
        let mut places = 0..prompts.len();
        let begun = self.worker.post(Box::new(move |engine| engine.run(&to_do, &done, &is_cancelled)));
        if let Err(error) = begun {
            return refuse(places, watch, &error);
        }
        let mut waiting: Vec<usize> = Vec::new();
        let mut stop: Option<Error> = None;
        loop {
            while waiting.len() < self.slots && stop.is_none() {
                let Some(place) = places.next() else { break };
                if !watch.begin(place) {
                    continue;
                }
                match prompts
                    .get(place)
                    .ok_or_else(|| Error::input("no prompt"))
                    .and_then(|prompt| self.send(place, prompt, &requests))
                {
                    Ok(()) => waiting.push(place),
                    Err(error) => watch.end(place, Err(error)),
                }
            }
            if waiting.is_empty() {
                break;
            }
            match ended.recv_timeout(LOOK) {
                Ok((place, result)) => {
                    waiting.retain(|other| *other != place);
                    watch.end(place, result);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let error = self.worker.broken();
                    waiting.drain(..).for_each(|place| watch.end(place, Err(error.clone())));
                    stop = Some(error);
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) =
                        signal::check("the model stays loaded, and replies so far are kept where it is journaled")
                    {
                        cancel.store(true, Ordering::Relaxed);
                        stop = Some(error);
                    }
                }
            }
            // Results that come fast must not keep an interrupt from being heard.
            if stop.is_none()
                && let Err(error) =
                    signal::check("the model stays loaded, and replies so far are kept where it is journaled")
            {
                cancel.store(true, Ordering::Relaxed);
                stop = Some(error);
            }
        }
        if let Some(error) = stop {
            refuse(places, watch, &error);
        }
    }

    fn spec(&self) -> Value {
        self.spec.clone()
    }

    fn prompt_tokens(&self, prompt: &Prompt) -> Option<usize> {
        self.text.conversation(&prompt.messages).ok().map(|ids| ids.len())
    }

    fn context_length(&self) -> Option<usize> {
        Some(self.context)
    }

    fn log_probabilities(&self, prompt: &Prompt, continuations: &[String]) -> Result<Vec<f64>> {
        let ids = self.text.conversation(&prompt.messages)?;
        let tails = continuations.iter().map(|text| self.text.encode(text, false)).collect::<Result<Vec<_>>>()?;
        self.worker.call(move |engine| engine.log_probabilities(&ids, &tails))?
    }
}

impl Chat {
    fn send(&self, place: usize, prompt: &Prompt, requests: &Sender<Request>) -> Result<()> {
        let request = Request {
            place,
            ids: self.text.conversation(&prompt.messages)?,
            max_tokens: prompt.max_tokens as usize,
            temperature: prompt.temperature,
            stop: prompt.stop.clone(),
            seed: prompt.seed,
            attempt: prompt.attempt,
        };
        requests.send(request).map_err(|_| self.worker.broken())
    }
}

fn refuse(places: std::ops::Range<usize>, watch: &dyn Watch, error: &Error) {
    for place in places {
        if watch.begin(place) {
            watch.end(place, Err(error.clone()));
        }
    }
}
