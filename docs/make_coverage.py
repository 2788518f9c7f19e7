"""Measure how often intervals of metrics hold the true value, which is known here, and write docs/coverage.md.

python docs/make_coverage.py [REPEATS]

Without REPEATS the page is written from docs/data/coverage.json alone. Each repeat evaluates a series of every kind
200 times, by all metrics or by some, in about ten seconds of one core; the numbers there are of 131 repeats.
"""

import math
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import measured
import numpy as np

from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.selection import select_metrics
from tsadeval.evaluation.baseline import interval_rows
from tsadeval.thresholds.rules import parse_rule

PAGE = Path(__file__).parent / "coverage.md"
LEVEL, DRAWS, ENOUGH = 0.95, 200, 0.9
EVENTS = (5, 10, 20, 50)
VERY_LONG = 2000  # events of the series whose value is the true one
QUALITIES = (1.5, 3.0)  # mean height of events in standard deviations of the noise; of each event by one more
MEMORY = 0.9  # correlation of the noise from point to point
# Sums over events and alarms, which grow with the series: the true value is that of as many events.
SUMS = {"alarm_episodes", "expected_cost", "temporal_distance", "weighted_detection_difference"}
SOME = "recommended,auc_roc,auc_pr,vus_roc,best_f1,affiliation_f1,f1_pa,cce,pate"


class Case(NamedTuple):
    """Series of one kind: the mean length of normal stretches and of events, and the metrics that are looked at."""

    gap: int
    length: int
    metrics: tuple[Metric, ...]


CASES = {
    "short": Case(100, 10, select_metrics("all,cce(normalize='robust')")),
    "long": Case(500, 40, select_metrics(SOME)),
}


def series(random: np.random.Generator, case: Case, events: int, quality: float) -> Scoring:
    """Draw labels and scores: correlated noise, with events of different length and height."""
    gaps = (case.gap * (0.25 + 1.5 * random.random(events + 1))).astype(int)
    lengths = np.maximum(1, case.length * (0.25 + 1.5 * random.random(events))).astype(int)
    counts = np.append(np.column_stack([gaps[:-1], lengths]).ravel(), gaps[-1])
    labels = np.repeat(np.arange(len(counts)) % 2, counts)
    heights = np.zeros(len(counts))
    heights[1::2] = np.maximum(random.normal(quality, 1.0, events), 0.0)
    return Scoring.of(labels, noise(random, len(labels)) + np.repeat(heights, counts))


def noise(random: np.random.Generator, n: int) -> np.ndarray:
    """Draw noise of variance 1 in which neighbours are correlated."""
    from scipy.signal import lfilter

    start = 200
    drawn = lfilter([math.sqrt(1 - MEMORY**2)], [1, -MEMORY], random.normal(size=n + start))
    return np.asarray(drawn[start:])


def true_values(which: int, case: Case, quality: float) -> list[float]:
    """The values of one very long series."""
    data, rule = series(np.random.default_rng((9, which)), case, VERY_LONG, quality), parse_rule("best")
    return [metric.attempt(data, rule).value for metric in case.metrics]


def held(value: float, row: dict, metric: str, events: int) -> bool:
    """Whether an interval holds the true value, but for rounding."""
    true = value * events / VERY_LONG if metric in SUMS else value
    return row["low"] - 1e-6 <= true <= row["high"] + 1e-6


def streams(repeats: int) -> Iterator[tuple[int, str, int, int]]:
    """Every repeat, case and number of events."""
    for repeat in range(repeats):
        for which, name in enumerate(CASES):
            for events in EVENTS:
                yield which, name, events, repeat


def measure(repeats: int) -> None:
    """Count, for each metric and kind of series, the intervals, and those that hold the true value."""
    rule = parse_rule("best")
    truth = {(name, q): true_values(i, case, q) for i, (name, case) in enumerate(CASES.items()) for q in QUALITIES}
    counts: dict[str, dict[str, dict[str, list[int]]]] = {}
    for which, name, events, repeat in streams(repeats):
        metrics, quality = CASES[name].metrics, QUALITIES[repeat % 2]
        data = series(np.random.default_rng((which, events, repeat)), CASES[name], events, quality)
        values = [metric.attempt(data, rule).value for metric in metrics]
        rows = interval_rows(values, metrics, data, rule, LEVEL, DRAWS, repeat)
        for metric, row, true in zip(map(str, metrics), rows, truth[name, quality], strict=True):
            count(counts, metric, name, events, row, true)
    keep(counts, repeats)


def count(counts: dict, metric: str, name: str, events: int, row: dict, true: float) -> None:
    """Add one interval to the counts: (those that hold the true value, all)."""
    found = counts.setdefault(metric, {}).setdefault(name, {}).setdefault(str(events), [0, 0])
    if row["low"] is not None:
        found[0] += held(true, row, metric, events)
        found[1] += 1


def keep(counts: dict, repeats: int) -> None:
    """Write the counts."""
    measured.write("coverage", [{"metric": metric, "series": repeats, **found} for metric, found in counts.items()])


def share(row: dict, events: int) -> float:
    """The share of intervals that hold the true value, of short and long series; NaN where hardly any has one."""
    some, every = np.sum([row[name][str(events)] for name in CASES if name in row], axis=0).tolist()
    return some / every if every >= row["series"] / 4 else math.nan


def certain_from(row: dict) -> int | None:
    """From how many events on the share is enough; None with no number of them."""
    found = None
    for events in EVENTS[::-1]:
        if share(row, events) < ENOUGH:
            break
        found = events
    return found


def cells(row: dict) -> list[str]:
    """A row of the table."""
    shares = [
        f"{100 * some / every:.0f} %" if every >= row["series"] / 4 else "none"
        for name in CASES
        for some, every in (row.get(name, {}).get(str(events), [0, 0]) for events in EVENTS)
    ]
    shares = shares if "long" in row else [*shares[: len(EVENTS)], *[""] * len(EVENTS)]
    least = certain_from(row) or "-" if set(shares) - {"none", ""} else ""
    return [f"`{row['metric']}`", *shares, str(least)]


HEAD = """# How far to trust intervals

Written by `docs/make_coverage.py`. `te.evaluate(..., interval=0.95)` gives a value an interval by bootstrap: the series is cut in the middle between two events, these pieces (each an event with its surroundings) are drawn with replacement,
and the metric, with its threshold rule, is computed on each of 200 such series. The interval is the value plus and minus Student's t (events - 1 degrees of freedom) times the standard deviation of what was drawn, times the root of
events / (events - 1), cut at the range of the metric. There is none with fewer than 5 events, where all draws have the same value (a perfect detector says nothing about the next miss), and where the metric is undefined on more than a tenth of the draws.

Does such an interval hold the true value? Here are series of which it is known: noise of variance 1 whose neighbours are correlated by {memory}, with events of different length whose height is drawn around {low} or {high} standard deviations. The true value is that of one
series with {long:,} events. Below is the share of 95 % intervals that hold it, of {series} short series (normal stretches of 100 points, events of 10 on average) and, of some metrics, {series} long ones (500 and 40), for each number of events. The standard error of a share is about {error:.0f}
points. *none*: hardly any series had an interval.

- **With 50 events the intervals of most metrics are right; with 5 or 10 they are too short.** The last column says from how many events on at least 90 % hold the true value, of short and long series together; below that (and everywhere where it has a dash) a note under results says so.
- The best threshold is found anew on each draw, so that its optimism is part of the interval, but not of its centre: on few events the value itself is too high.
- `cce` with min-max scaling and `dqe` look at the extreme scores, which grow with the series: there is no one value to hold. Of `{sums}`, which are sums, the true value is that of as many events.
- Nothing is said here of other models of scores, of drift, or of a detector that is trained anew. Where several series are at hand, intervals over series (`te.compare(...).average(interval=0.95)`) say more.

200 draws of the recommended set on 100,000 points take 1.2 to 1.4 s of one core.
"""


def page() -> str:
    """The page, from the numbers that are kept."""
    rows = measured.read("coverage")
    series = rows[0]["series"]
    head = HEAD.format(
        memory=MEMORY,
        low=QUALITIES[0],
        high=QUALITIES[1],
        long=VERY_LONG,
        series=series,
        error=100 * math.sqrt(0.1 / series),
        sums="`, `".join(sorted(SUMS)),
    )
    heads = ["metric", *(f"{name}, {events}" for name in CASES for events in EVENTS), "90 % from"]
    return f"{head}\n{measured.table(heads, 'l' + 'r' * 9, map(cells, rows))}\n"


if __name__ == "__main__":
    if sys.argv[1:]:
        warnings.simplefilter("ignore")
        measure(int(sys.argv[1]))
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
