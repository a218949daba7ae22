//! The seam for checkers, and the handle that cells hold.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Statement;
use super::check_lexical::LexicalChecker;
use super::check_likelihood::LikelihoodChecker;
use super::check_model::ModelChecker;
use super::check_nli::NliChecker;
use super::vote::Vote;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Classifier, LanguageModel, Probabilities};
use crate::signal;
use crate::table::Label;
use crate::text::Language;

/// Claims to be checked against one text.
#[derive(Debug, Clone)]
pub struct Request {
    /// What the claims are about, for checkers that want to know.
    pub question: Option<String>,
    /// The text.
    pub premise: Arc<str>,
    /// The claims.
    pub claims: Vec<Statement>,
    /// The text's language.
    pub language: Language,
}

/// What became of one check: a label, or the reason why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The verdict, or why there is none.
    pub label: Result<Label, String>,
    /// The checker's own words for it.
    pub reason: Option<String>,
    /// The probabilities of the three labels, where the checker has them.
    pub probabilities: Option<Probabilities>,
}

impl Finding {
    /// A verdict.
    #[must_use]
    pub fn label(label: Label, reason: Option<String>) -> Self {
        Self { label: Ok(label), reason, probabilities: None }
    }

    /// No verdict.
    #[must_use]
    pub fn failed(why: impl Into<String>) -> Self {
        Self { label: Err(why.into()), reason: None, probabilities: None }
    }
}

/// Checks claims against texts.
pub trait CheckClaims: std::fmt::Debug + Send + Sync {
    /// One list a request, one finding a claim, in the same order. A check that fails fails alone.
    ///
    /// # Errors
    /// Only when the user interrupts.
    fn check(&self, requests: &[Request]) -> Result<Vec<Vec<Finding>>>;

    /// Says exactly what it is: model, prompts, settings.
    fn spec(&self) -> Value;
}

/// A named checker, as cells hold it. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Checker {
    name: Arc<str>,
    engine: Arc<dyn CheckClaims>,
}

impl Checker {
    /// Names an implementation.
    #[must_use]
    pub fn new(name: &str, engine: Arc<dyn CheckClaims>) -> Self {
        Self { name: name.into(), engine }
    }

    /// The embedded baseline: shared words, quantities, negation and modality. No download, no model; its accuracy
    /// on human labels is in the README.
    #[must_use]
    pub fn lexical() -> Self {
        Self::new("lexical", Arc::new(LexicalChecker::default()))
    }

    /// A language model, one call a claim and text.
    #[must_use]
    pub fn single(model: &LanguageModel) -> Self {
        Self::new(model.name(), Arc::new(ModelChecker::new(model, 1, false)))
    }

    /// A language model that is given up to `claims` numbered claims of a text at once. Verdicts are matched by number;
    /// a claim whose verdict is missing is asked about again alone.
    #[must_use]
    pub fn joint(model: &LanguageModel, claims: usize) -> Self {
        Self::new(&format!("{} ×{}", model.name(), claims.max(1)), Arc::new(ModelChecker::new(model, claims, false)))
    }

    /// The same as [`joint`](Self::joint) (or, with 1, [`single`](Self::single)) with a sentence of rationale in the
    /// column `reason`. It costs tokens, and a model that explains itself may judge differently: it is another checker.
    #[must_use]
    pub fn explained(model: &LanguageModel, claims: usize) -> Self {
        let name = format!("{} ×{} explained", model.name(), claims.max(1));
        Self::new(&name, Arc::new(ModelChecker::new(model, claims, true)))
    }

    /// A local language model that weighs the three labels as replies to the question of [`single`](Self::single)
    /// instead of writing one: every check has a label and probabilities. Models behind an API that tells no
    /// log-probabilities fail every check.
    #[must_use]
    pub fn likelihood(model: &LanguageModel) -> Self {
        Self::new(&format!("{} likelihood", model.name()), Arc::new(LikelihoodChecker::new(model)))
    }

    /// A classifier of premise and hypothesis. Long premises are read in windows of whole sentences, each of which
    /// may entail.
    #[must_use]
    pub fn nli(classifier: &Classifier) -> Self {
        Self::new(classifier.name(), Arc::new(NliChecker::new(classifier)))
    }

    /// Several checkers: the label that most of them give. A tie, or a failure that could turn the vote, is a failed
    /// check.
    ///
    /// # Errors
    /// When there are fewer than two.
    pub fn vote(checkers: &[Checker]) -> Result<Self> {
        if checkers.len() < 2 {
            return Err(
                Error::input(format!("{} checker cannot vote", checkers.len())).help("give at least two, better three")
            );
        }
        let names: Vec<&str> = checkers.iter().map(Checker::name).collect();
        Ok(Self::new(&format!("vote({})", names.join(", ")), Arc::new(Vote::new(checkers))))
    }

    /// What the column `checker` says.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name and settings.
    #[must_use]
    pub fn spec(&self) -> Value {
        json!({"checker": self.name.as_ref(), "settings": self.engine.spec()})
    }

    /// One finding a claim of every request. A claim without text, or a text without letters, is a failed check that no
    /// engine is asked about.
    ///
    /// # Errors
    /// Only when the user interrupts.
    pub fn findings(&self, requests: &[Request]) -> Result<Vec<Vec<Finding>>> {
        let asked: Vec<Request> = requests
            .iter()
            .map(|request| Request {
                claims: request.claims.iter().filter(|claim| has_words(claim.text())).cloned().collect(),
                ..request.clone()
            })
            .collect();
        let live: Vec<usize> = (0..asked.len())
            .filter(|place| !asked[*place].claims.is_empty() && has_words(&asked[*place].premise))
            .collect();
        let sent: Vec<Request> = live.iter().map(|place| asked[*place].clone()).collect();
        let found = self.engine.check(&sent)?;
        let mut by_place: Vec<Option<Vec<Finding>>> = vec![None; requests.len()];
        for (position, place) in live.iter().enumerate() {
            let given = found.get(position).filter(|given| given.len() == sent[position].claims.len());
            let wrong =
                || vec![Finding::failed("the checker answered another number of claims"); sent[position].claims.len()];
            by_place[*place] = Some(given.cloned().unwrap_or_else(wrong));
        }
        Ok(requests.iter().zip(by_place).map(|(request, found)| spread(request, found)).collect())
    }

    /// Checks one claim against one text, for a look at the checker from a cell.
    ///
    /// # Errors
    /// When there is no verdict.
    pub fn ask(&self, claim: &str, premise: &str) -> Result<Label> {
        let request = Request {
            question: None,
            premise: premise.into(),
            claims: vec![Statement::sentence(claim)],
            language: Language::detect(premise),
        };
        let found = self.findings(&[request])?.pop().and_then(|mut found| found.pop());
        let finding = found.unwrap_or_else(|| Finding::failed("no finding"));
        finding.label.map_err(|why| Error::new(ErrorKind::Internal, format!("{} has no verdict: {why}", self.name)))
    }

    /// Shows the settings.
    pub fn evcxr_display(&self) {
        signal::display(None, None, &format!("{:#}", self.spec()));
    }
}

/// The findings of the claims that were asked about, in the places of all.
fn spread(request: &Request, found: Option<Vec<Finding>>) -> Vec<Finding> {
    let nothing = found.is_none();
    let mut found = found.unwrap_or_default().into_iter();
    request
        .claims
        .iter()
        .map(|claim| {
            if !has_words(claim.text()) {
                Finding::failed("the claim has no text")
            } else if nothing {
                // A text that says nothing entails nothing and contradicts nothing.
                Finding::label(Label::Neutral, Some("the text is empty".to_owned()))
            } else {
                found.next().unwrap_or_else(|| Finding::failed("no finding"))
            }
        })
        .collect()
}

fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}
