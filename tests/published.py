"""The label sets and scores behind the paper's published values, rebuilt from their seeds.

The published streams are legacy NumPy ones, so `RandomState` is right here and nowhere else.
"""

import csv
import gzip
import os
from pathlib import Path

import numpy as np

SHARED = Path(os.environ.get("TSADEVAL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))

# name: (n, segments, longest, shortest), in the order of the paper's appendix; case i has seed 42 + i.
CASES = {
    f"{n}k-{segments}seg-{name}": (n * 1000, segments, longest, shortest)
    for n, segments, name, longest, shortest in [
        (100, 20, "50L", 60, 40),
        (100, 200, "50L", 60, 40),
        (100, 20, "50H", 99, 1),
        (100, 200, "50H", 99, 1),
        (100, 50, "20L", 30, 10),
        (100, 500, "20L", 30, 10),
        (100, 50, "20H", 39, 1),
        (100, 500, "20H", 39, 1),
        (100, 10, "100L", 110, 90),
        (100, 100, "100L", 110, 110),
        (100, 10, "100H", 199, 1),
        (100, 100, "100H", 199, 1),
        (100, 2, "500L", 550, 450),
        (100, 20, "500L", 550, 450),
        (100, 2, "500H", 999, 1),
        (100, 20, "500H", 999, 1),
        (10, 2, "50L", 60, 40),
        (10, 20, "50L", 60, 40),
        (10, 2, "50H", 99, 1),
        (10, 20, "50H", 99, 1),
        (10, 5, "20L", 30, 10),
        (10, 50, "20L", 30, 10),
        (10, 5, "20H", 39, 1),
        (10, 50, "20H", 39, 1),
        (10, 1, "100L", 110, 90),
        (10, 10, "100L", 110, 110),
        (10, 1, "100H", 199, 1),
        (10, 10, "100H", 199, 1),
        (10, 2, "500L", 550, 450),
        (10, 2, "500H", 999, 1),
    ]
}


def labels_of(case):
    n, segments, longest, shortest = CASES[case]
    random = np.random.RandomState(42 + list(CASES).index(case))
    y = np.zeros(n, np.int64)
    for _ in range(segments):
        start = random.randint(0, n - longest)
        y[start : start + max(random.randint(1, longest + 1), shortest)] = 1
    return y


def scores_of(y, model, seed, q, p=None, sigma=0.0):
    """Scores of AccQ, LowDisAccQ or PreQ-NegP; of a noisy model (-R) whatever the seed, as published."""
    noisy = model.endswith("-R")
    random = np.random.RandomState(42 if noisy else seed)
    if model.startswith("PreQ"):
        s = random.uniform(0, 0.1, len(y))
        anomalous, normal = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
        chosen = random.choice(anomalous, int(q * len(anomalous)), replace=False)
        s[chosen] = random.uniform(0.8, 1.0, len(chosen))
        chosen = random.choice(normal, int(p * len(normal)), replace=False)
        s[chosen] = random.uniform(0.7, 1.0, len(chosen))
    else:
        right = random.rand(len(y)) <= q
        u = random.rand(len(y))
        high, low = (0.9 + 0.1 * u, 0.05 * u) if model.startswith("AccQ") else (0.6 + 0.1 * u, 0.4 * u)
        s = np.where((y == 1) == right, high, low)
    if noisy:
        s = np.clip(s + random.normal(0, sigma, len(y)), 0, 1)
    return s


def published_values(metric):
    """Rows (case, model, seed, q, p, sigma, value) of the published values on the synthetic cases."""
    with gzip.open(SHARED / "published" / "values.csv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file):
            if row["metric"] == metric and row["case"] in CASES:
                number = {k: float(row[k]) if row[k] else 0.0 for k in ("q", "p", "noise_std", "value")}
                yield (
                    row["case"],
                    row["model"],
                    int(row["score_seed"]),
                    number["q"],
                    number["p"],
                    number["noise_std"],
                    number["value"],
                )
