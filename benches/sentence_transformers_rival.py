"""sentence-transformers on the same texts and threads: `python … MODEL_FOLDER THREADS ROUNDS`, texts as JSON on stdin.

Prints one line of JSON.
"""

import json
import statistics
import sys
import time

import sentence_transformers
import torch

folder, threads, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
texts = json.load(sys.stdin)
torch.set_num_threads(threads)
model = sentence_transformers.SentenceTransformer(folder, device="cpu")
model.encode(texts[:8])


def rate():
    began = time.perf_counter()
    model.encode(texts, batch_size=32, show_progress_bar=False)
    return len(texts) / (time.perf_counter() - began)


print(json.dumps({
    "rival": f"sentence-transformers {sentence_transformers.__version__} (torch {torch.__version__}, "
             f"{torch.get_num_threads()} threads)",
    "chunks_per_second": statistics.median(rate() for _ in range(rounds)),
}))
