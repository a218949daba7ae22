//! Questions to the cluster.

use std::sync::Arc;

use serde_json::{Value, json};

use super::OpenSearchIndex;
use super::client::{Answer, pause, reason};
use crate::error::{Error, ErrorKind, Result};
use crate::retrieval::seam::rank;
use crate::retrieval::{Found, Passage, Question, Retrieve};
use crate::signal::Progress;

/// Questions of one request.
const BATCH: usize = 32;
/// OpenSearch's `index.max_result_window`.
const MOST: usize = 10_000;

/// How the cluster searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bm25,
    Neighbours,
}

/// An index as a retriever.
#[derive(Debug)]
pub(super) struct Search {
    index: OpenSearchIndex,
    kind: Kind,
}

impl Search {
    pub(super) fn new(index: OpenSearchIndex, kind: Kind) -> Self {
        Self { index, kind }
    }

    fn index_of(&self, source: Option<&str>) -> Result<&str> {
        let acts = &self.index.acts;
        let chosen = match source {
            Some(source) => acts.get(source),
            None if acts.len() == 1 => acts.values().next(),
            None => None,
        };
        chosen.map(|(index, _)| index.as_str()).ok_or_else(|| {
            let known: Vec<&String> = acts.keys().collect();
            let asked = source.map_or_else(|| "names no act".to_owned(), |name| format!("asks for the act {name:?}"));
            Error::input(format!("a question {asked}, and the indexed acts are {known:?}"))
                .help("index the act's chunks too, set the questions' column \"source\", or use from_source(…)")
        })
    }

    /// The two lines of one search. `chunk_id` breaks ties, as everywhere in this library.
    fn lines(&self, question: &Question, vector: Option<&Vec<f32>>, k: usize) -> Result<String> {
        let filter = question.language.as_ref().map(|code| json!({"term": {"language": code}}));
        let query = match vector {
            None => {
                let mut query = json!({"must": [{"match": {"text": {"query": question.text, "operator": "or"}}}]});
                if let Some(filter) = filter {
                    query["filter"] = json!([filter]);
                }
                json!({"bool": query})
            }
            Some(vector) => {
                let mut query = json!({"vector": vector, "k": k});
                if let Some(filter) = filter {
                    query["filter"] = filter;
                }
                json!({"knn": {"vector": query}})
            }
        };
        let body = json!({"size": k, "query": query, "track_scores": true, "track_total_hits": false,
            "sort": [{"_score": "desc"}, {"chunk_id": "asc"}],
            "_source": ["chunk_id", "text", "source", "language"]});
        let index = self.index_of(question.source.as_deref())?;
        Ok(format!("{}\n{body}\n", json!({"index": index})))
    }

    fn ask(&self, body: &str) -> Result<Value> {
        let client = &self.index.cluster.client;
        let mut tried = 0;
        loop {
            tried += 1;
            match client.lines("_msearch", body.to_owned(), "nothing of this run is kept")? {
                Answer::Fine(value) => return Ok(value),
                Answer::Busy(_) | Answer::TooLarge if tried >= client.patience.tries => return Err(client.busy()),
                Answer::TooLarge => {
                    return Err(Error::input("the questions are larger than the cluster accepts (413)"));
                }
                Answer::Busy(wished) => pause(client.patience.pause(tried, wished), "nothing of this run is kept")?,
            }
        }
    }

    fn batch(&self, questions: &[Question], k: usize) -> Result<Vec<Vec<Found>>> {
        let vectors = match (self.kind, &self.index.model) {
            (Kind::Neighbours, Some(model)) => {
                let texts: Vec<String> = questions.iter().map(|question| question.text.clone()).collect();
                Some(model.embed_questions(&texts)?)
            }
            _ => None,
        };
        let mut body = String::new();
        // A vector without direction has no neighbours, and the cluster would refuse it.
        let mut asked = Vec::new();
        for (row, question) in questions.iter().enumerate() {
            self.index_of(question.source.as_deref())?;
            let vector = vectors.as_ref().and_then(|rows| rows.get(row));
            if vector.is_none_or(|vector| vector.iter().any(|number| *number != 0.0)) {
                body += &self.lines(question, vector, k)?;
                asked.push(row);
            }
        }
        let mut results = vec![Vec::new(); questions.len()];
        if asked.is_empty() {
            return Ok(results);
        }
        let answer = self.ask(&body)?;
        let responses = answer.get("responses").and_then(Value::as_array).cloned().unwrap_or_default();
        if responses.len() != asked.len() {
            let told = format!("the cluster answered {} of {} searches", responses.len(), asked.len());
            return Err(Error::new(ErrorKind::Internal, told));
        }
        for (row, response) in asked.into_iter().zip(&responses) {
            let found = read(response).map_err(|error| {
                let asked: String =
                    questions.get(row).map(|one| one.text.chars().take(60).collect()).unwrap_or_default();
                error.context(format!("searching the cluster for {asked:?}"))
            })?;
            if let Some(place) = results.get_mut(row) {
                *place = found;
                rank(place, k);
            }
        }
        Ok(results)
    }
}

/// One answer; a search that failed on any shard is no answer.
fn read(response: &Value) -> Result<Vec<Found>> {
    if response.get("error").is_some() {
        let why = reason(response).unwrap_or_else(|| "it failed without a reason".to_owned());
        let error = Error::input(format!("the cluster refuses the search: {why}"));
        return Err(if why.contains("too_many_clauses") || why.contains("maxClauseCount") {
            error.help("the question has more distinct words than the cluster's indices.query.bool.max_clause_count")
        } else {
            error
        });
    }
    let failed = response.pointer("/_shards/failed").and_then(Value::as_u64).unwrap_or_default();
    if failed > 0 || response.get("timed_out").and_then(Value::as_bool) == Some(true) {
        return Err(Error::new(
            ErrorKind::Io,
            format!("the answer is not whole: {failed} shards failed, or time ran out"),
        )
        .help("look at the cluster's health; no part of the answer is used"));
    }
    let hits = response.pointer("/hits/hits").and_then(Value::as_array);
    let hits = hits.ok_or_else(|| Error::new(ErrorKind::Internal, "the answer holds no list of hits"))?;
    hits.iter()
        .map(|hit| {
            let text =
                |field: &str| hit.pointer(&format!("/_source/{field}")).and_then(Value::as_str).map(str::to_owned);
            let score = hit.get("_score").and_then(Value::as_f64).filter(|score| score.is_finite());
            let (Some(chunk_id), Some(body), Some(score)) = (text("chunk_id"), text("text"), score) else {
                return Err(Error::new(ErrorKind::Internal, "a hit lacks its chunk_id, text or score"));
            };
            let source = text("source").unwrap_or_default();
            let passage = Passage { chunk_id, text: body, source, language: text("language") };
            Ok(Found { passage: Arc::new(passage), score, note: None })
        })
        .collect()
}

impl Retrieve for Search {
    fn search(&self, questions: &[Question], k: usize) -> Result<Vec<Vec<Found>>> {
        if k == 0 {
            return Ok(vec![Vec::new(); questions.len()]);
        }
        if k > MOST {
            return Err(Error::input(format!("OpenSearch gives at most {MOST} hits a question, {k} were asked for")));
        }
        let progress = Progress::new("Asking OpenSearch", questions.len());
        let mut results = Vec::with_capacity(questions.len());
        for batch in questions.chunks(BATCH) {
            results.extend(self.batch(batch, k)?);
            progress.advance(batch.len());
        }
        Ok(results)
    }

    fn spec(&self) -> Value {
        let acts: serde_json::Map<String, Value> = self
            .index
            .acts
            .iter()
            .map(|(act, (index, fingerprint))| (act.clone(), json!({"index": index, "texts": fingerprint})))
            .collect();
        let engine = match self.kind {
            Kind::Bm25 => json!({"query": "match (or)", "analyzer": "standard", "k1": 1.2, "b": 0.75}),
            Kind::Neighbours => json!({"query": "k-NN (HNSW on lucene, m 16, ef_construction 512)",
                "model": self.index.model.as_ref().map(|model| model.spec())}),
        };
        json!({"engine": format!("OpenSearch {}", self.index.cluster.version), "search": engine, "acts": acts})
    }
}
