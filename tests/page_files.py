"""The files that pages name and do not write themselves: small ones of the same form, for the tests of pages."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import published

ROOT = Path(__file__).resolve().parents[1]

MINE = """
def metric(y_true, y_score):
    return y_score[y_true == 1].mean() - y_score[y_true == 0].mean()


gap = metric


def scorer(n, random):
    return random.random(n)


def criterion(scoring, alarms):
    return alarms[scoring.truth.mask].mean() - 10 * alarms[~scoring.truth.mask].mean()
"""

HUBCONF = """
import torch

dependencies = ["torch"]


class Last(torch.nn.Module):
    def forward(self, series):
        return series[:, -1:]


def forecaster():
    return Last()
"""

# srun starts a command once for each task, on the nodes of the job: here one task, on this machine.
SRUN = '#!/bin/sh\nexec "$@"\n'

# Numbers of points, training points and the anomaly are those of the archive; so is the form of the names.
UCR = {
    "125": ("ECG4", 5000, 17_000, 17_100, 30_000),
    "135": ("InternalBleeding16", 1200, 4187, 4199, 7501),
    "155": ("PowerDemand4", 18_000, 24_005, 24_077, 29_931),
}

NAB_SERIES = "machine_temperature_system_failure"
NAB_WINDOWS = [
    ("2013-12-10 06:25:00.000000", "2013-12-12 05:35:00.000000"),
    ("2013-12-15 17:50:00.000000", "2013-12-17 17:00:00.000000"),
    ("2014-01-27 14:20:00.000000", "2014-01-29 13:30:00.000000"),
    ("2014-02-07 14:55:00.000000", "2014-02-09 14:05:00.000000"),
]


def mine(folder: Path) -> None:
    """A file with a metric and a scorer of the user's own."""
    (folder / "mine.py").write_text(MINE)


def tables(folder: Path) -> None:
    """Tables of labels and scores in several formats."""
    import pandas as pd

    rng = np.random.default_rng(0)
    stamps = pd.date_range("2026-01-01", periods=500, freq="min")
    label = np.zeros(500, int)
    label[200:230] = label[400:410] = 1
    parts = []
    for name in ("a", "b"):
        scores = {
            detector: rng.random(500) + gain * label for detector, gain in (("lof", 1), ("knn", 0.5), ("mine", 0.2))
        }
        parts.append(pd.DataFrame({"series": name, "server": name, "stamp": stamps, "label": label, **scores}))
    wide = pd.concat(parts)
    one = parts[0].rename(columns={"lof": "score"})[["stamp", "label", "score"]]
    wide.rename(columns={"lof": "score"})[["server", "stamp", "score"]].to_csv(folder / "scores.csv", index=False)
    pd.DataFrame({"start": stamps[[200, 400]], "stop": stamps[[230, 410]]}).to_csv(
        folder / "incidents.csv", index=False
    )
    parts[0].assign(pca=parts[0].knn)[["label", "lof", "pca"]].to_parquet(folder / "run1.parquet")
    with gzip.open(folder / "run2.csv.gz", "wt") as file:
        parts[1].assign(pca=parts[1].knn)[["label", "lof", "pca"]].to_csv(file, index=False)
    one[one.label == 0][["score"]].to_csv(folder / "train.csv", index=False)
    rows = one[["label", "score"]].to_dict("records")
    (folder / "scores.jsonl").write_text("\n".join(map(json.dumps, rows)))
    # Those of commands inside of sentences.
    one[["label", "score"]].to_parquet(folder / "large.parquet")
    (folder / "runs").mkdir()
    one.rename(columns={"stamp": "at"}).assign(site="north").to_parquet(folder / "runs" / "a.parquet")
    for part in parts:
        part.drop(columns=["server", "stamp"]).to_csv(folder / f"{part.series[0]}.csv", index=False)
    (folder / "scores").mkdir()
    wide.melt(["series", "label"], ["lof", "knn"], "detector", "score").to_csv(
        folder / "scores" / "long.csv", index=False
    )


def board(folder: Path) -> None:
    """A leaderboard of four series and three submissions."""
    rng = np.random.default_rng(0)
    for series in range(4):
        label = (np.arange(400) // 20 % 10 == 5).astype(np.uint8)
        path = folder / "board" / "labels" / "pumps" / f"{series}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, label=label, value=rng.normal(size=400) + label)
        for name, gain in (("mine", 2.0), ("fair", 1.0), ("weak", 0.3)):
            home = folder / "board" / "submissions" / name
            (home / "scores" / "pumps").mkdir(parents=True, exist_ok=True)
            (home / "about.toml").write_text(f'name = "{name}"\nauthor = "me"\ntraining = "none"\n')
            np.savez(home / "scores" / "pumps" / f"{series}.npz", score=rng.normal(size=400) + gain * label)


def data_folder(*items: str) -> Callable[[Path], None]:
    """`~/data` with series of UCR and the labels of PSM: other values, but as many points and anomalies."""

    def write(folder: Path) -> None:
        home, rng = folder / "data", np.random.default_rng(0)
        (home / "UCR").mkdir(parents=True)
        for item in items:
            name, train, begin, end, n = UCR[item]
            values = np.sin(np.arange(n) / 9) + 0.1 * rng.normal(size=n)
            values[begin : end + 1] += 1
            np.savetxt(home / "UCR" / f"{item}_UCR_Anomaly_{name}_{train}_{begin}_{end}.txt", values, "%.4f")
        (home / "PSM").mkdir()
        label = np.zeros(87_841, int)
        for event in range(72):  # 24,381 points in 72 events
            label[event * 1_200 : event * 1_200 + 338 + (event < 45)] = 1
        lines = "\n".join(f"{minute},{value}" for minute, value in enumerate(label))
        (home / "PSM" / "test_label.csv").write_text(f"timestamp_(min),label\n{lines}\n")

    return write


def foundation(folder: Path) -> None:
    """The script of the repository, and a forecaster for it."""
    (folder / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "foundation.py", folder / "examples")
    (folder / "hub").mkdir()
    (folder / "hub" / "hubconf.py").write_text(HUBCONF)


def slurm(folder: Path) -> None:
    """The one command of SLURM that a job script calls."""
    (folder / "bin").mkdir()
    (folder / "bin" / "srun").write_text(SRUN)
    (folder / "bin" / "srun").chmod(0o755)


def numenta(folder: Path) -> None:
    """Scores of detectors and windows as NAB publishes them: its stamps, one hour of them twice, and other scores."""
    stamps = np.datetime64("2013-12-02 21:15") + 5 * np.arange(22_683).astype("m8[m]")
    stamps = np.insert(stamps, 10_149, stamps[10_137:10_149])
    inside = np.zeros(len(stamps), bool)
    for start, stop in NAB_WINDOWS:
        inside |= (stamps >= np.datetime64(start)) & (stamps <= np.datetime64(stop))
    rng = np.random.default_rng(0)
    (folder / "NAB").mkdir()
    for place, detector in enumerate(("bayesChangePt", "expose", "knncad", "numentaTM", "windowedGaussian")):
        scores = rng.random(len(stamps)) ** 6 + 0.1 * place * inside * rng.random(len(stamps))
        lines = [f"{str(at).replace('T', ' ')}:00,{score:.6f}" for at, score in zip(stamps, scores, strict=True)]
        with gzip.open(folder / "NAB" / f"{detector}_{NAB_SERIES}.csv.gz", "wt") as file:
            file.write("timestamp,anomaly_score\n" + "\n".join(lines) + "\n")
    (folder / "NAB_results").mkdir()
    windows = {f"realKnownCause/{NAB_SERIES}.csv": NAB_WINDOWS}
    (folder / "NAB_results" / "combined_windows.json").write_text(json.dumps(windows))


# Page: what makes its files.
FILES: dict[str, Callable[[Path], None]] = {
    "audit.md": mine,
    "datasets.md": data_folder("135"),
    "hard.md": mine,
    "interop.md": foundation,
    "leaderboard.md": board,
    "operations-nab.md": numenta,
    "own-metric.md": mine,
    "rankeval.md": mine,
    "selection.md": mine,
    "real-data.md": data_folder("125", "155"),
    "scale.md": slurm,
    "tables.md": tables,
}


def prepare(page: str, folder: Path) -> tuple[dict[str, object], int]:
    """Put the files of a page into `folder`; names that its code knows, and how many of its blocks are compared."""
    real = published.SHARED / "scores"
    if page == "operations-nab.md" and (real / "NAB_results").exists():
        return {"folder": real}, sys.maxsize
    if page not in FILES:
        return {}, sys.maxsize
    FILES[page](folder)
    # The stamps and windows of the first block of that page are those of NAB, its scores are not.
    return {"folder": folder}, 1 if page == "operations-nab.md" else sys.maxsize
