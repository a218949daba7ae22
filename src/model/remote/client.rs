//! Sending requests, and sending them again.

use std::time::{Duration, Instant};

use rand::Rng;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::redirect::Policy;
use serde_json::Value;
use tokio::sync::watch::Receiver;

use super::capability::Capability;
use super::endpoint::Endpoint;
use super::failure::{Failure, quoted, sort};
use super::limits::Limits;
use super::wait;
use crate::error::{Error, ErrorKind, Result};

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);

/// A connection pool, an endpoint's settings and what is running on it.
#[derive(Debug)]
pub(super) struct Client {
    http: reqwest::Client,
    pub(super) endpoint: Endpoint,
    pub(super) limits: Limits,
}

/// Becomes true when the user asks to stop: nothing new is begun or waited for.
pub(super) type Cancel = Receiver<bool>;

impl Client {
    pub(super) fn new(endpoint: &Endpoint) -> Result<Self> {
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .timeout(endpoint.timeout)
            // A redirected POST would arrive as something else, or the key somewhere else.
            .redirect(Policy::none())
            .pool_max_idle_per_host(endpoint.concurrency)
            .build()
            .map_err(|error| Error::new(ErrorKind::Internal, format!("no HTTP client: {}", error.without_url())))?;
        let limits = Limits::new(
            endpoint.concurrency,
            endpoint.requests_per_minute,
            endpoint.tokens_per_minute,
            endpoint.cost_limit,
        );
        Ok(Self { http, endpoint: endpoint.clone(), limits })
    }

    fn key(&self) -> Result<Option<String>> {
        let Some(variable) = &self.endpoint.key_variable else { return Ok(None) };
        match std::env::var(variable) {
            Ok(key) if !key.trim().is_empty() => Ok(Some(key.trim().to_owned())),
            _ => Err(Error::input(format!(
                "{} needs a key, and the variable {variable} is not set",
                self.endpoint.base
            ))
            .help(format!(
                "set {variable} in the environment before the notebook starts; a key in a cell would be saved with it"
            ))),
        }
    }

    /// Posts until it succeeds, fails for good, or has been tried often enough. `body` is asked each time, since the
    /// capability may have learnt what the server refuses. `lost` is told of each answer that was lost on the way and may
    /// have been charged; its error ends the call.
    pub(super) async fn post(
        &self,
        path: &str,
        body: &(dyn Fn() -> Value + Sync),
        tokens: u64,
        capability: &Capability,
        lost: &mut (dyn FnMut() -> Result<()> + Send),
        cancel: &mut Cancel,
    ) -> Result<Value> {
        let key = self.key()?;
        let mut tried = 0;
        loop {
            let turn = tokio::select! {
                turn = self.limits.enter(tokens) => turn,
                () = cancelled(cancel) => return Err(interrupted()),
            };
            let failure = match self.once(path, &body(), key.as_deref()).await {
                Ok(received) => {
                    self.limits.succeeded();
                    return Ok(received);
                }
                Err(failure) => failure,
            };
            drop(turn);
            let (what, asked, is_rate) = match failure {
                Failure::Final(error) => return Err(error),
                Failure::Field { name, .. } if capability.learn(&name) => continue,
                Failure::Field { what, .. } => {
                    return Err(Error::input(what).help("the server does not accept this request"));
                }
                Failure::Passing { what, wait, is_rate } => (what, wait, is_rate),
                Failure::Lost { what } => {
                    lost().map_err(|error| error.context(what.clone()))?;
                    (what, None, false)
                }
            };
            if is_rate {
                self.limits.refused(asked);
            }
            if tried >= self.endpoint.retries || !self.limits.may_retry() {
                let why =
                    if tried >= self.endpoint.retries { "" } else { "; this run has had too many retries already" };
                return Err(Error::new(ErrorKind::Io, format!("{what}; tried {} times{why}", tried + 1)).help(
                    "is the server up? Run the cell again to go on: what was answered is kept where it is journaled",
                ));
            }
            let share = rand::rng().random_range(0.5..1.0);
            let wait = asked.unwrap_or_else(|| wait::guessed(self.endpoint.patience, tried, share));
            tried += 1;
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = cancelled(cancel) => return Err(interrupted()),
            }
        }
    }

    async fn once(&self, path: &str, body: &Value, key: Option<&str>) -> std::result::Result<Value, Failure> {
        let server = &self.endpoint.base;
        let began = Instant::now();
        let passing = |error: reqwest::Error| {
            let what = if error.is_timeout() {
                format!("no answer within {:.0} s", began.elapsed().as_secs_f64())
            } else if error.is_connect() {
                "no connection".to_owned()
            } else {
                "the connection broke in the middle of an answer".to_owned()
            };
            let is_lost = !error.is_connect();
            let detail = quoted(&deepest(&error.without_url()), key);
            let what = format!("{server}: {what} ({detail})");
            if is_lost { Failure::Lost { what } } else { Failure::Passing { what, wait: None, is_rate: false } }
        };
        let mut request = self.http.post(format!("{server}/{path}")).json(body);
        if let Some(key) = key {
            let mut header = HeaderValue::from_str(&format!("Bearer {key}"))
                .map_err(|_| Failure::Final(Error::input("the key holds characters that no header can hold")))?;
            header.set_sensitive(true);
            request = request.header(AUTHORIZATION, header);
        }
        let response = request.send().await.map_err(passing)?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        if let Some(wait) = wait::exhausted(&headers) {
            self.limits.pause(wait);
        }
        let text = response.text().await.map_err(passing)?;
        if !(200..300).contains(&status) {
            return Err(sort(status, &headers, &text, key, server));
        }
        let received: Value = serde_json::from_str(&text)
            .map_err(|error| Failure::Lost { what: format!("{server}: the answer is not whole JSON ({error})") })?;
        // Some proxies answer 200 with an error inside.
        if received.get("error").is_some_and(|error| !error.is_null()) {
            let code =
                received.pointer("/error/code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
            let status = code.filter(|code| (400..600).contains(code)).unwrap_or(502);
            return Err(sort(status, &headers, &text, key, server));
        }
        Ok(received)
    }
}

/// The innermost cause says what happened; the outer ones say that something did.
fn deepest(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

async fn cancelled(cancel: &mut Cancel) {
    // The sender lives as long as whoever waits for the call; if it is gone, so is the call.
    let _ = cancel.wait_for(|is_cancelled| *is_cancelled).await;
}

pub(super) fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, "interrupted; replies so far are kept where the model is journaled")
        .help("run the cell again to go on")
}
