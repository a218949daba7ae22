//! Finding a passage again in a text, tolerant of Markdown, spacing, case and small changes.

use std::collections::HashMap;
use std::ops::Range;

/// Words that make one seed.
const SEED: usize = 4;
/// A seed that occurs more often says nothing about the place.
const COMMON: usize = 64;
/// Fewer words than this are no piece of their own.
const PIECE: usize = 6;
/// Pieces that a passage may be scattered over.
const PIECES: usize = 16;

/// The words of a text with the bytes they stand at.
pub(super) struct Words<'a> {
    words: Vec<(String, Range<usize>)>,
    seeds: HashMap<u64, Vec<usize>>,
    _text: std::marker::PhantomData<&'a str>,
}

/// A passage found again.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Alignment {
    /// The bytes of its pieces in the text, in order and apart.
    pub pieces: Vec<Range<usize>>,
    /// The share of the passage's words that were found, 0 to 1.
    pub quality: f64,
}

fn words(text: &str) -> Vec<(String, Range<usize>)> {
    let mut found: Vec<(String, Range<usize>)> = Vec::new();
    let mut word = String::new();
    let mut from = 0;
    for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        if letter.is_alphanumeric() {
            if word.is_empty() {
                from = at;
            }
            word.extend(letter.to_lowercase());
        } else if letter != '\u{ad}' && !word.is_empty() {
            found.push((std::mem::take(&mut word), from..at));
        }
    }
    found
}

fn seed(words: &[(String, Range<usize>)]) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    for (word, _) in words {
        word.hash(&mut hasher);
    }
    hasher.finish()
}

impl<'a> Words<'a> {
    pub fn of(text: &'a str) -> Self {
        let words = words(text);
        let mut seeds: HashMap<u64, Vec<usize>> = HashMap::new();
        for (place, window) in words.windows(SEED).enumerate() {
            seeds.entry(seed(window)).or_default().push(place);
        }
        Self { words, seeds, _text: std::marker::PhantomData }
    }

    /// Where a passage stands, if any of it does.
    pub fn find(&self, passage: &str) -> Option<Alignment> {
        let wanted = words(passage);
        if wanted.is_empty() {
            return None;
        }
        if wanted.len() < SEED + 2 {
            return self.find_short(&wanted);
        }
        // Runs of seeds on one diagonal: (place in the text minus place in the passage).
        let mut hits: Vec<(isize, usize)> = Vec::new();
        for (place, window) in wanted.windows(SEED).enumerate() {
            let Some(found) = self.seeds.get(&seed(window)).filter(|found| found.len() <= COMMON) else { continue };
            hits.extend(found.iter().map(|at| (*at as isize - place as isize, place)));
        }
        hits.sort_unstable();
        let mut runs: Vec<(usize, isize, usize, usize)> = Vec::new(); // words, diagonal, from, to in the passage
        for (diagonal, place) in hits {
            match runs.last_mut() {
                Some((count, last, _, to)) if *last == diagonal && place <= *to + 2 => {
                    *count += (place + SEED).saturating_sub((*to).max(place));
                    *to = place + SEED;
                }
                _ => runs.push((SEED, diagonal, place, place + SEED)),
            }
        }
        runs.sort_by(|one, other| other.0.cmp(&one.0).then(one.cmp(other)));
        let mut is_found = vec![false; wanted.len()];
        let mut taken: Vec<Range<usize>> = Vec::new();
        for (_, diagonal, from, to) in runs {
            let fresh = is_found.get(from..to).unwrap_or_default().iter().filter(|found| !**found).count();
            if taken.len() >= PIECES || fresh < PIECE.min(wanted.len() / 2) {
                continue;
            }
            let at = |place: usize| usize::try_from(place as isize + diagonal).ok();
            let (Some(begin), Some(end)) = (at(from), at(to)) else { continue };
            let mut matched = 0;
            for place in from..to {
                let is_same = at(place)
                    .and_then(|at| self.words.get(at))
                    .zip(wanted.get(place))
                    .is_some_and(|(found, wanted)| found.0 == wanted.0);
                if is_same && let Some(found) = is_found.get_mut(place) {
                    matched += usize::from(!std::mem::replace(found, true));
                }
            }
            if matched > 0 {
                taken.push(begin..end);
            }
        }
        let found = is_found.iter().filter(|found| **found).count();
        let pieces = self.join(taken);
        (!pieces.is_empty()).then(|| Alignment { pieces, quality: found as f64 / wanted.len() as f64 })
    }

    fn find_short(&self, wanted: &[(String, Range<usize>)]) -> Option<Alignment> {
        let at = self
            .words
            .windows(wanted.len())
            .position(|window| window.iter().zip(wanted).all(|(found, wanted)| found.0 == wanted.0))?;
        let pieces = self.join(vec![at..at + wanted.len()]);
        Some(Alignment { pieces, quality: 1.0 })
    }

    /// Ranges of words as bytes; those that touch, or are a few words apart, are one.
    fn join(&self, mut taken: Vec<Range<usize>>) -> Vec<Range<usize>> {
        taken.sort_by_key(|range| range.start);
        let mut joined: Vec<Range<usize>> = Vec::new();
        for range in taken {
            match joined.last_mut() {
                Some(last) if range.start <= last.end + 8 => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
        }
        let bytes = joined.into_iter().filter_map(|range| {
            let first = self.words.get(range.start)?;
            let last = self.words.get(range.end.checked_sub(1)?.min(self.words.len() - 1))?;
            Some(first.1.start..last.1.end)
        });
        bytes.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACT: &str = "Article 1\nThe Office keeps a public register of all notices.\nArticle 2\n1. The controller shall, without \
        undue delay, communicate the breach to the data subject.\n2. It shall describe in clear language the nature of the breach.\n\
        Article 3\nThis Act enters into force on the first day of May.";

    #[test]
    fn markdown_spacing_and_case_do_not_matter() {
        let words = Words::of(ACT);
        let passage = "# Article 2\n\n**1.** The controller shall, *without undue   delay*, communicate the breach to the \
            data subject.\n\n**2.** It shall describe in clear language the nature of the breach.";
        let found = words.find(passage).unwrap();
        assert_eq!(found.pieces.len(), 1);
        assert!((found.quality - 1.0).abs() < 1e-12);
        let text = &ACT[found.pieces[0].clone()];
        assert!(text.starts_with("Article 2\n1.") && text.ends_with("nature of the breach"), "{text}");
    }

    #[test]
    fn a_scattered_passage_has_several_pieces_and_a_changed_one_less_quality() {
        let words = Words::of(ACT);
        let scattered =
            "The Office keeps a public register of all notices. This Act enters into force on the first day of May.";
        assert_eq!(words.find(scattered).unwrap().pieces.len(), 2);
        let changed =
            "The Office keeps a public register of all notices, and publishes it every single week in the journal.";
        let quality = words.find(changed).unwrap().quality;
        assert!((0.3..0.8).contains(&quality), "{quality}");
        assert_eq!(words.find("Bananas are yellow and taste of summer in the south."), None);
        assert_eq!(words.find("public register").unwrap().pieces.len(), 1);
        assert_eq!(words.find("***"), None);
    }
}
