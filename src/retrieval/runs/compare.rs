//! Two runs row by row.

use std::collections::HashMap;

use polars::prelude::DataFrame;

use crate::error::{Error, Result};
use crate::table::{FrameBuilder, RetrievalRun, distinct, floats, integers, texts};

type Row = (i64, f64);

fn rows(run: &RetrievalRun) -> Result<Vec<((String, String), Row)>> {
    let frame = run.frame();
    let retrievers = distinct(frame, "retriever")?;
    if retrievers.len() > 1 {
        return Err(Error::input(format!("a run to compare holds the retrievers {retrievers:?}"))
            .help("take one of them, as in run.only(\"retriever\", \"BM25\")?"));
    }
    let keys = texts(frame, "question_id")?.into_iter().zip(texts(frame, "chunk_id")?);
    let values = integers(frame, "rank")?.into_iter().zip(floats(frame, "score")?);
    Ok(keys
        .zip(values)
        .filter_map(|((question, chunk), (rank, score))| Some(((question?, chunk?), (rank?, score?))))
        .collect())
}

pub(super) fn beside(left: &RetrievalRun, right: &RetrievalRun) -> Result<DataFrame> {
    let (left, right) = (rows(left)?, rows(right)?);
    let of_right: HashMap<&(String, String), Row> = right.iter().map(|(key, row)| (key, *row)).collect();
    let of_left: HashMap<&(String, String), Row> = left.iter().map(|(key, row)| (key, *row)).collect();
    // Questions in the order of the left run; within one, the left's chunks by rank, then those of the right alone.
    let mut order: HashMap<&str, usize> = HashMap::new();
    for ((question, _), _) in left.iter().chain(&right) {
        let next = order.len();
        order.entry(question).or_insert(next);
    }
    let mut keys: Vec<&(String, String)> =
        left.iter().chain(right.iter().filter(|(key, _)| !of_left.contains_key(key))).map(|(key, _)| key).collect();
    keys.sort_by_key(|key| {
        let rank = of_left.get(key).map_or(i64::MAX, |row| row.0);
        (order.get(key.0.as_str()).copied(), rank, of_right.get(key).map_or(i64::MAX, |row| row.0))
    });
    let pairs: Vec<(Option<Row>, Option<Row>)> =
        keys.iter().map(|key| (of_left.get(key).copied(), of_right.get(key).copied())).collect();
    let ratio = |(left, right): &(Option<Row>, Option<Row>)| {
        let (left, right) = left.zip(*right)?;
        (right.1 != 0.0).then(|| left.1 / right.1)
    };
    FrameBuilder::new()
        .text("question_id", &keys.iter().map(|key| key.0.as_str()).collect::<Vec<_>>())
        .text("chunk_id", &keys.iter().map(|key| key.1.as_str()).collect::<Vec<_>>())
        .integer_or_null("rank", &pairs.iter().map(|(left, _)| left.map(|row| row.0)).collect::<Vec<_>>())
        .integer_or_null("other_rank", &pairs.iter().map(|(_, right)| right.map(|row| row.0)).collect::<Vec<_>>())
        .number("score", &pairs.iter().map(|(left, _)| left.map(|row| row.1)).collect::<Vec<_>>())
        .number("other_score", &pairs.iter().map(|(_, right)| right.map(|row| row.1)).collect::<Vec<_>>())
        .number("score_ratio", &pairs.iter().map(ratio).collect::<Vec<_>>())
        .build()
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    fn run(rows: &[(&str, i64, &str, f64)]) -> RetrievalRun {
        let frame = df!(
            "retriever" => vec!["x"; rows.len()], "text" => vec![""; rows.len()],
            "question_id" => rows.iter().map(|row| row.0).collect::<Vec<_>>(),
            "rank" => rows.iter().map(|row| row.1).collect::<Vec<_>>(),
            "chunk_id" => rows.iter().map(|row| row.2).collect::<Vec<_>>(),
            "score" => rows.iter().map(|row| row.3).collect::<Vec<_>>(),
        );
        RetrievalRun::new(frame.unwrap()).unwrap()
    }

    #[test]
    fn every_chunk_of_either_run_has_one_row() {
        let left = run(&[("q1", 1, "a", 2.2), ("q1", 2, "b", 1.1), ("q2", 1, "c", 3.0)]);
        let right = run(&[("q1", 1, "a", 1.0), ("q1", 2, "z", 0.7)]);
        let table = beside(&left, &right).unwrap();
        let chunks: Vec<String> = texts(&table, "chunk_id").unwrap().into_iter().flatten().collect();
        assert_eq!(chunks, ["a", "b", "z", "c"]);
        assert_eq!(integers(&table, "other_rank").unwrap(), [Some(1), None, Some(2), None]);
        let ratios = floats(&table, "score_ratio").unwrap();
        assert!((ratios[0].unwrap() - 2.2).abs() < 1e-12 && ratios[1..].iter().all(Option::is_none));
    }
}
