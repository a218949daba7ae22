//! Text overlap with the reference answer: the old measures, for comparison with claims.
//!
//! They count words that two texts share and know nothing of truth: an answer that negates the reference keeps its score.

use std::collections::HashMap;

use unicode_segmentation::UnicodeSegmentation;

use crate::error::Result;
use crate::table::{FrameBuilder, GenerationRun, QaPairs, Scores, integers, texts};

/// Lower-cased Unicode words (UAX #29); punctuation is left out.
fn words(text: &str) -> Vec<String> {
    text.unicode_words().map(str::to_lowercase).collect()
}

/// ROUGE-L's F-measure (Lin 2004): the longest common subsequence of words, as a share of both texts' words, by the
/// harmonic mean. 0 to 1; `None` when a text has no words.
///
/// ```
/// use claimlab::metrics::rouge_l;
/// assert_eq!(rouge_l("the cat sat on the mat", "the cat lay on a mat"), Some(4.0 / 6.0));
/// assert_eq!(rouge_l("", "the cat"), None);
/// ```
#[must_use]
pub fn rouge_l(response: &str, reference: &str) -> Option<f64> {
    let (response, reference) = (words(response), words(reference));
    if response.is_empty() || reference.is_empty() {
        return None;
    }
    let mut before = vec![0_u32; reference.len() + 1];
    let mut row = before.clone();
    for word in &response {
        for (place, other) in reference.iter().enumerate() {
            row[place + 1] = if word == other { before[place] + 1 } else { before[place + 1].max(row[place]) };
        }
        std::mem::swap(&mut before, &mut row);
    }
    let common = f64::from(*before.last()?);
    let (precision, recall) = (common / response.len() as f64, common / reference.len() as f64);
    Some(if common == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) })
}

/// The BLEU of one sentence (Papineni et al. 2002): the geometric mean of the precisions of sequences of 1 to 4 words,
/// times a penalty for brevity. Sequences that never match count as a half, a quarter and so on of one match, and
/// lengths that the response does not reach are left out, as sacreBLEU does for sentences (`smooth_method=exp`,
/// `effective_order`). 0 to 1; `None` when a text has no words.
///
/// ```
/// use claimlab::metrics::bleu;
/// assert_eq!(bleu("the seller must deliver the goods", "the seller must deliver the goods"), Some(1.0));
/// assert_eq!(bleu("nothing shared", "the seller must deliver"), Some(0.0));
/// ```
#[must_use]
pub fn bleu(response: &str, reference: &str) -> Option<f64> {
    let (response, reference) = (words(response), words(reference));
    if response.is_empty() || reference.is_empty() {
        return None;
    }
    let mut logarithms = Vec::new();
    let mut smooth = 1.0;
    let mut any = false;
    for n in 1..=4.min(response.len()) {
        let mut left: HashMap<&[String], usize> = HashMap::new();
        reference.windows(n).for_each(|gram| *left.entry(gram).or_default() += 1);
        let mut matched = 0;
        for gram in response.windows(n) {
            if let Some(count) = left.get_mut(gram).filter(|count| **count > 0) {
                *count -= 1;
                matched += 1;
            }
        }
        let total = (response.len() + 1 - n) as f64;
        any |= matched > 0;
        if matched == 0 {
            smooth *= 2.0;
        }
        let count = if matched == 0 { 1.0 / smooth } else { matched as f64 };
        logarithms.push((count / total).ln());
    }
    if !any {
        return Some(0.0);
    }
    let brevity = (1.0 - reference.len() as f64 / response.len() as f64).min(0.0);
    Some((brevity + logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
}

/// ROUGE-L and BLEU of every response of a run, as scores named `rouge_l` and `bleu`.
///
/// A failed call is `failed`; a text without words has no overlap (`no_words`).
///
/// # Errors
/// When a table lacks a column.
pub fn text_overlap(questions: &QaPairs, run: &GenerationRun) -> Result<Scores> {
    let frame = questions.frame();
    let references: HashMap<String, String> = texts(frame, "question_id")?
        .into_iter()
        .zip(texts(frame, "reference_answer")?)
        .filter_map(|(id, text)| Some((id?, text?)))
        .collect();
    let frame = run.frame();
    let (systems, attempts) = (texts(frame, "system")?, integers(frame, "attempt")?);
    let (ids, responses) = (texts(frame, "question_id")?, texts(frame, "response")?);
    let measures: [(&str, fn(&str, &str) -> Option<f64>); 2] = [("rouge_l", rouge_l), ("bleu", bleu)];
    let rows: Vec<(usize, &str, Option<f64>, Option<&str>)> = (0..frame.height())
        .flat_map(|row| measures.map(|(name, measure)| (row, name, measure)))
        .map(|(row, name, measure)| {
            let reference = ids[row].as_ref().and_then(|id| references.get(id)).map_or("", String::as_str);
            match &responses[row] {
                None => (row, name, None, Some("failed")),
                Some(response) => {
                    let value = measure(response, reference);
                    (row, name, value, value.is_none().then_some("no_words"))
                }
            }
        })
        .collect();
    Scores::new(
        FrameBuilder::new()
            .text_or_null("system", &rows.iter().map(|row| systems[row.0].as_deref()).collect::<Vec<_>>())
            .text_or_null("question_id", &rows.iter().map(|row| ids[row.0].as_deref()).collect::<Vec<_>>())
            .integer("attempt", &rows.iter().map(|row| attempts[row.0].unwrap_or(1)).collect::<Vec<_>>())
            .text("metric", &rows.iter().map(|row| row.1).collect::<Vec<_>>())
            .text("checker", &vec!["text overlap"; rows.len()])
            .number("value", &rows.iter().map(|row| row.2).collect::<Vec<_>>())
            .text_or_null("undefined", &rows.iter().map(|row| row.3).collect::<Vec<_>>())
            .build()?,
    )
}
