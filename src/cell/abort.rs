//! Interrupts inside polars: its long operations poll a flag of their own, and only while somebody promises to catch
//! the panic that they answer with. evcxr catches panics of cells, so the promise is kept for the whole session.

use std::sync::{Condvar, Mutex, PoisonError};

use polars::error::abort;

static ROUND: (Mutex<u64>, Condvar) = (Mutex::new(0), Condvar::new());

/// Lets interrupts reach polars from now on; a second call changes nothing.
pub(super) fn arm() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        abort::register_polars_abort_mechanism();
        // Holds the promise; when the last promise ends, polars forgets the interrupt, and the next one can come.
        let keeper = std::thread::Builder::new().name("interrupts".into()).spawn(|| {
            loop {
                let _ = abort::catch_polars_abort(wait_for_next_round);
            }
        });
        if let Err(error) = keeper {
            eprintln!("interrupts will not reach running queries: {error}");
        }
    });
}

/// Forgets an interrupt that was answered.
pub(super) fn rearm() {
    *ROUND.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    ROUND.1.notify_all();
}

fn wait_for_next_round() {
    let mut round = ROUND.0.lock().unwrap_or_else(PoisonError::into_inner);
    let now = *round;
    while *round == now {
        round = ROUND.1.wait(round).unwrap_or_else(PoisonError::into_inner);
    }
}
