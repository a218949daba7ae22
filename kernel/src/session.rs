//! One evcxr session: it compiles and runs cells, and reports everything they do as events while they do it.

pub mod build_log;
mod interrupt;
mod moved;
mod questions;
mod shortcuts;

pub use interrupt::Interrupt;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, anyhow};
use claimlab_protocol::{Bundle, Event, Failure, KERNEL_ENV, SOCKET_ENV};
use evcxr::{CommandContext, EvalContext, EvalContextOutputs};

use crate::cells::Cells;
use crate::environment::SessionFolder;
use crate::outcome::CellError;
use crate::{child, outline, prewarm};
use build_log::BuildLog;
use moved::Moved;
use questions::Questions;

/// Names that every cell can use.
const PRELUDE: &str = "#[allow(unused_imports)]\nuse claimlab::prelude::*;";
/// A cell that teaches evcxr that cells use `?`, which it learns from a cell that does not compile without. Without the
/// library that costs little.
const QUESTION_MARK: &str = "Ok::<(), std::fmt::Error>(())?;";
/// What a new process that runs cells must do first. It is valid Rust whether or not evcxr has learnt yet that cells
/// use `?`.
const HANDSHAKE: &str = "unsafe { claimlab::cell::serve(&raw const *evcxr_variable_store as usize) }?;";

/// Everything that is needed to run cells.
#[derive(Debug)]
pub struct Session {
    context: Debugless<CommandContext>,
    outputs: Debugless<EvalContextOutputs>,
    interrupt: Interrupt,
    questions: Questions,
    moved: Moved,
    library: Library,
    folder: SessionFolder,
}

/// Lets a session be printed although evcxr's context cannot.
struct Debugless<T>(T);

impl<T> std::fmt::Debug for Debugless<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("…")
    }
}

/// The shared object that this session's cells were linked with.
#[derive(Debug)]
struct Library {
    file: PathBuf,
    written: Option<SystemTime>,
}

impl Library {
    fn now() -> Result<Self> {
        let file = Cells::read(&prewarm::record()?)?.dylib;
        let written = time_of(&file);
        Ok(Self { file, written })
    }

    /// Cells that are linked with another build than the process holds would crash it.
    fn check(&self) -> Result<(), CellError> {
        if time_of(&self.file) == self.written {
            return Ok(());
        }
        Err(CellError::new(
            "LibraryChanged",
            "The library was built again while this session was open, and new cells cannot be mixed with the old one. \
             Restart the kernel; results that the lab had stored are reused.",
        ))
    }
}

/// evcxr and its child, as far as they come without the library.
fn start_evcxr(command: Command) -> Result<(EvalContext, EvalContextOutputs), evcxr::Error> {
    let (mut context, outputs) = EvalContext::with_subprocess_command(command)?;
    context.eval(QUESTION_MARK)?;
    Ok((context, outputs))
}

fn time_of(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).and_then(|about| about.modified()).ok()
}

impl Session {
    /// Builds the library if need be, starts evcxr and loads the prelude. `progress` gets a line for each step.
    pub fn start(folder: SessionFolder, progress: &dyn Fn(&str)) -> Result<Self> {
        prewarm::ensure(progress)?;
        let outline = outline::ensure(progress)?;
        let library = Library::now()?;
        progress("Starting the compiler session");
        let socket = folder.path().join("cell.sock");
        let mut command = Command::new(folder.program());
        command.env(child::CHILD_ENV, "1").env(KERNEL_ENV, "1").env(SOCKET_ENV, &socket);
        let (mut context, outputs) = start_evcxr(command).map_err(|error| anyhow!("evcxr did not start: {error}"))?;
        folder.show_standard_library()?;
        std::fs::write(folder.path().join(child::STARTED), "").context("cannot write to the session's folder")?;
        let mut state = context.state();
        let dependency = format!("{{ path = {:?} }}", outline.display().to_string());
        state.add_dep("claimlab", &dependency).map_err(|error| anyhow!("cells cannot see the library: {error}"))?;
        let interrupt = Interrupt::new(context.process_handle());
        progress("Loading the library's names");
        let code = format!("{PRELUDE}\n{HANDSHAKE}");
        let mut failed = None;
        let evaluated = std::thread::scope(|scope| {
            let evaluation = scope.spawn(|| context.eval_with_state(&code, state));
            pump(
                &outputs,
                || evaluation.is_finished(),
                &mut |event| match event {
                    Event::Stream { text, .. } => eprint!("{text}"),
                    Event::Failed { how } => failed = Some(how),
                    _ => {}
                },
                &mut || None,
            );
            evaluation.join()
        });
        match evaluated {
            Ok(Ok(_)) if failed.is_none() => {}
            Ok(Ok(_)) => return Err(anyhow!("the prelude of cells failed when it ran")),
            Ok(Err(error)) => {
                let error = CellError::from_evcxr(&error, &code);
                return Err(anyhow!("the prelude of cells does not compile:\n{}", error.traceback.join("\n")));
            }
            Err(_) => return Err(anyhow!("evcxr panicked while it loaded the library")),
        }
        let context = Debugless(CommandContext::with_eval_context(context));
        let questions = Questions::to(socket);
        let moved = Moved::default();
        Ok(Self { context, outputs: Debugless(outputs), interrupt, questions, moved, library, folder })
    }

    /// The handle that stops cells.
    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Runs one cell; `report` gets its events in order, as they happen.
    pub fn execute(&mut self, code: &str, report: &mut dyn FnMut(Event)) -> Result<(), CellError> {
        self.interrupt.begin();
        let result = match self.answer_at_once(code) {
            Some(answer) => answer.map(|data| report(Event::Result { data })),
            None => self.library.check().and_then(|()| self.compile_and_run(code, report)),
        };
        let asked = self.interrupt.end();
        if asked && !self.interrupt.is_closed() {
            // A child that does not answer was killed; the next one starts without old interrupts.
            let _ = self.questions.rearm();
        }
        result
    }

    fn compile_and_run(&mut self, code: &str, report: &mut dyn FnMut(Event)) -> Result<(), CellError> {
        self.moved.before(self.context.0.variables_and_types().map(|(name, _)| name.to_owned()));
        let ran = self.evaluate(code, report);
        let result = match ran {
            Ok(()) => {
                self.moved.after(code, self.context.0.variables_and_types().map(|(name, _)| name));
                Ok(())
            }
            Err(mut error) => {
                if error.ename == "Killed" {
                    self.moved = Moved::default();
                    self.shake_hands(&mut error);
                }
                self.moved.explain(&mut error);
                Err(error)
            }
        };
        result.map_err(|error| self.interrupt.explain(error))
    }

    /// A new child knows nothing of the kernel's socket and of interrupts.
    fn shake_hands(&mut self, error: &mut CellError) {
        if self.interrupt.is_closed() {
            return;
        }
        if let Err(again) = self.evaluate(HANDSHAKE, &mut |_| {}) {
            error.traceback.push(format!("The new process could not be prepared: {}", again.evalue));
        }
    }

    fn evaluate(&mut self, code: &str, report: &mut dyn FnMut(Event)) -> Result<(), CellError> {
        let Self { context, outputs, folder, .. } = self;
        let mut failed = None;
        let mut errors = String::new();
        let mut log = BuildLog::of(folder.path());
        let result = std::thread::scope(|scope| {
            let evaluation = scope.spawn(|| context.0.execute(code));
            pump(
                &outputs.0,
                || evaluation.is_finished(),
                &mut |event| {
                    match &event {
                        Event::Failed { how } => {
                            failed = Some(*how);
                            return;
                        }
                        Event::Stream { stderr: true, text } => errors.push_str(text),
                        _ => {}
                    }
                    report(event);
                },
                &mut || log.read(),
            );
            evaluation.join()
        });
        log.finish().into_iter().for_each(&mut *report);
        match result {
            Ok(Ok(outputs)) => {
                // What evcxr's own commands answer.
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

    /// The debug form of an expression, for the protocol's `user_expressions`.
    pub fn debug_form(&mut self, expression: &str) -> Result<String, CellError> {
        let mut told = String::new();
        self.evaluate(&format!("println!(\"{{:?}}\", {expression});"), &mut |event| {
            if let Event::Stream { stderr: false, text } = event {
                told.push_str(&text);
            }
        })?;
        Ok(told.trim_end().to_owned())
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
        // evcxr looks at the text up to the cursor; the name under it may go on behind.
        let rest = code.get(offset..).unwrap_or_default();
        let name = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
        self.context.0.hover_at(code, offset + name).ok().map(|(plain, _)| plain).filter(|text| !text.is_empty())
    }
}

/// Text of one stream that is passed on at a time.
const BATCH: usize = 64 * 1024;
/// Text that one cell may print. More would stop the browser, not inform anybody.
const MOST: usize = 8 * 1024 * 1024;

/// Passes on what the child prints until the evaluation is over and nothing is left; `idle` is asked for an event when
/// nothing came.
fn pump(
    outputs: &EvalContextOutputs,
    is_over: impl Fn() -> bool,
    report: &mut dyn FnMut(Event),
    idle: &mut dyn FnMut() -> Option<Event>,
) {
    let mut printed = Printed::default();
    loop {
        let over = is_over();
        let mut nothing = true;
        while let Ok(line) = outputs.stdout.try_recv() {
            nothing = false;
            match Event::from_line(&line) {
                Some(Event::Stream { stderr, text }) => printed.add(stderr, &text, report),
                Some(event) => {
                    printed.flush(report);
                    report(event);
                }
                None => printed.add(false, &(line + "\n"), report),
            }
        }
        // The filter in the child sends standard error as events; what comes here was written before it stood.
        while let Ok(line) = outputs.stderr.try_recv() {
            nothing = false;
            printed.add(true, &(line + "\n"), report);
        }
        if over && nothing {
            return printed.flush(report);
        }
        if nothing {
            printed.flush(report);
            if let Some(event) = idle() {
                report(event);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Joins printed pieces into fewer messages, and stops at the most that is shown.
#[derive(Default)]
struct Printed {
    stderr: bool,
    text: String,
    total: usize,
}

impl Printed {
    fn add(&mut self, stderr: bool, text: &str, report: &mut dyn FnMut(Event)) {
        if self.total > MOST {
            return;
        }
        if stderr != self.stderr {
            self.flush(report);
            self.stderr = stderr;
        }
        self.total += text.len();
        self.text.push_str(text);
        if self.total > MOST {
            self.text.push_str("\n… more was printed than is shown (8 MiB a cell); write it to a file instead\n");
        }
        if self.text.len() >= BATCH {
            self.flush(report);
        }
    }

    fn flush(&mut self, report: &mut dyn FnMut(Event)) {
        if !self.text.is_empty() {
            report(Event::Stream { stderr: self.stderr, text: std::mem::take(&mut self.text) });
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
