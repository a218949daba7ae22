//! Which chunks are relevant: a benchmark's passages, found again in the acts and laid over the chunks.

use std::collections::HashMap;
use std::ops::Range;

use polars::prelude::DataFrame;

use super::align::Words;
use super::rows::Characters;
use crate::dataset::Corpus;
use crate::error::{Error, Result};
use crate::signal;
use crate::table::{Chunks, FrameBuilder, QaPairs, Show, integers, texts};

/// The passages of questions found again in the acts, and the chunks that they make relevant.
#[derive(Debug, Clone)]
pub struct Relevance {
    passages: DataFrame,
    chunks: DataFrame,
}

impl Relevance {
    /// Finds each question's `context_unit` in the acts (by its words, whatever the spacing, the case and the Markdown
    /// around them) and lays it over the chunks. A chunk is relevant when the passage and the chunk share at least
    /// `min_share` of the shorter of the two, in characters.
    ///
    /// # Errors
    /// When the share is not above 0 and at most 1, or the chunks come from other acts.
    pub fn find(questions: &QaPairs, acts: &[Corpus], chunks: &Chunks, min_share: f64) -> Result<Self> {
        if !(min_share > 0.0 && min_share <= 1.0) {
            return Err(Error::input(format!("a share of overlap of {min_share} is not above 0 and at most 1"))
                .help("0.5 is half of the shorter of passage and chunk"));
        }
        let words: Vec<Words<'_>> = acts.iter().map(|act| Words::of(act.text())).collect();
        let characters: Vec<Characters<'_>> = acts.iter().map(|act| Characters::of(act.text())).collect();
        let spans = spans(chunks)?;
        let ids = texts(questions.frame(), "question_id")?;
        let column = |name: &str| texts(questions.frame(), name).unwrap_or_else(|_| vec![None; ids.len()]);
        let (units, sources) = (column("context_unit"), column("source"));
        let progress = signal::Progress::new("Finding passages in the acts", ids.len());
        let mut seen: HashMap<(Option<String>, String), Option<Found>> = HashMap::new();
        let mut rows = Rows::default();
        for ((id, unit), source) in ids.into_iter().zip(units).zip(sources) {
            signal::check("nothing is lost: passages are found again in a moment")?;
            let id = id.unwrap_or_default();
            let Some(unit) = unit else {
                rows.passage(&id, None, acts);
                continue;
            };
            let found = seen
                .entry((source.clone(), unit.clone()))
                .or_insert_with(|| best(&unit, source.as_deref(), acts, &words, &characters));
            rows.passage(&id, found.as_ref(), acts);
            if let Some(found) = found {
                rows.chunks(&id, found, acts, &spans, min_share);
            }
            progress.advance(1);
        }
        rows.finish()
    }

    /// One row a question: the act, the place of its passage (from the first to the last piece), how many pieces it is
    /// in, and `quality`, the share of the passage's words that were found there; null where nothing was.
    #[must_use]
    pub fn passages(&self) -> &DataFrame {
        &self.passages
    }

    /// One row a question and chunk that share text: `share` of the shorter of the two, and whether that is `relevant`.
    #[must_use]
    pub fn chunks(&self) -> &DataFrame {
        &self.chunks
    }

    /// Shows the passages.
    pub fn evcxr_display(&self) {
        self.passages.evcxr_display();
    }
}

struct Found {
    act: usize,
    pieces: Vec<Range<usize>>,
    quality: f64,
}

/// The place in the act that the question names, or in whichever act fits best.
fn best(
    unit: &str,
    source: Option<&str>,
    acts: &[Corpus],
    words: &[Words<'_>],
    characters: &[Characters<'_>],
) -> Option<Found> {
    let is_named = |act: &Corpus| source.is_some_and(|source| act.source().eq_ignore_ascii_case(source));
    let any_named = acts.iter().any(is_named);
    let mut best: Option<Found> = None;
    for (place, (act, (words, characters))) in acts.iter().zip(words.iter().zip(characters)).enumerate() {
        if any_named && !is_named(act) {
            continue;
        }
        let Some(found) = words.find(unit) else { continue };
        if best.as_ref().is_none_or(|best| found.quality > best.quality) {
            let pieces =
                found.pieces.iter().map(|piece| characters.before(piece.start)..characters.before(piece.end)).collect();
            best = Some(Found { act: place, pieces, quality: found.quality });
        }
    }
    best
}

/// Chunks by document: id and characters.
type Spans = HashMap<String, Vec<(String, Range<usize>)>>;

fn spans(chunks: &Chunks) -> Result<Spans> {
    let frame = chunks.frame();
    let mut spans: Spans = HashMap::new();
    let documents = texts(frame, "document_id")?;
    let ids = texts(frame, "chunk_id")?;
    let starts = integers(frame, "start")?;
    let ends = integers(frame, "end")?;
    for ((document, id), (start, end)) in documents.into_iter().zip(ids).zip(starts.into_iter().zip(ends)) {
        let (Some(document), Some(id), Some(start), Some(end)) = (document, id, start, end) else { continue };
        let range = usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0);
        spans.entry(document).or_default().push((id, range));
    }
    Ok(spans)
}

#[derive(Debug, Default)]
struct Rows {
    question: Vec<String>,
    act: Vec<Option<String>>,
    start: Vec<Option<i64>>,
    end: Vec<Option<i64>>,
    n_pieces: Vec<i64>,
    quality: Vec<Option<f64>>,
    pair_question: Vec<String>,
    pair_chunk: Vec<String>,
    share: Vec<Option<f64>>,
    relevant: Vec<Option<bool>>,
}

impl Rows {
    fn passage(&mut self, id: &str, found: Option<&Found>, acts: &[Corpus]) {
        self.question.push(id.to_owned());
        self.act.push(found.and_then(|found| acts.get(found.act)).map(|act| act.source().to_owned()));
        self.start.push(found.and_then(|found| found.pieces.first()).map(|piece| piece.start as i64));
        self.end.push(found.and_then(|found| found.pieces.last()).map(|piece| piece.end as i64));
        self.n_pieces.push(found.map_or(0, |found| found.pieces.len() as i64));
        self.quality.push(found.map(|found| found.quality));
    }

    fn chunks(&mut self, id: &str, found: &Found, acts: &[Corpus], spans: &Spans, min_share: f64) {
        let length: usize = found.pieces.iter().map(|piece| piece.end.saturating_sub(piece.start)).sum();
        let document = acts.get(found.act).map_or("", Corpus::source);
        for (chunk, span) in spans.get(document).into_iter().flatten() {
            let shared: usize = found
                .pieces
                .iter()
                .map(|piece| piece.end.min(span.end).saturating_sub(piece.start.max(span.start)))
                .sum();
            if shared == 0 {
                continue;
            }
            let share = shared as f64 / length.min(span.end.saturating_sub(span.start)).max(1) as f64;
            self.pair_question.push(id.to_owned());
            self.pair_chunk.push(chunk.clone());
            self.share.push(Some(share));
            self.relevant.push(Some(share >= min_share));
        }
    }

    fn finish(self) -> Result<Relevance> {
        let passages = FrameBuilder::new()
            .text("question_id", &self.question)
            .text_or_null("document_id", &self.act)
            .integer_or_null("start", &self.start)
            .integer_or_null("end", &self.end)
            .integer("n_pieces", &self.n_pieces)
            .number("quality", &self.quality)
            .build()?;
        let chunks = FrameBuilder::new()
            .text("question_id", &self.pair_question)
            .text("chunk_id", &self.pair_chunk)
            .number("share", &self.share)
            .boolean("relevant", &self.relevant)
            .build()?;
        Ok(Relevance { passages, chunks })
    }
}
