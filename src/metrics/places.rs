//! Where every check stands among the label matrices.
//!
//! A table of checks has a row for every claim and premise, millions in a large run. Each row is brought to its place in
//! one array of bytes without copying a text: rows come in order, so the place after the last one is tried first.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use polars::prelude::{DataFrame, DataType, Int64Chunked, PlHashMap, StringChunked};
use rayon::prelude::*;

use super::facts::{UNKNOWN, View, code};
use crate::error::{Error, Result};
use crate::table::{Checks, Claims, Direction, GenerationRun, Label, RetrievalRun};

/// The claims of a text.
#[derive(Debug, Clone, Default)]
struct Side<'a> {
    ids: Vec<&'a str>,
    /// A row says that claims could not be had.
    failed: bool,
}

/// One response and where its labels lie.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub system: &'a str,
    pub question: &'a str,
    pub attempt: i64,
    pub response_known: bool,
    pub reference_known: bool,
    claims: Side<'a>,
    /// Into [`Places::references`].
    reference: usize,
    /// Into [`Places::searches`].
    search: usize,
    /// Starts of the three matrices that are this response's own.
    response_vs_reference: usize,
    reference_vs_response: usize,
    response_vs_chunks: usize,
}

/// What a retriever found for a question.
#[derive(Debug, Default)]
struct Search<'a> {
    chunks: Vec<&'a str>,
    reference: usize,
    reference_vs_chunks: usize,
}

#[derive(Debug, Clone, Copy)]
enum Owner {
    Response(usize),
    Reference(usize),
}

/// Everything that a check may belong to.
#[derive(Debug)]
pub(super) struct Places<'a> {
    pub answers: Vec<Answer<'a>>,
    references: Vec<Side<'a>>,
    searches: Vec<Search<'a>>,
    /// claim → owner and place among its claims
    claims: PlHashMap<&'a str, (Owner, usize)>,
    /// system, attempt and question → answer
    answer_of: PlHashMap<(&'a str, i64, usize), usize>,
    /// retriever and question → search
    search_of: PlHashMap<(&'a str, usize), usize>,
    size: usize,
}

/// Labels as bytes, in the places' order.
#[derive(Debug)]
pub(super) struct Placed(Vec<u8>);

/// A text column without copying; `None` where all of it is missing.
pub(super) fn column<'a>(frame: &'a DataFrame, name: &str) -> Result<Option<&'a StringChunked>> {
    let column = frame.column(name)?;
    if column.dtype() == &DataType::Null {
        return Ok(None);
    }
    Ok(Some(column.str()?))
}

/// The values of a text column in the order of their first appearance, without copying every row.
pub(super) fn distinct_in(frame: &DataFrame, name: &str) -> Result<Vec<String>> {
    let mut found: Vec<&str> = Vec::new();
    for value in column(frame, name)?.into_iter().flat_map(|column| column.iter()).flatten() {
        if found.last() != Some(&value) && !found.contains(&value) {
            found.push(value);
        }
    }
    Ok(found.into_iter().map(str::to_owned).collect())
}

fn at<'a>(column: Option<&'a StringChunked>, row: usize) -> &'a str {
    column.and_then(|column| column.get(row)).unwrap_or_default()
}

fn whole(frame: &DataFrame, name: &str) -> Result<Int64Chunked> {
    Ok(frame.column(name)?.cast(&DataType::Int64)?.i64()?.clone())
}

impl<'a> Places<'a> {
    pub fn read(
        found: &'a RetrievalRun,
        run: &'a GenerationRun,
        (reference, response): (&'a Claims, &'a Claims),
    ) -> Result<Self> {
        let mut places = Self {
            answers: Vec::with_capacity(run.height()),
            references: Vec::new(),
            searches: Vec::new(),
            claims: PlHashMap::default(),
            answer_of: PlHashMap::default(),
            search_of: PlHashMap::default(),
            size: 0,
        };
        places.claims.reserve(reference.height() + response.height());
        let mut reference_of: PlHashMap<&str, usize> = PlHashMap::default();
        places.read_references(reference, &mut reference_of)?;
        places.read_searches(found, &mut reference_of)?;
        places.read_answers(run, &mut reference_of)?;
        places.read_responses(response, &reference_of)?;
        places.lay_out();
        Ok(places)
    }

    fn reference(&mut self, question: &'a str, known: &mut PlHashMap<&'a str, usize>) -> usize {
        *known.entry(question).or_insert_with(|| {
            self.references.push(Side::default());
            self.references.len() - 1
        })
    }

    fn read_references(&mut self, claims: &'a Claims, known: &mut PlHashMap<&'a str, usize>) -> Result<()> {
        let frame = claims.frame();
        let (questions, ids, text) =
            (column(frame, "question_id")?, column(frame, "claim_id")?, column(frame, "text")?);
        let mut last: Option<(&str, usize)> = None;
        for row in 0..frame.height() {
            let question = at(questions, row);
            let place = match last {
                Some((known, place)) if known == question => place,
                _ => self.reference(question, known),
            };
            last = Some((question, place));
            let side = &mut self.references[place];
            if text.and_then(|text| text.get(row)).is_none() {
                side.failed = true;
                continue;
            }
            self.claims.insert(at(ids, row), (Owner::Reference(place), side.ids.len()));
            side.ids.push(at(ids, row));
        }
        Ok(())
    }

    fn read_searches(&mut self, found: &'a RetrievalRun, known: &mut PlHashMap<&'a str, usize>) -> Result<()> {
        let frame = found.frame();
        let (retrievers, questions) = (column(frame, "retriever")?, column(frame, "question_id")?);
        let ids = column(frame, "chunk_id")?;
        let mut last: Option<(&str, &str, usize)> = None;
        for row in 0..frame.height() {
            let (retriever, question) = (at(retrievers, row), at(questions, row));
            let search = match last {
                Some((known, asked, search)) if (known, asked) == (retriever, question) => search,
                _ => {
                    let reference = self.reference(question, known);
                    self.search(retriever, reference)
                }
            };
            last = Some((retriever, question, search));
            self.searches[search].chunks.push(at(ids, row));
        }
        Ok(())
    }

    fn search(&mut self, retriever: &'a str, reference: usize) -> usize {
        *self.search_of.entry((retriever, reference)).or_insert_with(|| {
            self.searches.push(Search { reference, ..Search::default() });
            self.searches.len() - 1
        })
    }

    fn read_answers(&mut self, run: &'a GenerationRun, known: &mut PlHashMap<&'a str, usize>) -> Result<()> {
        let frame = run.frame();
        let (systems, questions) = (column(frame, "system")?, column(frame, "question_id")?);
        let (retrievers, responses) = (column(frame, "retriever")?, column(frame, "response")?);
        let attempts = whole(frame, "attempt")?;
        for row in 0..frame.height() {
            let (system, question) = (at(systems, row), at(questions, row));
            let attempt = attempts.get(row).unwrap_or(1);
            let reference = self.reference(question, known);
            let search = self.search(at(retrievers, row), reference);
            if self.answer_of.insert((system, attempt, reference), self.answers.len()).is_some() {
                return Err(Error::input(format!(
                    "the run holds two responses of {system:?} to question {question:?}, attempt {attempt}"
                ))
                .help("number repetitions in the column \"attempt\""));
            }
            self.answers.push(Answer {
                system,
                question,
                attempt,
                response_known: responses.and_then(|responses| responses.get(row)).is_some(),
                reference_known: !self.references[reference].failed,
                claims: Side::default(),
                reference,
                search,
                response_vs_reference: 0,
                reference_vs_response: 0,
                response_vs_chunks: 0,
            });
        }
        Ok(())
    }

    fn read_responses(&mut self, claims: &'a Claims, known: &PlHashMap<&'a str, usize>) -> Result<()> {
        let frame = claims.frame();
        let (systems, questions) = (column(frame, "system")?, column(frame, "question_id")?);
        let (ids, text) = (column(frame, "claim_id")?, column(frame, "text")?);
        let attempts = whole(frame, "attempt")?;
        let mut last: Option<(&str, i64, &str, usize)> = None;
        for row in 0..frame.height() {
            let key = (at(systems, row), attempts.get(row).unwrap_or(1), at(questions, row));
            let place = match last {
                Some((system, attempt, question, place)) if (system, attempt, question) == key => place,
                _ => {
                    let Some(reference) = known.get(key.2) else { continue };
                    let Some(place) = self.answer_of.get(&(key.0, key.1, *reference)) else { continue };
                    *place
                }
            };
            last = Some((key.0, key.1, key.2, place));
            let answer = &mut self.answers[place];
            if text.and_then(|text| text.get(row)).is_none() {
                answer.claims.failed = true;
                answer.response_known = false;
                continue;
            }
            self.claims.insert(at(ids, row), (Owner::Response(place), answer.claims.ids.len()));
            answer.claims.ids.push(at(ids, row));
        }
        Ok(())
    }

    fn lay_out(&mut self) {
        let mut size = 0;
        let mut take = |n: usize| {
            size += n;
            size - n
        };
        for search in &mut self.searches {
            search.reference_vs_chunks = take(self.references[search.reference].ids.len() * search.chunks.len());
        }
        for answer in &mut self.answers {
            let (own, other) = (answer.claims.ids.len(), self.references[answer.reference].ids.len());
            answer.response_vs_reference = take(own);
            answer.reference_vs_response = take(other);
            answer.response_vs_chunks = take(own * self.searches[answer.search].chunks.len());
        }
        self.size = size;
    }

    /// Puts every label of the table in its place.
    pub fn labels(&self, checks: &Checks) -> Result<Placed> {
        let frame = checks.frame();
        let labels: Vec<AtomicU8> = (0..self.size).map(|_| AtomicU8::new(UNKNOWN)).collect();
        let rows = Rows::read(frame)?;
        let conflict = AtomicU64::new(u64::MAX);
        let step = frame.height().div_ceil(rayon::current_num_threads().max(1) * 4).max(1024);
        let parts: Vec<usize> = (0..frame.height()).step_by(step).collect();
        parts.par_iter().try_for_each(|from| {
            let mut cursor = Cursor::default();
            for row in *from..(from + step).min(frame.height()) {
                let Some(place) = cursor.place(self, &rows, row) else { continue };
                let code = rows.code(row)?;
                let before = labels[place].swap(code, Ordering::Relaxed);
                if before != UNKNOWN && before != code {
                    conflict.fetch_min(row as u64, Ordering::Relaxed);
                }
            }
            Ok::<(), Error>(())
        })?;
        match conflict.into_inner() {
            u64::MAX => Ok(Placed(labels.into_iter().map(AtomicU8::into_inner).collect())),
            row => Err(rows.twice(row as usize)),
        }
    }
}

impl Placed {
    pub fn view(&self, places: &Places<'_>, place: usize) -> View<'_> {
        let answer = &places.answers[place];
        let (own, other) = (answer.claims.ids.len(), places.references[answer.reference].ids.len());
        let search = &places.searches[answer.search];
        let n_chunks = search.chunks.len();
        let slice = |from: usize, n: usize| &self.0[from..from + n];
        View {
            response_vs_reference: slice(answer.response_vs_reference, own),
            reference_vs_response: slice(answer.reference_vs_response, other),
            response_vs_chunks: slice(answer.response_vs_chunks, own * n_chunks),
            reference_vs_chunks: slice(search.reference_vs_chunks, other * n_chunks),
            n_chunks,
        }
    }
}

/// The columns of a table of checks.
struct Rows<'a> {
    directions: Option<&'a StringChunked>,
    claims: Option<&'a StringChunked>,
    systems: Option<&'a StringChunked>,
    attempts: Int64Chunked,
    retrievers: Option<&'a StringChunked>,
    chunks: Option<&'a StringChunked>,
    labels: Option<&'a StringChunked>,
}

impl<'a> Rows<'a> {
    fn read(frame: &'a DataFrame) -> Result<Self> {
        Ok(Self {
            directions: column(frame, "direction")?,
            claims: column(frame, "claim_id")?,
            systems: column(frame, "system")?,
            attempts: whole(frame, "attempt")?,
            retrievers: column(frame, "retriever")?,
            chunks: column(frame, "chunk_id")?,
            labels: column(frame, "label")?,
        })
    }

    /// The byte of a row's label; a failed check is one that is known to be unknown.
    fn code(&self, row: usize) -> Result<u8> {
        const FAILED: u8 = 4;
        match self.labels.and_then(|labels| labels.get(row)) {
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
            at(self.claims, row),
            match at(self.chunks, row) {
                "" => "the other answer".to_owned(),
                chunk => format!("chunk {chunk:?}"),
            }
        ))
        .help("score one checker at a time: checks.only(\"checker\", …)")
    }
}

/// Where the last row stood.
#[derive(Default)]
struct Cursor<'a> {
    claim: Option<(Owner, usize)>,
    /// Whether the last row's claim was the next one.
    moves: bool,
    chunk: usize,
    direction: Option<(&'a str, Direction)>,
    owner: Option<(&'a str, i64, usize, usize)>,
    retriever: Option<(&'a str, usize, usize)>,
}

impl<'a> Cursor<'a> {
    /// The place of a row's label, if the tables know its claim and chunk.
    fn place(&mut self, places: &Places<'a>, rows: &Rows<'a>, row: usize) -> Option<usize> {
        let (owner, claim) = self.claim(places, at(rows.claims, row))?;
        match (self.direction(at(rows.directions, row))?, owner) {
            (Direction::ResponseVsReference, Owner::Response(answer)) => {
                Some(places.answers[answer].response_vs_reference + claim)
            }
            (Direction::ResponseVsChunks, Owner::Response(answer)) => {
                let answer = &places.answers[answer];
                let chunks = &places.searches[answer.search].chunks;
                let chunk = self.chunk(chunks, at(rows.chunks, row))?;
                Some(answer.response_vs_chunks + claim * chunks.len() + chunk)
            }
            (Direction::ReferenceVsResponse, Owner::Reference(reference)) => {
                let (system, attempt) = (at(rows.systems, row), rows.attempts.get(row).unwrap_or(1));
                let answer = match self.owner {
                    Some((known, number, place, answer)) if (known, number, place) == (system, attempt, reference) => {
                        answer
                    }
                    _ => *places.answer_of.get(&(system, attempt, reference))?,
                };
                self.owner = Some((system, attempt, reference, answer));
                Some(places.answers[answer].reference_vs_response + claim)
            }
            (Direction::ReferenceVsChunks, Owner::Reference(reference)) => {
                let retriever = at(rows.retrievers, row);
                let search = match self.retriever {
                    Some((known, place, search)) if (known, place) == (retriever, reference) => search,
                    _ => *places.search_of.get(&(retriever, reference))?,
                };
                self.retriever = Some((retriever, reference, search));
                let search = &places.searches[search];
                let chunk = self.chunk(&search.chunks, at(rows.chunks, row))?;
                Some(search.reference_vs_chunks + claim * search.chunks.len() + chunk)
            }
            _ => None,
        }
    }

    fn direction(&mut self, name: &'a str) -> Option<Direction> {
        if let Some((_, direction)) = self.direction.filter(|(known, _)| *known == name) {
            return Some(direction);
        }
        let direction = Direction::parse(name)?;
        self.direction = Some((name, direction));
        Some(direction)
    }

    /// The claim with this id: the last one, the next one, the owner's first one, or else looked up.
    fn claim(&mut self, places: &Places<'a>, id: &str) -> Option<(Owner, usize)> {
        if let Some((owner, last)) = self.claim {
            let ids = match owner {
                Owner::Response(answer) => &places.answers[answer].claims.ids,
                Owner::Reference(reference) => &places.references[reference].ids,
            };
            // Claims follow each other, or each is repeated for its chunks: what held for the last row is tried first.
            let guesses = if self.moves { [last + 1, last, 0] } else { [last, last + 1, 0] };
            if let Some(place) = guesses.into_iter().find(|place| ids.get(*place) == Some(&id)) {
                self.moves = place == last + 1;
                self.claim = Some((owner, place));
                return self.claim;
            }
        }
        let found = places.claims.get(id).copied();
        self.claim = found.or(self.claim);
        found
    }

    fn chunk(&mut self, chunks: &[&str], id: &str) -> Option<usize> {
        let guess = [self.chunk, self.chunk + 1, 0].into_iter().find(|place| chunks.get(*place) == Some(&id));
        let found = guess.or_else(|| chunks.iter().position(|known| *known == id))?;
        self.chunk = found;
        Some(found)
    }
}
