//! Speed and memory of the readers, each beside a named rival, in one run: `cargo bench --profile dev --bench datasets`.
//!
//! `CLAIMLAB_BENCH_MB` sets the size of the streamed HTML in megabytes [1000], `CLAIMLAB_BENCH_ROWS` the number of
//! questions [1000000]. Everything is written to a temporary folder and removed.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::Write;
use std::time::Instant;

use claimlab::dataset::{ColumnMap, read_frame, stream_html};
use claimlab::polars::prelude::{JsonFormat, JsonReader, SerReader};
use claimlab::prelude::*;

fn main() {
    // `cargo test --benches` asks for nothing.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let number = |name: &str, default: usize| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    println!(
        "claimlab {}, polars {}, {} threads; best of several runs, times in seconds",
        env!("CARGO_PKG_VERSION"),
        claimlab::polars::VERSION,
        std::thread::available_parallelism().map_or(1, usize::from)
    );
    act("en");
    act("fr");
    html(number("CLAIMLAB_BENCH_MB", 1000));
    questions(number("CLAIMLAB_BENCH_ROWS", 1_000_000));
}

/// The fastest of five runs.
fn best(mut work: impl FnMut()) -> f64 {
    (0..5)
        .map(|_| {
            let began = Instant::now();
            work();
            began.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

/// Peak resident memory of this process in megabytes, where the system tells it.
fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

/// The GDPR in a language: parsed and chunked, beside building scraper's tree of it and taking its text.
fn act(language: &str) {
    let root = env!("CARGO_MANIFEST_DIR");
    let path = format!("{root}/../shared/data/gdpr/gdpr_32016R0679_oj_{language}.xhtml");
    let Ok(html) = std::fs::read_to_string(path) else {
        return println!("GDPR, {language}: not beside the checkout, left out");
    };
    let mut n_chunks = 0;
    let ours = best(|| {
        let act = Corpus::from_html("gdpr", language, &html).unwrap();
        n_chunks = Chunking::tokens(600, 120).unwrap().cut(&[act]).unwrap().height();
    });
    let parsing = best(|| drop(Corpus::from_html("gdpr", language, &html).unwrap()));
    let theirs = best(|| {
        let page = scraper::Html::parse_document(&html);
        assert!(page.root_element().text().collect::<String>().len() > 300_000);
    });
    println!("GDPR, {language}, {} kB: parsed and cut into {n_chunks} chunks {ours:.3} (bound 0.3)", html.len() / 1000);
    println!("  parsed {parsing:.3}; scraper 0.25's tree and text {theirs:.3}; ratio {:.2}", theirs / parsing);
}

/// One paragraph of synthetic HTML.
fn paragraph(number: usize) -> String {
    format!(
        "<div class=\"eli-subdivision\" id=\"001.{number:03}\"><p class=\"oj-normal\">{number}.&#160;&#160;The controller shall, \
         without undue delay and where feasible not later than 72 hours after having become aware of it, notify the breach \
         of <span class=\"oj-italic\">personal data</span> to the authority named in <a href=\"#art_{number}\">Article \
         {number}</a>, unless it is unlikely to result in a risk to the rights &amp; freedoms of natural persons.</p></div>\n"
    )
}

/// Streams HTML of some megabytes, beside scraper's tree of a sample of it.
fn html(megabytes: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corpus.html");
    let block: String = (0..1000).map(paragraph).collect();
    let blocks = (megabytes * 1_000_000).div_ceil(block.len());
    {
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
        for _ in 0..blocks {
            file.write_all(block.as_bytes()).unwrap();
        }
    }
    let mut paragraphs = 0_u64;
    let mut letters = 0_u64;
    let began = Instant::now();
    let bytes = stream_html(&mut std::fs::File::open(&path).unwrap(), &mut |line| {
        paragraphs += 1;
        letters += line.len() as u64;
        Ok(())
    })
    .unwrap();
    let seconds = began.elapsed().as_secs_f64();
    let rate = bytes as f64 / 1e6 / seconds;
    let peak = peak_mb().map_or("unknown".to_owned(), |peak| format!("{peak:.0} MB"));
    println!(
        "HTML, {} MB streamed on one core: {seconds:.2}, {rate:.0} MB/s (bound 100), peak memory {peak} (bound 500 MB)",
        bytes / 1_000_000
    );
    println!("  {paragraphs} paragraphs of {letters} bytes of text");
    let sample = block.repeat((32_000_000 / block.len()).max(1));
    let began = Instant::now();
    let page = scraper::Html::parse_document(&sample);
    let length: usize = page.root_element().text().map(str::len).sum();
    let theirs = sample.len() as f64 / 1e6 / began.elapsed().as_secs_f64();
    println!(
        "  scraper 0.25, tree and text of {} MB: {theirs:.0} MB/s ({length} bytes of text); ratio {:.2}",
        sample.len() / 1_000_000,
        rate / theirs
    );
}

/// Questions from JSON lines, beside polars' own reader.
fn questions(rows: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("questions.jsonl");
    {
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
        for row in 0..rows {
            writeln!(
                file,
                "{{\"id\": \"q{row}\", \"prompt\": \"What must the controller do in case {row}, and until when?\", \"gold\": \
                 \"It must notify the authority within {} hours, and say what happened.\", \"language\": \"en\", \
                 \"persona\": \"citizen\"}}",
                row % 96
            )
            .unwrap();
        }
    }
    let map =
        ColumnMap::new().column("question_id", "id").column("question", "prompt").column("reference_answer", "gold");
    let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        let began = Instant::now();
        let read = map.questions(&read_frame(&path).unwrap()).unwrap();
        ours = ours.min(began.elapsed().as_secs_f64());
        assert_eq!(read.height(), rows);
        let began = Instant::now();
        let file = std::fs::File::open(&path).unwrap();
        let frame = JsonReader::new(file).with_json_format(JsonFormat::JsonLines).finish().unwrap();
        theirs = theirs.min(began.elapsed().as_secs_f64());
        assert_eq!(frame.height(), rows);
    }
    let megabytes = std::fs::metadata(&path).unwrap().len() as f64 / 1e6;
    println!(
        "JSON lines, {rows} questions, {megabytes:.0} MB: {ours:.2} ({:.0} MB/s); polars {}'s reader alone {theirs:.2} ({:.0} \
         MB/s); speed ratio {:.2} (bound 0.5)",
        megabytes / ours,
        claimlab::polars::VERSION,
        megabytes / theirs,
        theirs / ours
    );
    println!("  ours: bytes to a validated table of questions with unique ids, every value checked to be kept");
}
