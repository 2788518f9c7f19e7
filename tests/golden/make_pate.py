"""Made pate.json with the authors' package: `pip install PATE==0.1.1` (it pins numpy 1.24.4), Python 3.11.

Left out are cases in which rounding puts the position of a percentile above the whole number that it is: the package
then skips the score at that position, by an accident of floating point that a shift of all scores undoes.
"""

import json
import pathlib
import warnings

import numpy as np
from pate.PATE_metric import PATE


def rounded_up(thresholds, n_thresholds):
    positions = (thresholds - 1) * (np.linspace(100, 0, n_thresholds) / 100)
    exact = (thresholds - 1) * np.arange(n_thresholds)[::-1]
    whole = exact % (n_thresholds - 1) == 0
    return bool((positions[whole] > exact[whole] // (n_thresholds - 1)).any())


def kept(y, s):
    distinct, hit = np.unique(s), set(s[y == 1])
    return sum(i in (0, len(distinct) - 1) or v in hit or distinct[i - 1] in hit for i, v in enumerate(distinct))


def make(count=60, seed=2024):
    rng = np.random.default_rng(seed)
    cases = []
    while len(cases) < count:
        n = int(rng.integers(20, 120))
        longest = rng.choice([2, 8, 30], 2)
        y = np.repeat(np.arange(2 * n) % 2, np.ravel(rng.integers(1, longest + 1, (n, 2))))[rng.integers(0, 20) :][:n]
        if y.min() == y.max():
            continue
        s = [rng.random(n) + y * rng.random(), rng.integers(0, 12, n) / 4, rng.integers(0, 2, n)][
            rng.choice(3, p=[0.6, 0.3, 0.1])
        ]
        s = np.round(s, 6)
        p = (s > np.quantile(s, rng.random())).astype(int)
        n_thresholds = [5, 20, 100, 250, None][rng.integers(5)]
        if n_thresholds and rounded_up(kept(y, s), n_thresholds):
            continue
        early, delay = (int(v) for v in rng.integers(0, rng.choice([5, 40]), 2))
        n_splits, include_zero = int(rng.integers(1, 4)), bool(rng.integers(2))
        package = {
            "e_buffer": early, "d_buffer": delay, "num_splits_MaxBuffer": n_splits, "include_zero": include_zero,
        }  # fmt: skip
        area = PATE(y, s, Big_Data=n_thresholds is not None, num_desired_thresholds=n_thresholds, **package)
        cases.append(
            {
                "labels": "".join(map(str, y)),
                "scores": s.tolist(),
                "predictions": "".join(map(str, p)),
                "buffers": {"early": early, "delay": delay, "n_splits": n_splits, "include_zero": include_zero},
                "n_thresholds": n_thresholds,
                "pate": float(area),
                "pate_f1": float(PATE(y, p, binary_scores=True, **package)),
            }
        )
    return cases


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    lines = ",\n".join(json.dumps(case) for case in make())
    pathlib.Path(__file__).with_name("pate.json").write_text(f"[\n{lines}\n]\n")
