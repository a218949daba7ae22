//! One engine for each act, so that a question is answered from the act that it is about and no act's word counts
//! disturb another's.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Found, Passage, Question, Retrieve, TermScore};
use crate::error::{Error, ErrorKind, Result};
use crate::lab::Fingerprint;
use crate::signal;
use crate::table::{Chunks, texts};

/// Questions that an engine gets at once; between two batches an interrupt is heard.
const BATCH: usize = 64;

/// One result of an engine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hit {
    /// Which of the engine's passages, from 0.
    pub passage: usize,
    /// Higher is better.
    pub score: f32,
}

/// A search engine over the passages of one act, which stand in the order of their names.
pub(super) trait Engine: std::fmt::Debug + Send + Sync {
    /// The best `k` of the passages that `keep` allows, best first, ties by place.
    fn search(&self, questions: &[String], k: usize, keep: Option<&Arc<Vec<bool>>>) -> Result<Vec<Vec<Hit>>>;

    fn spec(&self) -> Value;

    /// What the index occupies in memory or on disk, where that is known.
    fn index_bytes(&self) -> Option<u64> {
        None
    }

    fn explain_score(&self, _question: &str, _passage: usize) -> Result<Vec<TermScore>> {
        Err(Error::input("this engine's scores are not sums over terms").help("only BM25 explains its scores"))
    }
}

/// Builds an engine over passages, given their act's language where all have the same.
pub(super) type Build<'a> = dyn Fn(&[Arc<Passage>], Option<&str>) -> Result<Box<dyn Engine>> + 'a;

#[derive(Debug)]
struct Act {
    passages: Vec<Arc<Passage>>,
    engine: Box<dyn Engine>,
    fingerprint: String,
}

/// Engines by act.
#[derive(Debug)]
pub(super) struct Acts(BTreeMap<String, Act>);

/// The chunks by act, each act's in the order of their names: engines break ties by place.
pub(super) fn passages(chunks: &Chunks) -> Result<BTreeMap<String, Vec<Arc<Passage>>>> {
    let frame = chunks.frame();
    let source = if frame.column("source").is_ok() { "source" } else { "document_id" };
    let sources = texts(frame, source)?;
    let languages =
        if frame.column("language").is_ok() { texts(frame, "language")? } else { vec![None; frame.height()] };
    let mut acts: BTreeMap<String, Vec<Arc<Passage>>> = BTreeMap::new();
    let rows = texts(frame, "chunk_id")?.into_iter().zip(texts(frame, "text")?).zip(sources).zip(languages);
    for (((chunk_id, text), source), language) in rows {
        let (Some(chunk_id), Some(text)) = (chunk_id, text) else { continue };
        let source = source.unwrap_or_default();
        let passage = Passage { chunk_id, text, source: source.clone(), language };
        acts.entry(source).or_default().push(Arc::new(passage));
    }
    for passages in acts.values_mut() {
        passages.sort_by(|a, b| a.chunk_id.cmp(&b.chunk_id));
    }
    let mut seen = std::collections::HashSet::new();
    if let Some(twice) = acts.values().flatten().find(|passage| !seen.insert(passage.chunk_id.as_str())) {
        return Err(Error::input(format!("two chunks have the id {:?}", twice.chunk_id))
            .help("make chunk_id unique before indexing"));
    }
    if acts.is_empty() {
        return Err(Error::input("there are no chunks: nothing can be indexed")
            .help("look at chunks.height(); a filter may have left nothing"));
    }
    Ok(acts)
}

/// Identifies passages by their names and texts.
pub(super) fn fingerprint(passages: &[Arc<Passage>]) -> String {
    let mut print = Fingerprint::new();
    for passage in passages {
        print = print.text(&passage.chunk_id).text(&passage.text);
    }
    print.finish()
}

impl Acts {
    pub(super) fn build(name: &str, chunks: &Chunks, build: &Build<'_>) -> Result<Self> {
        let mut acts = BTreeMap::new();
        for (source, passages) in passages(chunks)? {
            let first = passages.first().and_then(|passage| passage.language.as_deref());
            let language = first.filter(|code| passages.iter().all(|one| one.language.as_deref() == Some(*code)));
            let engine =
                build(&passages, language).map_err(|error| error.context(format!("building {name} over {source}")))?;
            let fingerprint = fingerprint(&passages);
            acts.insert(source, Act { passages, engine, fingerprint });
        }
        Ok(Self(acts))
    }

    fn act_of(&self, source: Option<&str>) -> Result<(&str, &Act)> {
        let chosen = match source {
            Some(source) => self.0.get_key_value(source),
            None if self.0.len() == 1 => self.0.first_key_value(),
            None => None,
        };
        chosen.map(|(name, act)| (name.as_str(), act)).ok_or_else(|| {
            let known: Vec<&String> = self.0.keys().collect();
            let asked = source.map_or_else(|| "names no act".to_owned(), |name| format!("asks for the act {name:?}"));
            Error::input(format!("a question {asked}, and the indexed acts are {known:?}"))
                .help("index the act's chunks too, set the questions' column \"source\", or use from_source(…)")
        })
    }
}

impl Retrieve for Acts {
    fn search(&self, questions: &[Question], k: usize) -> Result<Vec<Vec<Found>>> {
        let mut results = vec![Vec::new(); questions.len()];
        if k == 0 {
            return Ok(results);
        }
        // Questions to one act in one language are asked together.
        let mut groups: BTreeMap<(&str, Option<&str>), Vec<usize>> = BTreeMap::new();
        for (row, question) in questions.iter().enumerate() {
            let (name, _) = self.act_of(question.source.as_deref())?;
            groups.entry((name, question.language.as_deref())).or_default().push(row);
        }
        for ((source, language), rows) in groups {
            let Some(act) = self.0.get(source) else { continue };
            let keep = language.map(|code| {
                Arc::new(act.passages.iter().map(|one| one.language.as_deref() == Some(code)).collect::<Vec<bool>>())
            });
            for rows in rows.chunks(BATCH) {
                signal::check("nothing of this run is kept")?;
                let texts: Vec<String> =
                    rows.iter().filter_map(|row| questions.get(*row)).map(|one| one.text.clone()).collect();
                let hits = act.engine.search(&texts, k, keep.as_ref())?;
                for (row, hits) in rows.iter().zip(hits) {
                    let found = hits.iter().filter_map(|hit| {
                        let passage = act.passages.get(hit.passage)?.clone();
                        Some(Found { passage, score: f64::from(hit.score), note: None })
                    });
                    if let Some(place) = results.get_mut(*row) {
                        *place = found.collect();
                    }
                }
            }
        }
        Ok(results)
    }

    fn spec(&self) -> Value {
        let acts: BTreeMap<_, _> = self
            .0
            .iter()
            .map(|(source, act)| {
                let told = json!({"chunks": act.passages.len(), "texts": act.fingerprint, "engine": act.engine.spec()});
                (source, told)
            })
            .collect();
        json!({"acts": acts})
    }

    fn index_bytes(&self) -> Option<u64> {
        self.0.values().map(|act| act.engine.index_bytes()).sum()
    }

    fn explain_score(&self, question: &Question, chunk_id: &str) -> Result<Vec<TermScore>> {
        for act in self.0.values() {
            if let Ok(place) = act.passages.binary_search_by(|one| one.chunk_id.as_str().cmp(chunk_id)) {
                return act.engine.explain_score(&question.text, place);
            }
        }
        Err(Error::new(ErrorKind::NotFound, format!("there is no chunk {chunk_id:?} in this index")))
    }
}
