"""Make vus.json: values of PyPI vus 0.0.6 on random cases.

Run where `pip install --no-deps vus==0.0.6` and `pip install numpy pandas scikit-learn tqdm` were done; the package
itself asks for TensorFlow and more, which its metrics do not use: `python make_vus.py`.
"""

import json
from pathlib import Path

import numpy as np
from vus.utils.metrics import metricor


def scoring(rng, n):
    y = np.zeros(n, int)
    for _ in range(rng.integers(1, 6)):
        start = rng.integers(0, n)
        y[start : start + rng.integers(1, 12)] = 1
    if y.all():
        y[0] = 0
    kind = rng.integers(0, 3)
    s = rng.integers(0, [1000, 5, 2][kind], n) / 8
    return y, s + np.round(8 * y * rng.random()) / 8


def main():
    rng = np.random.default_rng(2022)
    cases = []
    for i in range(60):
        n = int(rng.integers(200, 500)) if i % 6 == 0 else int(rng.integers(5, 120))
        y, s = scoring(rng, n)
        window = int(rng.integers(1, 20))
        thresholds = int(rng.choice([10, 50, 100]))
        *_, vus_roc, vus_pr = metricor().RangeAUC_volume_opt(y, s, 2 * window, thresholds)
        roc, pr, *_ = metricor().RangeAUC(y, s, window=window, plot_ROC=True)
        cases.append(
            {
                "labels": "".join(map(str, y)),
                "eighths": [round(8 * v) for v in s],
                "window": window,
                "n_thresholds": thresholds,
                "vus": [float(vus_roc), float(vus_pr)],
                "range_auc": [float(roc), float(pr)],
            }
        )
    text = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    Path(__file__).with_name("vus.json").write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
