//! `claimlab kernel`: the Jupyter wire protocol in front of a session.
//!
//! Sockets are answered from the first moment; the session is built behind them on a thread of its own, and a cell
//! that comes before it is ready waits and shows what is being done.

mod parent;
mod requests;
mod worker;

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use jupyter_protocol::{ConnectionInfo, JupyterMessage, JupyterMessageContent};
use jupyter_zmq_client::{
    KernelHeartbeatConnection, KernelIoPubXPubConnection, RouterRecvConnection, RouterSendConnection, RuntimeError,
    SubscriptionEvent, create_kernel_control_connection, create_kernel_heartbeat_connection,
    create_kernel_iopub_xpub_connection, create_kernel_shell_connection, create_kernel_stdin_connection,
};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::environment;
use worker::Worker;

/// Serves one client until it asks for shutdown.
pub fn serve(connection_file: &Path) -> Result<()> {
    let connection = read_connection(connection_file)?;
    // SAFETY: this is the first thing the command does; no other thread runs.
    let folder = unsafe { environment::prepare() }?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start the kernel's threads")?;
    let path = folder.path().to_owned();
    let served = runtime.block_on(talk(&connection, folder));
    // The session's thread may be in the middle of a cell; its folder goes with the process.
    environment::remove(&path);
    match served {
        Ok(()) => std::process::exit(0),
        Err(error) => Err(error),
    }
}

fn read_connection(file: &Path) -> Result<ConnectionInfo> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read the connection file {}", file.display()))?;
    // The parser's own message may quote the file, and the file holds a key.
    let connection: ConnectionInfo = serde_json::from_str(&text).map_err(|error| {
        anyhow!(
            "{} is not a Jupyter connection file (line {}, column {}); start the kernel through Jupyter",
            file.display(),
            error.line(),
            error.column()
        )
    })?;
    if connection.signature_scheme != "hmac-sha256" {
        bail!(
            "the connection file asks for the signature scheme {:?}; expected hmac-sha256",
            connection.signature_scheme
        );
    }
    Ok(connection)
}

async fn talk(connection: &ConnectionInfo, folder: environment::SessionFolder) -> Result<()> {
    let session = uuid::Uuid::new_v4().to_string();
    let failed = |what: &str, port: u16, error: RuntimeError| {
        let ip = &connection.ip;
        anyhow!("cannot open the kernel's {what} socket at {ip}:{port}: {error}; if the port is taken, start it again")
    };
    let iopub = create_kernel_iopub_xpub_connection(connection, &session).await;
    let iopub = iopub.map_err(|error| failed("iopub", connection.iopub_port, error))?;
    let shell = create_kernel_shell_connection(connection, &session).await;
    let shell = shell.map_err(|error| failed("shell", connection.shell_port, error))?;
    let control = create_kernel_control_connection(connection, &session).await;
    let control = control.map_err(|error| failed("control", connection.control_port, error))?;
    let stdin = create_kernel_stdin_connection(connection, &session).await;
    let _stdin = stdin.map_err(|error| failed("stdin", connection.stdin_port, error))?;
    let heartbeat = create_kernel_heartbeat_connection(connection).await;
    let heartbeat = heartbeat.map_err(|error| failed("heartbeat", connection.hb_port, error))?;

    let (publish, published) = unbounded_channel();
    tokio::spawn(publish_all(iopub, published));
    tokio::spawn(beat(heartbeat));

    let (shell_send, shell_read) = shell.split();
    let (control_send, control_read) = control.split();
    let (shell_reply, shell_replies) = unbounded_channel();
    let (control_reply, control_replies) = unbounded_channel();
    tokio::spawn(reply_all(shell_send, shell_replies));
    tokio::spawn(reply_all(control_send, control_replies));

    let worker = Worker::start(folder, publish.clone(), shell_reply.clone());
    let (ended, mut ends) = unbounded_channel();
    if let Some(client) = std::env::var_os(parent::PID_ENV) {
        tokio::spawn(parent::end_with(client, ended.clone()));
    }
    let shell_side =
        Side { publish: publish.clone(), reply: shell_reply, worker: worker.clone(), ended: ended.clone() };
    let control_side = Side { publish, reply: control_reply, worker: worker.clone(), ended };
    tokio::spawn(listen(shell_read, shell_side));
    tokio::spawn(listen(control_read, control_side));
    ends.recv().await;
    worker.end();
    // Lets the last replies leave.
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    Ok(())
}

/// Answers heartbeats. One that fails is the fault of the peer it came from (it went away, or speaks something else).
async fn beat(mut heartbeat: KernelHeartbeatConnection) {
    loop {
        if let Err(error) = heartbeat.single_heartbeat().await {
            eprintln!("claimlab: refused a heartbeat: {error}");
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
}

/// What one of the two request channels answers with.
#[derive(Debug, Clone)]
struct Side {
    publish: UnboundedSender<JupyterMessage>,
    reply: UnboundedSender<JupyterMessage>,
    worker: Worker,
    ended: UnboundedSender<()>,
}

async fn listen(mut requests: RouterRecvConnection, side: Side) {
    loop {
        match requests.read().await {
            Ok(request) => requests::answer(request, &side),
            // A wrong signature or a malformed message gets no answer; the socket goes on.
            Err(RuntimeError::ZmqError(_)) => return,
            Err(error) => eprintln!("claimlab: refused a message: {error}"),
        }
    }
}

async fn reply_all(mut socket: RouterSendConnection, mut replies: UnboundedReceiver<JupyterMessage>) {
    while let Some(reply) = replies.recv().await {
        if let Err(error) = socket.send(reply).await {
            eprintln!("claimlab: a reply was not sent: {error}");
        }
    }
}

async fn publish_all(mut iopub: KernelIoPubXPubConnection, mut messages: UnboundedReceiver<JupyterMessage>) {
    loop {
        let message = tokio::select! {
            message = messages.recv() => message,
            event = iopub.recv_subscription() => match event {
                Ok(SubscriptionEvent::Subscribe(topic)) => {
                    message("iopub_welcome", json!({"subscription": topic}), None)
                }
                Ok(SubscriptionEvent::Unsubscribe(_)) | Err(_) => continue,
            },
        };
        let Some(message) = message else { return };
        if let Err(error) = iopub.send(message).await {
            eprintln!("claimlab: an output was not sent: {error}");
        }
    }
}

/// A message of a type with this content, as a child of `parent`; nothing when the content does not fit the type,
/// which is a fault of this program that its tests find.
fn message(kind: &str, content: Value, parent: Option<&JupyterMessage>) -> Option<JupyterMessage> {
    match JupyterMessageContent::from_type_and_content(kind, content) {
        Ok(content) => Some(JupyterMessage::new(content, parent)),
        Err(error) => {
            eprintln!("claimlab: cannot form a {kind} message: {error}");
            None
        }
    }
}

/// Sends a message of a type, if it can be formed.
fn send(to: &UnboundedSender<JupyterMessage>, kind: &str, content: Value, parent: &JupyterMessage) {
    if let Some(message) = message(kind, content, Some(parent)) {
        let _ = to.send(message);
    }
}
