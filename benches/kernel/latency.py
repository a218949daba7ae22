"""How long cells take, through the real protocol: this kernel, and stock evcxr_jupyter beside it where there is one.

    python benches/kernel/latency.py [--repeat 9] [--rival 'evcxr_jupyter --control_file {connection_file}']

Run from the checkout's root after `cargo build`; needs the Python package jupyter_client. The rival gets the library by
`:dep`, at `:opt 0`, its quickest setting. A first session of it, which is not counted, builds everything under the rival's own
flags (ten minutes or more) into a folder that the counted session finds (EVCXR_TMPDIR names one that stays); then the ratio is
printed for every row that both have.
"""

import argparse
import os
import statistics
import tempfile
import time

from watch import ROOT, Kernel, children, program, resident

# What is timed, its code, and the most that its median should be, in seconds.
CELLS = [
    ("`x + 1`", "x + 1", 0.45),
    ("`let y = 3;`", "let y = 3;", None),
    ("a frame", 'df!("a" => [1, 2, 3])?', 0.6),
    ("a lazy group-by", 'frame.clone().lazy().group_by([col("k")]).agg([col("v").sum()]).collect()?.height()', None),
    ("a table of scores", 'evaluation.by(&["system", "language"])?', 0.6),
    ("a figure", 'Figure::intervals(&evaluation.by(&["system", "language"])?, "system", "language")?', 0.6),
]
OURS_ALONE = [("`:vars`", ":vars", None), ("`:sql`", ":sql SELECT k, SUM(v) AS v FROM frame GROUP BY k", None)]
AIMS = {name: aim for name, _, aim in CELLS + OURS_ALONE}
AIMS |= {"`kernel_info` after the start": 1, "start to the first table": 8, "resident before any data, MiB": 1229}
FIRST = 'use claimlab::polars::prelude::df;\ndf!("a" => [1, 2])?'
# The quickstart's session.
SETTING = """\
let x = 41;
let frame = df!("k" => [1, 1, 2], "v" => [1.0, 2.0, 3.0])?;
let lab = Lab::open()?;
let sample = lab.sample()?;
let chunks = sample.chunks(&Chunking::tokens(150, 30)?)?;
let systems = vec![System::new(&Retriever::bm25(&chunks)?, &Generator::scripted())];
let evaluation = lab.evaluate(&sample, &systems, 5)?;"""
# The 95th percentile that tables and figures should keep to.
HIGH = 1.5
# Seconds that a cell may take in which the rival builds the library.
PATIENCE = 3 * 3600


def measure(command, before, cells, repeat, **environment):
    """Every row's seconds (or MiB), in rising order, from one fresh session."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        environment = {"CLAIMLAB_HOME": os.path.join(folder, "lab"), **environment}
        with Kernel(command, folder, **environment) as kernel:
            found["`kernel_info` after the start"] = [kernel.ready]
            for cell in before:
                kernel.ok(cell, timeout=PATIENCE)
            kernel.ok(FIRST, timeout=PATIENCE)
            found["start to the first table"] = [time.monotonic() - kernel.began]
            found["resident before any data, MiB"] = [resident(children(kernel.process()) | {kernel.process()})]
            kernel.ok(SETTING, timeout=PATIENCE)
            for name, code, _ in cells:
                # The first time pays for what is loaded once.
                kernel.ok(code, timeout=PATIENCE)
                found[name] = sorted(kernel.ok(code).seconds for _ in range(repeat))
    return found


def measure_rival(command, repeat):
    prelude = [":opt 0", f':dep claimlab = {{ path = "{ROOT}" }}', "use claimlab::prelude::*;"]
    with tempfile.TemporaryDirectory() as folder:
        build = os.environ.get("EVCXR_TMPDIR", folder)
        measure(command, prelude, CELLS, 1, EVCXR_TMPDIR=build)
        return measure(command, prelude, CELLS, repeat, EVCXR_TMPDIR=build)


def percentile_95(times):
    return times[min(int(len(times) * 0.95), len(times) - 1)]


def misses(name, times):
    aim = AIMS.get(name)
    return aim and (statistics.median(times) > aim or aim == 0.6 and percentile_95(times) > HIGH)


def line(name, times, theirs):
    median = statistics.median(times)
    high = f"{percentile_95(times):.3g}" if len(times) > 1 else "–"
    aim = AIMS.get(name)
    text = f"| {name} | {median:.3g} | {high} | {aim or '–'} |"
    if theirs:
        other = statistics.median(theirs[name]) if name in theirs else None
        text += f" {other:.3g} | {other / median:.1f} |" if other else " – | – |"
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--rival")
    asked = parser.parse_args()
    ours = measure(program(), [], CELLS + OURS_ALONE, asked.repeat)
    theirs = measure_rival(asked.rival.split(), asked.repeat) if asked.rival else {}
    print(f"| seconds | median | 95th percentile | aim |{' stock evcxr_jupyter | ratio |' if theirs else ''}")
    print(f"|---|---|---|---|{'---|---|' if theirs else ''}")
    for name, times in ours.items():
        print(line(name, times, theirs))
    missed = [name for name, times in ours.items() if misses(name, times)]
    print(f"\n{os.cpu_count()} cores, {asked.repeat} times each. " + (f"Aims missed: {', '.join(missed)}." if missed else "All aims are met."))


main()
