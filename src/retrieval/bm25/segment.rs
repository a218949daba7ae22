//! tantivy's files from an inversion: one segment, written with tantivy's own serializers.
//!
//! tantivy's own writer is made for documents of many fields, with positions, on several threads; to look every word up in
//! its table and to keep every posting in its arena took it longer than [`Inversion`] takes.

use std::path::Path;

use tantivy::columnar::ColumnarWriter;
use tantivy::directory::{Directory, TerminatingWrite};
use tantivy::fieldnorm::{FieldNormReader, FieldNormReaders, FieldNormsSerializer};
use tantivy::index::{IndexMeta, IndexSettings, Segment, SegmentComponent};
use tantivy::postings::InvertedIndexSerializer;
use tantivy::schema::{Field, Schema};
use tantivy::store::StoreWriter;
use tantivy::{Index, TantivyDocument};

use super::inversion::Inversion;
use crate::signal::Progress;

/// Where tantivy keeps the list of an index's segments.
const META: &str = "meta.json";

/// Writes an index whose only field is `text`.
pub(super) fn write(
    directory: impl Into<Box<dyn Directory>>,
    (schema, text): (Schema, Field),
    inversion: &Inversion,
) -> tantivy::Result<Index> {
    let index = Index::create(directory, schema.clone(), IndexSettings::default())?;
    let documents = inversion.lengths().len() as u32;
    let segment = index.new_segment().with_max_doc(documents);
    write_postings(&segment, text, inversion)?;
    write_empty(&segment, documents, index.settings())?;
    let meta = IndexMeta {
        index_settings: index.settings().clone(),
        persisted_custom_extensions: Vec::new(),
        segments: vec![segment.meta().clone()],
        schema,
        opstamp: 0,
        payload: None,
    };
    index.directory().atomic_write(Path::new(META), &serde_json::to_vec_pretty(&meta)?)?;
    index.directory().sync_directory()?;
    Ok(index)
}

fn write_postings(segment: &Segment, text: Field, inversion: &Inversion) -> tantivy::Result<()> {
    let lengths = inversion.lengths();
    let mut norms = FieldNormsSerializer::from_write(segment.open_write(SegmentComponent::FieldNorms)?)?;
    let bytes: Vec<u8> = lengths.iter().map(|length| FieldNormReader::fieldnorm_to_id(*length)).collect();
    norms.serialize_field(text, &bytes)?;
    norms.close()?;
    let norms = FieldNormReaders::open(segment.open_read(SegmentComponent::FieldNorms)?)?.get_field(text)?;
    let mut serializer = InvertedIndexSerializer::open(segment)?;
    let mut field = serializer.new_field(text, lengths.iter().map(|length| u64::from(*length)).sum(), norms)?;
    let terms = inversion.sorted();
    let progress = Progress::new("Writing the index", terms.len());
    for (term, postings) in terms {
        field.new_term(term.as_bytes(), postings.documents(), true)?;
        for (document, count) in postings.iter() {
            field.write_doc(document, count, &[]);
        }
        field.close_term()?;
        progress.advance(1);
    }
    field.close()?;
    serializer.close()?;
    Ok(())
}

/// The files that every segment has, for passages of which nothing else is kept.
fn write_empty(segment: &Segment, documents: u32, settings: &IndexSettings) -> tantivy::Result<()> {
    let mut columns = segment.open_write(SegmentComponent::FastFields)?;
    ColumnarWriter::default().serialize(documents, None, &mut columns)?;
    columns.terminate()?;
    let store = segment.open_write(SegmentComponent::Store)?;
    let mut store = StoreWriter::new(store, settings.docstore_compression, settings.docstore_blocksize, false)?;
    let (nothing, schema) = (TantivyDocument::default(), segment.schema());
    for _ in 0..documents {
        store.store(&nothing, &schema)?;
    }
    store.close()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tantivy::directory::RamDirectory;
    use tantivy::postings::Postings;
    use tantivy::schema::IndexRecordOption;
    use tantivy::tokenizer::{LowerCaser, SimpleTokenizer, TextAnalyzer, TokenizerManager};
    use tantivy::{DocSet, TERMINATED};

    use super::super::index::{ANALYZER, schema};
    use super::*;
    use crate::retrieval::{Analyzer, Passage};

    /// Everything that an index says of its terms and passages.
    type Content = (Vec<(Vec<u8>, u32, Vec<(u32, u32)>)>, Vec<u8>, u64, u64);

    fn content(index: &Index, text: Field) -> tantivy::Result<Content> {
        let searcher = index.reader()?.searcher();
        assert_eq!(searcher.segment_readers().len(), 1);
        let segment = searcher.segment_reader(0);
        let inverted = segment.inverted_index(text)?;
        let mut terms = Vec::new();
        let mut stream = inverted.terms().stream()?;
        while stream.advance() {
            let mut postings = inverted.read_postings_from_terminfo(stream.value(), IndexRecordOption::WithFreqs)?;
            let mut found = Vec::new();
            while postings.doc() != TERMINATED {
                found.push((postings.doc(), postings.term_freq()));
                postings.advance();
            }
            terms.push((stream.key().to_vec(), stream.value().doc_freq, found));
        }
        let norms = segment.get_fieldnorms_reader(text)?;
        let norms = (0..segment.max_doc()).map(|document| norms.fieldnorm_id(document)).collect();
        Ok((terms, norms, inverted.total_num_tokens(), searcher.num_docs()))
    }

    #[test]
    fn tantivys_own_writer_gives_the_same() -> tantivy::Result<()> {
        let words = ["the", "court", "may", "Order", "damages", "tenant", "lease", "breach", "notice"];
        let passages: Vec<Arc<Passage>> = (0..3000_usize)
            .map(|number| {
                let length = if number % 7 == 0 { 0 } else { number % 90 };
                let word = |at: usize| match (number * 31 + at * at) % 11 {
                    10 => format!("word{number}"),
                    9 => "the".to_owned(),
                    place => words[place].to_owned(),
                };
                let text = (0..length).map(word).collect::<Vec<_>>().join(" ");
                Arc::new(Passage { chunk_id: number.to_string(), text, source: String::new(), language: None })
            })
            .collect();
        let schema = schema();
        let text = schema.get_field("text")?;
        let inversion = Inversion::of(&passages, Analyzer::OpensearchStandard).expect("few passages");
        let tokenizers = TokenizerManager::default();
        tokenizers.register(ANALYZER, TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser).build());
        let mut writer = Index::builder()
            .schema(schema.clone())
            .tokenizers(tokenizers)
            .single_segment_index_writer(RamDirectory::create(), 15_000_000)?;
        for passage in &passages {
            let mut document = TantivyDocument::default();
            document.add_text(text, &passage.text);
            writer.add_document(document)?;
        }
        let ours = content(&write(RamDirectory::create(), (schema, text), &inversion)?, text)?;
        let theirs = content(&writer.finalize()?, text)?;
        assert!(ours.0.len() > 100 && ours == theirs);
        Ok(())
    }
}
