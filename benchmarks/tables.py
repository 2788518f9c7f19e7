"""Reading tables: many csv files beside pandas, other formats beside csv, and tables of many columns.

    python benchmarks/tables.py

Times are of the processor and ratios are taken in one run: the competitors take turns, round by round, and the best
round of each counts, because on a shared machine the noise is larger than the difference.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from tsadeval.scores.tabular import scorings
from tsadeval.tables import read_table

FORMATS = {"csv": "to_csv", "csv.gz": "to_csv", "parquet": "to_parquet", "feather": "to_feather", "jsonl": "to_json"}


def example(n):
    rng = np.random.default_rng(n)
    times = pd.date_range("2024", periods=n, freq="min")
    return pd.DataFrame({"timestamp": times, "label": (rng.random(n) < 0.05).astype(int), "score": rng.random(n)})


def best_of(functions, rounds):
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.process_time()
            function()
            best[name] = min(best[name], time.process_time() - start)
    return best


def ours(files):
    for file in files:
        for _ in scorings(read_table(file)):
            pass


def pandas(files):
    for file in files:
        frame = pd.read_csv(file)
        frame["label"].to_numpy(), frame["score"].to_numpy()


def many_files(folder, count, rounds):
    files = [folder / f"{i}.csv" for i in range(count)]
    for file in files:
        example(10_000).to_csv(file, index=False)
    best = best_of({"ours": lambda: ours(files), "pandas": lambda: pandas(files)}, rounds)
    print(f"{count} csv files of 10,000 points, 3 columns, in ms a file: ", end="")
    print(
        f"read and checked {1e3 * best['ours'] / count:.2f}, pandas.read_csv {1e3 * best['pandas'] / count:.2f}, ",
        end="",
    )
    print(f"ratio {best['ours'] / best['pandas']:.2f}")


def formats(folder, rounds):
    frame = example(100_000)
    functions = {}
    for suffix, method in FORMATS.items():
        options = {"orient": "records", "lines": True, "date_format": "iso"} if suffix == "jsonl" else {}
        options = {"index": False} if "csv" in suffix else options
        getattr(frame, method)(folder / f"a.{suffix}", **options)
        functions[suffix] = lambda file=folder / f"a.{suffix}": ours([file])
    best = best_of(functions, rounds)
    print("100,000 points in other formats, in times of csv:", end="")
    print(",".join(f" {name} {best[name] / best['csv']:.2f}" for name in best if name != "csv"))


def many_columns(folder, largest):
    before = None
    for count in (largest // 4, largest // 2, largest):
        values = np.random.default_rng(0).random((100, count)).round(4)
        frame = pd.DataFrame(values, columns=[f"d{i}" for i in range(count)]).assign(label=np.arange(100) % 2)
        frame.to_csv(folder / "wide.csv", index=False)
        best = best_of({"ours": lambda: list(scorings(read_table(folder / "wide.csv"), score="d*"))}, 2)["ours"]
        grown = "" if before is None else f", {best / before:.1f} times that of half as many"
        print(f"{count} columns of 100 points: {best:.2f} s{grown}")
        before = best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--columns", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        many_files(Path(name), given.files, given.rounds)
        formats(Path(name), given.rounds)
        many_columns(Path(name), given.columns)


if __name__ == "__main__":
    main()
