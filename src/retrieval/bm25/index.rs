//! BM25 on tantivy: one writer, one segment, in memory or on disk.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tantivy::collector::{FilterCollector, TopDocs};
use tantivy::directory::{Directory, MmapDirectory, RamDirectory};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};
use tantivy::{DocAddress, DocSet, Score, Searcher, TantivyDocument, TantivyError, Term};

use super::terms::{counted, idf};
use super::{B, K1, spec};
use crate::error::{Error, ErrorKind, Result};
use crate::lab::{Fingerprint, Lab};
use crate::retrieval::acts::{Engine, Hit};
use crate::retrieval::analyzer::Terms;
use crate::retrieval::{Analyzer, Passage, TermScore};
use crate::signal::{self, Progress};

/// Name of the analyzer in the index's schema.
const ANALYZER: &str = "analyzer";
/// Scores whose relative difference is below this are equal: tantivy adds a passage's terms up in an order that depends
/// on the other passages.
const SAME: Score = 2e-6;
/// Hits asked for beyond `k`, so that ties at the end are seen.
const SPARE: usize = 8;

/// One index over one act, in one segment, so that word counts are those of the whole act and places are document ids.
pub(super) struct Index {
    searcher: Searcher,
    text: Field,
    analyzer: Analyzer,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Index").field("analyzer", &self.analyzer).finish_non_exhaustive()
    }
}

fn failed(error: TantivyError) -> Error {
    Error::new(ErrorKind::Internal, format!("the BM25 index failed: {error}"))
}

fn schema() -> Schema {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default().set_tokenizer(ANALYZER).set_index_option(IndexRecordOption::WithFreqs);
    schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
    schema.add_u64_field("place", NumericOptions::default().set_fast());
    schema.build()
}

/// Our analyzers as tantivy calls them.
#[derive(Clone)]
struct Analysis {
    analyzer: Analyzer,
    terms: Terms,
    token: Token,
}

impl Analysis {
    fn new(analyzer: Analyzer) -> Self {
        Self { analyzer, terms: Terms::default(), token: Token::default() }
    }
}

impl Tokenizer for Analysis {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        self.analyzer.analyze(text, &mut self.terms);
        self.token.reset();
        Stream { terms: &self.terms, token: &mut self.token, next: 0 }
    }
}

struct Stream<'a> {
    terms: &'a Terms,
    token: &'a mut Token,
    next: usize,
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let Some(term) = self.terms.get(self.next) else { return false };
        self.token.text.clear();
        self.token.text.push_str(term);
        self.token.position = self.next;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
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
        Ok(Self { searcher, text, analyzer })
    }

    /// One clause for every distinct term, weighted by its repetitions. No query parser sees the question, so nothing in
    /// it has a meaning of its own.
    fn query(&self, question: &str) -> Option<BooleanQuery> {
        let clauses: Vec<(Occur, Box<dyn Query>)> = counted(self.analyzer, question)
            .into_iter()
            .map(|(term, count)| {
                let term = Term::from_field_text(self.text, &term);
                let query: Box<dyn Query> = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
                let query =
                    if count > 1 { Box::new(BoostQuery::new(query, count as Score)) as Box<dyn Query> } else { query };
                (Occur::Should, query)
            })
            .collect();
        (!clauses.is_empty()).then(|| BooleanQuery::new(clauses))
    }

    /// The best of at most `limit` documents as tantivy ranks them.
    fn top(&self, query: &dyn Query, limit: usize, keep: Option<&Arc<Vec<bool>>>) -> Result<Vec<Hit>> {
        let best = TopDocs::with_limit(limit).order_by_score();
        let found = match keep {
            None => self.searcher.search(query, &best),
            Some(keep) => {
                let keep = keep.clone();
                let allowed = move |place: u64| usize::try_from(place).is_ok_and(|at| keep.get(at) == Some(&true));
                self.searcher.search(query, &FilterCollector::new("place".to_owned(), allowed, best))
            }
        };
        let found = found.map_err(failed)?;
        Ok(found.into_iter().map(|(score, at)| Hit { passage: at.doc_id as usize, score }).collect())
    }

    fn best(&self, question: &str, k: usize, keep: Option<&Arc<Vec<bool>>>) -> Result<Vec<Hit>> {
        let documents = self.searcher.num_docs() as usize;
        let k = k.min(documents);
        let Some(query) = self.query(question).filter(|_| k > 0) else { return Ok(Vec::new()) };
        let mut limit = (k + SPARE).min(documents);
        loop {
            let mut hits = self.top(&query, limit, keep)?;
            // A tie that reaches past the end hides which of its passages come first.
            let open = hits.len() == limit
                && limit < documents
                && hits.get(k - 1).zip(hits.last()).is_some_and(|(last, end)| same(last.score, end.score));
            if open {
                limit = (limit * 4).min(documents);
                continue;
            }
            order_ties(&mut hits);
            hits.truncate(k);
            return Ok(hits);
        }
    }
}

fn same(better: Score, worse: Score) -> bool {
    better - worse <= better.abs() * SAME
}

/// Puts hits of equal score in the order of their places, under the greatest of their scores.
fn order_ties(hits: &mut [Hit]) {
    let mut start = 0;
    while let Some(first) = hits.get(start).copied() {
        let end = start + hits.iter().skip(start).take_while(|hit| same(first.score, hit.score)).count();
        if let Some(tied) = hits.get_mut(start..end) {
            tied.sort_by_key(|hit| hit.passage);
            tied.iter_mut().for_each(|hit| hit.score = first.score);
        }
        start = end;
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

fn write(
    directory: impl Into<Box<dyn Directory>>,
    passages: &[Arc<Passage>],
    analyzer: Analyzer,
) -> Result<tantivy::Index> {
    let schema = schema();
    let (text, place) = (schema.get_field("text").map_err(failed)?, schema.get_field("place").map_err(failed)?);
    let tokenizers = tantivy::tokenizer::TokenizerManager::default();
    tokenizers.register(ANALYZER, TextAnalyzer::from(Analysis::new(analyzer)));
    let bytes: usize = passages.iter().map(|passage| passage.text.len()).sum();
    // Sizes the first hash table only: this writer never cuts a segment off.
    let memory = bytes.clamp(15_000_000, 200_000_000);
    let mut writer = tantivy::Index::builder()
        .schema(schema)
        .tokenizers(tokenizers)
        .single_segment_index_writer::<TantivyDocument>(directory, memory)
        .map_err(failed)?;
    let progress = Progress::new("Indexing", passages.len());
    for (number, passage) in passages.iter().enumerate() {
        if number % 1024 == 0 {
            signal::check("the index is not kept")?;
        }
        let mut document = TantivyDocument::default();
        document.add_text(text, &passage.text);
        document.add_u64(place, number as u64);
        writer.add_document(document).map_err(failed)?;
        progress.advance(1);
    }
    writer.finalize().map_err(failed)
}

impl Engine for Index {
    fn search(&self, questions: &[String], k: usize, keep: Option<&Arc<Vec<bool>>>) -> Result<Vec<Vec<Hit>>> {
        questions.iter().map(|question| self.best(question, k, keep)).collect()
    }

    fn spec(&self) -> Value {
        spec("tantivy BM25", self.analyzer, K1, B)
    }

    fn index_bytes(&self) -> Option<u64> {
        self.searcher.space_usage().ok().map(|usage| usage.total().get_bytes())
    }

    fn explain_score(&self, question: &str, passage: usize) -> Result<Vec<TermScore>> {
        let segment = self.searcher.segment_reader(0);
        let document = DocAddress::new(0, u32::try_from(passage).map_err(|_| Error::input("no such passage"))?).doc_id;
        let inverted = segment.inverted_index(self.text).map_err(failed)?;
        let documents = self.searcher.num_docs();
        let average = inverted.total_num_tokens() as f64 / documents.max(1) as f64;
        let norms = segment.get_fieldnorms_reader(self.text).map_err(failed)?;
        let length = f64::from(FieldNormReader::id_to_fieldnorm(norms.fieldnorm_id(document)));
        let mut scores = Vec::new();
        for (term, in_question) in counted(self.analyzer, question) {
            let wanted = Term::from_field_text(self.text, &term);
            let document_frequency = self.searcher.doc_freq(&wanted).map_err(failed)?;
            let postings =
                inverted.read_postings(&wanted, IndexRecordOption::WithFreqs).map_err(|error| failed(error.into()))?;
            let frequency = postings.map_or(0, |mut postings| {
                use tantivy::postings::Postings;
                if postings.doc() <= document && postings.seek(document) == document { postings.term_freq() } else { 0 }
            });
            let seen = f64::from(frequency);
            let tf = seen * (K1 + 1.0) / (seen + K1 * (1.0 - B + B * length / average));
            let idf = idf(document_frequency, documents);
            scores.push(TermScore::new(term, (in_question, frequency), document_frequency, idf, tf));
        }
        Ok(scores)
    }
}

#[cfg(test)]
mod tests {
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
    fn ties_stand_in_the_order_of_their_places() {
        let mut hits = [(9, 2.0), (7, 1.0), (3, 0.999_999), (5, 0.5)].map(|(passage, score)| Hit { passage, score });
        order_ties(&mut hits);
        assert_eq!(hits.map(|hit| hit.passage), [9, 3, 7, 5]);
        assert_eq!(hits[1].score, hits[2].score);
    }
}
