"""Write docs/published.md: published AUC-ROC of TSB-UAD's detectors beside ours of the same name.

    python docs/make_published.py DATA runs/published.csv

DATA holds scores/Theseus: a Parquet file for each data set (series, value, label, a column for each detector) and
published_auc_roc.csv. Values that the csv file has already are not computed again.
"""

import csv
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

import tsadeval as te

PAGE = Path(__file__).parent / "published.md"
# Their name, our detector (PERIOD: the period of the series), and the share of the series that ours is fitted on.
PAIRS = [
    ("HBOS", "hbos(window=PERIOD)", 1.0),
    ("IFOREST", "iforest(window=PERIOD)", 1.0),
    ("IFOREST1", "iforest(window=1)", 1.0),
    ("LOF", "lof(window=PERIOD)", 1.0),
    ("MP", "matrix_profile(window=PERIOD, join=self)", 1.0),
    ("OCSVM", "ocsvm(window=PERIOD)", 0.1),
    ("PCA", "pca(window=PERIOD)", 1.0),
    ("POLY", "poly(window=PERIOD)", 1.0),
]
# Beside theirs, for scale: what needs no model.
ALONE = [("", "moving_variance(window=PERIOD)", 1.0), ("", "squared_difference", 1.0), ("", "knn(window=PERIOD)", 1.0)]

HEAD = """# Published AUC-ROC beside ours

Written by `docs/make_published.py` from {series} series of {sets} ({points:,} points) for which TSB-UAD's scores (through
Theseus) and their AUC-ROC are published and the whole series is at hand.

Both sides get a window of one period, by the same rule (`te.period`), and no labels. Ours are fitted on the whole series and
score it, as theirs do; OCSVM is fitted on the first tenth. The published value of a detector is compared with that of our
detector of the same name; nothing was tuned. NORMA, AE, CNN and LSTM have no detector of ours by the same name.

A cell is the mean AUC-ROC over the series of a data set, published / ours. *Difference* is the mean of (ours - published)
over all series with its standard error, and *correlation* the Spearman correlation of both over the series.
"""


def compute(data, path):
    done = read(path) if path.exists() else pd.DataFrame(columns=["series", "detector"])
    have = set(zip(done["series"], done["detector"], strict=True))
    published = pd.read_csv(data / "published_auc_roc.csv")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="") as file:
        out = csv.writer(file)
        if not have:
            out.writerow(["dataset", "series", "points", "detector", "auc_roc", "seconds"])
        for name, wanted in published.groupby("dataset"):
            table = pd.read_parquet(data / f"{name}.parquet", columns=["series", "value", "label"])
            for series, part in table[table["series"].isin(wanted["series"])].groupby("series"):
                values, labels = part["value"].to_numpy(float), part["label"].to_numpy(int)
                window = te.period(values)
                for _, text, share in PAIRS + ALONE:
                    if (series, text) in have:
                        continue
                    start = time.perf_counter()
                    train = values[: max(int(share * len(values)), window + 2)]
                    detector = te.detectors.make(text.replace("PERIOD", str(window)))
                    auc = te.metrics.auc_roc(labels, detector.fit(train).score(values))
                    out.writerow([name, series, len(values), text, auc, round(time.perf_counter() - start, 3)])
                    file.flush()


def read(path):
    return pd.read_csv(path)


def page(data, path):
    published, ours = pd.read_csv(data / "published_auc_roc.csv"), read(path)
    sets = sorted(ours["dataset"].unique())
    facts = ours.drop_duplicates("series")
    named = ", ".join(f"{name} ({(facts['dataset'] == name).sum()})" for name in sets)
    lines = [HEAD.format(series=len(facts), sets=named, points=facts["points"].sum())]
    lines += [
        f"| theirs | ours | {' | '.join(sets)} | difference | correlation |",
        f"|---|---|{'---:|' * (len(sets) + 2)}",
    ]
    for theirs, text, _ in PAIRS:
        both = ours[ours["detector"] == text].merge(
            published[published["detector"] == theirs], on=["dataset", "series"], suffixes=("", "_published")
        )
        cells = []
        for name in sets:
            part = both[both["dataset"] == name]
            cells.append(f"{part['auc_roc_published'].mean():.3f} / {part['auc_roc'].mean():.3f}")
        gap = both["auc_roc"] - both["auc_roc_published"]
        rank = both[["auc_roc", "auc_roc_published"]].rank().corr().iloc[0, 1]
        error = gap.std() / np.sqrt(len(gap))
        lines.append(f"| {theirs} | `{text}` | {' | '.join(cells)} | {gap.mean():+.3f} ± {error:.3f} | {rank:.2f} |")
    for _, text, _ in ALONE:
        cells = [f"- / {ours[(ours['detector'] == text) & (ours['dataset'] == s)]['auc_roc'].mean():.3f}" for s in sets]
        lines.append(f"| - | `{text}` | {' | '.join(cells)} | - | - |")
    seconds = ours.groupby("detector")["seconds"].sum()
    return "\n".join(lines) + "\n\n" + NOTES + "\n", seconds


NOTES = ""

if __name__ == "__main__":
    data, path = Path(sys.argv[1]) / "scores" / "Theseus", Path(sys.argv[2])
    compute(data, path)
    text, seconds = page(data, path)
    PAGE.write_text(text, encoding="utf-8")
    print(text, seconds, sep="\n")
