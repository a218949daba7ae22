//! A server on the loopback that plays OpenSearch: answers in the shapes of OpenSearch's documentation, and faults in a
//! script. It is no search engine: scores are counts of shared words, or dot products.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// Status and body.
type Response = (u16, String);

/// What goes wrong with the next request of a kind.
#[derive(Debug, Clone)]
pub enum Fault {
    /// The whole bulk request is refused for now (429).
    Busy,
    /// The whole bulk request is too large (413).
    TooLarge,
    /// Every second document of the bulk request is refused for now.
    HalfBusy,
    /// The document of this id does not fit the mapping.
    Misfit(&'static str),
    /// The gateway has no server (503).
    Away,
    /// A shard does not answer a search.
    ShardLost,
    /// The health is red.
    Red,
    /// A search has more clauses than the cluster takes.
    TooManyClauses,
}

#[derive(Debug, Default)]
struct Index {
    body: Value,
    uuid: String,
    documents: BTreeMap<String, Value>,
}

#[derive(Debug, Default)]
struct State {
    version: String,
    distribution: String,
    indexes: HashMap<String, Index>,
    faults: VecDeque<(&'static str, Fault)>,
    /// Requests by kind, and documents sent in bulk.
    counts: HashMap<&'static str, usize>,
    password: Option<String>,
}

/// A running server; it ends with the value.
#[derive(Debug)]
pub struct Cluster {
    state: Arc<Mutex<State>>,
    url: String,
    stop: Arc<AtomicBool>,
}

impl Cluster {
    pub fn start(distribution: &str, version: &str) -> Self {
        let state = Arc::new(Mutex::new(State {
            version: version.to_owned(),
            distribution: distribution.to_owned(),
            ..State::default()
        }));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stop = Arc::new(AtomicBool::new(false));
        let (shared, stopped) = (state.clone(), stop.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let shared = shared.clone();
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        Self { state, url, stop }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Lets the next request of this kind (`bulk`, `search`, `health`, `any`) go wrong.
    pub fn fault(&self, kind: &'static str, fault: Fault) {
        self.state.lock().unwrap().faults.push_back((kind, fault));
    }

    pub fn count(&self, kind: &'static str) -> usize {
        self.state.lock().unwrap().counts.get(kind).copied().unwrap_or_default()
    }

    pub fn documents(&self, index: &str) -> usize {
        self.state.lock().unwrap().indexes.get(index).map_or(0, |index| index.documents.len())
    }

    /// Somebody else removes documents.
    pub fn lose_documents(&self, index: &str, keep: usize) {
        let mut state = self.state.lock().unwrap();
        let documents = &mut state.indexes.get_mut(index).unwrap().documents;
        while documents.len() > keep {
            documents.pop_last();
        }
    }

    /// Somebody else makes an index.
    pub fn occupy(&self, index: &str) {
        let body = json!({"mappings": {"properties": {"text": {"type": "keyword"}}}});
        let made = Index { body, uuid: "foreign".to_owned(), documents: BTreeMap::new() };
        self.state.lock().unwrap().indexes.insert(index.to_owned(), made);
    }

    pub fn require(&self, password: &str) {
        self.state.lock().unwrap().password = Some(password.to_owned());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

/// Answers one request and closes.
fn serve(stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    let (mut head, mut length, mut authorization) = (String::new(), 0, None);
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) && line != "\r\n" {
        match line.trim().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().unwrap(),
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => authorization = Some(value.to_owned()),
            _ if head.is_empty() => head = line.trim().to_owned(),
            _ => {}
        }
        line.clear();
    }
    let mut body = vec![0; length];
    let parts: Vec<&str> = head.split(' ').collect();
    let ([method, path, _], Ok(())) = (parts.as_slice(), reader.read_exact(&mut body)) else { return };
    let path = path.split('?').next().unwrap();
    let (status, text) =
        answer(&mut state.lock().unwrap(), method, path, authorization.as_deref(), std::str::from_utf8(&body).unwrap());
    let told = format!("HTTP/1.1 {status} .\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len());
    let _ = reader.get_mut().write_all(told.as_bytes());
}

fn reply(status: u16, body: &Value) -> Response {
    (status, body.to_string())
}

fn refuse(status: u16, kind: &str, why: &str) -> Response {
    let cause = json!({"type": kind, "reason": why});
    reply(status, &json!({"error": {"root_cause": [cause], "type": kind, "reason": why}, "status": status}))
}

impl State {
    fn take(&mut self, kind: &'static str) -> Option<Fault> {
        *self.counts.entry(kind).or_default() += 1;
        if self.faults.front().is_some_and(|(wanted, _)| *wanted == kind || *wanted == "any") {
            return self.faults.pop_front().map(|(_, fault)| fault);
        }
        None
    }
}

fn answer(state: &mut State, method: &str, path: &str, authorization: Option<&str>, text: &str) -> Response {
    if state.password.is_some() && authorization != state.password.as_deref() {
        return (401, "Unauthorized".to_owned());
    }
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    match (method, parts.as_slice()) {
        ("GET", [""]) => {
            if matches!(state.take("any"), Some(Fault::Away)) {
                return refuse(503, "master_not_discovered_exception", "no cluster manager");
            }
            reply(
                200,
                &json!({"name": "node-1", "cluster_name": "played", "tagline": "The OpenSearch Project: https://opensearch.org/",
                "version": {"distribution": state.distribution, "number": state.version}}),
            )
        }
        ("GET", ["_cluster", "health", _]) => match state.take("health") {
            Some(Fault::Red) => reply(408, &json!({"status": "red", "timed_out": true, "unassigned_shards": 1})),
            _ => reply(200, &json!({"status": "green", "timed_out": false, "unassigned_shards": 0})),
        },
        ("POST", ["_msearch"]) => search(state, text),
        ("POST", [index, "_bulk"]) => bulk(state, index, text),
        ("POST", [_, "_refresh"]) => reply(200, &json!({"_shards": {"total": 1, "successful": 1, "failed": 0}})),
        ("GET", [index, "_count"]) => {
            reply(200, &json!({"count": state.indexes.get(*index).map_or(0, |index| index.documents.len())}))
        }
        ("PUT", [index]) => {
            let uuid = format!("uuid{}", state.counts.values().sum::<usize>());
            let made = Index { body: serde_json::from_str(text).unwrap(), uuid, documents: BTreeMap::new() };
            state.indexes.insert((*index).to_owned(), made);
            state.take("create");
            reply(200, &json!({"acknowledged": true, "shards_acknowledged": true, "index": index}))
        }
        ("DELETE", [index]) => {
            state.indexes.remove(*index);
            reply(200, &json!({"acknowledged": true}))
        }
        ("GET", [index]) => match state.indexes.get(*index) {
            None => refuse(404, "index_not_found_exception", &format!("no such index [{index}]")),
            Some(found) => {
                let mut settings = found.body["settings"].clone();
                settings["index"]["uuid"] = json!(found.uuid);
                reply(200, &json!({*index: {"mappings": found.body["mappings"], "settings": settings}}))
            }
        },
        _ => refuse(400, "illegal_argument_exception", &format!("no handler for {method} {path}")),
    }
}

fn bulk(state: &mut State, index: &str, text: &str) -> Response {
    let fault = state.take("bulk");
    match fault {
        Some(Fault::Busy) => return refuse(429, "circuit_breaking_exception", "[parent] Data too large"),
        Some(Fault::TooLarge) => return (413, String::new()),
        Some(Fault::Away) => return (503, "upstream connect error".to_owned()),
        _ => {}
    }
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut items, mut errors) = (Vec::new(), false);
    for (place, pair) in lines.chunks(2).enumerate() {
        let id = pair[0]["index"]["_id"].as_str().unwrap().to_owned();
        *state.counts.entry("documents").or_default() += 1;
        let refused = match &fault {
            Some(Fault::HalfBusy) if place % 2 == 1 => {
                Some((429, "rejected_execution_exception", "rejected execution of coordinating operation"))
            }
            Some(Fault::Misfit(misfit)) if *misfit == id => Some((
                400,
                "strict_dynamic_mapping_exception",
                "mapping set to strict, dynamic introduction not allowed",
            )),
            _ => None,
        };
        items.push(match refused {
            Some((status, kind, reason)) => {
                errors = true;
                json!({"index": {"_index": index, "_id": id, "status": status, "error": {"type": kind, "reason": reason}}})
            }
            None => {
                let found = state.indexes.get_mut(index).unwrap();
                let old = found.documents.insert(id.clone(), pair[1].clone());
                let status = if old.is_some() { 200 } else { 201 };
                json!({"index": {"_index": index, "_id": id, "status": status, "result": "created", "_version": 1}})
            }
        });
    }
    reply(200, &json!({"took": 1, "errors": errors, "items": items}))
}

fn search(state: &mut State, text: &str) -> Response {
    let fault = state.take("search");
    if matches!(fault, Some(Fault::Busy)) {
        return refuse(429, "rejected_execution_exception", "search queue is full");
    }
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let responses: Vec<Value> = lines
        .chunks(2)
        .map(|pair| {
            if matches!(fault, Some(Fault::TooManyClauses)) {
                let why = "maxClauseCount is set to 1024";
                let cause = json!({"type": "too_many_clauses", "reason": why});
                return json!({"error": {"root_cause": [cause], "type": "search_phase_execution_exception"}, "status": 400});
            }
            let index = &state.indexes[pair[0]["index"].as_str().unwrap()];
            let mut hits: Vec<(f64, &String, &Value)> = index
                .documents
                .iter()
                .map(|(id, document)| (score(&pair[1]["query"], document), id, document))
                .filter(|(score, ..)| *score > 0.0)
                .collect();
            hits.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
            hits.truncate(pair[1]["size"].as_u64().unwrap() as usize);
            let hits: Vec<Value> = hits
                .into_iter()
                .map(|(score, id, document)| json!({"_id": id, "_score": score, "_source": document, "sort": [score, id]}))
                .collect();
            let failed = u64::from(matches!(fault, Some(Fault::ShardLost)));
            json!({"took": 1, "timed_out": false, "_shards": {"total": 1, "successful": 1 - failed, "failed": failed},
                "hits": {"hits": hits}, "status": 200})
        })
        .collect();
    reply(200, &json!({"took": 1, "responses": responses}))
}

fn score(query: &Value, document: &Value) -> f64 {
    let filter = query.pointer("/bool/filter/0/term/language").or(query.pointer("/knn/vector/filter/term/language"));
    if filter.is_some_and(|wanted| document.get("language") != Some(wanted)) {
        return 0.0;
    }
    let words = |text: &str| -> Vec<String> {
        text.split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    if let Some(vector) = query.pointer("/knn/vector/vector").and_then(Value::as_array) {
        let other = document["vector"].as_array().unwrap();
        let dot: f64 = vector.iter().zip(other).map(|(a, b)| a.as_f64().unwrap() * b.as_f64().unwrap()).sum();
        return (1.0 + dot) / 2.0;
    }
    let asked = query.pointer("/bool/must/0/match/text/query").and_then(Value::as_str).unwrap();
    let held = words(document["text"].as_str().unwrap());
    let mut asked = words(asked);
    asked.sort();
    asked.dedup();
    asked.iter().filter(|word| held.contains(word)).count() as f64
}
