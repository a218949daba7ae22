"""A long day in one session: a thousand cells and a hundred figures, with memory and open files watched.

    python benches/kernel/soak.py [--cells 1000] [--figures 100] [--report benches/kernel/soak.md]

Run from the checkout's root after `cargo build`; needs the Python package jupyter_client.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "kernel/tests/jupyter"))
from kernel_client import Kernel, children  # noqa: E402

FIGURE = """
let summary = evaluation.by(&["system", "language"])?;
Figure::intervals(&summary, "system", "language")?
"""


def program():
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    return os.path.join(target, "debug/claimlab")


def resident(pids):
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/status") as status:
                total += next((int(line.split()[1]) for line in status if line.startswith("VmRSS")), 0)
        except OSError:
            pass
    return total / 1024


def open_files(pids):
    count = 0
    for pid in pids:
        try:
            count += len(os.listdir(f"/proc/{pid}/fd"))
        except OSError:
            pass
    return count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--figures", type=int, default=100)
    parser.add_argument("--report")
    asked = parser.parse_args()
    rows, times, figures = [], [], []
    with tempfile.TemporaryDirectory() as folder, Kernel(program(), folder, CLAIMLAB_HOME=os.path.join(folder, "lab")) as kernel:
        kernel.ok(
            "let lab = Lab::open()?;\nlet sample = lab.sample()?;\nlet chunks = sample.chunks(&Chunking::tokens(150, 30)?)?;\n"
            "let systems = vec![System::new(&Retriever::bm25(&chunks)?, &Generator::scripted())];\n"
            "let evaluation = lab.evaluate(&sample, &systems, 5)?;\nlet kept = 1;"
        )
        pids = lambda: children(kernel.process()) | {kernel.process()}
        rows.append((0, resident(pids()), open_files(pids()), len(pids())))
        every = max(asked.cells // asked.figures, 1)
        for number in range(1, asked.cells + 1):
            if number % every == 0:
                ran = kernel.ok(FIGURE)
                assert "image/svg+xml" in str(ran.outputs), "a figure"
                figures.append(ran.seconds)
            else:
                times.append(kernel.ok(f"let step_{number % 20} = kept + {number};").seconds)
            if number % max(asked.cells // 10, 1) == 0:
                rows.append((number, resident(pids()), open_files(pids()), len(pids())))
                print(f"{number} cells: {rows[-1][1]:.0f} MiB, {rows[-1][2]} files", flush=True)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    lines = [
        "# Soak of one session",
        "",
        f"`python benches/kernel/soak.py --cells {asked.cells} --figures {asked.figures}` at commit {commit or 'unknown'},",
        f"{os.cpu_count()} cores, {platform.system()}, {time.strftime('%Y-%m-%d')}. Kernel and child together.",
        "",
        "| cells | resident MiB | open files | processes |",
        "|---|---|---|---|",
        *(f"| {cells} | {memory:.0f} | {files} | {processes} |" for cells, memory, files, processes in rows),
        "",
        f"Variable cells: median {statistics.median(times):.2f} s, p95 {sorted(times)[int(len(times) * 0.95)]:.2f} s "
        f"(first tenth {statistics.median(times[: max(len(times) // 10, 1)]):.2f} s, last tenth "
        f"{statistics.median(times[-max(len(times) // 10, 1):]):.2f} s). Figure cells: median {statistics.median(figures):.2f} s.",
        f"Each cell added {(rows[-1][1] - rows[1][1]) * 1024 / max(rows[-1][0] - rows[1][0], 1):.0f} KiB.",
        "",
    ]
    text = "\n".join(lines)
    print(text)
    if asked.report:
        with open(os.path.join(ROOT, asked.report), "w", encoding="utf-8") as file:
            file.write(text)


main()
