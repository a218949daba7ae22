//! BM25 on tantivy: one writer, one segment, in memory or on disk.
//!
//! tantivy keeps and reads the postings. Its own ranking is approximate in the order of equal scores and was
//! slower here than scoring in [`Impacts`], which are read from its postings when an index is opened; the tests compare
//! the two.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tantivy::directory::{Directory, MmapDirectory, RamDirectory};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::Postings;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{DocSet, InvertedIndexReader, Searcher, TERMINATED, TantivyError, Term};

use super::impacts::Impacts;
use super::inversion::Inversion;
use super::segment;
use super::terms::{counted, idf};
use super::{B, K1, spec};
use crate::error::{Error, ErrorKind, Result};
use crate::lab::{Fingerprint, Lab};
use crate::retrieval::acts::{Engine, Hit};
use crate::retrieval::{Analyzer, Passage, TermScore};

/// Name of the analyzer in the index's schema.
pub(super) const ANALYZER: &str = "analyzer";

/// One index over one act, in one segment, so that word counts are those of the whole act and places are document ids.
pub(super) struct Index {
    searcher: Searcher,
    text: Field,
    analyzer: Analyzer,
    /// By the ordinals of tantivy's dictionary.
    impacts: Impacts,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Index").field("analyzer", &self.analyzer).finish_non_exhaustive()
    }
}

fn failed(error: TantivyError) -> Error {
    Error::new(ErrorKind::Internal, format!("the BM25 index failed: {error}"))
}

pub(super) fn schema() -> Schema {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default().set_tokenizer(ANALYZER).set_index_option(IndexRecordOption::WithFreqs);
    schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
    schema.build()
}

impl Index {
    pub(super) fn in_memory(passages: &[Arc<Passage>], analyzer: Analyzer) -> Result<Self> {
        Self::open(&write(RamDirectory::create(), passages, analyzer)?, passages.len(), analyzer)
    }

    /// Builds the index in the lab's folder, or opens the one that is there. It appears under its name complete.
    pub(super) fn on_disk(lab: &Lab, passages: &[Arc<Passage>], analyzer: Analyzer) -> Result<Self> {
        let texts = crate::retrieval::acts::fingerprint(passages);
        let print = Fingerprint::new().text("bm25").text(analyzer.name()).text(env!("CARGO_PKG_VERSION")).text(&texts);
        let folder = lab.folder().join("artifacts").join("bm25").join(print.finish());
        if !folder.is_dir() {
            let temporary = folder.with_extension(format!("tmp{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&temporary);
            std::fs::create_dir_all(&temporary).map_err(|error| Error::file(&temporary, &error))?;
            let directory = MmapDirectory::open(&temporary).map_err(|error| failed(error.into()))?;
            let told = json!({"kind": "bm25", "specification": spec("tantivy BM25", analyzer, K1, B),
                "passages": passages.len(), "texts": texts, "claimlab": env!("CARGO_PKG_VERSION")});
            let written = write(directory, passages, analyzer).map(drop).and_then(|()| {
                let file = temporary.join("spec.json");
                std::fs::write(&file, format!("{told:#}\n")).map_err(|error| Error::file(&file, &error))
            });
            if let Err(error) = written {
                let _ = std::fs::remove_dir_all(&temporary);
                return Err(error);
            }
            publish(&temporary, &folder)?;
        }
        let damaged = |what: String| {
            Error::new(ErrorKind::Input, format!("the BM25 index in {} cannot be used: {what}", folder.display()))
                .help("remove that folder; the index is built again")
        };
        let index = tantivy::Index::open_in_dir(&folder).map_err(|error| damaged(error.to_string()))?;
        let broken = index.validate_checksum().map_err(|error| damaged(error.to_string()))?;
        if !broken.is_empty() {
            let mut names: Vec<String> = broken.iter().map(|path| path.display().to_string()).collect();
            names.sort();
            return Err(damaged(format!("these files are cut short or changed: {}", names.join(", "))));
        }
        Self::open(&index, passages.len(), analyzer).map_err(|error| damaged(error.to_string()))
    }

    fn open(index: &tantivy::Index, passages: usize, analyzer: Analyzer) -> Result<Self> {
        let text = index.schema().get_field("text").map_err(failed)?;
        let searcher = index.reader().map_err(failed)?.searcher();
        let found = searcher.num_docs();
        if found != passages as u64 || searcher.segment_readers().len() != 1 {
            let segments = searcher.segment_readers().len();
            return Err(Error::input(format!(
                "expected {passages} passages in 1 segment, found {found} in {segments}"
            )));
        }
        let impacts = impacts(&searcher, text)?;
        Ok(Self { searcher, text, analyzer, impacts })
    }

    fn inverted(&self) -> Result<Arc<InvertedIndexReader>> {
        self.searcher.segment_reader(0).inverted_index(self.text).map_err(failed)
    }
}

/// k1 · (1 − b + b · length / average_length) for every length that tantivy's one byte can say.
fn norms(total_tokens: u64, documents: u64) -> [f64; 256] {
    let average = (total_tokens as f64 / documents.max(1) as f64).max(f64::MIN_POSITIVE);
    let mut norms = [0.0; 256];
    for (id, norm) in (0..=u8::MAX).zip(&mut norms) {
        *norm = K1 * (1.0 - B + B * f64::from(FieldNormReader::id_to_fieldnorm(id)) / average);
    }
    norms
}

/// Reads every posting once, in the order of the dictionary.
fn impacts(searcher: &Searcher, text: Field) -> Result<Impacts> {
    let segment = searcher.segment_reader(0);
    let inverted = segment.inverted_index(text).map_err(failed)?;
    let lengths = segment.get_fieldnorms_reader(text).map_err(failed)?;
    let documents = searcher.num_docs();
    let norms = norms(inverted.total_num_tokens(), documents);
    let mut impacts = Impacts::new(documents as usize);
    let mut terms = inverted.terms().stream().map_err(|error| failed(error.into()))?;
    while terms.advance() {
        let info = terms.value();
        let idf = idf(u64::from(info.doc_freq), documents);
        let postings = inverted.read_postings_from_terminfo(info, IndexRecordOption::WithFreqs);
        let mut postings = postings.map_err(|error| failed(error.into()))?;
        impacts.push(std::iter::from_fn(|| {
            let document = postings.doc();
            if document == TERMINATED {
                return None;
            }
            let frequency = f64::from(postings.term_freq());
            let norm = norms.get(usize::from(lengths.fieldnorm_id(document))).copied().unwrap_or_default();
            postings.advance();
            Some((document, (idf * frequency * (K1 + 1.0) / (frequency + norm)) as f32))
        }));
    }
    Ok(impacts.finish())
}

/// Another process may have been faster; its index is the same.
fn publish(temporary: &Path, folder: &Path) -> Result<()> {
    match std::fs::rename(temporary, folder) {
        Ok(()) => Ok(()),
        Err(_) if folder.is_dir() => {
            let _ = std::fs::remove_dir_all(temporary);
            Ok(())
        }
        Err(error) => Err(Error::file(folder, &error)),
    }
}

fn write(
    directory: impl Into<Box<dyn Directory>>,
    passages: &[Arc<Passage>],
    analyzer: Analyzer,
) -> Result<tantivy::Index> {
    let inversion = Inversion::of(passages, analyzer)?;
    let schema = schema();
    let text = schema.get_field("text").map_err(failed)?;
    segment::write(directory, (schema, text), &inversion).map_err(failed)
}

impl Engine for Index {
    fn search(&self, questions: &[String], k: usize, keep: Option<&Arc<Vec<bool>>>) -> Result<Vec<Vec<Hit>>> {
        let inverted = self.inverted()?;
        let dictionary = inverted.terms();
        let mut results = Vec::with_capacity(questions.len());
        for question in questions {
            let mut terms = Vec::new();
            // No query parser sees the question, so nothing in it has a meaning of its own.
            for (term, count) in counted(self.analyzer, question) {
                if let Some(ordinal) = dictionary.term_ord(&term).map_err(|error| failed(error.into()))? {
                    terms.push((ordinal as usize, count));
                }
            }
            results.push(self.impacts.search(&terms, k, keep.map(|keep| keep.as_slice())));
        }
        Ok(results)
    }

    fn spec(&self) -> Value {
        spec("tantivy BM25", self.analyzer, K1, B)
    }

    fn index_bytes(&self) -> Option<u64> {
        self.searcher.space_usage().ok().map(|usage| usage.total().get_bytes() + self.impacts.bytes())
    }

    fn explain_score(&self, question: &str, passage: usize) -> Result<Vec<TermScore>> {
        let document = u32::try_from(passage).map_err(|_| Error::input("no such passage"))?;
        let inverted = self.inverted()?;
        let documents = self.searcher.num_docs();
        let lengths = self.searcher.segment_reader(0).get_fieldnorms_reader(self.text).map_err(failed)?;
        let norms = norms(inverted.total_num_tokens(), documents);
        let norm = norms.get(usize::from(lengths.fieldnorm_id(document))).copied().unwrap_or_default();
        let mut scores = Vec::new();
        for (term, in_question) in counted(self.analyzer, question) {
            let wanted = Term::from_field_text(self.text, &term);
            let postings = inverted.read_postings(&wanted, IndexRecordOption::WithFreqs);
            let (mut document_frequency, mut frequency) = (0, 0);
            if let Some(mut postings) = postings.map_err(|error| failed(error.into()))? {
                document_frequency = u64::from(postings.doc_freq());
                if postings.doc() <= document && postings.seek(document) == document {
                    frequency = postings.term_freq();
                }
            }
            let seen = f64::from(frequency);
            let tf = if frequency > 0 { seen * (K1 + 1.0) / (seen + norm) } else { 0.0 };
            let idf = idf(document_frequency, documents);
            scores.push(TermScore::new(term, (in_question, frequency), document_frequency, idf, tf));
        }
        Ok(scores)
    }
}

#[cfg(test)]
mod tests {
    use tantivy::collector::TopDocs;
    use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};

    use super::*;
    use crate::retrieval::bm25::terms::rounded_length;

    #[test]
    fn lengths_are_rounded_as_tantivy_does() {
        for length in (0..100_000).chain([1 << 20, (1 << 24) + 17, 1 << 30]) {
            let id = FieldNormReader::fieldnorm_to_id(length);
            assert_eq!(rounded_length(length), FieldNormReader::id_to_fieldnorm(id), "{length}");
        }
    }

    #[test]
    fn scores_are_those_that_tantivy_gives_itself() {
        let words = ["the", "court", "may", "order", "damages", "tenant", "lease", "breach", "notice", "seller"];
        let passages: Vec<Arc<Passage>> = (0..9_000_usize)
            .map(|number| {
                let length = 5 + number % 60;
                let text: Vec<&str> = (0..length).map(|at| words[(number * 7 + at * at) % (1 + number % 10)]).collect();
                Arc::new(Passage {
                    chunk_id: format!("{number:05}"),
                    text: text.join(" "),
                    source: String::new(),
                    language: None,
                })
            })
            .collect();
        let index = Index::in_memory(&passages, Analyzer::OpensearchStandard).unwrap();
        for question in ["breach of notice", "the the court", "seller, tenant and the lease of the seller", "order"] {
            let clauses: Vec<(Occur, Box<dyn Query>)> = counted(index.analyzer, question)
                .into_iter()
                .map(|(term, count)| {
                    let term = Term::from_field_text(index.text, &term);
                    let query: Box<dyn Query> = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
                    let query: Box<dyn Query> = Box::new(BoostQuery::new(query, count as f32));
                    (Occur::Should, query)
                })
                .collect();
            let best = TopDocs::with_limit(20).order_by_score();
            let theirs = index.searcher.search(&BooleanQuery::new(clauses), &best).unwrap();
            let ours = index.search(&[question.to_owned()], 20, None).unwrap().remove(0);
            assert_eq!(ours.len(), theirs.len());
            for (ours, (score, _)) in ours.iter().zip(&theirs) {
                assert!((ours.score - score).abs() <= 1e-5 * score, "{question}: {} and {score}", ours.score);
            }
        }
    }
}
