//! A remote language model.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch::channel as watch_channel;
use tokio::task::JoinHandle;

use super::capability::Capability;
use super::client::{Cancel, Client, interrupted};
use super::endpoint::Endpoint;
use super::message::{Answer, answer, request, served, usage};
use super::money::Money;
use super::price::Price;
use crate::error::{Error, ErrorKind, Result};
use crate::lab::runtime;
use crate::model::{Generate, Prompt, Reply, Watch, generate_all};
use crate::signal;

/// How often an interrupt is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How long calls that are running may go on after an interrupt: they are paid for.
const GRACE: Duration = Duration::from_secs(6);
/// How much longer the limit of a reply becomes, once, when all of it went into reasoning.
const ESCALATED: u32 = 4;

#[derive(Debug, Clone)]
pub(super) struct RemoteChat {
    pub(super) client: Arc<Client>,
    pub(super) capability: Arc<Capability>,
    pub(super) model: Arc<str>,
    price: Option<Price>,
    spec: Value,
}

impl RemoteChat {
    pub(super) fn new(endpoint: &Endpoint, model: &str) -> Result<Self> {
        let price = price_of(endpoint, model)?;
        let capability = Capability::of(model, &endpoint.parameters);
        let mut spec = json!({"kind": "remote", "base_url": endpoint.base, "parameters": endpoint.parameters});
        if !capability.is_greedy() {
            spec["temperature"] = json!("not accepted by this model: its own default");
        }
        Ok(Self {
            client: Arc::new(Client::new(endpoint)?),
            capability: Arc::new(capability),
            model: model.into(),
            price,
            spec,
        })
    }

    /// What a call could cost at most: a token is at least a byte.
    fn worst(&self, prompt: &Prompt, factor: u32) -> f64 {
        self.price.map_or(0.0, |price| {
            let bytes: usize = prompt.messages.iter().map(|message| message.content.len() + 16).sum();
            (bytes as f64 * price.input + f64::from(prompt.max_tokens.saturating_mul(factor)) * price.output) / 1e6
        })
    }

    async fn call(self, prompt: Prompt, reserved: f64, mut cancel: Cancel) -> Result<Reply> {
        let mut money = Money::new(self.client.clone(), reserved);
        let began = Instant::now();
        let mut factor = 1;
        loop {
            let bytes: usize = prompt.messages.iter().map(|message| message.content.len()).sum();
            let tokens = bytes as u64 / 4 + u64::from(prompt.max_tokens.saturating_mul(factor));
            let body = || request(&self.model, &prompt, &self.capability, &self.client.endpoint, factor);
            let worst = self.worst(&prompt, factor);
            money.under_way = worst;
            let mut lost = || money.lost(worst);
            let received =
                self.client.post("chat/completions", &body, tokens, &self.capability, &mut lost, &mut cancel).await;
            money.under_way = 0.0;
            let received = received?;
            let used = usage(&received);
            match (self.price, used) {
                (Some(price), Some(used)) => money.spent += price.of(used),
                (Some(_), None) => money.uncounted(worst),
                (None, _) => {}
            }
            match answer(&received, &prompt)? {
                Answer::Text { text, finish } => {
                    return Ok(Reply {
                        finish,
                        prompt_tokens: used.map(|used| used.prompt),
                        completion_tokens: used.map(|used| used.completion),
                        latency_ms: Some(began.elapsed().as_secs_f64() * 1000.0),
                        cost_usd: money.known(self.price.is_some()),
                        note: money.note(self.price.is_some(), used.is_some()),
                        served: Some(served(&received)),
                        ..Reply::new(text)
                    });
                }
                Answer::Exhausted if factor == 1 => {
                    if money.more(self.worst(&prompt, ESCALATED)).is_err() {
                        return Err(nothing_written(&prompt, used.map(|used| used.reasoning), factor));
                    }
                    factor = ESCALATED;
                }
                Answer::Exhausted => return Err(nothing_written(&prompt, used.map(|used| used.reasoning), factor)),
            }
        }
    }
}

pub(super) fn price_of(endpoint: &Endpoint, model: &str) -> Result<Option<Price>> {
    let price = endpoint.prices.get(model).copied();
    if endpoint.cost_limit.is_some() && price.is_none() {
        return Err(Error::input(format!("a cost limit without a price of {model:?} cannot be kept"))
            .help(format!("endpoint.price({model:?}, DOLLARS_PER_MILLION_READ, DOLLARS_PER_MILLION_WRITTEN)?")));
    }
    Ok(price)
}

fn nothing_written(prompt: &Prompt, reasoning: Option<u64>, factor: u32) -> Error {
    let thought = reasoning.map_or_else(String::new, |tokens| format!(", {tokens} of them spent on reasoning"));
    Error::new(
        ErrorKind::Model,
        format!("the model wrote nothing within {} tokens{thought}", prompt.max_tokens.saturating_mul(factor)),
    )
    .help("raise max_tokens, or lower the reasoning effort: endpoint.parameter(\"reasoning_effort\", …)")
}

impl Generate for RemoteChat {
    fn generate(&self, prompts: &[Prompt]) -> Vec<Result<Reply>> {
        generate_all(self, prompts)
    }

    fn generate_watched(&self, prompts: &[Prompt], watch: &dyn Watch) {
        let handle = match runtime::handle() {
            Ok(handle) => handle,
            Err(error) => return refuse(0..prompts.len(), watch, &error),
        };
        let (cancel, is_cancelled) = watch_channel(false);
        let (done, ended) = channel::<(usize, Result<Reply>)>();
        let mut running: HashMap<usize, JoinHandle<()>> = HashMap::new();
        let mut places = (0..prompts.len()).peekable();
        let mut stop: Option<(Error, Instant)> = None;
        loop {
            while running.len() < self.client.endpoint.concurrency && stop.is_none() {
                let Some(place) = places.peek().copied() else { break };
                let Some(prompt) = prompts.get(place) else { break };
                let worst = self.worst(prompt, 1);
                match self.client.limits.reserve(worst) {
                    None => break,
                    Some(Err(error)) => {
                        stop = Some((error, Instant::now()));
                        break;
                    }
                    Some(Ok(())) => {}
                }
                places.next();
                if !watch.begin(place) {
                    self.client.limits.settle(worst, 0.0);
                    continue;
                }
                let call = self.clone().call(prompt.clone(), worst, is_cancelled.clone());
                let done = done.clone();
                running.insert(
                    place,
                    handle.spawn(async move {
                        let result = call.await;
                        let _ = done.send((place, result));
                    }),
                );
            }
            if running.is_empty() && (stop.is_some() || places.peek().is_none()) {
                break;
            }
            match ended.recv_timeout(LOOK) {
                Ok((place, result)) => {
                    running.remove(&place);
                    watch.end(place, result);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    // A task that panicked sends nothing.
                    let dead: Vec<usize> =
                        running.iter().filter(|(_, task)| task.is_finished()).map(|(place, _)| *place).collect();
                    for place in dead {
                        let late = ended.try_recv();
                        if let Ok((place, result)) = late {
                            running.remove(&place);
                            watch.end(place, result);
                        } else if running.remove(&place).is_some() {
                            watch.end(place, Err(Error::new(ErrorKind::Internal, "the call panicked")));
                        }
                    }
                }
            }
            if stop.is_none()
                && let Err(error) = signal::check("replies so far are kept where the model is journaled")
            {
                let _ = cancel.send(true);
                stop = Some((error, Instant::now()));
            }
            if let Some((error, since)) = &stop
                && error.kind() == ErrorKind::Interrupted
                && since.elapsed() > GRACE
            {
                for (place, task) in running.drain() {
                    task.abort();
                    watch.end(place, Err(interrupted()));
                }
            }
        }
        if let Some((error, _)) = stop {
            refuse(places, watch, &error);
        }
    }

    fn spec(&self) -> Value {
        self.spec.clone()
    }

    fn prompt_tokens(&self, prompt: &Prompt) -> Option<usize> {
        self.client.endpoint.tokenizer.as_ref().and_then(|(counter, _)| counter.count(&prompt.messages))
    }

    fn context_length(&self) -> Option<usize> {
        self.client.endpoint.tokenizer.as_ref().map(|(_, context)| *context)
    }
}

fn refuse(places: impl Iterator<Item = usize>, watch: &dyn Watch, error: &Error) {
    for place in places {
        if watch.begin(place) {
            watch.end(place, Err(error.clone()));
        }
    }
}
