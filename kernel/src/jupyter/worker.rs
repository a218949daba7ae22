//! The thread that owns the session, and the queue of cells before it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

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

/// The handle that the sockets' tasks hold.
#[derive(Debug, Clone)]
pub struct Worker {
    queue: Sender<Job>,
    interrupt: Arc<Mutex<Option<Interrupt>>>,
    /// Interrupts since the running cell began; the second one kills.
    asked: Arc<AtomicUsize>,
}

impl Worker {
    /// Starts the thread, which builds the session first.
    pub fn start(
        folder: SessionFolder,
        publish: UnboundedSender<JupyterMessage>,
        reply: UnboundedSender<JupyterMessage>,
    ) -> Self {
        let (queue, jobs) = channel();
        let worker = Self { queue, interrupt: Arc::default(), asked: Arc::default() };
        let handle = worker.clone();
        std::thread::spawn(move || {
            let mut desk = Desk { publish, reply, jobs, waiting: RefCell::default(), count: 0, asked: handle.asked };
            match desk.open(folder) {
                Ok(session) => {
                    *handle.interrupt.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.interrupt());
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

    /// The first interrupt of a cell asks it to stop, the second kills the child.
    pub fn interrupt(&self) {
        let handle = self.interrupt.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match handle {
            Some(handle) if self.asked.fetch_add(1, Ordering::SeqCst) == 0 => handle.ask(),
            Some(handle) => handle.kill(),
            None => drop(crate::process::kill_compilers()),
        }
    }

    /// Ends the child and what compiles for it.
    pub fn end(&self) {
        if let Some(handle) = self.interrupt.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            handle.kill();
        }
        crate::process::kill_compilers();
    }
}

/// What the thread works with.
#[derive(Debug)]
struct Desk {
    publish: UnboundedSender<JupyterMessage>,
    reply: UnboundedSender<JupyterMessage>,
    jobs: Receiver<Job>,
    waiting: RefCell<VecDeque<Job>>,
    count: usize,
    asked: Arc<AtomicUsize>,
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
        self.asked.store(0, Ordering::SeqCst);
        let result = session.execute(&asked.code, &mut |event| {
            if !asked.silent
                && let Some((kind, content)) = output(event, count)
            {
                send(&self.publish, kind, content, request);
            }
        });
        match result {
            Ok(()) => {
                let content = json!({"status": "ok", "execution_count": count, "payload": [], "user_expressions": {}});
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
