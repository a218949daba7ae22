//! The calls to a small real model that notebooks 05 and 06 replay. `benches/checking_cassette.rs` records them; the test
//! here sees that the tape holds every one of them.

use std::path::PathBuf;

use claimlab::prelude::*;

/// As the tape and the notebooks call it.
pub const NAME: &str = "SmolLM2-135M";

/// The model's file, where `tests/fetch-parts` put it. For the benches that share this file.
#[allow(dead_code)]
pub fn file() -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/claimlab/parts"));
    let parts = std::env::var_os("CLAIMLAB_PARTS").map(PathBuf::from).or_else(home)?;
    Some(parts.join("smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")).filter(|file| file.is_file())
}

/// The tape.
pub fn tape() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/checking/smollm2.jsonl")
}

/// What came of the calls.
#[derive(Debug)]
pub struct Said {
    /// Answers to six questions.
    pub answers: GenerationRun,
    /// Claims of three reference answers.
    pub claims: Claims,
    /// Verdicts on twenty-four labelled claims.
    pub checks: Checks,
}

/// The first rows of either language.
fn first(n: usize, of: impl Fn(&str) -> claimlab::Result<DataFrame>) -> claimlab::Result<DataFrame> {
    Ok(of("en")?.head(Some(n)).vstack(&of("fr")?.head(Some(n)))?)
}

/// Makes all calls, as the notebooks do.
pub fn ask(lab: &Lab, model: &LanguageModel) -> claimlab::Result<Said> {
    let sample = lab.sample()?;
    let all = sample.questions();
    let questions = QaPairs::new(first(3, |code| Ok(all.only("language", code)?.into_frame()))?)?;
    let short = Retriever::bm25(&sample.chunks(&Chunking::tokens(60, 0)?)?)?;
    let found = short.retrieve(&questions, 2)?;
    let template = lab.folder().join("prompt.txt");
    std::fs::write(&template, "Answer briefly from the passages.\n---\nPassages:\n\n{context}\n\nQuestion: {question}")
        .map_err(|error| Error::file(&template, &error))?;
    let answers = Generator::model_with_template(model, &template, 64)?.answer(&questions, &found)?;
    let claims = Extractor::triple_lines(model).reference_claims(&QaPairs::new(questions.head(3))?)?;
    let all = sample.labelled_claims()?;
    let labelled = LabelledClaims::new(first(12, |code| Ok(all.only("language", code)?.into_frame()))?)?;
    let checks = Checker::single(model).check_labelled(&labelled)?;
    Ok(Said { answers, claims, checks })
}

#[test]
fn the_notebooks_tape_holds_every_call_and_what_was_said() {
    if !tape().is_file() {
        let why = "the tape is not there; cargo bench --profile dev --bench checking_cassette records it";
        return crate::skip("the_notebooks_tape_holds_every_call_and_what_was_said", why, false);
    }
    assert!(std::fs::metadata(tape()).unwrap().len() < 500_000);
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    let model = LanguageModel::cassette(NAME, tape()).unwrap();
    let said = ask(&lab, &model).unwrap();
    let frames = [said.answers.frame(), said.claims.frame(), said.checks.frame()];
    assert_eq!((frames[0].height(), frames[2].height()), (6, 24));
    for frame in frames {
        let failures = claimlab::table::texts(frame, "failure").unwrap();
        let unrecorded = failures.iter().flatten().find(|failure| failure.contains("no reply of"));
        assert_eq!(unrecorded, None, "the notebooks ask what the tape does not hold: record it anew");
    }
    let texts = claimlab::table::texts(frames[0], "response").unwrap();
    assert!(texts.iter().flatten().count() > 0, "the model answered something");
}
