"""Starts and ends that go wrong: broken connection files, taken ports, folders that cannot be written, full disks, a
client that dies.

    python starts.py KERNEL_BINARY FOLDER

Prints one line a promise; the first one that is broken ends it with a traceback.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap

from kernel_client import Kernel, alive, children, name_of, until

PROGRAM, FOLDER = sys.argv[1], sys.argv[2]
KEY = "a-secret-that-nobody-may-print"
PORTS = ["shell_port", "iopub_port", "stdin_port", "control_port", "hb_port"]
START = [PROGRAM, "kernel", "--connection-file", "{connection_file}"]


def says(promise):
    print(f"ok  {promise}", flush=True)


def connection(**changes):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in PORTS]
    ports = {name: one.getsockname()[1] for name, one in zip(PORTS, sockets)}
    for one in sockets:
        one.close()
    return {"ip": "127.0.0.1", "transport": "tcp", "key": KEY, "signature_scheme": "hmac-sha256", **ports, **changes}


def place(name):
    folder = os.path.join(FOLDER, name)
    os.makedirs(folder, exist_ok=True)
    return folder


def refused(what, file, words, command=START, **environment):
    """Starts a kernel that must end by itself, with a message that has these words, and leave nothing behind."""
    sessions = environment.setdefault("CLAIMLAB_SESSIONS", place("refused"))
    command = [part.replace("{connection_file}", file) for part in command]
    kernel = subprocess.Popen(
        command, cwd=FOLDER, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True,
    )
    told, _ = kernel.communicate(timeout=300)
    assert kernel.returncode == 1, f"{what}: exit {kernel.returncode}: {told}"
    assert all(word in told for word in words), f"{what}: {words} not in {told!r}"
    assert KEY not in told and "panicked" not in told, f"{what}: {told}"
    left = os.path.join(sessions, "claimlab-sessions")
    assert not os.path.isdir(left) or not os.listdir(left), f"{what} left {os.listdir(left)}"
    group = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if in_group(pid, kernel.pid)]
    assert not group, f"{what} left the processes {group}"


def in_group(pid, group):
    try:
        return os.getpgid(pid) == group and alive(pid)
    except OSError:
        return False


def connection_files():
    whole = json.dumps(connection())
    bad = {
        "empty": b"",
        "truncated": whole[: whole.index("signature_scheme") + 5].encode(),
        "truncated in the key": whole[: whole.index(KEY) + 12].encode(),
        "of another kind": json.dumps([KEY]).encode(),
        "without ports": json.dumps({"ip": "127.0.0.1", "transport": "tcp", "key": KEY, "signature_scheme": "hmac-sha256"}).encode(),
        "with a key that is no text": json.dumps({**connection(), "key": [KEY]}).encode(),
        "with a port that is none": json.dumps(connection(shell_port=KEY)).encode(),
        "with a port too high": json.dumps(connection(shell_port=70_000)).encode(),
        "not text": whole.encode().replace(b"127", b"\xff\xfe"),
    }
    for name, content in bad.items():
        file = os.path.join(FOLDER, "bad.json")
        with open(file, "wb") as out:
            out.write(content)
        refused(f"a connection file {name}", file, [file])
    refused("a connection file that is not there", "/no/such.json", ["/no/such.json", "No such file"])
    refused("a folder as connection file", FOLDER, [FOLDER])
    file = written(connection(signature_scheme="hmac-md5"))
    refused("another signature", file, ["hmac-md5", "hmac-sha256"])
    refused("no address", written(connection(ip="not an address")), ["not an address"])
    says("a broken connection file is named, its key is not printed, and nothing stays")


def written(content):
    file = os.path.join(FOLDER, "connection.json")
    with open(file, "w") as out:
        json.dump(content, out)
    return file


def taken_ports():
    for name in PORTS:
        free = connection()
        with socket.create_server(("127.0.0.1", free[name])):
            refused(f"a taken {name}", written(free), [name.removesuffix("_port").replace("hb", "heartbeat"), str(free[name]), "taken"])
    says("a port that is taken is named, and the kernel ends")


def behind(mounts, command=START):
    """The command with mounts that only it sees, or nothing where this user may not mount."""
    for flags in (["--mount"], ["--mount", "--map-root-user"]):
        prefix = ["unshare", *flags, "sh", "-ec", f'{mounts}\nexec "$@"', "sh"]
        if subprocess.run([*prefix, "true"], capture_output=True).returncode == 0:
            return [*prefix, *command]
    print("note: mounting is not allowed here; a file in a folder's place and a limit on files stand for it", flush=True)
    return None


def read_only_folders():
    sessions = place("read-only")
    command = behind(f"mount -t tmpfs -o size=1m tmpfs {sessions}; mount -o remount,ro {sessions}")
    if command is None:
        sessions, command = os.path.join(written({}), "below-a-file"), START
    refused("a read-only folder for sessions", written(connection()), [sessions, "CLAIMLAB_SESSIONS"], command, CLAIMLAB_SESSIONS=sessions)

    lab = place("read-only-lab")
    command = behind(f"mount -t tmpfs -o size=1m tmpfs {lab}; mkdir {lab}/old; mount -o remount,ro {lab}")
    new = os.path.join(lab if command else written({}), "new")
    with Kernel(command or PROGRAM, FOLDER, CLAIMLAB_HOME=new) as kernel:
        ran = kernel.failed("let lab = Lab::open()?;", "Error")
        assert new in ran.reply["evalue"] and "CLAIMLAB_HOME" in "\n".join(ran.reply["traceback"]), ran.reply
        if command:
            kernel.ok(f'let lab = Lab::at("{lab}/old")?;\n' + EVALUATION)
            ran = kernel.failed(EVALUATE, "Error")
            assert lab in str(ran.reply) and "Read-only" in str(ran.reply), ran.reply
        kernel.ok(f'let lab = Lab::at("{place("writable-lab")}")?;\n' + EVALUATION)
        kernel.ok(EVALUATE)
    says("a read-only folder is named with the way out; cells fail, the kernel lives on")

    target = os.path.dirname(os.path.dirname(os.path.abspath(PROGRAM)))
    command = behind(f"mount --bind {target} {target}; mount -o remount,bind,ro {target}")
    if command:
        with Kernel(command, FOLDER) as kernel:
            ran = kernel.failed("1 + 1", "KernelError")
            told = "\n".join(ran.reply["traceback"])
            assert target in told and "Read-only" in told and "claimlab prewarm" in told, told
            ran = kernel.failed("1 + 1", "KernelError")
        says("a target folder that is read-only is said by every cell")


EVALUATION = textwrap.dedent("""\
    let sample = lab.sample()?;
    let chunks = sample.chunks(&Chunking::tokens(150, 30)?)?;
    let systems = vec![System::new(&Retriever::bm25(&chunks)?, &Generator::scripted())];""")
EVALUATE = "let evaluation = lab.evaluate(&sample, &systems, 5)?;"
FILL = (
    'let mut filler = std::fs::File::create("{0}/filler")?;\n'
    "let mut size = 1 << 20;\n"
    "while size > 0 {{ if std::io::Write::write_all(&mut filler, &vec![1_u8; size]).is_err() {{ size /= 2; }} }}\n"
    "drop(filler);"
)


def full_disks():
    sessions = place("full")
    command = behind(f"mount -t tmpfs -o size=1m tmpfs {sessions}")
    if command is None:
        command = ["sh", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "sh", *START]
        refused("a limit on files", written(connection()), [sessions, "CLAIMLAB_SESSIONS"], command, CLAIMLAB_SESSIONS=sessions)
        return says("a disk that is full at the start ends the kernel with a message")
    words = [sessions, "No space left", "CLAIMLAB_SESSIONS"]
    refused("a full disk", written(connection()), words, command, CLAIMLAB_SESSIONS=sessions)

    lab = place("full-lab")
    size = 2 * os.path.getsize(PROGRAM) // 2**20 + 64
    command = behind(f"mount -t tmpfs -o size={size}m tmpfs {sessions}; mount -t tmpfs -o size=8m tmpfs {lab}")
    with Kernel(command, FOLDER, CLAIMLAB_HOME=lab, CLAIMLAB_SESSIONS=sessions) as kernel:
        kernel.ok("let kept = 41;\nlet lab = Lab::open()?;\n" + EVALUATION)
        kernel.ok(FILL.format(lab))
        ran = kernel.failed(EVALUATE, "Error")
        assert lab in str(ran.reply) and "No space left" in str(ran.reply), ran.reply
        kernel.ok(f'std::fs::remove_file("{lab}/filler")?;')
        kernel.ok(EVALUATE)
        kernel.ok(FILL.format(sessions))
        ran = kernel.run("kept + 1")
        assert ran.status == "error" and "No space left" in str(ran.reply), ran.reply
        os.remove(f"/proc/{kernel.process()}/root{sessions}/filler")
        assert kernel.ok("kept + 1").result() == "42", "variables survive a full disk"
        pids = children(kernel.process())
    until(30, "the end of all processes", lambda: not any(map(alive, pids)))
    says("a full disk ends the start with a message, and a cell as an error; with room again, everything goes on")


CLIENT = """
import sys, time
sys.path.insert(0, {tests!r})
from kernel_client import Kernel, children
with Kernel({command!r}, {folder!r}, CLAIMLAB_SESSIONS={sessions!r}) as kernel:
    kernel.ok("let x = 1;")
    message = kernel.send('println!("on"); loop {{ std::thread::sleep(std::time::Duration::from_millis(100)); }}')
    while kernel.next_of("iopub", message, 300)["msg_type"] != "stream":
        pass
    print(*children(kernel.process()), kernel.process(), flush=True)
    time.sleep(600)
"""


def dead_clients():
    """jupyter_client names itself in JPY_PARENT_PID; here it is killed while a cell runs."""
    shells = {"its own kernel": START, "a kernel behind a program that lives on": ["sh", "-c", '"$@"; true', "sh", *START]}
    for name, command in shells.items():
        sessions = place("dead")
        code = CLIENT.format(tests=os.path.dirname(os.path.abspath(__file__)), command=command, folder=FOLDER, sessions=sessions)
        client = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        pids = {int(pid) for pid in client.stdout.readline().split()}
        assert len([pid for pid in pids if name_of(pid).startswith("claimlab")]) == 2, f"{name}: kernel and child: {pids}"
        client.send_signal(signal.SIGKILL)
        client.wait()
        try:
            until(60, f"the end of {name}", lambda: not any(map(alive, pids)))
        finally:
            # What should have ended by itself would also keep whoever reads this script's output waiting.
            for pid in filter(alive, pids):
                os.kill(pid, signal.SIGKILL)
        assert not os.listdir(os.path.join(sessions, "claimlab-sessions")), "the session's folder is gone"
    says("a kernel whose client was killed ends, in the middle of a cell, with its child and its folder")


for step in [connection_files, taken_ports, read_only_folders, full_disks, dead_clients]:
    if len(sys.argv) <= 3 or step.__name__ in sys.argv[3:]:
        step()
