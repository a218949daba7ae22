//! A small HTTP server on a free port of this machine, for clients under test. It answers GET only and closes each
//! connection. Written by hand so that tests need no library that changes the features of those they share with the build.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What was asked: the path, and headers with names in lower case.
#[derive(Debug)]
pub struct Request {
    pub path: String,
    headers: Vec<(String, String)>,
}

impl Request {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// What is answered.
#[derive(Debug, Default)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, body: body.into(), ..Self::default() }
    }

    pub fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The part of a body that a range header asks for, as the Hub answers.
    pub fn part(body: &[u8], request: &Request) -> Self {
        let range = request.header("range");
        let (from, to) = range.trim_start_matches("bytes=").split_once('-').unwrap_or(("0", ""));
        let from = from.parse::<usize>().unwrap_or(0);
        let to = to.parse::<usize>().unwrap_or(usize::MAX).min(body.len() - 1);
        Self { status: 206, body: body[from..=to].to_vec(), ..Self::default() }
            .with("content-range", &format!("bytes {from}-{to}/{}", body.len()))
    }
}

/// The server; it ends when this is dropped.
#[derive(Debug)]
pub struct Server {
    pub address: String,
    requests: Arc<AtomicUsize>,
    ended: Arc<AtomicBool>,
}

impl Server {
    pub fn start(answer: impl Fn(&Request, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (requests, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, stop, answer) = (requests.clone(), ended.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (count, answer) = (count.clone(), answer.clone());
                std::thread::spawn(move || serve(stream.unwrap(), &count, &*answer));
            }
        });
        Self { address, requests, ended }
    }

    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address.trim_start_matches("http://"));
    }
}

fn serve(stream: TcpStream, count: &AtomicUsize, answer: &dyn Fn(&Request, usize) -> Answer) {
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let headers = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned())))
        .collect();
    let given = answer(&Request { path, headers }, count.fetch_add(1, Ordering::SeqCst));
    let mut head =
        format!("HTTP/1.1 {} Test\r\ncontent-length: {}\r\nconnection: close\r\n", given.status, given.body.len());
    for (name, value) in &given.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let _ = (&stream).write_all(&[head.as_bytes(), b"\r\n", &given.body].concat());
}
