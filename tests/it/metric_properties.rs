//! Properties of the eleven metrics over random matrices, whole and with failed checks.
#![allow(clippy::unwrap_used)]

use claimlab::metrics::{LabelMatrices, Metric, Mode, Outcome, Reason, score};
use claimlab::table::Label;
use proptest::collection::vec;
use proptest::prelude::*;

type Cell = Option<Label>;

/// Every verdict of the four matrices, in one fixed order.
fn cells(m: &mut LabelMatrices) -> Vec<&mut Cell> {
    let lists = m.response_vs_reference.iter_mut().chain(&mut m.reference_vs_response);
    let grids = m.response_vs_chunks.iter_mut().chain(&mut m.reference_vs_chunks).flatten();
    lists.chain(grids).collect()
}

/// Matrices with at most so many claims a side and so many chunks, whose verdicts `cell` draws.
fn matrices(
    max_claims: usize,
    max_chunks: usize,
    cell: impl Strategy<Value = Cell> + Clone + 'static,
) -> impl Strategy<Value = LabelMatrices> {
    (0..=max_claims, 0..=max_claims, 0..=max_chunks).prop_flat_map(move |(r, a, k)| {
        let list = |n| vec(cell.clone(), n);
        let grid = |n| vec(vec(cell.clone(), k), n);
        (list(r), list(a), grid(r), grid(a)).prop_map(move |(rr, ar, rc, ac)| LabelMatrices {
            response_vs_reference: rr,
            reference_vs_response: ar,
            response_vs_chunks: rc,
            reference_vs_chunks: ac,
            n_response_claims: r,
            n_reference_claims: a,
            n_chunks: k,
        })
    })
}

fn known() -> impl Strategy<Value = Cell> + Clone {
    prop::sample::select(vec![Some(Label::Entailment), Some(Label::Neutral), Some(Label::Contradiction)])
}

fn maybe_unknown() -> impl Strategy<Value = Cell> + Clone {
    prop_oneof![3 => known(), 1 => Just(None)]
}

fn rarely_unknown() -> impl Strategy<Value = Cell> + Clone {
    prop_oneof![6 => known(), 1 => Just(None)]
}

fn scores(m: &LabelMatrices, mode: Mode) -> Vec<Outcome> {
    score(m, mode).unwrap().map(|(_, outcome)| outcome).to_vec()
}

fn sum(m: &LabelMatrices, mode: Mode, metrics: &[Metric]) -> f64 {
    metrics.iter().map(|metric| metric.of(m, mode).unwrap().value().unwrap()).sum()
}

const GROUNDING: [Metric; 3] = [Metric::Faithfulness, Metric::Hallucination, Metric::SelfKnowledge];
const CORRECTNESS: [Metric; 4] = [
    Metric::Precision,
    Metric::NoiseSensitivityInRelevant,
    Metric::NoiseSensitivityInIrrelevant,
    Metric::Hallucination,
];

/// Rearranges `items` by the ranks of `keys`, so that one list of keys permutes several lists alike.
fn permuted<T: Clone>(items: &[T], keys: &[u32]) -> Vec<T> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&i| (keys[i], i));
    order.into_iter().map(|i| items[i].clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_identities_hold(m in matrices(6, 5, known())) {
        let (r, a, k) = (m.n_response_claims > 0, m.n_reference_claims > 0, m.n_chunks > 0);
        for (mode, grounding, correctness) in
            [(Mode::Strict, r, r && a), (Mode::RagChecker, r && k, r && a && k)]
        {
            if grounding {
                prop_assert!((sum(&m, mode, &GROUNDING) - 1.0).abs() < 1e-12);
            }
            if correctness {
                prop_assert!((sum(&m, mode, &CORRECTNESS) - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn values_lie_between_0_and_1(m in matrices(6, 5, maybe_unknown())) {
        for mode in [Mode::Strict, Mode::RagChecker] {
            for value in scores(&m, mode).into_iter().filter_map(Outcome::value) {
                prop_assert!((0.0..=1.0).contains(&value), "{value}");
            }
        }
    }

    #[test]
    fn nothing_fails_without_a_failed_check(m in matrices(6, 5, known())) {
        for mode in [Mode::Strict, Mode::RagChecker] {
            prop_assert!(!scores(&m, mode).contains(&Outcome::Failed));
        }
        prop_assert!(scores(&m, Mode::RagChecker).iter().all(|outcome| outcome.value().is_some()));
    }

    #[test]
    fn the_order_of_claims_and_chunks_does_not_matter(
        m in matrices(6, 5, rarely_unknown()),
        keys in vec(any::<u32>(), 18),
    ) {
        let (response, reference, chunks) = (&keys[..6], &keys[6..12], &keys[12..]);
        let columns = |rows: Vec<Vec<Cell>>| rows.iter().map(|row| permuted(row, chunks)).collect();
        let other = LabelMatrices {
            response_vs_reference: permuted(&m.response_vs_reference, response),
            reference_vs_response: permuted(&m.reference_vs_response, reference),
            response_vs_chunks: columns(permuted(&m.response_vs_chunks, response)),
            reference_vs_chunks: columns(permuted(&m.reference_vs_chunks, reference)),
            ..m
        };
        for mode in [Mode::Strict, Mode::RagChecker] {
            prop_assert_eq!(scores(&m, mode), scores(&other, mode));
        }
    }

    #[test]
    fn neutral_and_contradiction_are_alike(m in matrices(5, 4, rarely_unknown())) {
        let mut other = m.clone();
        for cell in cells(&mut other) {
            *cell = cell.map(|label| if label == Label::Neutral { Label::Contradiction } else { label });
        }
        for mode in [Mode::Strict, Mode::RagChecker] {
            prop_assert_eq!(scores(&m, mode), scores(&other, mode));
        }
    }

    #[test]
    fn losing_a_check_never_changes_what_stays_known(
        m in matrices(5, 4, rarely_unknown()),
        lost in any::<prop::sample::Index>(),
    ) {
        let mut poorer = m.clone();
        let mut all = cells(&mut poorer);
        if all.is_empty() {
            return Ok(());
        }
        let lost = lost.index(all.len());
        *all[lost] = None;
        for mode in [Mode::Strict, Mode::RagChecker] {
            for (before, after) in scores(&m, mode).into_iter().zip(scores(&poorer, mode)) {
                prop_assert!(after == before || after == Outcome::Failed, "{before} became {after}");
            }
        }
    }

    /// The meaning of "known" in strict mode: a metric has an outcome exactly when every way of filling in the
    /// failed checks gives that outcome.
    #[test]
    fn strict_knows_exactly_what_every_completion_agrees_on(m in matrices(3, 2, maybe_unknown())) {
        let mut m = m;
        let n_unknown = cells(&mut m).iter().filter(|cell| cell.is_none()).count();
        prop_assume!(n_unknown <= 9);
        let mut agreed: Option<Vec<Outcome>> = None;
        for choice in 0_u32..1 << n_unknown {
            let mut whole = m.clone();
            for (i, cell) in cells(&mut whole).into_iter().filter(|cell| cell.is_none()).enumerate() {
                *cell = Some(if choice >> i & 1 == 1 { Label::Entailment } else { Label::Neutral });
            }
            let outcomes = scores(&whole, Mode::Strict);
            agreed = Some(match agreed {
                None => outcomes,
                Some(agreed) => agreed
                    .into_iter()
                    .zip(outcomes)
                    .map(|(a, b)| if a == b { a } else { Outcome::Failed })
                    .collect(),
            });
        }
        prop_assert_eq!(Some(scores(&m, Mode::Strict)), agreed);
    }
}

#[test]
fn strict_degenerate_cases_are_as_designed() {
    use Outcome::{Undefined, Value};
    let response = Undefined(Reason::NoResponseClaims);
    let reference = Undefined(Reason::NoReferenceClaims);
    let chunks = Undefined(Reason::NothingRetrieved);
    let recalled = Undefined(Reason::NothingRecalled);
    let (zero, one, half) = (Value(0.0), Value(1.0), Value(0.5));
    // Order: P, R, F1 | CR, CP | CU, NS relevant, NS irrelevant, HL, SK, FT.
    let cases = [
        // No response claims, although a checker found the reference claim in the response's text.
        (
            ["", "e", "", "en"],
            [response, zero, response, one, half, zero, response, response, response, response, response],
        ),
        // No reference claims.
        (
            ["en", "", "en nn", ""],
            [half, reference, reference, reference, reference, reference, reference, reference, half, zero, half],
        ),
        // Nothing retrieved: what the response says is its own.
        (["en", "e", "", ""], [half, one, Value(2.0 / 3.0), zero, chunks, chunks, zero, zero, half, half, zero]),
        // Nothing recalled: every chunk is irrelevant.
        (["n", "n", "en", "nc"], [zero, zero, zero, zero, zero, recalled, zero, one, zero, zero, one]),
        // Nothing at all.
        (
            ["", "", "", ""],
            [
                response, reference, response, reference, reference, reference, response, response, response, response,
                response,
            ],
        ),
        // No reference claims and nothing retrieved.
        (
            ["e", "", "", ""],
            [one, reference, reference, reference, reference, reference, reference, reference, zero, one, zero],
        ),
    ];
    for ([a, b, c, d], expected) in cases {
        let m = LabelMatrices::from_letters(a, b, c, d).unwrap();
        assert_eq!(scores(&m, Mode::Strict), expected, "{m:?}");
    }
}

#[test]
fn names_are_unique_and_parse_back() {
    for metric in Metric::ALL {
        assert_eq!(Metric::parse(metric.as_str()), Some(metric));
        assert!(!metric.needs().is_empty() && !metric.label().contains('_'));
    }
    assert_eq!(Metric::ALL.iter().filter(|metric| metric.higher_is_better()).count(), 7);
    assert_eq!(Metric::parse("accuracy"), None);
}

#[test]
fn a_shape_error_stops_the_scoring() {
    let mut m = LabelMatrices::from_letters("en", "e", "e n", "e").unwrap();
    m.n_chunks = 3;
    for mode in [Mode::Strict, Mode::RagChecker] {
        assert!(score(&m, mode).is_err());
        assert!(Metric::Faithfulness.of(&m, mode).is_err());
    }
}
