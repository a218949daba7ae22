"""One kernel under jupyter_client: start it, run cells, see every message."""

import os
import time

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager


class Ran:
    """What came of one cell."""

    def __init__(self, reply, outputs, seconds):
        self.reply, self.outputs, self.seconds = reply, outputs, seconds
        self.status = reply["status"]

    def of(self, kind):
        return [content for found, content, _ in self.outputs if found == kind]

    def text(self, name="stdout"):
        return "".join(content["text"] for content in self.of("stream") if content["name"] == name)

    def result(self):
        results = self.of("execute_result")
        return results[-1]["data"]["text/plain"] if results else None


class Kernel:
    """A kernel of its own, ended when the block ends."""

    def __init__(self, program, folder, **environment):
        """A kernel from its binary, or from a whole command with {connection_file} in it."""
        command = program if isinstance(program, list) else [program, "kernel", "--connection-file", "{connection_file}"]
        self.manager = KernelManager()
        self.manager._kernel_spec = KernelSpec(
            argv=command,
            display_name="ClaimLab (Rust)",
            language="rust",
            interrupt_mode="message",
        )
        self.began = time.monotonic()
        self.manager.start_kernel(cwd=folder, env={**os.environ, **environment})
        self.client = self.manager.client()
        self.passed_over = {"iopub": [], "shell": []}
        self.client.start_channels()

    def __enter__(self):
        try:
            self.client.wait_for_ready(timeout=600)
        except BaseException:
            self.__exit__()
            raise
        self.ready = time.monotonic() - self.began
        return self

    def __exit__(self, *_):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=False)

    def process(self):
        return self.manager.provisioner.process.pid

    def send(self, code, **options):
        return self.client.execute(code, **options)

    def next_of(self, channel, message, timeout):
        """The next message on a channel that answers a request; others wait for whoever asks for them."""
        waiting = self.passed_over[channel]
        for place, found in enumerate(waiting):
            if found["parent_header"].get("msg_id") == message:
                return waiting.pop(place)
        get = self.client.get_iopub_msg if channel == "iopub" else self.client.get_shell_msg
        while True:
            found = get(timeout=timeout)
            if found["parent_header"].get("msg_id") == message:
                return found
            waiting.append(found)

    def collect(self, message, timeout=300, watch=None):
        """Everything on iopub for a request until it is idle, and its reply."""
        began, outputs = time.monotonic(), []
        while True:
            found = self.next_of("iopub", message, timeout)
            kind, content = found["msg_type"], found["content"]
            if kind == "status" and content["execution_state"] == "idle":
                break
            outputs.append((kind, content, time.monotonic() - began))
            if watch:
                watch(kind, content)
        return Ran(self.next_of("shell", message, timeout)["content"], outputs, time.monotonic() - began)

    def run(self, code, timeout=300, watch=None, **options):
        return self.collect(self.send(code, **options), timeout, watch)

    def ok(self, code, **options):
        ran = self.run(code, **options)
        assert ran.status == "ok", f"{code!r}: {ran.reply}"
        return ran

    def failed(self, code, ename, **options):
        """Runs a cell that must fail, and in this way."""
        ran = self.run(code, **options)
        assert (ran.status, ran.reply.get("ename")) == ("error", ename), f"{code!r}: {ran.reply} {ran.outputs}"
        return ran

    def interrupt_at(self, kind, words=""):
        """For `watch`: interrupts once, when the first output of a kind with these words comes."""
        waiting = [True]

        def watch(found, content):
            if waiting and found == kind and words in str(content):
                waiting.clear()
                self.manager.interrupt_kernel()

        return watch


class Gate:
    """What a cell waits for until the test lets it go on, so that nothing depends on how fast the machine is."""

    def __init__(self, folder, name):
        self.file = os.path.join(folder, name)
        if os.path.exists(self.file):
            os.remove(self.file)
        self.wait = (
            f"while !std::path::Path::new({self.file!r}).exists() {{ ".replace("'", '"')
            + "std::thread::sleep(std::time::Duration::from_millis(20)); }"
        )

    def open(self):
        with open(self.file, "w"):
            pass


def until(seconds, what, check):
    """Waits for something that must happen at all; the limit only ends a test that would hang."""
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds} s"
        time.sleep(0.05)


def alive(pid):
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as comm:
            return comm.read().strip()
    except OSError:
        return ""


def children(pid):
    """Every living descendant of a process."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    parents[int(entry)] = int(stat.read().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError, ValueError):
                pass
    found, level = set(), {pid}
    while level:
        level = {child for child, parent in parents.items() if parent in level} - found
        found |= level
    return found
