//! Indexes on the cluster: their names, their shape, and whose they are.

use serde_json::{Value, json};

use super::client::Client;
use crate::error::{Error, Result};

/// The shape of a name that OpenSearch accepts: lower case, digits, `-` and `_`, and a letter or digit first.
pub(super) fn index_name(name: &str, act: &str) -> Result<String> {
    let plain: String = format!("{name}-{act}")
        .to_lowercase()
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' })
        .collect();
    let fine = name.chars().next().is_some_and(|first| first.is_ascii_alphanumeric()) && plain.len() <= 255;
    if fine {
        return Ok(plain);
    }
    Err(Error::input(format!("an index cannot be named {plain:?}"))
        .help("begin the name with a letter or digit and keep it short, as in \"claimlab-gdpr\""))
}

/// What is known of an index that exists.
#[derive(Debug)]
pub(super) struct Existing {
    /// Of the chunks that this library put there; none if it was not this library.
    pub fingerprint: Option<String>,
    /// The cluster's own identity of the index: another one after it was deleted and made again.
    pub uuid: String,
}

pub(super) fn found(client: &Client, index: &str) -> Result<Option<Existing>> {
    let Some(told) = client.find(index)? else { return Ok(None) };
    let told = told.get(index).unwrap_or(&Value::Null);
    let text = |path: &str| told.pointer(path).and_then(Value::as_str).map(str::to_owned);
    Ok(Some(Existing {
        fingerprint: text("/mappings/_meta/claimlab/fingerprint"),
        uuid: text("/settings/index/uuid").unwrap_or_default(),
    }))
}

/// Makes the index if it is not there, checks that it is the right one and that the cluster can use it; its identity.
pub(super) fn ensure(client: &Client, index: &str, fingerprint: &str, width: Option<usize>) -> Result<String> {
    if found(client, index)?.is_none() {
        client.put(index, &shape(fingerprint, width))?;
    }
    let Some(existing) = found(client, index)? else {
        return Err(Error::input("the cluster does not show the index that it has just made"));
    };
    if existing.fingerprint.as_deref() != Some(fingerprint) {
        let holds = if existing.fingerprint.is_some() { "other chunks or vectors" } else { "something else" };
        return Err(Error::input(format!("it exists already and holds {holds}"))
            .help("choose another name; what is there is left alone"));
    }
    let health = client.get(&format!("_cluster/health/{index}?wait_for_status=yellow&timeout=30s"))?;
    let status = health.get("status").and_then(Value::as_str).unwrap_or("unknown");
    if !matches!(status, "yellow" | "green") {
        let lost = health.get("unassigned_shards").and_then(Value::as_u64).unwrap_or_default();
        return Err(Error::input(format!("the cluster says that it is {status}: {lost} shards have no place"))
            .help("look at the cluster's disks and nodes (GET _cluster/allocation/explain)"));
    }
    Ok(existing.uuid)
}

/// One shard, so that word counts are the index's own; `standard` without stop words; only the fields that are meant.
fn shape(fingerprint: &str, width: Option<usize>) -> Value {
    let mut settings = json!({"number_of_shards": 1, "number_of_replicas": 0});
    let mut fields = json!({
        "chunk_id": {"type": "keyword"},
        "source": {"type": "keyword"},
        "language": {"type": "keyword"},
        "text": {"type": "text", "analyzer": "standard"},
    });
    if let Some(width) = width {
        settings["knn"] = json!(true);
        fields["vector"] = json!({"type": "knn_vector", "dimension": width, "method": {"name": "hnsw",
            "engine": "lucene", "space_type": "cosinesimil", "parameters": {"m": 16, "ef_construction": 512}}});
    }
    json!({
        "settings": {"index": settings},
        "mappings": {
            "dynamic": "strict",
            "_meta": {"claimlab": {"fingerprint": fingerprint, "release": env!("CARGO_PKG_VERSION")}},
            "properties": fields,
        },
    })
}
