"""What cells do to their process, and what sessions do to each other: crashes, odd output, other crates, a library that is
built again.

    python sessions.py KERNEL_BINARY FOLDER [STEP …]

Prints one line a promise; the first one that is broken ends it with a traceback.
"""

import json
import os
import signal
import sys

from kernel_client import Gate, Kernel, alive, children, until

PROGRAM, FOLDER = sys.argv[1], sys.argv[2]
SESSIONS = os.path.join(FOLDER, "sessions")
ENVIRONMENT = {"CLAIMLAB_SESSIONS": SESSIONS, "CLAIMLAB_HOME": os.path.join(FOLDER, "lab")}


def says(promise):
    print(f"ok  {promise}", flush=True)


def odd_output(kernel):
    ran = kernel.ok('use std::io::Write; std::io::stdout().write_all(b"caf\\xe9 \\xf0\\x9f\\n")?;')
    assert "caf\ufffd " in ran.text(), ran.outputs
    ran = kernel.ok('use std::io::Write; std::io::stdout().write_all(b"\\xff\\x00\\x1b[31m\\x07")?; std::io::stdout().flush()?;')
    assert "\ufffd\x00" in ran.text(), ran.outputs
    ran = kernel.ok('let line = "x".repeat(1023); for _ in 0..50_000 { println!("{line}"); }')
    assert 8_000_000 < len(ran.text()) < 9_000_000 and "more was printed" in ran.text()
    ran = kernel.ok('print!("{}", "é".repeat(25_000_000));')
    shown, _, rest = ran.text().partition("\n")
    assert 4_000_000 < len(shown) < 4_500_000 and set(shown) == {"é"}, (len(shown), set(shown))
    assert "more was printed" in rest, rest
    ran = kernel.ok('eprint!("{}", "e\\n".repeat(5_000_000));')
    assert "more was printed" in ran.text("stderr") and len(ran.text("stderr")) < 9_000_000
    ran = kernel.ok('println!("EVCXR_BEGIN_CONTENT text/html\\n<b>never ended"); println!("EVCXR_END_CONTENT");\n2 + 2')
    assert ran.result() == "4", ran.outputs
    ran = kernel.ok('println!("EVCXR_BEGIN_CONTENT text/html\\n<b>never ended");')
    assert kernel.ok("2 + 3").result() == "5", "what a cell leaves open ends with it"
    says("bytes that are not text, 50 MB of print, with and without newlines, and half-open displays harm nothing")


def crashes(kernel):
    for code in [
        "std::process::exit(3)",
        "std::process::abort()",
        "unsafe { std::ptr::null_mut::<u8>().write_volatile(1) }",
        "fn deep(n: u64) -> u64 { if n == 0 { 0 } else { 1 + std::hint::black_box(deep(std::hint::black_box(n + 1))) } }\ndeep(1)",
    ]:
        kernel.ok("let big = 1;")
        ran = kernel.failed(code, "Killed")
        assert "variables are gone" in "\n".join(ran.reply["traceback"]), ran.reply
        assert kernel.run("big").status == "error", "variables are gone"
        assert kernel.ok('df!("a" => [1, 2])?.height()').result() == "2", "the kernel lives on, with the library's names"
    ran = kernel.failed("unsafe extern \"C\" { fn close(fd: i32) -> i32; }\nunsafe { close(1) };", "Killed")
    assert "closed its standard output" in ran.text("stderr"), ran.outputs
    assert kernel.ok("1 + 1").result() == "2", "a closed output ends its process and no more"
    kernel.ok("unsafe extern \"C\" { fn close(fd: i32) -> i32; }\nunsafe { close(2) };")
    assert kernel.ok("1 + 2").result() == "3", "and a closed standard error not even that"
    ran = kernel.ok(
        "let threads: Vec<_> = (0..1000).map(|n| std::thread::spawn(move || n)).collect();\n"
        "let sum: i32 = threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum();\nsum"
    )
    assert ran.result() == "499500", ran.outputs
    kernel.failed('std::thread::spawn(|| panic!("in a thread")).join().map_err(|_| Error::io("the thread", '
                  '&std::io::Error::other("it panicked")))?;', "Error")
    ran = kernel.ok('std::thread::spawn(|| loop { println!("noise"); std::thread::sleep(std::time::Duration::from_millis(50)); });')
    assert kernel.ok("3 + 4").result() == "7", "a thread that goes on printing stops no other cell"
    kernel.ok('std::env::set_current_dir("/").map_err(|e| Error::io("moving", &e))?;')
    assert kernel.ok("4 + 5").result() == "9"
    says("exit, abort, a segfault, an overflowed stack, closed streams and a thousand threads leave the kernel alive")


def two_at_once(first):
    first.ok("let mine = 1;")
    with Kernel(PROGRAM, FOLDER, **ENVIRONMENT) as second:
        second.ok("let mine = 2;")
        gate = Gate(FOLDER, "two")
        message = first.send(f"{gate.wait}\nmine")
        assert second.ok("mine + 10").result() == "12", "the second does not wait for the first, which waits for it"
        gate.open()
        assert first.collect(message).result() == "1"
        pids = children(second.process()) | {second.process()}
        os.kill(second.process(), signal.SIGKILL)
        until(60, "the end of a killed kernel's child", lambda: not any(map(alive, pids)))
    assert first.ok("mine").result() == "1"
    left = [name for name in os.listdir(os.path.join(SESSIONS, "claimlab-sessions"))]
    assert len(left) == 2, f"the killed one could not remove its folder: {left}"
    with Kernel(PROGRAM, FOLDER, **ENVIRONMENT) as third:
        assert third.ok("1 + 2").result() == "3"
        assert len(os.listdir(os.path.join(SESSIONS, "claimlab-sessions"))) == 2, "the next one has removed it"
    says("two sessions neither wait for each other nor mix; a killed one leaves nothing in the way")


def library_built_again(kernel):
    target = os.path.dirname(os.path.dirname(os.path.abspath(PROGRAM)))
    with open(os.path.join(target, "claimlab-cells.json")) as file:
        library = json.load(file)["dylib"]
    kernel.ok("let kept = 41;")
    about = os.stat(library)
    # As a build leaves it, for a moment.
    os.utime(library, ns=(about.st_atime_ns, about.st_mtime_ns + 1_000_000_000))
    try:
        ran = kernel.failed("kept + 1", "LibraryChanged")
        assert "Restart the kernel" in ran.reply["evalue"], ran.reply
        kernel.ok(":vars")
    finally:
        os.utime(library, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert kernel.ok("kept + 1").result() == "42"
    says("a library that was built again under a session is noticed before anything is mixed")


def crates(kernel):
    kernel.ok("let before = 3;")
    ran = kernel.ok(':dep itoa = "1"\nlet text = itoa::Buffer::new().format(17).to_owned();', timeout=900)
    shown = [c["data"]["text/plain"] for c in ran.of("display_data") + ran.of("update_display_data")]
    assert any("itoa" in line for line in shown) and "compiled in" in shown[-1], f"the build is shown: {shown}"
    ids = {c["transient"]["display_id"] for c in ran.of("display_data") + ran.of("update_display_data")}
    assert len(ids) == 1, "in one place"
    assert kernel.ok("text").result() == '"17"' and kernel.ok("before").result() == "3"
    assert kernel.ok("let frame = df!(\"a\" => [1])?; frame.height()").result() == "1"
    ran = kernel.run(':dep polars = "=0.55.2"\nlet n = 1;', timeout=900)
    told = "\n".join(ran.reply["traceback"])
    assert ran.status == "error" and "claimlab::polars" in told and ":dep polars" in told, ran.reply
    assert kernel.ok("text").result() == '"17"', "a refused crate changes nothing"
    ran = kernel.run(':dep absent = { path = "/no/such/crate" }\nlet n = 1;')
    assert ran.status == "error" and "/no/such/crate" in "\n".join(ran.reply["traceback"]), ran.reply
    assert kernel.ok("text").result() == '"17"', "nor does one that is not there"
    says(":dep builds other crates with live progress, and refuses a second polars and a crate that is not there")


STEPS = [odd_output, crashes, two_at_once, library_built_again, crates]


def main():
    with Kernel(PROGRAM, FOLDER, **ENVIRONMENT) as kernel:
        kernel.ok("use claimlab::polars::prelude::df;")
        for step in STEPS:
            if len(sys.argv) <= 3 or step.__name__ in sys.argv[3:]:
                step(kernel)
        pids = children(kernel.process()) | {kernel.process()}
    until(60, "the end of every process", lambda: not any(map(alive, pids)))
    assert not os.listdir(os.path.join(SESSIONS, "claimlab-sessions")), "the session's folder is gone"


main()
