//! Acts and datasets from local servers that answer as their publishers do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use claimlab::dataset::{ActSource, Kind};
use claimlab::lab::HubRepo;
use claimlab::prelude::*;

type Answers = Arc<dyn Fn(&str, &HeaderMap, usize) -> Response + Send + Sync>;

/// A server on a free port of this machine, ended with the returned runtime.
fn serve(answers: Answers) -> (tokio::runtime::Runtime, String, Arc<AtomicUsize>) {
    async fn answer(State((answers, seen)): State<(Answers, Arc<AtomicUsize>)>, request: Request) -> Response {
        let count = seen.fetch_add(1, Ordering::SeqCst);
        answers(request.uri().path(), request.headers(), count)
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let seen = Arc::new(AtomicUsize::new(0));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let app = Router::new().fallback(answer).with_state((answers, seen.clone()));
    runtime.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        axum::serve(listener, app).await.unwrap();
    });
    (runtime, address, seen)
}

fn source(lab: &Lab, address: &str) -> ActSource {
    lab.act_source().at(address, address).with_pause(Duration::ZERO)
}

const ACT: &str = r#"<?xml version="1.0" encoding="UTF-8"?><html><body><div id="art_1"><p class="oj-ti-art">Article 1</p>
    <p>Data shall be kept.</p></div></body></html>"#;

#[test]
fn an_act_is_fetched_once_kept_with_its_provenance_and_read_offline() {
    let (_server, address, seen) = serve(Arc::new(|path, headers, _| {
        assert_eq!(headers["accept-language"], "eng");
        assert!(headers["accept"].to_str().unwrap().starts_with("application/xhtml+xml"));
        assert!(headers["user-agent"].to_str().unwrap().starts_with("claimlab/"));
        match path {
            "/resource/celex/32016R0679" => Redirect::to("/files/act.xhtml").into_response(),
            "/files/act.xhtml" => ([("content-type", "application/xhtml+xml"), ("etag", "\"7\"")], ACT).into_response(),
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    }));
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    let source = source(&lab, &address);
    let act = source.fetch("32016R0679", "en").unwrap();
    assert_eq!(act.text(), "Article 1\nData shall be kept.");
    let asked = seen.load(Ordering::SeqCst);
    assert_eq!(asked, 2);
    assert_eq!(source.clone().offline().fetch("32016R0679", "en").unwrap().text(), act.text());
    assert_eq!(seen.load(Ordering::SeqCst), asked, "a kept act costs no request");
    let path = source.path("32016R0679", "en").unwrap();
    let provenance = std::fs::read_to_string(path.with_extension("provenance.json")).unwrap();
    let told: serde_json::Value = serde_json::from_str(&provenance).unwrap();
    assert!(told["answered_by"].as_str().unwrap().ends_with("/files/act.xhtml"), "{provenance}");
    assert_eq!((told["etag"].as_str(), told["bytes"].as_u64()), (Some("\"7\""), Some(ACT.len() as u64)));
    // A changed file is refused.
    std::fs::write(&path, ACT.replace("kept", "lost")).unwrap();
    let error = source.fetch("32016R0679", "en").unwrap_err().to_string();
    assert!(error.contains("first download"), "{error}");
}

#[test]
fn a_busy_publisher_is_asked_again_and_a_wrong_answer_is_not_kept() {
    let (_server, address, seen) = serve(Arc::new(|path, _, count| match path {
        "/resource/celex/32016R0001" if count < 2 => {
            (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "0")]).into_response()
        }
        "/resource/celex/32016R0001" => ACT.into_response(),
        "/resource/celex/32016R0002" => {
            "<html><head><title>Error</title></head><body>JavaScript is required</body></html>".into_response()
        }
        "/resource/celex/32016R0003" => (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "0")]).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }));
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    let source = source(&lab, &address);
    assert!(source.fetch("32016R0001", "en").is_ok());
    assert_eq!(seen.load(Ordering::SeqCst), 3);
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
fn the_real_files_come_through_the_client() {
    let test = "the_real_files_come_through_the_client";
    let (Some(gdpr), Some(loi)) = (
        super::shared("data/gdpr/gdpr_32016R0679_oj_fr.xhtml"),
        super::shared("data/code_civil_lu/sample_akn_loi-2018-08-01-a686_dataprotection_fr.xml"),
    ) else {
        return super::skip(test, "the acts are not beside the checkout", true);
    };
    let (_server, address, _) = serve(Arc::new(move |path, headers, _| match path {
        "/resource/celex/32016R0679" if headers["accept-language"] == "fra" => {
            std::fs::read(&gdpr).unwrap().into_response()
        }
        "/eli/etat/leg/loi/2018/08/01/a686/jo/fr/xml" => std::fs::read(&loi).unwrap().into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }));
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    let source = source(&lab, &address);
    let gdpr = source.fetch("32016R0679", "fr").unwrap();
    assert_eq!(gdpr.provisions().len(), 99 + 173);
    let loi = source.fetch("eli/etat/leg/loi/2018/08/01/a686/jo", "fr").unwrap();
    assert_eq!(loi.parts().iter().filter(|part| part.kind == Kind::Article).count(), 74);
}

#[test]
fn claimrag_law_comes_from_a_hub_with_known_sums_checked() {
    let (_server, address, _) = serve(Arc::new(|path, headers, _| {
        if !path.starts_with("/datasets/SNTSVV/ClaimRAG-LAW/resolve/5cc53a3aa72a02c7cb515087fb3e2d6acfac5573/") {
            return StatusCode::NOT_FOUND.into_response();
        }
        let body = b"[]".to_vec();
        let mut answer = HeaderMap::new();
        let etag = path.rsplit('/').next().unwrap().replace('.', "-");
        answer.insert("etag", format!("\"{etag}\"").parse().unwrap());
        answer.insert("x-repo-commit", "5cc53a3aa72a02c7cb515087fb3e2d6acfac5573".parse().unwrap());
        let range = headers.get("range").and_then(|range| range.to_str().ok()).unwrap_or("bytes=0-1").to_owned();
        let to = if range == "bytes=0-0" { 0 } else { 1 };
        answer.insert("content-range", format!("bytes 0-{to}/2").parse().unwrap());
        (StatusCode::PARTIAL_CONTENT, answer, body[..=to].to_vec()).into_response()
    }));
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path().join("lab")).unwrap();
    let hub = lab.hub().at(&address).with_cache(folder.path().join("cache"));
    // The server's file is not the dataset's: the known sum says so before anything is read.
    let error = lab.claimrag_law_at(&hub).unwrap_err().to_string();
    assert!(error.contains("828d9616899cc72a3fae992d91df91350fa33aba876deeb4ae08243d37efaf75"), "{error}");
    assert!(error.contains("GDPR-RAG-LAW.json") && error.contains("help:"), "{error}");
    // A file whose sum is unknown is recorded.
    let repo = HubRepo::dataset("SNTSVV/ClaimRAG-LAW", "5cc53a3aa72a02c7cb515087fb3e2d6acfac5573");
    assert!(hub.file(&repo, "CIVIL-RAG-LAW.json", None).is_ok());
    let lock = std::fs::read_to_string(lab.folder().join("hub.lock.jsonl")).unwrap();
    assert!(lock.contains("CIVIL-RAG-LAW.json"), "{lock}");
}
