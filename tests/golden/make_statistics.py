"""Makes statistics.json: what scipy, statsmodels, scikit-learn, ppi_py, rouge_score and sacrebleu say.

    python3 -m venv venv && venv/bin/pip install numpy scipy statsmodels scikit-learn ppi-python rouge-score sacrebleu
    venv/bin/python tests/golden/make_statistics.py > tests/golden/statistics.json
"""

import json
import re
import sys
from importlib.metadata import version

import numpy as np
import sacrebleu
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from rouge_score import rouge_scorer
from scipy import stats
from sklearn import metrics
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_confint

random = np.random.default_rng(20310617)
golden = {"versions": {name: version(name) for name in
                       ["numpy", "scipy", "statsmodels", "scikit-learn", "ppi-python", "rouge-score", "sacrebleu"]}}

golden["wilson"] = [
    {"count": c, "n": n, "level": level, "low": float(low), "high": float(high)}
    for c, n, level in [(0, 5, 0.95), (5, 5, 0.95), (1, 7, 0.95), (8, 24, 0.95), (40, 107, 0.9), (838, 968, 0.99)]
    for low, high in [proportion_confint(c, n, alpha=1 - level, method="wilson")]
]

golden["mcnemar"] = [
    {"b": b, "c": c, "p": float(mcnemar([[10, b], [c, 10]], exact=True).pvalue)}
    for b, c in [(0, 5), (0, 6), (3, 9), (12, 12), (30, 11), (150, 201)]
]

golden["adjusted"] = []
for size in [1, 3, 8, 56]:
    p = random.uniform(size=size) ** 3
    golden["adjusted"].append({
        "p": p.tolist(),
        "holm": multipletests(p, method="holm")[1].tolist(),
        "bh": multipletests(p, method="fdr_bh")[1].tolist(),
    })

golden["sign_flip"] = []
for size, shift in [(6, 0.2), (11, 0.1), (13, 0.0), (60, 0.08)]:
    d = np.round(random.normal(shift, 0.4, size), 3)
    test = stats.permutation_test((d,), np.mean, permutation_type="samples", vectorized=False,
                                  n_resamples=np.inf if size <= 13 else 20000, rng=1)
    golden["sign_flip"].append({"differences": d.tolist(), "exact": size <= 13, "p": float(test.pvalue)})

golden["bootstrap"] = []
for name, values in {
    "skewed": np.round(random.beta(5, 1, 60), 4),
    "binary": (random.uniform(size=80) < 0.15).astype(float),
    "uniform": np.round(random.uniform(size=40), 4),
}.items():
    row = {"name": name, "values": values.tolist()}
    for method in ["percentile", "BCa"]:
        ci = stats.bootstrap((values,), np.mean, n_resamples=50000, method=method, rng=1).confidence_interval
        row[method] = [float(ci.low), float(ci.high)]
    golden["bootstrap"].append(row)

labels = ["entailment", "neutral", "contradiction"]
golden["classification"] = []
for weights in [(0.7, 0.2, 0.1), (0.34, 0.33, 0.33), (0.05, 0.9, 0.05)]:
    given = random.choice(labels, 200, p=weights)
    said = np.where(random.uniform(size=200) < 0.6, given, random.choice(labels, 200, p=weights))
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(given, said, labels=labels)
    matrix = metrics.confusion_matrix(given, said, labels=labels)
    golden["classification"].append({
        "given": given.tolist(), "said": said.tolist(), "matrix": matrix.tolist(),
        "precision": precision.tolist(), "recall": recall.tolist(), "f1": f1.tolist(),
        "macro_f1": float(metrics.f1_score(given, said, labels=labels, average="macro")),
        "accuracy": float(metrics.accuracy_score(given, said)),
        "balanced_accuracy": float(metrics.balanced_accuracy_score(given, said)),
        "kappa": float(cohens_kappa(matrix).kappa),
        "mcc": float(metrics.matthews_corrcoef(given, said)),
    })

golden["prediction_powered"] = []
for n, big in [(50, 400), (150, 2000)]:
    truth = (random.uniform(size=n) < 0.3).astype(float)
    predicted = np.where(random.uniform(size=n) < 0.8, truth, 1 - truth)
    rest = (random.uniform(size=big) < 0.4).astype(float)
    low, high = ppi_mean_ci(truth, predicted, rest, alpha=0.05, lam=1)
    golden["prediction_powered"].append({
        "labels": truth.tolist(), "predicted": predicted.tolist(), "unlabelled": rest.tolist(),
        "estimate": float(np.ravel(ppi_mean_pointestimate(truth, predicted, rest, lam=1))[0]),
        "low": float(np.ravel(low)[0]), "high": float(np.ravel(high)[0]),
    })

# Power of a one-sample z test, solved for the effect in units of the standard deviation.
golden["detectable"] = [
    {"n": n, "sd": sd, "difference": float(NormalIndPower(ddof=0).solve_power(
        effect_size=None, nobs1=n, alpha=0.05, power=0.8, ratio=0) * sd)}
    for n, sd in [(317, 0.2 ** 0.5), (107, 0.3), (24, 0.5)]
]

golden["normal"] = [{"p": p, "z": float(stats.norm.ppf(p))} for p in [1e-9, 0.005, 0.025, 0.2, 0.5, 0.8, 0.99, 1 - 1e-9]]


class Words:
    """The words that the two texts consist of; the goldens' texts are plain."""

    def tokenize(self, text):
        return re.findall(r"[\w']+", text.lower())


pairs = [
    ("the seller must deliver the goods within ten days", "the seller must deliver the goods within thirty days"),
    ("le loyer est dû le premier jour du mois", "le loyer est payable le premier du mois"),
    ("yes", "the controller must notify the authority"),
    ("the authority must be notified by the controller without delay and in writing",
     "the controller must notify the authority"),
    ("nothing in common here", "le loyer est payable"),
]
scorer = rouge_scorer.RougeScorer(["rougeL"], tokenizer=Words())
golden["overlap"] = [
    {"response": response, "reference": reference,
     "rouge_l": scorer.score(reference, response)["rougeL"].fmeasure,
     "bleu": sacrebleu.sentence_bleu(response, [reference], tokenize="none", lowercase=True,
                                     smooth_method="exp", use_effective_order=True).score / 100}
    for response, reference in pairs
]

json.dump(golden, sys.stdout, ensure_ascii=False, indent=1)
print()
