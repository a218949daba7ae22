//! Progress, cancellation and display: what the library tells whoever watches, and what they tell it.
//!
//! Under the ClaimLab kernel these are event lines on standard output; in a terminal or under another kernel they
//! degrade to text, and in a program that watches nothing they cost nothing.

mod progress;
mod shown;

pub use progress::Progress;
pub use shown::Shown;

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use claimlab_protocol::{Bundle, Event, KERNEL_ENV};

use crate::error::{Error, ErrorKind, Result};

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

/// Forgets an interrupt that no loop has seen, so that it does not stop the next cell.
pub(crate) fn forget_interrupt() {
    interrupt_flag().store(false, Ordering::SeqCst);
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

/// Shows a plain value as the result of the cell that ends with it.
pub fn result(plain: &str) {
    // evcxr's own marks: our kernel makes the last of them the cell's result.
    show_elsewhere(None, None, plain);
}

/// Takes away what the running cell has shown so far, as soon as something else is shown.
pub fn clear() {
    if is_kernel() {
        emit(&Event::Clear);
    }
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
