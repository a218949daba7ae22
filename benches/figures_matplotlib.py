"""Grouped bars of 11 metrics × 8 systems with intervals as SVG by matplotlib: its version and the median milliseconds.

The same table as benches/figures.rs, one column wide, text as outlines (matplotlib's default)."""

import io
import statistics
import time

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

RUNS = 15
METRICS = ["Precision", "Recall", "F1", "Claim recall", "Context precision", "Context utilization",
           "Noise sensitivity (relevant)", "Noise sensitivity (irrelevant)", "Hallucination", "Self-knowledge",
           "Faithfulness"]


def draw():
    figure, axes = plt.subplots(figsize=(3.35, 3.2))
    wide = 0.84 / 8
    for system in range(8):
        means = [((system * 7 + place * 3) % 83) / 100 + 0.05 for place in range(len(METRICS))]
        places = [place + wide * system for place in range(len(METRICS))]
        axes.bar(places, means, wide * 0.9, yerr=[[0.05] * 11, [0.07] * 11], capsize=1, error_kw={"linewidth": 0.7},
                 label=f"retriever + generator {system}")
    axes.set_xticks([place + 0.4 for place in range(len(METRICS))], METRICS, rotation=90, fontsize=7)
    axes.set_ylabel("mean (%)", fontsize=7)
    axes.set_ylim(0, 1)
    axes.legend(fontsize=7, ncol=2, loc="upper center", bbox_to_anchor=(0.5, -0.8), frameon=False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight")
    plt.close(figure)


draw()
times = []
for _ in range(RUNS):
    start = time.perf_counter()
    draw()
    times.append((time.perf_counter() - start) * 1000)
print(matplotlib.__version__, f"{statistics.median(times):.3f}")
