use super::*;

fn bounds(interval: Interval) -> (f64, f64) {
    (interval.low.unwrap(), interval.high.unwrap())
}

#[test]
fn the_same_seed_gives_the_same_interval_in_any_order_of_rows() {
    let values: Vec<(f64, usize)> = (0..60).map(|i| ((i * 37 % 101) as f64 / 101.0, i / 3)).collect();
    let first = cluster_bootstrap(&values, 500, 0.95, 1).unwrap();
    assert_eq!(cluster_bootstrap(&values, 500, 0.95, 1), Some(first));
    let reversed: Vec<_> = values.iter().rev().copied().collect();
    assert_eq!(cluster_bootstrap(&reversed, 500, 0.95, 1), Some(first));
    assert_ne!(cluster_bootstrap(&values, 500, 0.95, 2), Some(first));
}

#[test]
fn a_known_interval_stays_what_it_was() {
    // Guards the stream of random numbers: published intervals must be reproducible by a later version.
    let values = [(0.03, 0), (0.21, 1), (0.34, 1), (0.55, 2), (0.89, 3), (0.97, 4), (0.13, 4)];
    let interval = cluster_bootstrap(&values, 1000, 0.9, 42).unwrap();
    assert_eq!(interval, Interval { mean: 3.12 / 7.0, low: Some(0.2825), high: Some(1.9 / 3.0), n: 7, clusters: 5 });
}

#[test]
fn too_little_data_keeps_the_mean_and_drops_the_interval() {
    assert_eq!(cluster_bootstrap(&[], 100, 0.95, 0), None);
    assert_eq!(cluster_bootstrap(&[(f64::NAN, 0), (1.0, 1)], 100, 0.95, 0), None);
    let one = cluster_bootstrap(&[(0.25, 7), (0.75, 7)], 100, 0.95, 0).unwrap();
    assert_eq!(one, Interval { mean: 0.5, low: None, high: None, n: 2, clusters: 1 });
    for (resamples, level) in [(0, 0.95), (100, 0.0), (100, 1.0), (100, -1.0), (100, f64::NAN)] {
        let interval = cluster_bootstrap(&[(0.0, 0), (1.0, 1)], resamples, level, 0).unwrap();
        assert_eq!((interval.mean, interval.low, interval.high), (0.5, None, None));
    }
}

#[test]
fn constant_values_have_an_interval_of_no_width() {
    for constant in [0.0, 0.1, 1.0 / 3.0, 1.0] {
        let values: Vec<_> = (0..31).map(|i| (constant, i / 2)).collect();
        let interval = cluster_bootstrap(&values, 200, 0.95, 3).unwrap();
        assert_eq!((interval.mean, bounds(interval)), (constant, (constant, constant)));
    }
}

#[test]
fn the_statistic_is_the_ratio_of_sums_and_bounded_by_the_values() {
    // Ten rows of question 0 are 1, one row of question 1 is 0: the mean over rows, not over questions.
    let mut values = vec![(1.0, 0); 10];
    values.push((0.0, 1));
    let interval = cluster_bootstrap(&values, 400, 0.95, 5).unwrap();
    assert!((interval.mean - 10.0 / 11.0).abs() < 1e-12);
    assert_eq!(bounds(interval), (0.0, 1.0));
}

#[test]
fn clustering_widens_the_interval_of_repeated_values() {
    let questions: Vec<f64> = (0..30).map(|i| (i * 7 % 10) as f64 / 10.0).collect();
    let repeated = |independent: bool| -> Vec<(f64, usize)> {
        (0..150).map(|i| (questions[i / 5], if independent { i } else { i / 5 })).collect()
    };
    let width = |values: &[(f64, usize)]| {
        let (low, high) = bounds(cluster_bootstrap(values, 1000, 0.95, 11).unwrap());
        high - low
    };
    let ratio = width(&repeated(false)) / width(&repeated(true));
    assert!((1.8..2.7).contains(&ratio), "five copies of each value should count once (√5 ≈ 2.24): {ratio}");
}

#[test]
fn coverage_is_near_nominal_on_simulated_clusters_of_unequal_size() {
    // 200 data sets of 40 questions with 1 to 4 attempts; a value is 0 or 1 with its question's own chance, whose
    // mean is 0.5 independently of the size. The true mean should lie in about 90 % of the intervals.
    let mut rng = ChaCha8Rng::seed_from_u64(2026);
    let (sets, mut covered) = (200, 0);
    for set in 0..sets {
        let mut values = Vec::new();
        for question in 0..40 {
            let chance: f64 = rng.random();
            for _ in 0..rng.random_range(1..=4) {
                values.push((f64::from(u8::from(rng.random_bool(chance))), question));
            }
        }
        let (low, high) = bounds(cluster_bootstrap(&values, 400, 0.9, set).unwrap());
        covered += usize::from(low <= 0.5 && 0.5 <= high);
    }
    let coverage = covered as f64 / sets as f64;
    assert!((0.84..=0.95).contains(&coverage), "coverage {coverage}");
}

#[test]
fn pairs_are_the_shared_clusters_and_weigh_alike() {
    // Question 0 has two attempts on side a (mean 0.5); question 5 is on side a only.
    let a = [(0.0, 0), (1.0, 0), (1.0, 1), (0.0, 5)];
    let b = [(0.5, 1), (0.25, 0), (1.0, 7), (1.0, 8)];
    let difference = paired_difference(&a, &b, 500, 0.95, 1).unwrap();
    assert_eq!((difference.pairs, difference.only_a, difference.only_b), (2, 1, 2));
    assert_eq!(difference.interval.mean, (0.25 + 0.5) / 2.0);
    assert_eq!(bounds(difference.interval), (0.25, 0.5));
    let back = paired_difference(&b, &a, 500, 0.95, 1).unwrap();
    assert_eq!(back.interval.mean, -difference.interval.mean);
}

#[test]
fn a_constant_gain_is_certain_whatever_the_questions() {
    let b: Vec<_> = (0..50).map(|i| ((i % 8) as f64 / 16.0, i)).collect();
    let a: Vec<_> = b.iter().map(|(value, question)| (value + 0.25, *question)).collect();
    let difference = paired_difference(&a, &b, 300, 0.99, 9).unwrap();
    assert_eq!((difference.interval.mean, bounds(difference.interval)), (0.25, (0.25, 0.25)));
}

#[test]
fn pairing_degenerates_without_panic() {
    assert_eq!(paired_difference(&[], &[], 100, 0.95, 0), None);
    assert_eq!(paired_difference(&[(1.0, 0)], &[(1.0, 1)], 100, 0.95, 0), None);
    assert_eq!(paired_difference(&[(f64::INFINITY, 0)], &[(1.0, 0)], 100, 0.95, 0), None);
    let one = paired_difference(&[(1.0, 0)], &[(0.5, 0), (f64::NAN, 1)], 100, 0.95, 0).unwrap();
    assert_eq!((one.interval.mean, one.interval.low, one.pairs, one.only_b), (0.5, None, 1, 1));
}

#[test]
fn corrected_intervals_lean_away_from_the_long_tail_and_stay_within_the_values() {
    let values: Vec<(f64, usize)> = (0..40).map(|i| (if i % 8 == 0 { 1.0 } else { 0.0 }, i)).collect();
    let plain = Bootstrap::new().mean(&values).unwrap();
    let corrected = Bootstrap::new().bca().mean(&values).unwrap();
    assert_eq!(plain.mean, corrected.mean);
    assert!(corrected.high > plain.high, "{corrected:?} {plain:?}");
    assert!(bounds(corrected).0 >= 0.0 && bounds(corrected).1 <= 1.0);
    let constant = Bootstrap::new().bca().mean(&[(0.5, 0), (0.5, 1), (0.5, 2)]).unwrap();
    assert_eq!(bounds(constant), (0.5, 0.5));
}

#[test]
fn a_statistic_that_often_does_not_exist_has_no_interval() {
    let settings = Bootstrap::new().resamples(200);
    assert_eq!(settings.statistic(10, &|drawn| (drawn[0] % 2 == 0).then_some(1.0)), None);
    assert_eq!(settings.statistic(10, &|_| Some(0.25)), Some((0.25, 0.25)));
    assert_eq!(settings.statistic(1, &|_| Some(0.25)), None);
}

#[test]
fn quantiles_interpolate_between_the_two_nearest() {
    for (q, expected) in [(0.0, 1.0), (1.0, 4.0), (0.5, 2.5), (0.25, 1.75)] {
        assert_eq!(quantile(&mut [4.0, 1.0, 3.0, 2.0], q), Some(expected));
    }
    assert_eq!(quantile(&mut [], 0.5), None);
    assert_eq!(quantile(&mut [1.0], f64::NAN), None);
}
