//! The child process that runs cells, and the filter between its output and evcxr.
//!
//! evcxr reads the child's standard output line by line, keeps rich content until the cell ends, and tells nobody
//! that a cell panicked. The filter sits in the child itself: it turns rich content into display events at once,
//! reports panics and failed `?`, passes on text that has no newline yet, repairs bytes that are not UTF-8, and
//! carries standard error over the same pipe, so that the two keep their order and nothing arrives after the end.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use claimlab_protocol::{Bundle, Event, Failure};

use crate::cells::{Cells, RECORD_ENV};

/// Set for the child by the session.
pub const CHILD_ENV: &str = "CLAIMLAB_CHILD";

const COMPLETE: &str = "EVCXR_EXECUTION_COMPLETE";
const PANIC: &str = "EVCXR_PANIC_NOTIFICATION";
const ERROR: &str = "EVCXR_ERROR_OCCURRED";
const BEGIN: &str = "EVCXR_BEGIN_CONTENT ";
const END: &str = "EVCXR_END_CONTENT";
/// In the session's folder once evcxr has started.
pub const STARTED: &str = "started";
/// How long text without a newline may wait, in milliseconds.
const PATIENCE_MS: i32 = 50;
/// Bytes without a newline that are kept back at most, unless they are meant for a machine.
const LONGEST: usize = 256 * 1024;
/// How often the child looks whether its kernel still lives, in milliseconds.
const LOOK_MS: i32 = 1000;

/// Whether this process was started as a child that runs cells.
pub fn is_asked() -> bool {
    std::env::var_os(CHILD_ENV).is_some()
}

/// Puts the filter in place and hands over to evcxr, which does not return.
pub fn main() -> ExitCode {
    if let Err(error) = load_library() {
        eprintln!("claimlab: {error:#}");
        return ExitCode::FAILURE;
    }
    match start_filter() {
        Ok(()) => {
            evcxr::runtime_hook();
            eprintln!("claimlab: the child was started without evcxr's mark");
        }
        Err(error) => eprintln!("claimlab: cannot redirect the output of cells: {error}"),
    }
    ExitCode::FAILURE
}

/// Loads what cells are compiled against, so that their names resolve to it. It stays until the process ends.
fn load_library() -> anyhow::Result<()> {
    let record = std::env::var_os(RECORD_ENV).map(PathBuf::from).context("the session did not name its library")?;
    Cells::read(&record)?.load().map(|_| ())
}

fn start_filter() -> std::io::Result<()> {
    // SAFETY: file descriptors 1 and 2 are open, since evcxr makes them pipes; the duplicates are ours alone.
    let (real, out, err) = unsafe {
        let real = checked(libc::fcntl(1, libc::F_DUPFD_CLOEXEC, 3))?;
        (File::from_raw_fd(real), replace(1)?, replace(2)?)
    };
    std::thread::Builder::new().name("output".into()).spawn(move || pump(real, out, err))?;
    Ok(())
}

fn checked(result: RawFd) -> std::io::Result<RawFd> {
    if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(result) }
}

/// Replaces `target` by the writing end of a new pipe and returns the reading end.
///
/// # Safety
/// `target` must be a standard stream that nothing has locked yet.
unsafe fn replace(target: RawFd) -> std::io::Result<File> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors; both are checked before use.
    unsafe {
        checked(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC))?;
        checked(libc::dup2(ends[1], target))?;
        libc::close(ends[1]);
        Ok(File::from_raw_fd(ends[0]))
    }
}

/// While evcxr starts it evaluates an expression and reads nothing but its own marks: an event would never be taken
/// from its queue, and evcxr would wait for that for ever.
fn has_started() -> bool {
    std::env::var_os("EVCXR_TMPDIR").is_some_and(|folder| Path::new(&folder).join(STARTED).exists())
}

fn pump(mut real: File, mut out: File, mut err: File) {
    let mut filter = Filter { passive: !has_started(), ..Filter::default() };
    let mut errors = Vec::new();
    let mut buffer = vec![0_u8; 64 * 1024];
    let parent = std::os::unix::process::parent_id();
    let mut watched = err.as_raw_fd();
    loop {
        if std::os::unix::process::parent_id() != parent {
            // The kernel was killed; a cell that still runs has nobody to report to.
            std::process::exit(1);
        }
        let waiting = if filter.is_idle() && errors.is_empty() { LOOK_MS } else { PATIENCE_MS };
        let ready = wait(&[out.as_raw_fd(), watched], waiting);
        if ready[1] && !read_errors(&mut err, &mut buffer, &mut errors) {
            // The cell closed it. A closed pipe is always ready, which poll passes over where it gets no descriptor.
            watched = -1;
        }
        let mut lines = Vec::new();
        if ready[0] {
            match out.read(&mut buffer) {
                Ok(0) | Err(_) => {
                    // Nothing that this process does from here on could be seen, its end included.
                    let text = "the cell closed its standard output, by which results reach the notebook\n".to_owned();
                    let _ = writeln!(real, "{}", Event::Stream { stderr: true, text }.to_line());
                    std::process::exit(1);
                }
                Ok(n) => lines = filter.feed(&buffer[..n]),
            }
            if lines.iter().any(|line| line == COMPLETE) {
                // Everything that the cell wrote on standard error is in the pipe by now.
                while wait(&[watched], 0)[0] && read_errors(&mut err, &mut buffer, &mut errors) {}
            }
        } else if !ready[1] {
            lines = filter.flush();
        }
        let mut text = String::new();
        if !errors.is_empty() {
            let written = String::from_utf8_lossy(&errors).into_owned();
            text.push_str(&Event::Stream { stderr: true, text: written }.to_line());
            text.push('\n');
            errors.clear();
        }
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
        if real.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

/// Reads what there is; false at the end.
fn read_errors(err: &mut File, buffer: &mut [u8], errors: &mut Vec<u8>) -> bool {
    match err.read(buffer) {
        Ok(n) if n > 0 => {
            errors.extend_from_slice(&buffer[..n]);
            true
        }
        _ => false,
    }
}

fn wait(descriptors: &[RawFd], milliseconds: i32) -> Vec<bool> {
    let mut polled: Vec<libc::pollfd> =
        descriptors.iter().map(|&fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
    let count = libc::nfds_t::try_from(polled.len()).unwrap_or(0);
    // SAFETY: `polled` is a valid array of `count` entries for the time of the call.
    unsafe { libc::poll(polled.as_mut_ptr(), count, milliseconds) };
    polled.iter().map(|one| one.revents != 0).collect()
}

/// Turns the child's bytes into the lines that evcxr and the kernel understand.
#[derive(Debug, Default)]
struct Filter {
    /// Until the first evaluation is over, lines pass as they are.
    passive: bool,
    partial: Vec<u8>,
    content: Option<(String, Vec<String>)>,
    bundle: Bundle,
}

impl Filter {
    fn is_idle(&self) -> bool {
        self.partial.is_empty() && self.bundle.is_empty()
    }

    fn feed(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            self.partial.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            let line = String::from_utf8_lossy(&std::mem::take(&mut self.partial)).into_owned();
            self.line(&line, &mut lines);
        }
        self.partial.extend_from_slice(rest);
        if self.partial.len() > LONGEST {
            // One of evcxr's marks may be beginning at the end.
            let tail = self.partial.split_off(self.partial.len() - 64);
            lines.extend(self.flush());
            self.partial.extend(tail);
        }
        lines
    }

    /// Called when nothing came for a while, or too much without an end: unfinished text is shown as it is.
    fn flush(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        self.close_bundle(false, &mut lines);
        if self.content.is_some() || mark_may_follow(&self.partial) {
            return lines;
        }
        let text = take_text(&mut self.partial);
        if !text.is_empty() {
            lines.push(Event::Stream { stderr: false, text }.to_line());
        }
        lines
    }

    fn line(&mut self, line: &str, lines: &mut Vec<String>) {
        if self.passive {
            self.passive = line != COMPLETE;
            lines.push(line.to_owned());
            return;
        }
        // A cell that ended on text without a newline has evcxr's marks glued to it.
        for mark in [COMPLETE, PANIC, ERROR] {
            if line.len() > mark.len() && line.ends_with(mark) {
                let text = line[..line.len() - mark.len()].to_owned();
                self.close_bundle(false, lines);
                self.content = None;
                lines.push(Event::Stream { stderr: false, text }.to_line());
                return self.line(mark, lines);
            }
        }
        if let Some((kind, text)) = &mut self.content {
            if line == END {
                self.bundle.insert(std::mem::take(kind), text.join("\n"));
                self.content = None;
                return;
            }
            if line != COMPLETE && line != PANIC {
                text.push(line.to_owned());
                return;
            }
            self.content = None;
        }
        if let Some(kind) = line.strip_prefix(BEGIN) {
            if self.bundle.contains_key(kind) {
                self.close_bundle(false, lines);
            }
            self.content = Some((kind.trim().to_owned(), Vec::new()));
            return;
        }
        self.close_bundle(line == COMPLETE, lines);
        match line {
            PANIC => lines.push(Event::Failed { how: Failure::Panic }.to_line()),
            ERROR => lines.push(Event::Failed { how: Failure::Error }.to_line()),
            _ => {}
        }
        lines.push(line.to_owned());
    }

    fn close_bundle(&mut self, is_last: bool, lines: &mut Vec<String>) {
        if self.bundle.is_empty() {
            return;
        }
        let data: BTreeMap<_, _> = std::mem::take(&mut self.bundle);
        let event = if is_last { Event::Result { data } } else { Event::Display { data, id: None } };
        lines.push(event.to_line());
    }
}

/// The text so far; the first bytes of a letter that is not whole yet stay.
fn take_text(bytes: &mut Vec<u8>) -> String {
    let cut = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    };
    let rest = bytes.split_off(cut);
    let text = String::from_utf8_lossy(bytes).into_owned();
    *bytes = rest;
    text
}

/// Whether these bytes could be the beginning of a line that is meant for a machine.
fn mark_may_follow(bytes: &[u8]) -> bool {
    bytes.starts_with(b"EVCXR_") || bytes.starts_with(claimlab_protocol::MARK.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str) -> Vec<String> {
        let mut filter = Filter::default();
        filter.feed(text.as_bytes())
    }

    #[test]
    fn rich_content_becomes_events_and_the_last_is_the_result() {
        let one = "EVCXR_BEGIN_CONTENT text/html\n<b>1</b>\nEVCXR_END_CONTENT\n";
        let two = "EVCXR_BEGIN_CONTENT text/html\n<b>2</b>\nEVCXR_END_CONTENT\nEVCXR_BEGIN_CONTENT text/plain\n2\n\
                   EVCXR_END_CONTENT\nEVCXR_EXECUTION_COMPLETE\n";
        let lines = events(&format!("{one}{two}"));
        let found: Vec<_> = lines.iter().filter_map(|line| Event::from_line(line)).collect();
        assert!(matches!(&found[0], Event::Display { data, .. } if data["text/html"] == "<b>1</b>"));
        assert!(matches!(&found[1], Event::Result { data } if data.len() == 2));
        assert_eq!(lines.last().map(String::as_str), Some(COMPLETE));
    }

    #[test]
    fn text_without_a_newline_does_not_swallow_the_end() {
        let lines = events("half a lineEVCXR_EXECUTION_COMPLETE\n");
        let event = Event::Stream { stderr: false, text: "half a line".into() };
        assert_eq!(lines, vec![event.to_line(), COMPLETE.to_owned()]);
    }

    #[test]
    fn a_panic_is_reported_even_inside_content() {
        let lines = events("EVCXR_BEGIN_CONTENT text/html\n<b>\nEVCXR_PANIC_NOTIFICATION\nEVCXR_EXECUTION_COMPLETE\n");
        assert_eq!(lines[0], Event::Failed { how: Failure::Panic }.to_line());
    }

    #[test]
    fn bytes_that_are_not_text_are_repaired() {
        let mut filter = Filter::default();
        let lines = filter.feed(b"caf\xe9\n");
        assert_eq!(lines, vec!["caf\u{fffd}".to_owned()]);
    }

    fn text_of(lines: &[String]) -> String {
        let texts = lines.iter().map(|line| match Event::from_line(line) {
            Some(Event::Stream { text, .. }) => text,
            _ => String::new(),
        });
        texts.collect()
    }

    #[test]
    fn a_letter_that_comes_in_two_parts_stays_one() {
        let mut filter = Filter::default();
        let (first, second) = "déjà".as_bytes().split_at(2);
        filter.feed(first);
        let mut lines = filter.flush();
        filter.feed(second);
        lines.extend(filter.flush());
        assert_eq!(text_of(&lines), "déjà");
        assert!(filter.is_idle());
    }

    #[test]
    fn a_line_without_an_end_passes_in_pieces_and_its_mark_is_seen() {
        let mut filter = Filter::default();
        let mut lines = Vec::new();
        let line = "é".repeat(5 * LONGEST) + COMPLETE + "\n";
        for piece in line.as_bytes().chunks(LONGEST / 3 + 1) {
            lines.extend(filter.feed(piece));
            assert!(filter.partial.len() <= LONGEST + piece.len(), "nothing piles up");
        }
        assert_eq!(lines.last().map(String::as_str), Some(COMPLETE));
        assert_eq!(text_of(&lines), "é".repeat(5 * LONGEST));
    }

    #[test]
    fn a_long_line_for_a_machine_is_not_cut() {
        let data = Bundle::from([("text/plain".to_owned(), "x".repeat(3 * LONGEST))]);
        let line = Event::Display { data, id: None }.to_line();
        let mut filter = Filter::default();
        let mut lines = Vec::new();
        for piece in (line.clone() + "\n").as_bytes().chunks(1000) {
            lines.extend(filter.feed(piece));
        }
        assert_eq!(lines, vec![line]);
    }
}
