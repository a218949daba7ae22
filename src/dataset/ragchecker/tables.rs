//! Between RAGChecker's files and typed tables.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::RagCheckerFile;
use super::shapes::{LISTS, id_text};
use crate::error::{Error, Result};
use crate::table::{Checks, Claims, FrameBuilder, GenerationRun, Label, QaPairs, RetrievalRun, integers, texts};

/// The names of system, retriever and generator in the tables made from a file.
const NAME: &str = "ragchecker file";

impl RagCheckerFile {
    fn objects(&self) -> impl Iterator<Item = (String, &Map<String, Value>)> {
        self.results.iter().filter_map(Value::as_object).enumerate().map(|(place, result)| {
            let id = result.get("query_id").map(id_text).unwrap_or_default();
            (if id.is_empty() { format!("result-{}", place + 1) } else { id }, result)
        })
    }

    fn need<'a>(&self, id: &str, result: &'a Map<String, Value>, field: &str) -> Result<&'a str> {
        result.get(field).and_then(Value::as_str).ok_or_else(|| {
            Error::input(format!("{}, result {id:?}: field {field:?} is missing or not text", self.name))
                .help("problems() lists everything that is malformed")
        })
    }

    /// The questions with their reference answers.
    ///
    /// # Errors
    /// Names the result and field that is missing.
    pub fn questions(&self) -> Result<QaPairs> {
        let (mut ids, mut questions, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        for (id, result) in self.objects() {
            questions.push(self.need(&id, result, "query")?);
            answers.push(self.need(&id, result, "gt_answer")?);
            ids.push(id);
        }
        QaPairs::new(
            FrameBuilder::new()
                .text("question_id", &ids)
                .text("question", &questions)
                .text("reference_answer", &answers)
                .build()?,
        )
    }

    /// The retrieved chunks, in the file's order; the file has no scores, so the score is minus the rank.
    ///
    /// # Errors
    /// Names a chunk without text.
    pub fn retrieval(&self) -> Result<RetrievalRun> {
        let (mut ids, mut ranks, mut chunks, mut bodies) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (id, result) in self.objects() {
            for (place, chunk) in
                result.get("retrieved_context").and_then(Value::as_array).into_iter().flatten().enumerate()
            {
                // The tutorial's plain texts are chunks without a name.
                let text = chunk.as_str().or_else(|| chunk.get("text")?.as_str()).ok_or_else(|| {
                    Error::input(format!("{}, result {id:?}: chunk {} has no text", self.name, place + 1))
                        .help("a chunk is {\"doc_id\": …, \"text\": …}")
                })?;
                let name = chunk.get("doc_id").map(id_text).filter(|name| !name.is_empty());
                ids.push(id.clone());
                ranks.push(place as i64 + 1);
                chunks.push(name.unwrap_or_else(|| format!("{id}#{place}")));
                bodies.push(text.to_owned());
            }
        }
        RetrievalRun::new(
            FrameBuilder::new()
                .text("retriever", &vec![NAME; ids.len()])
                .text("question_id", &ids)
                .integer("rank", &ranks)
                .text("chunk_id", &chunks)
                .number("score", &ranks.iter().map(|rank| Some(-(*rank as f64))).collect::<Vec<_>>())
                .text("text", &bodies)
                .build()?,
        )
    }

    /// The responses, as one system's answers.
    ///
    /// # Errors
    /// When the columns do not fit together.
    pub fn responses(&self) -> Result<GenerationRun> {
        let rows: Vec<(String, Option<String>)> = self
            .objects()
            .map(|(id, result)| (id, result.get("response").and_then(Value::as_str).map(str::to_owned)))
            .collect();
        let failures: Vec<Option<&str>> =
            rows.iter().map(|(_, response)| response.is_none().then_some("the file has no response")).collect();
        let names = vec![NAME; rows.len()];
        GenerationRun::new(
            FrameBuilder::new()
                .text("system", &names)
                .text("question_id", &rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>())
                .integer("attempt", &vec![1; rows.len()])
                .text("retriever", &names)
                .text("generator", &names)
                .text_or_null("response", &rows.iter().map(|row| row.1.as_deref()).collect::<Vec<_>>())
                .text_or_null::<&str>("finish_reason", &vec![None; rows.len()])
                .integer_or_null("prompt_tokens", &vec![None; rows.len()])
                .integer_or_null("completion_tokens", &vec![None; rows.len()])
                .number("latency_ms", &vec![None; rows.len()])
                .text_or_null("failure", &failures)
                .build()?,
        )
    }

    /// The claims of both sides: lists of three texts become triples, plain texts stay texts.
    ///
    /// # Errors
    /// Names a claim that is neither.
    pub fn claims(&self) -> Result<Claims> {
        let mut rows: Vec<(String, String, bool, i64, String, [Option<String>; 3])> = Vec::new();
        for (id, result) in self.objects() {
            for (field, is_response) in [("response_claims", true), ("gt_answer_claims", false)] {
                for (place, claim) in result.get(field).and_then(Value::as_array).into_iter().flatten().enumerate() {
                    let (text, parts) = self.claim(&id, field, place, claim)?;
                    rows.push((claim_id(&id, is_response, place), id.clone(), is_response, place as i64, text, parts));
                }
            }
        }
        let part = |place: usize| rows.iter().map(|row| row.5.get(place).cloned().flatten()).collect::<Vec<_>>();
        Claims::new(
            FrameBuilder::new()
                .text("claim_id", &rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>())
                .text("extractor", &vec![NAME; rows.len()])
                .text("question_id", &rows.iter().map(|row| row.1.as_str()).collect::<Vec<_>>())
                .text("side", &rows.iter().map(|row| if row.2 { "response" } else { "reference" }).collect::<Vec<_>>())
                .text_or_null("system", &rows.iter().map(|row| row.2.then_some(NAME)).collect::<Vec<_>>())
                .integer_or_null("attempt", &rows.iter().map(|row| row.2.then_some(1)).collect::<Vec<_>>())
                .integer("ordinal", &rows.iter().map(|row| row.3).collect::<Vec<_>>())
                .text("text", &rows.iter().map(|row| row.4.as_str()).collect::<Vec<_>>())
                .text_or_null("subject", &part(0))
                .text_or_null("predicate", &part(1))
                .text_or_null("object", &part(2))
                .build()?,
        )
    }

    fn claim(&self, id: &str, field: &str, place: usize, claim: &Value) -> Result<(String, [Option<String>; 3])> {
        let parts: Option<Vec<&str>> = claim.as_array().and_then(|parts| parts.iter().map(Value::as_str).collect());
        match (claim, parts.as_deref()) {
            (Value::String(text), _) => Ok((text.clone(), [None, None, None])),
            (_, Some([subject, predicate, object])) => Ok((
                format!("{subject} {predicate} {object}"),
                [subject, predicate, object].map(|part| Some((*part).to_owned())),
            )),
            _ => Err(Error::input(format!("{}, result {id:?}: {field}[{place}] is not three texts or one", self.name))
                .help("problems() lists everything that is malformed")),
        }
    }

    /// The verdicts in the four directions. A label that is none of the three becomes a failed check, never neutral.
    ///
    /// # Errors
    /// Names a list whose length does not fit the claims or the chunks.
    pub fn checks(&self) -> Result<Checks> {
        let mut rows: Vec<Verdict> = Vec::new();
        for (id, result) in self.objects() {
            let chunks: Vec<String> = result
                .get("retrieved_context")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .enumerate()
                .map(|(place, chunk)| {
                    chunk
                        .get("doc_id")
                        .map(id_text)
                        .filter(|name| !name.is_empty())
                        .unwrap_or_else(|| format!("{id}#{place}"))
                })
                .collect();
            for (field, claims, is_matrix) in LISTS {
                let Some(list) = result.get(field).and_then(Value::as_array) else { continue };
                let n_claims = result.get(claims).and_then(Value::as_array).map_or(list.len(), Vec::len);
                self.fits(&id, field, list.len(), n_claims, "claims")?;
                let is_response = claims == "response_claims";
                for (place, entry) in list.iter().enumerate() {
                    let labels = if is_matrix {
                        entry.as_array().map_or(&[][..], Vec::as_slice)
                    } else {
                        std::slice::from_ref(entry)
                    };
                    if is_matrix && result.get("retrieved_context").is_some_and(Value::is_array) {
                        self.fits(&id, &format!("{field}[{place}]"), labels.len(), chunks.len(), "chunks")?;
                    }
                    for (chunk, label) in labels.iter().enumerate() {
                        let label = label.as_str().unwrap_or_default();
                        rows.push(Verdict {
                            direction: direction(field),
                            question: id.clone(),
                            claim: claim_id(&id, is_response, place),
                            is_shared: !is_response && is_matrix,
                            chunk: is_matrix
                                .then(|| chunks.get(chunk).cloned().unwrap_or_else(|| format!("{id}#{chunk}"))),
                            label: Label::parse(label).map(Label::as_str),
                            failure: Label::parse(label).is_none().then(|| format!("the label is {label:?}")),
                        });
                    }
                }
            }
        }
        checks_of(&rows)
    }

    fn fits(&self, id: &str, field: &str, found: usize, expected: usize, what: &str) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        Err(Error::input(format!("{}, result {id:?}: {field} has {found} entries for {expected} {what}", self.name))
            .help("problems() lists everything that is malformed"))
    }

    /// RAGChecker's input for one system: questions with reference answers, what was retrieved, and the responses of the
    /// first attempt. Columns beyond those of the tables stay behind.
    ///
    /// # Errors
    /// When the run holds no answer of the system.
    pub fn of_run(
        questions: &QaPairs,
        retrieved: &RetrievalRun,
        answers: &GenerationRun,
        system: &str,
    ) -> Result<Self> {
        let frame = answers.frame();
        let (systems, attempts) = (texts(frame, "system")?, integers(frame, "attempt")?);
        let (of, retrievers, responses) =
            (texts(frame, "question_id")?, texts(frame, "retriever")?, texts(frame, "response")?);
        let mut answered: HashMap<String, (Option<String>, Option<String>)> = HashMap::new();
        for place in 0..frame.height() {
            if systems[place].as_deref() == Some(system)
                && attempts[place] == Some(1)
                && let Some(id) = &of[place]
            {
                answered.insert(id.clone(), (retrievers[place].clone(), responses[place].clone()));
            }
        }
        if answered.is_empty() {
            return Err(Error::input(format!("the run holds no answer of the system {system:?}"))
                .help("name a system as the run's column \"system\" does"));
        }
        let frame = retrieved.frame();
        let (retrievers, of, ranks) =
            (texts(frame, "retriever")?, texts(frame, "question_id")?, integers(frame, "rank")?);
        let (names, bodies) = (texts(frame, "chunk_id")?, texts(frame, "text")?);
        let mut chunks: HashMap<(Option<String>, Option<String>), Vec<(Option<i64>, Value)>> = HashMap::new();
        for place in 0..frame.height() {
            let chunk = json!({"doc_id": names[place], "text": bodies[place]});
            chunks.entry((retrievers[place].clone(), of[place].clone())).or_default().push((ranks[place], chunk));
        }
        let frame = questions.frame();
        let (ids, asked, references) =
            (texts(frame, "question_id")?, texts(frame, "question")?, texts(frame, "reference_answer")?);
        let mut results = Vec::new();
        for ((id, query), reference) in ids.into_iter().zip(asked).zip(references) {
            let Some((retriever, response)) = id.as_ref().and_then(|id| answered.get(id)) else { continue };
            let mut found = chunks.remove(&(retriever.clone(), id.clone())).unwrap_or_default();
            found.sort_by_key(|(rank, _)| *rank);
            let context: Vec<Value> = found.into_iter().map(|(_, chunk)| chunk).collect();
            results.push(json!({"query_id": id, "query": query, "gt_answer": reference, "response": response,
                "retrieved_context": context}));
        }
        Ok(Self { name: system.to_owned(), results, metrics: None, rest: Map::new() })
    }
}

fn claim_id(question: &str, is_response: bool, place: usize) -> String {
    format!("{question}/{}/{place}", if is_response { "response" } else { "reference" })
}

fn direction(field: &str) -> &'static str {
    match field {
        "answer2response" => "response_vs_reference",
        "response2answer" => "reference_vs_response",
        "retrieved2response" => "response_vs_chunks",
        _ => "reference_vs_chunks",
    }
}

struct Verdict {
    direction: &'static str,
    question: String,
    claim: String,
    /// Whether all systems on the retriever share it.
    is_shared: bool,
    chunk: Option<String>,
    label: Option<&'static str>,
    failure: Option<String>,
}

fn checks_of(rows: &[Verdict]) -> Result<Checks> {
    let system: Vec<Option<&str>> = rows.iter().map(|row| (!row.is_shared).then_some(NAME)).collect();
    let attempt: Vec<Option<i64>> = rows.iter().map(|row| (!row.is_shared).then_some(1)).collect();
    let retriever: Vec<Option<&str>> = rows.iter().map(|row| row.chunk.is_some().then_some(NAME)).collect();
    Checks::new(
        FrameBuilder::new()
            .text("checker", &vec![NAME; rows.len()])
            .text("direction", &rows.iter().map(|row| row.direction).collect::<Vec<_>>())
            .text("question_id", &rows.iter().map(|row| row.question.as_str()).collect::<Vec<_>>())
            .text("claim_id", &rows.iter().map(|row| row.claim.as_str()).collect::<Vec<_>>())
            .text_or_null("system", &system)
            .integer_or_null("attempt", &attempt)
            .text_or_null("retriever", &retriever)
            .text_or_null("chunk_id", &rows.iter().map(|row| row.chunk.as_deref()).collect::<Vec<_>>())
            .text_or_null("label", &rows.iter().map(|row| row.label).collect::<Vec<_>>())
            .text_or_null("failure", &rows.iter().map(|row| row.failure.as_deref()).collect::<Vec<_>>())
            .build()?,
    )
}
