"""Four detectors on a series with three planted anomalies: their metrics, a picture, and what cost one its score."""

from pathlib import Path

import numpy as np

import tsadeval as te

PICTURE = Path("runs/demo.png")


def heartbeat(n, rng):
    """A beat every hundred points, on a slow swell."""
    time = np.arange(n)
    return np.exp(-(((time % 100) - 50) ** 2) / 40) + 0.2 * np.sin(time / 300) + 0.03 * rng.normal(size=n)


def main():
    rng = np.random.default_rng(7)
    train, test = heartbeat(5_000, rng), heartbeat(10_000, rng)
    labels = np.zeros(len(test), bool)
    for start, stop in ((2_000, 2_100), (5_500, 5_560), (8_000, 8_300)):
        labels[start:stop] = True
    test[2_000:2_100] = 0.2 * np.sin(np.arange(2_000, 2_100) / 300)  # a beat is missing
    test[5_500:5_560] += 0.4  # a jump
    test[8_000:8_300] = heartbeat(600, rng)[::2]  # twice as fast

    detectors = {
        te.detectors.DETECTORS[name].title: te.detectors.make(name) for name in ("lof", "iforest", "pca", "random")
    }
    scores = {title: detector.fit(train).score(test) for title, detector in detectors.items()}
    print(f"{len(test):,} points, 3 anomaly events\n")
    print(te.compare(scores, labels))

    print("\nWhich events cost the isolation forest most?\n")
    print(te.cce_breakdown(labels, scores["IForest"]))

    PICTURE.parent.mkdir(exist_ok=True)
    te.plot.series_with_scores((test, labels), scores).figure.savefig(PICTURE, dpi=150)
    print(f"\nThe series and its scores are drawn in {PICTURE}.\n")


if __name__ == "__main__":
    main()
