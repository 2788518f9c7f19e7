"""Detection: the values, tables and cached scores of detectors on data sets."""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsadeval.comparison.comparison import Comparison, Made, Run
from tsadeval.comparison.detector_table import Values
from tsadeval.core.facts import OddAlarms, Origin, finite_mean, odd_alarms, rule_facts
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.messages import by_reason, named
from tsadeval.core.metric import BINARY, Rule
from tsadeval.core.names import check_known, did_you_mean
from tsadeval.core.results import Row
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, UnknownNameError
from tsadeval.evaluation.many import Pool
from tsadeval.experiments.detector_specs import DetectorSpec
from tsadeval.scores.cache import CachedScores, read_scores

if TYPE_CHECKING:
    import pandas as pd

    from tsadeval.experiments.detect import Plan

SHOWN = 5  # failures that are printed under the tables


class Detection(Comparison):
    """What `detect` found: a row per data set, detector, seed and metric. Prints as its tables.

    Attributes
    ----------
    plan : Plan
        Which data sets, detectors, metrics and rule.
    folder : Path
        The store; its `scores/` holds the scores.
    titles : dict
        The detectors, and how tables call them: by their full texts where they would share a title.
    """

    def __init__(self, plan: "Plan", store: Store[Any], folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self._stored = store.table(plan.cells())
        found = {spec.text: spec.title for spec in plan.detectors}
        shared = Counter(found.values())
        self.titles = {text: title if shared[title] == 1 else text for text, title in found.items()}
        made = Made(plan.metrics, plan.threshold)
        rows: list[Row] = self._stored.to_pylist()
        _name_rules(rows, made.rule, {str(m) for m in plan.metrics if m.kind == "predictions" and m.best_is_trivial})
        super().__init__(rows, titles=self.titles, made=made, odd=_odd(rows))
        # As planned, whether or not a value is there yet.
        self.series = list(plan.datasets)
        self.detectors = list(self.titles)
        self.metrics = list(map(str, plan.metrics))

    def to_frame(self) -> "pd.DataFrame":
        """All rows: what names each value, the value, threshold, seconds, device, status, message and versions."""
        frame: pd.DataFrame = self._stored.to_pandas()
        return frame

    def scores(self, series: str, detector: str, seed: int = 0) -> CachedScores:
        """Return the scores and labels of a detector (by its text or title) on a data set, and where they came from."""
        for spec in self.plan.detectors:
            if detector in (spec.text, self.titles[spec.text]) and spec.seed in (seed, None):
                cached = self._cached(series, spec)
                if cached is None:
                    raise InvalidInputError(f"{spec.text} has no scores on {series} yet: continue the run")
                return cached
        hint = did_you_mean(detector, list(self.titles.values()))
        raise UnknownNameError(f"no detector {detector!r} with seed {seed} in this result: {hint}")

    def scorings(self) -> Iterator[Run]:
        """Yield (data set, detector, y_true, y_score) of all scores that are cached."""
        for series in self.plan.datasets:
            for spec in self.plan.detectors:
                cached = self._cached(series, spec)
                if cached is not None:
                    title = self.titles[spec.text] + (f", seed {spec.seed}" if spec.seed else "")
                    yield series, title, cached.labels, cached.scores

    def all_scores(self, series: str, seed: int = 0) -> dict[str, Floats]:
        """Return the scores of all detectors that have some on a data set, by the titles of the detectors."""
        found = {self.titles[d.text]: self._cached(series, d) for d in self.plan.detectors if d.seed in (seed, None)}
        return {title: cached.scores for title, cached in found.items() if cached is not None}

    def _cached(self, series: str, spec: DetectorSpec) -> CachedScores | None:
        check_known(series, self.plan.datasets, "data set", "this result")
        return read_scores(self.folder, series, self.plan.datasets[series], spec.text, spec.seed)

    @cached_property
    def _micro(self) -> Values:
        """All points of all data sets pooled, for the metrics of the library; of several seeds the mean."""
        metrics = [metric for metric in self.plan.metrics if metric.library]
        found: dict[str, dict[str, list[float]]] = {}
        for spec in self.plan.detectors:
            pool = Pool(metrics, self.plan.threshold)
            cached = [self._cached(name, spec) for name in self.plan.datasets]
            if None in cached:
                continue  # a pool with a data set less than the others would not compare
            for one in filter(None, cached):
                pool.add(Scoring.of(one.labels, one.scores))
            for metric, value in pool.values().items():
                found.setdefault(spec.text, {}).setdefault(metric, []).append(value)
        return {text: {m: finite_mean(values) for m, values in by.items()} for text, by in found.items()}

    def failures(self) -> list[str]:
        """Return a line for each detector that raised on a data set, and for each metric that did, with the message."""
        lines = []
        for row in (row for row in self.rows if row["status"] == "error"):
            who = self.titles[row["detector"]]
            # Without a device there were no scores to evaluate.
            what = f"{who} failed on" if row["device"] is None else f"{row['metric']} failed on {who},"
            lines.append(f"{what} {row['series']}: {' '.join(row['message'].split())}")
        return list(dict.fromkeys(lines))

    def _failed(self, rows: list[Row]) -> list[str]:
        return []  # `failures` says it

    def _notes(self) -> list[str]:
        # The command line prints the failures by themselves.
        lines = self.failures()
        more = [f"and {len(lines) - SHOWN} more such lines: failures() has all"] * (len(lines) > SHOWN)
        return [*super()._notes(), *lines[:SHOWN], *more]

    def undefined(self) -> list[str]:
        """Return a line for each reason why metrics have no value where scores are: which, and on which data sets."""
        undefined = (row for row in self.rows if row["status"] == "undefined")
        causes = [(row["message"] or "it is not a finite number", row["metric"], row["series"]) for row in undefined]
        return [
            f"{', '.join(metrics)} undefined on {named(datasets, 3)}: {message}"
            for message, metrics, datasets in by_reason(dict.fromkeys(causes))
        ]


def _name_rules(rows: list[Row], rule: Rule, trivial: set[str]) -> None:
    """Name the rules that were used, as `te.compare` does; stores of 0.1.0 have the rule that was asked for alone."""
    for row in rows:
        used = row.pop("used")
        if used is not None or row["rule"] is None:
            row["rule"] = used
            continue
        row |= rule_facts(rule)
        if row["origin"] == Origin.BEST and row["alarms"] is not None and row["threshold"] is None:
            row |= {"rule": BINARY, "origin": Origin.SCORES, "uses_labels": False}
        elif row["origin"] == Origin.BEST and row["metric"] in trivial:
            row |= {"rule": "best(f1)", "origin": Origin.BEST_OF_ONE}


def _odd(rows: list[Row]) -> dict[tuple[str, str], OddAlarms | None]:
    """Return what is odd about the alarms, by data set and detector: with any of its seeds."""
    found: dict[tuple[str, str], OddAlarms | None] = {}
    for row in rows:
        key = row["series"], row["detector"]
        found[key] = found.get(key) or (None if row["n"] is None else odd_alarms([row], row["n"]))
    return found
