//! How good a ranking is: recall, precision, nDCG, reciprocal rank and average precision against relevant chunks or
//! relevant provisions.

use std::collections::{HashMap, HashSet};

use super::ranking_truth::{Judged, Judgements};
use crate::error::{Error, Result};
use crate::table::{FrameBuilder, QaPairs, RetrievalRun, Scores, distinct, integers, texts};

/// Columns of the questions that every score carries, so that it can be sliced.
const CARRIED: [&str; 5] = ["language", "persona", "category", "source", "hops"];
/// Why a question without anything relevant has no value.
const NOTHING_RELEVANT: &str = "nothing_relevant";

/// Scores every question of a run, one row a retriever, question and metric; `by(&["system"])` gives means with
/// intervals. For each `k`:
///
/// - `recall@k`: the share of the relevant units (chunks, or provisions) that the first `k` chunks hold;
/// - `precision@k`: the share of relevant chunks among the first `k`, where a shorter list is filled up with chunks that
///   are not;
/// - `ndcg@k`: Σ grade / log2(rank + 1) over the first `k`, divided by the same sum of the best possible order
///   (Järvelin and Kekäläinen 2002, "Cumulated gain-based evaluation of IR techniques", with the grade itself as gain);
///
/// and over the whole list, however deep the run is:
///
/// - `mrr`: one over the rank of the first relevant chunk, 0 if there is none;
/// - `map`: the mean over all relevant chunks of the precision at their ranks, 0 for those that were not found.
///
/// All lie between 0 and 1. A question without anything relevant has null and the reason `nothing_relevant`. A question
/// for which the retriever found nothing counts with 0.
///
/// # Errors
/// When the run is empty, ranks one chunk twice for a question, or a `k` is 0.
///
/// ```
/// use claimlab::metrics::{Judgements, score_ranking};
/// use claimlab::polars::prelude::*;
/// use claimlab::table::{QaPairs, RetrievalRun};
/// let questions = QaPairs::new(df!("question_id" => ["q"], "question" => ["?"], "reference_answer" => ["!"])?)?;
/// let run = RetrievalRun::new(df!("retriever" => ["r"; 3], "question_id" => ["q"; 3], "rank" => [1_i64, 2, 3],
///     "chunk_id" => ["a", "b", "c"], "score" => [3.0, 2.0, 1.0], "text" => [""; 3])?)?;
/// let truth = Judgements::of_chunks(&df!("question_id" => ["q", "q"], "chunk_id" => ["b", "z"])?)?;
/// let scores = score_ranking(&questions, &run, &truth, &[2])?;
/// let value = |metric: &str| -> claimlab::Result<Option<f64>> {
///     Ok(scores.only("metric", metric)?.frame().column("value")?.f64()?.get(0))
/// };
/// assert_eq!((value("recall@2")?, value("precision@2")?), (Some(0.5), Some(0.5)));
/// assert_eq!((value("mrr")?, value("map")?), (Some(0.5), Some(0.25)));
/// # Ok::<(), claimlab::Error>(())
/// ```
pub fn score_ranking(questions: &QaPairs, run: &RetrievalRun, judgements: &Judgements, ks: &[usize]) -> Result<Scores> {
    if ks.contains(&0) {
        return Err(Error::input("a ranking cannot be scored at k = 0").help("give cut-offs of 1 and more"));
    }
    let lists = lists(run)?;
    let retrievers = distinct(run.frame(), "retriever")?;
    if retrievers.is_empty() {
        return Err(Error::input("the run is empty: it does not even say which retriever found nothing")
            .help("look at the questions and the index; no question matched any chunk"));
    }
    let ids = texts(questions.frame(), "question_id")?;
    let mut rows = Rows::default();
    let none = Vec::new();
    for retriever in &retrievers {
        for id in ids.iter().flatten() {
            let list = lists.get(&(retriever.clone(), id.clone())).unwrap_or(&none);
            let values = judgements.of(id).map(|truth| values(list, truth, ks));
            for (place, metric) in names(ks).into_iter().enumerate() {
                rows.push(retriever, id, metric, values.as_ref().and_then(|values| values.get(place).copied()));
            }
        }
    }
    rows.finish(questions)
}

fn names(ks: &[usize]) -> Vec<String> {
    let cut = ks.iter().flat_map(|k| [format!("recall@{k}"), format!("precision@{k}"), format!("ndcg@{k}")]);
    cut.chain(["mrr".to_owned(), "map".to_owned()]).collect()
}

/// Chunks by retriever and question, best first.
fn lists(run: &RetrievalRun) -> Result<HashMap<(String, String), Vec<String>>> {
    let frame = run.frame();
    let keys = texts(frame, "retriever")?.into_iter().zip(texts(frame, "question_id")?);
    let values = integers(frame, "rank")?.into_iter().zip(texts(frame, "chunk_id")?);
    let mut ranked: HashMap<(String, String), Vec<(i64, String)>> = HashMap::new();
    for ((retriever, question), (rank, chunk)) in keys.zip(values) {
        let (Some(retriever), Some(question), Some(rank), Some(chunk)) = (retriever, question, rank, chunk) else {
            continue;
        };
        ranked.entry((retriever, question)).or_default().push((rank, chunk));
    }
    let mut lists = HashMap::new();
    for (key, mut list) in ranked {
        list.sort();
        let mut seen = HashSet::new();
        if let Some((_, twice)) = list.iter().find(|(_, chunk)| !seen.insert(chunk.clone())) {
            return Err(Error::input(format!("{} ranks the chunk {twice:?} twice for {}", key.0, key.1))
                .help("keep each chunk's best rank only"));
        }
        lists.insert(key, list.into_iter().map(|(_, chunk)| chunk).collect());
    }
    Ok(lists)
}

/// The metrics in the order of [`names`].
fn values(list: &[String], truth: &Judged, ks: &[usize]) -> Vec<f64> {
    let grades: Vec<f64> = list.iter().map(|chunk| truth.grade(chunk)).collect();
    let ideal = truth.ideal();
    let mut values = Vec::new();
    for k in ks {
        let hits = grades.iter().take(*k).filter(|grade| **grade > 0.0).count();
        let best = discounted(ideal.iter().take(*k));
        values.push(truth.recall(list.iter().take(*k)));
        values.push(hits as f64 / *k as f64);
        values.push(if best > 0.0 { discounted(grades.iter().take(*k)) / best } else { 0.0 });
    }
    values.push(grades.iter().position(|grade| *grade > 0.0).map_or(0.0, |place| 1.0 / (place + 1) as f64));
    let mut hits = 0;
    let mut precisions = 0.0;
    for (place, _) in grades.iter().enumerate().filter(|(_, grade)| **grade > 0.0) {
        hits += 1;
        precisions += f64::from(hits) / (place + 1) as f64;
    }
    values.push(if ideal.is_empty() { 0.0 } else { precisions / ideal.len() as f64 });
    values
}

fn discounted<'a>(grades: impl Iterator<Item = &'a f64>) -> f64 {
    grades.enumerate().map(|(place, grade)| grade / (place as f64 + 2.0).log2()).sum()
}

#[derive(Debug, Default)]
struct Rows {
    system: Vec<String>,
    question: Vec<String>,
    metric: Vec<String>,
    value: Vec<Option<f64>>,
}

impl Rows {
    fn push(&mut self, system: &str, question: &str, metric: String, value: Option<f64>) {
        self.system.push(system.to_owned());
        self.question.push(question.to_owned());
        self.metric.push(metric);
        self.value.push(value);
    }

    fn finish(self, questions: &QaPairs) -> Result<Scores> {
        let rows = self.value.len();
        let reasons: Vec<Option<&str>> =
            self.value.iter().map(|value| value.is_none().then_some(NOTHING_RELEVANT)).collect();
        let mut table = FrameBuilder::new()
            .text("system", &self.system)
            .text("question_id", &self.question)
            .integer("attempt", &vec![1; rows])
            .text("metric", &self.metric)
            .text("checker", &vec!["relevance"; rows])
            .number("value", &self.value)
            .text_or_null("undefined", &reasons);
        let ids = texts(questions.frame(), "question_id")?;
        for name in CARRIED.into_iter().filter(|name| questions.frame().column(name).is_ok()) {
            let values: HashMap<_, _> = ids.iter().flatten().zip(texts(questions.frame(), name)?).collect();
            let column: Vec<Option<String>> =
                self.question.iter().map(|id| values.get(id).cloned().flatten()).collect();
            table = table.text_or_null(name, &column);
        }
        Scores::new(table.build()?)
    }
}

#[cfg(test)]
#[path = "ranking_tests.rs"]
mod tests;
