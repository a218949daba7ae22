//! Looking into single questions: every claim with its verdicts, the chunks behind them, systems side by side.

mod case;
mod page;
mod place;
mod style;
mod view;

use polars::prelude::DataFrame;

use super::Evaluation;
use crate::error::{Error, ErrorKind, Result};
use crate::figure::Page;
use crate::metrics::Metric;
use crate::table::{FrameBuilder, distinct};
use case::{Case, Index};

/// Questions that one page holds at most: beyond it browsers become slow.
const MOST: usize = 400;

impl Evaluation {
    /// A page with the question, both answers, every claim with its verdicts, and the retrieved chunks.
    ///
    /// # Errors
    /// When there is no such question or system.
    pub fn open(&self, question_id: &str, system: &str) -> Result<Page> {
        self.opened(question_id, &[system])
    }

    /// The same for two systems side by side.
    ///
    /// # Errors
    /// When there is no such question or system.
    pub fn compare(&self, question_id: &str, system: &str, other: &str) -> Result<Page> {
        self.opened(question_id, &[system, other])
    }

    fn opened(&self, question_id: &str, systems: &[&str]) -> Result<Page> {
        let index = Index::read(self)?;
        let case = index.case(question_id, systems)?;
        Ok(page::single(&case))
    }

    /// A page to browse errors in: the `n` questions on which the first of these systems (one or two) does worst by
    /// this metric, each to be unfolded, with filters for language, persona, category, contradictions and failures, and
    /// the order of any metric. It needs no script, so that it works in JupyterLab, in exported HTML and offline alike.
    ///
    /// # Errors
    /// When there is no such system, more than two are named, or `n` is above 400.
    pub fn browse(&self, metric: Metric, systems: &[&str], n: usize) -> Result<Page> {
        if systems.is_empty() || systems.len() > 2 {
            return Err(Error::input(format!("{} systems cannot stand side by side", systems.len()))
                .help("name one system, or two"));
        }
        if n == 0 || n > MOST {
            return Err(Error::input(format!("a page of {n} questions cannot be made; 1 to {MOST} can")));
        }
        let known = distinct(self.run.frame(), "system")?;
        if let Some(absent) = systems.iter().find(|name| !known.iter().any(|one| one == *name)) {
            return Err(Error::new(ErrorKind::NotFound, format!("the evaluation has no system {absent:?}"))
                .help(format!("its systems are {known:?}")));
        }
        let index = Index::read(self)?;
        let mut cases: Vec<Case> = Vec::new();
        for question in distinct(self.questions.frame(), "question_id")? {
            crate::signal::check("nothing is lost")?;
            match index.case(&question, systems) {
                Ok(case) => cases.push(case),
                // A system need not have answered every question.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        cases.sort_by_key(|case| case.rank(metric));
        cases.truncate(n);
        Ok(page::browse(&cases, metric))
    }

    /// Every verdict on one question with what it is about, in long form: the ids of all tables and the texts that they
    /// stand for (`system`, `direction`, `claim_id`, `claim`, `chunk_id`, `rank`, `label`, `failure`, `reason`).
    ///
    /// # Errors
    /// When there is no such question.
    pub fn verdicts(&self, question_id: &str) -> Result<DataFrame> {
        let index = Index::read(self)?;
        let rows = index.verdicts(question_id)?;
        FrameBuilder::new()
            .text("question_id", &vec![question_id; rows.len()])
            .text_or_null("system", &rows.iter().map(|row| row.system.clone()).collect::<Vec<_>>())
            .text("direction", &rows.iter().map(|row| row.direction.clone()).collect::<Vec<_>>())
            .text("claim_id", &rows.iter().map(|row| row.claim_id.clone()).collect::<Vec<_>>())
            .text("claim", &rows.iter().map(|row| row.claim.clone()).collect::<Vec<_>>())
            .text_or_null("chunk_id", &rows.iter().map(|row| row.chunk_id.clone()).collect::<Vec<_>>())
            .integer_or_null("rank", &rows.iter().map(|row| row.rank).collect::<Vec<_>>())
            .text_or_null("label", &rows.iter().map(|row| row.label.clone()).collect::<Vec<_>>())
            .text_or_null("failure", &rows.iter().map(|row| row.failure.clone()).collect::<Vec<_>>())
            .text_or_null("reason", &rows.iter().map(|row| row.reason.clone()).collect::<Vec<_>>())
            .build()
    }
}
