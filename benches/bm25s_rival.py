"""PyPI bm25s on the same chunks and questions, one thread: rows of the bench's table."""

import json
import sys
import time

import bm25s

RUNS = 3
corpus = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
questions = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]


def timed(run, times=1):
    best, result = float("inf"), None
    for _ in range(times):
        began = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - began)
    return best, result


tokenizing, tokens = timed(lambda: bm25s.tokenize(corpus, stopwords=None, show_progress=False))
for backend in ("numpy", "numba"):
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend=backend)
    indexing, _ = timed(lambda: index.index(tokens, show_progress=False))

    def search():
        asked = bm25s.tokenize(questions, stopwords=None, show_progress=False)
        return index.retrieve(asked, k=10, n_threads=1, show_progress=False)

    search()  # compiles, with numba
    searching, _ = timed(search, RUNS)
    scores = index.scores
    size = sum(scores[name].nbytes for name in ("data", "indices", "indptr")) / 1e6
    print(
        f"| bm25s {bm25s.__version__} ({backend}) | {tokenizing + indexing:.1f} ({tokenizing:.1f} of it tokenizing) "
        f"| {len(questions) / searching:.0f} | {size:.0f} |",
        flush=True,
    )
