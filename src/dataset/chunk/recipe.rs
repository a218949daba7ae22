//! The recipes: which bytes of an act become one chunk.

use super::tokens::Tokens;
use crate::dataset::act::Kind;
use crate::dataset::{Corpus, Provision};
use crate::text::{Language, sentences};

type Span = (usize, usize);

#[derive(Debug, Clone)]
pub(super) enum Recipe {
    Windows { size: usize, overlap: usize },
    Sentences { size: usize, overlap: usize },
    Units { target: usize, tolerance: usize },
    Lines,
    Paragraphs,
    Articles,
}

impl Recipe {
    /// The chunks of an act as byte ranges of its text.
    pub fn cut(&self, act: &Corpus, tokens: &Tokens) -> Vec<Span> {
        match *self {
            Self::Windows { size, overlap } => windows(tokens.len(), size, overlap)
                .into_iter()
                .filter_map(|(from, to)| tokens.bytes(from, to))
                .collect(),
            Self::Sentences { size, overlap } => in_sentences(act, tokens, size, overlap),
            Self::Units { target, tolerance } => units(act, tokens, target, tolerance),
            Self::Lines => lines(act.text(), 0),
            Self::Paragraphs => {
                by_parts(act, |part| part.kind == Kind::Paragraph, |text, from, found| found.extend(lines(text, from)))
            }
            Self::Articles => by_parts(
                act,
                |part| part.kind.is_citable(),
                |text, from, found| {
                    let start = from + text.len() - text.trim_start().len();
                    let end = from + text.trim_end().len();
                    if start < end {
                        found.push((start, end));
                    }
                },
            ),
        }
    }
}

/// Token ranges of the windows over `n` tokens.
pub(super) fn windows(n: usize, size: usize, overlap: usize) -> Vec<Span> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < n {
        let end = (start + size).min(n);
        found.push((start, end));
        if end == n {
            break;
        }
        start += size - overlap;
    }
    found
}

/// The lines of a text that begins at byte `offset`.
fn lines(text: &str, offset: usize) -> Vec<Span> {
    let mut from = offset;
    let mut found = Vec::new();
    for line in text.split('\n') {
        if !line.trim().is_empty() {
            found.push((from, from + line.len()));
        }
        from += line.len() + 1;
    }
    found
}

/// One chunk a chosen part; what lies between chosen parts is left to `rest`.
fn by_parts(
    act: &Corpus,
    is_chosen: impl Fn(&Provision) -> bool,
    rest: impl Fn(&str, usize, &mut Vec<Span>),
) -> Vec<Span> {
    let text = act.text();
    let mut found = Vec::new();
    let mut done = 0;
    for part in act.parts().iter().filter(|part| is_chosen(part)) {
        let (from, to) = part.bytes;
        // A part within one that was taken is in it already.
        if from < done || from == to {
            continue;
        }
        rest(text.get(done..from).unwrap_or_default(), done, &mut found);
        found.push((from, to));
        done = to;
    }
    rest(text.get(done..).unwrap_or_default(), done, &mut found);
    found
}

fn in_sentences(act: &Corpus, tokens: &Tokens, size: usize, overlap: usize) -> Vec<Span> {
    let language = Language::from_code(act.language()).unwrap_or_else(|| Language::detect(act.text()));
    let mut pieces: Vec<(Span, usize)> = Vec::new();
    for (from, to) in lines(act.text(), 0) {
        let line = act.text().get(from..to).unwrap_or_default();
        for sentence in sentences(line, language) {
            let start = from + (sentence.as_ptr() as usize - line.as_ptr() as usize);
            let span = (start, start + sentence.len());
            let count = tokens.count(span);
            if count <= size {
                pieces.push((span, count));
                continue;
            }
            let (first, _) = tokens.within(span);
            for (from, to) in windows(count, size, 0) {
                if let Some(span) = tokens.bytes(first + from, first + to) {
                    pieces.push((span, to - from));
                }
            }
        }
    }
    pack(&pieces, size, overlap)
}

/// Packs pieces into chunks of at most `size` tokens; each chunk but the first begins with the last pieces of the one
/// before, of at most `overlap` tokens, as long as the next piece still fits.
fn pack(pieces: &[(Span, usize)], size: usize, overlap: usize) -> Vec<Span> {
    let mut found = Vec::new();
    let mut first = 0;
    let mut held = 0;
    for (place, (_, count)) in pieces.iter().enumerate() {
        if held > 0 && held + count > size {
            push(pieces, first, place, &mut found);
            let mut again = place;
            held = 0;
            while again > first + 1 {
                let more = pieces.get(again - 1).map_or(0, |piece| piece.1);
                if held + more > overlap || held + more + count > size {
                    break;
                }
                held += more;
                again -= 1;
            }
            first = again;
        }
        held += count;
    }
    push(pieces, first, pieces.len(), &mut found);
    found
}

fn push(pieces: &[(Span, usize)], first: usize, end: usize, found: &mut Vec<Span>) {
    if let Some(([head, ..], last)) = pieces.get(first..end).and_then(|held| Some((held, held.last()?))) {
        found.push((head.0.0, last.0.1));
    }
}

fn units(act: &Corpus, tokens: &Tokens, target: usize, tolerance: usize) -> Vec<Span> {
    let lines = lines(act.text(), 0);
    let begins: std::collections::HashSet<usize> = act.provisions().iter().map(|part| part.bytes.0).collect();
    let (low, high) = (target - tolerance, target + tolerance);
    let mut found: Vec<Span> = Vec::new();
    let mut first = 0;
    while first < lines.len() {
        // Where the unit may end: after line `end`, with how many tokens, and whether a provision begins there.
        let mut best: Option<(usize, usize, bool)> = None;
        let mut held = 0;
        for end in first..lines.len() {
            let Some(line) = lines.get(end) else { break };
            held += tokens.count(*line);
            if held > high && best.is_some() {
                break;
            }
            let is_boundary = lines.get(end + 1).is_none_or(|next| begins.contains(&next.0));
            let is_better = best.is_none_or(|(_, size, boundary)| {
                if size < low || held > high {
                    return held <= high || size < low;
                }
                (is_boundary, usize::MAX - held.abs_diff(target)) > (boundary, usize::MAX - size.abs_diff(target))
            });
            if is_better {
                best = Some((end, held, is_boundary));
            }
            if held > high {
                break;
            }
        }
        let Some((end, size, _)) = best else { break };
        let span = (lines.get(first).map_or(0, |line| line.0), lines.get(end).map_or(0, |line| line.1));
        // A short rest at the end joins the unit before if both fit.
        match found.last_mut() {
            Some(last) if size < low && end + 1 == lines.len() && tokens.count((last.0, span.1)) <= high => {
                last.1 = span.1
            }
            _ => found.push(span),
        }
        first = end + 1;
    }
    found
}
