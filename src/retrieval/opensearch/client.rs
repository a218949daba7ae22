//! HTTP to a cluster: authentication, patience with an overloaded cluster, and its errors in plain words.

use std::time::Duration;

use reqwest::{Method, StatusCode, Url};
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::lab::runtime::wait;

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(120);

/// How often and how long a request is tried again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    pub tries: u32,
    pub first: Duration,
    pub longest: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { tries: 8, first: Duration::from_millis(500), longest: Duration::from_secs(30) }
    }
}

impl Patience {
    /// The pause before try number `tried + 1`; the server's own wish counts, up to the longest pause.
    pub(super) fn pause(&self, tried: u32, wished: Option<Duration>) -> Duration {
        let doubled = self.first.saturating_mul(1_u32.checked_shl(tried.saturating_sub(1)).unwrap_or(u32::MAX));
        wished.unwrap_or(doubled).min(self.longest)
    }
}

/// What the cluster said.
#[derive(Debug)]
pub(super) enum Answer {
    Fine(Value),
    /// 429: too much at once. Not tried again here, since the sender can send less.
    Busy(Option<Duration>),
    /// 413: this request is too large.
    TooLarge,
}

pub(super) struct Client {
    http: reqwest::Client,
    base: Url,
    login: Option<(String, String)>,
    pub(super) patience: Patience,
}

// Written by hand, so that no password is ever printed.
impl std::fmt::Debug for Client {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Client").field("address", &self.address()).finish_non_exhaustive()
    }
}

impl Client {
    /// A client for this address; `variable` looks up environment variables.
    pub(super) fn new(url: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let wrong = |why: String| Error::input(why).help("give the cluster's address, as in https://localhost:9200");
        let mut base = Url::parse(url).map_err(|error| wrong(format!("{url:?} is no address: {error}")))?;
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
            return Err(wrong(format!("{url:?} is no http or https address")));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(Error::input("the cluster's address holds a user name or password, which tables would show")
                .help("set OPENSEARCH_USERNAME and OPENSEARCH_PASSWORD instead"));
        }
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        let login = variable("OPENSEARCH_USERNAME").zip(variable("OPENSEARCH_PASSWORD"));
        let host = base.host_str().unwrap_or_default();
        let here = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        if login.is_some() && base.scheme() == "http" && !here {
            return Err(Error::input(format!("the password for {host} would travel unencrypted"))
                .help("use https, or unset OPENSEARCH_PASSWORD"));
        }
        let mut http = reqwest::Client::builder().timeout(TIMEOUT).connect_timeout(Duration::from_secs(10));
        if let Some(path) = variable("OPENSEARCH_CA") {
            let path = std::path::PathBuf::from(path);
            let pem =
                std::fs::read(&path).map_err(|error| Error::file(&path, &error).context("reading OPENSEARCH_CA"))?;
            let authority = reqwest::Certificate::from_pem(&pem)
                .map_err(|error| Error::input(format!("{} is no certificate in PEM form: {error}", path.display())))?;
            http = http.add_root_certificate(authority);
        }
        let http = http.build().map_err(|error| Error::new(ErrorKind::Internal, format!("no HTTP client: {error}")))?;
        Ok(Self { http, base, login, patience: Patience::default() })
    }

    /// The address, which never holds a password.
    pub(super) fn address(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    pub(super) fn get(&self, path: &str) -> Result<Value> {
        self.settled(Method::GET, path, None)
    }

    /// The same, or nothing where there is nothing.
    pub(super) fn find(&self, path: &str) -> Result<Option<Value>> {
        match self.get(path) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn put(&self, path: &str, body: &Value) -> Result<Value> {
        self.settled(Method::PUT, path, Some((JSON, body.to_string())))
    }

    pub(super) fn post(&self, path: &str) -> Result<Value> {
        self.settled(Method::POST, path, None)
    }

    pub(super) fn delete(&self, path: &str) -> Result<Value> {
        self.settled(Method::DELETE, path, None)
    }

    /// Sends lines of JSON once, in the cluster's form for bulk requests.
    pub(super) fn lines(&self, path: &str, body: String, kept: &str) -> Result<Answer> {
        self.patient(Method::POST, path, Some((LINES, body)), kept)
    }

    /// Sends until the cluster answers; being busy is waited for.
    fn settled(&self, method: Method, path: &str, body: Option<(&'static str, String)>) -> Result<Value> {
        let mut tried = 0;
        loop {
            tried += 1;
            match self.patient(method.clone(), path, body.clone(), "nothing was changed by this request")? {
                Answer::Fine(value) => return Ok(value),
                Answer::TooLarge => return Err(self.failed(path, "the request is too large (413)".to_owned())),
                Answer::Busy(_) if tried >= self.patience.tries => return Err(self.busy()),
                Answer::Busy(wished) => pause(self.patience.pause(tried, wished), "nothing was changed")?,
            }
        }
    }

    pub(super) fn busy(&self) -> Error {
        Error::new(ErrorKind::Io, format!("{} is still busy (429) after {} tries", self.address(), self.patience.tries))
            .help("try again later; what the cluster acknowledged is not sent again")
    }

    /// Tries again what may pass: lost connections and gateways without a server.
    fn patient(&self, method: Method, path: &str, body: Option<(&'static str, String)>, kept: &str) -> Result<Answer> {
        let mut tried = 0;
        loop {
            tried += 1;
            let sent = wait(kept, self.once(method.clone(), path, body.clone())).flatten();
            match sent {
                Err(error) if error.kind() == ErrorKind::Io && tried < self.patience.tries => {
                    pause(self.patience.pause(tried, None), kept)?;
                }
                other => return other,
            }
        }
    }

    async fn once(&self, method: Method, path: &str, body: Option<(&'static str, String)>) -> Result<Answer> {
        let url = self.base.join(path).map_err(|error| self.failed(path, error.to_string()))?;
        let mut request = self.http.request(method, url);
        if let Some((user, password)) = &self.login {
            request = request.basic_auth(user, Some(password));
        }
        if let Some((kind, body)) = body {
            request = request.header("content-type", kind).body(body);
        }
        let lost = |error: reqwest::Error| {
            // Addresses stay out; the innermost cause says what is really wrong.
            let error = error.without_url();
            let mut told = error.to_string();
            let mut cause = std::error::Error::source(&error);
            while let Some(inner) = cause {
                told = inner.to_string();
                cause = inner.source();
            }
            Error::new(ErrorKind::Io, format!("{} cannot be reached: {told}", self.address())).help(
                "is the cluster running, and is the address right? For a certificate of your own set OPENSEARCH_CA",
            )
        };
        let response = request.send().await.map_err(lost)?;
        let status = response.status();
        let wished = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.parse().ok())
            .map(Duration::from_secs);
        let text = response.text().await.map_err(lost)?;
        match status {
            StatusCode::TOO_MANY_REQUESTS => return Ok(Answer::Busy(wished)),
            StatusCode::PAYLOAD_TOO_LARGE => return Ok(Answer::TooLarge),
            _ => {}
        }
        let value = serde_json::from_str::<Value>(&text);
        // A cluster that is still red after the time it was given says so with 408.
        if status.is_success() || status == StatusCode::REQUEST_TIMEOUT && path.starts_with("_cluster/health") {
            let broken = |_| self.failed(path, format!("the answer is not JSON: {:?}", cut(&text)));
            return value.map(Answer::Fine).map_err(broken);
        }
        let reason = value.ok().as_ref().and_then(reason).unwrap_or_else(|| cut(&text));
        Err(self.refused(path, status, &reason))
    }

    fn failed(&self, path: &str, what: String) -> Error {
        Error::new(ErrorKind::Internal, format!("{}/{}: {what}", self.address(), path_only(path)))
    }

    fn refused(&self, path: &str, status: StatusCode, reason: &str) -> Error {
        let told = format!("{}/{} answers {}: {reason}", self.address(), path_only(path), status.as_u16());
        match status.as_u16() {
            401 | 403 => Error::input(told).help(
                "set OPENSEARCH_USERNAME and OPENSEARCH_PASSWORD to a user who may create and read these indexes",
            ),
            404 => Error::new(ErrorKind::NotFound, told),
            502..=504 => Error::new(ErrorKind::Io, told).help("the cluster may be starting; look at its log"),
            400 if reason.contains("too_many_clauses") || reason.contains("maxClauseCount") => Error::input(told)
                .help("the question has more distinct words than the cluster's indices.query.bool.max_clause_count"),
            _ => Error::input(told),
        }
    }
}

const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";

fn path_only(path: &str) -> &str {
    path.split('?').next().unwrap_or_default()
}

fn cut(text: &str) -> String {
    text.chars().take(300).collect()
}

/// Type and reason of an error as OpenSearch words it.
pub(super) fn reason(value: &Value) -> Option<String> {
    let error = value.get("error").unwrap_or(value);
    if let Some(text) = error.as_str() {
        return Some(text.to_owned());
    }
    let cause = error.pointer("/root_cause/0").unwrap_or(error);
    let kind = cause.get("type")?.as_str()?;
    let reason = cause.get("reason").and_then(Value::as_str).unwrap_or_default();
    Some(format!("{kind}: {}", cut(reason)))
}

/// Waits, hearing an interrupt.
pub(super) fn pause(length: Duration, kept: &str) -> Result<()> {
    // The timer belongs to the runtime that waits, so it is made there.
    wait(kept, async { tokio::time::sleep(length).await })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(name: &str) -> Option<String> {
        match name {
            "OPENSEARCH_USERNAME" => Some("reader".to_owned()),
            "OPENSEARCH_PASSWORD" => Some("s3cret".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn a_password_is_never_shown_and_never_sent_in_the_clear() {
        let client = Client::new("https://search.example.org:9200/prefix", &login).unwrap();
        assert!(!format!("{client:?}").contains("s3cret"));
        assert_eq!(client.address(), "https://search.example.org:9200/prefix");
        let error = Client::new("http://search.example.org:9200", &login).unwrap_err().to_string();
        assert!(error.contains("unencrypted") && !error.contains("s3cret"), "{error}");
        let error = Client::new("https://me:s3cret@search.example.org", &|_| None).unwrap_err().to_string();
        assert!(error.contains("OPENSEARCH_PASSWORD") && !error.contains("s3cret"), "{error}");
        assert!(Client::new("http://localhost:9200", &login).is_ok());
    }

    #[test]
    fn addresses_and_certificates_are_checked_at_once() {
        for url in ["", "localhost", "ftp://localhost", "file:///etc"] {
            assert!(Client::new(url, &|_| None).unwrap_err().to_string().contains("help:"), "{url}");
        }
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("ca.pem").display().to_string();
        let with_authority = |name: &str| (name == "OPENSEARCH_CA").then(|| absent.clone());
        assert!(Client::new("https://localhost", &with_authority).unwrap_err().to_string().contains("OPENSEARCH_CA"));
    }

    #[test]
    fn pauses_double_up_to_a_limit_and_heed_the_server() {
        let patience = Patience::default();
        let seconds: Vec<f64> = (1..=8).map(|tried| patience.pause(tried, None).as_secs_f64()).collect();
        assert_eq!(seconds, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]);
        assert_eq!(patience.pause(1, Some(Duration::from_secs(3))), Duration::from_secs(3));
        assert_eq!(patience.pause(u32::MAX, Some(Duration::from_secs(999))), Duration::from_secs(30));
    }

    #[test]
    fn reasons_are_read_in_opensearchs_shapes() {
        let nested =
            serde_json::json!({"error": {"root_cause": [{"type": "mapper_parsing_exception", "reason": "r"}]}});
        assert_eq!(reason(&nested).as_deref(), Some("mapper_parsing_exception: r"));
        assert_eq!(reason(&serde_json::json!({"error": "Unauthorized"})).as_deref(), Some("Unauthorized"));
        assert_eq!(reason(&serde_json::json!({"type": "t", "reason": "r"})).as_deref(), Some("t: r"));
    }
}
