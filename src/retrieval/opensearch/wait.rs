//! Waiting for asynchronous work from blocking calls.

use std::future::Future;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::signal;

/// How often a waiting call looks whether the user asked to stop.
const LOOK: Duration = Duration::from_millis(100);

/// Runs a future to its end on a thread and runtime of its own, so that a caller inside somebody else's runtime does not
/// block it. An interrupt ends the wait, and `kept` says what is not lost.
pub(super) fn wait<T: Send>(kept: &str, future: impl Future<Output = Result<T>> + Send) -> Result<T> {
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
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| Error::io("starting the thread that waits for the network", &error))?;
            runtime.block_on(async {
                tokio::select! {
                    done = future => done,
                    stop = interrupted => Err(stop),
                }
            })
        });
        waiting.join().unwrap_or_else(|_| Err(Error::new(ErrorKind::Internal, "a network library panicked")))
    })
}
