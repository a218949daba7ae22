//! `claimlab run`: a notebook executed without Jupyter and without Python.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nbformat::v4::Cell;

use crate::outcome::CellError;
use crate::outputs::Collector;
use crate::session::{Interrupt, Session};
use crate::{environment, notebook, prewarm};

/// How long a cell that ran out of time may take to stop by itself.
const GRACE: Duration = Duration::from_secs(10);

/// Executes a notebook; true if every cell succeeded. What was executed is written in any case.
pub fn run(file: &Path, output: Option<&Path>, timeout: Duration) -> Result<bool> {
    let began = Instant::now();
    let mut book = notebook::read(file)?;
    let output = output.map_or_else(|| file.with_extension("executed.ipynb"), Path::to_owned);
    let output = std::path::absolute(&output).context("cannot resolve the output's path")?;
    // SAFETY: this is the first thing the command does; no other thread runs.
    let folder = unsafe { environment::prepare() }?;
    enter_folder_of(file)?;
    let mut session = Session::start(folder, &prewarm::to_stderr)?;
    let total = book.cells.iter().filter(|cell| matches!(cell, Cell::Code { .. })).count();
    eprintln!("Ready after {:.1} s; executing {total} cells of {}", began.elapsed().as_secs_f64(), file.display());
    let mut count = 0;
    let mut failure = None;
    for cell in &mut book.cells {
        let Cell::Code { source, outputs, execution_count, .. } = cell else { continue };
        outputs.clear();
        *execution_count = None;
        if failure.is_some() {
            continue;
        }
        count += 1;
        let code = source.concat();
        let cell_began = Instant::now();
        let (found, result) = execute(&mut session, &code, count, timeout);
        *outputs = found;
        *execution_count = i32::try_from(count).ok();
        eprintln!("  cell {count}/{total}: {:.1} s", cell_began.elapsed().as_secs_f64());
        if let Err(error) = result {
            failure = Some((count, code, error));
        }
    }
    notebook::write(&book, &output)?;
    let Some((count, code, error)) = failure else {
        eprintln!("{}: all {total} cells succeeded in {:.1} s", output.display(), began.elapsed().as_secs_f64());
        return Ok(true);
    };
    eprintln!("\nCell {count} of {} failed ({}):\n", file.display(), error.ename);
    for line in code.lines() {
        eprintln!("    {line}");
    }
    eprintln!("\n{}", error.traceback.join("\n"));
    eprintln!("\nThe cells before it are in {}; the cells after it were not run.", output.display());
    Ok(false)
}

/// Cells see the notebook's folder as their own, as they do under Jupyter.
fn enter_folder_of(file: &Path) -> Result<()> {
    let folder: PathBuf = file.parent().filter(|path| !path.as_os_str().is_empty()).map_or(".".into(), Path::to_owned);
    std::env::set_current_dir(&folder).with_context(|| format!("cannot enter {}", folder.display()))
}

fn execute(
    session: &mut Session,
    code: &str,
    count: usize,
    timeout: Duration,
) -> (Vec<nbformat::v4::Output>, Result<(), CellError>) {
    let mut collector = Collector::default();
    let interrupt = session.interrupt();
    let (done, waiting) = mpsc::channel();
    let (result, late) = std::thread::scope(|scope| {
        let watch = scope.spawn(move || watch(&waiting, &interrupt, timeout));
        let result = session.execute(code, &mut |event| collector.add(event, count));
        let _ = done.send(());
        (result, watch.join().unwrap_or(false))
    });
    let result = match result {
        Err(_) | Ok(()) if late => Err(CellError::new(
            "TimedOut",
            &format!(
                "The cell took longer than {} s and was stopped. Give it more with --timeout; \
                 results that the lab had stored by then are reused.",
                timeout.as_secs()
            ),
        )),
        other => other,
    };
    if let Err(error) = &result {
        collector.error(error);
    }
    (collector.finish(), result)
}

/// Interrupts a cell that is late, then kills it; true if it was late.
fn watch(done: &mpsc::Receiver<()>, interrupt: &Interrupt, timeout: Duration) -> bool {
    if done.recv_timeout(timeout) != Err(mpsc::RecvTimeoutError::Timeout) {
        return false;
    }
    interrupt.ask();
    if done.recv_timeout(GRACE) == Err(mpsc::RecvTimeoutError::Timeout) {
        interrupt.kill();
    }
    true
}
