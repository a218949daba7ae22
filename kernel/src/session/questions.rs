//! Questions to the process that runs cells, answered without compiling anything.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use claimlab_protocol::{Answer, Ask};

use crate::outcome::CellError;

/// How long an answer may take. A query that needs longer can be interrupted before.
const PATIENCE: Duration = Duration::from_secs(600);

/// The way to the child's socket.
#[derive(Debug)]
pub struct Questions {
    socket: PathBuf,
}

impl Questions {
    pub fn to(socket: PathBuf) -> Self {
        Self { socket }
    }

    /// Asks one thing. Only between cells.
    pub fn ask(&self, question: &Ask) -> Result<Answer, CellError> {
        let answered = self.exchange(question).map_err(|error| {
            CellError::new(
                "KernelError",
                &format!("The process that holds the variables does not answer ({error}). Restart the kernel."),
            )
        })?;
        match answered {
            Answer::Failed { message } => Err(CellError::new("Error", &message)),
            other => Ok(other),
        }
    }

    /// Makes the child ready for the next interrupt.
    pub fn rearm(&self) -> Result<(), CellError> {
        self.ask(&Ask::Rearm).map(|_| ())
    }

    fn exchange(&self, question: &Ask) -> std::io::Result<Answer> {
        let mut stream = UnixStream::connect(&self.socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        writeln!(stream, "{}", serde_json::to_string(question)?)?;
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}
