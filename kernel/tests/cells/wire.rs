//! One session over the wire: what succeeds, what fails and how, and that variables survive failures.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use jupyter_protocol::{ConnectionInfo, ExecuteRequest, JupyterMessage, JupyterMessageContent as Content, Transport};
use jupyter_zmq_client::{
    ClientIoPubConnection, ClientShellConnection, create_client_iopub_connection,
    create_client_shell_connection_with_identity, peek_ports_with_listeners, peer_identity_for_session,
};
use serde_json::{Value, json};

use super::{able, claimlab, one_at_a_time};

struct Client {
    kernel: Child,
    shell: ClientShellConnection,
    iopub: ClientIoPubConnection,
    _folder: tempfile::TempDir,
}

struct Ran {
    reply: Value,
    outputs: Vec<(String, Value)>,
}

impl Client {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (ports, listeners) = peek_ports_with_listeners("127.0.0.1".parse().unwrap(), 5).await.unwrap();
        let connection = ConnectionInfo {
            ip: "127.0.0.1".into(),
            transport: Transport::TCP,
            shell_port: ports[0],
            iopub_port: ports[1],
            stdin_port: ports[2],
            control_port: ports[3],
            hb_port: ports[4],
            key: "a-key-for-this-test".into(),
            signature_scheme: "hmac-sha256".into(),
            kernel_name: None,
        };
        let file = folder.path().join("connection.json");
        std::fs::write(&file, serde_json::to_string(&connection).unwrap()).unwrap();
        drop(listeners);
        let kernel = claimlab(&["kernel", "--connection-file"])
            .arg(&file)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let session = "test-session";
        let identity = peer_identity_for_session(session).unwrap();
        let shell = create_client_shell_connection_with_identity(&connection, session, identity).await.unwrap();
        let iopub = create_client_iopub_connection(&connection, "", session).await.unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
        Self { kernel, shell, iopub, _folder: folder }
    }

    async fn ask(&mut self, content: Content) -> (String, Value) {
        let request: JupyterMessage = JupyterMessage::new(content, None);
        let id = request.header.msg_id.clone();
        self.shell.send(request).await.unwrap();
        loop {
            let reply = self.shell.read().await.unwrap();
            if reply.parent_header.as_ref().is_some_and(|parent| parent.msg_id == id) {
                return (id, serde_json::to_value(&reply.content).unwrap());
            }
        }
    }

    async fn run(&mut self, code: &str) -> Ran {
        let (id, reply) = self.ask(Content::ExecuteRequest(ExecuteRequest::new(code.to_owned()))).await;
        let mut outputs = Vec::new();
        loop {
            let message = self.iopub.read().await.unwrap();
            if message.parent_header.as_ref().is_none_or(|parent| parent.msg_id != id) {
                continue;
            }
            let content = serde_json::to_value(&message.content).unwrap();
            let kind = message.header.msg_type.clone();
            if kind == "status" && content["execution_state"] == "idle" {
                return Ran { reply, outputs };
            }
            outputs.push((kind, content));
        }
    }
}

impl Ran {
    fn text(&self) -> String {
        self.outputs.iter().map(|(kind, content)| format!("{kind} {content}\n")).collect()
    }

    fn of(&self, kind: &str) -> Vec<&Value> {
        self.outputs.iter().filter(|(found, _)| found == kind).map(|(_, content)| content).collect()
    }

    fn stream(&self) -> String {
        self.of("stream").iter().map(|content| content["text"].as_str().unwrap_or_default()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_over_the_wire() {
    let _one = one_at_a_time();
    if !able("a_session_over_the_wire") {
        return;
    }
    let began = Instant::now();
    let mut client = Client::start().await;
    let (_, info) = client.ask(Content::KernelInfoRequest(Default::default())).await;
    assert_eq!(info["language_info"]["name"], "rust");
    println!("kernel_info after {:.2} s", began.elapsed().as_secs_f64());

    let ran = client.run("let kept = 41;\nkept + 1").await;
    assert_eq!(ran.reply["status"], "ok", "{}", ran.text());
    assert_eq!(ran.reply["execution_count"], 1);
    assert_eq!(ran.of("execute_result")[0]["data"]["text/plain"], "42");
    println!("first cell after {:.2} s", began.elapsed().as_secs_f64());

    let ran = client.run("print!(\"half\"); std::io::Write::flush(&mut std::io::stdout()).ok();").await;
    assert_eq!(ran.stream(), "half", "{}", ran.text());

    let several = "let a = df!(\"x\" => [1, 2])?;\na.evcxr_display();\nprintln!(\"between\");\na.evcxr_display();";
    let several = format!("use claimlab::polars::prelude::df;\n{several}");
    let ran = client.run(&several).await;
    assert_eq!(ran.of("display_data").len(), 2, "{}", ran.text());
    let kinds: Vec<&str> = ran.outputs.iter().map(|(kind, _)| kind.as_str()).collect();
    let order = ["display_data", "stream", "display_data"];
    assert!(kinds.windows(3).any(|three| three == order), "each is shown when it is made: {kinds:?}");

    let ran = client.run("let accentué = kept.no_such_thing();").await;
    assert_eq!(
        (&ran.reply["status"], &ran.reply["ename"]),
        (&json!("error"), &json!("CompileError")),
        "{}",
        ran.text()
    );
    assert!(ran.of("error")[0]["traceback"].to_string().contains("accentué"), "the report points into the cell");

    let ran = client.run("let v: Vec<i32> = vec![]; println!(\"{}\", v[3]);").await;
    assert_eq!((&ran.reply["status"], &ran.reply["ename"]), (&json!("error"), &json!("Panic")), "{}", ran.text());
    assert!(ran.reply["evalue"].as_str().unwrap().contains("index out of bounds"), "{}", ran.reply);

    let ran = client.run("std::fs::read_to_string(\"/no/such/file\")?;").await;
    assert_eq!((&ran.reply["status"], &ran.reply["ename"]), (&json!("error"), &json!("Error")), "{}", ran.text());
    assert!(ran.reply["evalue"].as_str().unwrap().contains("No such file"), "{}", ran.reply);

    let ran = client.run("kept").await;
    assert_eq!(ran.of("execute_result")[0]["data"]["text/plain"], "41", "variables survive failures");

    let mut times = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        client.run("kept + 1").await;
        times.push(began.elapsed().as_secs_f64());
    }
    println!("kept + 1: {times:.2?} s");

    let ran = client.run("std::process::exit(3)").await;
    assert_eq!((&ran.reply["status"], &ran.reply["ename"]), (&json!("error"), &json!("Killed")), "{}", ran.text());
    let ran = client.run("1 + 1").await;
    assert_eq!(ran.of("execute_result")[0]["data"]["text/plain"], "2", "the kernel lives on: {}", ran.text());

    let (_, reply) = client.ask(Content::ShutdownRequest(jupyter_protocol::ShutdownRequest { restart: false })).await;
    assert_eq!(reply["status"], "ok");
    let ended = Instant::now();
    while client.kernel.try_wait().unwrap().is_none() {
        assert!(ended.elapsed() < Duration::from_secs(10), "the kernel did not end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
