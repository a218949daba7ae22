//! The one asynchronous runtime, on threads of its own.
//!
//! Callers are plain functions; whatever runtime they may be inside of is never blocked on, and never nested.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

use crate::error::{Error, ErrorKind, Result};
use crate::signal;

/// How often an interrupt is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// A handle to the runtime, for spawning.
///
/// # Errors
/// When the operating system gives no threads.
pub fn handle() -> Result<Handle> {
    static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        Builder::new_multi_thread().worker_threads(2).thread_name("claimlab-async").enable_all().build().ok()
    });
    let runtime = runtime.as_ref().ok_or_else(|| Error::new(ErrorKind::Internal, "no threads for the runtime"))?;
    Ok(runtime.handle().clone())
}

/// Runs a future to its end while the caller waits. An interrupt aborts it; `kept` says what is not lost then.
///
/// # Errors
/// When the user interrupts, or the future panics.
pub fn run<T: Send + 'static>(kept: &str, future: impl Future<Output = T> + Send + 'static) -> Result<T> {
    let (done, is_done) = channel();
    let task = handle()?.spawn(async move {
        let _ = done.send(future.await);
    });
    loop {
        match is_done.recv_timeout(LOOK) {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::new(ErrorKind::Internal, "a background task panicked"));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = signal::check(kept) {
                    task.abort();
                    return Err(error);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_works_inside_another_runtime_and_survives_a_panic() -> Result<()> {
        let other = Builder::new_current_thread().build().map_err(|error| Error::io("runtime", &error))?;
        assert_eq!(other.block_on(async { run("nothing", async { 7 }) })?, 7);
        assert!(run("nothing", async { panic!("inside") }).map(|(): ()| ()).is_err());
        assert_eq!(run("nothing", async { 8 })?, 8);
        Ok(())
    }
}
