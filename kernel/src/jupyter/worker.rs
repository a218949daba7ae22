//! The thread that owns the session, and the queue of cells before it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use claimlab_protocol::{Bundle, Event};
use jupyter_protocol::{ExecuteRequest, JupyterMessage, JupyterMessageContent as Content};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::send;
use crate::environment::SessionFolder;
use crate::outcome::CellError;
use crate::outputs;
use crate::session::{Interrupt, Session};

/// A request that needs the session.
#[derive(Debug)]
pub struct Job {
    pub request: JupyterMessage,
}

/// How long a cell may leave an interrupt unanswered before the user is told what a second one does.
const PATIENCE: Duration = Duration::from_secs(10);

/// The handle that the sockets' tasks hold.
#[derive(Debug, Clone)]
pub struct Worker {
    queue: Sender<Job>,
    shared: Arc<Shared>,
}

/// What the session's thread tells the sockets' tasks.
#[derive(Debug)]
struct Shared {
    publish: UnboundedSender<JupyterMessage>,
    interrupt: Mutex<Option<Interrupt>>,
    /// The cell that runs.
    running: Mutex<Option<JupyterMessage>>,
    history: Mutex<Vec<(usize, String)>>,
}

impl Worker {
    /// Starts the thread, which builds the session first.
    pub fn start(
        folder: SessionFolder,
        publish: UnboundedSender<JupyterMessage>,
        reply: UnboundedSender<JupyterMessage>,
    ) -> Self {
        let (queue, jobs) = channel();
        let shared = Arc::new(Shared {
            publish: publish.clone(),
            interrupt: Mutex::default(),
            running: Mutex::default(),
            history: Mutex::default(),
        });
        let worker = Self { queue, shared: shared.clone() };
        std::thread::spawn(move || {
            let mut desk = Desk { publish, reply, jobs, waiting: RefCell::default(), count: 0, shared };
            match desk.open(folder) {
                Ok(session) => {
                    *held(&desk.shared.interrupt) = Some(session.interrupt());
                    desk.work(session);
                }
                Err(error) => desk.refuse(&CellError::new("KernelError", &format!("{error:#}"))),
            }
        });
        worker
    }

    /// Queues a request.
    pub fn queue(&self, job: Job) {
        let _ = self.queue.send(job);
    }

    /// Whether a request that needs the compiler would have to wait: a cell runs, or the session is not ready.
    pub fn is_busy(&self) -> bool {
        held(&self.shared.running).is_some() || held(&self.shared.interrupt).is_none()
    }

    /// The cells that were run, with their numbers.
    pub fn history(&self) -> Vec<(usize, String)> {
        held(&self.shared.history).clone()
    }

    /// The first interrupt of a cell asks it to stop, the second kills the child.
    pub fn interrupt(&self) {
        let Some(handle) = held(&self.shared.interrupt).clone() else {
            crate::process::kill_compilers();
            return;
        };
        handle.ask();
        let Some(cell) = handle.unanswered() else { return };
        let shared = self.shared.clone();
        std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            if handle.unanswered() == Some(cell) {
                shared.warn();
            }
        });
    }

    /// Ends the child and what compiles for it.
    pub fn end(&self) {
        if let Some(handle) = held(&self.shared.interrupt).clone() {
            handle.close();
        }
        crate::process::kill_compilers();
    }
}

impl Shared {
    /// Says what does not answer the interrupt, and what a second one will do.
    fn warn(&self) {
        let running = held(&self.running);
        let Some(request) = running.as_ref() else { return };
        let Content::ExecuteRequest(asked) = &request.content else { return };
        let line = asked.code.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let text = format!(
            "\nThe interrupt has had no answer for {} s: the cell that ends in `{line}` is still running, in code that \
             does not listen. Interrupt again to end its process; all variables will be lost.\n",
            PATIENCE.as_secs()
        );
        send(&self.publish, "stream", json!({"name": "stderr", "text": text}), request);
    }
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the thread works with.
#[derive(Debug)]
struct Desk {
    publish: UnboundedSender<JupyterMessage>,
    reply: UnboundedSender<JupyterMessage>,
    jobs: Receiver<Job>,
    waiting: RefCell<VecDeque<Job>>,
    count: usize,
    shared: Arc<Shared>,
}

impl Desk {
    fn open(&self, folder: SessionFolder) -> anyhow::Result<Session> {
        let began = Instant::now();
        let shown = RefCell::new(false);
        let show = |line: &str, last: bool| {
            let mut waiting = self.waiting.borrow_mut();
            waiting.extend(self.jobs.try_iter());
            let Some(first) = waiting.iter().find(|job| matches!(job.request.content, Content::ExecuteRequest(_)))
            else {
                return;
            };
            let mut shown = shown.borrow_mut();
            if last && !*shown {
                return;
            }
            let text = format!("{line} ({:.0} s)", began.elapsed().as_secs_f64());
            let kind = if *shown { "update_display_data" } else { "display_data" };
            let content =
                json!({"data": {"text/plain": text}, "metadata": {}, "transient": {"display_id": "claimlab-start"}});
            send(&self.publish, kind, content, &first.request);
            *shown = true;
        };
        let session = Session::start(folder, &|line| show(&format!("Preparing the session: {line}"), false))?;
        show("The session is ready", true);
        Ok(session)
    }

    fn next(&self) -> Option<Job> {
        let waiting = self.waiting.borrow_mut().pop_front();
        waiting.or_else(|| self.jobs.recv().ok())
    }

    fn work(&mut self, mut session: Session) {
        while let Some(Job { request }) = self.next() {
            send(&self.publish, "status", json!({"execution_state": "busy"}), &request);
            match &request.content {
                Content::ExecuteRequest(asked) => self.execute(&mut session, asked, &request),
                Content::CompleteRequest(asked) => {
                    let offset = byte_offset(&asked.code, asked.cursor_pos);
                    let (matches, start, end) = session.complete(&asked.code, offset);
                    let content = json!({"status": "ok", "matches": matches, "metadata": {},
                        "cursor_start": cursor(&asked.code, start), "cursor_end": cursor(&asked.code, end)});
                    send(&self.reply, "complete_reply", content, &request);
                }
                Content::InspectRequest(asked) => {
                    let found = session.inspect(&asked.code, byte_offset(&asked.code, asked.cursor_pos));
                    let data = found.as_ref().map_or(json!({}), |text| json!({"text/plain": text}));
                    let content = json!({"status": "ok", "found": found.is_some(), "data": data, "metadata": {}});
                    send(&self.reply, "inspect_reply", content, &request);
                }
                _ => {}
            }
            send(&self.publish, "status", json!({"execution_state": "idle"}), &request);
        }
    }

    fn execute(&mut self, session: &mut Session, asked: &ExecuteRequest, request: &JupyterMessage) {
        if asked.store_history && !asked.silent {
            self.count += 1;
        }
        let count = self.count;
        if !asked.silent {
            send(&self.publish, "execute_input", json!({"code": asked.code, "execution_count": count}), request);
        }
        if asked.store_history && !asked.silent {
            held(&self.shared.history).push((count, asked.code.clone()));
        }
        *held(&self.shared.running) = Some(request.clone());
        let result = session.execute(&asked.code, &mut |event| {
            if !asked.silent
                && let Some((kind, content)) = output(event, count)
            {
                send(&self.publish, kind, content, request);
            }
        });
        let expressions = match &result {
            Ok(()) => expressions(session, asked),
            Err(_) => json!({}),
        };
        *held(&self.shared.running) = None;
        match result {
            Ok(()) => {
                let content =
                    json!({"status": "ok", "execution_count": count, "payload": [], "user_expressions": expressions});
                send(&self.reply, "execute_reply", content, request);
            }
            Err(error) => {
                self.report(&error, count, request, asked.silent);
                if asked.stop_on_error {
                    self.abort_queued(count);
                }
            }
        }
    }

    fn report(&self, error: &CellError, count: usize, request: &JupyterMessage, silent: bool) {
        let CellError { ename, evalue, traceback } = error;
        let told = json!({"ename": ename, "evalue": evalue, "traceback": traceback});
        if !silent {
            send(&self.publish, "error", told, request);
        }
        let content = json!({"status": "error", "execution_count": count, "payload": [], "user_expressions": null,
            "ename": ename, "evalue": evalue, "traceback": traceback});
        send(&self.reply, "execute_reply", content, request);
    }

    /// Cells that were queued behind one that failed are not run.
    fn abort_queued(&self, count: usize) {
        let mut waiting = self.waiting.borrow_mut();
        waiting.extend(self.jobs.try_iter());
        let (cells, others): (VecDeque<_>, VecDeque<_>) =
            waiting.drain(..).partition(|job| matches!(job.request.content, Content::ExecuteRequest(_)));
        *waiting = others;
        for Job { request } in cells {
            send(&self.publish, "status", json!({"execution_state": "busy"}), &request);
            let content = json!({"status": "aborted", "execution_count": count, "payload": [], "user_expressions": {}});
            send(&self.reply, "execute_reply", content, &request);
            send(&self.publish, "status", json!({"execution_state": "idle"}), &request);
        }
    }

    /// Without a session, every cell gets the reason.
    fn refuse(&mut self, error: &CellError) {
        while let Some(Job { request }) = self.next() {
            send(&self.publish, "status", json!({"execution_state": "busy"}), &request);
            self.report(error, self.count, &request, false);
            send(&self.publish, "status", json!({"execution_state": "idle"}), &request);
        }
    }
}

/// The debug forms of the expressions that a client asks for with a cell.
fn expressions(session: &mut Session, asked: &ExecuteRequest) -> Value {
    let mut found = serde_json::Map::new();
    for (name, expression) in asked.user_expressions.iter().flatten() {
        let value = match session.debug_form(expression) {
            Ok(text) => json!({"status": "ok", "data": {"text/plain": text}, "metadata": {}}),
            Err(CellError { ename, evalue, traceback }) => {
                json!({"status": "error", "ename": ename, "evalue": evalue, "traceback": traceback})
            }
        };
        found.insert(name.clone(), value);
    }
    Value::Object(found)
}

fn output(event: Event, count: usize) -> Option<(&'static str, Value)> {
    let data = |bundle: &Bundle| serde_json::to_value(outputs::media(bundle)).unwrap_or_else(|_| json!({}));
    Some(match event {
        Event::Stream { stderr, text } => {
            ("stream", json!({"name": if stderr { "stderr" } else { "stdout" }, "text": text}))
        }
        Event::Display { data: bundle, id } => {
            let mut content = json!({"data": data(&bundle), "metadata": {}});
            if let Some(id) = id {
                content["transient"] = json!({"display_id": id});
            }
            ("display_data", content)
        }
        Event::Update { data: bundle, id } => {
            ("update_display_data", json!({"data": data(&bundle), "metadata": {}, "transient": {"display_id": id}}))
        }
        Event::Clear => ("clear_output", json!({"wait": true})),
        Event::Result { data: bundle } => {
            ("execute_result", json!({"data": data(&bundle), "metadata": {}, "execution_count": count}))
        }
        _ => return None,
    })
}

/// Jupyter counts characters, rust-analyzer bytes.
fn byte_offset(code: &str, characters: usize) -> usize {
    code.char_indices().nth(characters).map_or(code.len(), |(at, _)| at)
}

fn cursor(code: &str, offset: usize) -> usize {
    code.get(..offset).map_or_else(|| code.chars().count(), |before| before.chars().count())
}
