//! Waiting for asynchronous work from blocking calls.

use std::future::Future;
use std::sync::OnceLock;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::error::{Error, ErrorKind, Result};
use crate::signal;

/// How often a waiting call looks whether the user asked to stop.
const LOOK: Duration = Duration::from_millis(100);

fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<std::io::Result<Runtime>> = OnceLock::new();
    RUNTIME
        .get_or_init(|| Builder::new_multi_thread().worker_threads(2).thread_name("claimlab-io").enable_all().build())
        .as_ref()
        .map_err(|error| Error::io("starting the thread that waits for the network", error))
}

/// A handle to the runtime, for calls that run while their maker does something else.
///
/// # Errors
/// When the operating system gives no threads.
#[cfg(feature = "remote")]
pub(crate) fn handle() -> Result<tokio::runtime::Handle> {
    runtime().map(|runtime| runtime.handle().clone())
}

/// Runs a future to its end on the library's own runtime; an interrupt ends the wait, and `kept` says what is not lost.
///
/// The wait stands on a thread of its own, so that a caller inside somebody else's runtime does not block it by our
/// means of waiting, and a panic inside a dependency is an error here.
///
/// # Errors
/// [`ErrorKind::Interrupted`], and [`ErrorKind::Internal`] when the future panics.
pub(crate) fn wait<T: Send>(kept: &str, future: impl Future<Output = T> + Send) -> Result<T> {
    let runtime = runtime()?;
    let interrupted = async {
        loop {
            tokio::time::sleep(LOOK).await;
            if let Err(stop) = signal::check(kept) {
                return stop;
            }
        }
    };
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            runtime.block_on(async {
                tokio::select! {
                    done = future => Ok(done),
                    stop = interrupted => Err(stop),
                }
            })
        });
        waiting.join().unwrap_or_else(|_| Err(Error::new(ErrorKind::Internal, "a network library panicked")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_works_inside_another_runtime_and_survives_a_panic() {
        let outer = Builder::new_current_thread().build().unwrap();
        let seen = outer.block_on(async { wait("nothing is lost", async { 7 }) });
        assert_eq!(seen.unwrap(), 7);
        let error = wait("nothing is lost", async { std::panic::resume_unwind(Box::new("boom")) }).map(|(): ()| ());
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Internal);
    }
}
