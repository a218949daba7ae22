//! Progress, cancellation and display: what the library tells whoever watches, and what they tell it.
//!
//! Under the ClaimLab kernel these are event lines on standard output; in a terminal or under another kernel they
//! degrade to text, and in a program that watches nothing they cost nothing.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use claimlab_protocol::{Bundle, Event, KERNEL_ENV};

use crate::error::{Error, ErrorKind, Result};

/// An operation shows its progress only if it takes longer than this.
const PATIENCE: Duration = Duration::from_millis(800);
/// How often a bar is drawn again.
const REDRAW: Duration = Duration::from_millis(250);

fn interrupt_flag() -> &'static Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    FLAG.get_or_init(Arc::default)
}

/// Whether the ClaimLab kernel runs this process.
#[must_use]
pub fn is_kernel() -> bool {
    static KERNEL: OnceLock<bool> = OnceLock::new();
    *KERNEL.get_or_init(|| std::env::var_os(KERNEL_ENV).is_some())
}

/// Makes an interrupt (SIGINT) set the flag that long operations poll, instead of ending the process.
///
/// The kernel's prelude calls this in the process that runs cells; a program of its own may leave it.
///
/// # Errors
/// When the operating system refuses the handler.
pub fn listen() -> Result<()> {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    let installed = *INSTALLED
        .get_or_init(|| signal_hook::flag::register(signal_hook::consts::SIGINT, interrupt_flag().clone()).is_ok());
    if installed { Ok(()) } else { Err(Error::new(ErrorKind::Io, "cannot listen for interrupts")) }
}

/// Returns `Interrupted` if the user asked to stop since the last call; long loops call it at every step.
///
/// # Errors
/// Only [`ErrorKind::Interrupted`]; `kept` says what is not lost.
pub fn check(kept: &str) -> Result<()> {
    if interrupt_flag().swap(false, Ordering::SeqCst) {
        return Err(
            Error::new(ErrorKind::Interrupted, format!("interrupted; {kept}")).help("run the cell again to go on")
        );
    }
    Ok(())
}

/// Shows something in several representations, the plain one in a terminal.
pub fn display(html: Option<&str>, svg: Option<&str>, plain: &str) {
    if !is_kernel() {
        return show_elsewhere(html, svg, plain);
    }
    let mut data = Bundle::from([("text/plain".to_owned(), plain.to_owned())]);
    data.extend(html.map(|text| ("text/html".to_owned(), text.to_owned())));
    data.extend(svg.map(|text| ("image/svg+xml".to_owned(), text.to_owned())));
    emit(&Event::Display { data, id: None });
}

/// Stock evcxr understands its own marks; a terminal gets the text.
fn show_elsewhere(html: Option<&str>, svg: Option<&str>, plain: &str) {
    if std::env::var_os("EVCXR_IS_RUNTIME").is_some() {
        for (kind, text) in [("text/html", html), ("image/svg+xml", svg), ("text/plain", Some(plain))] {
            if let Some(text) = text {
                println!("EVCXR_BEGIN_CONTENT {kind}\n{text}\nEVCXR_END_CONTENT");
            }
        }
    } else {
        println!("{plain}");
    }
}

fn emit(event: &Event) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{}", event.to_line());
}

/// One operation's progress. Dropping it ends it with one quiet line, if it was ever shown.
#[derive(Debug)]
pub struct Progress {
    label: String,
    total: u64,
    done: AtomicU64,
    began: Instant,
    /// Milliseconds after the beginning at which it was last drawn; 0 is never.
    drawn: AtomicU64,
    id: u64,
}

impl Progress {
    /// Begins an operation of `total` steps.
    #[must_use]
    pub fn new(label: &str, total: usize) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            label: label.to_owned(),
            total: total as u64,
            done: AtomicU64::new(0),
            began: Instant::now(),
            drawn: AtomicU64::new(0),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Counts `steps` as done; may be called from any thread.
    pub fn advance(&self, steps: usize) {
        let done = self.done.fetch_add(steps as u64, Ordering::Relaxed) + steps as u64;
        let now = self.began.elapsed();
        let last = Duration::from_millis(self.drawn.load(Ordering::Relaxed));
        let due = if last.is_zero() { PATIENCE } else { last + REDRAW };
        let milliseconds = u64::try_from(now.as_millis()).unwrap_or(u64::MAX).max(1);
        if now >= due && self.drawn.swap(milliseconds, Ordering::Relaxed) == last.as_millis() as u64 {
            self.draw(done, now, last.is_zero(), false);
        }
    }

    fn draw(&self, done: u64, elapsed: Duration, is_first: bool, is_last: bool) {
        let seconds = elapsed.as_secs_f64();
        let text = if is_last {
            format!("{}: {done} in {seconds:.1} s", self.label)
        } else {
            let left = (self.total.saturating_sub(done)) as f64 * seconds / done.max(1) as f64;
            format!("{}: {done} / {} · {:.0} s left", self.label, self.total, left)
        };
        if is_kernel() {
            let bar = if is_last {
                String::new()
            } else {
                format!("<progress value=\"{done}\" max=\"{}\"></progress> ", self.total.max(1))
            };
            let html = format!("<small>{bar}{}</small>", crate::table::escape(&text));
            let data = Bundle::from([("text/plain".to_owned(), text), ("text/html".to_owned(), html)]);
            let id = format!("claimlab-progress-{}-{}", std::process::id(), self.id);
            emit(&if is_first { Event::Display { data, id: Some(id) } } else { Event::Update { data, id } });
        } else if std::io::stderr().is_terminal() {
            eprint!("\r{text:<60}{}", if is_last { "\n" } else { "" });
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn.load(Ordering::Relaxed) > 0 {
            self.draw(self.done.load(Ordering::Relaxed), self.began.elapsed(), false, true);
        }
    }
}
