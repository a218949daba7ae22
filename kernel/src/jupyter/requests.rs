//! What each request is answered with. Requests that need the compiler go to the session's thread; all others are
//! answered at once, also while a cell runs.

use jupyter_protocol::{HistoryRequest, JupyterMessage, JupyterMessageContent as Content};
use serde_json::{Value, json};

use super::worker::Job;
use super::{Side, send};

/// Answers one request or hands it on.
pub fn answer(request: JupyterMessage, side: &Side) {
    let needs_session = match &request.content {
        Content::ExecuteRequest(_) => true,
        // Help that comes after the cell has ended helps nobody.
        Content::CompleteRequest(_) | Content::InspectRequest(_) => !side.worker.is_busy(),
        _ => false,
    };
    if needs_session {
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
        Content::CompleteRequest(asked) => (
            "complete_reply",
            json!({"status": "ok", "matches": [], "metadata": {}, "cursor_start": asked.cursor_pos,
                "cursor_end": asked.cursor_pos}),
        ),
        Content::InspectRequest(_) => {
            ("inspect_reply", json!({"status": "ok", "found": false, "data": {}, "metadata": {}}))
        }
        Content::HistoryRequest(asked) => {
            ("history_reply", json!({"status": "ok", "history": history(&side.worker.history(), asked)}))
        }
        Content::IsCompleteRequest(asked) => {
            let status = if is_complete(&asked.code) { "complete" } else { "incomplete" };
            ("is_complete_reply", json!({"status": status, "indent": "    "}))
        }
        _ => return None,
    })
}

/// This session's cells as the protocol's triples; outputs are not kept.
fn history(cells: &[(usize, String)], asked: &HistoryRequest) -> Vec<Value> {
    let last = |n: i32| cells.len().saturating_sub(usize::try_from(n).unwrap_or(0));
    let (chosen, with_output): (Vec<&(usize, String)>, bool) = match asked {
        HistoryRequest::Tail { n, output, .. } => (cells[last(*n)..].iter().collect(), *output),
        HistoryRequest::Range { start, stop, output, .. } => {
            let within = |number: usize| {
                let number = i32::try_from(number).unwrap_or(i32::MAX);
                number >= *start && (number < *stop || *stop <= 0)
            };
            (cells.iter().filter(|(number, _)| within(*number)).collect(), *output)
        }
        HistoryRequest::Search { pattern, n, output, .. } => {
            let found: Vec<_> = cells.iter().filter(|(_, code)| matches_glob(code, pattern)).collect();
            let skip = if *n > 0 { found.len().saturating_sub(usize::try_from(*n).unwrap_or(0)) } else { 0 };
            (found.into_iter().skip(skip).collect(), *output)
        }
    };
    let entry = |(number, code): &(usize, String)| {
        if with_output { json!([0, number, [code, ""]]) } else { json!([0, number, code]) }
    };
    chosen.into_iter().map(entry).collect()
}

/// `*` for any text and `?` for any letter, as the protocol's search wants.
fn matches_glob(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
    let (mut t, mut p, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&letter) if letter == '?' || letter == text[t] => {
                t += 1;
                p += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|letter| *letter == '*')
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
    use jupyter_protocol::HistoryRequest;

    use super::{history, is_complete, matches_glob};

    #[test]
    fn history_is_cut_and_searched_as_asked() {
        let cells: Vec<(usize, String)> = vec![(1, "let a = 1;".into()), (2, "a".into()), (3, "let b = a;".into())];
        let tail = HistoryRequest::Tail { n: 2, output: false, raw: true };
        assert_eq!(history(&cells, &tail), [serde_json::json!([0, 2, "a"]), serde_json::json!([0, 3, "let b = a;"])]);
        let search = HistoryRequest::Search { pattern: "let*".into(), unique: false, output: true, raw: true, n: 1 };
        assert_eq!(history(&cells, &search), [serde_json::json!([0, 3, ["let b = a;", ""]])]);
        let range = HistoryRequest::Range { session: None, start: 1, stop: 2, output: false, raw: true };
        assert_eq!(history(&cells, &range).len(), 1);
        let odd = HistoryRequest::Tail { n: -5, output: false, raw: true };
        assert!(history(&cells, &odd).is_empty());
    }

    #[test]
    fn globs_match_as_shells_do() {
        for (text, pattern, expected) in
            [("abc", "a*c", true), ("abc", "a?c", true), ("abc", "a?d", false), ("", "*", true), ("aab", "*ab", true)]
        {
            assert_eq!(matches_glob(text, pattern), expected, "{text} {pattern}");
        }
    }

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
