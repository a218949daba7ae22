"""The eleven metrics: RAGChecker's Python beside this library, in one run, as ratios.

    python3 -m venv venv && venv/bin/pip install numpy dataclasses-json && venv/bin/pip install --no-deps ragchecker
    venv/bin/python benches/metrics.py

RAGChecker's metric code is imported as it is; packages that it imports and the metrics never call (models, clients) are
replaced by empty modules (RefChecker among them: it makes the labels, the metrics only count them). It gets its own objects with the labels filled in, so that only the computation is timed. Our
side is `tests/it/speed.rs`: shapes and numbers of labels are the same, the labels are random on both sides.
"""

import importlib.abc
import importlib.machinery
import random
import subprocess
import sys
import time
import types
from importlib.metadata import version

QUESTIONS, CLAIMS, CHUNKS = 10_000, 10, 10
STUBS = {"refchecker", "torch", "transformers", "litellm", "loguru", "boto3", "tqdm"}


class Anything(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {"__init__": lambda self, *a, **k: None})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in STUBS:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Anything(spec.name)

    def exec_module(self, module):
        pass


def ragchecker_seconds():
    sys.meta_path.insert(0, Finder())
    from ragchecker import RAGResults
    from ragchecker.computation import METRIC_FUNC_MAP  # noqa: F401
    from ragchecker.container import RAGResult, RetrievedDoc
    from ragchecker.metrics import METRIC_GROUP_MAP

    rng = random.Random(1)
    labels = ["Entailment", "Neutral", "Contradiction"]
    row = lambda n: [rng.choice(labels) for _ in range(n)]
    triple = [["a", "b", "c"]] * CLAIMS
    best = (float("inf"), 0.0)
    for _ in range(3):
        results = [
            RAGResult(query_id=str(i), query="q", gt_answer="a", response="r",
                      retrieved_context=[RetrievedDoc(doc_id=str(k), text="t") for k in range(CHUNKS)],
                      response_claims=triple, gt_answer_claims=triple,
                      answer2response=row(CLAIMS), response2answer=row(CLAIMS),
                      retrieved2response=[row(CHUNKS) for _ in range(CLAIMS)],
                      retrieved2answer=[row(CHUNKS) for _ in range(CLAIMS)])
            for i in range(QUESTIONS)
        ]
        began, cpu = time.perf_counter(), time.process_time()
        for metric in METRIC_GROUP_MAP["all_metrics"]:
            for result in results:
                METRIC_FUNC_MAP[metric](result)
        best = min(best, (time.perf_counter() - began, time.process_time() - cpu))
    assert all(len(result.metrics) == 11 for result in RAGResults(results=results).results)
    return best


def our_seconds():
    command = ["cargo", "test", "--test", "it", "speed", "--", "--ignored", "--nocapture", "--test-threads", "1"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [line[line.index("MEASURED\t"):].split("\t") for line in text.splitlines() if "MEASURED\t" in line]
    return {what: (float(seconds), float(cpu)) for _, what, seconds, cpu in rows}


theirs, their_cpu = ragchecker_seconds()
print(f"RAGChecker {version('ragchecker')}, Python {sys.version.split()[0]}: {theirs:.3f} s ({their_cpu:.3f} s of processor "
      f"time), {theirs / QUESTIONS * 1e6:.0f} µs a question")
for what, (seconds, cpu) in ({} if "--theirs" in sys.argv else our_seconds()).items():
    ratio = ""
    if what.startswith("eleven metrics"):
        ratio = f": {theirs / seconds:.0f}x as fast, with {their_cpu / cpu:.0f}x less processor time"
    print(f"{what}: {seconds * 1e3:.1f} ms ({cpu * 1e3:.0f} ms of processor time){ratio}")
