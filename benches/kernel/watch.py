"""What a kernel and the processes below it hold, read from /proc."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "kernel/tests/jupyter"))
from kernel_client import Kernel, alive, children  # noqa: E402, F401


def program():
    """The built kernel; CARGO_TARGET_DIR names another target folder than the checkout's."""
    return os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "debug/claimlab")


def field(pid, file, name):
    """A number from /proc/PID/FILE; 0 for a process that has ended meanwhile."""
    try:
        with open(f"/proc/{pid}/{file}") as lines:
            return next((int(line.split()[1]) for line in lines if line.startswith(name + ":")), 0)
    except OSError:
        return 0


def resident(pids):
    """Resident memory of these processes, in MiB. What two of them share counts twice."""
    return sum(field(pid, "status", "VmRSS") for pid in pids) / 1024


def threads(pids):
    return sum(field(pid, "status", "Threads") for pid in pids)


def count(pids, what):
    """Entries of /proc/PID/WHAT (`fd`: open files), over all these processes."""
    total = 0
    for pid in pids:
        try:
            total += len(os.listdir(f"/proc/{pid}/{what}"))
        except OSError:
            pass
    return total


def maps(pids):
    """Mapped areas of memory."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/maps") as lines:
                total += sum(1 for _ in lines)
        except OSError:
            pass
    return total
