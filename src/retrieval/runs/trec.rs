//! TREC's plain text formats for runs.

use std::collections::HashMap;
use std::path::Path;

use polars::prelude::DataFrame;

use crate::error::{Error, Result};
use crate::table::{Chunks, FrameBuilder, RetrievalRun, floats, integers, texts};

/// Writes a file whole or not at all.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    let temporary = path.with_extension(format!("tmp{}", std::process::id()));
    std::fs::write(&temporary, text).map_err(|error| Error::file(&temporary, &error))?;
    std::fs::rename(&temporary, path).map_err(|error| Error::file(path, &error))
}

/// A name without white space, from which [`decode`] makes the name again.
fn encode(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_whitespace() || letter == '%' || letter.is_control() {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                encoded += &format!("%{byte:02X}");
            }
        } else {
            encoded.push(letter);
        }
    }
    encoded
}

/// What [`encode`] wrote; a name that it did not write is taken as it stands.
fn decode(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match code.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_owned())
}

pub(super) fn run_text(run: &RetrievalRun) -> Result<String> {
    let frame = run.frame();
    let (retrievers, questions) = (texts(frame, "retriever")?, texts(frame, "question_id")?);
    let (chunks, ranks, scores) = (texts(frame, "chunk_id")?, integers(frame, "rank")?, floats(frame, "score")?);
    let mut text = String::new();
    for row in 0..run.height() {
        let name = |column: &[Option<String>]| encode(column.get(row).and_then(Option::as_deref).unwrap_or_default());
        let rank = ranks.get(row).copied().flatten().unwrap_or_default();
        let score = scores.get(row).copied().flatten().unwrap_or_default();
        text += &format!("{} Q0 {} {rank} {score} {}\n", name(&questions), name(&chunks), name(&retrievers));
    }
    Ok(text)
}

pub(super) fn read_run(text: &str, chunks: &Chunks) -> Result<RetrievalRun> {
    let ids = texts(chunks.frame(), "chunk_id")?;
    let bodies = texts(chunks.frame(), "text")?;
    let known: HashMap<String, String> =
        ids.into_iter().zip(bodies).filter_map(|(id, text)| Some((id?, text?))).collect();
    let mut columns: [Vec<String>; 4] = Default::default();
    let (mut ranks, mut scores) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |what: String| {
            Error::input(format!("line {}: {what}", number + 1))
                .help("a line is: question Q0 chunk rank score retriever, separated by spaces")
        };
        let cells: Vec<&str> = line.split_whitespace().collect();
        let [question, _, chunk, rank, score, retriever] = cells.as_slice() else {
            return Err(wrong(format!("expected 6 columns, found {}", cells.len())));
        };
        let chunk = decode(chunk);
        let Some(body) = known.get(&chunk) else {
            return Err(wrong(format!("the chunk {chunk:?} is not among the {} chunks given", known.len()))
                .help("give the chunks that the run was made on"));
        };
        ranks.push(rank.parse().map_err(|_| wrong(format!("the rank {rank:?} is no whole number")))?);
        let score: f64 = score.parse().map_err(|_| wrong(format!("the score {score:?} is no number")))?;
        if !score.is_finite() {
            return Err(wrong(format!("the score is {score}")));
        }
        scores.push(Some(score));
        for (column, value) in columns.iter_mut().zip([decode(retriever), decode(question), chunk, body.clone()]) {
            column.push(value);
        }
    }
    let [retriever, question, chunk, body] = columns;
    RetrievalRun::new(
        FrameBuilder::new()
            .text("retriever", &retriever)
            .text("question_id", &question)
            .integer("rank", &ranks)
            .text("chunk_id", &chunk)
            .number("score", &scores)
            .text("text", &body)
            .build()?,
    )
}

pub(super) fn qrels_text(judgements: &DataFrame) -> Result<String> {
    let keys = texts(judgements, "question_id")?.into_iter().zip(texts(judgements, "chunk_id")?);
    let mut text = String::new();
    for ((question, chunk), grade) in keys.zip(floats(judgements, "grade")?) {
        let (Some(question), Some(chunk), Some(grade)) = (question, chunk, grade) else { continue };
        if grade.fract() != 0.0 {
            return Err(Error::input(format!("the grade {grade} of {chunk:?} for {question:?} is not whole"))
                .help("TREC's format has whole grades only; write Parquet instead"));
        }
        text += &format!("{} 0 {} {grade}\n", encode(&question), encode(&chunk));
    }
    Ok(text)
}

pub(super) fn read_qrels(text: &str) -> Result<DataFrame> {
    let (mut questions, mut chunks, mut grades) = (Vec::new(), Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |what: String| {
            Error::input(format!("line {}: {what}", number + 1))
                .help("a line is: question 0 chunk grade, separated by spaces")
        };
        let cells: Vec<&str> = line.split_whitespace().collect();
        let [question, _, chunk, grade] = cells.as_slice() else {
            return Err(wrong(format!("expected 4 columns, found {}", cells.len())));
        };
        let grade: i64 = grade.parse().map_err(|_| wrong(format!("the grade {grade:?} is no whole number")))?;
        questions.push(decode(question));
        chunks.push(decode(chunk));
        grades.push(Some(grade as f64));
    }
    FrameBuilder::new().text("question_id", &questions).text("chunk_id", &chunks).number("grade", &grades).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks() -> Chunks {
        Chunks::new(
            FrameBuilder::new()
                .text("chunk_id", &["a", "b c"])
                .text("document_id", &["act", "act"])
                .integer("ordinal", &[0, 1])
                .integer("start", &[0, 3])
                .integer("end", &[3, 6])
                .integer("n_tokens", &[1, 1])
                .text("text", &["one", "two"])
                .build()
                .unwrap(),
        )
        .unwrap()
    }

    #[test]
    fn names_with_spaces_come_back_as_they_were() {
        for name in ["a", "a b", "100 %", "%41", "é\u{a0}%", ""] {
            assert_eq!(decode(&encode(name)), name);
            assert!(!encode(name).contains(char::is_whitespace));
        }
        assert_eq!(decode("50%"), "50%");
        let text = "q%201 Q0 b%20c 1 0.1 BM25%20legal\nq%201 Q0 a 2 -3e-7 BM25%20legal\n";
        let run = read_run(text, &chunks()).unwrap();
        assert_eq!(texts(run.frame(), "question_id").unwrap()[0].as_deref(), Some("q 1"));
        assert_eq!(run_text(&run).unwrap(), text.replace("-3e-7", "-0.0000003"));
    }

    #[test]
    fn judgements_come_back_as_they_were() {
        let text = "q%201 0 a 2\nq2 0 b%20c 0\n";
        let frame = read_qrels(text).unwrap();
        assert_eq!(floats(&frame, "grade").unwrap(), [Some(2.0), Some(0.0)]);
        assert_eq!(qrels_text(&frame).unwrap(), text);
        assert!(read_qrels("q 0 a").unwrap_err().to_string().contains("expected 4 columns, found 3"));
        assert!(read_qrels("q 0 a 0.5").unwrap_err().to_string().contains("\"0.5\""));
    }

    #[test]
    fn a_broken_line_is_named() {
        for (text, told) in [
            ("q Q0 a 1 0.5", "line 1: expected 6 columns, found 5"),
            ("\nq Q0 a one 0.5 x", "line 2: the rank \"one\""),
            ("q Q0 a 1 high x", "the score \"high\""),
            ("q Q0 a 1 NaN x", "the score is NaN"),
            ("q Q0 z 1 1 x", "the chunk \"z\" is not among the 2 chunks"),
        ] {
            let error = read_run(text, &chunks()).unwrap_err().to_string();
            assert!(error.contains(told) && error.contains("help:"), "{error}");
        }
        assert_eq!(read_run("", &chunks()).unwrap().height(), 0);
    }
}
