//! The Hub's client against a local server that answers as the Hub does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use super::*;

const COMMIT: &str = "5cc53a3aa72a02c7cb515087fb3e2d6acfac5573";

#[derive(Clone, Default)]
struct Seen {
    requests: Arc<AtomicUsize>,
}

async fn answer(State(seen): State<Seen>, request: Request) -> Response {
    seen.requests.fetch_add(1, Ordering::SeqCst);
    let path = request.uri().path().to_owned();
    if path.contains("/gated/") {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if path != format!("/datasets/owner/set/resolve/{COMMIT}/data/rows.json") {
        return StatusCode::NOT_FOUND.into_response();
    }
    let body = b"[{\"query\": \"Who?\"}]";
    let range = request.headers().get("range").and_then(|range| range.to_str().ok()).unwrap_or("bytes=0-");
    let (from, to) = range.trim_start_matches("bytes=").split_once('-').unwrap();
    let (from, to) = (from.parse::<usize>().unwrap(), to.parse::<usize>().unwrap_or(usize::MAX).min(body.len() - 1));
    let mut headers = HeaderMap::new();
    headers.insert("etag", "\"abc123\"".parse().unwrap());
    headers.insert("x-repo-commit", COMMIT.parse().unwrap());
    headers.insert("content-range", format!("bytes {from}-{to}/{}", body.len()).parse().unwrap());
    (StatusCode::PARTIAL_CONTENT, headers, body[from..=to].to_vec()).into_response()
}

/// A server on a free port of this machine, ended with the returned runtime.
fn serve() -> (tokio::runtime::Runtime, String, Seen) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let seen = Seen::default();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let app = Router::new().fallback(answer).with_state(seen.clone());
    runtime.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        axum::serve(listener, app).await.unwrap();
    });
    (runtime, address, seen)
}

#[test]
fn a_file_is_fetched_once_recorded_and_found_again_offline() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path().join("lab")).unwrap();
    let (_server, address, seen) = serve();
    let hub = lab.hub().at(&address).with_cache(folder.path().join("cache"));
    let repo = HubRepo::dataset("owner/set", COMMIT);
    let error = hub.clone().offline().file(&repo, "data/rows.json", None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let path = hub.file(&repo, "data/rows.json", None).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "[{\"query\": \"Who?\"}]");
    let asked = seen.requests.load(Ordering::SeqCst);
    assert_eq!(hub.clone().offline().file(&repo, "data/rows.json", None).unwrap(), path);
    assert_eq!(seen.requests.load(Ordering::SeqCst), asked, "a file in the cache costs no request");
    let lock = std::fs::read_to_string(lab.folder().join("hub.lock.jsonl")).unwrap();
    assert!(lock.contains(&format!("datasets/owner/set@{COMMIT}/data/rows.json")), "{lock}");
    // A changed file is refused, by the recorded sum as by a known one.
    std::fs::write(std::fs::canonicalize(&path).unwrap(), b"[]").unwrap();
    let error = hub.file(&repo, "data/rows.json", None).unwrap_err().to_string();
    assert!(error.contains("first download"), "{error}");
    assert!(hub.file(&repo, "data/rows.json", Some(&"0".repeat(64))).is_err());
}

#[test]
fn refusals_say_what_to_do_and_names_cannot_leave_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path().join("lab")).unwrap();
    let (_server, address, _) = serve();
    let hub = lab.hub().at(&address).with_cache(folder.path().join("cache"));
    let gated = hub.file(&HubRepo::dataset("gated/set", COMMIT), "rows.json", None).unwrap_err().to_string();
    assert!(gated.contains("401") && gated.contains("HF_TOKEN"), "{gated}");
    let absent = hub.file(&HubRepo::model("owner/none", COMMIT), "rows.json", None).unwrap_err();
    assert_eq!(absent.kind(), ErrorKind::NotFound);
    for (id, path) in
        [("../up", "x"), ("owner/set", "../../x"), ("owner/set", "/etc/x"), ("owner/se t", "x"), ("", "x")]
    {
        assert!(hub.file(&HubRepo::dataset(id, COMMIT), path, None).is_err(), "{id} {path}");
    }
}
