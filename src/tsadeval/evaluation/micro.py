"""The micro average: the points of all series pooled, for every metric that can be computed on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tsadeval.core.inputs import Prediction, Scoring, label_runs
from tsadeval.core.metric import Metric, Rule
from tsadeval.core.parameters import Span
from tsadeval.core.setting import Setting
from tsadeval.evaluation.external_sort import SortedScores
from tsadeval.thresholds.best import best


class Pool:
    """The points of all series so far, kept once for all metrics that can be pooled."""

    def __init__(self, metrics: Sequence[Metric], rule: Rule) -> None:
        self._metrics = metrics
        self._rule = rule
        exchangeable = {"exchangeable"}
        self._of_order = list(filter(compares_series, metrics))
        of_scores = [m for m in metrics if m.kind == "scores" and (m.pool or m.properties & exchangeable)]
        of_scores = [m for m in of_scores if m not in self._of_order]
        # With the rule best every metric has its own alarms, so there are none to pool.
        of_alarms = [
            m for m in metrics if m.kind == "predictions" and (m.pool or m.properties & {*exchangeable, "separable"})
        ]
        self._of_scores, self._of_alarms = of_scores, [] if isinstance(rule, best) else of_alarms
        # By series, in memory of our own, of types as small as they can be.
        self._labels: list[Any] = []
        self._scores: list[Any] = []
        self._alarms: list[Any] = []
        self._settings: list[Setting] = []
        self._order = SortedScores()

    def add(self, scoring: Scoring) -> None:
        """Take in a series."""
        if self._of_order:
            self._order.update(scoring.kept)
        if self._of_scores or self._of_alarms:
            self._labels.append(scoring.truth.mask)
            shares = scoring.setting.shares if self._of_alarms else None
            self._settings.append(Setting(ignored=scoring.setting.ignored, weights=shares))  # no more than is needed
        if self._of_scores:
            self._scores.append(scoring.raw.copy())
        if self._of_alarms:
            decision = self._of_alarms[0].decide(scoring, self._rule)
            assert decision is not None  # a metric of alarms has them
            self._alarms.append(decision.prediction.alarms.mask)

    def values(self) -> dict[str, float]:
        """Return the micro value of every metric, NaN where there is none."""
        found = {str(metric): math.nan for metric in self._metrics}
        found |= {str(m): self._order.value(m)[0] for m in self._of_order}
        if self._of_scores:
            found |= {str(m): self._of_all_scores(m) for m in self._of_scores}
        if self._of_alarms:
            keep = self._kept()
            joined = Prediction.of(np.concatenate(self._labels)[keep], np.concatenate(self._alarms)[keep])
            joined = replace(joined, setting=Setting(weights=self._weights()))
            apart: dict[int, Prediction] = {}  # by the number of quiet points between two series
            longest = max(map(len, self._labels))
            columns = [self._labels, self._alarms, *self._ignored()]
            series = _Apart(_prediction, *columns)
            for m in self._of_alarms:
                if m.pool is not None:
                    found[str(m)] = m.pool(series, **m.options)
                elif "separable" in m.properties:
                    quiet = 1 + min(_reach(m), longest)
                    if quiet not in apart:
                        apart[quiet] = _prediction(*(_separated(one, quiet) for one in columns))
                    found[str(m)] = m.value_of(apart[quiet])[0]
                else:
                    found[str(m)] = m.value_of(joined)[0]
        return found

    def _of_all_scores(self, metric: Metric) -> float:
        if metric.pool is not None:
            series = _Apart(Scoring.of, self._pieces(self._labels), self._pieces(self._scores))
            return float(metric.pool(series, **metric.options))
        keep = self._kept()
        return metric.value_of(Scoring.of(np.concatenate(self._labels)[keep], np.concatenate(self._scores)[keep]))[0]

    def _kept(self) -> Any:
        """Return the points that are judged, among those of all series: all of them, or a mask."""
        for ignored in self._ignored():
            return ~np.concatenate(ignored)
        return slice(None)

    def _ignored(self) -> list[list[Any]]:
        """Which points of each series are not judged, as one column of masks; none where all points are."""
        if all(setting.ignored is None for setting in self._settings):
            return []
        known = zip(self._settings, self._labels, strict=True)
        return [[np.zeros(len(y), np.bool_) if setting.ignored is None else setting.ignored for setting, y in known]]

    def _weights(self) -> Any:
        """Return the time that each point stands for that is judged; None unless all series have time stamps."""
        shares = [setting.shares for setting in self._settings if setting.shares is not None]
        return np.concatenate(shares)[self._kept()] if len(shares) == len(self._settings) else None

    def _pieces(self, parts: list[Any]) -> list[Any]:
        """Return the stretches of points that are judged, as `Scoring.pieces` has them."""
        found = []
        for setting, part in zip(self._settings, parts, strict=True):
            if setting.ignored is None:
                found.append(part)
            else:
                judged = label_runs(~setting.ignored, "ignore").events
                found += [part[a:b] for a, b in zip(judged.starts.tolist(), judged.stops.tolist(), strict=True)]
        return found


def compares_series(metric: Metric) -> bool:
    """Return True if the metric's micro average compares scores of different series."""
    return metric.stream == "order" and "exchangeable" in metric.properties


class _Apart(Sequence[Any]):
    """The series one by one, each checked when it is asked for, so that only one of them is there at a time."""

    def __init__(self, make: Callable[..., Any], *parts: list[Any]) -> None:
        self._make, self._parts = make, parts

    def __len__(self) -> int:
        return len(self._parts[0])

    def __getitem__(self, at: Any) -> Any:
        found = [part[at] for part in self._parts]
        return _Apart(self._make, *found) if isinstance(at, slice) else self._make(*found)


def _prediction(labels: Any, alarms: Any, ignored: Any = None) -> Prediction:
    """Labels and alarms of a series, and which of its points are not judged: normal ones without alarm."""
    return replace(Prediction.of(labels, alarms), setting=Setting(ignored=ignored))


def _reach(metric: Metric) -> int:
    """Over how many points an option of the metric reaches, such as `early=5`."""
    spans = [metric.options[name] for name, check in metric.checks.items() if isinstance(check, Span)]
    return max((int(span) for span in spans if isinstance(span, (int, float))), default=0)


def _separated(parts: Sequence[Any], points: int) -> Any:
    """Return the parts with quiet normal points in front of each, so that nothing reaches from one into the next."""
    quiet = np.zeros(points, np.bool_)
    return np.concatenate([piece for part in parts for piece in (quiet, part)])
