//! What each request is answered with. Requests that need the compiler go to the session's thread; all others are
//! answered at once, also while a cell runs.

use jupyter_protocol::{JupyterMessage, JupyterMessageContent as Content};
use serde_json::{Value, json};

use super::worker::Job;
use super::{Side, send};

/// Answers one request or hands it on.
pub fn answer(request: JupyterMessage, side: &Side) {
    let job = match &request.content {
        Content::ExecuteRequest(_) | Content::CompleteRequest(_) | Content::InspectRequest(_) => true,
        _ => false,
    };
    if job {
        return side.worker.queue(Job { request });
    }
    send(&side.publish, "status", json!({"execution_state": "busy"}), &request);
    match reply(&request, side) {
        Some((kind, content)) => send(&side.reply, kind, content, &request),
        None => eprintln!("claimlab: no answer to a message of type {}", request.header.msg_type),
    }
    send(&side.publish, "status", json!({"execution_state": "idle"}), &request);
    if matches!(request.content, Content::ShutdownRequest(_)) {
        let _ = side.ended.send(());
    }
}

fn reply(request: &JupyterMessage, side: &Side) -> Option<(&'static str, Value)> {
    Some(match &request.content {
        Content::KernelInfoRequest(_) => ("kernel_info_reply", kernel_info()),
        Content::InterruptRequest(_) => {
            side.worker.interrupt();
            ("interrupt_reply", json!({"status": "ok"}))
        }
        Content::ShutdownRequest(asked) => ("shutdown_reply", json!({"status": "ok", "restart": asked.restart})),
        Content::CommInfoRequest(_) => ("comm_info_reply", json!({"status": "ok", "comms": {}})),
        Content::HistoryRequest(_) => ("history_reply", json!({"status": "ok", "history": []})),
        Content::IsCompleteRequest(asked) => {
            let status = if is_complete(&asked.code) { "complete" } else { "incomplete" };
            ("is_complete_reply", json!({"status": status, "indent": "    "}))
        }
        _ => return None,
    })
}

fn kernel_info() -> Value {
    json!({
        "status": "ok",
        "protocol_version": "5.4",
        "implementation": "claimlab",
        "implementation_version": env!("CARGO_PKG_VERSION"),
        "language_info": {
            "name": "rust",
            "version": "1.95.0",
            "mimetype": "text/rust",
            "file_extension": ".rs",
            "pygments_lexer": "rust",
            "codemirror_mode": "rust",
            "nbconvert_exporter": "script",
        },
        "banner": "ClaimLab: legal question answering, checked claim by claim",
        "help_links": [],
        "debugger": false,
    })
}

/// Whether every bracket, string and comment of a cell is closed; anything else is for the compiler to say.
fn is_complete(code: &str) -> bool {
    let mut depth = 0_i64;
    let mut rest = code.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '/' if rest.peek() == Some(&'/') => while rest.next_if(|&next| next != '\n').is_some() {},
            '"' => loop {
                match rest.next() {
                    Some('\\') => drop(rest.next()),
                    Some('"') => break,
                    Some(_) => {}
                    None => return false,
                }
            },
            // A character literal, not a lifetime.
            '\'' => {
                let mut ahead = rest.clone();
                let first = ahead.next();
                if first == Some('\\') || ahead.next() == Some('\'') {
                    while rest.next_if(|&next| next != '\'').is_some() {}
                    rest.next();
                }
            }
            _ => {}
        }
    }
    depth <= 0
}

#[cfg(test)]
mod tests {
    use super::is_complete;

    #[test]
    fn open_brackets_and_strings_ask_for_more() {
        for code in ["let x = 1;", "f(')')", "\"(\"", "// (", "fn f<'a>(x: &'a str) {}", "'\\''"] {
            assert!(is_complete(code), "{code}");
        }
        for code in ["f(", "let s = \"half", "for i in 0..3 {"] {
            assert!(!is_complete(code), "{code}");
        }
    }
}
