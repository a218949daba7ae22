//! What one call has cost, and what it may have cost.
//!
//! A limit is kept only if nothing counts for less than it may have cost. So what is not known counts against the limit
//! as the most that it could be, and is never shown as the cost.

use std::sync::Arc;

use super::client::Client;
use crate::error::{Error, ErrorKind, Result};

/// Money set aside for a call; what was spent takes its place however the call ends.
#[derive(Debug)]
pub(super) struct Money {
    client: Arc<Client>,
    reserved: f64,
    /// What the server counted.
    pub(super) spent: f64,
    /// What may have been charged for answers that were lost, or came without a count.
    feared: f64,
    /// What a request that is under way may cost; nobody knows what becomes of it if it is given up.
    pub(super) under_way: f64,
    lost: u32,
    uncounted: u32,
}

impl Money {
    pub(super) fn new(client: Arc<Client>, reserved: f64) -> Self {
        Self { client, reserved, spent: 0.0, feared: 0.0, under_way: 0.0, lost: 0, uncounted: 0 }
    }

    /// Sets more aside for one more request.
    pub(super) fn more(&mut self, dollars: f64) -> Result<()> {
        let limits = &self.client.limits;
        limits.reserve(dollars).unwrap_or_else(|| Err(Error::new(ErrorKind::Limit, "the cost limit is reached")))?;
        self.reserved += dollars;
        Ok(())
    }

    /// An answer was lost on the way and may have been charged: there must be money for another one.
    pub(super) fn lost(&mut self, worst: f64) -> Result<()> {
        self.lost += 1;
        self.feared += worst;
        self.more(worst).map_err(|error| {
            error.context("the answer was lost, may have been charged, and there is no money for another").help(
                "raise the cost limit and run the cell again: what was answered is kept where the model is journaled",
            )
        })
    }

    /// An answer came without a count of its tokens.
    pub(super) fn uncounted(&mut self, worst: f64) {
        self.uncounted += 1;
        self.feared += worst;
    }

    /// The cost, if it is known: there is a price, and the server counted every answer.
    pub(super) fn known(&self, has_price: bool) -> Option<f64> {
        (has_price && self.uncounted == 0 && self.lost == 0).then_some(self.spent)
    }

    /// Why the cost is not known, and what counts against the limit.
    pub(super) fn note(&self, has_price: bool, has_usage: bool) -> Option<String> {
        let mut notes = Vec::new();
        if !has_usage {
            notes.push("the server told no usage: tokens are not known".to_owned());
        }
        if self.lost > 0 {
            notes.push(format!("answers lost on the way, which may have been charged: {}", self.lost));
        }
        if has_price && self.known(true).is_none() {
            notes.push(format!(
                "the cost is not known, at most {:.6} USD, which is what counts against a cost limit",
                self.spent + self.feared
            ));
        }
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}

impl Drop for Money {
    fn drop(&mut self) {
        self.client.limits.settle(self.reserved, self.spent + self.feared + self.under_way);
    }
}
