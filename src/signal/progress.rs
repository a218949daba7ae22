//! One bar for one long operation, in a notebook or a terminal.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use claimlab_protocol::{Bundle, Event};
use indicatif::{ProgressBar, ProgressStyle};

use super::{emit, is_kernel};

/// An operation shows its progress only if it takes longer than this.
const PATIENCE: Duration = Duration::from_millis(800);
/// How often a bar is drawn again.
const REDRAW: Duration = Duration::from_millis(250);

/// One operation's progress: done of total, rate, time left, failures and money so far. Dropping it ends it with one
/// quiet line, if it was ever shown.
///
/// ```
/// let progress = claimlab::signal::Progress::new("Answering", 60);
/// progress.advance(1);
/// progress.fail(1);
/// progress.spend(0.002);
/// ```
#[derive(Debug)]
pub struct Progress {
    label: String,
    total: u64,
    done: AtomicU64,
    failed: AtomicU64,
    /// Millionths of a US dollar.
    spent: AtomicU64,
    began: Instant,
    /// Milliseconds after the beginning at which it was last drawn; 0 is never.
    drawn: AtomicU64,
    id: u64,
    terminal: Mutex<Option<ProgressBar>>,
}

impl Progress {
    /// Begins an operation of `total` steps; a total of 0 is one that is not known.
    #[must_use]
    pub fn new(label: &str, total: usize) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            label: label.to_owned(),
            total: total as u64,
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            spent: AtomicU64::new(0),
            began: Instant::now(),
            drawn: AtomicU64::new(0),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            terminal: Mutex::new(None),
        }
    }

    /// Counts `steps` as done; may be called from any thread.
    pub fn advance(&self, steps: usize) {
        self.done.fetch_add(steps as u64, Ordering::Relaxed);
        self.tick();
    }

    /// Counts `steps` as failed; they count as done by [`Progress::advance`] alone.
    pub fn fail(&self, steps: usize) {
        self.failed.fetch_add(steps as u64, Ordering::Relaxed);
    }

    /// Adds what was paid, in US dollars.
    pub fn spend(&self, usd: f64) {
        // Money is shown to a hundredth of a cent; the conversion saturates.
        self.spent.fetch_add((usd.max(0.0) * 1e6) as u64, Ordering::Relaxed);
    }

    /// Draws the bar again if that is due; for long steps, so that the time moves.
    pub fn tick(&self) {
        let now = self.began.elapsed();
        let last = self.drawn.load(Ordering::Relaxed);
        let due = if last == 0 { PATIENCE } else { Duration::from_millis(last) + REDRAW };
        let milliseconds = u64::try_from(now.as_millis()).unwrap_or(u64::MAX).max(1);
        if now >= due && self.drawn.compare_exchange(last, milliseconds, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.draw(now, last == 0);
        }
    }

    fn draw(&self, elapsed: Duration, is_first: bool) {
        let done = self.done.load(Ordering::Relaxed);
        if is_kernel() {
            let value = if self.total > 0 { format!(" value=\"{done}\"") } else { String::new() };
            let bar = format!("<progress{value} max=\"{}\"></progress> ", self.total.max(1));
            self.show(&self.running(done, elapsed), &bar, is_first);
        } else if std::io::stderr().is_terminal() {
            let mut terminal = self.terminal.lock().unwrap_or_else(PoisonError::into_inner);
            let bar = terminal.get_or_insert_with(|| {
                let bar = ProgressBar::new(self.total);
                let style =
                    ProgressStyle::with_template("{bar:24} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
                bar.set_style(style);
                bar
            });
            bar.set_position(done);
            bar.set_message(self.running(done, elapsed));
        }
    }

    /// Label, counts, rate, time left, failures and money, as far as they are known.
    fn running(&self, done: u64, elapsed: Duration) -> String {
        let seconds = elapsed.as_secs_f64();
        let rate = done as f64 / seconds.max(1e-9);
        let mut text = format!("{}: {done}", self.label);
        if self.total > 0 {
            text.push_str(&format!(" / {}", self.total));
        }
        if done > 0 {
            text.push_str(&format!(" · {}", per_second(rate)));
            if self.total > done {
                text.push_str(&format!(" · {} left", seconds_text((self.total - done) as f64 / rate)));
            }
        }
        text + &self.troubles()
    }

    fn troubles(&self) -> String {
        let (failed, spent) = (self.failed.load(Ordering::Relaxed), self.spent.load(Ordering::Relaxed));
        let mut text = String::new();
        if failed > 0 {
            text.push_str(&format!(" · {failed} failed"));
        }
        if spent > 0 {
            text.push_str(&format!(" · ${:.4}", spent as f64 / 1e6));
        }
        text
    }

    fn show(&self, text: &str, bar: &str, is_first: bool) {
        let html = format!("<small>{bar}{}</small>", crate::table::escape(text));
        let data = Bundle::from([("text/plain".to_owned(), text.to_owned()), ("text/html".to_owned(), html)]);
        let id = format!("claimlab-progress-{}-{}", std::process::id(), self.id);
        emit(&if is_first { Event::Display { data, id: Some(id) } } else { Event::Update { data, id } });
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn.load(Ordering::Relaxed) == 0 {
            return;
        }
        let done = self.done.load(Ordering::Relaxed);
        let of = if self.total > done { format!(" of {}", self.total) } else { String::new() };
        let took = seconds_text(self.began.elapsed().as_secs_f64());
        let text = format!("{}: {done}{of} in {took}{}", self.label, self.troubles());
        if is_kernel() {
            self.show(&text, "", false);
        } else if let Some(bar) = self.terminal.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bar.finish_and_clear();
            eprintln!("{text}");
        }
    }
}

fn per_second(rate: f64) -> String {
    if rate >= 10.0 {
        format!("{rate:.0}/s")
    } else if rate >= 0.1 {
        format!("{rate:.1}/s")
    } else {
        format!("{:.1}/min", rate * 60.0)
    }
}

fn seconds_text(seconds: f64) -> String {
    if seconds < 90.0 {
        format!("{seconds:.1} s")
    } else if seconds < 5400.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        format!("{:.1} h", seconds / 3600.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_says_how_far_how_fast_what_failed_and_what_it_cost() {
        let progress = Progress::new("Checking", 40);
        progress.advance(10);
        progress.fail(2);
        progress.spend(0.0123);
        let text = progress.running(10, Duration::from_secs(5));
        assert_eq!(text, "Checking: 10 / 40 · 2.0/s · 15.0 s left · 2 failed · $0.0123");
    }

    #[test]
    fn an_operation_without_a_total_says_what_it_knows() {
        let progress = Progress::new("Reading", 0);
        progress.advance(90);
        assert_eq!(progress.running(90, Duration::from_secs(600)), "Reading: 90 · 0.1/s");
    }
}
