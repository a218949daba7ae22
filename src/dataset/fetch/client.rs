//! One polite request after another.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use reqwest::header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, DATE, ETAG, HeaderName, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode};

use super::Answer;
use crate::error::{Error, ErrorKind, Result};
use crate::lab::runtime;

/// No act is larger.
const MOST: u64 = 64 << 20;
/// How often a busy publisher is asked.
const TRIES: u32 = 4;
/// The longest that an answer's wish for patience is followed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks for an address; waits between requests of this process, and after an answer that asks for it.
pub(super) fn get(address: &str, accept: &str, language: &str, pause: Duration) -> Result<Answer> {
    runtime::wait("nothing was fetched yet", async { ask(address, accept, language, pause).await })?
}

async fn ask(address: &str, accept: &str, language: &str, pause: Duration) -> Result<Answer> {
    let unreachable = |error: &reqwest::Error| {
        let cause = std::error::Error::source(error).map_or(String::new(), |cause| format!(": {cause}"));
        Error::new(ErrorKind::Io, format!("{error}{cause}")).help("check the network, then call again")
    };
    let client = Client::builder()
        .user_agent(concat!("claimlab/", env!("CARGO_PKG_VERSION"), " (research; one request at a time)"))
        .connect_timeout(Duration::from_secs(20))
        .read_timeout(Duration::from_secs(60))
        .build()
        .map_err(|error| unreachable(&error))?;
    for attempt in 1..=TRIES {
        tokio::time::sleep(turn(pause)).await;
        let request = client.get(address).header(ACCEPT, accept).header(ACCEPT_LANGUAGE, language);
        let response = request.send().await.map_err(|error| unreachable(&error))?;
        let status = response.status();
        if status == StatusCode::OK {
            return read(response).await;
        }
        // 202 is the Publications Office's word for a document that is being made.
        let is_busy = matches!(status.as_u16(), 202 | 429 | 500 | 502 | 503 | 504);
        if !is_busy || attempt == TRIES {
            return Err(refused(status, is_busy));
        }
        let asked =
            header(&response, RETRY_AFTER).and_then(|seconds| seconds.parse::<u64>().ok()).map(Duration::from_secs);
        tokio::time::sleep(asked.unwrap_or(pause * 2_u32.pow(attempt)).min(PATIENCE)).await;
    }
    Err(refused(StatusCode::SERVICE_UNAVAILABLE, true))
}

/// How long to wait until it is this request's turn.
fn turn(pause: Duration) -> Duration {
    static NEXT: Mutex<Option<Instant>> = Mutex::new(None);
    let now = Instant::now();
    let mut next = NEXT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mine = next.map_or(now, |next| next.max(now));
    *next = Some(mine + pause);
    mine - now
}

fn header(response: &Response, name: HeaderName) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

fn refused(status: StatusCode, is_busy: bool) -> Error {
    let told = format!("the publisher answers {status}");
    match status.as_u16() {
        _ if is_busy => Error::new(ErrorKind::Io, format!("{told}, after {TRIES} tries")).help("call again later"),
        404 | 406 => Error::new(ErrorKind::NotFound, told)
            .help("check the number and the language: not every act exists in every language and as HTML"),
        300 => Error::new(ErrorKind::NotFound, format!("{told}: several documents have this number"))
            .help("take the number of one of them, or save the page from a browser and use Corpus::read"),
        _ => Error::new(ErrorKind::Io, told).help("open the address in a browser; save the page and use Corpus::read"),
    }
}

async fn read(mut response: Response) -> Result<Answer> {
    let mut answer = Answer {
        body: Vec::new(),
        address: response.url().to_string(),
        content_type: header(&response, CONTENT_TYPE),
        etag: header(&response, ETAG),
        date: header(&response, DATE),
    };
    let cut = |error: &reqwest::Error| {
        Error::new(ErrorKind::Io, format!("the answer broke off: {error}")).help("call again; nothing was kept")
    };
    let length = response.content_length();
    while let Some(piece) = response.chunk().await.map_err(|error| cut(&error))? {
        if (answer.body.len() + piece.len()) as u64 > MOST {
            return Err(Error::input(format!("the answer is longer than {MOST} bytes: no act is")));
        }
        answer.body.extend_from_slice(&piece);
    }
    if length.is_some_and(|length| length != answer.body.len() as u64) {
        return Err(
            Error::new(ErrorKind::Io, "the answer is shorter than announced").help("call again; nothing was kept")
        );
    }
    Ok(answer)
}
