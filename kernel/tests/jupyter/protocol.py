"""The kernel's promises over the real wire: display, errors, interrupts, the protocol's requests, helping commands.

    python protocol.py KERNEL_BINARY FOLDER

Prints one line a promise; the first one that is broken ends it with a traceback.
"""

import hashlib
import hmac
import json
import os
import signal
import sys
import threading
import time

import zmq
from kernel_client import Kernel, children

PROGRAM, FOLDER = sys.argv[1], sys.argv[2]
SLOW = "use std::time::Duration; std::thread::sleep(Duration::from_millis({}));"


def says(promise):
    print(f"ok  {promise}", flush=True)


def displays(kernel):
    times = []
    ran = kernel.ok(
        'for n in 0..3 { println!("line {n}"); std::thread::sleep(std::time::Duration::from_millis(400)); }',
        watch=lambda kind, content: times.append(time.monotonic()) if kind == "stream" else None,
    )
    assert ran.text() == "line 0\nline 1\nline 2\n", ran.text()
    assert times[-1] - times[0] > 0.6, "lines come while the cell runs"
    ran = kernel.ok('print!("10%\\r"); print!("half"); eprintln!("warned"); std::io::Write::flush(&mut std::io::stdout()).ok();')
    assert "10%\rhalf" in ran.text() and "warned" in ran.text("stderr"), ran.outputs
    ran = kernel.ok(
        "use claimlab::polars::prelude::df;\nlet frame = df!(\"a\" => [1, 2, 3])?;\nframe.evcxr_display();\n"
        'println!("between");\nframe.clone().lazy().evcxr_display();'
    )
    kinds = [kind for kind, _, _ in ran.outputs if kind in ("display_data", "stream")]
    assert kinds == ["display_data", "stream", "display_data"], kinds
    ran = kernel.ok(
        'for n in 0..2 { println!("EVCXR_BEGIN_CONTENT text/html\\n<b>{n}</b>\\nEVCXR_END_CONTENT"); }\nprintln!("after");'
    )
    shown = [content["data"]["text/html"] for content in ran.of("display_data")]
    assert shown == ["<b>0</b>", "<b>1</b>"], "other crates' marks are displays of their own"
    ran = kernel.ok('println!("gone"); claimlab::signal::clear(); println!("stays");')
    assert ran.of("clear_output") == [{"wait": True}]
    says("tables, texts and figures are shown when they are made; updates, clearing and half lines work")
    ran = kernel.ok(
        'let progress = claimlab::signal::Progress::new("Counting", 20);\n'
        "for _ in 0..20 { std::thread::sleep(std::time::Duration::from_millis(100)); progress.advance(1); }\n"
        "progress.fail(2); drop(progress);"
    )
    bars = ran.of("display_data") + ran.of("update_display_data")
    assert len(bars) >= 4 and "/ 20" in bars[0]["data"]["text/plain"] and "left" in bars[0]["data"]["text/plain"]
    assert bars[-1]["data"]["text/plain"].startswith("Counting: 20 in") and "2 failed" in bars[-1]["data"]["text/plain"]
    assert len({bar["transient"]["display_id"] for bar in bars}) == 1
    says("a long operation is one bar that moves and ends as one line")
    ran = kernel.ok('let evil = df!("t" => ["<script>alert(1)</script>"])?;\nevil.evcxr_display();')
    assert "<script>" not in ran.of("display_data")[0]["data"]["text/html"]
    says("text of data is escaped")


def errors(kernel):
    kernel.ok("let kept = 41;")
    ran = kernel.run('let accentué = "é"; let x: i32 = kept.no_such_thing();')
    assert (ran.status, ran.reply["ename"]) == ("error", "CompileError"), ran.reply
    assert "no_such_thing" in "\n".join(ran.of("error")[0]["traceback"]) and ran.reply["traceback"]
    ran = kernel.run("let v: Vec<i32> = vec![]; v[3];")
    assert (ran.status, ran.reply["ename"]) == ("error", "Panic") and "out of bounds" in ran.reply["evalue"]
    ran = kernel.run('std::fs::read_to_string("/no/such/file")?;')
    assert (ran.status, ran.reply["ename"]) == ("error", "Error") and "No such file" in ran.reply["evalue"]
    assert kernel.ok("kept").result() == "41", "variables survive"
    kernel.ok("let table = vec![1, 2, 3];")
    kernel.ok("drop(table);")
    ran = kernel.run("table.len()")
    assert "drop(table);" in ran.reply["evalue"] and "&table" in ran.reply["evalue"], ran.reply["evalue"]
    says("compile errors, panics and failed `?` are errors with a story; a moved variable is named with the fix")


def protocol(kernel):
    count = kernel.ok("1").reply["execution_count"]
    assert kernel.ok("2", store_history=False).reply["execution_count"] == count
    ran = kernel.ok('println!("hush");', silent=True)
    assert not ran.of("stream") and not ran.of("execute_input")
    ran = kernel.ok("let n = 5;", user_expressions={"n": "n", "bad": "nothing_there"})
    told = ran.reply["user_expressions"]
    assert told["n"]["data"]["text/plain"] == "5" and told["bad"]["status"] == "error", told
    for request, check in [
        (kernel.client.history(hist_access_type="tail", n=1), lambda c: c["history"][-1][2] == "let n = 5;"),
        (kernel.client.is_complete("for i in 0..3 {"), lambda c: c["status"] == "incomplete"),
        (kernel.client.is_complete("1 + 1"), lambda c: c["status"] == "complete"),
        (kernel.client.comm_info(), lambda c: c["comms"] == {}),
        (kernel.client.complete("lab_is_not_here; Lab::op", 24), lambda c: any(m.startswith("open") for m in c["matches"])),
        (kernel.client.inspect("Lab::open", 7), lambda c: c["found"] and "CLAIMLAB_HOME" in c["data"]["text/plain"]),
    ]:
        reply = kernel.next_of("shell", request, 120)
        assert check(reply["content"]), reply["content"]
    message = kernel.send(SLOW.format(2500))
    time.sleep(1.2)
    began = time.monotonic()
    info = kernel.client.session.msg("kernel_info_request")
    kernel.client.control_channel.send(info)
    reply = kernel.client.get_control_msg(timeout=5)
    assert reply["msg_type"] == "kernel_info_reply" and time.monotonic() - began < 1
    assert kernel.client.hb_channel.is_beating()
    kernel.collect(message)
    first, second = kernel.send('panic!("first")'), kernel.send('println!("second");')
    assert kernel.collect(first).status == "error"
    assert kernel.collect(second).status == "aborted", "cells behind a failed one are not run"
    says("counts, silent, user_expressions, history, is_complete, complete, inspect, comm_info, kernel_info meanwhile")


def signatures(kernel):
    info = kernel.manager.get_connection_info()
    context = zmq.Context.instance()
    socket = context.socket(zmq.DEALER)
    socket.connect(f"tcp://{info['ip']}:{info['shell_port']}")
    header = json.dumps({"msg_id": "x", "session": "x", "username": "x", "msg_type": "kernel_info_request", "version": "5.3", "date": "2026-01-01T00:00:00Z"}).encode()
    parts = [header, b"{}", b"{}", b"{}"]

    def send(key):
        digest = hmac.new(key, digestmod=hashlib.sha256)
        for part in parts:
            digest.update(part)
        socket.send_multipart([b"<IDS|MSG>", digest.hexdigest().encode(), *parts])
        return socket.poll(1500)

    assert not send(b"not the key"), "a wrong signature is refused"
    assert send(info["key"]), "the right one is answered"
    socket.close(linger=0)
    says("wrong signatures are refused")


def interrupts(kernel):
    kernel.ok("let kept = 41;")
    loop = (
        'let progress = claimlab::signal::Progress::new("Working", 1000);\n'
        'for _ in 0..1000 { claimlab::signal::check("12 answers are kept")?; '
        "std::thread::sleep(std::time::Duration::from_millis(20)); progress.advance(1); }"
    )
    message = kernel.send(loop)
    behind = kernel.send('println!("never");')
    kernel.interrupt_after(3)
    ran = kernel.collect(message)
    assert (ran.status, ran.reply["ename"]) == ("error", "Interrupted") and "12 answers are kept" in ran.reply["evalue"], ran.reply
    assert kernel.collect(behind).status == "aborted"
    assert kernel.ok("kept").result() == "41"
    says("a running loop of the library is interrupted, says what is kept, and variables stay")
    query = (
        "use claimlab::polars::prelude::{df, JoinType, JoinArgs};\n"
        'let many: Vec<i64> = (0..60_000).map(|n| n % 3).collect();\nlet big = df!("k" => many)?.lazy();\n'
        'let joined = big.clone().join(big, [col("k")], [col("k")], JoinArgs::new(JoinType::Inner)).collect()?;\njoined.height()'
    )
    kernel.interrupt_after(4)
    ran = kernel.run(query)
    assert ran.status == "error" and ran.reply["ename"] == "Interrupted", ran.reply
    assert kernel.ok('df!("a" => [1, 2])?.lazy().select([col("a").sum()]).collect()?.height()').result() == "1"
    says("a running query is interrupted, and the next one runs")
    deep = "fn f0() -> u64 { 1 }\n" + "\n".join(
        f"fn f{n}<T: std::fmt::Debug + Clone>(t: T) -> String {{ format!(\"{{:?}}\", vec![(t.clone(), t); {n}]) }}" for n in range(1, 400)
    ) + "\n" + "\n".join(f"f{n}((1u8, \"a\", {n}.5f64));f{n}(vec![{n}u16]);f{n}(Some(\"x\"));" for n in range(1, 400))
    kernel.interrupt_after(1.5)
    ran = kernel.run(deep)
    assert ran.status == "error" and ran.reply["ename"] == "Interrupted" and "compiled" in ran.reply["evalue"], ran.reply
    assert kernel.ok("kept").result() == "41"
    says("a build is stopped, and variables stay")
    message = kernel.send("loop { std::thread::sleep(std::time::Duration::from_millis(100)); }")
    kernel.interrupt_after(2)
    kernel.interrupt_after(14)
    ran = kernel.collect(message)
    assert "Interrupt again" in ran.text("stderr"), ran.outputs
    assert ran.reply["ename"] == "Killed" and ran.seconds > 12, ran.reply
    ran = kernel.run("kept")
    assert ran.status == "error", "variables are gone"
    assert kernel.ok("let kept = 7; kept + 1").result() == "8", "and the session goes on"
    kernel.interrupt_after(2)
    assert kernel.run(loop).reply["ename"] == "Interrupted", "interrupts reach the new process"
    says("code that does not listen is named after ten seconds, ended by the second interrupt, and the session goes on")


def tables(kernel):
    kernel.ok('let scores = df!("system" => ["a", "a", "b"], "value" => [0.0, 1.0, 1.0])?; let note = "é".to_owned();')
    ran = kernel.ok(":vars")
    html = ran.of("execute_result")[0]["data"]["text/html"]
    assert "3 rows × 2 columns" in html and "DataFrame" in html and "note" in html, html
    ran = kernel.ok(":sql SELECT system, AVG(value) AS mean FROM scores GROUP BY system ORDER BY system")
    assert "0.5" in ran.of("execute_result")[0]["data"]["text/html"]
    seconds = sorted(kernel.ok(":sql SELECT * FROM scores").seconds for _ in range(9))[4]
    ran = kernel.run(":sql SELECT * FROM nothing")
    assert ran.status == "error" and "scores" in ran.reply["evalue"] + "".join(ran.reply["traceback"]), ran.reply
    says(f":vars and :sql answer without compiling (median {seconds * 1000:.0f} ms)")


def crashes(kernel):
    kernel.ok("let big = 1;")
    for code in ["std::process::exit(3)", "unsafe { std::ptr::null_mut::<u8>().write_volatile(1) }"]:
        ran = kernel.run(code)
        assert (ran.status, ran.reply["ename"]) == ("error", "Killed"), (code, ran.reply)
        assert kernel.ok("1 + 1").result() == "2", "the kernel lives on"
    ran = kernel.run('use std::io::Write; std::io::stdout().write_all(b"caf\\xe9\\n")?;')
    assert ran.status == "ok" and "caf\ufffd" in ran.text(), ran.outputs
    ran = kernel.ok('let line = "x".repeat(1023); for _ in 0..50_000 { println!("{line}"); }')
    assert 8_000_000 < len(ran.text()) < 9_000_000 and "more was printed" in ran.text()
    says(f"50 MB of print is cut at 8 MiB ({ran.seconds:.1f} s)")
    ran = kernel.ok(
        "let threads: Vec<_> = (0..1000).map(|n| std::thread::spawn(move || n)).collect();\n"
        "let sum: i32 = threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum();\nsum"
    )
    assert ran.result() == "499500", ran.outputs
    ran = kernel.run("unsafe extern \"C\" { fn close(fd: i32) -> i32; }\nunsafe { close(1) };")
    assert kernel.run("1 + 1", timeout=60).status in ("ok", "error")
    assert kernel.ok("1 + 1").result() == "2", "a closed output ends at most its process"
    says("exit, a segfault, bytes that are not text, a thousand threads and a closed output leave the kernel alive")


def two_at_once(first):
    first.ok("let mine = 1;")
    with Kernel(PROGRAM, FOLDER) as second:
        second.ok("let mine = 2;")
        message = first.send(SLOW.format(6000))
        began = time.monotonic()
        assert second.ok("mine").result() == "2" and time.monotonic() - began < 5, "the second does not wait"
        first.collect(message)
        os.kill(second.process(), signal.SIGKILL)
        time.sleep(2.5)
        assert not [pid for pid in children(second.process())], "its child ends too"
    assert first.ok("mine").result() == "1"
    with Kernel(PROGRAM, FOLDER) as third:
        assert third.ok("1 + 2").result() == "3"
    says("two sessions neither wait for each other nor mix; a killed one leaves nothing in the way")


def crates(kernel):
    ran = kernel.ok(':dep itoa = "1"\nlet text = itoa::Buffer::new().format(17).to_owned();')
    shown = [c["data"]["text/plain"] for c in ran.of("display_data") + ran.of("update_display_data")]
    assert any("itoa" in line for line in shown), f"the build is shown: {shown}"
    assert kernel.ok("text").result() == '"17"'
    assert kernel.ok("let frame = df!(\"a\" => [1])?; frame.height()").result() == "1"
    ran = kernel.run(':dep polars = "=0.55.2"\nlet n = 1;')
    assert ran.status == "error" and "claimlab::polars" in "".join(ran.reply["traceback"]), ran.reply
    assert kernel.ok("text").result() == '"17"', "a refused crate changes nothing"
    says(":dep builds other crates with live progress, and refuses a second polars")


def main():
    with Kernel(PROGRAM, FOLDER) as kernel:
        print(f"kernel_info after {kernel.ready:.2f} s", flush=True)
        assert kernel.ready < 1.5
        ran = kernel.ok("use claimlab::polars::prelude::df;\nlet start = df!(\"a\" => [1, 2])?;\nstart")
        print(f"first table after {time.monotonic() - kernel.began:.2f} s", flush=True)
        pids = children(kernel.process()) | {kernel.process()}
        for step in [displays, errors, protocol, signatures, tables, interrupts, crashes, two_at_once, crates]:
            if len(sys.argv) <= 3 or step.__name__ in sys.argv[3:]:
                step(kernel)
        pids |= children(kernel.process())
        process = kernel.process()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and any(os.path.exists(f"/proc/{pid}") for pid in pids):
        time.sleep(0.2)
    left = [pid for pid in pids if os.path.exists(f"/proc/{pid}") and pid != process]
    assert not left, f"left behind: {left}"
    says("shutdown leaves no process behind")


main()
