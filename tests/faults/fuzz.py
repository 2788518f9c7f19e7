"""Random and damaged input for readers, parsers, stores, boards and metrics, for as long as one likes.

Whatever comes in, there is a result or a `TsadevalError` of one line; anything else is a finding, and is printed with
the seed that repeats it. A crash or a hang leaves the name and the seed of the trial in a temporary file.

    python tests/faults/fuzz.py SECONDS [SEED]
"""

import faulthandler
import os
import random
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import tsadeval as te
from boards import labels, submission
from boards import write as write_arrays
from damaging import SEEDS, use
from storing import LAYOUT, draws
from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.metric import METRICS, parse_metric
from tsadeval.core.names import parse_call
from tsadeval.detectors import parse_detector
from tsadeval.engine.run import limits_of
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, TsadevalError
from tsadeval.leaderboard.submissions import check_submission, labels_digest
from tsadeval.scores.cache import read_scores, scores_path, write_scores
from tsadeval.tables import read_table
from tsadeval.thresholds.rules import parse_rule

WORDS = ["cce", "tau", "(", ")", "=", ",", "0.4", "1e999", "-1", "None", "'a'", "[", "]", "{", "}", "\\", "\n", "\0"]
WORDS += [
    "quantile",
    "best",
    "fixed",
    "lof",
    "window",
    "nan",
    "9" * 400,
    ":",
    "os.system",
    "__import__",
    "é",
    "💥",
    " ",
]


def changed(rng, content):
    """A file after a flipped bit, or a few changes: bytes replaced, dropped, repeated, inserted, or the end cut off."""
    content = bytearray(content)
    if rng.random() < 0.4:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        return bytes(content)
    for _ in range(rng.randint(1, 3)):
        at, length = rng.randrange(len(content) + 1), rng.randint(0, 30)
        way = rng.randrange(5)
        if way == 0:
            content[at : at + 1] = bytes([rng.randrange(256)])
        elif way == 1:
            del content[at : at + length]
        elif way == 2:
            content[at:at] = content[at : at + length] * rng.randint(1, 50)
        elif way == 3:
            content[at:at] = rng.randbytes(length)
        else:
            del content[at:]
    return bytes(content)


def tables(rng, folder):
    name = rng.choice(list(SEEDS))
    path = folder / name
    path.write_bytes(changed(rng, rng.choice(SEEDS[name])))
    use(path)
    read_table(path)


OWN = pd.DataFrame({"x": np.arange(9) / 7, "y": np.arange(9) ** 2, "label": [0, 0, 0, 1, 1, 0, 0, 1, 0]})
OWN_FILES = {"own.csv": OWN.to_csv(index=False).encode(), "own.parquet": OWN.to_parquet()}


def datasets(rng, folder):
    name = rng.choice(list(OWN_FILES))
    path = folder / name
    path.write_bytes(changed(rng, OWN_FILES[name]))
    te.datasets.load(path)


def boards(rng, folder):
    """A submission with a damaged file is refused with lines, whatever is in it."""
    with tempfile.TemporaryDirectory(dir=folder) as inside:
        board = Path(inside)
        y = labels(0)
        write_arrays(board / "labels" / "a" / "0.npz", label=y, value=y * 1.0)
        (board / "board.toml").write_text('title = "A"\nmetrics = ["auc_roc", "f1"]\n')
        given = submission(board, "d", series=("a/0",))
        (given / "labels.sha256").write_text(f"{labels_digest(y)}  a/0\n")
        victim = rng.choice(sorted(path for path in board.rglob("*") if path.is_file()))
        victim.write_bytes(changed(rng, victim.read_bytes()))
        lines = check_submission(given, board)
        if not all(line.isprintable() for line in lines):
            raise AssertionError(f"a line that cannot be printed: {lines}")
        if lines:
            raise InvalidInputError("refused")


def parsers(rng, folder):
    text = "".join(rng.choices(WORDS, k=rng.randint(0, 12)))
    rng.choice([parse_call, parse_metric, parse_rule, parse_detector, lambda t: limits_of(None, t)])(text)


def stores(rng, folder):
    with tempfile.TemporaryDirectory(dir=folder) as inside:
        rows, plan = draws(rng.randrange(1 << 30), 20)
        store = Store(inside, LAYOUT)
        store.add(rows[:10])
        store.add(rows[10:])
        store.add_plan({"a": [1, 2]})
        expected = store.frame(plan)
        victim = rng.choice(sorted(path for path in Path(inside).rglob("*") if path.is_file()))
        victim.write_bytes(changed(rng, victim.read_bytes()))
        again = Store(inside, LAYOUT)
        again.plans()
        found = again.frame(plan)
        if victim.suffix == ".parquet" and not found.equals(expected):
            raise AssertionError("a damaged part changed a value")


def scores(rng, folder):
    facts = {"dataset": "a", "checksum": "c", "detector": "lof", "seed": 0, "fit_seconds": 1.0, "score_seconds": 1.0}
    labels = np.array([False, True, False])
    write_scores(folder, np.array([0.1, 0.2, 0.3]), labels, {**facts, "device": "d", "versions": "v"})
    path = scores_path(folder, "a", "lof", 0)
    path.write_bytes(changed(rng, path.read_bytes()))
    read_scores(folder, "a", "c", "lof", 0, labels)


def metrics(rng, folder):
    """Odd arrays through the public functions; on those that pass, the value is in the metric's range."""
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    n = rng.choice([0, 1, 2, 3, 7, 40, 300])
    y = (numbers.random(n) < rng.choice([0, 0.05, 0.5, 1])).astype(rng.choice([bool, int, float, np.uint8, np.int8]))
    s = [
        lambda: numbers.random(n),
        lambda: numbers.integers(0, 3, n),
        lambda: numbers.normal(size=n) * 10.0 ** rng.randint(-320, 300),
        lambda: numbers.random(n).astype(np.float32),
        lambda: np.full(n, rng.choice([0.0, -1.0, 5e-324, 1.7e308])),
        lambda: np.where(numbers.random(n) < 0.1, rng.choice([np.nan, np.inf, -np.inf]), numbers.random(n)),
        lambda: numbers.random((n, 2))[:, rng.randrange(2)],
        lambda: numbers.random(n)[::-1],
        lambda: numbers.random(n + rng.randint(-1, 1)) if n else numbers.random(1),
        lambda: numbers.random((n, 2)),
        lambda: np.array(["a"] * n),
        lambda: list(numbers.random(n)),
    ][rng.randrange(12)]()
    metric = METRICS[rng.choice(list(METRICS))]
    if metric.kind == "predictions" and rng.random() < 0.5:
        te.best_threshold(metric, y, s)
    second = s if metric.kind == "scores" else (np.asarray(s) > 0.5 if np.asarray(s).dtype.kind in "iuf" else s)
    value = metric(y, second)
    (Scoring if metric.kind == "scores" else Prediction).of(y, second)
    low, high = metric.range
    if not (np.isnan(value) or low - 1e-9 <= value <= high + 1e-9):
        raise AssertionError(f"{metric} is {value}, outside of {metric.range}")


def _by_hand(y, s, judged, missing):
    """F1 at a threshold of .5 and AUC-ROC of the points that are judged, from their definitions."""
    kept = judged & (np.ones(len(y), bool) if missing in ("no alarm", "worst") else ~np.isnan(s))
    y, s = y[kept] == 1, np.where(np.isnan(s), -np.inf, s)[kept]
    alarms = s > 0.5
    f1 = 2 * (y & alarms).sum() / (y.sum() + alarms.sum()) if y.any() else np.nan
    higher, equal = s[y][:, None] > s[~y], s[y][:, None] == s[~y]
    return {"f1": f1, "auc_roc": (higher + equal / 2).mean() if y.any() and not y.all() else np.nan}


def forms(rng, folder):
    """Some series and detectors, in any form that `te.Scores` takes, with any options: values are those by hand."""
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    names, detectors = ["a", "b/1", "Ü 2"][: rng.randint(1, 3)], ["lof", "pca"][: rng.randint(1, 2)]
    missing, absent = rng.choice(["skip", "no alarm", "ignore", "worst", "error"]), rng.random() < 0.4
    form = rng.choice(["mapping", "tuples", "wide", "long", "polars", "arrow", "csv", "parquet", "jsonl", "folder"])
    placed = form not in ("mapping", "tuples", "wide")  # each detector has rows of its own, with time stamps
    way = rng.choice(["column", "elsewhere", "incidents"]) if placed else "column"
    rows, truth, judged, expected, gaps = [], {}, {}, {}, False
    for series in names:
        n = rng.randint(6, 40)
        when = pd.date_range("2026-01-01", periods=n, freq="min")
        y = (np.repeat(numbers.random(n), 3)[:n] < 0.3).astype(int)
        found = {}
        for detector in detectors:
            s = numbers.choice([numbers.random(n), numbers.integers(0, 11, n) / 10])
            s[numbers.random(n) < rng.choice([0, 0.1])] = np.nan
            found[detector] = s
        has = {d: numbers.random(n) > (0.1 if absent and placed else -1) for d in detectors}
        there = np.ones(n, bool) if way == "elsewhere" else np.logical_or.reduce(list(has.values()))
        skip = numbers.random(n) < rng.choice([0, 0.2])
        truth[series], judged[series] = (y, when), skip
        if way == "incidents":
            y = _shown(y, np.flatnonzero(there))
        for detector, s in found.items():
            rows.append((series, detector, y, np.where(has[detector], s, np.nan), when, has[detector]))
            mine = np.where(has[detector], s, np.nan)[there]
            expected[series, detector] = _by_hand(y[there], mine, ~skip[there], missing)
            gaps |= bool(np.isnan(mine).any())
    frames = [
        pd.DataFrame({"series": series, "detector": d, "time": when, "label": y, "score": s})[has]
        for series, d, y, s, when, has in rows
    ]
    spans = _spans({series: (judged[series], truth[series][1]) for series in names})
    options = {"missing": missing}
    if form in ("mapping", "tuples", "wide"):
        options["ignore"] = judged
        given = {d: {r[0]: r[3] for r in rows if r[1] == d} for d in detectors}
        labels = {series: y for series, (y, _) in truth.items()}
        if form == "tuples":
            made = te.Scores([(r[0], r[1], r[2], r[3]) for r in rows], **options)
        elif form == "mapping":
            made = te.Scores(given, labels, **options)
        else:
            one = [pd.DataFrame({"series": s, "label": labels[s], **{d: given[d][s] for d in given}}) for s in names]
            made = te.Scores(pd.concat(one, ignore_index=True), by="series", score=detectors, **options)
    else:
        options |= {"by": ["series", "detector"], "time": "time", "ignore": spans}
        labels = None
        if way == "elsewhere":
            labels = pd.concat(
                [pd.DataFrame({"series": s, "time": when, "label": y}) for s, (y, when) in truth.items()]
            )
        elif way == "incidents":
            options["incidents"] = _spans({series: (y == 1, when) for series, (y, when) in truth.items()})
        if way != "column":
            frames = [frame.drop(columns="label") for frame in frames]
        made = te.Scores(_written(pd.concat(frames, ignore_index=True), form, folder), labels, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = te.compare(made, metrics=["f1", "auc_roc"], threshold=0.5)
        except InvalidInputError as error:
            # Files are read one by one, so stamps of detectors are not aligned across them.
            if not ((missing == "error" and gaps) or (form == "folder" and absent and len(detectors) > 1)):
                raise AssertionError(f"{form} {way} {missing}: refused: {error}") from error
            raise
    if missing == "error" and gaps:
        raise AssertionError(f"{form} {way}: points without a score were not refused")
    for row in table.rows:
        wanted = expected[row["series"], row["detector"]][row["metric"]]
        if row["status"] != "missing" and not np.isclose(row["value"], wanted, atol=1e-12, equal_nan=True):
            raise AssertionError(f"{form} {way} {missing}: {row['metric']} is {row['value']}, by hand {wanted}")


def _spans(masks):
    """Intervals of time, from the first point of each run of points to half a minute after its last."""
    found = []
    for series, (mask, when) in masks.items():
        edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
        for start, stop in edges.reshape(-1, 2).tolist():
            found.append((series, when[start], when[stop - 1] + pd.Timedelta("30s")))
    return pd.DataFrame(found, columns=["series", "start", "end"])


def _shown(y, rows):
    """Labels where an incident without a row is put on the next one, if that comes within a median step after it."""
    shown, steps = y.copy(), np.sort(np.diff(rows))
    edges = np.flatnonzero(np.diff(np.concatenate([[0], y, [0]])))
    for start, stop in edges.reshape(-1, 2).tolist():
        after = rows[rows >= stop]
        inside = ((rows >= start) & (rows < stop)).any()
        if not inside and rows[0] < start and after.size and after[0] - (stop - 0.5) <= steps[len(steps) // 2]:
            shown[after[0]] = 1
    return shown


def _written(frame, form, folder):
    """A long frame in another form."""
    if form == "polars":
        return pl.from_pandas(frame)
    if form == "arrow":
        return pa.Table.from_pandas(frame, preserve_index=False)
    if form == "folder":
        shutil.rmtree(folder / "parts", ignore_errors=True)
        (folder / "parts").mkdir()
        for number, (_, part) in enumerate(frame.groupby(["series", "detector"], sort=False)):
            part.to_csv(folder / "parts" / f"{number}.csv", index=False)
        return folder / "parts"
    path = folder / f"long.{form}"
    if form == "csv":
        frame.to_csv(path, index=False)
    elif form == "parquet":
        frame.to_parquet(path, index=False)
    elif form == "jsonl":
        frame.to_json(path, orient="records", lines=True, date_format="iso")
    return frame if form == "long" else path


TRIALS = {f.__name__: f for f in (tables, parsers, stores, scores, metrics, datasets, boards, forms)}


def main(seconds, first):
    faulthandler.enable()
    os.fsync = lambda descriptor: None  # durable files are not what is tried here, and a disk would set the pace
    warnings.simplefilter("ignore")
    until, seed = time.monotonic() + seconds, first
    tried, refused, findings = Counter(), Counter(), []
    where = Path(tempfile.gettempdir(), "tsadeval-fuzz-last-trial")
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < until:
            name = list(TRIALS)[seed % len(TRIALS)]
            faulthandler.dump_traceback_later(600, exit=True)
            where.write_text(f"{name} {seed}")  # what a crash leaves behind
            tried[name] += 1
            try:
                TRIALS[name](random.Random(seed), Path(folder))
            except TsadevalError as error:
                refused[name] += 1
                if not str(error).isprintable():
                    findings.append((name, seed, f"not one printable line: {error!r}"))
            except MemoryError:
                refused[name] += 1
            except Exception as error:
                findings.append((name, seed, repr(error)))
            seed += 1
    faulthandler.cancel_dump_traceback_later()
    for name in TRIALS:
        print(f"{name}: {tried[name]} trials, {refused[name]} refused")
    for name, seed, what in findings:
        print(f"FOUND {name} {seed}: {what}")
    print(f"{sum(tried.values())} trials, {len(findings)} findings")
    raise SystemExit(bool(findings))


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
