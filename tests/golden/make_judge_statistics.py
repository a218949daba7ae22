"""Makes judge_statistics.json: what scikit-learn, statsmodels, krippendorff, scipy and exact fractions say.

pip install scikit-learn statsmodels krippendorff scipy; python tests/golden/make_judge_statistics.py
"""
import json
import math
from fractions import Fraction
from pathlib import Path

import krippendorff
import numpy as np
import scipy
import sklearn
import statsmodels
from scipy import stats
from sklearn import metrics
from statsmodels.stats.proportion import proportion_confint

rng = np.random.default_rng(20310617)
out = {"made_with": {"scikit-learn": sklearn.__version__, "statsmodels": statsmodels.__version__,
                     "scipy": scipy.__version__, "numpy": np.__version__}}

cases = []
for n, rate, accuracy in [(107, .4, .8), (40, .9, .85), (500, .5, .5), (12, .5, .9), (9, 1.0, .7), (200, .05, .95)]:
    truth = rng.random(n) < rate
    said = np.where(rng.random(n) < accuracy, truth, ~truth)
    table = [[int(((truth == t) & (said == s)).sum()) for s in (True, False)] for t in (True, False)]
    both = len(set(truth.tolist())) == 2
    case = {"counts": table, "accuracy": metrics.accuracy_score(truth, said)}
    case["pass_recall"] = metrics.recall_score(truth, said, pos_label=True) if truth.any() else None
    case["fail_recall"] = metrics.recall_score(truth, said, pos_label=False) if (~truth).any() else None
    case["balanced_accuracy"] = metrics.balanced_accuracy_score(truth, said) if both else None
    case["kappa"] = metrics.cohen_kappa_score(truth, said)
    case["mcc"] = metrics.matthews_corrcoef(truth, said) if both and len(set(said.tolist())) == 2 else None
    low, high = proportion_confint(int(((truth) & said).sum()), int(truth.sum()), method="wilson")
    case["pass_recall_wilson"] = [float(low), float(high)]
    cases.append({k: (v if isinstance(v, (list, type(None))) else float(v)) for k, v in case.items()})
out["agreement"] = cases

alphas = []
for n, raters, missing in [(50, 2, 0.0), (40, 3, 0.3), (80, 4, 0.6)]:
    truth = rng.random(n) < 0.6
    data = np.where(rng.random((raters, n)) < 0.8, truth, ~truth).astype(float)
    data[rng.random((raters, n)) < missing] = np.nan
    alphas.append({"labels": [[None if math.isnan(x) else int(x) for x in row] for row in data],
                   "alpha": float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal"))})
out["alpha"] = alphas

# Delete-one-cluster jackknife of balanced accuracy, its Student interval plain and on the logit, from the definitions.
clusters = [[int(x) for x in rng.integers(0, 5, 4)] for _ in range(31)]


def balanced(total):
    return (total[0] / (total[0] + total[1]) + total[3] / (total[2] + total[3])) / 2


total = np.sum(clusters, axis=0)
value = balanced(total)
left = np.array([balanced(total - np.array(one)) for one in clusters])
error = math.sqrt((len(left) - 1) / len(left) * ((left - left.mean()) ** 2).sum())
support = min(sum(one[0] + one[1] > 0 for one in clusters), sum(one[2] + one[3] > 0 for one in clusters))
t = stats.t.ppf(0.975, support - 1)
logit = math.log(value / (1 - value))
half = t * error / (value * (1 - value))
out["jackknife"] = {
    "clusters": clusters, "value": value, "plain": [value - t * error, value + t * error],
    "logit": [1 / (1 + math.exp(-(logit - half))), 1 / (1 + math.exp(-(logit + half)))],
}

pass_k = []
for n, c, k in [(4, 3, 2), (8, 5, 3), (64, 50, 8), (1000, 999, 500), (1000, 990, 100), (1000, 500, 2), (1000, 750, 250),
                (1000, 600, 600), (1000, 1000, 1000), (997, 996, 996), (1000, 999, 999)]:
    pass_k.append({"n": n, "c": c, "k": k, "value": float(Fraction(math.comb(c, k), math.comb(n, k)))})
out["pass_k"] = pass_k

path = Path(__file__).with_name("judge_statistics.json")
path.write_text(json.dumps(out, indent=1) + "\n")
print(path)
