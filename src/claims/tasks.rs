//! From tables to checks that are to be made, each once.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Request, Statement};
use crate::error::Result;
use crate::table::{Claims, Direction, GenerationRun, LabelledClaims, QaPairs, RetrievalRun, integers, texts};
use crate::text::Language;

/// One row of the table to be: a claim and a premise, and whom it belongs to.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub direction: Direction,
    pub question_id: Arc<str>,
    pub claim_id: Arc<str>,
    pub claim: Arc<Statement>,
    pub premise: Arc<str>,
    pub system: Option<Arc<str>>,
    pub attempt: Option<i64>,
    pub retriever: Option<Arc<str>>,
    pub chunk_id: Option<Arc<str>>,
    /// Tasks of one block are stored together; another system is another block.
    pub block: usize,
}

/// What is known of a question.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    pub question: Option<String>,
    pub language: Option<Language>,
}

/// All checks to be made.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    pub asked: HashMap<Arc<str>, Asked>,
    pub tasks: Vec<Task>,
}

/// The unique requests of all tasks, and where the finding of each task is: request and claim.
#[derive(Debug)]
pub(super) struct Plan {
    pub requests: Vec<Request>,
    /// The block that a request belongs to.
    pub blocks: Vec<usize>,
    pub places: Vec<(usize, usize)>,
}

impl Tasks {
    /// The four directions. The reference's claims are checked against each retriever's chunks once, whatever number
    /// of systems stand on it.
    pub fn of_run(
        questions: &QaPairs,
        found: &RetrievalRun,
        run: &GenerationRun,
        reference: &Claims,
        response: &Claims,
    ) -> Result<Self> {
        let sources = Sources::read(questions, found, run, reference, response)?;
        Ok(Self { tasks: sources.tasks(), asked: sources.asked })
    }

    /// Labelled claims against their context units.
    pub fn of_labelled(claims: &LabelledClaims) -> Result<Self> {
        let frame = claims.frame();
        let column = |name: &str| {
            if frame.column(name).is_ok() { texts(frame, name) } else { Ok(vec![None; frame.height()]) }
        };
        let (codes, asked, premises) = (column("language")?, column("question")?, texts(frame, "context_unit")?);
        let (ids, statements) = (texts(frame, "claim_id")?, statements(frame)?);
        let mut tasks = Self::default();
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let question_id: Arc<str> = question.unwrap_or_default().into();
            let known =
                Asked { question: asked[row].clone(), language: codes[row].as_deref().and_then(Language::from_code) };
            tasks.asked.entry(question_id.clone()).or_insert(known);
            tasks.tasks.push(Task {
                direction: Direction::ClaimVsContextUnit,
                question_id,
                claim_id: ids[row].clone().unwrap_or_default().into(),
                claim: statements[row].clone(),
                premise: premises[row].clone().unwrap_or_default().into(),
                system: None,
                attempt: None,
                retriever: None,
                chunk_id: None,
                block: 0,
            });
        }
        Ok(tasks)
    }

    /// Puts the tasks together by premise, each pair of claim and premise once.
    pub fn plan(&self) -> Plan {
        let mut premises: HashMap<Arc<str>, usize> = HashMap::new();
        let mut claims: HashMap<Arc<Statement>, usize> = HashMap::new();
        let mut known: HashMap<(Arc<str>, usize, usize), (usize, usize)> = HashMap::new();
        let mut plan = Plan { requests: Vec::new(), blocks: Vec::new(), places: Vec::with_capacity(self.tasks.len()) };
        // The open request of the current block, by question and premise.
        let mut open: HashMap<(Arc<str>, usize), usize> = HashMap::new();
        let mut block = usize::MAX;
        let mut last: Option<(*const u8, usize)> = None;
        for task in &self.tasks {
            if task.block != block {
                open.clear();
                block = task.block;
            }
            let pointer = task.premise.as_ptr();
            let premise = match last {
                Some((known, place)) if known == pointer => place,
                _ => {
                    let next = premises.len();
                    *premises.entry(task.premise.clone()).or_insert(next)
                }
            };
            last = Some((pointer, premise));
            let next = claims.len();
            let claim = *claims.entry(task.claim.clone()).or_insert(next);
            let place = *known.entry((task.question_id.clone(), premise, claim)).or_insert_with(|| {
                let request = *open.entry((task.question_id.clone(), premise)).or_insert_with(|| {
                    plan.requests.push(self.request(task));
                    plan.blocks.push(block);
                    plan.requests.len() - 1
                });
                plan.requests[request].claims.push((*task.claim).clone());
                (request, plan.requests[request].claims.len() - 1)
            });
            plan.places.push(place);
        }
        plan
    }

    fn request(&self, task: &Task) -> Request {
        let asked = self.asked.get(&task.question_id);
        Request {
            question: asked.and_then(|asked| asked.question.clone()),
            premise: task.premise.clone(),
            claims: Vec::new(),
            language: asked.and_then(|asked| asked.language).unwrap_or_else(|| Language::detect(&task.premise)),
        }
    }
}

#[derive(Debug, Clone)]
struct Claim {
    id: Arc<str>,
    statement: Arc<Statement>,
}

/// A response or reference with whom it belongs to.
type Owner = (Arc<str>, Option<Arc<str>>, Option<i64>);

#[derive(Debug)]
struct Response {
    owner: Owner,
    retriever: Arc<str>,
    text: Arc<str>,
}

/// Everything that the four directions are made of.
#[derive(Debug)]
struct Sources {
    asked: HashMap<Arc<str>, Asked>,
    references: HashMap<Arc<str>, Arc<str>>,
    /// Retrievers in the order of the run.
    retrievers: Vec<Arc<str>>,
    /// Questions in the order of their table.
    questions: Vec<Arc<str>>,
    /// Retriever and question → chunks in rank order.
    chunks: HashMap<(Arc<str>, Arc<str>), Vec<(Arc<str>, Arc<str>)>>,
    /// In the run's order.
    responses: Vec<Response>,
    claims: HashMap<Owner, Vec<Claim>>,
}

impl Sources {
    fn read(
        questions: &QaPairs,
        found: &RetrievalRun,
        run: &GenerationRun,
        reference: &Claims,
        response: &Claims,
    ) -> Result<Self> {
        let mut names = Names::default();
        let frame = questions.frame();
        let ids: Vec<Arc<str>> = texts(frame, "question_id")?.into_iter().map(|id| names.of(id)).collect();
        let (asked, references) = (texts(frame, "question")?, texts(frame, "reference_answer")?);
        let codes =
            if frame.column("language").is_ok() { texts(frame, "language")? } else { vec![None; frame.height()] };
        let mut sources = Self {
            asked: HashMap::new(),
            references: HashMap::new(),
            retrievers: Vec::new(),
            questions: ids.clone(),
            chunks: HashMap::new(),
            responses: Vec::new(),
            claims: HashMap::new(),
        };
        for (row, id) in ids.into_iter().enumerate() {
            let language = codes[row].as_deref().and_then(Language::from_code);
            sources.asked.insert(id.clone(), Asked { question: asked[row].clone(), language });
            sources.references.insert(id, references[row].clone().unwrap_or_default().into());
        }
        sources.read_chunks(found, &mut names)?;
        sources.read_responses(run, &mut names)?;
        sources.read_claims(reference, &mut names)?;
        sources.read_claims(response, &mut names)?;
        Ok(sources)
    }

    fn read_chunks(&mut self, found: &RetrievalRun, names: &mut Names) -> Result<()> {
        let frame = found.frame();
        let mut bodies: HashMap<String, Arc<str>> = HashMap::new();
        let (retrievers, ids) = (texts(frame, "retriever")?, texts(frame, "chunk_id")?);
        let questions = texts(frame, "question_id")?;
        for (row, text) in texts(frame, "text")?.into_iter().enumerate() {
            let (Some(retriever), Some(question), Some(id), Some(text)) =
                (retrievers[row].clone(), questions[row].clone(), ids[row].clone(), text)
            else {
                continue;
            };
            let retriever = names.of(Some(retriever));
            if !self.retrievers.contains(&retriever) {
                self.retrievers.push(retriever.clone());
            }
            // One text in memory, whatever number of questions found it.
            let body = bodies.entry(text).or_insert_with_key(|text| text.as_str().into()).clone();
            self.chunks.entry((retriever, names.of(Some(question)))).or_default().push((names.of(Some(id)), body));
        }
        Ok(())
    }

    fn read_responses(&mut self, run: &GenerationRun, names: &mut Names) -> Result<()> {
        let frame = run.frame();
        let (systems, attempts) = (texts(frame, "system")?, integers(frame, "attempt")?);
        let (retrievers, questions) = (texts(frame, "retriever")?, texts(frame, "question_id")?);
        for (row, response) in texts(frame, "response")?.into_iter().enumerate() {
            // A failed call has no response to check; its metrics are failed, not undefined.
            let Some(response) = response else { continue };
            let owner = (names.of(questions[row].clone()), Some(names.of(systems[row].clone())), attempts[row]);
            let retriever = names.of(retrievers[row].clone());
            self.responses.push(Response { owner, retriever, text: response.into() });
        }
        Ok(())
    }

    fn read_claims(&mut self, claims: &Claims, names: &mut Names) -> Result<()> {
        let frame = claims.frame();
        let (systems, attempts) = (texts(frame, "system")?, integers(frame, "attempt")?);
        let (ids, statements) = (texts(frame, "claim_id")?, statements(frame)?);
        let is_claim = texts(frame, "text")?;
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            // A row without text says why there are no claims; there is nothing to check.
            if is_claim[row].is_none() {
                continue;
            }
            let owner = (names.of(question), systems[row].clone().map(|system| names.of(Some(system))), attempts[row]);
            let claim = Claim { id: ids[row].clone().unwrap_or_default().into(), statement: statements[row].clone() };
            self.claims.entry(owner).or_default().push(claim);
        }
        Ok(())
    }

    fn claims_of(&self, owner: &Owner) -> &[Claim] {
        self.claims.get(owner).map_or(&[], Vec::as_slice)
    }

    fn tasks(&self) -> Vec<Task> {
        let mut tasks = Vec::new();
        let mut block = 0;
        for retriever in &self.retrievers {
            for question in &self.questions {
                let chunks = self.chunks.get(&(retriever.clone(), question.clone()));
                for (chunk_id, text) in chunks.into_iter().flatten() {
                    for claim in self.claims_of(&(question.clone(), None, None)) {
                        tasks.push(Task {
                            retriever: Some(retriever.clone()),
                            chunk_id: Some(chunk_id.clone()),
                            ..task(Direction::ReferenceVsChunks, question, claim, text, block)
                        });
                    }
                }
            }
            block += 1;
        }
        let mut system = None;
        let empty: Arc<str> = "".into();
        for Response { owner, retriever, text: answer } in &self.responses {
            if system.is_some_and(|last| last != &owner.1) {
                block += 1;
            }
            system = Some(&owner.1);
            let question = &owner.0;
            let own = |direction, claim: &Claim, premise: &Arc<str>| Task {
                system: owner.1.clone(),
                attempt: owner.2,
                ..task(direction, question, claim, premise, block)
            };
            let reference = self.references.get(question).unwrap_or(&empty);
            let said = self.claims_of(owner);
            tasks.extend(said.iter().map(|claim| own(Direction::ResponseVsReference, claim, reference)));
            let expected = self.claims_of(&(question.clone(), None, None));
            tasks.extend(expected.iter().map(|claim| own(Direction::ReferenceVsResponse, claim, answer)));
            let chunks = self.chunks.get(&(retriever.clone(), question.clone()));
            for (chunk_id, text) in chunks.into_iter().flatten() {
                for claim in said {
                    tasks.push(Task {
                        retriever: Some(retriever.clone()),
                        chunk_id: Some(chunk_id.clone()),
                        ..own(Direction::ResponseVsChunks, claim, text)
                    });
                }
            }
        }
        tasks
    }
}

fn task(direction: Direction, question: &Arc<str>, claim: &Claim, premise: &Arc<str>, block: usize) -> Task {
    Task {
        direction,
        question_id: question.clone(),
        claim_id: claim.id.clone(),
        claim: claim.statement.clone(),
        premise: premise.clone(),
        system: None,
        attempt: None,
        retriever: None,
        chunk_id: None,
        block,
    }
}

/// The statement of every row: its triple where it has one.
fn statements(frame: &polars::prelude::DataFrame) -> Result<Vec<Arc<Statement>>> {
    let column = |name: &str| {
        if frame.column(name).is_ok() { texts(frame, name) } else { Ok(vec![None; frame.height()]) }
    };
    let (subjects, predicates, objects) = (column("subject")?, column("predicate")?, column("object")?);
    let of = |(row, text): (usize, Option<String>)| {
        let statement = match (&subjects[row], &predicates[row], &objects[row]) {
            (Some(subject), Some(predicate), Some(object)) => Statement::triple([subject, predicate, object]),
            _ => Statement::sentence(text.as_deref().unwrap_or_default()),
        };
        // The table's own text is what is checked, whatever the triple would read as.
        Arc::new(text.map_or(statement.clone(), |text| statement.with_text(&text)))
    };
    Ok(texts(frame, "text")?.into_iter().enumerate().map(of).collect())
}

/// Every name once in memory.
#[derive(Debug, Default)]
struct Names(HashMap<String, Arc<str>>);

impl Names {
    fn of(&mut self, name: Option<String>) -> Arc<str> {
        let name = name.unwrap_or_default();
        self.0.entry(name).or_insert_with_key(|name| name.as_str().into()).clone()
    }
}
