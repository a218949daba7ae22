//! What a run of the fuzzer tells.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// What became of the cases of one reader.
#[derive(Debug, Default)]
pub struct Tally {
    pub name: &'static str,
    pub n_real: usize,
    pub cases: u32,
    pub read: u32,
    /// Refusals by kind.
    pub refused: BTreeMap<String, u32>,
    /// Refusals that offer no way out.
    pub helpless: u32,
    pub broken: Vec<String>,
    pub took: Duration,
    pub slowest: Duration,
}

/// A refusal without what differs from case to case: the path, quoted words, numbers.
pub fn kind(told: &str, path: &str) -> String {
    let first = told.replace(path, "FILE");
    let first = first.lines().next().unwrap_or_default();
    let mut kind = String::new();
    let mut is_quoted = false;
    for letter in first.chars() {
        if letter == '"' {
            is_quoted = !is_quoted;
            kind.push_str(if is_quoted { "“…" } else { "”" });
        } else if letter.is_ascii_digit() && !is_quoted {
            if !kind.ends_with('#') {
                kind.push('#');
            }
        } else if !is_quoted {
            kind.push(letter);
        }
    }
    let short: String = kind.chars().take(110).collect();
    short.replace('|', "/").replace('`', "'")
}

/// The report in Markdown.
pub fn write(tallies: &[Tally], cases: u32) -> String {
    let sum = |of: &dyn Fn(&Tally) -> u32| tallies.iter().map(of).sum::<u32>();
    let seconds: f64 = tallies.iter().map(|tally| tally.took.as_secs_f64()).sum();
    let mut text = format!(
        "# Readers under fuzzing\n\nWritten by `CLAIMLAB_FUZZ_CASES={cases} CLAIMLAB_FUZZ_REPORT=FILE cargo test --test it \
         a_campaign -- --nocapture`: {} cases in {seconds:.0} s, claimlab {}. Each case is a small sound file or an excerpt of a real one, with \
         up to three changes of its structure and two of its bytes, from a seed of its own. A reader reads it or refuses it; what is read must \
         hold together (offsets, sums, ids, nothing lost on the way back), and no case may end in a panic.\n\n",
        sum(&|tally| tally.cases),
        env!("CARGO_PKG_VERSION"),
    );
    text += "| reader | real files | cases | read | refused | kinds of refusal | without a way out | broken | slowest ms | seconds |\n";
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for tally in tallies {
        let refused: u32 = tally.refused.values().sum();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {refused} | {} | {} | {} | {} | {:.1} |",
            tally.name,
            tally.n_real,
            tally.cases,
            tally.read,
            tally.refused.len(),
            tally.helpless,
            tally.broken.len(),
            tally.slowest.as_millis(),
            tally.took.as_secs_f64()
        );
    }
    text += "\n## The most frequent refusals\n";
    for tally in tallies {
        let _ = write!(text, "\n{}:\n\n", tally.name);
        let mut kinds: Vec<(&String, &u32)> = tally.refused.iter().collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (kind, count) in kinds.into_iter().take(4) {
            let _ = writeln!(text, "- {count}: {kind}");
        }
    }
    let broken: Vec<&String> = tallies.iter().flat_map(|tally| &tally.broken).collect();
    text += "\n## What broke\n\n";
    if broken.is_empty() {
        text += "Nothing.\n";
    }
    for case in broken {
        let _ = writeln!(text, "- {case}");
    }
    text
}
