"""The best threshold of a metric, chosen with the labels, an upper bound; and the series that thresholds are found on.

Exact over all thresholds for the metrics whose record has a sweep (`Metric.best`), "no alarm at all" included. Of
several best thresholds it is the highest that raises an alarm.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np

from tsadeval.core.facts import Fact, Origin, Reason
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.metric import METRICS, Decision, Metric
from tsadeval.core.metric import missing as what_is_missing
from tsadeval.core.names import did_you_mean
from tsadeval.core.selection import AnyMetric, select_metric
from tsadeval.core.times import Times
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedError, UnknownNameError, warn_undefined
from tsadeval.metrics.counting import SAME
from tsadeval.scores.scored import observe
from tsadeval.scores.scores import Reading, Scored, Scores, as_scores
from tsadeval.thresholds.rules import RULES

# Metrics without an exact sweep are searched on this many thresholds, evenly spaced among the distinct scores.
GRID = 200


class BestThreshold(NamedTuple):
    """The best threshold of a metric (alarm where `score > threshold`), its value, and whether the search was exact."""

    threshold: float
    value: float
    exact: bool


@dataclass(frozen=True)
class best:
    """For each metric the threshold that is best for it; with a metric, the threshold that is best for that one.

    Metrics for which their own best is trivial (recall is 1 where everything is an alarm) are taken at the threshold of
    the best point-wise F1; results name their rule "best(f1)".

    >>> str(best()), str(best("f1_pa"))
    ('best', 'best(f1_pa)')
    """

    literal: ClassVar[bool] = False
    uses_labels: ClassVar[bool] = True

    metric: str | None = None
    _target: Metric | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        if self.metric is not None:
            object.__setattr__(self, "_target", of_predictions(self.metric))
            object.__setattr__(self, "metric", str(self._target))

    def decide(self, data: Scoring, metric: Metric) -> Decision:
        """Raise alarms that differ from metric to metric, unless the rule names one."""
        target = self._target or (METRICS["f1"] if metric.best_is_trivial else metric)
        found = data.shared(("best", str(target), id(target.function)), lambda: find_best(target, target.judges(data)))
        own = self._target is None and target is metric
        name = str(self) if own or self._target is not None else f"best({target})"
        name = name if found.exact else f"{name} of {GRID}"
        origin = Origin.BEST if own else Origin.BEST_OF_ONE
        if not math.isnan(found.threshold):
            return Decision(data.above(found.threshold), name, found.threshold, None, True, origin)
        # The metric is undefined at every threshold, so there is no best one.
        quiet = data.above(data.high)
        nowhere = Fact(Reason.UNDEFINED, f"{target} is undefined at every threshold")
        why = target.value_of(target.judges(quiet))[1] or nowhere
        if target is not metric:
            why = why._replace(text=f"{why.text}, so no threshold is best for {target}")
        return Decision(quiet, name, None, why, True, origin)

    @property
    def origin(self) -> Origin:
        """Where the alarms of most metrics come from."""
        return Origin.BEST if self.metric is None else Origin.BEST_OF_ONE

    def __str__(self) -> str:
        return "best" if self.metric is None else f"best({self.metric})"


RULES.add("best", best)


def best_threshold(
    metric: AnyMetric, y_true: Any, y_score: Any = None, *, times: Any = None, **reading: Unpack[Reading]
) -> BestThreshold:
    """Find the threshold at which a metric of predictions is best for these scores.

    Exact over all thresholds for the metrics of the library. Of several best thresholds it is the highest that raises
    an alarm. NaN, with a warning, where the metric is undefined at every threshold.

    Parameters
    ----------
    metric : str or function
        A metric that takes predictions: "f1", "affiliation_f1(beta=2)", `te.metrics.f1`, or a function
        `(y_true, y_pred) -> float`, which is searched on 200 thresholds.
    y_true, y_score, times
        As for `choose_threshold`: arrays, mappings of those of several series, or `te.Scores` of one detector.
    **reading
        Options of `te.Scores`, such as `ignore` and `missing`.

    Returns
    -------
    BestThreshold
        `threshold` (alarm where `y_score > threshold`), `value` there, and `exact`.

    Examples
    --------
    >>> import tsadeval as te
    >>> found = te.best_threshold("f1", [0, 0, 1, 1, 0], [0.1, 0.4, 0.8, 0.6, 0.3])
    >>> found.value, 0.4 < found.threshold < 0.6, found.exact
    (1.0, True, True)
    """
    chosen = of_predictions(metric)
    found = find_best(chosen, chosen.judges(join(read_scorings(y_true, y_score, times, reading))))
    if math.isnan(found.value):
        warn_undefined(str(chosen), "it is undefined at every threshold")
    return found


def of_predictions(metric: AnyMetric) -> Metric:
    """Find the one metric of predictions that is named."""
    chosen = select_metric(metric)
    if chosen.kind != "predictions":
        raise InvalidParameterError(
            f"{chosen.name} takes scores, so it has no threshold; use it as it is"
            if chosen.library
            else f"{chosen.name} takes scores: name its second argument y_pred if it takes predictions"
        )
    return chosen


def find_best(metric: Metric, data: Scoring) -> BestThreshold:
    """Find the best threshold, as `best_threshold` does, for checked data."""
    found = _swept(metric, metric.best, data) if metric.best is not None else _searched(metric, data)
    none, _ = metric.value_of(data.above(data.high))
    if not math.isnan(none) and (math.isnan(found.value) or metric.sign * none > metric.sign * found.value + SAME):
        return BestThreshold(data.high, none, found.exact)
    return found


def _swept(metric: Metric, sweep: Callable[..., float], data: Scoring) -> BestThreshold:
    try:
        v = math.nan if what_is_missing(metric.needs - {"alarm"}, data) else sweep(data, **metric.options)
    except UndefinedError:
        v = math.nan
    if math.isnan(v):
        return BestThreshold(math.nan, math.nan, True)
    if v <= _quiet_below(data):
        # The sweep went down to points that never alarm, and took them for alarms that join others.
        return _searched(metric, data)
    # The value by the metric's own code, so that the two agree to the last digit.
    return BestThreshold(data.just_below(v), metric.value_of(data.at_least(v))[0], True)


def judged_levels(data: Scoring) -> Floats:
    """Return the distinct scores, descending, of the points that may alarm; all others score below them."""
    levels = data.levels[0]
    return levels[levels > _quiet_below(data)]


def _quiet_below(data: Scoring) -> float:
    quiet = data.setting.quiet
    return -math.inf if quiet is None or not quiet.any() else float(data.scores[quiet].max())


def _searched(metric: Metric, data: Scoring) -> BestThreshold:
    values = judged_levels(data)
    exact = len(values) <= GRID
    if not exact:
        values = values[np.unique(np.linspace(0, len(values) - 1, GRID).astype(np.int64))]
    outcomes = [metric.value_of(data.at_least(v))[0] for v in values]
    worth = np.array(outcomes) if metric.direction == "higher" else -np.array(outcomes)
    if np.isnan(worth).all():
        return BestThreshold(math.nan, math.nan, exact)
    at = int(np.argmax(worth >= np.nanmax(worth) - SAME))
    return BestThreshold(data.just_below(float(values[at])), outcomes[at], exact)


def read_scorings(y_true: Any, y_score: Any, times: Any, reading: Reading) -> list[Scoring]:
    """Read labels and scores of a series, mappings of those of several, or (without `y_score`) what te.Scores takes."""
    if times is not None:
        reading = {**reading, "time": times}
    scores = as_scores(y_true, **reading) if y_score is None else _of_arrays(y_true, y_score, reading)
    return [one.scoring for one in of_one_detector(scores)]


def of_one_detector(scores: Scores) -> list[Scored]:
    """Read all scorings, which must be those of one detector; warn of what is left out."""
    found = [one for one in scores.read() if isinstance(one, Scored)]
    if len(scores.detectors) > 1:
        raise InvalidInputError(
            f"there are several detectors ({', '.join(scores.detectors)}): select one, as in "
            f"scores.select(detectors=[{scores.detectors[0]!r}])"
        )
    scores.warn()
    return found


def _of_arrays(y_true: Any, y_score: Any, reading: Reading) -> Scores:
    """Take labels and scores of a series, or mappings from the names of series, which must be the same."""
    names = list(map(str, y_score)) if isinstance(y_true, Mapping) and isinstance(y_score, Mapping) else []
    for name in map(str, y_true if names else ()):
        if name not in names:
            raise UnknownNameError(f"y_score has no series {name!r}: {did_you_mean(name, names)}")
    options: Reading = {"strict": True, **reading}
    return as_scores(y_score, y_true, **options)


def join(scorings: list[Scoring]) -> Scoring:
    """Put the series one after the other, with a point between them that is not judged, so that no run crosses it."""
    if len(scorings) == 1:
        return scorings[0]
    if len({one.setting.times is None for one in scorings}) > 1:
        raise InvalidInputError("times must be given for all series, or for none")
    between = [1] * (len(scorings) - 1) + [0]

    def whole(parts: list[Any], fill: Any) -> Any:
        longer = (np.append(part, [fill] * n) for part, n in zip(parts, between, strict=True))
        return np.concatenate(list(longer)).astype(np.result_type(*parts))

    ignored = [np.zeros(one.n, np.bool_) if one.setting.ignored is None else one.setting.ignored for one in scorings]
    # NaN where there is no score: what is below all others in one series need not be so in another.
    unknown = [one.setting.unknown for one in scorings]
    scores = [one.raw if k is None else np.where(k, np.nan, one.raw) for one, k in zip(scorings, unknown, strict=True)]
    return observe(
        whole([one.truth.mask for one in scorings], False),
        whole(scores, 0),
        times=None if scorings[0].setting.times is None else _one_clock([one.setting.clock for one in scorings]),
        ignore=whole(ignored, True),
        missing="no alarm",
    )


def _one_clock(clocks: list[Times]) -> Times:
    """Stamps that go on from series to series, with one for the point between two of them."""
    stamps, end = [], 0
    for k, clock in enumerate(clocks):
        own = clock.stamps - clock.stamps[0] + end
        end = int(own[-1]) + 2 * clock.step
        stamps.append(own if k == len(clocks) - 1 else np.append(own, end - clock.step))
    whole = np.concatenate(stamps)
    return Times(whole, "numbers", whole, 1)
