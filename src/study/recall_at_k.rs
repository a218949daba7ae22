//! How much of the reference answer is retrieved by rank k.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Evaluation;
use crate::error::Result;
use crate::table::{FrameBuilder, Label, Scores, distinct, integers, texts};

const CARRIED: [&str; 5] = ["language", "persona", "category", "source", "hops"];

impl Evaluation {
    /// Claim recall at every k up to the number retrieved: the share of a question's reference claims that one of the
    /// first k chunks entails. One row a retriever (in the column `system` too, since a retriever's recall is that of
    /// all systems on it), question and `k`; undefined without reference claims, `failed` where a missing check decides.
    ///
    /// `evaluation.claim_recall_at_k()?.by(&["retriever", "k"])?` is what [`Figure::curves`](crate::figure::Figure::curves)
    /// draws.
    ///
    /// # Errors
    /// When a table lacks a column.
    pub fn claim_recall_at_k(&self) -> Result<Scores> {
        let mut claims: HashMap<String, Vec<String>> = HashMap::new();
        let frame = self.reference.frame();
        for (question, claim) in texts(frame, "question_id")?.into_iter().zip(texts(frame, "claim_id")?) {
            claims.entry(question.unwrap_or_default()).or_default().push(claim.unwrap_or_default());
        }
        let verdicts = self.shared_verdicts()?;
        let frame = self.found.frame();
        let (retrievers, questions) = (texts(frame, "retriever")?, texts(frame, "question_id")?);
        let (ranks, chunks) = (integers(frame, "rank")?, texts(frame, "chunk_id")?);
        let mut found: BTreeMap<(String, String), Vec<(i64, String)>> = BTreeMap::new();
        for row in 0..frame.height() {
            let key = (retrievers[row].clone().unwrap_or_default(), questions[row].clone().unwrap_or_default());
            found.entry(key).or_default().push((ranks[row].unwrap_or(0), chunks[row].clone().unwrap_or_default()));
        }
        let most = found.values().map(Vec::len).max().unwrap_or(0);
        let none = Vec::new();
        let mut rows: Vec<(String, String, usize, Option<f64>, Option<&str>)> = Vec::new();
        for ((retriever, question), mut ranked) in found {
            ranked.sort_by_key(|(rank, _)| *rank);
            let claims = claims.get(&question).unwrap_or(&none);
            let (mut recalled, mut unknown) = (HashSet::new(), HashSet::new());
            for k in 1..=most {
                for claim in claims {
                    let Some((_, chunk)) = ranked.get(k - 1) else { continue };
                    match verdicts.get(&(retriever.clone(), claim.clone(), chunk.clone())).copied().flatten() {
                        Some(Label::Entailment) => {
                            recalled.insert(claim);
                        }
                        Some(_) => {}
                        None => {
                            unknown.insert(claim);
                        }
                    }
                }
                let (value, reason) = if claims.is_empty() {
                    (None, Some("no_reference_claims"))
                } else if unknown.iter().any(|claim| !recalled.contains(*claim)) {
                    (None, Some("failed"))
                } else {
                    (Some(recalled.len() as f64 / claims.len() as f64), None)
                };
                rows.push((retriever.clone(), question.clone(), k, value, reason));
            }
        }
        self.recall_table(&rows)
    }

    /// retriever, reference claim and chunk → verdict
    fn shared_verdicts(&self) -> Result<HashMap<(String, String, String), Option<Label>>> {
        let checks = self.checks.only("direction", "reference_vs_chunks")?;
        let frame = checks.frame();
        let (claims, retrievers) = (texts(frame, "claim_id")?, texts(frame, "retriever")?);
        let (chunks, labels) = (texts(frame, "chunk_id")?, texts(frame, "label")?);
        Ok((0..frame.height())
            .map(|row| {
                let text = |column: &[Option<String>]| column[row].clone().unwrap_or_default();
                let label = labels[row].as_deref().and_then(Label::parse);
                ((text(&retrievers), text(&claims), text(&chunks)), label)
            })
            .collect())
    }

    fn recall_table(&self, rows: &[(String, String, usize, Option<f64>, Option<&str>)]) -> Result<Scores> {
        let retrievers: Vec<&str> = rows.iter().map(|row| row.0.as_str()).collect();
        let ids: Vec<&str> = rows.iter().map(|row| row.1.as_str()).collect();
        let checker = distinct(self.checks.frame(), "checker")?.join(" + ");
        let mut table = FrameBuilder::new()
            .text("system", &retrievers)
            .text("retriever", &retrievers)
            .text("question_id", &ids)
            .integer("attempt", &vec![1; rows.len()])
            .text("k", &rows.iter().map(|row| row.2.to_string()).collect::<Vec<_>>())
            .text("metric", &vec!["claim_recall"; rows.len()])
            .text("checker", &vec![checker; rows.len()])
            .number("value", &rows.iter().map(|row| row.3).collect::<Vec<_>>())
            .text_or_null("undefined", &rows.iter().map(|row| row.4).collect::<Vec<_>>());
        let frame = self.questions.frame();
        let known = texts(frame, "question_id")?;
        for name in CARRIED.into_iter().filter(|name| frame.column(name).is_ok()) {
            let values: HashMap<&str, Option<String>> =
                known.iter().flatten().map(String::as_str).zip(texts(frame, name)?).collect();
            let column: Vec<Option<String>> = ids.iter().map(|id| values.get(id).cloned().flatten()).collect();
            table = table.text_or_null(name, &column);
        }
        Scores::new(table.build()?)
    }
}
