//! A remote embedding model.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::watch::channel as watch_channel;

use super::capability::Capability;
use super::chat::price_of;
use super::client::Client;
use super::endpoint::Endpoint;
use super::message::usage;
use super::money::Money;
use super::price::Price;
use crate::error::{Error, ErrorKind, Result};
use crate::lab::runtime;
use crate::model::Embed;
use crate::signal::Progress;

/// Texts of one request, and their bytes together.
const TEXTS: usize = 64;
const BYTES: usize = 200_000;

#[derive(Debug)]
pub(super) struct RemoteEmbedder {
    client: Arc<Client>,
    model: String,
    prefix: String,
    price: Option<Price>,
}

impl RemoteEmbedder {
    pub(super) fn new(endpoint: &Endpoint, model: &str, question_prefix: &str) -> Result<Self> {
        Ok(Self {
            client: Arc::new(Client::new(endpoint)?),
            model: model.to_owned(),
            prefix: question_prefix.to_owned(),
            price: price_of(endpoint, model)?,
        })
    }

    fn batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let bytes: usize = texts.iter().map(String::len).sum();
        let worst = self.price.map_or(0.0, |price| bytes as f64 * price.input / 1e6);
        match self.client.limits.reserve(worst) {
            Some(reserved) => reserved?,
            None => return Err(Error::new(ErrorKind::Limit, "the cost limit is reached while other calls run")),
        }
        let body = json!({"model": self.model, "input": texts, "encoding_format": "float"});
        // The sender stays here, so that the signal is open as long as the call runs.
        let (_open, mut cancel) = watch_channel(false);
        let capability = Capability::of("", &self.client.endpoint.parameters);
        let build = || body.clone();
        let mut money = Money::new(self.client.clone(), worst);
        money.under_way = worst;
        let received = {
            let mut lost = || money.lost(worst);
            let call = self.client.post("embeddings", &build, bytes as u64 / 4, &capability, &mut lost, &mut cancel);
            runtime::wait("vectors so far are kept where they are stored", call)
        };
        // An interrupt leaves the request under way; whatever else happened, it has ended.
        let received = received?;
        money.under_way = 0.0;
        let received = received?;
        match (self.price, usage(&received)) {
            (Some(price), Some(used)) => money.spent += price.of(used),
            (Some(_), None) => money.uncounted(worst),
            (None, _) => {}
        }
        vectors(&received, texts.len())
    }

    fn all(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let progress = Progress::new(&format!("Embedding with {}", self.model), texts.len());
        let mut all: Vec<Vec<f32>> = Vec::with_capacity(texts.len());
        let mut rest = texts;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = rest.iter().take(TEXTS).take_while(|text| {
                bytes += text.len();
                bytes <= BYTES
            });
            let (batch, after) = rest.split_at(fits.count().max(1));
            all.extend(self.batch(batch)?);
            progress.advance(batch.len());
            rest = after;
        }
        let width = all.first().map_or(0, Vec::len);
        if all.iter().any(|vector| vector.len() != width) {
            return Err(Error::new(ErrorKind::Model, "the server's vectors differ in length"));
        }
        Ok(all)
    }
}

/// Vectors in the order of the texts, which is not always the order of the answer, each of norm 1.
fn vectors(body: &Value, n: usize) -> Result<Vec<Vec<f32>>> {
    let broken = |what: String| Error::new(ErrorKind::Model, format!("the server's vectors: {what}"));
    let data = body.get("data").and_then(Value::as_array).ok_or_else(|| broken("the reply holds none".into()))?;
    let mut found: Vec<Option<Vec<f32>>> = vec![None; n];
    for (place, one) in data.iter().enumerate() {
        let place = one.get("index").and_then(Value::as_u64).map_or(place, |index| index as usize);
        let numbers: Option<Vec<f32>> = one
            .get("embedding")
            .and_then(Value::as_array)
            .and_then(|numbers| numbers.iter().map(|number| number.as_f64().map(|number| number as f32)).collect());
        let mut vector = numbers
            .filter(|numbers| !numbers.is_empty())
            .ok_or_else(|| broken(format!("number {place} is not a list of numbers")))?;
        let norm = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        if norm > 0.0 {
            vector.iter_mut().for_each(|value| *value = (f64::from(*value) / norm) as f32);
        }
        match found.get_mut(place) {
            Some(slot) if slot.is_none() => *slot = Some(vector),
            _ => return Err(broken(format!("index {place} of {n} comes twice or is too large"))),
        }
    }
    let missing = found.iter().filter(|vector| vector.is_none()).count();
    if missing > 0 {
        return Err(broken(format!("{missing} of {n} are missing")));
    }
    Ok(found.into_iter().flatten().collect())
}

impl Embed for RemoteEmbedder {
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        self.all(texts)
    }

    fn embed_questions(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        self.all(&texts.iter().map(|text| format!("{}{text}", self.prefix)).collect::<Vec<_>>())
    }

    fn spec(&self) -> Value {
        json!({"embedder": "remote", "model": self.model, "base_url": self.client.endpoint.base,
            "question_prefix": self.prefix, "parameters": self.client.endpoint.parameters})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_the_texts_or_not_at_all() -> Result<()> {
        let two = json!({"data": [{"index": 1, "embedding": [0.0, 2.0]}, {"index": 0, "embedding": [3.0, 4.0]}]});
        assert_eq!(vectors(&two, 2)?, [vec![0.6, 0.8], vec![0.0, 1.0]]);
        for odd in [
            json!({"data": [{"index": 0, "embedding": [1.0]}]}),
            json!({"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}),
            json!({"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": [1.0]}]}),
            json!({"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": [1.0]}]}),
            json!({}),
        ] {
            assert!(vectors(&odd, 2).is_err(), "{odd}");
        }
        Ok(())
    }
}
