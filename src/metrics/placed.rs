//! From millions of rows of checks to one array of bytes.
//!
//! Rows come in order: a claim is mostly the one after the last row's, or the last one again with its next chunk. So the
//! neighbours are tried first, then the claims of the row's own question and system, and only then all claims by their id.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use polars::prelude::DataFrame;
use rayon::prelude::*;

use super::facts::{UNKNOWN, code};
use super::places::{Owner, Places};
use super::texts::{Numbers, Texts, parts, same};
use crate::error::{Error, Result};
use crate::table::{Checks, Direction, Label};

/// Labels as bytes, in the places' order.
#[derive(Debug)]
pub(super) struct Placed {
    codes: Vec<u8>,
    /// Who checked, in the order of their first row.
    pub checkers: Vec<String>,
}

impl Placed {
    /// Puts every label of the table in its place.
    pub fn read(places: &Places<'_>, checks: &Checks) -> Result<Self> {
        let frame = checks.frame();
        let rows = Rows::read(frame)?;
        let codes: Vec<AtomicU8> = (0..places.size).map(|_| AtomicU8::new(UNKNOWN)).collect();
        let conflict = AtomicU64::new(u64::MAX);
        parts(frame.height()).into_par_iter().try_for_each(|part| {
            let mut cursor = Cursor::default();
            for row in part {
                let Some(place) = cursor.place(places, &rows, row) else { continue };
                let code = rows.code(row)?;
                let before = codes[place].swap(code, Ordering::Relaxed);
                if before != UNKNOWN && before != code {
                    conflict.fetch_min(row as u64, Ordering::Relaxed);
                }
            }
            Ok::<(), Error>(())
        })?;
        match conflict.into_inner() {
            u64::MAX => Ok(Self {
                codes: codes.into_iter().map(AtomicU8::into_inner).collect(),
                checkers: rows.checkers.distinct().into_iter().map(str::to_owned).collect(),
            }),
            row => Err(rows.twice(row as usize)),
        }
    }

    pub fn slice(&self, from: usize, n: usize) -> &[u8] {
        &self.codes[from..from + n]
    }
}

/// The columns of a table of checks.
struct Rows {
    checkers: Texts,
    directions: Texts,
    questions: Texts,
    claims: Texts,
    systems: Texts,
    attempts: Numbers,
    retrievers: Texts,
    chunks: Texts,
    labels: Texts,
}

impl Rows {
    fn read(frame: &DataFrame) -> Result<Self> {
        Ok(Self {
            checkers: Texts::read(frame, "checker")?,
            directions: Texts::read(frame, "direction")?,
            questions: Texts::read(frame, "question_id")?,
            claims: Texts::read(frame, "claim_id")?,
            systems: Texts::read(frame, "system")?,
            attempts: Numbers::read(frame, "attempt")?,
            retrievers: Texts::read(frame, "retriever")?,
            chunks: Texts::read(frame, "chunk_id")?,
            labels: Texts::read(frame, "label")?,
        })
    }

    /// The byte of a row's label; a failed check is one that is known to be unknown.
    fn code(&self, row: usize) -> Result<u8> {
        const FAILED: u8 = 4;
        match self.labels.get(row) {
            None => Ok(FAILED),
            Some(text) => Label::parse(text).map(|label| code(Some(label))).ok_or_else(|| {
                Error::input(format!("checks, row {row}: {text:?} is not a label"))
                    .help("use entailment, neutral or contradiction; null with a failure where there is none")
            }),
        }
    }

    fn twice(&self, row: usize) -> Error {
        Error::input(format!(
            "checks, row {row}: claim {:?} against {} has two different verdicts in this table",
            self.claims.at(row),
            match self.chunks.at(row) {
                "" => "the other answer".to_owned(),
                chunk => format!("chunk {chunk:?}"),
            }
        ))
        .help("score one checker at a time: checks.only(\"checker\", …)")
    }
}

/// Where the last row stood.
#[derive(Default)]
struct Cursor<'r> {
    claim: Option<(Owner, usize)>,
    /// Whether the last row's claim was the next one.
    moves: bool,
    chunk: usize,
    direction: Option<(&'r str, Direction)>,
    answer: Option<(&'r str, i64, usize, usize)>,
    search: Option<(&'r str, usize, usize)>,
}

impl<'r> Cursor<'r> {
    /// The place of a row's label, if the tables know its claim and chunk.
    #[inline]
    fn place(&mut self, places: &Places<'_>, rows: &'r Rows, row: usize) -> Option<usize> {
        let direction = self.direction(rows.directions.at(row))?;
        let (owner, claim) = self.claim(places, rows, row, direction)?;
        match (direction, owner) {
            (Direction::ResponseVsReference, Owner::Response(answer)) => {
                Some(places.answers[answer].response_vs_reference + claim)
            }
            (Direction::ResponseVsChunks, Owner::Response(answer)) => {
                let answer = &places.answers[answer];
                let chunks = &places.searches[answer.search].chunks;
                let chunk = self.chunk(chunks, rows.chunks.at(row))?;
                Some(answer.response_vs_chunks + claim * chunks.len() + chunk)
            }
            (Direction::ReferenceVsResponse, Owner::Reference(reference)) => {
                let (system, attempt) = (rows.systems.at(row), rows.attempts.or_one(row));
                let answer = match self.answer {
                    Some((known, number, place, answer))
                        if (number, place) == (attempt, reference) && same(known, system) =>
                    {
                        answer
                    }
                    _ => places.answer_to(system, attempt, reference)?,
                };
                self.answer = Some((system, attempt, reference, answer));
                Some(places.answers[answer].reference_vs_response + claim)
            }
            (Direction::ReferenceVsChunks, Owner::Reference(reference)) => {
                let retriever = rows.retrievers.at(row);
                let search = match self.search {
                    Some((known, place, search)) if place == reference && same(known, retriever) => search,
                    _ => places.search_for(retriever, reference)?,
                };
                self.search = Some((retriever, reference, search));
                let search = &places.searches[search];
                let chunk = self.chunk(&search.chunks, rows.chunks.at(row))?;
                Some(search.reference_vs_chunks + claim * search.chunks.len() + chunk)
            }
            _ => None,
        }
    }

    #[inline]
    fn direction(&mut self, name: &'r str) -> Option<Direction> {
        if let Some((_, direction)) = self.direction.filter(|(known, _)| same(known, name)) {
            return Some(direction);
        }
        let direction = Direction::parse(name)?;
        self.direction = Some((name, direction));
        Some(direction)
    }

    /// The row's claim: the last one, the next one, the owner's first one, or else looked for.
    #[inline]
    fn claim(&mut self, places: &Places<'_>, rows: &Rows, row: usize, direction: Direction) -> Option<(Owner, usize)> {
        let id = rows.claims.at(row);
        if let Some((owner, last)) = self.claim {
            let ids = places.ids(owner);
            // Claims follow each other, or each is repeated for its chunks: what held for the last row is tried first.
            let guesses = if self.moves { [last + 1, last, 0] } else { [last, last + 1, 0] };
            let is_it = |place: &usize| ids.get(*place).is_some_and(|known| same(known, id));
            if let Some(place) = guesses.into_iter().find(is_it) {
                self.moves = place == last + 1;
                self.claim = Some((owner, place));
                return self.claim;
            }
        }
        let found = look_for(places, rows, row, direction).or_else(|| places.by_id(id));
        self.claim = found.or(self.claim);
        found
    }

    #[inline]
    fn chunk(&mut self, chunks: &[&str], id: &str) -> Option<usize> {
        let is_it = |place: &usize| chunks.get(*place).is_some_and(|known| same(known, id));
        let guess = [self.chunk, self.chunk + 1, 0].into_iter().find(is_it);
        let found = guess.or_else(|| chunks.iter().position(|known| same(known, id)))?;
        self.chunk = found;
        Some(found)
    }
}

/// The claim among those of the row's own question and system.
fn look_for(places: &Places<'_>, rows: &Rows, row: usize, direction: Direction) -> Option<(Owner, usize)> {
    /// With more claims than this the index of all ids is faster.
    const FEW: usize = 64;
    let response = match direction {
        Direction::ResponseVsReference | Direction::ResponseVsChunks => {
            Some((rows.systems.at(row), rows.attempts.or_one(row)))
        }
        _ => None,
    };
    let owner = places.owner(rows.questions.at(row), response)?;
    let id = rows.claims.at(row);
    let place = places.ids(owner).iter().take(FEW).position(|known| same(known, id))?;
    Some((owner, place))
}
