"""The micro average: the points of all series pooled, for every metric that can be computed on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from tsadeval.core.inputs import Prediction, Scoring
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
        # By series, in memory of our own.
        self._scorings: list[Scoring] = []
        self._predictions: list[Prediction] = []
        self._order = SortedScores()

    def add(self, scoring: Scoring) -> None:
        """Take in a series."""
        if self._of_order:
            self._order.update(scoring.kept)
        truth = replace(scoring.truth, labels=scoring.truth.mask.view(np.uint8))
        ignored = scoring.setting.ignored
        if self._of_scores:
            own = replace(scoring, truth=truth, raw=scoring.raw.copy(), given=None, setting=Setting(ignored=ignored))
            self._scorings.append(own)
        if self._of_alarms:
            decision = self._of_alarms[0].decide(scoring, self._rule)
            assert decision is not None  # a metric of alarms has them
            setting = Setting(ignored=ignored, weights=scoring.setting.shares)  # no more than is needed
            self._predictions.append(Prediction(truth, decision.prediction.alarms, setting))

    def values(self) -> dict[str, float]:
        """Return the micro value of every metric, NaN where there is none."""
        found = {str(metric): math.nan for metric in self._metrics}
        found |= {str(m): self._order.value(m)[0] for m in self._of_order}
        found |= {str(m): self._of_all_scores(m) for m in self._of_scores}
        joined, apart = cache(self._joined), cache(self._apart)
        longest = max((one.n for one in self._predictions), default=0)
        for m in self._of_alarms:
            if m.pool is not None:
                found[str(m)] = m.pool(_Fresh(self._predictions), **m.options)
            else:
                one = apart(1 + min(_reach(m), longest)) if "separable" in m.properties else joined()
                found[str(m)] = m.value_of(one)[0]
        return found

    def _of_all_scores(self, metric: Metric) -> float:
        if metric.pool is not None:
            pieces = [piece for one in self._scorings for piece in one.pieces]
            return float(metric.pool(_Fresh(pieces), **metric.options))
        kept = [replace(one).kept for one in self._scorings]
        labels, scores = (np.concatenate(column) for column in zip(*((k.truth.mask, k.raw) for k in kept), strict=True))
        return metric.value_of(Scoring.of(labels, scores))[0]

    def _joined(self) -> Prediction:
        """Put the points that are judged together; they weigh what they last where all series have time stamps."""
        kept = [replace(one).kept for one in self._predictions]
        shares = [one.setting.shares for one in kept if one.setting.shares is not None]
        weights = np.concatenate(shares) if len(shares) == len(kept) else None
        truth, alarms = (np.concatenate([getattr(one, name).mask for one in kept]) for name in ("truth", "alarms"))
        return replace(Prediction.of(truth, alarms), setting=Setting(weights=weights))

    def _apart(self, quiet: int) -> Prediction:
        """Put so many quiet normal points in front of each series, so that nothing reaches from one into the next."""
        series = self._predictions
        masks = [np.zeros(one.n, np.bool_) if one.setting.ignored is None else one.setting.ignored for one in series]
        columns = [[one.truth.mask for one in series], [one.alarms.mask for one in series], masks]
        gap = np.zeros(quiet, np.bool_)
        truth, alarms, ignored = (np.concatenate([x for part in parts for x in (gap, part)]) for parts in columns)
        return replace(Prediction.of(truth, alarms), setting=Setting(ignored=ignored if ignored.any() else None))


def compares_series(metric: Metric) -> bool:
    """Return True if the metric's micro average compares scores of different series."""
    return metric.stream == "order" and "exchangeable" in metric.properties


class _Fresh(Sequence[Any]):
    """The series one by one, without what was computed of them, so that nothing of a series is kept."""

    def __init__(self, series: list[Any]) -> None:
        self._series = series

    def __len__(self) -> int:
        return len(self._series)

    def __getitem__(self, at: Any) -> Any:
        return _Fresh(self._series[at]) if isinstance(at, slice) else replace(self._series[at])


def _reach(metric: Metric) -> int:
    """Over how many points an option of the metric reaches, such as `early=5`."""
    spans = [metric.options[name] for name, check in metric.checks.items() if isinstance(check, Span)]
    return max((int(span) for span in spans if isinstance(span, (int, float))), default=0)
