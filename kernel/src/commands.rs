//! The commands that a person types.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

use crate::{doctor, install, jupyter, models, outline, prewarm, run};

/// Evaluate legal retrieval-augmented generation claim by claim, in Rust notebooks.
#[derive(Debug, Parser)]
#[command(name = "claimlab", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Execute a notebook without Jupyter. Exits with 0 only if every cell succeeded.
    Run {
        /// The notebook (.ipynb) to execute.
        notebook: PathBuf,
        /// Where to write the executed notebook [default: beside it, as NAME.executed.ipynb].
        #[arg(long, short)]
        output: Option<PathBuf>,
        /// Seconds that one cell may take.
        #[arg(long, default_value_t = 600)]
        timeout: u64,
    },
    /// Install the kernelspec, so that JupyterLab and others offer the kernel.
    Install {
        /// Install under PREFIX/share/jupyter instead of the user's own folder.
        #[arg(long)]
        prefix: Option<PathBuf>,
    },
    /// Run as a Jupyter kernel (Jupyter calls this).
    Kernel {
        /// The connection file that Jupyter wrote.
        #[arg(long)]
        connection_file: PathBuf,
    },
    /// Build what notebook cells link against, so that the first cell does not wait for it.
    Prewarm,
    /// Say what is there, what is missing and what to do about it.
    Doctor,
    /// Models by name, in the lab of the current folder.
    Models {
        #[command(subcommand)]
        action: Models,
    },
}

#[derive(Debug, Subcommand)]
enum Models {
    /// List the models that the lab knows, and where each lies.
    List,
    /// Download a model, or go on with a download.
    Fetch {
        /// The model's name in the lab's table.
        name: String,
    },
    /// Compare a model's files with their recorded sums.
    Verify {
        /// The model's name in the lab's table.
        name: String,
    },
}

/// Parses the arguments, runs the command and turns its error into a message and an exit code.
pub fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Run { notebook, output, timeout } => {
            run::run(&notebook, output.as_deref(), Duration::from_secs(timeout.max(1)))
        }
        Command::Install { prefix } => install::install(prefix.as_deref()).map(|()| true),
        Command::Kernel { connection_file } => jupyter::serve(&connection_file).map(|()| true),
        Command::Prewarm => {
            prewarm::ensure(&prewarm::to_stderr).and_then(|()| outline::ensure(&prewarm::to_stderr)).map(|_| true)
        }
        Command::Doctor => Ok(doctor::doctor()),
        Command::Models { action } => match action {
            Models::List => models::models("list", ""),
            Models::Fetch { name } => models::models("fetch", &name),
            Models::Verify { name } => models::models("verify", &name),
        },
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("claimlab: {error:#}");
            ExitCode::FAILURE
        }
    }
}
