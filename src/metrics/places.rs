//! Where every check stands among the label matrices: each claim, chunk and response has its place in one array of bytes.

use std::sync::OnceLock;

use polars::prelude::PlHashMap;

use super::facts::View;
use super::placed::Placed;
use super::texts::{Numbers, Texts, same};
use crate::error::{Error, Result};
use crate::table::{Claims, GenerationRun, RetrievalRun};

/// The columns of all tables but the checks.
#[derive(Debug)]
pub(super) struct Columns {
    reference: ClaimColumns,
    response: ClaimColumns,
    found: FoundColumns,
    run: RunColumns,
}

#[derive(Debug)]
struct ClaimColumns {
    questions: Texts,
    systems: Texts,
    attempts: Numbers,
    ids: Texts,
    texts: Texts,
    height: usize,
}

#[derive(Debug)]
struct FoundColumns {
    retrievers: Texts,
    questions: Texts,
    chunks: Texts,
    height: usize,
}

#[derive(Debug)]
struct RunColumns {
    systems: Texts,
    questions: Texts,
    retrievers: Texts,
    responses: Texts,
    attempts: Numbers,
    height: usize,
}

impl Columns {
    pub fn read(found: &RetrievalRun, run: &GenerationRun, claims: (&Claims, &Claims)) -> Result<Self> {
        let of_claims = |claims: &Claims| -> Result<ClaimColumns> {
            let frame = claims.frame();
            Ok(ClaimColumns {
                questions: Texts::read(frame, "question_id")?,
                systems: Texts::read(frame, "system")?,
                attempts: Numbers::read(frame, "attempt")?,
                ids: Texts::read(frame, "claim_id")?,
                texts: Texts::read(frame, "text")?,
                height: frame.height(),
            })
        };
        let (reference, response) = (of_claims(claims.0)?, of_claims(claims.1)?);
        let (found, run) = (found.frame(), run.frame());
        let found = FoundColumns {
            retrievers: Texts::read(found, "retriever")?,
            questions: Texts::read(found, "question_id")?,
            chunks: Texts::read(found, "chunk_id")?,
            height: found.height(),
        };
        let run = RunColumns {
            systems: Texts::read(run, "system")?,
            questions: Texts::read(run, "question_id")?,
            retrievers: Texts::read(run, "retriever")?,
            responses: Texts::read(run, "response")?,
            attempts: Numbers::read(run, "attempt")?,
            height: run.height(),
        };
        Ok(Self { reference, response, found, run })
    }
}

/// The claims of a text.
#[derive(Debug, Default)]
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
    pub search: usize,
    /// Starts of the three matrices that are this response's own.
    pub response_vs_reference: usize,
    pub reference_vs_response: usize,
    pub response_vs_chunks: usize,
}

/// What a retriever found for a question.
#[derive(Debug)]
pub(super) struct Search<'a> {
    pub chunks: Vec<&'a str>,
    reference: usize,
    pub reference_vs_chunks: usize,
}

/// Whose claim: the response's or the reference's with this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Response(usize),
    Reference(usize),
}

/// Everything that a check may belong to.
#[derive(Debug, Default)]
pub(super) struct Places<'a> {
    pub answers: Vec<Answer<'a>>,
    references: Vec<Side<'a>>,
    pub searches: Vec<Search<'a>>,
    /// question → reference
    reference_of: PlHashMap<&'a str, usize>,
    /// system, attempt and reference → answer
    answer_of: PlHashMap<(&'a str, i64, usize), usize>,
    /// retriever and reference → search
    search_of: PlHashMap<(&'a str, usize), usize>,
    /// claim → owner and place among its claims; made when a check names its claim and not where it belongs.
    claims: OnceLock<PlHashMap<&'a str, (Owner, usize)>>,
    /// How many labels there are.
    pub size: usize,
}

impl<'a> Places<'a> {
    pub fn of(columns: &'a Columns) -> Result<Self> {
        let mut places = Self::default();
        places.read_references(&columns.reference);
        places.read_searches(&columns.found);
        places.read_answers(&columns.run)?;
        places.read_responses(&columns.response);
        places.lay_out();
        Ok(places)
    }

    fn reference(&mut self, question: &'a str) -> usize {
        *self.reference_of.entry(question).or_insert_with(|| {
            self.references.push(Side::default());
            self.references.len() - 1
        })
    }

    fn read_references(&mut self, rows: &'a ClaimColumns) {
        let mut last: Option<(&str, usize)> = None;
        for row in 0..rows.height {
            let question = rows.questions.at(row);
            let place = match last {
                Some((known, place)) if same(known, question) => place,
                _ => self.reference(question),
            };
            last = Some((question, place));
            let side = &mut self.references[place];
            match rows.texts.get(row) {
                Some(_) => side.ids.push(rows.ids.at(row)),
                None => side.failed = true,
            }
        }
    }

    fn read_searches(&mut self, rows: &'a FoundColumns) {
        let mut last: Option<(&str, &str, usize)> = None;
        for row in 0..rows.height {
            let (retriever, question) = (rows.retrievers.at(row), rows.questions.at(row));
            let search = match last {
                Some((known, asked, search)) if same(asked, question) && same(known, retriever) => search,
                _ => {
                    let reference = self.reference(question);
                    self.search(retriever, reference)
                }
            };
            last = Some((retriever, question, search));
            self.searches[search].chunks.push(rows.chunks.at(row));
        }
    }

    fn search(&mut self, retriever: &'a str, reference: usize) -> usize {
        *self.search_of.entry((retriever, reference)).or_insert_with(|| {
            self.searches.push(Search { chunks: Vec::new(), reference, reference_vs_chunks: 0 });
            self.searches.len() - 1
        })
    }

    fn read_answers(&mut self, rows: &'a RunColumns) -> Result<()> {
        self.answers.reserve(rows.height);
        for row in 0..rows.height {
            let (system, question) = (rows.systems.at(row), rows.questions.at(row));
            let attempt = rows.attempts.or_one(row);
            let reference = self.reference(question);
            let search = self.search(rows.retrievers.at(row), reference);
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
                response_known: rows.responses.get(row).is_some(),
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

    fn read_responses(&mut self, rows: &'a ClaimColumns) {
        let mut last: Option<(&str, i64, &str, usize)> = None;
        for row in 0..rows.height {
            let (system, attempt, question) = (rows.systems.at(row), rows.attempts.or_one(row), rows.questions.at(row));
            let place = match last {
                Some((known, number, asked, place))
                    if number == attempt && same(asked, question) && same(known, system) =>
                {
                    place
                }
                _ => match self.answer(system, attempt, question) {
                    Some(place) => place,
                    None => continue,
                },
            };
            last = Some((system, attempt, question, place));
            let answer = &mut self.answers[place];
            if rows.texts.get(row).is_none() {
                answer.claims.failed = true;
                answer.response_known = false;
                continue;
            }
            answer.claims.ids.push(rows.ids.at(row));
        }
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

    /// The response of a system to a question.
    fn answer(&self, system: &str, attempt: i64, question: &str) -> Option<usize> {
        self.answer_to(system, attempt, *self.reference_of.get(question)?)
    }

    /// The same with the question's reference.
    pub fn answer_to(&self, system: &str, attempt: i64, reference: usize) -> Option<usize> {
        self.answer_of.get(&(system, attempt, reference)).copied()
    }

    /// What a retriever found for the question of a reference.
    pub fn search_for(&self, retriever: &str, reference: usize) -> Option<usize> {
        self.search_of.get(&(retriever, reference)).copied()
    }

    /// Whose claims a check of this question is about: the reference's, or those of the response of a system.
    pub fn owner(&self, question: &str, response: Option<(&str, i64)>) -> Option<Owner> {
        let reference = *self.reference_of.get(question)?;
        match response {
            None => Some(Owner::Reference(reference)),
            Some((system, attempt)) => self.answer_to(system, attempt, reference).map(Owner::Response),
        }
    }

    /// The ids of an owner's claims.
    pub fn ids(&self, owner: Owner) -> &[&'a str] {
        match owner {
            Owner::Response(answer) => &self.answers[answer].claims.ids,
            Owner::Reference(reference) => &self.references[reference].ids,
        }
    }

    /// The owner of a claim and its place there, by its id alone.
    pub fn by_id(&self, id: &str) -> Option<(Owner, usize)> {
        let all = || {
            let references = (0..self.references.len()).map(Owner::Reference);
            let owners = references.chain((0..self.answers.len()).map(Owner::Response));
            owners
                .flat_map(|owner| self.ids(owner).iter().enumerate().map(move |(place, id)| (*id, (owner, place))))
                .collect()
        };
        self.claims.get_or_init(all).get(id).copied()
    }

    /// The four matrices of a response.
    pub fn view<'p>(&self, labels: &'p Placed, place: usize) -> View<'p> {
        let answer = &self.answers[place];
        let (own, other) = (answer.claims.ids.len(), self.references[answer.reference].ids.len());
        let search = &self.searches[answer.search];
        let n_chunks = search.chunks.len();
        View {
            response_vs_reference: labels.slice(answer.response_vs_reference, own),
            reference_vs_response: labels.slice(answer.reference_vs_response, other),
            response_vs_chunks: labels.slice(answer.response_vs_chunks, own * n_chunks),
            reference_vs_chunks: labels.slice(search.reference_vs_chunks, other * n_chunks),
            n_chunks,
        }
    }
}
