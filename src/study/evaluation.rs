//! Running systems and keeping every table on the way.

use polars::prelude::concat as concat_lazy;
use polars::prelude::{DataFrame, DataType, IntoLazy, PlSmallStr, Series, SortMultipleOptions, col, lit};
use serde_json::{Value, json};

use crate::claims::{Checker, Extractor, Work};
use crate::dataset::Benchmark;
use crate::error::{Error, Result};
use crate::generation::Generator;
use crate::lab::Lab;
use crate::metrics::{Metric, Mode, score_run, text_overlap};
use crate::retrieval::Retriever;
use crate::signal;
use crate::table::{Checks, Claims, GenerationRun, QaPairs, RetrievalRun, Scores, Summary};

/// A retriever and a generator together.
#[derive(Debug, Clone)]
pub struct System {
    retriever: Retriever,
    generator: Generator,
}

impl System {
    /// Puts the two together.
    #[must_use]
    pub fn new(retriever: &Retriever, generator: &Generator) -> Self {
        Self { retriever: retriever.clone(), generator: generator.clone() }
    }

    /// As in the column `system`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} + {}", self.retriever.name(), self.generator.name())
    }

    /// Shows the name.
    pub fn evcxr_display(&self) {
        signal::display(None, None, &self.name());
    }
}

/// How systems are evaluated: how many chunks they get, who extracts claims, who checks them, and what a degenerate
/// metric is.
///
/// ```
/// use claimlab::claims::{Checker, Extractor};
/// use claimlab::study::Protocol;
///
/// let protocol = Protocol::new(10).extractor(&Extractor::lexical()).checker(&Checker::lexical());
/// assert!(format!("{protocol:?}").contains("lexical"));
/// ```
#[derive(Debug, Clone)]
pub struct Protocol {
    k: usize,
    extractor: Extractor,
    checker: Checker,
    mode: Mode,
}

impl Protocol {
    /// `k` chunks a question, the embedded baselines, strict metrics.
    #[must_use]
    pub fn new(k: usize) -> Self {
        Self { k, extractor: Extractor::lexical(), checker: Checker::lexical(), mode: Mode::Strict }
    }

    /// Who cuts answers into claims.
    #[must_use]
    pub fn extractor(mut self, extractor: &Extractor) -> Self {
        self.extractor = extractor.clone();
        self
    }

    /// Who checks the claims.
    #[must_use]
    pub fn checker(mut self, checker: &Checker) -> Self {
        self.checker = checker.clone();
        self
    }

    /// What a metric is where its formula has no value.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Shows who does what.
    pub fn evcxr_display(&self) {
        let told = json!({"chunks": self.k, "extractor": self.extractor.spec(), "checker": self.checker.spec(),
            "mode": self.mode.as_str()});
        signal::display(None, None, &format!("{told:#}"));
    }
}

/// Every table of an experiment.
#[derive(Debug, Clone)]
pub struct Evaluation {
    pub(super) questions: QaPairs,
    pub(super) found: RetrievalRun,
    pub(super) run: GenerationRun,
    pub(super) reference: Claims,
    pub(super) response: Claims,
    pub(super) checks: Checks,
    mode: Mode,
    scores: Scores,
}

impl Lab {
    /// Retrieves `k` chunks, answers, extracts claims, checks them in four directions and scores, for every system
    /// on every question of the benchmark, with the embedded baselines; [`Lab::evaluate_by`] has others.
    ///
    /// # Errors
    /// Says which step failed on what; the steps before it are kept.
    pub fn evaluate(&self, benchmark: &Benchmark, systems: &[System], k: usize) -> Result<Evaluation> {
        self.evaluate_by(benchmark, systems, &Protocol::new(k))
    }

    /// The same by a protocol of the caller's. Each step is stored before the next begins, the checks in batches; a
    /// second run reads what is there, and so does a run with one system more.
    ///
    /// # Errors
    /// Says which step failed on what; the steps before it are kept.
    pub fn evaluate_by(&self, benchmark: &Benchmark, systems: &[System], protocol: &Protocol) -> Result<Evaluation> {
        if systems.is_empty() {
            return Err(Error::input("there is no system to evaluate").help("give at least one System::new(…)"));
        }
        let questions = benchmark.questions();
        let asked = questions.frame();
        let mut found: Vec<DataFrame> = Vec::new();
        let mut runs: Vec<DataFrame> = Vec::new();
        let mut retrieved: Vec<(&str, DataFrame)> = Vec::new();
        let k = protocol.k;
        for System { retriever, generator } in systems {
            let known = retrieved.iter().find(|(name, _)| *name == retriever.name()).map(|(_, run)| run.clone());
            let run = match known {
                Some(run) => run,
                None => {
                    let spec = json!({"k": k, "retriever": retriever.spec()});
                    let run = self.artifact("retrieval", &with_acts(spec, benchmark), &[asked], &mut || {
                        retriever.retrieve(&questions, k).map(RetrievalRun::into_frame)
                    })?;
                    retrieved.push((retriever.name(), run.clone()));
                    found.push(run.clone());
                    run
                }
            };
            let spec = json!({"generator": generator.spec()});
            runs.push(self.artifact("generation", &spec, &[asked, &run], &mut || {
                let run = RetrievalRun::new(run.clone())?;
                generator.answer(&questions, &run).map(GenerationRun::into_frame)
            })?);
        }
        let found = RetrievalRun::new(stack(found)?)?;
        let extractor = &protocol.extractor;
        let reference = extractor.reference_claims_in(self, &questions)?;
        let mut response = Vec::new();
        for run in &runs {
            let run = GenerationRun::new(run.clone())?;
            response.push(extractor.response_claims_in(self, &questions, &run)?.into_frame());
        }
        let run = GenerationRun::new(stack(runs)?)?;
        let response = Claims::new(stack(response)?)?;
        self.assess(Tables { questions, found, run, reference, response }, &protocol.checker, protocol.mode)
    }

    /// Checks and scores.
    fn assess(&self, tables: Tables, checker: &Checker, mode: Mode) -> Result<Evaluation> {
        let Tables { questions, found, run, reference, response } = tables;
        let checks = checker.check_in(self, &questions, &found, &run, &reference, &response)?;
        let scores = score_run(&questions, &found, &run, (&reference, &response), &checks, mode)?;
        Ok(Evaluation { questions, found, run, reference, response, checks, mode, scores })
    }
}

/// What is checked.
struct Tables {
    questions: QaPairs,
    found: RetrievalRun,
    run: GenerationRun,
    reference: Claims,
    response: Claims,
}

/// Names the texts that were searched, since two benchmarks may hold the same number of chunks.
fn with_acts(mut spec: Value, benchmark: &Benchmark) -> Value {
    let acts: Vec<String> = benchmark
        .acts()
        .iter()
        .map(|act| crate::lab::Fingerprint::new().text(act.source()).text(act.text()).finish())
        .collect();
    spec["acts"] = json!(acts);
    spec
}

/// One frame of several; a column that some lack is null there.
fn stack(frames: Vec<DataFrame>) -> Result<DataFrame> {
    let mut columns: Vec<(PlSmallStr, DataType)> = Vec::new();
    for column in frames.iter().flat_map(DataFrame::columns) {
        if !columns.iter().any(|(name, _)| name == column.name()) {
            columns.push((column.name().clone(), column.dtype().clone()));
        }
    }
    let mut parts = Vec::with_capacity(frames.len());
    for mut frame in frames {
        for (name, kind) in &columns {
            if frame.column(name).is_err() {
                frame.with_column(Series::full_null(name.clone(), frame.height(), kind).into())?;
            }
        }
        parts.push(frame.select(columns.iter().map(|(name, _)| name.clone()))?.lazy());
    }
    Ok(concat_lazy(parts, Default::default())?.collect()?)
}

impl Evaluation {
    /// What was retrieved.
    #[must_use]
    pub fn retrieval(&self) -> RetrievalRun {
        self.found.clone()
    }

    /// What was answered.
    #[must_use]
    pub fn answers(&self) -> GenerationRun {
        self.run.clone()
    }

    /// The claims of the responses.
    #[must_use]
    pub fn response_claims(&self) -> Claims {
        self.response.clone()
    }

    /// The claims of the reference answers.
    #[must_use]
    pub fn reference_claims(&self) -> Claims {
        self.reference.clone()
    }

    /// Every verdict.
    #[must_use]
    pub fn checks(&self) -> Checks {
        self.checks.clone()
    }

    /// Every metric of every response.
    #[must_use]
    pub fn scores(&self) -> Scores {
        self.scores.clone()
    }

    /// The same answers and claims, checked by another checker: nothing is retrieved, generated or extracted again.
    ///
    /// # Errors
    /// When the user interrupts, or the lab's folder.
    pub fn checked_by(&self, lab: &Lab, checker: &Checker) -> Result<Self> {
        let tables = Tables {
            questions: self.questions.clone(),
            found: self.found.clone(),
            run: self.run.clone(),
            reference: self.reference.clone(),
            response: self.response.clone(),
        };
        lab.assess(tables, checker, self.mode)
    }

    /// Every metric of every response in another mode. Scores are always computed from the tables, never stored.
    ///
    /// # Errors
    /// As [`score_run`].
    pub fn scores_in(&self, mode: Mode) -> Result<Scores> {
        score_run(&self.questions, &self.found, &self.run, (&self.reference, &self.response), &self.checks, mode)
    }

    /// What the checks came to: rows, different pairs of claim and premise, and calls of a checker that takes up to
    /// `joint` claims at once.
    ///
    /// # Errors
    /// Never for an evaluation that was made.
    pub fn work(&self, joint: usize) -> Result<Work> {
        Checker::work(&self.questions, &self.found, &self.run, &self.reference, &self.response, joint)
    }

    /// ROUGE-L and BLEU of every response, for comparison; see [`text_overlap`].
    ///
    /// # Errors
    /// When a table lacks a column.
    pub fn overlap(&self) -> Result<Scores> {
        text_overlap(&self.questions, &self.run)
    }

    /// Every pair of systems by metric and these columns; see [`Scores::compare`].
    ///
    /// # Errors
    /// When there is one system only, or a column does not exist.
    pub fn compare(&self, slices: &[&str]) -> Result<DataFrame> {
        self.scores.compare(slices)
    }

    /// Means with intervals by these columns; see [`Scores::by`].
    ///
    /// # Errors
    /// When a column does not exist.
    pub fn by(&self, slices: &[&str]) -> Result<Summary> {
        self.scores.by(slices)
    }

    /// The `n` responses with the lowest value of a metric (the highest, where low is good), with their questions.
    ///
    /// # Errors
    /// When a table lacks a column.
    pub fn worst(&self, metric: Metric, n: usize) -> Result<DataFrame> {
        let questions = self.questions.frame().clone().lazy().select([col("question_id"), col("question")]);
        Ok(self
            .scores
            .frame()
            .clone()
            .lazy()
            .filter(col("metric").eq(lit(metric.as_str())).and(col("value").is_not_null()))
            .join(questions, [col("question_id")], [col("question_id")], Default::default())
            .sort(
                ["value", "question_id", "system"],
                SortMultipleOptions::default().with_order_descending_multi([!metric.higher_is_better(), false, false]),
            )
            .select([col("value").alias(metric.as_str()), col("question_id"), col("system"), col("question")])
            .limit(n as u32)
            .collect()?)
    }

    /// Shows the means by system.
    pub fn evcxr_display(&self) {
        match self.by(&["system"]) {
            Ok(summary) => summary.evcxr_display(),
            Err(error) => signal::display(None, None, &error.to_string()),
        }
    }
}
