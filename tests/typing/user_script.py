# pyright: strict
"""What a user's script looks like. `tests/core/test_typing.py` checks its types and runs it."""

import numpy as np

import tsadeval as te
from tsadeval.metrics import auc_roc

rng = np.random.default_rng(0)
time = np.arange(400)
y_true = (time >= 300) & (time < 320)
y_score = rng.random(400) + y_true
y_pred = y_score > 1

value = te.cce(y_true, y_score, normalize="rank")
area = auc_roc(y_true.tolist(), y_score.tolist())
volume = te.metrics.vus_pr(y_true, y_score, window=10, n_thresholds=None)
precision, recall, f1 = te.metrics.range_based(y_true, y_pred, bias="front")
adjusted = te.metrics.point_adjusted(y_true, y_pred).f1

breakdown = te.cce_breakdown(y_true, y_score, quantiles=(0.01, 0.99))
costly = breakdown.worst(3, label=1)
stream = te.StreamingCCE(tau=0.4).update(y_true[:200], y_score[:200]).update(y_true[200:], y_score[200:])
streamed = stream.compute()

result = te.evaluate(y_true, y_score, ["cce", "f1(beta=2)", te.metrics.f1_pa], threshold="best", baseline=True)
found = result["cce"]
table = result.to_latex()
frame = result.to_frame()
many = te.evaluate_many([("a", y_true, y_score)], "cce").macro
threshold = te.best_threshold("f1", y_true, y_score).threshold
comparison = te.compare({"one": y_score, "two": rng.random(400)}, y_true, ["cce", lambda t, s: float(np.dot(t, s))])

np.savez("mine.npz", train=np.sin(time / 5), test=np.sin(time / 5) + y_true, label=y_true)
data = te.datasets.load("mine.npz")
labels = data.test_labels
scores = te.detectors.make("lof(window=10)").fit(np.sin(time / 5)).score(y_score)
detection = te.detect("mine.npz", ["lof(window=10)", "random"], ["cce"])
ranking = te.rankeval.run("quick", ["cce"], cases=["10k-20seg-50H"], tasks=["AccQ"])
ax = te.plot.series_with_scores(data, {"LOF": scores})

try:
    message = str(te.cce([0, 1], [0.5, float("nan")]))
except te.errors.InvalidInputError as error:
    message = str(error)
