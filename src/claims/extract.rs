//! Extraction: answers and reference answers as tables of claims.

use std::collections::HashMap;

use super::lexical;
use crate::error::Result;
use crate::signal::{self, Progress};
use crate::table::{Claims, FrameBuilder, GenerationRun, QaPairs, integers, texts};
use crate::text::{Language, is_abstention};

/// Cuts texts into claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extractor(());

impl Extractor {
    /// The embedded baseline: sentences, split further where each part can stand alone. No download, no model.
    #[must_use]
    pub fn lexical() -> Self {
        Self(())
    }

    /// What the column `extractor` says.
    #[must_use]
    pub fn name(self) -> &'static str {
        "lexical"
    }

    /// The claims of every reference answer, extracted once and shared by all systems.
    ///
    /// # Errors
    /// When the user interrupts.
    pub fn reference_claims(self, questions: &QaPairs) -> Result<Claims> {
        let frame = questions.frame();
        let languages = languages(questions)?;
        let mut rows = Rows::default();
        let texts_of = texts(frame, "question_id")?.into_iter().zip(texts(frame, "reference_answer")?);
        for (question, answer) in texts_of {
            let (Some(question), Some(answer)) = (question, answer) else { continue };
            let language = languages.get(&question).copied().unwrap_or_else(|| Language::detect(&answer));
            rows.add(&question, "reference", None, None, &answer, language);
        }
        rows.finish(self.name())
    }

    /// The claims of every response. A response without claims (an abstention, a failed call) has no rows here;
    /// the metrics treat the two differently, since the run says which it was.
    ///
    /// # Errors
    /// When the user interrupts.
    pub fn response_claims(self, questions: &QaPairs, run: &GenerationRun) -> Result<Claims> {
        let languages = languages(questions)?;
        let frame = run.frame();
        let systems = texts(frame, "system")?;
        let attempts = integers(frame, "attempt")?;
        let answers = texts(frame, "response")?;
        let progress = Progress::new("Extracting claims", run.height());
        let mut rows = Rows::default();
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            signal::check("nothing of this step is kept")?;
            progress.advance(1);
            let (Some(question), Some(Some(answer))) = (question, answers.get(row)) else { continue };
            let language = languages.get(&question).copied().unwrap_or_else(|| Language::detect(answer));
            let system = systems.get(row).cloned().flatten();
            let attempt = attempts.get(row).copied().flatten();
            rows.add(&question, "response", system.as_deref(), attempt, answer, language);
        }
        rows.finish(self.name())
    }
}

/// The language of every question that states one.
pub(super) fn languages(questions: &QaPairs) -> Result<HashMap<String, Language>> {
    let frame = questions.frame();
    if frame.column("language").is_err() {
        return Ok(HashMap::new());
    }
    let pairs = texts(frame, "question_id")?.into_iter().zip(texts(frame, "language")?);
    Ok(pairs.filter_map(|(id, code)| Some((id?, Language::from_code(&code?)?))).collect())
}

#[derive(Debug, Default)]
struct Rows {
    id: Vec<String>,
    question: Vec<String>,
    side: Vec<&'static str>,
    system: Vec<Option<String>>,
    attempt: Vec<Option<i64>>,
    ordinal: Vec<i64>,
    text: Vec<String>,
}

impl Rows {
    fn add(
        &mut self,
        question: &str,
        side: &'static str,
        system: Option<&str>,
        attempt: Option<i64>,
        answer: &str,
        language: Language,
    ) {
        if is_abstention(answer, language) {
            return;
        }
        for (ordinal, claim) in lexical::extract(answer, language).into_iter().enumerate() {
            let owner = system.map(|system| format!("{system}/{}/", attempt.unwrap_or(1))).unwrap_or_default();
            self.id.push(format!("{question}/{side}/{owner}{ordinal}"));
            self.question.push(question.to_owned());
            self.side.push(side);
            self.system.push(system.map(str::to_owned));
            self.attempt.push(attempt);
            self.ordinal.push(ordinal as i64);
            self.text.push(claim);
        }
    }

    fn finish(self, extractor: &str) -> Result<Claims> {
        Claims::new(
            FrameBuilder::new()
                .text("claim_id", &self.id)
                .text("extractor", &vec![extractor; self.id.len()])
                .text("question_id", &self.question)
                .text("side", &self.side)
                .text_or_null("system", &self.system)
                .integer_or_null("attempt", &self.attempt)
                .integer("ordinal", &self.ordinal)
                .text("text", &self.text)
                .build()?,
        )
    }
}
