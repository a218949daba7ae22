"""The kernel's promises over the real wire: display, errors, interrupts, the protocol's requests, helping commands.

    python protocol.py KERNEL_BINARY FOLDER [STEP …]

Prints one line a promise; the first one that is broken ends it with a traceback.
"""

import glob
import hashlib
import hmac
import json
import os
import socket
import sys
import threading
import time

import zmq
from kernel_client import Gate, Kernel, alive, children, name_of, until

PROGRAM, FOLDER = sys.argv[1], sys.argv[2]
SESSIONS = os.path.join(FOLDER, "sessions")
PAUSE = "std::thread::sleep(std::time::Duration::from_millis(200));"


def says(promise):
    print(f"ok  {promise}", flush=True)


def texts(kernel):
    gate = Gate(FOLDER, "lines")
    ran = kernel.ok(
        f'println!("line 0"); {gate.wait}\nfor n in 1..3 {{ println!("line {{n}}"); }}',
        watch=lambda kind, content: gate.open() if kind == "stream" else None,
    )
    assert ran.text() == "line 0\nline 1\nline 2\n", ran.text()
    gate = Gate(FOLDER, "half")
    ran = kernel.ok(
        f'print!("half a line"); std::io::Write::flush(&mut std::io::stdout()).ok(); {gate.wait}\nprintln!(", whole");',
        watch=lambda kind, content: gate.open() if "half" in content.get("text", "") else None,
    )
    assert ran.text() == "half a line, whole\n", ran.text()
    ran = kernel.ok(f'println!("one"); {PAUSE} eprintln!("two"); {PAUSE} println!("three"); {PAUSE} eprintln!("four");')
    streams = [(content["name"], content["text"]) for content in ran.of("stream")]
    assert streams == [("stdout", "one\n"), ("stderr", "two\n"), ("stdout", "three\n"), ("stderr", "four\n")], streams
    ran = kernel.ok('print!("10%\\r"); print!("half"); eprintln!("warned"); std::io::Write::flush(&mut std::io::stdout()).ok();')
    assert "10%\rhalf" in ran.text() and "warned" in ran.text("stderr"), ran.outputs
    says("text is shown while the cell runs, also half a line of it, and the two streams keep their order")


EVALUATION = (
    "let lab = Lab::open()?;\nlet sample = lab.sample()?;\nlet chunks = sample.chunks(&Chunking::tokens(150, 30)?)?;\n"
    "let systems = vec![System::new(&Retriever::bm25(&chunks)?, &Generator::scripted())];\n"
    'let evaluation = lab.evaluate(&sample, &systems, 5)?;\nlet means = evaluation.by(&["system", "language"])?;'
)


def displays(kernel):
    ran = kernel.ok(
        'let frame = df!("a" => [1, 2, 3])?;\nframe.evcxr_display();\nprintln!("between");\n'
        "frame.clone().lazy().evcxr_display();\nframe"
    )
    kinds = [kind for kind, _, _ in ran.outputs if kind != "status"]
    assert kinds == ["execute_input", "display_data", "stream", "display_data", "display_data"], kinds
    kernel.ok(EVALUATION)
    gate = Gate(FOLDER, "figure")
    figure = 'Figure::intervals(&means, "system", "language")?.evcxr_display();'
    ran = kernel.ok(
        f"{figure}\n{gate.wait}\n{figure}",
        watch=lambda kind, content: gate.open() if kind == "display_data" else None,
    )
    shown = ran.of("display_data")
    assert len(shown) == 2 and all("image/svg+xml" in one["data"] for one in shown), ran.outputs
    blocks = 'println!("EVCXR_BEGIN_CONTENT text/html\\n<b>{n}</b>\\nEVCXR_END_CONTENT");'
    ran = kernel.ok(f'for n in 0..2 {{ {blocks} }}\nprintln!("after");')
    shown = [content["data"]["text/html"] for content in ran.of("display_data")]
    assert shown == ["<b>0</b>", "<b>1</b>"], shown
    ran = kernel.ok(f"let n = 7; {blocks}")
    assert ran.of("execute_result")[0]["data"]["text/html"] == "<b>7</b>", "the last one is the cell's result"
    ran = kernel.ok('println!("gone"); claimlab::signal::clear(); println!("stays");')
    kinds = [kind for kind, _, _ in ran.outputs if kind in ("stream", "clear_output")]
    assert ran.of("clear_output") == [{"wait": True}] and kinds == ["stream", "clear_output", "stream"], ran.outputs
    says("any number of tables, figures and other crates' displays, each when it is made; a cell's outputs can be cleared")
    ran = kernel.ok('let shown = claimlab::signal::Shown::new(None, "one");\nshown.update(Some("<b>two</b>"), "two");')
    [first], [second] = ran.of("display_data"), ran.of("update_display_data")
    [third] = kernel.ok('shown.update(None, "three");').of("update_display_data")
    assert (first["data"], second["data"]["text/html"], third["data"]["text/plain"]) == ({"text/plain": "one"}, "<b>two</b>", "three")
    assert first["transient"] == second["transient"] == third["transient"], "one place, also for a later cell"
    says("a display is updated in place")
    ran = kernel.ok('let evil = df!("t" => ["<script>alert(1)</script>"])?;\nevil.evcxr_display();\nprintln!("<script>");')
    html = ran.of("display_data")[0]["data"]["text/html"]
    assert "<script>" not in html and "&lt;script&gt;" in html and ran.text() == "<script>\n", ran.outputs
    says("markup in data is text")


def bars_of(ran):
    """The successive texts of each bar of a cell, by its id."""
    found = {}
    for kind, content, _ in ran.outputs:
        if kind in ("display_data", "update_display_data") and content.get("transient", {}).get("display_id"):
            first = content["transient"]["display_id"] not in found
            assert first == (kind == "display_data"), "a bar is displayed once and updated from then on"
            found.setdefault(content["transient"]["display_id"], []).append(content["data"]["text/plain"])
    return list(found.values())


def progress(kernel):
    ran = kernel.ok(
        'let progress = claimlab::signal::Progress::new("Counting", 20);\n'
        "for _ in 0..20 { std::thread::sleep(std::time::Duration::from_millis(100)); progress.advance(1); }\n"
        "progress.fail(2); progress.spend(0.0123); drop(progress);"
    )
    [bar] = bars_of(ran)
    assert len(bar) >= 4 and all(word in bar[0] for word in ["Counting: ", " / 20", "/s", " left"]), bar
    assert bar[-1].startswith("Counting: 20 in") and "2 failed" in bar[-1] and "$0.0123" in bar[-1], bar
    # The library's own operations, over so much that each takes longer than what is not worth a bar.
    kernel.ok(EVALUATION)
    ran = kernel.ok(
        'let acts: String = (0..1_600_000).map(|n| format!("The office number {n} keeps the register of the year {n}. ")).collect();\n'
        'std::fs::write("many.txt", acts).map_err(|e| Error::io("writing", &e))?;\n'
        'let act = Corpus::read("many", "en", "many.txt")?;\n'
        "let passages = Chunking::tokens(12, 0)?.cut(&[act])?;\nlet found = Retriever::bm25(&passages)?;\n"
        'let slices = evaluation.scores().by_with(&["system", "language", "persona"], &Bootstrap::new().resamples(1_000_000))?;',
        timeout=900,
    )
    labels = [bar[0].split(":")[0] for bar in bars_of(ran)]
    assert "Indexing" in labels and "Bootstrapping intervals" in labels, (labels, ran.outputs)
    assert all(" in " in bar[-1] and " left" not in bar[-1] for bar in bars_of(ran)), bars_of(ran)
    says(f"a long operation is one bar that moves and ends as one line ({', '.join(labels)})")


def errors(kernel):
    kernel.ok("let kept = 41;")
    cell = 'let accentué = "écrit à l\'été"; let x: i32 = kept.no_such_thing();'
    ran = kernel.failed(cell, "CompileError")
    report = ran.of("error")[0]["traceback"]
    assert ran.reply["traceback"] == report and "\x1b[" in report[0] and "no_such_thing" in ran.reply["evalue"], report
    line = next(n for n, text in enumerate(report) if cell in text)
    under = report[line + 1].split("\x1b")[0]
    assert len(under) - report[line].index(cell) == cell.index("no_such_thing"), "the mark stands under the name: " + "\n".join(report)
    ran = kernel.failed("let v: Vec<i32> = vec![]; v[3];", "Panic")
    assert "out of bounds" in ran.reply["evalue"], ran.reply
    ran = kernel.failed('std::fs::read_to_string("/no/such/file")?;', "Error")
    assert "No such file" in ran.reply["evalue"] and ran.of("error")[0]["evalue"] == ran.reply["evalue"], ran.reply
    assert kernel.ok("kept").result() == "41", "variables survive"
    kernel.ok("let table = vec![1, 2, 3];")
    kernel.ok("drop(table);")
    ran = kernel.failed("table.len()", "CompileError")
    assert "drop(table);" in ran.reply["evalue"] and "&table" in ran.reply["evalue"], ran.reply["evalue"]
    says("compile errors, panics and failed `?` are errors with a story; a moved variable is named with the fix")


def protocol(kernel):
    count = kernel.ok("1").reply["execution_count"]
    assert kernel.ok("2", store_history=False).reply["execution_count"] == count
    assert kernel.ok("3").reply["execution_count"] == count + 1
    ran = kernel.ok('println!("hush");', silent=True)
    assert not ran.of("stream") and not ran.of("execute_input") and ran.reply["execution_count"] == count + 1, ran.outputs
    ran = kernel.ok("let n = 5;", user_expressions={"n": "n", "bad": "nothing_there"})
    told = ran.reply["user_expressions"]
    assert told["n"]["data"]["text/plain"] == "5" and told["bad"]["status"] == "error", told
    last = "let n = 5;"
    requests = [
        (lambda c: c.history(hist_access_type="tail", n=1), lambda c: c["history"][-1][2] == last),
        (lambda c: c.is_complete("for i in 0..3 {"), lambda c: c["status"] == "incomplete"),
        (lambda c: c.is_complete("1 + 1"), lambda c: c["status"] == "complete"),
        (lambda c: c.comm_info(), lambda c: c["comms"] == {}),
        (lambda c: c.kernel_info(), lambda c: c["status"] == "ok" and c["language_info"]["name"] == "rust"),
    ]
    help_wanted = [
        (lambda c: c.complete("lab_is_not_here; Lab::op", 24), lambda c: any(m.startswith("open") for m in c["matches"])),
        (lambda c: c.inspect("Lab::open", 7), lambda c: c["found"] and "CLAIMLAB_HOME" in c["data"]["text/plain"]),
    ]
    for ask, check in requests + help_wanted:
        reply = kernel.next_of("shell", ask(kernel.client), 120)
        assert check(reply["content"]), reply["content"]
    gate = Gate(FOLDER, "busy")
    last = f'println!("runs"); {gate.wait}'
    message = kernel.send(last)
    until(120, "the cell's beginning", lambda: kernel.next_of("iopub", message, 120)["msg_type"] == "stream")
    # None of these could be answered after the cell, which waits for them.
    for ask, check in requests + [(ask, lambda c: c["status"] == "ok") for ask, _ in help_wanted]:
        reply = kernel.next_of("shell", ask(kernel.client), 60)
        assert check(reply["content"]), reply["content"]
    kernel.client.control_channel.send(kernel.client.session.msg("kernel_info_request"))
    assert kernel.client.get_control_msg(timeout=60)["msg_type"] == "kernel_info_reply"
    until(60, "a heartbeat", kernel.client.hb_channel.is_beating)
    gate.open()
    assert kernel.collect(message).status == "ok"
    first, second = kernel.send('panic!("first")'), kernel.send('println!("second");')
    assert kernel.collect(first).status == "error"
    ran = kernel.collect(second)
    assert ran.status == "aborted" and not ran.of("stream"), "cells behind a failed one are not run"
    first, second = kernel.send('panic!("first")', stop_on_error=False), kernel.send('println!("second");')
    assert kernel.collect(first).status == "error" and kernel.collect(second).text() == "second\n", "unless that is asked for"
    says("counts, silent, user_expressions, stop_on_error; requests are answered, also while a cell runs")


def signatures(kernel):
    info = kernel.manager.get_connection_info()
    context = zmq.Context.instance()

    def dealer(port):
        made = context.socket(zmq.DEALER)
        made.connect(f"tcp://{info['ip']}:{info[port]}")
        return made

    header = json.dumps({"msg_id": "x", "session": "x", "username": "x", "msg_type": "kernel_info_request", "version": "5.3",
                         "date": "2026-01-01T00:00:00Z"}).encode()
    parts = [header, b"{}", b"{}", b"{}"]
    right = hmac.new(info["key"], b"".join(parts), hashlib.sha256).hexdigest().encode()
    wrong = hmac.new(b"not the key", b"".join(parts), hashlib.sha256).hexdigest().encode()
    for port in ["shell_port", "control_port"]:
        client = dealer(port)
        for signature in [wrong, b"", right[:-2], b"zz", b"\xff\xfe"]:
            client.send_multipart([b"<IDS|MSG>", signature, *parts])
        client.send_multipart([b"<IDS|MSG>", right, header, b"{}", b"{}", b'{"other": 1}'])
        # Not messages at all.
        for odd in [[b""], [b"<IDS|MSG>"], [b"<IDS|MSG>", right], [b"<IDS|MSG>", right, b"{}"], [b"\xff" * 100_000]]:
            client.send_multipart(odd)
        not_json = [b"{", b"}", b"\xff", b"["]
        client.send_multipart([b"<IDS|MSG>", hmac.new(info["key"], b"".join(not_json), hashlib.sha256).hexdigest().encode(), *not_json])
        assert not client.poll(1500), "a wrong signature is refused"
        client.send_multipart([b"<IDS|MSG>", right, *parts])
        assert client.poll(60_000), "the right one is answered"
        client.close(linger=0)
    for port in ["shell_port", "control_port", "iopub_port", "stdin_port", "hb_port"]:
        with socket.create_connection((info["ip"], info[port])) as stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
        client = dealer(port)
        client.send(b"one frame")
        time.sleep(0.1)
        client.close(linger=0)
    beat = context.socket(zmq.REQ)
    beat.connect(f"tcp://{info['ip']}:{info['hb_port']}")
    beat.send(b"ping")
    assert beat.poll(60_000), "the heart goes on"
    beat.close(linger=0)
    assert kernel.ok("20 + 1").result() == "21"
    says("wrong signatures and what is no message are refused on every socket, and the kernel goes on")


def compiles(kernel):
    return any(name_of(pid) == "rustc" for pid in children(kernel.process()))


def interrupt_while_compiling(kernel):
    """Interrupts from another thread once rustc runs for the cell that is about to be sent."""

    def watch():
        until(120, "a compiler", lambda: compiles(kernel))
        kernel.manager.interrupt_kernel()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


LOOP = (
    'let progress = claimlab::signal::Progress::new("Working", 3000);\n'
    'for _ in 0..3000 { claimlab::signal::check("12 answers are kept")?; '
    "std::thread::sleep(std::time::Duration::from_millis(20)); progress.advance(1); }"
)


def interrupts(kernel):
    kernel.ok("let kept = 41;")
    message = kernel.send(LOOP)
    behind = kernel.send('println!("never");')
    ran = kernel.collect(message, watch=kernel.interrupt_at("display_data", "Working"))
    assert (ran.status, ran.reply["ename"]) == ("error", "Interrupted") and "12 answers are kept" in ran.reply["evalue"], ran.reply
    assert kernel.collect(behind).status == "aborted"
    assert kernel.ok("kept").result() == "41"
    says("a running loop of the library is interrupted, says what is kept, and variables stay; queued cells are aborted")
    query = (
        'use claimlab::polars::prelude::{JoinType, JoinArgs};\n'
        'let many: Vec<i64> = (0..60_000).map(|n| n % 3).collect();\nlet big = df!("k" => many)?.lazy();\nprintln!("joins");\n'
        'let joined = big.clone().join(big, [col("k")], [col("k")], JoinArgs::new(JoinType::Inner)).collect()?;\njoined.height()'
    )
    ran = kernel.run(query, watch=kernel.interrupt_at("stream", "joins"))
    assert (ran.status, ran.reply["ename"]) == ("error", "Interrupted"), ran.reply
    assert kernel.ok('df!("a" => [1, 2])?.lazy().select([col("a").sum()]).collect()?.height()').result() == "1"
    assert kernel.ok("kept").result() == "41"
    says("a running query is interrupted, and the next one runs")
    deep = "fn f0() -> u64 { 1 }\n" + "\n".join(
        f"fn f{n}<T: std::fmt::Debug + Clone>(t: T) -> String {{ format!(\"{{:?}}\", vec![(t.clone(), t); {n}]) }}" for n in range(1, 400)
    ) + "\n" + "\n".join(f"f{n}((1u8, \"a\", {n}.5f64));f{n}(vec![{n}u16]);f{n}(Some(\"x\"));" for n in range(1, 400))
    thread = interrupt_while_compiling(kernel)
    ran = kernel.failed(deep, "Interrupted")
    thread.join()
    assert "compiled" in ran.reply["evalue"] and not compiles(kernel), ran.reply
    assert kernel.ok("kept").result() == "41"
    says("a build is stopped, and variables stay")
    first, second = kernel.interrupt_at("stream", "deaf"), kernel.interrupt_at("stream", "Interrupt again")
    ran = kernel.run(
        'println!("deaf"); loop { std::thread::sleep(std::time::Duration::from_millis(100)); }',
        watch=lambda kind, content: (first(kind, content), second(kind, content)),
    )
    assert "still running" in ran.text("stderr") and "loop {" in ran.text("stderr"), ran.outputs
    assert ran.reply["ename"] == "Killed" and "variables are gone" in "\n".join(ran.reply["traceback"]), ran.reply
    assert kernel.run("kept").status == "error", "variables are gone"
    assert kernel.ok("let kept = 7; kept + 1").result() == "8", "and the session goes on"
    kernel.ok("let again = Lab::open()?;")
    ran = kernel.run(LOOP, watch=kernel.interrupt_at("display_data", "Working"))
    assert ran.reply["ename"] == "Interrupted", "interrupts reach the new process"
    says("code that does not listen is named after ten seconds, ended by the second interrupt, and the session goes on")


def tables(kernel):
    kernel.ok('let scores = df!("system" => ["a", "a", "b"], "value" => [0.0, 1.0, 1.0])?; let note = "é <b>".to_owned();')
    kernel.ok(EVALUATION)
    [source] = glob.glob(os.path.join(SESSIONS, "claimlab-sessions", f"{kernel.process()}-*", "src", "lib.rs"))
    before = os.stat(source).st_mtime_ns
    ran = kernel.ok(":vars")
    html = ran.of("execute_result")[0]["data"]["text/html"]
    assert "3 rows × 2 columns" in html and "DataFrame" in html and "note" in html and "<b>" not in html, html
    ran = kernel.ok(":sql SELECT system, AVG(value) AS mean FROM scores GROUP BY system ORDER BY system")
    html = ran.of("execute_result")[0]["data"]["text/html"]
    assert "<table" in html and "0.5" in html, html
    ran = kernel.ok(":sql SELECT COUNT(*) AS n FROM means")
    assert ran.of("execute_result")[0]["data"]["text/plain"], "typed tables are there under their variables' names"
    seconds = sorted(kernel.ok(":sql SELECT * FROM scores").seconds for _ in range(9))[4]
    ran = kernel.run(":sql SELECT * FROM nothing")
    assert ran.status == "error" and "scores" in ran.reply["evalue"] + "".join(ran.reply["traceback"]), ran.reply
    for wrong in [":sql", ":sql SELEKT 1", ":sql SELECT nothing FROM scores"]:
        kernel.failed(wrong, "Error")
    kernel.run(":sql DROP TABLE scores")
    kernel.ok(":sql SELECT * FROM scores")
    assert os.stat(source).st_mtime_ns == before, "nothing was compiled for them"
    assert kernel.ok("scores.height()").result() == "3"
    says(f":vars and :sql answer without compiling (median {seconds * 1000:.0f} ms)")


STEPS = [texts, displays, progress, errors, protocol, signatures, tables, interrupts]


def main():
    with Kernel(PROGRAM, FOLDER, CLAIMLAB_SESSIONS=SESSIONS) as kernel:
        print(f"kernel_info after {kernel.ready:.2f} s", flush=True)
        ran = kernel.ok('use claimlab::polars::prelude::df;\nlet start = df!("a" => [1, 2])?;\nstart')
        assert ran.reply["execution_count"] == 1, ran.reply
        print(f"first table after {time.monotonic() - kernel.began:.2f} s", flush=True)
        pids = children(kernel.process()) | {kernel.process()}
        for step in STEPS:
            if len(sys.argv) <= 3 or step.__name__ in sys.argv[3:]:
                step(kernel)
        pids |= children(kernel.process())
    until(60, "the end of every process", lambda: not any(map(alive, pids)))
    assert not os.listdir(os.path.join(SESSIONS, "claimlab-sessions")), "the session's folder is gone"
    says("shutdown leaves no process and no folder behind")


main()
