//! The Hub's client against a local server that answers as the Hub does.

#[path = "../../tests/it/server.rs"]
#[allow(dead_code, unreachable_pub)]
mod server;

use super::*;
use server::{Answer, Server};

const COMMIT: &str = "5cc53a3aa72a02c7cb515087fb3e2d6acfac5573";

fn hub_server() -> Server {
    Server::start(|request, _| {
        if request.path.contains("/gated/") {
            return Answer::status(401);
        }
        if request.path != format!("/datasets/owner/set/resolve/{COMMIT}/data/rows.json") {
            return Answer::status(404);
        }
        Answer::part(b"[{\"query\": \"Who?\"}]", request).with("etag", "\"abc123\"").with("x-repo-commit", COMMIT)
    })
}

#[test]
fn a_file_is_fetched_once_recorded_and_found_again_offline() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path().join("lab")).unwrap();
    let server = hub_server();
    let hub = lab.hub().at(&server.address).with_cache(folder.path().join("cache"));
    let repo = HubRepo::dataset("owner/set", COMMIT);
    let error = hub.clone().offline().file(&repo, "data/rows.json", None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let path = hub.file(&repo, "data/rows.json", None).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "[{\"query\": \"Who?\"}]");
    let asked = server.requests();
    assert_eq!(hub.clone().offline().file(&repo, "data/rows.json", None).unwrap(), path);
    assert_eq!(server.requests(), asked, "a file in the cache costs no request");
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
    let server = hub_server();
    let hub = lab.hub().at(&server.address).with_cache(folder.path().join("cache"));
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
