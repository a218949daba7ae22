"""A long day in one session: a thousand cells and a hundred figures, with memory and open files watched.

    python benches/kernel/soak.py [--cells 1000] [--figures 100] [--report benches/kernel/soak.md]

Run from the checkout's root after `cargo build`; needs the Python package jupyter_client. Reads /proc, so it needs Linux.
"""

import argparse
import os
import platform
import statistics
import subprocess
import tempfile
import time

from watch import ROOT, Kernel, alive, children, count, maps, program, resident, threads

SETTING = """\
let lab = Lab::open()?;
let sample = lab.sample()?;
let chunks = sample.chunks(&Chunking::tokens(150, 30)?)?;
let systems = vec![System::new(&Retriever::bm25(&chunks)?, &Generator::scripted())];
let evaluation = lab.evaluate(&sample, &systems, 5)?;
let kept = 1;"""
FIGURE = """\
let summary = evaluation.by(&["system", "language"])?;
Figure::intervals(&summary, "system", "language")?"""
# What a working day is made of, in turns: numbers, variables that are made anew, tables, text, and now and then a mistake.
CELLS = [
    "let step_{place} = kept + {number};",
    "kept + {number}",
    'println!("cell {number}");',
    'let table_{place} = evaluation.scores().only("metric", "f1")?;',
    "evaluation.scores().frame().head(Some(5))",
]
# Mapped areas that Linux allows a process unless it is told otherwise (vm.max_map_count).
AREAS = 65_530
WRONG = ["kept.no_such_thing({number});", 'panic!("cell {number}")', 'std::fs::read("/no/such/file/{number}")?;']


def size_of(folder):
    """MiB below a folder; files with several names count once."""
    seen = {}
    for inner, _, files in os.walk(folder):
        for name in files:
            try:
                about = os.lstat(os.path.join(inner, name))
                seen[about.st_ino] = about.st_blocks * 512
            except OSError:
                pass
    return sum(seen.values()) / 2**20


class Sampler:
    """Looks at the kernel and at its child, between two cells."""

    def __init__(self, kernel, sessions):
        self.kernel, self.sessions, self.rows = kernel, sessions, []

    def look(self, cells):
        kernel = self.kernel.process()
        below = children(kernel)
        both = below | {kernel}
        row = (cells, resident({kernel}), resident(below), count(both, "fd"), threads(both), maps(below), len(both), size_of(self.sessions))
        self.rows.append(row)
        print(f"{cells} cells: {row[1]:.0f} + {row[2]:.0f} MiB, {row[3]} open files", flush=True)


def run(kernel, asked, sampler):
    """The cells, with a figure after every so many; returns the seconds of cells and of figures."""
    times, figures = [], []
    every = max(asked.cells // asked.figures, 1)
    sample_at = max(asked.cells // 10, 1)
    for number in range(1, asked.cells + 1):
        if number % 50 == 0:
            wrong = WRONG[number // 50 % len(WRONG)].replace("{number}", str(number))
            assert kernel.run(wrong).status == "error", wrong
        else:
            cell = CELLS[number % len(CELLS)].replace("{number}", str(number)).replace("{place}", str(number % 20))
            times.append(kernel.ok(cell).seconds)
        if number % every == 0 and len(figures) < asked.figures:
            ran = kernel.ok(FIGURE)
            assert "image/svg+xml" in str(ran.outputs), "a figure"
            figures.append(ran.seconds)
        if number % sample_at == 0:
            sampler.look(number)
    return times, figures


def slope(rows, column):
    """Growth a cell, by least squares over the second half of the samples, when everything has been used once."""
    half = rows[len(rows) // 2 :]
    cells, values = [row[0] for row in half], [row[column] for row in half]
    return statistics.linear_regression(cells, values).slope


def statement(rows):
    """What grew, in words, from the samples alone."""
    warm, last = rows[1], rows[-1]
    memory = lambda row: row[1] + row[2]
    kernel, child = slope(rows, 1) * 1024, slope(rows, 2) * 1024
    areas = max((last[5] - warm[5]) / (last[0] - warm[0]), 1e-9)
    files = "did not grow" if last[3] <= warm[3] else f"grew by {last[3] - warm[3]}"
    return [
        f"From cell {warm[0]} to cell {last[0]} resident memory went from {memory(warm):.0f} to {memory(last):.0f} MiB. Over the second half",
        f"the kernel (with its rust-analyzer) grew by {kernel:.0f} KiB a cell and the process that runs cells by {child:.0f} KiB a cell:",
        f"at that rate {max(kernel + child, 0) / 1.024:.0f} MiB for every further thousand cells, figures included.",
        f"Open files {files} (from {warm[3]} to {last[3]}), threads went from {warm[4]} to {last[4]}.",
        f"Every cell's library stays loaded: {areas:.1f} mapped areas a cell, so the usual limit of {AREAS:,} is reached after some "
        f"{AREAS / areas:,.0f} cells,",
        f"and {(last[7] - warm[7]) * 1024 / (last[0] - warm[0]):.0f} KiB a cell in the session's folder, which goes with the session.",
    ]


def report(asked, rows, times, figures):
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    tenth = max(len(times) // 10, 1)
    return "\n".join([
        "# Soak of one session",
        "",
        f"`python benches/kernel/soak.py --cells {asked.cells} --figures {asked.figures} --report benches/kernel/soak.md`",
        f"at commit {commit or 'unknown'}, {os.cpu_count()} cores, {platform.system()}, {time.strftime('%Y-%m-%d')}: {asked.cells} cells"
        f" and {len(figures)} figures in one session,",
        "every 50th cell one that fails.",
        "",
        "| cells | kernel, MiB | child, MiB | open files | threads | mapped areas | processes | session's folder, MiB |",
        "|---|---|---|---|---|---|---|---|",
        *(f"| {c} | {k:.0f} | {r:.0f} | {f} | {t} | {m} | {p} | {s:.1f} |" for c, k, r, f, t, m, p, s in rows),
        "",
        *statement(rows),
        "",
        f"Seconds a cell: median {statistics.median(times):.2f}, 95th percentile {sorted(times)[int(len(times) * 0.95)]:.2f}; first tenth "
        f"{statistics.median(times[:tenth]):.2f},",
        f"last tenth {statistics.median(times[-tenth:]):.2f}. Figures: median {statistics.median(figures):.2f}. Nothing stayed behind when the "
        "session was closed.",
        "",
    ])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--figures", type=int, default=100)
    parser.add_argument("--report")
    asked = parser.parse_args()
    if not 1 <= asked.figures <= asked.cells or asked.cells < 40:
        parser.error("at least 40 cells, and between one figure and a figure a cell")
    with tempfile.TemporaryDirectory() as folder:
        places = {"CLAIMLAB_HOME": os.path.join(folder, "lab"), "CLAIMLAB_SESSIONS": os.path.join(folder, "sessions")}
        with Kernel(program(), folder, **places) as kernel:
            kernel.ok(SETTING)
            sampler = Sampler(kernel, places["CLAIMLAB_SESSIONS"])
            sampler.look(0)
            times, figures = run(kernel, asked, sampler)
            pids = children(kernel.process()) | {kernel.process()}
        deadline = time.monotonic() + 60
        while any(map(alive, pids)) and time.monotonic() < deadline:
            time.sleep(0.2)
        left = [pid for pid in pids if alive(pid)] + os.listdir(os.path.join(places["CLAIMLAB_SESSIONS"], "claimlab-sessions"))
        assert not left, f"left behind: {left}"
    text = report(asked, sampler.rows, times, figures)
    print(text)
    if asked.report:
        with open(os.path.join(ROOT, asked.report), "w", encoding="utf-8") as file:
            file.write(text)


main()
