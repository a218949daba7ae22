//! What both scorers share: a question's terms, Lucene's idf, Lucene's lengths.

use crate::retrieval::Analyzer;

/// A question's distinct terms in order of first appearance, each with how often it appears.
pub(super) fn counted(analyzer: Analyzer, question: &str) -> Vec<(String, usize)> {
    let mut places = std::collections::HashMap::new();
    let mut counted: Vec<(String, usize)> = Vec::new();
    for term in analyzer.terms(question) {
        match places.get(&term).and_then(|place: &usize| counted.get_mut(*place)) {
            Some((_, count)) => *count += 1,
            None => {
                places.insert(term.clone(), counted.len());
                counted.push((term, 1));
            }
        }
    }
    counted
}

/// ln(1 + (N − n + 0.5) / (n + 0.5)).
pub(super) fn idf(document_frequency: u64, documents: u64) -> f64 {
    let (n, all) = (document_frequency as f64, documents as f64);
    (1.0 + (all - n + 0.5) / (n + 0.5)).ln()
}

/// A passage's length as Lucene and tantivy keep it in one byte: exact up to 40, then four significant bits, rounded
/// down.
pub(super) fn rounded_length(length: u32) -> u32 {
    const EXACT: u32 = 40;
    if length < EXACT {
        return length;
    }
    // From 40 on, the byte codes what exceeds 24 as a small float: four significant bits.
    let above = length - 24;
    let bits = 32 - above.leading_zeros();
    let shift = bits.saturating_sub(4);
    24 + ((above >> shift) << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_rounded_as_lucene_documents() {
        for exact in 0..=40 {
            assert_eq!(rounded_length(exact), exact);
        }
        let steps: Vec<u32> = (40..=88).map(rounded_length).collect();
        let mut distinct = steps.clone();
        distinct.dedup();
        assert_eq!(distinct, [40, 42, 44, 46, 48, 50, 52, 54, 56, 60, 64, 68, 72, 76, 80, 84, 88]);
    }

    #[test]
    fn terms_are_counted_in_order() {
        let terms = counted(Analyzer::OpensearchStandard, "the law, THE judge");
        assert_eq!(terms, [("the".to_owned(), 2), ("law".to_owned(), 1), ("judge".to_owned(), 1)]);
    }
}
