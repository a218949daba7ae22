//! Readers under random and broken input: they return or refuse, never panic, and what they return holds together.
//!
//! `CLAIMLAB_FUZZ_CASES` sets the number of cases a reader [64]. `a_campaign` starts from sound and real files, prints a report
//! and, with `CLAIMLAB_FUZZ_REPORT`, writes it to that file; what it finds is left in a folder that it names.

mod mutate;
mod report;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use claimlab::dataset::{RagCheckerFile, read_frame};
use claimlab::prelude::*;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use report::Tally;
use targets::{Seeds, TARGETS, Target};

fn cases() -> u32 {
    std::env::var("CLAIMLAB_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64)
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() }
}

/// Pieces of real markup, JSON and Markdown in any order, and noise between them.
fn soup() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "<div id=\"art_1\">",
        "<div id=\"art_2\">",
        "<div id=\"rct_1\">",
        "<div id=\"001.001\">",
        "<div id='cpt_I'>",
        "</div>",
        "<p class=\"oj-ti-art\">Article 1</p>",
        "<p class=\"oj-sti-art\">",
        "<p class='ti-section-1'>CHAPTER I",
        "<p>",
        "</p>",
        "<table><tbody><tr><td>",
        "(a)",
        "(1)",
        "</td><td>",
        "</td></tr>",
        "</tbody></table>",
        "<tr>",
        "<td>",
        "<br/>",
        "<hr>",
        "<div class=\"norm\">",
        "<span class=\"no-parag\">1. </span>",
        "<div class=\"norm inline-element\">",
        "<div class=\"grid-container grid-list\">",
        "<div class=\"grid-list-column-1\">",
        "<?xml version=\"1.0\"?>",
        "<akomaNtoso>",
        "<article id=\"art_1\">",
        "<num>Art. 1</num>",
        "<paragraph>",
        "<content>",
        "</article>",
        "<meta>",
        "</meta>",
        "<ol>",
        "<li>",
        "</ol>",
        "<embeddedStructure>",
        "</embeddedStructure>",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "<title>",
        "</title>",
        "<style>",
        "</style>",
        "&amp;",
        "&#0;",
        "&#x10FFFF;",
        "&nosuch;",
        "&",
        "<",
        ">",
        "\"",
        "# Titre\n",
        "### Art. 2.\n",
        "<a id=\"art_3\"></a>\n",
        "\n\n",
        "1. ",
        "- ",
        "> ",
        "```\n",
        "---\n",
        "**",
        "\\",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "null",
        "NaN",
        "\"results\"",
        "\"input_data\"",
        "\"query_id\"",
        "\"claims\"",
        "12",
        "\0",
        "\u{feff}",
        "\u{a0}",
        "\u{ad}",
        "é",
        "𝔸",
        "\u{202e}",
        "mot",
        " ",
        "\r\n",
    ]);
    let piece = prop_oneof![4 => pieces.prop_map(str::to_owned), 1 => ".{0,8}"];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Parts lie in the text, inside the parts around them, and slices of the text are where the offsets say.
fn assert_parts(act: &Corpus) {
    let characters: Vec<char> = act.text().chars().collect();
    let mut ids = std::collections::HashSet::new();
    for part in act.parts() {
        assert!(part.start <= part.end && part.end <= characters.len(), "{part:?}");
        assert!(characters[part.start..part.end].iter().copied().eq(act.text_of(part).chars()), "{part:?}");
        assert!(ids.insert(&part.id), "{} twice", part.id);
        if let Some(around) = part.parent.map(|parent| &act.parts()[parent]) {
            assert!(around.start <= part.start && part.end <= around.end, "{part:?} leaves {around:?}");
        }
    }
}

fn chunkings() -> Vec<Chunking> {
    vec![
        Chunking::tokens(7, 3).unwrap(),
        Chunking::sentences(9, 0.3).unwrap(),
        Chunking::context_units(10, 4).unwrap(),
        Chunking::lines(),
        Chunking::paragraphs(),
        Chunking::articles(),
    ]
}

/// Every letter and digit of the text is in a chunk.
fn assert_covered(act: &Corpus, chunking: &Chunking) {
    let characters: Vec<char> = act.text().chars().collect();
    let chunks = chunking.cut(std::slice::from_ref(act)).unwrap();
    let table = chunks.frame();
    let starts = claimlab::table::integers(table, "start").unwrap();
    let ends = claimlab::table::integers(table, "end").unwrap();
    let mut is_covered = vec![false; characters.len()];
    for (start, end) in starts.into_iter().zip(ends) {
        is_covered[start.unwrap() as usize..end.unwrap() as usize].fill(true);
    }
    let is_token = |letter: &char| letter.is_alphanumeric();
    assert!(characters.iter().zip(is_covered).all(|(letter, covered)| covered || !is_token(letter)), "{chunking:?}");
}

fn assert_sound(act: &Corpus) {
    assert_parts(act);
    chunkings().iter().for_each(|chunking| assert_covered(act, chunking));
}

/// Lets a reader read changed files.
fn fuzz(place: u64, target: &'static Target, cases: u32) -> Tally {
    let seeds = Seeds::of(target);
    let mut tally = Tally { name: target.name, n_real: seeds.n_real, cases, ..Tally::default() };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(target.file);
    let parquet = target.file.ends_with(".parquet").then(|| targets::parquet(&path));
    let began = Instant::now();
    for case in 0..cases {
        let mut random = ChaCha8Rng::seed_from_u64((place << 32) | u64::from(case));
        let bytes = match &parquet {
            Some(sound) => mutate::cut(sound, &mut random),
            None => mutate::mutated(&seeds.pick(target, &mut random), target.form, &mut random),
        };
        std::fs::write(&path, &bytes).unwrap();
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.examine)(&path)));
        tally.slowest = tally.slowest.max(start.elapsed());
        match outcome {
            Ok(Ok(())) => tally.read += 1,
            Ok(Err(error)) => {
                let told = error.to_string();
                tally.helpless += u32::from(!told.contains("help:"));
                *tally.refused.entry(report::kind(&told, &path.display().to_string())).or_default() += 1;
            }
            Err(panic) => {
                let words = panic.downcast_ref::<String>().map(String::as_str);
                let told = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words");
                let kept = std::env::temp_dir().join("claimlab-fuzz");
                std::fs::create_dir_all(&kept).unwrap();
                let kept = kept.join(format!("{place}-{case}-{}", target.file));
                std::fs::write(&kept, &bytes).unwrap();
                let first: String = told.chars().take(300).collect();
                tally.broken.push(format!("{}, case {case}, kept as {}: {first}", target.name, kept.display()));
            }
        }
    }
    tally.took = began.elapsed();
    tally
}

#[test]
fn a_campaign_over_changed_files_finds_nothing_that_breaks_a_reader() {
    let cases = cases();
    let tallies: Vec<Tally> =
        TARGETS.iter().enumerate().map(|(place, target)| fuzz(place as u64, target, cases)).collect();
    let written = report::write(&tallies, cases);
    println!("{written}");
    if let Some(path) = std::env::var_os("CLAIMLAB_FUZZ_REPORT") {
        std::fs::write(path, &written).unwrap();
    }
    let broken: Vec<&String> = tallies.iter().flat_map(|tally| &tally.broken).collect();
    assert!(broken.is_empty(), "{broken:#?}");
    // Changes are neither so mild that all is read nor so hard that nothing is.
    for tally in &tallies {
        assert!(tally.read > 0, "{} read nothing: {:?}", tally.name, tally.refused);
    }
}

fn bare(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn acts_are_read_or_refused(text in soup()) {
        let readers: [fn(&str, &str, &str) -> Result<Corpus>; 6] = [Corpus::from_html, Corpus::from_akoma_ntoso,
            Corpus::from_articles_json, Corpus::from_plain_html, Corpus::from_markdown, Corpus::from_text];
        for read in readers {
            if let Ok(act) = read("act", "en", &text) {
                assert_sound(&act);
            }
        }
    }

    #[test]
    fn html_inside_an_act_loses_no_character_that_a_browser_shows(text in soup()) {
        // Tables, raw text and foreign structure are moved or hidden by a browser; the rest must agree with its tree.
        prop_assume!(!["<t", "</t", "<script", "<style", "<title", "<!", "<?", "<meta", "<akoma", "\0", "<head", "\u{feff}", "&#0;"]
            .iter().any(|left_out| text.contains(left_out)));
        prop_assume!(!text.contains("</") || !text.contains("<li"));
        let html = format!("<body><div id=art_1><p class=ti-art>Article 1</p>{text}");
        if let Ok(act) = Corpus::from_html("act", "en", &html) {
            let page = scraper::Html::parse_document(&html);
            let body = page.select(&scraper::Selector::parse("body").unwrap()).next().unwrap();
            prop_assert_eq!(bare(act.text()), bare(&body.text().collect::<String>()));
        }
    }

    #[test]
    fn benchmark_files_are_read_or_refused(text in soup(), cut in 0_usize..2000) {
        let folder = tempfile::tempdir().unwrap();
        let whole = format!("{{\"input_data\": [{{\"query_id\": 1, \"query\": \"a\", \"gt_answer\": \"b\", {text}}}]}}");
        let mut end = cut.min(whole.len());
        while !whole.is_char_boundary(end) { end -= 1; }
        for body in [&text, &whole, &whole[..end].to_owned()] {
            std::fs::write(folder.path().join("GDPR-RAG-LAW.json"), body).unwrap();
            let _ = Benchmark::claimrag_law(folder.path());
            if let Ok(file) = RagCheckerFile::from_json("fuzz", body) {
                let _ = (file.problems().unwrap(), file.questions(), file.claims(), file.checks(), file.retrieval());
                let again = RagCheckerFile::from_json("again", &file.to_json()).unwrap();
                prop_assert_eq!(again.results(), file.results());
            }
            for name in ["x.csv", "x.tsv", "x.json", "x.jsonl", "x.parquet", "x.md", "x.html"] {
                let path = folder.path().join(name);
                std::fs::write(&path, body).unwrap();
                let _ = read_frame(&path);
                let _ = Corpus::read("act", "fr", &path);
            }
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["x.csv", "x.json", "x.jsonl", "x.parquet", "x.html", "x.txt"] {
            let path = folder.path().join(name);
            std::fs::write(&path, &bytes).unwrap();
            let _ = read_frame(&path);
            if let Ok(act) = Corpus::read("act", "en", &path) {
                assert_sound(&act);
            }
        }
    }
}
