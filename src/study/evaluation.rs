//! Running systems and keeping every table on the way.

use polars::prelude::concat as concat_lazy;
use polars::prelude::{DataFrame, IntoLazy, SortMultipleOptions, col, lit};
use serde_json::{Value, json};

use crate::claims::{Checker, Extractor};
use crate::dataset::Benchmark;
use crate::error::{Error, Result};
use crate::generation::Generator;
use crate::lab::Lab;
use crate::metrics::{Metric, Mode, score_run};
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

/// Every table of an experiment.
#[derive(Debug, Clone)]
pub struct Evaluation {
    pub(super) questions: QaPairs,
    pub(super) found: RetrievalRun,
    pub(super) run: GenerationRun,
    pub(super) reference: Claims,
    pub(super) response: Claims,
    pub(super) checks: Checks,
    scores: Scores,
}

impl Lab {
    /// Retrieves `k` chunks, answers, extracts claims, checks them in four directions and scores, for every system
    /// on every question of the benchmark. Each step is stored before the next begins; a second run reads it.
    ///
    /// # Errors
    /// Says which step failed on what; the steps before it are kept.
    pub fn evaluate(&self, benchmark: &Benchmark, systems: &[System], k: usize) -> Result<Evaluation> {
        if systems.is_empty() {
            return Err(Error::input("there is no system to evaluate").help("give at least one System::new(…)"));
        }
        let questions = benchmark.questions();
        let asked = questions.frame();
        let mut found: Vec<DataFrame> = Vec::new();
        let mut runs: Vec<DataFrame> = Vec::new();
        let mut retrieved: Vec<(&str, DataFrame)> = Vec::new();
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
        let run = GenerationRun::new(stack(runs)?)?;
        let extractor = Extractor::lexical();
        let spec = json!({"extractor": extractor.name()});
        let reference = Claims::new(self.artifact("claims", &spec, &[asked], &mut || {
            extractor.reference_claims(&questions).map(Claims::into_frame)
        })?)?;
        let response = Claims::new(self.artifact("claims", &spec, &[asked, run.frame()], &mut || {
            extractor.response_claims(&questions, &run).map(Claims::into_frame)
        })?)?;
        let checker = Checker::lexical();
        let inputs = [asked, found.frame(), run.frame(), reference.frame(), response.frame()];
        let checks =
            Checks::new(self.artifact("checks", &json!({"checker": checker.name()}), &inputs, &mut || {
                checker.check(&questions, &found, &run, &reference, &response).map(Checks::into_frame)
            })?)?;
        let scores = score_run(&questions, &found, &run, (&reference, &response), &checks, Mode::Strict)?;
        Ok(Evaluation { questions, found, run, reference, response, checks, scores })
    }
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

fn stack(frames: Vec<DataFrame>) -> Result<DataFrame> {
    let parts: Vec<_> = frames.into_iter().map(IntoLazy::lazy).collect();
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
