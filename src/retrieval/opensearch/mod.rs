//! OpenSearch (2.x and 3.x) as a retriever: BM25 and approximate nearest neighbours on a cluster.
//!
//! What is sent and understood follows OpenSearch's documentation, and the tests play its answers from there. A real
//! cluster has not been seen yet.
//!
//! ```no_run
//! use claimlab::prelude::*;
//! use claimlab::retrieval::opensearch::OpenSearch;
//! # fn main() -> claimlab::Result<()> {
//! let lab = Lab::open()?;
//! let sample = lab.sample()?;
//! let chunks = sample.chunks(&Chunking::tokens(600, 120)?)?;
//! // OPENSEARCH_USERNAME, OPENSEARCH_PASSWORD and, for a certificate of one's own, OPENSEARCH_CA are read here.
//! let cluster = OpenSearch::connect("https://localhost:9200")?;
//! let index = cluster.index(&lab, "claimlab-sample", &chunks)?;
//! let there = index.bm25().retrieve(&sample.questions(), 10)?;
//! let here = Retriever::bm25(&chunks)?.retrieve(&sample.questions(), 10)?;
//! here.beside(&there)?;
//! # Ok(())
//! # }
//! ```

mod bulk;
mod client;
mod mapping;
mod search;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::acts;
use super::{Dense, Passage, Retriever};
use crate::error::{Error, ErrorKind, Result};
use crate::lab::{Fingerprint, Lab};
use crate::signal;
use crate::table::Chunks;
use client::Client;

/// A cluster. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct OpenSearch {
    client: Arc<Client>,
    version: String,
}

/// Chunks on a cluster: one index an act, of one shard, so that word counts are those of the act.
#[derive(Debug, Clone)]
pub struct OpenSearchIndex {
    cluster: OpenSearch,
    /// The act's name, the index's name, and the fingerprint of what is in it.
    acts: Arc<BTreeMap<String, (String, String)>>,
    model: Option<Dense>,
}

impl OpenSearch {
    /// Connects and asks for the version. User and password come from `OPENSEARCH_USERNAME` and `OPENSEARCH_PASSWORD`;
    /// `OPENSEARCH_CA` names a PEM file with the authority that signed the cluster's certificate.
    ///
    /// # Errors
    /// When the cluster cannot be reached, refuses the password, is no OpenSearch 2 or 3, or when a password would go
    /// unencrypted to another machine.
    pub fn connect(url: &str) -> Result<Self> {
        Self::with(Client::new(url, &|name| std::env::var(name).ok())?)
    }

    fn with(mut client: Client) -> Result<Self> {
        // Whoever waits for a first answer wants to know soon that there is none.
        let patience = client.patience;
        client.patience.tries = 3;
        let told = client.get("")?;
        client.patience = patience;
        let distribution = told.pointer("/version/distribution").and_then(Value::as_str);
        let number = told.pointer("/version/number").and_then(Value::as_str).unwrap_or_default().to_owned();
        let major = number.split('.').next().unwrap_or_default();
        if distribution != Some("opensearch") || !matches!(major, "2" | "3") {
            let found = distribution.unwrap_or("no OpenSearch");
            return Err(Error::input(format!("{} says that it is {found} {number}", client.address()))
                .help("OpenSearch 2.x and 3.x are supported"));
        }
        Ok(Self { client: Arc::new(client), version: number })
    }

    /// The cluster's version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Indexes chunks for BM25: OpenSearch's `standard` analyzer, k1 = 1.2, b = 0.75. Each act becomes an index
    /// `{name}-{act}`. What the cluster has acknowledged is noted in the lab, so that an interrupted call goes on where
    /// it stopped; a second call with the same chunks sends nothing.
    ///
    /// # Errors
    /// When an index of that name holds something else, the cluster is red, or it refuses documents: those are named, and
    /// all others are in.
    pub fn index(&self, lab: &Lab, name: &str, chunks: &Chunks) -> Result<OpenSearchIndex> {
        self.fill(lab, name, chunks, None)
    }

    /// The same with a vector for every chunk, for [`OpenSearchIndex::knn`].
    ///
    /// # Errors
    /// As [`OpenSearch::index`], and when the model fails.
    pub fn index_with_vectors(&self, lab: &Lab, name: &str, chunks: &Chunks, model: &Dense) -> Result<OpenSearchIndex> {
        self.fill(lab, name, chunks, Some(model))
    }

    fn fill(&self, lab: &Lab, name: &str, chunks: &Chunks, model: Option<&Dense>) -> Result<OpenSearchIndex> {
        let mut made = BTreeMap::new();
        for (source, passages) in acts::passages(chunks)? {
            let index = mapping::index_name(name, &source)?;
            let vectors = model.map(|model| model.vectors(lab, &passages)).transpose()?;
            let width = vectors.as_ref().and_then(|rows| rows.first()).map(Vec::len);
            let fingerprint = Fingerprint::new()
                .text(&acts::fingerprint(&passages))
                .text(&model.map_or_else(String::new, |model| model.spec().to_string()))
                .finish();
            let uuid = mapping::ensure(&self.client, &index, &fingerprint, width)
                .map_err(|error| error.context(format!("preparing the index {index}")))?;
            let documents: Vec<(&str, Value)> = passages
                .iter()
                .enumerate()
                .map(|(place, passage)| {
                    let vector = vectors.as_ref().and_then(|rows| rows.get(place));
                    (passage.chunk_id.as_str(), document(passage, vector))
                })
                .collect();
            bulk::send(lab, &self.client, &index, &uuid, &documents)
                .map_err(|error| error.context(format!("filling the index {index}")))?;
            made.insert(source, (index, fingerprint));
        }
        Ok(OpenSearchIndex { cluster: self.clone(), acts: Arc::new(made), model: model.cloned() })
    }

    /// Shows address and version.
    pub fn evcxr_display(&self) {
        signal::display(None, None, &format!("OpenSearch {} at {}", self.version, self.client.address()));
    }
}

fn document(passage: &Passage, vector: Option<&Vec<f32>>) -> Value {
    let mut document = json!({"chunk_id": passage.chunk_id, "text": passage.text, "source": passage.source});
    if let Some(language) = &passage.language {
        document["language"] = json!(language);
    }
    if let Some(vector) = vector {
        document["vector"] = json!(vector);
    }
    document
}

impl OpenSearchIndex {
    /// BM25 on the cluster: an OR of the question's words, as a `match` query makes it. Clusters of version 2 give scores
    /// 2.2 times those of version 3 (the factor k1 + 1), which changes no order.
    #[must_use]
    pub fn bm25(&self) -> Retriever {
        Retriever::new("OpenSearch BM25", Arc::new(search::Search::new(self.clone(), search::Kind::Bm25)))
    }

    /// Nearest neighbours by cosine through HNSW on the cluster (m = 16, ef_construction = 512): approximate, unlike
    /// [`Retriever::dense`].
    ///
    /// # Errors
    /// When the index has no vectors.
    pub fn knn(&self) -> Result<Retriever> {
        let Some(model) = &self.model else {
            return Err(Error::input("this index has no vectors").help("fill it with cluster.index_with_vectors(…)"));
        };
        let name = format!("OpenSearch k-NN {}", model.name());
        Ok(Retriever::new(&name, Arc::new(search::Search::new(self.clone(), search::Kind::Neighbours))))
    }

    /// The names of the indexes on the cluster, in the order of the acts.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.acts.values().map(|(index, _)| index.clone()).collect()
    }

    /// Removes these indexes from the cluster. Only indexes that this library made are touched.
    ///
    /// # Errors
    /// When one of them was made by something else, or the cluster refuses.
    pub fn delete(&self) -> Result<()> {
        for (index, fingerprint) in self.acts.values() {
            match mapping::found(&self.cluster.client, index)? {
                None => {}
                Some(found) if found.fingerprint.as_deref() == Some(fingerprint) => {
                    self.cluster.client.delete(index)?;
                }
                Some(_) => {
                    return Err(Error::new(ErrorKind::Input, format!("the index {index} now holds something else"))
                        .help("remove it by OpenSearch's own means if it is no longer needed"));
                }
            }
        }
        Ok(())
    }

    /// Shows the names.
    pub fn evcxr_display(&self) {
        signal::display(None, None, &format!("OpenSearch indexes: {}", self.names().join(", ")));
    }
}
