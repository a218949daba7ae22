//! Acts and datasets from local servers that answer as their publishers do.

use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use claimlab::dataset::{ActSource, Kind};
use claimlab::lab::HubRepo;
use claimlab::prelude::*;

use super::server::{Answer, Server};

fn source(lab: &Lab, address: &str) -> ActSource {
    lab.act_source().at(address, address).with_pause(Duration::ZERO)
}

const ACT: &str = r#"<?xml version="1.0" encoding="UTF-8"?><html><body><div id="art_1"><p class="oj-ti-art">Article 1</p>
    <p>Data shall be kept.</p></div></body></html>"#;

#[test]
fn an_act_is_fetched_once_kept_with_its_provenance_and_read_offline() {
    let server = Server::start(|request, _| {
        let polite = request.header("accept-language") == "eng"
            && request.header("accept").starts_with("application/xhtml+xml")
            && request.header("user-agent").starts_with("claimlab/");
        match &*request.path {
            _ if !polite => Answer::status(406),
            "/resource/celex/32016R0679" => Answer::status(303).with("location", "/files/act.xhtml"),
            "/files/act.xhtml" => Answer::ok(ACT).with("content-type", "application/xhtml+xml").with("etag", "\"7\""),
            _ => Answer::status(404),
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    let source = source(&lab, &server.address);
    let act = source.fetch("32016R0679", "en").unwrap();
    assert_eq!(act.text(), "Article 1\nData shall be kept.");
    let asked = server.requests();
    assert_eq!(asked, 2);
    assert_eq!(source.clone().offline().fetch("32016R0679", "en").unwrap().text(), act.text());
    assert_eq!(server.requests(), asked, "a kept act costs no request");
    let path = source.path("32016R0679", "en").unwrap();
    let provenance = std::fs::read_to_string(path.with_extension("provenance.json")).unwrap();
    let told: serde_json::Value = serde_json::from_str(&provenance).unwrap();
    assert!(told["answered_by"].as_str().unwrap().ends_with("/files/act.xhtml"), "{provenance}");
    assert_eq!((told["etag"].as_str(), told["bytes"].as_u64()), (Some("\"7\""), Some(ACT.len() as u64)));
    assert_eq!((told["act"].as_str(), told["language"].as_str()), (Some("32016R0679"), Some("en")));
    assert!(told["reuse"].as_str().unwrap().contains("attribution"), "{provenance}");
    let recorded = std::fs::read_to_string(lab.folder().join("acts.lock.jsonl")).unwrap();
    let sum = told["sha256"].as_str().unwrap();
    assert!(sum.len() == 64 && recorded.contains(sum), "{sum} not in {recorded}");
    // A changed file is refused.
    std::fs::write(&path, ACT.replace("kept", "lost")).unwrap();
    let error = source.fetch("32016R0679", "en").unwrap_err().to_string();
    assert!(error.contains("first download"), "{error}");
}

#[test]
fn a_busy_publisher_is_asked_again_and_a_wrong_answer_is_not_kept() {
    let server = Server::start(|request, count| match &*request.path {
        "/resource/celex/32016R0001" if count < 2 => Answer::status(429).with("retry-after", "0"),
        "/resource/celex/32016R0001" => Answer::ok(ACT),
        "/resource/celex/32016R0002" => {
            Answer::ok("<html><head><title>Error</title></head><body>JavaScript is required</body></html>")
        }
        "/resource/celex/32016R0003" => Answer::status(503).with("retry-after", "0"),
        _ => Answer::status(404),
    });
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    let source = source(&lab, &server.address);
    assert!(source.fetch("32016R0001", "en").is_ok());
    assert_eq!(server.requests(), 3);
    let error = source.fetch("32016R0002", "en").unwrap_err().to_string();
    assert!(error.contains("error page"), "{error}");
    assert!(!source.path("32016R0002", "en").unwrap().exists());
    let error = source.fetch("32016R0003", "en").unwrap_err();
    assert!(error.is_retryable() && error.to_string().contains("after 4 tries"), "{error}");
    let error = source.fetch("32016R0004", "en").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(source.offline().fetch("32016R0004", "en").unwrap_err().to_string().contains("offline"));
    assert!(lab.fetch_act("GDPR", "en").unwrap_err().to_string().contains("CELEX"));
}

#[test]
fn requests_keep_their_distance_and_wait_as_long_as_they_are_asked_to() {
    let times: Arc<Mutex<Vec<(String, Instant)>>> = Arc::default();
    let seen = times.clone();
    let server = Server::start(move |request, count| {
        seen.lock().unwrap().push((request.path.clone(), Instant::now()));
        if count == 2 { Answer::status(429).with("retry-after", "1") } else { Answer::ok(ACT) }
    });
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    // At most so often; the least distance is asserted with half of it for the way to the server.
    let pause = Duration::from_millis(600);
    let source = lab.act_source().at(&server.address, &server.address).with_pause(pause);
    for number in 1..=3 {
        source.fetch(&format!("32016R000{number}"), "en").unwrap();
    }
    let times = times.lock().unwrap();
    let paths: Vec<&str> = times.iter().map(|(path, _)| path.rsplit('/').next().unwrap()).collect();
    assert_eq!(paths, ["32016R0001", "32016R0002", "32016R0003", "32016R0003"]);
    let gaps: Vec<Duration> = times.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
    assert!(gaps.iter().all(|gap| *gap >= pause / 2), "{gaps:?}");
    assert!(gaps[2] >= Duration::from_secs(1), "the publisher asked for a second: {gaps:?}");
}

#[test]
fn the_real_files_come_through_the_client() {
    let test = "the_real_files_come_through_the_client";
    let (Some(gdpr), Some(loi)) = (
        super::shared("data/gdpr/gdpr_32016R0679_oj_fr.xhtml"),
        super::shared("data/code_civil_lu/sample_akn_loi-2018-08-01-a686_dataprotection_fr.xml"),
    ) else {
        return super::skip(test, "the acts are not beside the checkout", true);
    };
    let server = Server::start(move |request, _| match &*request.path {
        "/resource/celex/32016R0679" if request.header("accept-language") == "fra" => {
            Answer::ok(std::fs::read(&gdpr).unwrap())
        }
        "/eli/etat/leg/loi/2018/08/01/a686/jo/fr/xml" => Answer::ok(std::fs::read(&loi).unwrap()),
        _ => Answer::status(404),
    });
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    let source = source(&lab, &server.address);
    let gdpr = source.fetch("32016R0679", "fr").unwrap();
    assert_eq!(gdpr.provisions().len(), 99 + 173);
    let loi = source.fetch("eli/etat/leg/loi/2018/08/01/a686/jo", "fr").unwrap();
    assert_eq!(loi.parts().iter().filter(|part| part.kind == Kind::Article).count(), 77);
}

#[test]
fn claimrag_law_comes_from_a_hub_with_known_sums_checked() {
    let server = Server::start(|request, _| {
        let place = "/datasets/SNTSVV/ClaimRAG-LAW/resolve/5cc53a3aa72a02c7cb515087fb3e2d6acfac5573/";
        let Some(file) = request.path.strip_prefix(place) else { return Answer::status(404) };
        Answer::part(b"[]", request)
            .with("etag", &format!("\"{}\"", file.replace('.', "-")))
            .with("x-repo-commit", "5cc53a3aa72a02c7cb515087fb3e2d6acfac5573")
    });
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path().join("lab")).unwrap();
    let hub = lab.hub().at(&server.address).with_cache(folder.path().join("cache"));
    // The server's file is not the dataset's: the known sum says so before anything is read.
    let error = lab.claimrag_law_at(&hub).unwrap_err().to_string();
    assert!(error.contains("828d9616899cc72a3fae992d91df91350fa33aba876deeb4ae08243d37efaf75"), "{error}");
    assert!(error.contains("GDPR-RAG-LAW.json") && error.contains("help:"), "{error}");
    // A file whose sum is unknown is recorded.
    let repo = HubRepo::dataset("SNTSVV/ClaimRAG-LAW", "5cc53a3aa72a02c7cb515087fb3e2d6acfac5573");
    assert!(hub.file(&repo, "CIVIL-RAG-LAW.json", None).is_ok());
    let lock = std::fs::read_to_string(lab.folder().join("hub.lock.jsonl")).unwrap();
    assert!(lock.contains("CIVIL-RAG-LAW.json"), "{lock}");
    // And checked ever after, with a network and without.
    let path = hub.file(&repo, "CIVIL-RAG-LAW.json", None).unwrap();
    std::fs::write(std::fs::canonicalize(&path).unwrap(), b"[{}]").unwrap();
    for hub in [hub.clone(), hub.offline()] {
        let error = hub.file(&repo, "CIVIL-RAG-LAW.json", None).unwrap_err().to_string();
        assert!(error.contains("recorded at its first download") && error.contains("help:"), "{error}");
    }
}

const COMMIT: &str = "5cc53a3aa72a02c7cb515087fb3e2d6acfac5573";

/// What the next test runs in a process of its own, since the environment of this one serves all tests.
#[test]
#[ignore = "a part of the_hub_is_what_the_environment_says"]
fn a_file_of_the_hub_is_asked_for() {
    let lab = Lab::open().unwrap();
    match lab.hub_file(&HubRepo::dataset("owner/set", COMMIT), "rows.json") {
        Ok(path) => println!("FOUND {}", std::fs::read_to_string(path).unwrap()),
        Err(error) => println!("REFUSED {error}"),
    }
}

#[test]
fn the_hub_is_what_the_environment_says() {
    let server = Server::start(|request, _| match &*request.path {
        _ if request.header("authorization") != "Bearer a-secret" => Answer::status(401),
        path if path == format!("/datasets/owner/set/resolve/{COMMIT}/rows.json") => {
            Answer::part(b"[7]", request).with("etag", "\"abc\"").with("x-repo-commit", COMMIT)
        }
        _ => Answer::status(404),
    });
    let folder = tempfile::tempdir().unwrap();
    let ask = |more: &[(&str, &str)]| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "fetching::a_file_of_the_hub_is_asked_for", "--ignored", "--nocapture"]);
        for name in ["HF_TOKEN", "HF_HOME", "HF_HUB_OFFLINE"] {
            child.env_remove(name);
        }
        child.env("HF_ENDPOINT", &server.address).env("HF_HUB_CACHE", folder.path().join("cache"));
        child.env("CLAIMLAB_HOME", folder.path().join("lab")).envs(more.iter().copied());
        String::from_utf8(child.output().unwrap().stdout).unwrap()
    };
    let without = ask(&[]);
    assert!(without.contains("REFUSED") && without.contains("401") && without.contains("set HF_TOKEN"), "{without}");
    let offline = ask(&[("HF_TOKEN", "a-secret"), ("HF_HUB_OFFLINE", "1")]);
    assert!(offline.contains("REFUSED") && offline.contains("HF_HUB_OFFLINE is set"), "{offline}");
    let found = ask(&[("HF_TOKEN", "a-secret")]);
    assert!(found.contains("FOUND [7]"), "{found}");
    let asked = server.requests();
    assert!(ask(&[("HF_HUB_OFFLINE", "1")]).contains("FOUND [7]"));
    assert_eq!(server.requests(), asked, "what is in the cache costs no request");
    // The token is kept nowhere.
    let mut folders = vec![folder.path().to_owned()];
    while let Some(place) = folders.pop() {
        for entry in std::fs::read_dir(place).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let held = std::fs::read(entry.path()).unwrap();
                assert!(!held.windows(8).any(|window| window == b"a-secret"), "{}", entry.path().display());
            }
        }
    }
}
