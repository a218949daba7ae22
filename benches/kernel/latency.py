"""How long cells take, through the real protocol: this kernel, and stock evcxr_jupyter beside it where there is one.

    python benches/kernel/latency.py [--repeat 9] [--rival 'evcxr_jupyter --control_file {connection_file}']

Run from the checkout's root after `cargo build`; needs the Python package jupyter_client. The rival gets the library by
`:dep` (its first cell then builds everything under flags of its own, about half an hour) and the ratio is printed for
every cell that both have run.
"""

import argparse
import os
import statistics
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "kernel/tests/jupyter"))
from kernel_client import Kernel, children  # noqa: E402

CELLS = [
    ("x + 1", "x + 1"),
    ("let y = 3;", "let y = 3;"),
    ("a frame", 'df!("a" => [1, 2, 3])?'),
    ("group-by", 'frame.clone().lazy().group_by([col("k")]).agg([col("v").sum()]).collect()?.height()'),
    ("a table of scores", 'evaluation.by(&["system", "language"])?'),
    ("a figure", 'Figure::intervals(&evaluation.by(&["system", "language"])?, "system", "language")?'),
]
SETTING = (
    "use claimlab::polars::prelude::df;\nlet x = 41;\nlet frame = df!(\"k\" => [1, 1, 2], \"v\" => [1.0, 2.0, 3.0])?;\n"
    "let lab = Lab::open()?;\nlet sample = lab.sample()?;\nlet chunks = sample.chunks(&Chunking::tokens(150, 30)?)?;\n"
    "let systems = vec![System::new(&Retriever::bm25(&chunks)?, &Generator::scripted())];\n"
    "let evaluation = lab.evaluate(&sample, &systems, 5)?;"
)


def program():
    return os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "debug/claimlab")


def resident(pid):
    total = 0
    for one in children(pid) | {pid}:
        with open(f"/proc/{one}/status") as status:
            total += next((int(line.split()[1]) for line in status if line.startswith("VmRSS")), 0)
    return total / 1024


def measure(command, before, repeat):
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        with Kernel(command, folder, CLAIMLAB_HOME=os.path.join(folder, "lab")) as kernel:
            found["kernel_info"] = [kernel.ready]
            for cell in before:
                kernel.ok(cell, timeout=3600)
            import time

            kernel.ok('use claimlab::polars::prelude::df;\ndf!("a" => [1, 2])?', timeout=3600)
            found["start to first table"] = [time.monotonic() - kernel.began]
            found["resident MiB before any data"] = [resident(kernel.process())]
            kernel.ok(SETTING, timeout=3600)
            for name, code in CELLS:
                found[name] = sorted(kernel.ok(code).seconds for _ in range(repeat))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--rival")
    asked = parser.parse_args()
    ours = measure(program(), [], asked.repeat)
    theirs = {}
    if asked.rival:
        prelude = [f":dep claimlab = {{ path = {ROOT!r} }}".replace("'", '"'), "use claimlab::prelude::*;"]
        theirs = measure(asked.rival.split(), prelude, asked.repeat)
    print(f"| cell | median | 95th percentile |{' stock evcxr_jupyter | ratio |' if theirs else ''}")
    print(f"|---|---|---|{'---|---|' if theirs else ''}")
    for name, times in ours.items():
        median = statistics.median(times)
        line = f"| {name} | {median:.2f} | {times[min(int(len(times) * 0.95), len(times) - 1)]:.2f} |"
        if name in theirs:
            other = statistics.median(theirs[name])
            line += f" {other:.2f} | {other / median:.1f} |"
        print(line)


main()
