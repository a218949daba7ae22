//! One evcxr session: it compiles and runs cells, and reports everything they do as events while they do it.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use claimlab_protocol::{Bundle, Event, Failure, KERNEL_ENV};
use evcxr::{CommandContext, EvalContext, EvalContextOutputs};

use crate::environment::SessionFolder;
use crate::outcome::CellError;
use crate::{child, prewarm, process, sources};

/// Names that every cell can use, and what teaches evcxr once, before the first cell, that cells may use `?`.
const PRELUDE: &str = "#[allow(unused_imports)]\nuse claimlab::prelude::*;\nclaimlab::signal::listen()?;";

/// Everything that is needed to run cells.
#[derive(Debug)]
pub struct Session {
    context: Debugless<CommandContext>,
    outputs: Debugless<EvalContextOutputs>,
    interrupt: Interrupt,
    _folder: SessionFolder,
}

/// Lets a session be printed although evcxr's context cannot.
struct Debugless<T>(T);

impl<T> std::fmt::Debug for Debugless<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("…")
    }
}

/// Stops what a session is doing, from another thread.
#[derive(Debug, Clone)]
pub struct Interrupt {
    child: Arc<Mutex<std::process::Child>>,
    running: Arc<AtomicBool>,
}

impl Interrupt {
    /// Stops a build, or asks a running cell to stop; variables are kept.
    pub fn ask(&self) {
        if !process::kill_compilers() && self.running.load(Ordering::SeqCst) {
            process::signal(self.child_id(), libc::SIGINT);
        }
    }

    /// Ends the child; all variables are gone.
    pub fn kill(&self) {
        process::kill_compilers();
        process::signal(self.child_id(), libc::SIGKILL);
    }

    fn child_id(&self) -> i32 {
        let child = self.child.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        i32::try_from(child.id()).unwrap_or_default()
    }
}

impl Session {
    /// Builds the library if need be, starts evcxr and loads the prelude. `progress` gets a line for each step.
    pub fn start(folder: SessionFolder, progress: &dyn Fn(&str)) -> Result<Self> {
        prewarm::ensure(progress)?;
        progress("Starting the compiler session");
        let program = std::env::current_exe().context("cannot find the running program's own path")?;
        let mut command = Command::new(&program);
        command.env(child::CHILD_ENV, "1").env(KERNEL_ENV, "1");
        let (mut context, outputs) =
            EvalContext::with_subprocess_command(command).map_err(|error| anyhow!("evcxr did not start: {error}"))?;
        std::fs::write(folder.path().join(child::STARTED), "").context("cannot write to the session's folder")?;
        let mut state = context.state();
        let library = sources::workspace()?;
        let dependency = format!("{{ path = {:?}, default-features = false }}", library.display().to_string());
        state.add_dep("claimlab", &dependency).map_err(|error| anyhow!("cells cannot see the library: {error}"))?;
        let interrupt = Interrupt { child: context.process_handle(), running: Arc::default() };
        progress("Loading the library's names");
        let mut failed = None;
        let evaluated = std::thread::scope(|scope| {
            let evaluation = scope.spawn(|| context.eval_with_state(PRELUDE, state));
            pump(&outputs, || evaluation.is_finished(), &mut |event| match event {
                Event::Stream { text, .. } => eprint!("{text}"),
                Event::Failed { how } => failed = Some(how),
                _ => {}
            });
            evaluation.join()
        });
        match evaluated {
            Ok(Ok(_)) if failed.is_none() => {}
            Ok(Ok(_)) => return Err(anyhow!("the prelude of cells failed when it ran")),
            Ok(Err(error)) => {
                let error = CellError::from_evcxr(&error, PRELUDE);
                return Err(anyhow!("the prelude of cells does not compile:\n{}", error.traceback.join("\n")));
            }
            Err(_) => return Err(anyhow!("evcxr panicked while it loaded the library")),
        }
        let context = Debugless(CommandContext::with_eval_context(context));
        Ok(Self { context, outputs: Debugless(outputs), interrupt, _folder: folder })
    }

    /// The handle that stops cells.
    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Runs one cell; `report` gets its events in order, as they happen.
    pub fn execute(&mut self, code: &str, report: &mut dyn FnMut(Event)) -> Result<(), CellError> {
        let Self { context, outputs, interrupt, .. } = self;
        let mut failed = None;
        let mut errors = String::new();
        interrupt.running.store(true, Ordering::SeqCst);
        let result = std::thread::scope(|scope| {
            let evaluation = scope.spawn(|| context.0.execute(code));
            pump(&outputs.0, || evaluation.is_finished(), &mut |event| {
                match &event {
                    Event::Failed { how } => {
                        failed = Some(*how);
                        return;
                    }
                    Event::Stream { stderr: true, text } => errors.push_str(text),
                    _ => {}
                }
                report(event);
            });
            evaluation.join()
        });
        interrupt.running.store(false, Ordering::SeqCst);
        match result {
            Ok(Ok(outputs)) => {
                // What evcxr's own commands (":vars") answer.
                let data: Bundle = outputs.content_by_mime_type.into_iter().collect();
                if !data.is_empty() {
                    report(Event::Result { data });
                }
                failed.map_or(Ok(()), |how| Err(ended_early(how, &errors)))
            }
            Ok(Err(error)) => Err(CellError::from_evcxr(&error, code)),
            Err(_) => Err(CellError::new("KernelError", "evcxr panicked on this cell; restart the kernel")),
        }
    }

    /// Completions at a byte offset: the candidates and the range they replace.
    pub fn complete(&mut self, code: &str, offset: usize) -> (Vec<String>, usize, usize) {
        match self.context.0.completions(code, offset) {
            Ok(found) => {
                (found.completions.into_iter().map(|one| one.code).collect(), found.start_offset, found.end_offset)
            }
            Err(_) => (Vec::new(), offset, offset),
        }
    }

    /// What is known of the name at a byte offset, as plain text.
    pub fn inspect(&mut self, code: &str, offset: usize) -> Option<String> {
        self.context.0.hover_at(code, offset).ok().map(|(plain, _)| plain).filter(|text| !text.is_empty())
    }
}

/// Passes on what the child prints until the evaluation is over and nothing is left.
fn pump(outputs: &EvalContextOutputs, is_over: impl Fn() -> bool, report: &mut dyn FnMut(Event)) {
    loop {
        let over = is_over();
        let mut idle = true;
        while let Ok(line) = outputs.stdout.try_recv() {
            idle = false;
            report(Event::from_line(&line).unwrap_or_else(|| Event::Stream { stderr: false, text: line + "\n" }));
        }
        // The filter in the child sends standard error as events; what comes here was written before it stood.
        while let Ok(line) = outputs.stderr.try_recv() {
            idle = false;
            report(Event::Stream { stderr: true, text: line + "\n" });
        }
        if over && idle {
            return;
        }
        if idle {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// The message of a cell that compiled and ended early. It stands on standard error, with a backtrace that is of use
/// to nobody who did not write the library.
fn ended_early(how: Failure, errors: &str) -> CellError {
    let story: Vec<&str> = errors
        .lines()
        .take_while(|line| !line.starts_with("stack backtrace:"))
        .filter(|line| !line.starts_with("note: run with `RUST_BACKTRACE"))
        .collect();
    match how {
        Failure::Error => CellError::new("Error", &story.join("\n")),
        Failure::Panic => {
            let message = story
                .iter()
                .position(|line| line.contains("panicked at"))
                .and_then(|at| story.get(at + 1))
                .map_or("the cell panicked", |line| line);
            let mut error = CellError::new("Panic", &story.join("\n"));
            error.evalue = message.to_owned();
            error
        }
    }
}
