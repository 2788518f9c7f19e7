"""Make the folder of a leaderboard: from published scores where they are, else from a small set made here.

    python examples/make_board.py runs/board

The published scores are looked for in $TSADEVAL_DATA/scores: those of the Numenta benchmark (NAB_results) and of
TSB-UAD (Theseus). `tsadeval leaderboard build runs/board -o site` makes the site.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd

ABOUT = 'name = "{name}"\nauthor = "{author}"\ntraining = "{training}"\n'


def save(path: Path, **arrays: object) -> None:
    """Write a file of arrays; one that is there stays, so that a second run changes nothing."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, **arrays)


def submit(board: Path, detector: str, author: str, training: str, series: str, scores: object) -> None:
    key = re.sub(r"[^\w-]", "_", detector)
    folder = board / "submissions" / key
    folder.mkdir(parents=True, exist_ok=True)
    about = folder / "about.toml"
    if not about.exists():
        about.write_text(ABOUT.format(name=detector, author=author, training=training), encoding="utf-8")
    save(folder / "scores" / f"{series}.npz", score=np.asarray(scores, np.float32))


def add_table(board: Path, table: pd.DataFrame, group: str, suffix: str, author: str) -> None:
    """A wide table: series, value, label, and a column of scores for each detector."""
    detectors = [c for c in table.columns if c not in ("series", "value", "label", "timestamp")]
    for series, part in table.groupby("series", sort=False):
        name = f"{group}/{str(series).replace('/', '_')}"
        save(
            board / "labels" / f"{name}.npz",
            label=part["label"].to_numpy(np.uint8),
            value=part["value"].to_numpy(float),
        )
        for detector in detectors:
            scores = part[detector].to_numpy(float)
            if np.isfinite(scores).any():
                submit(board, f"{detector}{suffix}", author, "as published by its authors", name, scores)


def small(board: Path) -> None:
    """Twelve series of two groups, and five detectors of known skill."""
    rng = np.random.default_rng(0)
    skills = {"skilled": 2.5, "fair": 1.5, "weak": 0.8, "late": 2.0, "blind": 0.0}
    for group, length in (("short", 10), ("long", 120)):
        for i in range(6):
            n = 3000
            y = np.zeros(n, int)
            for start in rng.choice(n // 200, 3, replace=False) * 200 + 20:
                y[start : start + rng.integers(1, length)] = 1
            name = f"{group}/{i}"
            save(board / "labels" / f"{name}.npz", label=y.astype(np.uint8), value=np.sin(np.arange(n) / 20) + y)
            for detector, skill in skills.items():
                signal = np.roll(y, 5) if detector == "late" else y
                scores = rng.normal(size=n) + skill * signal
                submit(board, detector, "tsadeval", "none: made from the labels", name, scores)


def main(folder: str) -> None:
    board = Path(folder)
    scores = Path(os.environ.get("TSADEVAL_DATA", "nowhere")) / "scores"
    if (scores / "NAB_results" / "scores.parquet").is_file():
        table = pd.read_parquet(scores / "NAB_results" / "scores.parquet")
        add_table(board, table, "NAB", "", "Numenta Anomaly Benchmark")
        for file in sorted((scores / "Theseus").glob("*.parquet")):
            add_table(board, pd.read_parquet(file), f"TSB-UAD/{file.stem}", " (TSB-UAD)", "TSB-UAD, by way of Theseus")
        title = "Published scores of the Numenta benchmark and of TSB-UAD"
    else:
        small(board)
        title = "A small board of detectors made from the labels"
    (board / "board.toml").write_text(f'title = "{title}"\n', encoding="utf-8")
    print(board)


if __name__ == "__main__":
    main(*sys.argv[1:])
