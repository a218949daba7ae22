//! How much is asked of a server at a time: concurrency that adapts, limits a minute, retries and money.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::error::{Error, ErrorKind, Result};

/// Successes in a row that let one more call run at a time.
const CALM: u32 = 8;
/// Retries that a run may spend whatever its size.
const FREE_RETRIES: f64 = 40.0;
/// Retries that each success earns.
const EARNED: f64 = 0.5;

/// Shared by all calls through one model handle.
#[derive(Debug)]
pub(super) struct Limits {
    state: Mutex<State>,
    changed: Notify,
    most: usize,
    cost_limit: Option<f64>,
}

#[derive(Debug)]
struct State {
    running: usize,
    allowed: usize,
    calm: u32,
    /// When the allowance was last cut: one burst of refusals is one cut.
    cut: Option<Instant>,
    /// Nothing begins before this.
    closed_until: Option<Instant>,
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    retries: f64,
    spent: f64,
    reserved: f64,
}

/// A minute's allowance, refilled evenly.
#[derive(Debug)]
struct Bucket {
    per_minute: f64,
    level: f64,
    filled: Instant,
}

impl Bucket {
    fn new(per_minute: f64) -> Self {
        // A second's worth at once: a full minute's burst is what servers refuse.
        Self { per_minute, level: (per_minute / 60.0).max(1.0), filled: Instant::now() }
    }

    /// How long until so much is there; it may exceed the bucket, and is then owed.
    fn wait(&mut self, amount: f64) -> Duration {
        let now = Instant::now();
        let most = (self.per_minute / 60.0).max(1.0);
        self.level = (self.level + now.duration_since(self.filled).as_secs_f64() * self.per_minute / 60.0).min(most);
        self.filled = now;
        let lacking = amount.min(most) - self.level;
        if lacking <= 0.0 { Duration::ZERO } else { Duration::from_secs_f64(lacking * 60.0 / self.per_minute) }
    }
}

impl Limits {
    pub(super) fn new(concurrency: usize, requests: Option<f64>, tokens: Option<f64>, cost_limit: Option<f64>) -> Self {
        let state = State {
            running: 0,
            allowed: concurrency,
            calm: 0,
            cut: None,
            closed_until: None,
            requests: requests.map(Bucket::new),
            tokens: tokens.map(Bucket::new),
            retries: FREE_RETRIES,
            spent: 0.0,
            reserved: 0.0,
        };
        Self { state: Mutex::new(state), changed: Notify::new(), most: concurrency, cost_limit }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn.
    pub(super) async fn enter(&self, tokens: u64) -> Turn<'_> {
        loop {
            let changed = self.changed.notified();
            let wait = {
                let mut state = self.state();
                let closed = state.closed_until.map(|until| until.saturating_duration_since(Instant::now()));
                let closed = closed.filter(|wait| !wait.is_zero());
                if state.running >= state.allowed {
                    None
                } else if let Some(wait) = closed {
                    Some(wait)
                } else {
                    let amount = tokens as f64;
                    let by_requests = state.requests.as_mut().map_or(Duration::ZERO, |bucket| bucket.wait(1.0));
                    let by_tokens = state.tokens.as_mut().map_or(Duration::ZERO, |bucket| bucket.wait(amount));
                    let wait = by_requests.max(by_tokens);
                    if wait.is_zero() {
                        if let Some(bucket) = state.requests.as_mut() {
                            bucket.level -= 1.0;
                        }
                        if let Some(bucket) = state.tokens.as_mut() {
                            bucket.level -= amount;
                        }
                        state.running += 1;
                        return Turn { limits: self };
                    }
                    Some(wait)
                }
            };
            match wait {
                None => changed.await,
                Some(wait) => {
                    let _ = tokio::time::timeout(wait, changed).await;
                }
            }
        }
    }

    /// The server had enough: half as many at a time, and none before the wait is over.
    pub(super) fn refused(&self, wait: Option<Duration>) {
        let mut state = self.state();
        let now = Instant::now();
        state.calm = 0;
        if state.cut.is_none_or(|cut| now.duration_since(cut) > Duration::from_secs(1)) {
            state.allowed = (state.allowed / 2).max(1);
            state.cut = Some(now);
        }
        if let Some(wait) = wait {
            state.closed_until = state.closed_until.max(Some(now + wait));
        }
    }

    /// The server's counters are at zero, before it refused anything.
    pub(super) fn pause(&self, wait: Duration) {
        let mut state = self.state();
        state.closed_until = state.closed_until.max(Some(Instant::now() + wait));
    }

    pub(super) fn succeeded(&self) {
        let mut state = self.state();
        state.retries = (state.retries + EARNED).min(FREE_RETRIES * 5.0);
        state.calm += 1;
        if state.calm >= CALM && state.allowed < self.most {
            state.calm = 0;
            state.allowed += 1;
        }
    }

    /// Takes one retry from the budget; false when a run has had too many.
    pub(super) fn may_retry(&self) -> bool {
        let mut state = self.state();
        let has = state.retries >= 1.0;
        if has {
            state.retries -= 1.0;
        }
        has
    }

    /// Sets money aside for a call at its longest. `None`: not now, calls that are running may cost less than feared.
    pub(super) fn reserve(&self, dollars: f64) -> Option<Result<()>> {
        let Some(limit) = self.cost_limit else { return Some(Ok(())) };
        let mut state = self.state();
        if state.spent + state.reserved + dollars <= limit {
            state.reserved += dollars;
            return Some(Ok(()));
        }
        if state.running > 0 || state.reserved > 1e-12 {
            return None;
        }
        Some(Err(Error::new(
            ErrorKind::Limit,
            format!(
                "the cost limit of {limit:.4} USD: {:.4} are spent or may have been, and the next call could cost {dollars:.4}",
                state.spent
            ),
        )
        .help("replies so far are kept where the model is journaled; raise the limit and run the cell again to go on")))
    }

    /// Replaces what was set aside by what was spent, or may have been.
    pub(super) fn settle(&self, reserved: f64, spent: f64) {
        let mut state = self.state();
        if self.cost_limit.is_some() {
            state.reserved = (state.reserved - reserved).max(0.0);
        }
        state.spent += spent;
    }

    #[cfg(test)]
    pub(super) fn spent(&self) -> f64 {
        self.state().spent
    }

    #[cfg(test)]
    pub(super) fn allowed(&self) -> usize {
        self.state().allowed
    }
}

/// The right to have one call running.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    limits: &'a Limits,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.limits.state().running -= 1;
        // Everybody looks again: who waits for money or a minute is not who waits for a turn.
        self.limits.changed.notify_waiters();
    }
}
