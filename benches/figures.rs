//! How long a figure takes, from its table to the SVG, beside matplotlib on the same table.
//!
//! `cargo bench --profile dev --bench figures` prints milliseconds for every kind of figure, and the ratio to matplotlib
//! where `python3` (or what `CLAIMLAB_PYTHON` names) has it: a forest plot of 12 slices as SVG, text as outlines in
//! both. Each time is the median of the runs after one that is not counted.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::process::Command;
use std::time::Instant;

use claimlab::polars::prelude::df;
use claimlab::prelude::*;

const RUNS: usize = 15;

fn milliseconds(mut draw: impl FnMut()) -> f64 {
    draw();
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            draw();
            start.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

/// Eight systems in twelve slices with all metrics.
fn summary(systems: usize, slices: usize) -> Summary {
    let mut rows = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for system in 0..systems {
        for slice in 0..slices {
            for (place, metric) in Metric::ALL.iter().enumerate() {
                rows.0.push(format!("retriever + generator {system}"));
                rows.1.push(format!("tranche {slice}"));
                rows.2.push(metric.as_str());
                rows.3.push(((system * 7 + slice * 5 + place * 3) % 83) as f64 / 100.0 + 0.05);
            }
        }
    }
    let n = rows.0.len();
    let low: Vec<f64> = rows.3.iter().map(|mean| mean - 0.05).collect();
    let high: Vec<f64> = rows.3.iter().map(|mean| mean + 0.07).collect();
    let frame = df!("system" => rows.0, "slice" => rows.1, "metric" => rows.2, "mean" => rows.3, "ci_low" => low,
        "ci_high" => high, "n" => vec![40_i64; n], "n_undefined" => vec![0_i64; n], "n_failed" => vec![0_i64; n]);
    Summary::new(frame.unwrap()).unwrap()
}

fn main() {
    let systems = summary(8, 1);
    let slices = summary(1, 12).only("metric", "f1").unwrap();
    let grid = summary(8, 12).only("metric", "f1").unwrap();
    let panels = summary(4, 2);
    let forest = milliseconds(|| drop(Figure::intervals(&slices, "system", "slice").unwrap()));
    let dots = milliseconds(|| drop(Figure::bars(&slices, "slice", "system").unwrap()));
    println!("intervals, 12 points               {forest:7.1} ms");
    println!("bars, 12 groups                    {dots:7.1} ms");
    let all: [(&str, Box<dyn Fn() -> Figure>); 5] = [
        ("intervals, 4 systems × 11 × 2", Box::new(|| Figure::intervals(&panels, "system", "slice").unwrap())),
        ("bars, 11 metrics × 8 systems", Box::new(|| Figure::bars(&systems, "metric", "system").unwrap())),
        ("precision–recall, 8 systems", Box::new(|| Figure::precision_recall(&systems, "system", "slice").unwrap())),
        ("heat map, 12 × 8", Box::new(|| Figure::heat_map(&grid, "slice", "system").unwrap())),
        ("noise breakdown, 8 systems", Box::new(|| Figure::noise(&systems, "system").unwrap())),
    ];
    for (name, draw) in &all {
        let time = milliseconds(|| drop(draw()));
        println!("{name:34} {time:7.1} ms, {} kB of SVG", draw().svg().len() / 1000);
    }
    let bars = milliseconds(|| drop(Figure::bars(&systems, "metric", "system").unwrap()));
    let python = std::env::var("CLAIMLAB_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/figures_matplotlib.py");
    match Command::new(&python).arg(script).output() {
        Ok(told) if told.status.success() => {
            let told = String::from_utf8_lossy(&told.stdout).trim().to_owned();
            let (version, time) = told.split_once(' ').unwrap();
            let time: f64 = time.parse().unwrap();
            println!(
                "bars, 11 metrics × 8 systems: here {bars:.1} ms, matplotlib {version} {time:.1} ms: {:.1} ×",
                time / bars
            );
        }
        _ => println!("SKIPPED the comparison: {python} has no matplotlib"),
    }
}
