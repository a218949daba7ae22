//! Checking: every claim against its premises, as rows.

use std::collections::HashMap;

use rayon::prelude::*;

use super::extract::languages;
use super::{Direction, lexical};
use crate::error::Result;
use crate::signal::{self, Progress};
use crate::table::{
    Checks, Claims, FrameBuilder, GenerationRun, Label, LabelledClaims, QaPairs, RetrievalRun, integers, texts,
};
use crate::text::Language;

/// Checks claims against texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checker(());

/// One check to be made.
#[derive(Debug, Clone)]
struct Task {
    direction: Direction,
    question: String,
    claim_id: String,
    claim: String,
    premise: String,
    language: Language,
    system: Option<String>,
    attempt: Option<i64>,
    retriever: Option<String>,
    chunk_id: Option<String>,
}

#[derive(Debug, Clone)]
struct Claim {
    id: String,
    text: String,
}

/// A response or reference with whom it belongs to.
type Owner = (String, Option<String>, Option<i64>);

impl Checker {
    /// The embedded baseline: shared words, quantities, negation and modality. No download, no model; its accuracy
    /// on human labels is in the README.
    #[must_use]
    pub fn lexical() -> Self {
        Self(())
    }

    /// What the column `checker` says.
    #[must_use]
    pub fn name(self) -> &'static str {
        "lexical"
    }

    /// Checks in the four directions that RAGChecker's metrics need. The reference answer's claims are checked
    /// against each retriever's chunks once, whatever number of systems stand on it.
    ///
    /// # Errors
    /// When a table lacks a column, or the user interrupts.
    pub fn check(
        self,
        questions: &QaPairs,
        found: &RetrievalRun,
        run: &GenerationRun,
        reference: &Claims,
        response: &Claims,
    ) -> Result<Checks> {
        let tasks = Sources::read(questions, found, run, reference, response)?.tasks()?;
        self.verdicts(&tasks)
    }

    /// Checks labelled claims against their context units, for a comparison with the people's labels.
    ///
    /// # Errors
    /// When the user interrupts.
    pub fn check_labelled(self, claims: &LabelledClaims) -> Result<Checks> {
        let frame = claims.frame();
        let codes =
            if frame.column("language").is_ok() { texts(frame, "language")? } else { vec![None; frame.height()] };
        let premises = texts(frame, "context_unit")?;
        let claim_texts = texts(frame, "text")?;
        let ids = texts(frame, "claim_id")?;
        let mut tasks = Vec::new();
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let claim = claim_texts[row].clone().unwrap_or_default();
            tasks.push(Task {
                direction: Direction::ClaimVsContextUnit,
                question: question.unwrap_or_default(),
                claim_id: ids[row].clone().unwrap_or_default(),
                language: codes[row]
                    .as_deref()
                    .and_then(Language::from_code)
                    .unwrap_or_else(|| Language::detect(&claim)),
                claim,
                premise: premises[row].clone().unwrap_or_default(),
                system: None,
                attempt: None,
                retriever: None,
                chunk_id: None,
            });
        }
        self.verdicts(&tasks)
    }

    fn verdicts(self, tasks: &[Task]) -> Result<Checks> {
        // A chunk is a premise many times; it is read once.
        let mut texts: Vec<(&str, Language)> =
            tasks.iter().map(|task| (task.premise.as_str(), task.language)).collect();
        texts.sort_unstable_by_key(|(text, language)| (*text, language.code()));
        texts.dedup();
        let premises: HashMap<(&str, Language), lexical::Premise> = texts
            .par_iter()
            .map(|(text, language)| ((*text, *language), lexical::Premise::new(text, *language)))
            .collect();
        let progress = Progress::new("Checking claims", tasks.len());
        let mut labels: Vec<Option<Label>> = Vec::with_capacity(tasks.len());
        let mut reasons: Vec<Option<String>> = Vec::with_capacity(tasks.len());
        for batch in tasks.chunks(256) {
            signal::check("nothing of this step is kept")?;
            let verdicts: Vec<_> = batch
                .par_iter()
                .filter_map(|task| {
                    premises.get(&(task.premise.as_str(), task.language)).map(|text| text.check(&task.claim))
                })
                .collect();
            for verdict in verdicts {
                labels.push(Some(verdict.label));
                reasons.push(Some(verdict.reason));
            }
            progress.advance(batch.len());
        }
        let column = |pick: fn(&Task) -> Option<&String>| tasks.iter().map(pick).collect::<Vec<_>>();
        let directions: Vec<&str> = tasks.iter().map(|task| task.direction.as_str()).collect();
        let attempts: Vec<Option<i64>> = tasks.iter().map(|task| task.attempt).collect();
        let names: Vec<Option<&str>> = labels.iter().map(|label| label.map(Label::as_str)).collect();
        Checks::new(
            FrameBuilder::new()
                .text("checker", &vec![self.name(); tasks.len()])
                .text("direction", &directions)
                .text_or_null("question_id", &column(|task| Some(&task.question)))
                .text_or_null("claim_id", &column(|task| Some(&task.claim_id)))
                .text_or_null("system", &column(|task| task.system.as_ref()))
                .integer_or_null("attempt", &attempts)
                .text_or_null("retriever", &column(|task| task.retriever.as_ref()))
                .text_or_null("chunk_id", &column(|task| task.chunk_id.as_ref()))
                .text_or_null("label", &names)
                .text_or_null("failure", &vec![None::<&str>; tasks.len()])
                .text_or_null("reason", &reasons)
                .build()?,
        )
    }
}

/// Everything that the four directions are made of, by question.
#[derive(Debug)]
struct Sources {
    languages: HashMap<String, Language>,
    references: HashMap<String, String>,
    /// retriever and question → chunks in rank order
    chunks: HashMap<(String, String), Vec<(String, String)>>,
    /// in the run's order: question, system, attempt, retriever, response
    responses: Vec<(Owner, String, String)>,
    reference_claims: HashMap<String, Vec<Claim>>,
    response_claims: HashMap<Owner, Vec<Claim>>,
}

impl Sources {
    fn read(
        questions: &QaPairs,
        found: &RetrievalRun,
        run: &GenerationRun,
        reference: &Claims,
        response: &Claims,
    ) -> Result<Self> {
        let frame = questions.frame();
        let references = texts(frame, "question_id")?.into_iter().zip(texts(frame, "reference_answer")?);
        let mut chunks: HashMap<(String, String), Vec<(String, String)>> = HashMap::new();
        let frame = found.frame();
        let (retrievers, ids, passages) =
            (texts(frame, "retriever")?, texts(frame, "chunk_id")?, texts(frame, "text")?);
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            if let (Some(question), Some(retriever), Some(id), Some(text)) =
                (question, retrievers[row].clone(), ids[row].clone(), passages[row].clone())
            {
                chunks.entry((retriever, question)).or_default().push((id, text));
            }
        }
        let frame = run.frame();
        let (systems, attempts, retrievers, answers) = (
            texts(frame, "system")?,
            integers(frame, "attempt")?,
            texts(frame, "retriever")?,
            texts(frame, "response")?,
        );
        let mut responses = Vec::new();
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let owner = (question.unwrap_or_default(), systems[row].clone(), attempts[row]);
            // A failed call has no response to check; its metrics are failed, not undefined.
            if let Some(answer) = answers[row].clone() {
                responses.push((owner, retrievers[row].clone().unwrap_or_default(), answer));
            }
        }
        Ok(Self {
            languages: languages(questions)?,
            references: references.filter_map(|(id, text)| Some((id?, text?))).collect(),
            chunks,
            responses,
            reference_claims: by_owner(reference)?
                .into_iter()
                .map(|((question, _, _), list)| (question, list))
                .collect(),
            response_claims: by_owner(response)?,
        })
    }

    fn tasks(&self) -> Result<Vec<Task>> {
        let mut tasks = Vec::new();
        let none = Vec::new();
        for ((question, system, attempt), retriever, answer) in &self.responses {
            let response_claims =
                self.response_claims.get(&(question.clone(), system.clone(), *attempt)).unwrap_or(&none);
            let reference_claims = self.reference_claims.get(question).unwrap_or(&none);
            let reference = self.references.get(question).map_or("", String::as_str);
            let chunks = self.chunks.get(&(retriever.clone(), question.clone()));
            let own = |direction, claim: &Claim, premise: &str| Task {
                system: system.clone(),
                attempt: *attempt,
                ..self.task(direction, question, claim, premise)
            };
            tasks.extend(response_claims.iter().map(|claim| own(Direction::ResponseVsReference, claim, reference)));
            tasks.extend(reference_claims.iter().map(|claim| own(Direction::ReferenceVsResponse, claim, answer)));
            for claim in response_claims {
                for (chunk_id, text) in chunks.into_iter().flatten() {
                    tasks.push(Task {
                        retriever: Some(retriever.clone()),
                        chunk_id: Some(chunk_id.clone()),
                        ..own(Direction::ResponseVsChunks, claim, text)
                    });
                }
            }
        }
        let mut shared: Vec<_> = self.chunks.iter().collect();
        shared.sort_by(|a, b| a.0.cmp(b.0));
        for ((retriever, question), chunks) in shared {
            for claim in self.reference_claims.get(question).unwrap_or(&none) {
                for (chunk_id, text) in chunks {
                    tasks.push(Task {
                        retriever: Some(retriever.clone()),
                        chunk_id: Some(chunk_id.clone()),
                        ..self.task(Direction::ReferenceVsChunks, question, claim, text)
                    });
                }
            }
        }
        Ok(tasks)
    }

    fn task(&self, direction: Direction, question: &str, claim: &Claim, premise: &str) -> Task {
        Task {
            direction,
            question: question.to_owned(),
            claim_id: claim.id.clone(),
            claim: claim.text.clone(),
            premise: premise.to_owned(),
            language: self.languages.get(question).copied().unwrap_or_else(|| Language::detect(premise)),
            system: None,
            attempt: None,
            retriever: None,
            chunk_id: None,
        }
    }
}

fn by_owner(claims: &Claims) -> Result<HashMap<Owner, Vec<Claim>>> {
    let frame = claims.frame();
    let (systems, attempts) = (texts(frame, "system")?, integers(frame, "attempt")?);
    let (ids, claim_texts) = (texts(frame, "claim_id")?, texts(frame, "text")?);
    let mut found: HashMap<Owner, Vec<Claim>> = HashMap::new();
    for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
        let owner = (question.unwrap_or_default(), systems[row].clone(), attempts[row]);
        let claim =
            Claim { id: ids[row].clone().unwrap_or_default(), text: claim_texts[row].clone().unwrap_or_default() };
        found.entry(owner).or_default().push(claim);
    }
    Ok(found)
}
