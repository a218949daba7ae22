//! No word of a figure reaches beyond the sheet, whatever is named in it.

use polars::prelude::{DataFrame, NamedFrom, Series, df};
use usvg::{Group, Node, Tree};

use super::*;
use crate::metrics::Metric;
use crate::table::{Scores, Summary};

/// Texts that stand partly outside.
fn cut(svg: &str) -> Vec<String> {
    fn look(group: &Group, (width, height): (f32, f32), found: &mut Vec<String>) {
        for node in group.children() {
            match node {
                Node::Group(group) => look(group, (width, height), found),
                Node::Text(text) => {
                    let place = text.abs_bounding_box();
                    // Places are whole hundredths of a millimetre.
                    let is_in = place.left() > -3.0
                        && place.top() > -3.0
                        && place.right() < width + 3.0
                        && place.bottom() < height + 3.0;
                    if !is_in {
                        let words = text.chunks().iter().map(|chunk| chunk.text()).collect::<Vec<_>>().join(" ");
                        found.push(format!("{words:?} at {place:?}"));
                    }
                }
                _ => {}
            }
        }
    }
    let tree = Tree::from_str(svg, &font::options()).unwrap();
    let mut found = Vec::new();
    look(tree.root(), (tree.size().width(), tree.size().height()), &mut found);
    found
}

/// One mean for every value of a column and metric; half of them rest on few questions.
fn summary(column: &str, values: &[String], metrics: &[Metric]) -> Summary {
    let rows: Vec<(&str, &str, i64)> = metrics
        .iter()
        .flat_map(|metric| {
            values.iter().enumerate().map(move |(place, value)| (value.as_str(), metric.as_str(), place))
        })
        .map(|(value, metric, place)| (value, metric, if place % 2 == 0 { 12_345 } else { 7 }))
        .collect();
    let n = rows.len();
    let mut frame = df!("metric" => rows.iter().map(|row| row.1).collect::<Vec<_>>(), "mean" => vec![1.0; n],
        "ci_low" => vec![0.0; n], "ci_high" => vec![1.0; n], "n" => rows.iter().map(|row| row.2).collect::<Vec<_>>(),
        "n_undefined" => vec![0_i64; n], "n_failed" => vec![0_i64; n])
    .unwrap();
    frame.with_column(Series::new(column.into(), rows.iter().map(|row| row.0).collect::<Vec<_>>()).into()).unwrap();
    Summary::new(frame).unwrap()
}

fn names(n: usize, like: &str) -> Vec<String> {
    (0..n).map(|place| format!("{like} {place}")).collect()
}

#[test]
fn heat_maps_keep_their_key_and_their_heads() {
    let long = "un système au nom vraiment très long et très précis";
    for n in [1, 2, 7, 11, 12, 16, 30] {
        for like in ["s", long] {
            for (rows, columns) in [("metric", "system"), ("system", "metric")] {
                let (svg, _) = heat_map(&summary("system", &names(n, like), &Metric::ALL), rows, columns).unwrap();
                assert_eq!(cut(&svg), [""; 0], "{n} × {like:?}, {rows} × {columns}");
            }
        }
    }
    let many = summary("system", &names(60, "s"), &[Metric::F1, Metric::Recall]);
    let error = heat_map(&many, "metric", "system").unwrap_err().to_string();
    assert!(error.contains("60 values") && error.contains("rows"), "{error}");
    assert!(heat_map(&many, "system", "metric").is_ok());
}

#[test]
fn bars_and_dots_keep_their_labels() {
    for like in ["s", "un système au nom vraiment très long et très précis"] {
        for n in [1, 3, 8] {
            let all = summary("system", &names(n, like), &Metric::ALL);
            assert_eq!(cut(&bars(&all, "metric", "system").unwrap().0), [""; 0], "bars, {n} × {like:?}");
            assert_eq!(cut(&intervals(&all, "system", "system").unwrap().0), [""; 0], "intervals, {n} × {like:?}");
            assert_eq!(cut(&noise(&all, "system").unwrap().0), [""; 0], "noise, {n} × {like:?}");
            let (svg, _) = precision_recall(&all, "system", "system").unwrap();
            assert_eq!(cut(&svg), [""; 0], "precision and recall, {n} × {like:?}");
        }
        let one = summary("system", &names(8, like), &[Metric::NoiseSensitivityInIrrelevant]);
        assert_eq!(cut(&bars(&one, "system", "system").unwrap().0), [""; 0], "bars of one metric");
        let along = summary("k", &(1..=30).map(|k| (k * 1000).to_string()).collect::<Vec<_>>(), &[Metric::ClaimRecall]);
        assert_eq!(cut(&curves(&along, "k", "metric").unwrap().0), [""; 0], "curves");
    }
}

#[test]
fn forests_keep_their_counts_and_their_headings() {
    let long = "une colonne au nom vraiment très long et très précis";
    let scores = |systems: usize, questions: usize| {
        let rows: Vec<(usize, usize)> =
            (0..systems).flat_map(|system| (0..questions + system).map(move |question| (system, question))).collect();
        let frame = df!("system" => rows.iter().map(|row| format!("{long} {}", row.0)).collect::<Vec<_>>(),
            "question_id" => rows.iter().map(|row| format!("q{}", row.1)).collect::<Vec<_>>(),
            "attempt" => vec![1_i64; rows.len()], "metric" => vec!["f1"; rows.len()], "checker" => vec!["c"; rows.len()],
            "value" => vec![1.0; rows.len()], "undefined" => vec![None::<&str>; rows.len()],
            long => rows.iter().map(|row| format!("{long} {}", row.1 % 2)).collect::<Vec<_>>());
        Scores::new(frame.unwrap()).unwrap()
    };
    for (systems, questions) in [(1, 10_000), (2, 9_999), (8, 40)] {
        let (svg, _) = forest(&scores(systems, questions), Metric::F1, &[long]).unwrap();
        assert_eq!(cut(&svg), [""; 0], "{systems} systems");
        assert!(svg.contains('…'), "what has no room is cut with an ellipsis, not by the sheet");
    }
}

#[test]
fn matrices_distributions_and_calibration_keep_their_words() {
    let long = "l'étiquette au nom vraiment très long et très précis";
    let labels = |one: &str, other: &str| -> DataFrame {
        df!(one => ["a", "b", long, "d"], other => [Some("a"), None, Some("c"), Some("d")]).unwrap()
    };
    assert_eq!(cut(&confusion(&labels("t", "f"), "t", "f").unwrap().0), [""; 0]);
    let (truth, found) = (long.repeat(3), format!("{long} {long}"));
    assert_eq!(cut(&confusion(&labels(&truth, &found), &truth, &found).unwrap().0), [""; 0]);
    let short = df!("t" => ["a"], "f" => ["a"]).unwrap();
    assert_eq!(cut(&confusion(&short, "t", "f").unwrap().0), [""; 0]);

    let n = 400;
    let values: Vec<f64> = (0..n).map(|row| f64::from(row) * 1000.0).collect();
    let groups: Vec<String> = (0..n).map(|row| format!("{long} {}", row % 3)).collect();
    let frame = df!(long => values, "system" => groups).unwrap();
    assert_eq!(cut(&distributions(&frame, long, "system").unwrap().0), [""; 0]);

    let sure: Vec<Option<f64>> = (0..20_000).map(|row| (row % 2 == 0).then(|| f64::from(row) / 20_000.0)).collect();
    let right: Vec<bool> = (0..20_000).map(|row| row % 3 == 0).collect();
    let frame = df!("sure" => sure, "right" => right).unwrap();
    assert_eq!(cut(&calibration(&frame, "sure", "right").unwrap().0), [""; 0]);
}
