//! Many prompts through one decoder: each is read alone in pieces, replies are written together.
//!
//! A slot is a cache with the tokens it has seen. A prompt that begins like what a slot has seen (the same instructions,
//! the same reference text with another claim) starts from there instead of from nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::Instant;

use candle_core::Tensor;

use super::decoder::{Cache, Decoder, Sequence};
use super::failed;
use super::sampling::{Sampler, log_probability};
use super::text::Text;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Finish, Reply};

/// Tokens of a prompt that are read at a time, at least: bounds memory. Up to four times as many where their scores are few,
/// since quantized weights are unpacked anew for each piece.
const PIECE: usize = 256;
/// Scores of one layer up to which a piece may be longer: 64 MiB.
const SCORES: usize = 1 << 24;
/// Tokens in common from which on a slot's beginning is worth keeping.
const WORTH: usize = 16;
/// Tokens at the end of a prompt that are always read: quantized weights multiply many rows and few in two ways that
/// differ in their last digits, and a prompt must not come out differently for what was asked before it.
const REREAD: usize = 32;
/// Caches are this many tokens long, or a multiple.
const GRAIN: usize = 256;

/// A prompt on its way.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) place: usize,
    pub(super) ids: Vec<u32>,
    pub(super) max_tokens: usize,
    pub(super) temperature: f64,
    pub(super) stop: Vec<String>,
    pub(super) seed: Option<u64>,
    pub(super) attempt: u32,
}

/// A decoder at work.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) decoder: Decoder,
    pub(super) text: Arc<Text>,
    pub(super) slots: usize,
    idle: Vec<Slot>,
    /// Tokens of prompts that were not read again, since a slot had seen them.
    pub(super) reused: usize,
}

#[derive(Debug)]
struct Slot {
    cache: Cache,
    /// The tokens whose keys the cache holds.
    seen: Vec<u32>,
}

struct Active {
    place: usize,
    slot: Slot,
    written: Vec<u32>,
    limit: usize,
    stop: Vec<String>,
    sampler: Sampler,
    prompt_tokens: usize,
    began: Instant,
}

type Ended = Sender<(usize, Result<Reply>)>;

impl Engine {
    pub(super) fn new(decoder: Decoder, text: Arc<Text>, slots: usize) -> Self {
        Self { decoder, text, slots: slots.max(1), idle: Vec::new(), reused: 0 }
    }

    /// Serves requests until their sender is gone.
    pub(super) fn run(&mut self, requests: &Receiver<Request>, ended: &Ended, cancel: &AtomicBool) {
        let mut active: Vec<Active> = Vec::new();
        loop {
            while active.len() < self.slots {
                let next = if active.is_empty() {
                    requests.recv().map_err(|_| TryRecvError::Disconnected)
                } else {
                    requests.try_recv()
                };
                match next {
                    Ok(request) => self.admit(request, &mut active, ended, cancel),
                    Err(TryRecvError::Disconnected) if active.is_empty() => return,
                    Err(_) => break,
                }
            }
            if cancel.load(Ordering::Relaxed) {
                for one in active.drain(..) {
                    let _ = ended.send((one.place, Err(interrupted())));
                    self.idle.push(one.slot);
                }
            }
            if !active.is_empty()
                && let Err(error) = self.step(&mut active, ended)
            {
                for one in active.drain(..) {
                    let _ = ended.send((one.place, Err(error.clone())));
                }
            }
            self.forget();
        }
    }

    fn admit(&mut self, request: Request, active: &mut Vec<Active>, ended: &Ended, cancel: &AtomicBool) {
        let place = request.place;
        match self.begin(request, active, cancel) {
            Ok((one, first)) => {
                active.push(one);
                let last = active.len() - 1;
                if self.took(active, last, first, ended) {
                    let done = active.swap_remove(last);
                    self.idle.push(done.slot);
                }
            }
            Err(error) => {
                let _ = ended.send((place, Err(error)));
            }
        }
    }

    /// Reads the prompt; returns the first token of the reply.
    fn begin(&mut self, request: Request, active: &[Active], cancel: &AtomicBool) -> Result<(Active, Option<u32>)> {
        let began = Instant::now();
        let context = self.decoder.config.context;
        if request.ids.is_empty() {
            return Err(Error::input("the prompt is empty"));
        }
        if request.ids.len() >= context {
            return Err(Error::new(
                ErrorKind::Limit,
                format!("the prompt has {} tokens, the model reads {context} with its reply", request.ids.len()),
            )
            .help("give fewer or shorter passages"));
        }
        // A reply may fill what is left of the context, and ends there with `length`.
        let limit = request.max_tokens.min(context - request.ids.len()).max(1);
        let mut slot = self.slot_for(&request.ids, request.ids.len() + limit, active).map_err(failed)?;
        let logits = self.read(&mut slot, &request.ids, cancel)?;
        let mut sampler = Sampler::new(request.temperature, request.seed, request.attempt);
        let first = sampler.next(&logits);
        let one = Active {
            place: request.place,
            slot,
            written: Vec::new(),
            limit,
            stop: request.stop,
            sampler,
            prompt_tokens: request.ids.len(),
            began,
        };
        Ok((one, first))
    }

    /// A slot that has seen as much as possible of what is to come.
    fn slot_for(&mut self, ids: &[u32], room: usize, active: &[Active]) -> candle_core::Result<Slot> {
        let common = |slot: &Slot| {
            let same = slot.seen.iter().zip(ids).take_while(|(a, b)| a == b).count();
            same.min(ids.len().saturating_sub(REREAD))
        };
        let idle = (0..self.idle.len()).max_by_key(|place| self.idle.get(*place).map_or(0, common));
        let from_idle = idle.and_then(|place| self.idle.get(place)).map_or(0, common);
        let busy = active.iter().map(|one| &one.slot).max_by_key(|slot| common(slot));
        let from_busy = busy.map_or(0, common);
        let capacity = room.next_multiple_of(GRAIN).min(self.decoder.config.context.next_multiple_of(GRAIN));
        if from_busy >= WORTH
            && from_busy > from_idle.saturating_mul(2)
            && let Some(busy) = busy
        {
            self.reused += from_busy;
            let cache = self.decoder.copied(&busy.cache, from_busy, capacity)?;
            return Ok(Slot { cache, seen: ids[..from_busy].to_vec() });
        }
        let Some(place) = idle else {
            return Ok(Slot { cache: self.decoder.cache(capacity)?, seen: Vec::new() });
        };
        let mut slot = self.idle.swap_remove(place);
        let kept = if from_idle >= WORTH { from_idle } else { 0 };
        if slot.cache.capacity < room {
            slot.cache = self.decoder.copied(&slot.cache, kept, capacity)?;
        }
        slot.cache.truncate(kept);
        slot.seen.truncate(kept);
        self.reused += kept;
        Ok(slot)
    }

    /// Reads what the slot has not seen; returns the logits of the last token.
    fn read(&self, slot: &mut Slot, ids: &[u32], cancel: &AtomicBool) -> Result<Vec<f32>> {
        let mut last = None;
        let new = &ids[slot.seen.len()..];
        // Pieces of like length: a short last one would be multiplied in the other way.
        let longest = (SCORES / (self.decoder.config.heads * ids.len()).max(1)).clamp(PIECE, 4 * PIECE);
        let size = new.len().div_ceil(new.len().div_ceil(longest).max(1)).max(1);
        for piece in new.chunks(size) {
            let mut one = [Sequence { cache: &mut slot.cache, ids: piece }];
            let states = self.decoder.forward_unless(&mut one, cancel).map_err(failed)?.ok_or_else(interrupted)?;
            slot.seen.extend_from_slice(piece);
            last = Some(states.narrow(0, piece.len() - 1, 1).map_err(failed)?);
        }
        let states = last.ok_or_else(|| Error::new(ErrorKind::Internal, "a prompt without new tokens"))?;
        let logits = self.decoder.logits(&states).and_then(|logits| logits.get(0)).map_err(failed)?;
        logits.to_vec1().map_err(failed)
    }

    /// Writes one more token of every reply.
    fn step(&mut self, active: &mut Vec<Active>, ended: &Ended) -> Result<()> {
        let next: Vec<Vec<u32>> = active.iter().map(|one| one.written.last().copied().into_iter().collect()).collect();
        let mut batch: Vec<Sequence<'_>> =
            active.iter_mut().zip(&next).map(|(one, ids)| Sequence { cache: &mut one.slot.cache, ids }).collect();
        let states = self.decoder.forward(&mut batch).map_err(failed)?;
        for (one, ids) in active.iter_mut().zip(&next) {
            one.slot.seen.extend_from_slice(ids);
        }
        let logits = self.decoder.logits(&states).and_then(|logits| logits.to_vec2::<f32>()).map_err(failed)?;
        let mut place = 0;
        for logits in logits {
            let token = active.get_mut(place).and_then(|one| one.sampler.next(&logits));
            if self.took(active, place, token, ended) {
                let done = active.remove(place);
                self.idle.push(done.slot);
            } else {
                place += 1;
            }
        }
        Ok(())
    }

    /// Takes a token into a reply; true when the reply has ended and was sent.
    fn took(&self, active: &mut [Active], place: usize, token: Option<u32>, ended: &Ended) -> bool {
        let Some(one) = active.get_mut(place) else { return false };
        let Some(token) = token else {
            let odd = Error::new(ErrorKind::Model, "the model's logits are not numbers")
                .help("load it in f32; a broken download gives the same picture: verify the files");
            let _ = ended.send((one.place, Err(odd)));
            return true;
        };
        let is_end = self.decoder.config.ends.contains(&token) || self.text.end_id() == Some(token);
        if !is_end {
            one.written.push(token);
        }
        let is_full = one.written.len() >= one.limit;
        let has_stops = one.stop.iter().any(|stop| !stop.is_empty());
        if !(is_end || is_full || has_stops) {
            return false;
        }
        let text = match self.text.decode(&one.written) {
            Ok(text) => text,
            Err(error) => {
                let _ = ended.send((one.place, Err(error)));
                return true;
            }
        };
        let stopped = one.stop.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| text.find(stop.as_str())).min();
        if !(is_end || is_full || stopped.is_some()) {
            return false;
        }
        let text = stopped.and_then(|at| text.get(..at)).unwrap_or(&text).to_owned();
        let _ = ended.send((
            one.place,
            reply(one, text, if is_end || stopped.is_some() { Finish::Stop } else { Finish::Length }),
        ));
        true
    }

    /// Keeps as many resting caches as there are slots, the youngest.
    fn forget(&mut self) {
        let surplus = self.idle.len().saturating_sub(self.slots);
        self.idle.drain(..surplus);
    }

    /// The natural logarithm of the probability of each continuation after the prompt: the sum over its tokens.
    pub(super) fn log_probabilities(&mut self, prompt: &[u32], continuations: &[Vec<u32>]) -> Result<Vec<f64>> {
        let longest = continuations.iter().map(Vec::len).max().unwrap_or(0);
        let context = self.decoder.config.context;
        if prompt.is_empty() || continuations.iter().any(Vec::is_empty) || prompt.len() + longest > context {
            return Err(Error::input(format!(
                "log-probabilities need a prompt and continuations of 1 token or more, together at most {context}; the prompt has {}",
                prompt.len()
            )));
        }
        let mut slot = self.slot_for(prompt, prompt.len() + longest, &[]).map_err(failed)?;
        let first = self.read(&mut slot, prompt, &AtomicBool::new(false))?;
        let odd = || Error::new(ErrorKind::Model, "a token outside the vocabulary");
        let mut sums = Vec::with_capacity(continuations.len());
        for tokens in continuations {
            let mut sum = tokens.first().and_then(|token| log_probability(&first, *token)).ok_or_else(odd)?;
            if tokens.len() > 1 {
                slot.cache.truncate(prompt.len());
                let ids = &tokens[..tokens.len() - 1];
                let states = self.decoder.forward(&mut [Sequence { cache: &mut slot.cache, ids }]).map_err(failed)?;
                let logits = self.decoder.logits(&states).and_then(|logits| logits.to_vec2::<f32>()).map_err(failed)?;
                for (logits, token) in logits.iter().zip(&tokens[1..]) {
                    sum += log_probability(logits, *token).ok_or_else(odd)?;
                }
            }
            sums.push(sum);
        }
        slot.cache.truncate(prompt.len());
        self.idle.push(slot);
        self.forget();
        Ok(sums)
    }

    /// The last layer's states of whole texts: one tensor (tokens, hidden) a text.
    pub(super) fn states(&self, texts: &[Vec<u32>]) -> Result<Vec<Tensor>> {
        texts
            .iter()
            .map(|ids| {
                let mut cache = self.decoder.cache(ids.len().max(1)).map_err(failed)?;
                let mut parts = Vec::new();
                for piece in ids.chunks(PIECE) {
                    let states = self.decoder.forward(&mut [Sequence { cache: &mut cache, ids: piece }]);
                    parts.push(states.map_err(failed)?);
                }
                Tensor::cat(&parts, 0).map_err(failed)
            })
            .collect()
    }
}

fn reply(one: &Active, text: String, finish: Finish) -> Result<Reply> {
    if text.trim().is_empty() {
        let told = if finish == Finish::Length { "the limit of tokens was reached" } else { "it ended at once" };
        return Err(Error::new(ErrorKind::Model, format!("the model wrote nothing: {told}")));
    }
    Ok(Reply {
        finish,
        prompt_tokens: Some(one.prompt_tokens as u64),
        completion_tokens: Some(one.written.len() as u64),
        latency_ms: Some(one.began.elapsed().as_secs_f64() * 1000.0),
        ..Reply::new(text)
    })
}

fn interrupted() -> Error {
    Error::new(
        ErrorKind::Interrupted,
        "interrupted; the model stays loaded, and replies so far are kept where it is journaled",
    )
    .help("run the cell again to go on")
}
