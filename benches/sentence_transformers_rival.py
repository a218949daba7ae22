"""sentence-transformers, for comparison: `python … MODEL_FOLDER THREADS`.

Reads the texts as one line of JSON and says its name in a line of JSON; then embeds them once for every line that it reads,
and answers each with a line of JSON: chunks a second.
"""

import json
import sys
import time

import sentence_transformers
import torch

folder, threads = sys.argv[1], int(sys.argv[2])
texts = json.loads(sys.stdin.readline())
torch.set_num_threads(threads)
model = sentence_transformers.SentenceTransformer(folder, device="cpu")
model.encode(texts[:8])
print(json.dumps({
    "rival": f"sentence-transformers {sentence_transformers.__version__} (torch {torch.__version__}, "
             f"{torch.get_num_threads()} threads)",
}), flush=True)
while sys.stdin.readline():
    began = time.perf_counter()
    model.encode(texts, batch_size=32, show_progress_bar=False)
    print(json.dumps({"embedding": len(texts) / (time.perf_counter() - began)}), flush=True)
