//! Chunks as rows: offsets in characters, tokens, covered provisions.

use super::tokens::Tokens;
use crate::dataset::Corpus;
use crate::error::Result;
use crate::table::{Chunks, FrameBuilder};

/// Character offsets of bytes of a text, by marks at regular distances.
pub(super) struct Characters<'a> {
    text: &'a str,
    marks: Vec<usize>,
}

const STEP: usize = 512;

impl<'a> Characters<'a> {
    pub fn of(text: &'a str) -> Self {
        let mut marks = vec![0];
        let mut count = 0;
        for (place, byte) in text.bytes().enumerate() {
            if place > 0 && place % STEP == 0 {
                marks.push(count);
            }
            count += usize::from(byte & 0xC0 != 0x80);
        }
        Self { text, marks }
    }

    /// How many characters begin before a byte.
    pub fn before(&self, byte: usize) -> usize {
        let mark = (byte / STEP).min(self.marks.len() - 1);
        let from = mark * STEP;
        let rest = self.text.as_bytes().get(from..byte.min(self.text.len())).unwrap_or_default();
        self.marks.get(mark).copied().unwrap_or(0) + rest.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
    }
}

#[derive(Debug, Default)]
pub(super) struct Rows {
    id: Vec<String>,
    document: Vec<String>,
    ordinal: Vec<i64>,
    start: Vec<i64>,
    end: Vec<i64>,
    n_tokens: Vec<i64>,
    text: Vec<String>,
    language: Vec<String>,
    provisions: Vec<String>,
}

impl Rows {
    /// Adds the chunks of an act.
    pub fn add(&mut self, act: &Corpus, tokens: &Tokens, spans: &[(usize, usize)]) {
        let characters = Characters::of(act.text());
        for (ordinal, (from, to)) in spans.iter().copied().enumerate() {
            let Some(text) = act.text().get(from..to) else { continue };
            let covered: Vec<&str> = act
                .provisions()
                .iter()
                .filter(|provision| provision.bytes.0 < to && provision.bytes.1 > from)
                .map(|provision| provision.id.as_str())
                .collect();
            self.id.push(format!("{}#{ordinal:04}", act.source()));
            self.document.push(act.source().to_owned());
            self.ordinal.push(ordinal as i64);
            self.start.push(characters.before(from) as i64);
            self.end.push(characters.before(to) as i64);
            self.n_tokens.push(tokens.count((from, to)) as i64);
            self.text.push(text.to_owned());
            self.language.push(act.language().to_owned());
            self.provisions.push(covered.join(" "));
        }
    }

    pub fn finish(self) -> Result<Chunks> {
        Chunks::new(
            FrameBuilder::new()
                .text("chunk_id", &self.id)
                .text("document_id", &self.document)
                .integer("ordinal", &self.ordinal)
                .integer("start", &self.start)
                .integer("end", &self.end)
                .integer("n_tokens", &self.n_tokens)
                .text("text", &self.text)
                .text("source", &self.document)
                .text("language", &self.language)
                .text("provisions", &self.provisions)
                .build()?,
        )
    }
}
