"""Mergeable states of streamed series: counts, runs, moments, and all scores sorted on disk or counted in bins.

A record says which state its metric is computed from (`Metric.stream`). Alarms are kept as runs or as counts of points,
and the value comes from the metric's own code; so any cut into batches gives the value of the whole series.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from tsadeval.core.facts import Fact
from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.metric import Kept, Metric
from tsadeval.evaluation.external_sort import SortedScores
from tsadeval.streams.bins import ScoreBins
from tsadeval.streams.cce import StreamingCCE
from tsadeval.streams.runs import ALARM, LABEL, BareRuns, GrowingRuns, asks_for_times, codes_of
from tsadeval.streams.zones import NearEvents, reach_of

Order = Literal["sort", "bins"]
Needed = Kept | Literal["times"]


@dataclass(frozen=True)
class Settings:
    """For states: alarms are scores above `threshold`; how the order of scores is kept; whether there are times."""

    threshold: float | None = None
    order: Order = "sort"
    timed: bool = False
    bounded: bool = True


class State(Protocol):
    """What is kept of a stretch of a series."""

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        ...

    def merge(self, later: Any) -> None:
        """Take in the state of the stretch that follows."""
        ...

    def value(self, metric: Metric) -> tuple[Any, ...]:
        """Return the value of a metric on all points so far, why it is undefined, and its bounds if not exact."""
        ...


States = dict[str, State]


class PointCounts:
    """Points by label and alarm: for metrics to which the order of points does not matter."""

    alarms = None  # the number of runs is not known

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        self._counts = np.zeros(4, np.int64)  # by code

    @property
    def alarmed(self) -> int:
        """Number of points with an alarm."""
        return int(self._counts[ALARM:].sum())

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        codes = codes_of(data, self.threshold)
        false, found = (int(np.count_nonzero(codes == code)) for code in (ALARM, LABEL + ALARM))
        missed = data.events.points - found
        self._counts += [data.n - missed - false - found, missed, false, found]

    def merge(self, later: PointCounts) -> None:
        """Take in the state of the stretch that follows."""
        self._counts += later._counts

    def prediction(self) -> Prediction:
        """Return a series with the same counts, in an order of its own."""
        quiet, missed, false, found = self._counts.tolist()
        return Prediction(
            BareRuns.of_counts([quiet, missed + found, false], 0),
            BareRuns.of_counts([quiet + missed, found + false], 0),
        )

    def value(self, metric: Metric) -> tuple[float, Fact | None]:
        """Return the value of a metric on all points so far."""
        return metric.value_of(self.prediction())


def kept_for(metric: Metric, settings: Settings) -> Needed:
    """Return what is kept of the series for a metric that can be streamed."""
    assert metric.stream is not None
    return "times" if asks_for_times(metric, timed=settings.timed) else metric.stream


def state_key(metric: Metric, settings: Settings) -> str:
    """Metrics with the same key share a state; each variant of CCE has its own."""
    kept = kept_for(metric, settings)
    if kept == "zones":
        return f"zones {reach_of(metric, exact=settings.order == 'sort')}"
    return str(metric if kept == "moments" else kept)


def new_state(metric: Metric, settings: Settings, others: States) -> State:
    """Make an empty state for a metric; that of the order, which one of zones needs, is put among the others."""
    kept = kept_for(metric, settings)
    if kept == "moments":
        return StreamingCCE(**{name: value for name, value in metric.options.items() if name != "quantiles"}).state
    if kept in ("points", "runs", "times"):
        assert settings.threshold is not None
        if kept == "points":
            return PointCounts(settings.threshold)
        return GrowingRuns(settings.threshold, timed=kept == "times", bounded=settings.bounded)
    order = others.setdefault("order", SortedScores() if settings.order == "sort" else ScoreBins())
    if kept == "order":
        return order
    assert isinstance(order, SortedScores | ScoreBins)
    return NearEvents(reach_of(metric, exact=order.exact), order)
