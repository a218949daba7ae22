//! Figures and paper tables from the sample: they say what they must, are the same every time, and survive bad input.

use std::sync::OnceLock;

use claimlab::figure::FEW;
use claimlab::polars::prelude::{DataFrame, IntoLazy, JoinArgs, col, df};
use claimlab::prelude::*;
use claimlab::study::{table_2, table_3};

/// The sample evaluated once for all tests.
pub fn evaluation() -> &'static Evaluation {
    static EVALUATION: OnceLock<Evaluation> = OnceLock::new();
    EVALUATION.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let lab = Lab::at(folder.path()).unwrap();
        let sample = lab.sample().unwrap();
        let chunks = sample.chunks(&Chunking::tokens(150, 30).unwrap()).unwrap();
        let retrievers = [Retriever::bm25(&chunks).unwrap(), Retriever::random_indexing(&chunks).unwrap()];
        let generators = [Generator::extractive(), Generator::scripted()];
        let systems: Vec<System> = retrievers
            .iter()
            .flat_map(|retriever| generators.iter().map(move |generator| System::new(retriever, generator)))
            .collect();
        lab.evaluate(&sample, &systems, 5).unwrap()
    })
}

fn sample() -> Benchmark {
    let folder = tempfile::tempdir().unwrap();
    Lab::at(folder.path()).unwrap().sample().unwrap()
}

fn checked() -> (LabelledClaims, Checks) {
    let claims = sample().labelled_claims().unwrap();
    let checks = Checker::lexical().check_labelled(&claims).unwrap();
    (claims, checks)
}

fn labels() -> DataFrame {
    let (claims, checks) = checked();
    let human = claims.frame().clone().lazy().select([col("claim_id"), col("label").alias("human label")]);
    let checker = checks.frame().clone().lazy().select([col("claim_id"), col("label").alias("lexical checker")]);
    human.join(checker, [col("claim_id")], [col("claim_id")], JoinArgs::default()).collect().unwrap()
}

/// Confidences that are too high by a fifth, over 40 questions: an invented checker.
fn verdicts() -> DataFrame {
    let n = 600_u32;
    let confidence: Vec<f64> = (0..n).map(|row| f64::from(row * 7919 % 1000) / 1000.0).collect();
    let correct: Vec<bool> =
        confidence.iter().enumerate().map(|(row, sure)| (row as f64 * 0.618).fract() < sure * 0.8).collect();
    let questions: Vec<String> = (0..n).map(|row| format!("q{}", row % 40)).collect();
    df!("confidence" => confidence, "correct" => correct, "question_id" => questions).unwrap()
}

/// Invented systems, two of them almost on one place, one without a cost.
fn leaderboard() -> DataFrame {
    df!(
        "system" => ["alder", "birch", "cedar with a long name that needs room", "dogwood", "elm"],
        "task_pass_k" => [Some(0.62), Some(0.61), Some(0.35), Some(0.2), None],
        "ci_low" => [Some(0.5), Some(0.48), Some(0.24), Some(0.1), None],
        "ci_high" => [Some(0.73), Some(0.72), Some(0.47), Some(0.31), None],
        "mean_cost_usd" => [Some(0.021), Some(0.02), Some(0.0004), None, Some(0.1)],
        "mean_latency_ms" => [9000.0, 8700.0, 1200.0, 300.0, 400.0],
        "pareto" => [Some(true), Some(true), Some(true), None, None],
    )
    .unwrap()
}

/// Every kind of figure, by name.
fn gallery() -> Vec<(&'static str, Figure)> {
    let evaluation = evaluation();
    let scores = evaluation.scores();
    let systems = evaluation.by(&["system"]).unwrap();
    let languages = evaluation.by(&["system", "language"]).unwrap();
    let one = scores.only("system", "BM25 + Scripted").unwrap();
    let f1 = one.only("metric", "f1").unwrap();
    let overall = systems
        .frame()
        .clone()
        .lazy()
        .filter(
            col("metric")
                .eq(claimlab::polars::prelude::lit("f1"))
                .or(col("metric").eq(claimlab::polars::prelude::lit("precision")))
                .or(col("metric").eq(claimlab::polars::prelude::lit("faithfulness"))),
        )
        .collect()
        .unwrap();
    let published = published_summary();
    vec![
        ("intervals", Figure::intervals(&languages, "system", "language").unwrap()),
        ("intervals-wide", {
            let by_category = scores.only("metric", "f1").unwrap().by(&["system", "category"]).unwrap();
            Figure::intervals(&by_category, "system", "category").unwrap()
        }),
        ("forest", Figure::forest(&one, Metric::F1, &["language", "persona", "category", "hops"]).unwrap()),
        ("forest-systems", Figure::forest(&scores, Metric::Hallucination, &["language", "persona"]).unwrap()),
        ("bars", Figure::bars(&Summary::new(overall).unwrap(), "metric", "system").unwrap()),
        ("bars-all", Figure::bars(&systems, "metric", "system").unwrap()),
        ("bars-category", {
            let by_category = scores.only("metric", "recall").unwrap().by(&["system", "category"]).unwrap();
            Figure::bars(&by_category, "category", "system").unwrap()
        }),
        ("precision-recall", Figure::precision_recall(&languages, "system", "language").unwrap()),
        ("heat-map", Figure::heat_map(&f1.by(&["persona", "category"]).unwrap(), "persona", "category").unwrap()),
        ("heat-map-metrics", Figure::heat_map(&systems, "metric", "system").unwrap()),
        ("confusion", Figure::confusion(&labels(), "human label", "lexical checker").unwrap()),
        ("noise", Figure::noise(&systems, "system").unwrap()),
        ("noise-published", Figure::noise(&published, "system").unwrap()),
        ("curves", {
            let recall = evaluation.claim_recall_at_k().unwrap().by(&["retriever", "k"]).unwrap();
            Figure::curves(&recall, "k", "retriever").unwrap()
        }),
        ("distributions", Figure::distributions(&scores.replicates("system", 2000).unwrap(), "f1", "system").unwrap()),
        ("pareto", Figure::pareto(&leaderboard()).unwrap()),
        ("calibration", Figure::calibration(&verdicts(), "confidence", "correct").unwrap()),
    ]
}

/// Two published rows, of which one breaks an identity.
fn published_summary() -> Summary {
    let table = published::table_2().unwrap();
    let mut rows = (Vec::new(), Vec::new(), Vec::new());
    let (systems, languages) =
        (claimlab::table::texts(&table, "system").unwrap(), claimlab::table::texts(&table, "language").unwrap());
    for metric in Metric::ALL {
        let values = claimlab::table::floats(&table, metric.as_str()).unwrap();
        for (row, system) in systems.iter().enumerate() {
            let system = system.clone().unwrap();
            if languages[row].as_deref() == Some("EN") && ["BM25 + GPT-4", "BM25 + GPT-5"].contains(&system.as_str()) {
                rows.0.push(format!("{system} (publié, EN)"));
                rows.1.push(metric.as_str());
                rows.2.push(values[row].unwrap() / 100.0);
            }
        }
    }
    let n = rows.0.len();
    let frame = df!("system" => rows.0, "metric" => rows.1, "mean" => rows.2, "ci_low" => vec![None::<f64>; n],
        "ci_high" => vec![None::<f64>; n], "n" => vec![149_i64; n], "n_undefined" => vec![0_i64; n],
        "n_failed" => vec![0_i64; n]);
    Summary::new(frame.unwrap()).unwrap()
}

#[test]
fn every_figure_is_the_same_bytes_every_time_as_svg_png_and_pdf() {
    let (first, second) = (gallery(), gallery());
    for ((name, one), (_, other)) in first.iter().zip(&second) {
        assert_eq!(one.svg(), other.svg(), "{name}");
        assert!(one.pdf().unwrap() == other.pdf().unwrap(), "{name}: PDF");
        assert!(one.pdf().unwrap().starts_with(b"%PDF-"), "{name}");
        assert_eq!(one.alt(), other.alt());
        if let Some(folder) = std::env::var_os("CLAIMLAB_GALLERY") {
            for kind in ["svg", "png", "pdf"] {
                one.save(std::path::Path::new(&folder).join(format!("{name}.{kind}"))).unwrap();
            }
        }
    }
    let (one, other) = (first[0].1.png().unwrap(), second[0].1.png().unwrap());
    assert!(one.starts_with(b"\x89PNG") && one == other);
}

#[test]
fn a_figure_is_one_column_wide_and_needs_no_font() {
    for (name, figure) in gallery() {
        let svg = figure.svg();
        let wide = if name == "intervals-wide" { "175mm" } else { "85mm" };
        assert!(
            svg.starts_with(&format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\"")),
            "{name}: {}",
            &svg[..90]
        );
        assert!(svg.contains("aria-label=") && !svg.contains("<script") && !svg.contains("<style"), "{name}");
        let seen = svg.split("<g fill-opacity=\"0\"").next().unwrap();
        assert!(!seen.contains("<text"), "{name}: what is seen must be outlines");
        assert!(svg.len() < 600_000, "{name}: {} bytes", svg.len());
        // The PDF's text is outlines as well: no reader has to have or to guess a font.
        let pdf = figure.pdf().unwrap();
        assert!(!pdf.windows(9).any(|bytes| bytes == b"/FontFile"), "{name}");
    }
}

#[test]
fn slices_over_few_questions_are_marked_as_such() {
    let one = evaluation().scores().only("system", "BM25 + Scripted").unwrap();
    let few = one.by(&["category"]).unwrap();
    let counts = claimlab::table::integers(few.frame(), "n").unwrap();
    assert!(counts.iter().flatten().any(|n| *n < FEW) && counts.iter().flatten().any(|n| *n >= FEW), "{counts:?}");
    for figure in [
        Figure::forest(&one, Metric::F1, &["category"]).unwrap(),
        Figure::bars(&few.only("metric", "f1").unwrap(), "category", "metric").unwrap(),
        Figure::heat_map(&few, "metric", "category").unwrap(),
    ] {
        assert!(figure.svg().contains(&format!("fewer than {FEW}")), "{}", figure.alt());
    }
}

#[test]
fn labels_from_outside_stay_text() {
    let hostile = "<script>alert(1)</script>&\u{0}\u{1b}[31m \"quoted\" \u{202e}中文 🙂";
    let long = "très long ".repeat(400);
    let n = 2;
    let frame = df!("system" => [hostile, long.as_str()], "metric" => ["f1", "f1"], "mean" => [0.5, 0.4],
        "ci_low" => vec![Some(0.4); n], "ci_high" => vec![Some(0.6); n], "n" => vec![30_i64; n],
        "n_undefined" => vec![0_i64; n], "n_failed" => vec![0_i64; n]);
    let summary = Summary::new(frame.unwrap()).unwrap();
    for figure in [
        Figure::bars(&summary, "metric", "system").unwrap(),
        Figure::heat_map(&summary, "system", "metric").unwrap(),
        Figure::intervals(&summary, "system", "metric").unwrap(),
    ] {
        assert!(!figure.svg().contains("<script") && !figure.svg().contains('\u{1b}'));
        assert!(figure.svg().contains("&lt;script&gt;"));
        figure.png().unwrap();
        figure.pdf().unwrap();
    }
}

#[test]
fn what_cannot_be_drawn_is_said_with_a_way_out() {
    let systems = evaluation().by(&["system"]).unwrap();
    let says = |result: claimlab::Result<Figure>, words: &[&str]| {
        let error = result.unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    says(Figure::bars(&systems, "metric", "persona"), &["persona", "columns"]);
    says(
        Figure::heat_map(&evaluation().by(&["system", "language"]).unwrap(), "metric", "system"),
        &["several rows", "help"],
    );
    says(
        Figure::heat_map(&evaluation().by(&["persona", "category"]).unwrap(), "persona", "category"),
        &["metrics", "only"],
    );
    says(Figure::noise(&systems.only("metric", "f1").unwrap(), "system"), &["precision", "noise"]);
    says(Figure::precision_recall(&systems.only("metric", "recall").unwrap(), "system", "system"), &["precision"]);
    says(Figure::forest(&evaluation().scores().only("metric", "f1").unwrap(), Metric::Recall, &[]), &["recall"]);
    says(Figure::curves(&systems.only("metric", "f1").unwrap(), "system", "system"), &["not a number"]);
    says(Figure::distributions(&df!("f1" => [0.5], "s" => ["a"]).unwrap(), "f1", "s"), &["too few", "replicates"]);
    says(Figure::calibration(&df!("p" => [0.5], "right" => [1_i64]).unwrap(), "p", "right"), &["true and false"]);
    says(
        Figure::confusion(&df!("a" => ["1", "2", "3", "4"], "b" => ["5", "6", "7", "8"]).unwrap(), "a", "b"),
        &["8 different"],
    );
    let frame = df!("system" => ["a"], "metric" => ["f1"], "mean" => [f64::NAN], "ci_low" => [0.1], "ci_high" => [0.2],
        "n" => [3_i64], "n_undefined" => [0_i64], "n_failed" => [0_i64]);
    says(Figure::bars(&Summary::new(frame.unwrap()).unwrap(), "metric", "system"), &["NaN", "null"]);
    let many: Vec<String> = (0..9).map(|place| format!("s{place}")).collect();
    let frame = df!("system" => many, "metric" => vec!["f1"; 9], "mean" => vec![0.5; 9], "ci_low" => vec![0.4; 9],
        "ci_high" => vec![0.6; 9], "n" => vec![30_i64; 9], "n_undefined" => vec![0_i64; 9], "n_failed" => vec![0_i64; 9]);
    says(Figure::bars(&Summary::new(frame.unwrap()).unwrap(), "metric", "system"), &["9 values", "colour"]);
    let folder = tempfile::tempdir().unwrap();
    let error = gallery()[0].1.save(folder.path().join("figure.gif")).unwrap_err().to_string();
    assert!(error.contains(".svg"), "{error}");
}

#[test]
fn claim_recall_grows_with_k_and_ends_at_the_metric() {
    let evaluation = evaluation();
    let recall = evaluation.claim_recall_at_k().unwrap().by(&["retriever", "k"]).unwrap();
    let means = claimlab::table::floats(recall.frame(), "mean").unwrap();
    for curve in means.chunks(5) {
        assert!(curve.windows(2).all(|pair| pair[0] <= pair[1]), "{curve:?}");
    }
    let whole = evaluation.by(&["system"]).unwrap().only("metric", "claim_recall").unwrap();
    let expected = claimlab::table::floats(whole.frame(), "mean").unwrap()[0];
    assert!((means[4].unwrap() - expected.unwrap()).abs() < 1e-12, "{means:?} {expected:?}");
}

#[test]
fn the_latex_of_tables_2_and_3_compiles_and_fits_the_page() {
    let test = "the_latex_of_tables_2_and_3_compiles_and_fits_the_page";
    if std::process::Command::new("pdflatex").arg("--version").output().is_err() {
        return crate::skip(test, "there is no pdflatex (Debian: texlive-latex-recommended)", true);
    }
    let (claims, checks) = checked();
    let tables = [table_2(&evaluation().scores()).unwrap(), table_3(&claims, &checks).unwrap()];
    for (place, table) in tables.iter().enumerate() {
        for (columns, margin) in [("twocolumn", "2cm"), ("onecolumn", "4cm")] {
            let folder = tempfile::tempdir().unwrap();
            let document = format!(
                "\\documentclass[{columns}]{{article}}\n\\usepackage{{booktabs,graphicx,xcolor}}\n\
                 \\usepackage[margin={margin}]{{geometry}}\n\\begin{{document}}\nText.\n{}\\end{{document}}\n",
                table.latex()
            );
            std::fs::write(folder.path().join("table.tex"), document).unwrap();
            let output = std::process::Command::new("pdflatex")
                .args(["-interaction=nonstopmode", "-halt-on-error", "table.tex"])
                .current_dir(folder.path())
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "table {}: {told}", place + 2);
            assert!(!told.contains("Overfull"), "table {} in {columns}: {told}", place + 2);
        }
    }
}

#[test]
fn table_2_and_table_3_of_the_sample_come_in_all_forms() {
    let (claims, checks) = checked();
    let tables = [table_2(&evaluation().scores()).unwrap(), table_3(&claims, &checks).unwrap()];
    let folder = tempfile::tempdir().unwrap();
    for (place, table) in tables.iter().enumerate() {
        for (kind, sign) in [("html", "<table"), ("md", "|---|"), ("tex", "\\bottomrule"), ("csv", "origin,")] {
            let path = folder.path().join(format!("table.{kind}"));
            table.save(&path).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.contains(sign), "{kind}: {text}");
            if let Some(gallery) = std::env::var_os("CLAIMLAB_GALLERY") {
                std::fs::write(std::path::Path::new(&gallery).join(format!("table-{}.{kind}", place + 2)), text)
                    .unwrap();
            }
        }
        assert!(table.markdown().contains("Published") && table.html().contains("not ours"));
    }
    // Means over abstentions are said to be over fewer questions.
    assert!(tables[0].notes().iter().any(|note| note.contains("never counted as 0")));
}
