//! The eleven metrics: names, formulas, and what each one reads.

use std::fmt;

use polars::prelude::DataFrame;

use crate::error::Result;
use crate::table::{Direction, FrameBuilder};

/// One of RAGChecker's eleven metrics (Ru et al. 2024).
///
/// All are shares in 0..=1. Only entailment counts: neutral and contradiction are alike. The examples share the
/// matrices of the [module's worked example](super#a-worked-example). "RAGChecker mode" is
/// [`Mode::RagChecker`](super::Mode::RagChecker): where a metric below is undefined, it is 0 there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Metric {
    /// Correct response claims ÷ response claims; correct means entailed by the reference answer.
    ///
    /// Undefined without response claims. A short reference lowers it: true claims beyond it count as incorrect.
    ///
    /// ```
    /// # use claimlab::metrics::{LabelMatrices, Metric, Mode, Outcome};
    /// let labels = LabelMatrices::from_letters("eencn", "ene", "en nn en ne nn", "en en nn")?;
    /// assert_eq!(Metric::Precision.of(&labels, Mode::Strict)?, Outcome::Value(2.0 / 5.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    Precision,
    /// Reference claims entailed by the response ÷ reference claims.
    ///
    /// 0 without response claims, undefined without reference claims. RAGChecker mode reads the labels even when
    /// there are no response claims.
    ///
    /// ```
    /// # use claimlab::metrics::{LabelMatrices, Metric, Mode, Outcome};
    /// let labels = LabelMatrices::from_letters("eencn", "ene", "en nn en ne nn", "en en nn")?;
    /// assert_eq!(Metric::Recall.of(&labels, Mode::Strict)?, Outcome::Value(2.0 / 3.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    Recall,
    /// `2 · precision · recall ÷ (precision + recall)`; 0 when either is 0.
    ///
    /// Undefined without response claims or without reference claims.
    ///
    /// ```
    /// # use claimlab::metrics::{LabelMatrices, Metric, Mode, Outcome};
    /// let labels = LabelMatrices::from_letters("eencn", "ene", "en nn en ne nn", "en en nn")?;
    /// assert_eq!(Metric::F1.of(&labels, Mode::Strict)?.to_string(), "0.500");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    F1,
    /// Reference claims entailed by at least one retrieved chunk ÷ reference claims.
    ///
    /// 0 when nothing was retrieved, undefined without reference claims.
    ///
    /// ```
    /// # use claimlab::metrics::{LabelMatrices, Metric, Mode, Outcome};
    /// let labels = LabelMatrices::from_letters("eencn", "ene", "en nn en ne nn", "en en nn")?;
    /// assert_eq!(Metric::ClaimRecall.of(&labels, Mode::Strict)?, Outcome::Value(2.0 / 3.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ClaimRecall,
    /// Relevant chunks ÷ retrieved chunks; relevant means that the chunk entails at least one reference claim.
    ///
    /// Undefined when nothing was retrieved, and without reference claims.
    ///
    /// ```
    /// # use claimlab::metrics::{LabelMatrices, Metric, Mode, Outcome};
    /// let labels = LabelMatrices::from_letters("eencn", "ene", "en nn en ne nn", "en en nn")?;
    /// assert_eq!(Metric::ContextPrecision.of(&labels, Mode::Strict)?, Outcome::Value(1.0 / 2.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ContextPrecision,
    /// Reference claims both retrieved and stated by the response ÷ retrieved reference claims.
    ///
    /// Undefined when no reference claim was retrieved (`nothing_recalled`), when nothing was retrieved at all,
    /// and without reference claims; 0 without response claims. It counts *reference* claims, as RAGChecker's
    /// code does; some papers word it with response claims. RAGChecker mode reads the labels even when there are
    /// no response claims.
    ///
    /// ```
    /// # use claimlab::metrics::{LabelMatrices, Metric, Mode, Outcome};
    /// let labels = LabelMatrices::from_letters("eencn", "ene", "en nn en ne nn", "en en nn")?;
    /// assert_eq!(Metric::ContextUtilization.of(&labels, Mode::Strict)?, Outcome::Value(1.0 / 2.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ContextUtilization,
    /// Incorrect response claims entailed by at least one relevant chunk ÷ *all* response claims.
    ///
    /// 0 when nothing was retrieved; undefined without response claims, and without reference claims (which
    /// decide what is relevant).
    ///
    /// ```
    /// # use claimlab::metrics::{LabelMatrices, Metric, Mode, Outcome};
    /// let labels = LabelMatrices::from_letters("eencn", "ene", "en nn en ne nn", "en en nn")?;
    /// assert_eq!(Metric::NoiseSensitivityInRelevant.of(&labels, Mode::Strict)?, Outcome::Value(1.0 / 5.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    NoiseSensitivityInRelevant,
    /// Incorrect response claims entailed by an irrelevant chunk *and by no relevant one* ÷ all response claims.
    ///
    /// Exclusive, as in RAGChecker's code: a claim found in both kinds of chunk counts as noise from the relevant
    /// one only. Degenerate cases as for [`Metric::NoiseSensitivityInRelevant`].
    ///
    /// ```
    /// # use claimlab::metrics::{LabelMatrices, Metric, Mode, Outcome};
    /// let labels = LabelMatrices::from_letters("eencn", "ene", "en nn en ne nn", "en en nn")?;
    /// assert_eq!(Metric::NoiseSensitivityInIrrelevant.of(&labels, Mode::Strict)?, Outcome::Value(1.0 / 5.0));
    /// // Let claim 4 be entailed by the relevant chunk too: it changes sides.
    /// let labels = LabelMatrices::from_letters("eencn", "ene", "en nn en ee nn", "en en nn")?;
    /// assert_eq!(Metric::NoiseSensitivityInIrrelevant.of(&labels, Mode::Strict)?, Outcome::Value(0.0));
    /// assert_eq!(Metric::NoiseSensitivityInRelevant.of(&labels, Mode::Strict)?, Outcome::Value(2.0 / 5.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    NoiseSensitivityInIrrelevant,
    /// Incorrect response claims entailed by no chunk ÷ all response claims.
    ///
    /// Undefined without response claims. When nothing was retrieved it is the share of incorrect claims;
    /// RAGChecker mode says 0 there.
    ///
    /// ```
    /// # use claimlab::metrics::{LabelMatrices, Metric, Mode, Outcome};
    /// let labels = LabelMatrices::from_letters("eencn", "ene", "en nn en ne nn", "en en nn")?;
    /// assert_eq!(Metric::Hallucination.of(&labels, Mode::Strict)?, Outcome::Value(1.0 / 5.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    Hallucination,
    /// Correct response claims entailed by no chunk ÷ all response claims.
    ///
    /// Undefined without response claims. When nothing was retrieved it is the share of correct claims;
    /// RAGChecker mode says 0 there.
    ///
    /// ```
    /// # use claimlab::metrics::{LabelMatrices, Metric, Mode, Outcome};
    /// let labels = LabelMatrices::from_letters("eencn", "ene", "en nn en ne nn", "en en nn")?;
    /// assert_eq!(Metric::SelfKnowledge.of(&labels, Mode::Strict)?, Outcome::Value(1.0 / 5.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    SelfKnowledge,
    /// Response claims entailed by at least one chunk, correct or not ÷ response claims.
    ///
    /// Undefined without response claims, 0 when nothing was retrieved. The one metric that needs no reference.
    ///
    /// ```
    /// # use claimlab::metrics::{LabelMatrices, Metric, Mode, Outcome};
    /// let labels = LabelMatrices::from_letters("eencn", "ene", "en nn en ne nn", "en en nn")?;
    /// assert_eq!(Metric::Faithfulness.of(&labels, Mode::Strict)?, Outcome::Value(3.0 / 5.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    Faithfulness,
}

/// What part of a system a metric speaks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// The answer as a whole: precision, recall, F1.
    #[doc(alias = "overall_metrics")]
    Overall,
    /// The retriever alone: claim recall and context precision.
    #[doc(alias = "retriever_metrics")]
    Retriever,
    /// What the generator made of the chunks: the other six.
    #[doc(alias = "generator_metrics")]
    Generator,
}

impl Group {
    /// The name that tables use: `overall`, `retriever` or `generator`.
    pub fn as_str(self) -> &'static str {
        match self {
            Group::Overall => "overall",
            Group::Retriever => "retriever",
            Group::Generator => "generator",
        }
    }
}

impl Metric {
    /// The eleven, in RAGChecker's order: overall, retriever, generator.
    pub const ALL: [Metric; 11] = [
        Metric::Precision,
        Metric::Recall,
        Metric::F1,
        Metric::ClaimRecall,
        Metric::ContextPrecision,
        Metric::ContextUtilization,
        Metric::NoiseSensitivityInRelevant,
        Metric::NoiseSensitivityInIrrelevant,
        Metric::Hallucination,
        Metric::SelfKnowledge,
        Metric::Faithfulness,
    ];

    /// The name in tables and files, such as `claim_recall`.
    pub fn as_str(self) -> &'static str {
        match self {
            Metric::Precision => "precision",
            Metric::Recall => "recall",
            Metric::F1 => "f1",
            Metric::ClaimRecall => "claim_recall",
            Metric::ContextPrecision => "context_precision",
            Metric::ContextUtilization => "context_utilization",
            Metric::NoiseSensitivityInRelevant => "noise_sensitivity_in_relevant",
            Metric::NoiseSensitivityInIrrelevant => "noise_sensitivity_in_irrelevant",
            Metric::Hallucination => "hallucination",
            Metric::SelfKnowledge => "self_knowledge",
            Metric::Faithfulness => "faithfulness",
        }
    }

    /// The name on figures, such as `Claim recall`.
    pub fn label(self) -> &'static str {
        match self {
            Metric::Precision => "Precision",
            Metric::Recall => "Recall",
            Metric::F1 => "F1",
            Metric::ClaimRecall => "Claim recall",
            Metric::ContextPrecision => "Context precision",
            Metric::ContextUtilization => "Context utilization",
            Metric::NoiseSensitivityInRelevant => "Noise sensitivity (relevant)",
            Metric::NoiseSensitivityInIrrelevant => "Noise sensitivity (irrelevant)",
            Metric::Hallucination => "Hallucination",
            Metric::SelfKnowledge => "Self-knowledge",
            Metric::Faithfulness => "Faithfulness",
        }
    }

    /// Reads the exact snake_case name.
    ///
    /// ```
    /// use claimlab::metrics::Metric;
    ///
    /// assert_eq!(Metric::parse("claim_recall"), Some(Metric::ClaimRecall));
    /// assert_eq!(Metric::parse("Claim recall"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.as_str() == name)
    }

    /// What part of the system it speaks about.
    pub fn group(self) -> Group {
        match self {
            Metric::Precision | Metric::Recall | Metric::F1 => Group::Overall,
            Metric::ClaimRecall | Metric::ContextPrecision => Group::Retriever,
            _ => Group::Generator,
        }
    }

    /// The matrices it reads: the checks that must be paid for to have it.
    pub fn needs(self) -> &'static [Direction] {
        use Direction::{ReferenceVsChunks, ReferenceVsResponse, ResponseVsChunks, ResponseVsReference};
        match self {
            Metric::Precision => &[ResponseVsReference],
            Metric::Recall => &[ReferenceVsResponse],
            Metric::F1 => &[ResponseVsReference, ReferenceVsResponse],
            Metric::ClaimRecall | Metric::ContextPrecision => &[ReferenceVsChunks],
            Metric::ContextUtilization => &[ReferenceVsResponse, ReferenceVsChunks],
            Metric::NoiseSensitivityInRelevant | Metric::NoiseSensitivityInIrrelevant => {
                &[ResponseVsReference, ResponseVsChunks, ReferenceVsChunks]
            }
            Metric::Hallucination | Metric::SelfKnowledge => &[ResponseVsReference, ResponseVsChunks],
            Metric::Faithfulness => &[ResponseVsChunks],
        }
    }

    /// Whether it hinges on the response's claims, be it through their number alone: all but the retriever's two.
    pub fn needs_response_claims(self) -> bool {
        self.group() != Group::Retriever
    }

    /// Whether it hinges on the reference answer's claims.
    pub fn needs_reference_claims(self) -> bool {
        !matches!(self, Metric::Precision | Metric::Hallucination | Metric::SelfKnowledge | Metric::Faithfulness)
    }

    /// What every metric needs: a table with a row a metric, a column a direction of checks (true where it reads
    /// them) and two for the claims that must be extracted.
    ///
    /// # Errors
    /// Never.
    ///
    /// ```
    /// let table = claimlab::metrics::Metric::requirements()?;
    /// assert_eq!(table.height(), 11);
    /// # Ok::<(), claimlab::Error>(())
    /// ```
    pub fn requirements() -> Result<DataFrame> {
        let all = |holds: &dyn Fn(Metric) -> bool| Metric::ALL.iter().map(|one| Some(holds(*one))).collect::<Vec<_>>();
        let mut table = FrameBuilder::new()
            .text("metric", &Metric::ALL.map(Metric::as_str))
            .text("group", &Metric::ALL.map(|metric| metric.group().as_str()))
            .boolean("response claims", &all(&Metric::needs_response_claims))
            .boolean("reference claims", &all(&Metric::needs_reference_claims));
        for direction in Direction::OF_METRICS {
            table = table.boolean(direction.as_str(), &all(&|metric| metric.needs().contains(&direction)));
        }
        table.boolean("higher is better", &all(&Metric::higher_is_better)).build()
    }

    /// The direction of improvement: false for the two noise sensitivities, hallucination and self-knowledge.
    ///
    /// Self-knowledge is better low where the generator is asked to rely on the retrieved text. High
    /// self-knowledge beside low claim recall points at the retriever.
    pub fn higher_is_better(self) -> bool {
        !matches!(
            self,
            Metric::NoiseSensitivityInRelevant
                | Metric::NoiseSensitivityInIrrelevant
                | Metric::Hallucination
                | Metric::SelfKnowledge
        )
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
