//! A second look at the best candidates, by a classifier of text pairs or by a language model.

use serde_json::{Value, json};

use super::{Found, Question, Retrieve, Retriever};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Classifier, LanguageModel, Pair, Prompt};
use crate::signal::{self, Progress};

/// Who looks again.
#[derive(Debug)]
enum Judge {
    Classifier(Classifier),
    Model(LanguageModel),
}

/// The best candidates of a retriever in a new order.
#[derive(Debug)]
pub(super) struct Rerank {
    inner: Retriever,
    judge: Judge,
    depth: usize,
}

/// Grades of relevance that a language model may give.
const HIGHEST: u64 = 3;

const INSTRUCTIONS: &str = "You judge whether a passage of a legal act helps to answer a question. Grade it: 0 if it \
     concerns another subject; 1 if it concerns the subject but answers nothing; 2 if it answers a part of the question; \
     3 if the answer can be drawn from it. Judge only what the passage says. Reply with JSON of the form \
     {\"relevance\": 2} and nothing else.";

impl Rerank {
    pub(super) fn by_classifier(inner: &Retriever, classifier: &Classifier, depth: usize) -> Result<Self> {
        Self::new(inner, Judge::Classifier(classifier.clone()), depth)
    }

    pub(super) fn by_model(inner: &Retriever, model: &LanguageModel, depth: usize) -> Result<Self> {
        Self::new(inner, Judge::Model(model.clone()), depth)
    }

    fn new(inner: &Retriever, judge: Judge, depth: usize) -> Result<Self> {
        if depth == 0 {
            return Err(Error::input("no candidates would be reranked: the depth is 0")
                .help("20 to 100 candidates are usual; each costs one call of the model"));
        }
        Ok(Self { inner: inner.clone(), judge, depth })
    }

    pub(super) fn name(&self) -> String {
        let judge = match &self.judge {
            Judge::Classifier(classifier) => classifier.name(),
            Judge::Model(model) => model.name(),
        };
        format!("{} reranked by {judge} (depth {})", self.inner.name(), self.depth)
    }

    /// One grade a candidate, in order.
    fn grades(&self, question: &str, found: &[Found]) -> Vec<Result<f64>> {
        match &self.judge {
            Judge::Classifier(classifier) => {
                let pairs: Vec<Pair> = found
                    .iter()
                    .map(|one| Pair { premise: one.passage.text.clone(), hypothesis: question.to_owned() })
                    .collect();
                classifier.classify(&pairs).into_iter().map(|one| one.map(|found| found.entailment)).collect()
            }
            Judge::Model(model) => {
                let prompts: Vec<Prompt> = found.iter().map(|one| prompt(question, &one.passage.text)).collect();
                model.generate(&prompts).into_iter().map(|reply| grade(&reply?.text)).collect()
            }
        }
    }
}

fn prompt(question: &str, passage: &str) -> Prompt {
    let schema = json!({"type": "object", "properties": {"relevance": {"type": "integer", "minimum": 0,
        "maximum": HIGHEST}}, "required": ["relevance"], "additionalProperties": false});
    Prompt::new(format!("Question:\n{question}\n\nPassage:\n{passage}"))
        .system(INSTRUCTIONS)
        .schema(schema)
        .max_tokens(32)
}

/// The grade that a reply gives; nothing is guessed from a reply of another form.
fn grade(reply: &str) -> Result<f64> {
    let off = || Error::input(format!("expected {{\"relevance\": 0 to {HIGHEST}}}, found {:?}", cut(reply)));
    let value: Value = serde_json::from_str(reply.trim()).map_err(|_| off())?;
    let fields = value.as_object().filter(|fields| fields.len() == 1).ok_or_else(off)?;
    let grade = fields.get("relevance").and_then(Value::as_u64).filter(|grade| *grade <= HIGHEST).ok_or_else(off)?;
    Ok(grade as f64)
}

fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}

impl Retrieve for Rerank {
    fn search(&self, questions: &[Question], k: usize) -> Result<Vec<Vec<Found>>> {
        if k == 0 {
            return Ok(vec![Vec::new(); questions.len()]);
        }
        let lists = self.inner.search(questions, self.depth)?;
        let progress = Progress::new(&format!("Reranking for {}", self.inner.name()), questions.len());
        let mut results = Vec::with_capacity(questions.len());
        for (question, found) in questions.iter().zip(lists) {
            signal::check("what the model answered is kept in its journal, where it has one")?;
            let grades = self.grades(&question.text, &found);
            if grades.len() != found.len() {
                let told = format!("the reranker gave {} grades for {} passages", grades.len(), found.len());
                return Err(Error::new(ErrorKind::Internal, told));
            }
            let (mut judged, mut failed) = (Vec::new(), Vec::new());
            for (mut one, grade) in found.into_iter().zip(grades) {
                match grade {
                    Ok(grade) if grade.is_finite() => {
                        one.score = grade;
                        judged.push(one);
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                    Ok(_) => failed.push((one, "the grade is not a number".to_owned())),
                    Err(error) => failed.push((one, error.to_string())),
                }
            }
            // The sort is stable: equal grades stay in the first stage's order.
            judged.sort_by(|a, b| b.score.total_cmp(&a.score));
            // Behind all that were judged, below every grade, in the first stage's order.
            for (place, (mut one, why)) in failed.into_iter().enumerate() {
                one.score = -1.0 - place as f64;
                one.note = Some(format!("not reranked: {why}"));
                judged.push(one);
            }
            judged.truncate(k);
            results.push(judged);
            progress.advance(1);
        }
        Ok(results)
    }

    fn spec(&self) -> Value {
        let judge = match &self.judge {
            Judge::Classifier(classifier) => json!({"entailment_by": classifier.spec()}),
            Judge::Model(model) => json!({"graded_by": model.spec(), "instructions": INSTRUCTIONS}),
        };
        json!({"rerank": judge, "depth": self.depth, "of": self.inner.spec()})
    }
}

#[cfg(test)]
mod tests {
    use super::grade;

    #[test]
    fn only_the_asked_form_is_a_grade() {
        assert_eq!(grade(" {\"relevance\": 3}\n").unwrap(), 3.0);
        for reply in [
            "",
            "3",
            "relevance: 3",
            "{\"relevance\": 4}",
            "{\"relevance\": 2.5}",
            "{\"relevance\": \"2\"}",
            "{\"relevance\": 2, \"why\": \"\"}",
            "```json\n{\"relevance\": 2}\n```",
        ] {
            assert!(grade(reply).is_err(), "{reply}");
        }
    }
}
