//! What the kernel can ask the process that runs cells, between two cells: its variables, and queries over its tables.
//!
//! evcxr keeps variables in a map that every cell gets a pointer to. The prelude of a session hands that pointer over
//! once; from then on a thread answers on a socket, and nothing needs to be compiled for an answer.

mod abort;
#[cfg(feature = "sql")]
mod sql;
mod variables;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};

use claimlab_protocol::{Answer, Ask, SOCKET_ENV};

use crate::error::{Error, Result};
use crate::signal;
use variables::Variables;

/// Begins to listen for interrupts and to answer the kernel's questions; without the ClaimLab kernel it only listens.
///
/// # Safety
/// `store` must be the address of evcxr's variable store, which lives as long as the process, and whose only field is
/// a `HashMap<String, Box<dyn Any>>` of this very standard library. The kernel asks only while no cell runs.
///
/// # Errors
/// When the operating system refuses the handler, the socket or the thread.
pub unsafe fn serve(store: usize) -> Result<()> {
    signal::listen()?;
    let Some(path) = std::env::var_os(SOCKET_ENV) else { return Ok(()) };
    abort::arm();
    // A process that was killed leaves its socket behind.
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).map_err(|error| Error::io("the kernel's socket", &error))?;
    let variables = Variables::at(store);
    std::thread::Builder::new()
        .name("cell-answers".into())
        .spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, &variables);
            }
        })
        .map_err(|error| Error::io("the thread that answers the kernel", &error))?;
    Ok(())
}

fn answer(stream: UnixStream, variables: &Variables) {
    let mut line = String::new();
    if BufReader::new(&stream).read_line(&mut line).is_err() {
        return;
    }
    let answer = match serde_json::from_str::<Ask>(&line) {
        // A query that panics must not take the variables with it.
        Ok(ask) => catch_unwind(AssertUnwindSafe(|| reply(&ask, variables)))
            .unwrap_or_else(|_| failed("it panicked; variables are kept")),
        Err(error) => failed(&format!("the kernel asked something unknown: {error}")),
    };
    let text = serde_json::to_string(&answer).unwrap_or_default();
    let _ = writeln!(&stream, "{text}");
}

fn failed(message: &str) -> Answer {
    Answer::Failed { message: message.to_owned() }
}

fn reply(ask: &Ask, variables: &Variables) -> Answer {
    match ask {
        Ask::Variables => Answer::Variables { variables: variables.list() },
        Ask::Rearm => {
            abort::rearm();
            signal::forget_interrupt();
            Answer::Done
        }
        #[cfg(feature = "sql")]
        Ask::Sql { query } => match sql::answer(query, &variables.tables()) {
            Ok(data) => Answer::Show { data },
            Err(error) => failed(&error.to_string()),
        },
        #[cfg(not(feature = "sql"))]
        Ask::Sql { .. } => failed(&Error::feature_disabled("SQL", "sql").to_string()),
    }
}
