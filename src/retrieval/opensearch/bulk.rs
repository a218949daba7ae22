//! Sending documents: as much at once as the cluster takes, and nothing twice that it has acknowledged.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::client::{Answer, Client, pause, reason};
use crate::error::{Error, ErrorKind, Result};
use crate::lab::Lab;
use crate::signal::Progress;

/// Bytes of one request; OpenSearch's documentation advises 5 to 15 MB.
const BYTES: usize = 5_000_000;
/// Documents of one request at most.
const DOCUMENTS: usize = 500;

/// What the cluster has acknowledged, one id a line, in the lab's folder.
struct Acknowledged {
    file: File,
    path: PathBuf,
    ids: HashSet<String>,
}

impl Acknowledged {
    /// Of one index; when it is deleted and made again, its `uuid` and so its file are others.
    fn open(lab: &Lab, uuid: &str) -> Result<Self> {
        let folder = lab.folder().join("opensearch");
        std::fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, &error))?;
        let plain: String =
            uuid.chars().filter(|letter| letter.is_ascii_alphanumeric() || "-_".contains(*letter)).collect();
        let path = folder.join(format!("{plain}.jsonl"));
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Error::file(&path, &error)),
        };
        // A line that was cut by a crash is no JSON: its documents are only sent again.
        let ids = text.lines().filter_map(|line| serde_json::from_str::<Vec<String>>(line).ok()).flatten().collect();
        let mut file =
            OpenOptions::new().create(true).append(true).open(&path).map_err(|error| Error::file(&path, &error))?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n").map_err(|error| Error::file(&path, &error))?;
        }
        Ok(Self { file, path, ids })
    }

    fn add(&mut self, ids: Vec<String>) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let line = format!("{}\n", json!(ids));
        self.file
            .write_all(line.as_bytes())
            .and_then(|()| self.file.sync_data())
            .map_err(|error| Error::file(&self.path, &error))?;
        self.ids.extend(ids);
        Ok(())
    }

    fn forget(&mut self) -> Result<()> {
        self.ids.clear();
        self.file.set_len(0).map_err(|error| Error::file(&self.path, &error))
    }
}

/// Sends what the cluster has not acknowledged yet, and makes sure that all of it can be found.
pub(super) fn send(lab: &Lab, client: &Client, index: &str, uuid: &str, documents: &[(&str, Value)]) -> Result<()> {
    let mut acknowledged = Acknowledged::open(lab, uuid)?;
    let mut again = true;
    loop {
        let missing: Vec<&(&str, Value)> = documents.iter().filter(|(id, _)| !acknowledged.ids.contains(*id)).collect();
        if !missing.is_empty() {
            send_all(client, index, &missing, &mut acknowledged)?;
        }
        client.post(&format!("{index}/_refresh"))?;
        let counted = client.get(&format!("{index}/_count"))?.get("count").and_then(Value::as_u64).unwrap_or_default();
        if counted == documents.len() as u64 {
            return Ok(());
        }
        if !again {
            return Err(Error::input(format!("sent {} chunks, and the index counts {counted}", documents.len()))
                .help("something else writes to this index; choose another name"));
        }
        // Documents were removed behind our back: what was acknowledged counts no more, and all are sent once again.
        acknowledged.forget()?;
        again = false;
    }
}

fn send_all(client: &Client, index: &str, missing: &[&(&str, Value)], acknowledged: &mut Acknowledged) -> Result<()> {
    let progress = Progress::new(&format!("Sending to {index}"), missing.len());
    let mut refused: Vec<(String, String)> = Vec::new();
    let mut waiting: Vec<(String, String)> =
        missing.iter().rev().map(|(id, document)| ((*id).to_owned(), lines(id, document))).collect();
    let mut most = DOCUMENTS;
    let mut busy = 0;
    while !waiting.is_empty() {
        let batch = take(&mut waiting, most);
        let kept = format!("{} of {} chunks are in and stay there", acknowledged.ids.len(), missing.len());
        let body: String = batch.iter().map(|(_, lines)| lines.as_str()).collect();
        let (mut wished, mut full) = (None, false);
        match client.lines(&format!("{index}/_bulk"), body, &kept)? {
            Answer::Fine(answer) => {
                let sorted = sort(&answer, batch)?;
                progress.advance(sorted.done.len() + sorted.refused.len());
                acknowledged.add(sorted.done)?;
                refused.extend(sorted.refused);
                full = !sorted.busy.is_empty();
                waiting.extend(sorted.busy.into_iter().rev());
            }
            Answer::TooLarge if batch.len() == 1 => {
                refused
                    .extend(batch.into_iter().map(|(id, _)| (id, "larger than the cluster accepts (413)".to_owned())));
            }
            Answer::TooLarge => {
                most = (batch.len() / 2).max(1);
                waiting.extend(batch.into_iter().rev());
            }
            Answer::Busy(wish) => {
                (wished, full) = (wish, true);
                waiting.extend(batch.into_iter().rev());
            }
        }
        if full {
            // Half as much at once, after a pause; the way back up is slow.
            busy += 1;
            if busy >= client.patience.tries {
                return Err(client.busy());
            }
            most = (most / 2).max(1);
            pause(client.patience.pause(busy, wished), &kept)?;
        } else {
            busy = 0;
            most = (most + most / 4 + 1).min(DOCUMENTS);
        }
    }
    match refused.first() {
        None => Ok(()),
        Some((id, why)) => Err(Error::new(
            ErrorKind::Input,
            format!("the cluster refused {} of {} chunks, the first {id:?}: {why}", refused.len(), missing.len()),
        )
        .help("all others are in; mend the chunks, or choose another index if its mapping is at fault")),
    }
}

/// One document in the form of a bulk request. Sending it twice leaves one document.
fn lines(id: &str, document: &Value) -> String {
    format!("{}\n{document}\n", json!({"index": {"_id": id}}))
}

/// The next documents, at least one.
fn take(waiting: &mut Vec<(String, String)>, most: usize) -> Vec<(String, String)> {
    let mut batch: Vec<(String, String)> = Vec::new();
    let mut bytes = 0;
    while let Some((_, next)) = waiting.last() {
        if !batch.is_empty() && (batch.len() >= most || bytes + next.len() > BYTES) {
            break;
        }
        bytes += next.len();
        batch.extend(waiting.pop());
    }
    batch
}

/// A batch by what became of its documents.
#[derive(Debug, Default)]
struct Sorted {
    done: Vec<String>,
    busy: Vec<(String, String)>,
    refused: Vec<(String, String)>,
}

fn sort(answer: &Value, batch: Vec<(String, String)>) -> Result<Sorted> {
    let items = answer.get("items").and_then(Value::as_array).filter(|items| items.len() == batch.len());
    let Some(items) = items else {
        let told = format!("the cluster answered a bulk request of {} documents with other items", batch.len());
        return Err(Error::new(ErrorKind::Internal, told));
    };
    let mut sorted = Sorted::default();
    for ((id, lines), item) in batch.into_iter().zip(items) {
        let outcome = item.get("index").unwrap_or(&Value::Null);
        match outcome.get("status").and_then(Value::as_u64) {
            Some(200..=299) => sorted.done.push(id),
            Some(429 | 502..=504) => sorted.busy.push((id, lines)),
            status => {
                let why = outcome.get("error").and_then(reason);
                let why = why.unwrap_or_else(|| format!("status {}", status.unwrap_or_default()));
                sorted.refused.push((id, why));
            }
        }
    }
    Ok(sorted)
}
