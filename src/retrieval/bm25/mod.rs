//! BM25 on tantivy.

use std::path::Path;

use serde_json::{Value, json};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{LowerCaser, SimpleTokenizer, TextAnalyzer, TokenStream};
use tantivy::{Index, IndexReader, TantivyDocument, Term};

use super::{Hit, Passage, Retrieve};
use crate::error::{Error, ErrorKind, Result};
use crate::lab::{Fingerprint, Lab};

/// Name of the analyzer in the index's schema.
const ANALYZER: &str = "words";
/// Bytes that the writer may hold; the least that tantivy accepts for one thread.
const MEMORY: usize = 15_000_000;

/// One index over one act, in one segment, so that word counts are those of the whole act.
pub(super) struct Bm25 {
    reader: IndexReader,
    text: Field,
    analyzer: TextAnalyzer,
}

impl std::fmt::Debug for Bm25 {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Bm25").field("text", &self.text).finish_non_exhaustive()
    }
}

/// Runs of letters and digits, lower-cased; the same for texts and questions.
fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser).build()
}

fn failed(error: tantivy::TantivyError) -> Error {
    Error::new(ErrorKind::Internal, format!("the BM25 index failed: {error}"))
}

fn schema() -> Schema {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default().set_tokenizer(ANALYZER).set_index_option(IndexRecordOption::WithFreqs);
    schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
    schema.add_u64_field("place", NumericOptions::default().set_fast());
    schema.build()
}

impl Bm25 {
    /// Builds the index in memory.
    pub(super) fn in_memory(passages: &[Passage]) -> Result<Self> {
        let index = Index::create_in_ram(schema());
        fill(&index, passages)?;
        Self::open(&index)
    }

    /// Builds the index in the lab's folder, or opens the one that is there. It appears under its name complete.
    pub(super) fn on_disk(lab: &Lab, passages: &[Passage]) -> Result<Self> {
        let mut print = Fingerprint::new().text("bm25").text(ANALYZER).text(env!("CARGO_PKG_VERSION"));
        for passage in passages {
            print = print.text(&passage.chunk_id).text(&passage.text);
        }
        let folder = lab.folder().join("artifacts").join("bm25").join(print.finish());
        if !folder.is_dir() {
            let temporary = folder.with_extension(format!("tmp{}", std::process::id()));
            std::fs::create_dir_all(&temporary).map_err(|error| Error::file(&temporary, &error))?;
            let index = Index::create_in_dir(&temporary, schema()).map_err(failed)?;
            fill(&index, passages)?;
            drop(index);
            publish(&temporary, &folder)?;
        }
        let index = Index::open_in_dir(&folder).map_err(|error| {
            failed(error).context(format!("opening {}", folder.display())).help("remove that folder; it is built again")
        })?;
        Self::open(&index)
    }

    fn open(index: &Index) -> Result<Self> {
        index.tokenizers().register(ANALYZER, analyzer());
        let schema = index.schema();
        let text = schema.get_field("text").map_err(failed)?;
        Ok(Self { reader: index.reader().map_err(failed)?, text, analyzer: analyzer() })
    }

    /// One clause for every analysed word, repetitions included. No query parser sees the question, so nothing in it
    /// has a meaning of its own.
    fn query(&self, question: &str) -> BooleanQuery {
        let mut analyzer = self.analyzer.clone();
        let mut words = analyzer.token_stream(question);
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        while words.advance() {
            let term = Term::from_field_text(self.text, &words.token().text);
            clauses.push((Occur::Should, Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))));
        }
        BooleanQuery::new(clauses)
    }
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

fn fill(index: &Index, passages: &[Passage]) -> Result<()> {
    index.tokenizers().register(ANALYZER, analyzer());
    let schema = index.schema();
    let text = schema.get_field("text").map_err(failed)?;
    let place = schema.get_field("place").map_err(failed)?;
    // One thread writes documents in order into one segment.
    let mut writer = index.writer_with_num_threads(1, MEMORY).map_err(failed)?;
    for (number, passage) in passages.iter().enumerate() {
        let mut document = TantivyDocument::default();
        document.add_text(text, &passage.text);
        document.add_u64(place, number as u64);
        writer.add_document(document).map_err(failed)?;
    }
    writer.commit().map_err(failed)?;
    let segments = index.searchable_segment_ids().map_err(failed)?;
    if segments.len() > 1 {
        writer.merge(&segments).wait().map_err(failed)?;
    }
    writer.wait_merging_threads().map_err(failed)
}

impl Retrieve for Bm25 {
    fn search(&self, questions: &[String], k: usize) -> Result<Vec<Vec<Hit>>> {
        let searcher = self.reader.searcher();
        questions
            .iter()
            .map(|question| {
                let top =
                    searcher.search(&self.query(question), &TopDocs::with_limit(k).order_by_score()).map_err(failed)?;
                top.into_iter()
                    .map(|(score, address)| {
                        let column = searcher.segment_reader(address.segment_ord).fast_fields().u64("place");
                        let place = column.map_err(failed)?.first(address.doc_id).unwrap_or_default();
                        Ok(Hit { passage: place as usize, score })
                    })
                    .collect()
            })
            .collect()
    }

    fn spec(&self) -> Value {
        json!({"engine": "tantivy BM25", "k1": 1.2, "b": 0.75, "analyzer": "runs of letters and digits, lower-cased"})
    }
}
