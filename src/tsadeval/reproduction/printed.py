"""Numbers that the paper prints (paper.csv), why ours differ from some, and values of its networks over ten seeds."""

import csv
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

from tsadeval.core.facts import grouped

# Whole units of the last printed digit by which a value may differ and still be equal, beyond rounding: which of two
# tied models comes first depends on the processor (erratum 41).
SLACK = {"rank": 1.0}
# The last printed digit. Zeros at the end are not printed on real data ("-5.1").
UNIT = {"rank": 1e-3, "five": 1e-3, "tau": 1e-3, "datasets": 1.0, "ecg": 0.01, "power": 0.01, "average": 0.01}

# Why cells differ, by result, row and column; the first that matches holds.
REASONS: tuple[tuple[str, str, str, str], ...] = (
    ("rank", "*", "R-based F1", "errata 13 and 14: ends of events, and faults of the published range-based F1"),
    ("rank", "*", "Reduced-F1", "erratum 16: on MSL the published Reduced-F1 drops all normal points"),
    ("rank", "*", "UAff-F1", "erratum 18: the published one draws without a seed"),
    ("rank", "*", "VUS-ROC", "errata 13 and 44: ends of events; noisy series count twice in the average"),
    ("rank", "*", "Aff-F1", "erratum 44: some pairs of neighbouring models change places; why is not known"),
    ("rank", "PreQ-NegP-*", "eTaPR", "erratum 44: noisy series of two label sets only are in its average"),
    ("rank", "average *", "eTaPR", "erratum 44: noisy series of two label sets only are in its average"),
    ("robustness", "PreQ-NegP-P", "eTaPR", "erratum 44: noisy series of two label sets only are in its average"),
    ("robustness", "PreQ-NegP-P", "*", "erratum 46: by our values it rises a little"),
    ("five", "*", "VUS-ROC", "erratum 13: ends of events, read one point too far"),
    ("datasets", "*0k-*", "events", "erratum 12: printed is the number expected; segments that overlap merge"),
    ("datasets", "*0k-*", "*", "erratum 12: printed are the limits of the draw; segments that overlap merge"),
    ("datasets", "Creditcard", "*", "erratum 12: the public file has 463 events, of 6 points at most"),
    ("ecg", "LOF", "VUS-ROC", "erratum 13: ends of events, read one point too far"),
    ("ecg", "IForest", "VUS-ROC", "erratum 13: ends of events, read one point too far"),
    ("power", "IForest", "VUS-ROC", "erratum 13: ends of events, read one point too far"),
    ("ecg", "Random", "VUS-ROC", "erratum 13: ends of events, read one point too far"),
    ("power", "LOF", "*", "erratum 45: rounding decides between neighbours at equal distances"),
)


@cache
def printed(result: str) -> dict[tuple[str, str], str]:
    """Return the cells of a result as the paper prints them, by row and column.

    >>> printed("ecg")["LOF", "AUC-ROC"]
    '53.72'
    """
    rows = _read("paper.csv")
    return {(row["row"], row["column"]): row["paper"] for row in rows if row["result"] == result}


@cache
def of_networks(result: str) -> dict[tuple[str, str], list[float]]:
    """Return the values of each network and metric over the seeds."""
    rows = [row for row in _read("networks.csv") if row["result"] == result]
    return grouped(((row["row"], row["column"]), float(row["value"])) for row in rows)


def _read(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((files("tsadeval.reproduction") / name).read_text("utf-8").splitlines()))


def judge(result: str, row: str, column: str, paper: str, ours: float | str | None) -> tuple[str, str]:
    """Return whether a cell is equal, and if not, why: "equal", "explained" or "different", and the reason.

    >>> judge("five", "PreQ0.9-NegP0.1-R", "VUS-ROC", "0.969", 0.97)
    ('explained', 'erratum 13: ends of events, read one point too far')
    """
    if result == "latency":
        return "not reproducible", "their implementations on their computer; docs/benchmarks.md has both on one"
    if isinstance(ours, float):
        equal = abs(ours - float(paper)) <= UNIT[result] * (0.5 + SLACK.get(result, 0.0)) * (1 + 1e-6)
    else:
        equal = ours == paper
    if equal:
        return "equal", ""
    found = (why for r, *names, why in REASONS if r == result and all(map(fnmatchcase, (row, column), names)))
    why = next(found, "")
    return ("explained" if why else "different"), why


def place(paper: float, seeds: Sequence[float]) -> tuple[str, str]:
    """Say where a printed value lies among those of several seeds.

    >>> place(4.66, [3.0, 4.0, 5.0])
    ('explained', 'one run: 2 of 3 seeds are below, all are from 3.00 to 5.00')
    """
    low, high, below = min(seeds), max(seeds), sum(value < paper for value in seeds)
    inside = low - 0.005 <= paper <= high + 0.005
    words = f"{below} of {len(seeds)} seeds are below, all are from {low:.2f} to {high:.2f}"
    return ("explained", f"one run: {words}") if inside else ("different", f"outside of the seeds: {words}")
