"""One common example: what a metric gives to ten detectors whose merits anyone can see.

The series has 2,000 points and two events, a long and a short one. The same ten detectors stand on every metric's page.
"""

import html
import math
import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np

from tsadeval.core.metric import METRICS, Metric

POINTS = 2_000
EVENTS = ((500, 700), (1_300, 1_360))
DRAWS = 100  # of the random detector


def marks(*runs: tuple[int, int]) -> np.ndarray:
    found = np.zeros(POINTS, np.int64)
    for start, stop in runs:
        found[start:stop] = 1
    return found


TRUTH = marks(*EVENTS)


@dataclass(frozen=True)
class Case:
    """A detector of the example: its name in a sentence, what it does, its alarms."""

    name: str
    words: str
    alarms: np.ndarray


CASES = (
    Case("perfect", "the labels themselves", TRUTH),
    Case("late", "begins in the middle of each event", marks((600, 700), (1_330, 1_360))),
    Case("shifted early", "30 points before each event", marks((470, 670), (1_270, 1_330))),
    Case("one point each", "a single alarm in each event", marks((600, 601), (1_330, 1_331))),
    Case(
        "in pieces",
        "every second 10 points of each event",
        marks(*((k, k + 10) for a, b in EVENTS for k in range(a, b, 20))),
    ),
    Case("one event missed", "finds the long event only", marks(EVENTS[0])),
    Case("one false alarm", "perfect, and 10 points more", marks(*EVENTS, (1_000, 1_010))),
    Case("long false alarm", "perfect, and 300 points more", marks(*EVENTS, (850, 1_150))),
    Case("always", "an alarm at every point", marks((0, POINTS))),
    Case("random", "a tenth of the points at random", marks()),
)


@cache
def draws() -> tuple[np.ndarray, ...]:
    """Random scores; the alarms are the highest tenth."""
    rng = np.random.default_rng(0)
    return tuple(rng.random(POINTS) for _ in range(DRAWS))


def quiet(metric: Metric, other: np.ndarray) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return metric(TRUTH, other)


@cache
def values_of(name: str) -> dict[str, float]:
    """What a metric gives to each detector; to the random one the mean over the draws."""
    metric = METRICS[name]
    scores = [s if metric.kind == "scores" else (s >= 0.9).astype(np.int64) for s in draws()]
    found = {case.name: quiet(metric, case.alarms) for case in CASES if case.name != "random"}
    return {**found, "random": float(np.mean([quiet(metric, s) for s in scores]))}


def runs(mask: np.ndarray) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def strip(alarms: np.ndarray) -> str:
    """Labels above, alarms below: found, false and missed points."""

    def blocks(mask: np.ndarray, kind: str, top: int, height: int) -> str:
        # A single point would be thinner than a pixel.
        return "".join(
            f'<rect class="{kind}" x="{a}" y="{top}" width="{max(b - a, 8)}" height="{height}"/>' for a, b in runs(mask)
        )

    parts = [
        blocks(TRUTH == 1, "event", 0, 7),
        blocks((TRUTH == 1) & (alarms == 0), "missed", 13, 3),
        blocks((TRUTH == 1) & (alarms == 1), "found", 9, 11),
        blocks((TRUTH == 0) & (alarms == 1), "false", 9, 11),
    ]
    return f'<svg viewBox="0 0 {POINTS} 20" preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'


def text(number: float) -> str:
    if math.isnan(number):
        return "undefined"
    return f"{number:.2f}" if abs(number) < 100 else f"{number:,.0f}"


def table(metric: Metric) -> str:
    """The example as HTML: a row for each detector, with its strip, its value, and a bar from the worst to the best."""
    values = values_of(metric.name)
    known = [v for v in values.values() if math.isfinite(v)]
    low, high = min(known), max(known)
    lines = ['<div class="cases" role="table">']
    for case in CASES:
        shown = values[case.name]
        alarms = case.alarms if case.name != "random" else (draws()[0] >= 0.9).astype(np.int64)
        width = 0.0 if not math.isfinite(shown) or high == low else (shown - low) / (high - low)
        good = width if metric.direction == "higher" else 1 - width
        bar = f'<span class="bar" style="--share:{good:.3f}"></span>' if math.isfinite(shown) else ""
        lines.append(
            f'<div class="case" role="row"><span class="name" role="cell" title="{html.escape(case.words)}">{case.name}</span>'
            f'<span class="strip" role="cell">{strip(alarms)}</span>'
            f'<span class="value" role="cell">{text(shown)}{bar}</span></div>'
        )
    return "\n".join([*lines, "</div>"])


def listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def verdict(metric: Metric) -> str:
    """What the example shows, in words: who is taken for perfect, and who is not better than random."""
    sign = 1 if metric.direction == "higher" else -1
    values = {case: sign * value for case, value in values_of(metric.name).items()}
    best, chance = values["perfect"], values["random"]
    others = [name for name in values if name not in ("perfect", "random") and math.isfinite(values[name])]
    above = [name for name in others if values[name] > best + 1e-9]
    equal = [name for name in others if abs(values[name] - best) <= 1e-9]
    below = [name for name in others if values[name] <= chance + 1e-9]
    undefined = [name for name in values if math.isnan(values[name])]
    found = []
    if above:
        found.append(f"Rated *above* the perfect detector: {listed(above)}.")
    found.append(
        f"Not told apart from the perfect one: {listed(equal)}."
        if equal
        else "No other detector is rated as the perfect one is."
    )
    if below and not math.isnan(chance):
        found.append(f"Not better than random: {listed(below)}.")
    if undefined:
        found.append(f"Undefined for: {listed(undefined)}.")
    return " ".join(found)
