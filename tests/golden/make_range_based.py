"""Writes range_based.json with prts 1.0.0.3 (which asks for numpy<2, so it cannot live beside us).

In an environment of its own: pip install prts==1.0.0.3; python tests/golden/make_range_based.py
"""

import itertools
import json
from pathlib import Path

import numpy as np


def random_runs(rng, n):
    """0/1 labels in runs of 1 to 8 points with at least one 1, which prts needs."""
    lengths = rng.integers(1, 9, n)
    values = np.repeat((np.arange(n) + rng.integers(0, 2)) % 2, lengths)[:n]
    values[rng.integers(0, n)] = 1
    return values


def cases():
    from prts import ts_fscore, ts_precision, ts_recall

    rng = np.random.default_rng(0)
    biases = ["flat", "front", "middle", "back"]
    for bias, precision_bias, cardinality, repeat in itertools.product(biases, biases, ["one", "reciprocal"], [0, 1]):
        n = int(rng.integers(3, 60))
        y_true, y_pred = random_runs(rng, n), random_runs(rng, n) if repeat else rng.integers(0, 2, n)
        if not y_pred.any():
            y_pred[0] = 1
        alpha, precision_alpha = (float(a) for a in rng.choice([0.0, 0.2, 0.5, 1.0], 2))
        beta = float(rng.choice([0.5, 1.0, 2.0]))
        yield {
            "y_true": "".join(map(str, y_true)),
            "y_pred": "".join(map(str, y_pred)),
            "options": {
                "alpha": alpha,
                "precision_alpha": precision_alpha,
                "bias": bias,
                "precision_bias": precision_bias,
                "cardinality": cardinality,
                "beta": beta,
            },
            "precision": ts_precision(y_true, y_pred, precision_alpha, cardinality, precision_bias),
            "recall": ts_recall(y_true, y_pred, alpha, cardinality, bias),
            "f1": ts_fscore(y_true, y_pred, beta, precision_alpha, alpha, cardinality, precision_bias, bias),
        }


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(case) for case in cases())
    Path(__file__).with_name("range_based.json").write_text(f"[\n{lines}\n]\n")
