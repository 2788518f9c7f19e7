"""Detectors on a series with three planted anomalies, judged and explained; then the metrics themselves, judged."""

from pathlib import Path

import numpy as np

import tsadeval as te
from tsadeval.reproduction.printed import printed
from tsadeval.reproduction.reproduce import LABELS

FOLDER = Path("runs/demo")
METRICS = ["cce", "auc_roc", "vus_pr", "event_f1", "f1", "f1_pa"]

CASES = ["10k-2seg-50L", "10k-5seg-20H", "10k-10seg-100H"]


def heartbeat(n, rng):
    """A beat every hundred points, on a slow swell."""
    time = np.arange(n)
    return np.exp(-(((time % 100) - 50) ** 2) / 40) + 0.2 * np.sin(time / 300) + 0.03 * rng.normal(size=n)


def main():
    print("\nFour detectors on a heartbeat of 10,000 points with 3 anomalies (te.compare):\n", flush=True)
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
    compared = te.compare(scores, labels, METRICS)
    print(compared)

    print("\nWhy PCA is behind LOF: the missed beat, which it scores like a normal one (te.cce_breakdown):\n")
    events = te.cce_breakdown(labels, scores["PCA"]).worst(3, label=1)
    for event in events:
        points = f"points {event['start']:,} to {event['stop']:,}"
        print(f"  {points}: mean score {event['mean']:.2f}, costs {event['lost']:.3f}")

    print("\nAnd the metrics: does each put models of known quality in order? Spearman's correlation, 1 is right,")
    print("as the CCE paper prints it, and by its protocol on 3 of its 37 cases (te.rankeval.run):\n", flush=True)
    found = te.rankeval.run("paper", "paper", cases=CASES, repeats=2, store=FOLDER / "rankeval", progress=True)
    table = found.table(ties="published", undefined="published")
    print("  metric      paper   here")
    for row in table.rows:
        if (row["indicator"], row["task"]) == ("spearman", "average") and row["metric"] in LABELS:
            name = LABELS[row["metric"]]
            if paper := printed("rank").get(("average Sp", name)):
                print(f"  {name:10}  {paper}  {row['value']:.3f}")
    print("\n`tsadeval reproduce rank` computes all of that table, and says why cells differ.")

    FOLDER.mkdir(parents=True, exist_ok=True)
    picture = FOLDER / "scores.png"
    te.plot.series_with_scores((test, labels), scores).figure.savefig(picture, dpi=150)
    page = te.report(compared, FOLDER / "report.html", values=test, title="Four detectors on a heartbeat")
    print(f"\nA picture of the scores: {picture}")
    print("A page with all of it, to zoom in and to move the threshold; open it in a browser:")
    print(f"  {page.resolve().as_uri()}")
    print(f"on a server: python3 -m http.server -d {FOLDER} 8000, then http://localhost:8000/{page.name}")


if __name__ == "__main__":
    main()
