"""Three detectors of known quality on one series: their metrics, and why the middle one loses points."""

import numpy as np

import tsadeval as te


def main():
    rng = np.random.default_rng(7)
    n = 20_000
    y = np.zeros(n, np.int64)
    for start in (2_000, 6_500, 7_200, 13_000, 17_500):
        y[start : start + rng.integers(40, 400)] = 1
    noise = rng.random(n)
    blind = y.copy()
    blind[6_500:7_000] = 0  # does not see the second event
    detectors = {
        "good": 0.7 * y + 0.3 * noise,
        "misses one event": 0.7 * blind + 0.3 * noise,
        "random": noise,
    }

    results = {name: te.evaluate(y, s, "paper", threshold="quantile(0.95)") for name, s in detectors.items()}
    metrics = list(next(iter(results.values())))
    width = max(map(len, metrics))
    print(f"{n:,} points, {int(np.diff(y).clip(0).sum())} anomaly events\n")
    print(" " * width, *(f"{name:>17}" for name in detectors))
    for metric in metrics:
        print(f"{metric:<{width}}", *(f"{result[metric]:>17.4f}" for result in results.values()))

    print("\nWhy does 'misses one event' lose?\n")
    print(te.cce_breakdown(y, detectors["misses one event"]))


if __name__ == "__main__":
    main()
