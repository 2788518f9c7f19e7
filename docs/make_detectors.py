"""Write docs/detectors.md from the registry of detectors.

    python docs/make_detectors.py           # or: make generated

A test fails when the page is older than the registry, and runs the page's example.
"""

import inspect
from pathlib import Path

from tsadeval.detectors import DETECTORS, DetectorRecord

PAGE = Path(__file__).parent / "detectors.md"

HEAD = """# The detectors

Written by `make generated` from the registry, so it cannot differ from the code.

A detector has scikit-learn's manners: `fit(X_train)` learns what is normal, `score(X_test)` gives one finite score for
every point, higher for more anomalous. X is `(points,)` or `(points, columns)`, finite, at least one window long.

```python
>>> import numpy as np
>>> import tsadeval as te
>>> time = np.arange(1000)
>>> train = np.sin(time / 5)
>>> test, labels = np.sin(time / 5), (time >= 600) & (time < 640)
>>> test[labels] = np.sin(time[labels] / 2)                        # another rhythm
>>> detector = te.detectors.make("lof(window=30)").fit(train)
>>> scores = detector.score(test)
>>> scores.shape
(1000,)
>>> bool(te.metrics.auc_roc(labels, scores) > 0.99)
True
>>> print(detector)                                                # the text that `make` reads
lof(window=30)

```

`te.detectors.make("usad(window=50)", random_state=3)` and `te.detectors.DETECTORS["usad"].make(window=50, random_state=3)` give the same
detector; `get_params`, `set_params` and `sklearn.base.clone` work. The same options, seed and data give the same scores, to the
last bit on one machine's CPU; a GPU may differ in the last digits. No global generator is seeded or moved. Torch's own generator is
set and put back around a training, so train several networks at once in processes, not in threads.

Those marked torch need `pip install 'tsadeval[all,torch]'`, the others `pip install 'tsadeval[all]'`. Everything on this page can be
listed and parsed without torch.
"""

COMMON = """## What they have in common

**Scaling.** Columns are scaled by the training part: to mean 0 and deviation 1, and clipped to -10 ... 10 (USAD: to 0 ... 1, clipped to
-10 ... 11). A column that is constant in training keeps its unit, so a dead sensor that wakes up is seen but does not outweigh all
others.

**Windows.** They are views of the series; only batches of them are copied. A score of a window goes to all its points, and a point
gets the mean of the windows that cover it; a network may also score the last points of a window one by one. Points before the
first scored one get its score. Those of scikit-learn learn from at most 10,000 windows (OCSVM: 3,000), drawn with the seed. On 450,000 points
of one column all of LOF, isolation forest, PCA, LSTM-AD, USAD and Donut add about 20 MB or less to what the process has when they begin to score.

**Beside published values.** [published.md](published.md) has the AUC-ROC of TSB-UAD's detectors beside that of ours of the same name.

**Training.** One loop trains all networks: Adam, gradients shortened to length 5, 20 % of the training part (the ends of up to ten
blocks) held back for early stopping, the best weights restored. An epoch sees at most `max_windows` windows, drawn anew for each epoch:
neighbouring windows are nearly the same, so more of them cost time and teach little. `progress=True` shows a bar.

**Your own.** Models of scikit-learn, PyOD, aeon, sktime and torch, and functions, go beside them as they are ([interop.md](interop.md)). So does
any object with `fit(X)` and `score(X)`, arrays of points by columns. A run keeps the scores,
makes the tables and feeds the picture (`te.detect(["ucr/125", "mine.csv"], ..., store="runs/mine")`; a run that was stopped goes on):

```python
>>> class Distance:
...     def fit(self, X):
...         self.middle = X.mean(axis=0)
...         return self
...     def score(self, X):
...         return abs(X - self.middle).sum(axis=1)
>>> np.savez("mine.npz", train=train, test=test, label=labels)
>>> result = te.detect("mine.npz", {"mine": Distance(), "LOF": "lof(window=30)"}, ["auc_roc", "f1"])
>>> result
mine.npz  auc_roc       f1
--------  -------  -------
mine      0.5184!  0.0819!
LOF       0.9999*  0.9756*
<BLANKLINE>
* first in its column; ! never first
never first: mine (not above chance)
threshold best: chosen with the labels for each metric, an upper bound
>>> ax = te.plot.series_with_scores(te.datasets.load("mine.npz"), result.all_scores("mine.npz"))
>>> ax.figure.savefig("mine.png")

```

On the command line: `tsadeval detect mine.npz --detectors 'lof(window=30),module:Distance'`, with `module.py` in the folder you are in.

**A new one for all.** A dataclass whose fields are made by `te.detectors.option`, registered with `@te.detectors.detector(...)`: a subclass of
`te.detectors.Detector` with `_fit` and `_score`, or of `te.detectors.DeepDetector` with `build`, `loss` and `window_scores`. See
`LSTMAD`, at the end of `src/tsadeval/detectors/forecast.py`. Once registered it has a name for `make`, options that are checked, and a text.
"""


def options(record: DetectorRecord) -> str:
    lines = ["| option | default | may be | what it is |", "|---|---|---|---|"]
    lines += [
        f"| `{name}` | `{default!r}` | {record.checks[name]} | {record.about[name]} |"
        for name, default in record.parameters.items()
    ]
    return "\n".join(lines)


def entry(record: DetectorRecord) -> str:
    return f"## `{record.name}`\n\n{inspect.getdoc(record.make) or ''}\n\n{options(record)}"


def page() -> str:
    table = ["| detector | in tables | needs | what it is | score of a point | paper |", "|---|---|---|---|---|---|"]
    table += [
        f"| [`{name}`](#{name}) | {r.title} | {r.extra} | {r.summary} | {r.scoring} | {r.reference} |"
        for name, r in DETECTORS.items()
    ]
    return "\n\n".join([HEAD.rstrip(), "\n".join(table), COMMON.rstrip(), *map(entry, DETECTORS.values())]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
