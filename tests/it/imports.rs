//! Rooms call only rooms below them, and heavy crates stand in one place each.

use std::path::Path;

/// What a room may import, from the bottom up; `error` and `signal` are open to all.
const ROOMS: &[(&str, &[&str])] = &[
    ("table", &[]),
    ("text", &[]),
    ("lab", &["table", "dataset"]),
    ("dataset", &["table", "lab", "text"]),
    ("model", &["lab", "table"]),
    ("retrieval", &["dataset", "model", "lab", "table", "text"]),
    ("generation", &["retrieval", "model", "lab", "table", "text"]),
    ("claims", &["model", "lab", "table", "text"]),
    ("judging", &["model", "lab", "table", "text"]),
    ("metrics", &["table"]),
    ("analysis", &["table"]),
    // Its frozen files and records are the lab's; it still sees no model.
    ("calibration", &["table", "analysis", "metrics", "lab"]),
    ("figure", &["table", "analysis", "metrics"]),
    (
        "study",
        &[
            "table",
            "text",
            "lab",
            "dataset",
            "model",
            "retrieval",
            "generation",
            "claims",
            "metrics",
            "analysis",
            "figure",
        ],
    ),
    ("cell", &["table"]),
    ("error", &[]),
    ("signal", &["table"]),
];

const CRATES: &[(&str, &[&str])] = &[
    ("tantivy", &["src/retrieval/bm25"]),
    ("candle", &["src/model/local"]),
    ("tokenizers", &["src/model/local", "src/dataset/chunk"]),
    ("plotters", &["src/figure/draw"]),
    ("usvg", &["src/figure/draw"]),
    ("resvg", &["src/figure/draw"]),
    ("svg2pdf", &["src/figure/draw"]),
    ("scraper", &["src/dataset"]),
    ("html5ever", &["src/dataset/act"]),
    ("pulldown_cmark", &["src/dataset/act"]),
    ("hf_hub", &["src/lab/hub"]),
    ("reqwest", &["src/model/remote", "src/retrieval/opensearch", "src/dataset/fetch"]),
    (
        "tokio",
        &["src/model/remote", "src/retrieval/opensearch", "src/dataset/fetch", "src/lab/runtime.rs", "src/lab/hub"],
    ),
];

fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let root = Path::new(env!("CARGO_MANIFEST_DIR"));
            let name = path.strip_prefix(root).unwrap().display().to_string();
            found.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn arrows_point_down_and_heavy_crates_stay_in_their_rooms() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 40);
    for (name, text) in &files {
        let room = name.trim_start_matches("src/").split(['/', '.']).next().unwrap();
        let code: Vec<&str> = text
            .lines()
            .take_while(|line| !line.contains("#[cfg(test)]"))
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect();
        if let Some((_, allowed)) = ROOMS.iter().find(|(known, _)| *known == room) {
            for line in &code {
                let Some(rest) = line.split("crate::").nth(1) else { continue };
                let target = rest.split([':', ';', '{', ',', ' ', '(']).next().unwrap();
                let known = ROOMS.iter().any(|(name, _)| *name == target);
                let open = target == room || target == "error" || target == "signal" || allowed.contains(&target);
                assert!(!known || open, "{name} imports the room {target}: {line}");
            }
        }
        for (heavy, places) in CRATES {
            let uses = code
                .iter()
                .any(|line| line.contains(&format!("{heavy}::")) || line.contains(&format!("{heavy}_core::")));
            assert!(!uses || places.iter().any(|place| name.starts_with(place)), "{name} names {heavy}");
        }
    }
}
