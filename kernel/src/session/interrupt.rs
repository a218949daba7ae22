//! Stopping what a session is doing, from another thread.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::outcome::CellError;
use crate::process;

const IDLE: u8 = 0;
const RUNNING: u8 = 1;
const ASKED: u8 = 2;
const KILLED: u8 = 3;
/// For good: the kernel ends.
const CLOSED: u8 = 4;

/// The handle that the sockets' tasks hold.
#[derive(Debug, Clone)]
pub struct Interrupt {
    child: Arc<Mutex<std::process::Child>>,
    state: Arc<AtomicU8>,
    /// Counts cells, so that a late timer does not take the next cell for the one that it was set for.
    cell: Arc<AtomicU64>,
}

impl Interrupt {
    pub(super) fn new(child: Arc<Mutex<std::process::Child>>) -> Self {
        Self { child, state: Arc::default(), cell: Arc::default() }
    }

    pub(super) fn begin(&self) {
        self.cell.fetch_add(1, Ordering::SeqCst);
        self.set(RUNNING);
    }

    /// Changes the state unless the session was closed; returns what it was.
    fn set(&self, state: u8) -> u8 {
        let change = |now| (now != CLOSED).then_some(state);
        self.state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, change).unwrap_or_else(|now| now)
    }

    /// True if the cell that ends was interrupted.
    pub(super) fn end(&self) -> bool {
        self.set(IDLE) >= ASKED
    }

    /// The first call stops a build or asks the running cell to stop, and variables are kept; the second one ends the
    /// child, and all variables are gone. Between cells nothing happens.
    pub fn ask(&self) {
        match self.state.load(Ordering::SeqCst) {
            RUNNING => {
                self.set(ASKED);
                if !process::kill_compilers() {
                    process::signal(self.child_id(), libc::SIGINT);
                }
            }
            ASKED => self.kill(),
            _ => {}
        }
    }

    /// Ends the child and what compiles for it.
    pub fn kill(&self) {
        self.set(KILLED);
        process::kill_compilers();
        process::signal(self.child_id(), libc::SIGKILL);
    }

    /// The same for good: the session's thread, which sees its child end, prepares no other.
    pub fn close(&self) {
        self.state.store(CLOSED, Ordering::SeqCst);
        self.kill();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state.load(Ordering::SeqCst) == CLOSED
    }

    /// Which cell runs, if one was asked to stop and goes on.
    pub fn unanswered(&self) -> Option<u64> {
        (self.state.load(Ordering::SeqCst) == ASKED).then(|| self.cell.load(Ordering::SeqCst))
    }

    /// The error of a cell in the words of the interrupt that caused it.
    pub(super) fn explain(&self, error: CellError) -> CellError {
        match self.state.load(Ordering::SeqCst) {
            ASKED if error.ename == "Error" => CellError { ename: "Interrupted".to_owned(), ..error },
            ASKED if error.ename == "Panic" => CellError::new(
                "Interrupted",
                "Interrupted while it ran. Variables of earlier cells are kept; results that the lab had stored are \
                 reused.",
            ),
            ASKED => CellError::new("Interrupted", "Interrupted while it was compiled. All variables are kept."),
            KILLED => CellError::new(
                "Killed",
                "The process that holds this session's variables was ended by the second interrupt. All variables are \
                 gone; run the cells above again. Results that the lab had stored are reused.",
            ),
            _ => error,
        }
    }

    fn child_id(&self) -> i32 {
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        i32::try_from(child.id()).unwrap_or_default()
    }
}
