"""The golden values: what every metric gives on fixed inputs, one file per version of the package.

    python tests/golden/make_values.py                          # add the metrics that the file lacks
    python tests/golden/make_values.py --accept vus_pr "cce(tau=0.4)"   # values that are meant to change

A value that differs from the file is an error unless the revision of the metric was raised (`version=` in its
description, which stores compare) and the change is accepted by name; it belongs in the section `Values` of
CHANGELOG.md. With a new version a new file is begun, and the old ones stay as they were.
"""

import argparse
import json
import math
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import tsadeval
from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import METRICS, Metric, parse_metric
from tsadeval.core.parameters import Flag, Number, OneOf, Pair
from tsadeval.thresholds.rules import parse_rule

FOLDER = Path(__file__).resolve().parent
PATH = FOLDER / f"values-{tsadeval.__version__}.json"
VERSION = "version"
TOLERANCE = 1e-9  # relative: other compilers and math libraries differ in the last digits

# name: (points, events as (start, stop), how much an event lifts the scores, levels of the scores, threshold)
CASES = {
    "noisy": (600, ((60, 90), (200, 203), (330, 400), (520, 521)), 0.5, 65536, 0.45),
    "ties": (600, ((60, 90), (200, 203), (330, 400), (520, 521)), 0.5, 8, 0.375),
    "at the borders": (300, ((0, 12), (140, 150), (290, 300)), 0.4, 65536, 0.4),
    "hardly better than chance": (500, ((100, 140), (300, 305)), 0.05, 65536, 0.45),
    "many events": (2500, tuple((k * 100, k * 100 + 1 + 7 * k) for k in range(1, 12)), 0.7, 4096, 0.4),
}
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


def inputs(name: str) -> Arrays:
    """Labels, scores and predictions of a case, from whole numbers alone: the same on every machine, for ever."""
    points, events, lift, levels, threshold = CASES[name]
    y = np.zeros(points, np.int64)
    for start, stop in events:
        y[start:stop] = 1
    state, draws = 12345, []
    for _ in range(points):
        state = (1664525 * state + 1013904223) % 2**32  # Numerical Recipes' generator
        draws.append(state >> 16)
    s = (np.floor(np.array(draws) / 65536 * levels) / levels + y * lift) / 2  # from 0 to 1: some options need that
    return y, s, (s >= threshold).astype(np.int64)


def other(check: Flag | Number | OneOf | Pair, default: object) -> list[object]:
    """Values of an option that differ from its default: all words, or one other number."""
    if isinstance(check, Flag):
        return [not default]
    if isinstance(check, OneOf):
        return [choice for choice in check.choices if choice != default]
    if isinstance(check, Pair):
        return [(0.1, 0.9)]
    near = [default * 2, default / 2] if isinstance(default, (int, float)) and default else []
    tried = [int(value) if check.integer else value for value in [*near, 3, 0.5, 0.25]]
    return [value for value in tried if value != default and check.accepts(value)][:1]


def variants(metric: Metric) -> list[Metric]:
    """The metric with its defaults, and with one option at a time set to something else."""
    found = [metric]
    for option, default in metric.parameters.items():
        found += [metric.with_options(**{option: value}) for value in other(metric.checks[option], default)]
    return found


def values(text: str) -> dict[str, float | str]:
    """Its revision, its value on every case and, of predictions, that at the best threshold.

    A value is a text where it is undefined or where the metric refuses the case.
    """
    metric = parse_metric(text)
    found: dict[str, float | str] = {VERSION: metric.version}
    for name in CASES:
        y, s, p = inputs(name)
        found[name] = _plain(metric, y, s if metric.kind == "scores" else p)
        if metric.kind == "predictions":
            found[f"{name}, best"] = _plain(partial(_at_best, metric), y, s)
    return found


def _at_best(metric: Metric, y: np.ndarray, s: np.ndarray) -> float:
    return metric.run(Scoring.of(y, s), parse_rule("best")).value


def _plain(compute: Callable[..., float], *data: np.ndarray) -> float | str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = compute(*data)
        except tsadeval.errors.InvalidInputError as error:
            return type(error).__name__
    return value if math.isfinite(value) else str(value)


def same(old: float | str, new: float | str) -> bool:
    """Equal up to the last digits."""
    if isinstance(old, str) or isinstance(new, str):
        return old == new
    return math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=1e-12)


def changed(old: dict[str, float | str], new: dict[str, float | str]) -> list[str]:
    """The cases on which two entries differ, of those that both have."""
    return [case for case in new if case != VERSION and case in old and not same(old[case], new[case])]


def texts() -> list[str]:
    """All metrics and variants that belong in the file."""
    return [str(variant) for name in sorted(METRICS) for variant in variants(METRICS[name])]


def read() -> dict[str, dict[str, float | str]]:
    """The file of this version."""
    return json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}


def write(accepted: frozenset[str] = frozenset()) -> int:
    """Add what is missing and what is accepted; raise where another value changed. The number of lines written."""
    old, new = read(), {text: values(text) for text in texts()}
    for text in old.keys() & new.keys():
        differ = changed(old[text], new[text])
        if not differ:  # the last digits of another machine are no change
            new[text] |= {case: value for case, value in old[text].items() if case != VERSION and case in new[text]}
            continue
        case = differ[0]
        was = f"{text} on {case!r} was {old[text][case]} and is {new[text][case]}"
        if old[text].get(VERSION) == new[text][VERSION]:
            raise SystemExit(
                f"{was}: if that is meant, raise the version of the metric, of which stores have values, from "
                f"{new[text][VERSION]!r} (version= in its description)"
            )
        if text not in accepted:
            raise SystemExit(
                f"{was}: if that is meant, run python tests/golden/make_values.py --accept "
                f'"{text}" and say so under Values in CHANGELOG.md'
            )
    lines = ",\n".join(f"{json.dumps(text)}: {json.dumps(new[text])}" for text in sorted(new))
    PATH.write_text("{\n" + lines + "\n}\n", encoding="utf-8")
    return len(new)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--accept", nargs="*", default=[], metavar="METRIC")
    print(f"wrote {PATH.name}: {write(frozenset(parser.parse_args().accept))} metrics and variants")
