//! Times the summary of a million verdicts with clustered intervals of 2,000 resamples, and pass^k for large n.
//!
//! `cargo bench --profile dev --bench judge_speed`

use std::time::Instant;

use claimlab::calibration::{IntervalMethod, LabelSet, Screening, pass_hat_k};
use claimlab::table::{Criteria, CriterionLabels, FrameBuilder, Verdicts};

/// A number below `n` that depends on `seed` alone.
fn below(seed: usize, n: usize) -> usize {
    (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) % n
}

fn main() -> claimlab::Result<()> {
    // 2,000 tasks × 10 criteria × 5 answers, judged by 5 judges with 2 prompts: a million verdicts on 100,000 labels.
    let (tasks, criteria, answers) = (2_000, 10, 5);
    let ids: Vec<String> = (0..tasks * criteria).map(|one| format!("c{one:06}")).collect();
    let owners: Vec<String> = (0..tasks * criteria).map(|one| format!("t{:05}", one / criteria)).collect();
    let list = FrameBuilder::new()
        .text("criterion_id", &ids)
        .text("task_id", &owners)
        .text("kind", &vec!["substance"; ids.len()])
        .text("text", &ids);
    let list = Criteria::new(list.build()?)?;
    let n = ids.len() * answers;
    let criterion = |row: usize| ids[row / answers].as_str();
    let attempts: Vec<i64> = (0..n).map(|row| (row % answers) as i64 + 1).collect();
    let truth: Vec<&str> = (0..n).map(|row| if below(row, 100) < 60 { "PASS" } else { "FAIL" }).collect();
    let labels = FrameBuilder::new()
        .text("criterion_id", &(0..n).map(criterion).collect::<Vec<_>>())
        .text("system", &vec!["s"; n])
        .integer("attempt", &attempts)
        .text("annotator", &vec!["a"; n])
        .text("label", &truth);
    let labels = CriterionLabels::new(labels.build()?)?;
    let judges = 10;
    let all = n * judges;
    let said: Vec<&str> = (0..all)
        .map(|row| {
            let right = below(row + 7_777_777, 100) < 85;
            if (truth[row % n] == "PASS") == right { "PASS" } else { "FAIL" }
        })
        .collect();
    let verdicts = FrameBuilder::new()
        .text("judge", &(0..all).map(|row| ["a", "b", "c", "d", "e"][row / n / 2]).collect::<Vec<_>>())
        .text("prompt", &(0..all).map(|row| ["p", "q"][row / n % 2]).collect::<Vec<_>>())
        .text("way", &vec!["single"; all])
        .text("task_id", &(0..all).map(|row| owners[row % n / answers].as_str()).collect::<Vec<_>>())
        .text("criterion_id", &(0..all).map(|row| criterion(row % n)).collect::<Vec<_>>())
        .text("system", &vec!["s"; all])
        .integer("attempt", &(0..all).map(|row| attempts[row % n]).collect::<Vec<_>>())
        .integer("repeat", &vec![1; all])
        .text("verdict", &said)
        .text_or_null("failure", &vec![None::<&str>; all]);
    let verdicts = Verdicts::new(verdicts.build()?)?;
    let began = Instant::now();
    let labels = LabelSet::new(&labels, &list)?;
    let checked = began.elapsed();
    for method in [IntervalMethod::Percentile, IntervalMethod::default()] {
        let began = Instant::now();
        let screening = Screening::by(&verdicts, &labels, method)?;
        println!(
            "{all} verdicts of {judges} judges on {n} labels in {tasks} tasks, all statistics, {method}: {:.2} s ({} scores)",
            began.elapsed().as_secs_f64(),
            screening.scores().height()
        );
    }
    println!("checking the labels before: {:.2} s", checked.as_secs_f64());
    let began = Instant::now();
    let mut sum = 0.0;
    let mut count = 0_u64;
    for n in 1..=1000 {
        for c in (0..=n).step_by(7) {
            for k in (1..=n).step_by(13) {
                sum += pass_hat_k(n, c, k).unwrap_or(0.0);
                count += 1;
            }
        }
    }
    println!(
        "pass^k for n up to 1000: {count} values in {:.2} s, all finite: {}",
        began.elapsed().as_secs_f64(),
        f64::is_finite(sum)
    );
    Ok(())
}
