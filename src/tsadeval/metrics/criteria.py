"""Criteria by which detectors are chosen: events found, delays, costs and points, at every threshold of a scoring."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import tsadeval.metrics._kernels.load as kernel
from tsadeval.core.define import shared
from tsadeval.core.inputs import Bools, Floats, Index, Scoring
from tsadeval.core.names import Registry, import_object, names_code, parse_call
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.errors import InvalidParameterError

WIDTH = 100  # points of false alarm that are looked at together
BUDGET = 10_000  # points in which one look is allowed
NORMAL = 0.01  # share of the normal points that may be alarmed
# Thresholds that are tried on labelled series: scores as they are, and shares of the points.
LEVELS = np.arange(101) / 100
PERCENT = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100]
SHARES = np.array(PERCENT) / 100


class Outcomes(NamedTuple):
    """What happens without an alarm, and then at every distinct score, the highest first."""

    thresholds: Floats
    alarmed: Index  # points
    hits: Index  # anomalous points
    load: Index  # of false alarms, in looks
    found: Index  # events
    late: Floats  # sum over events of the relative delay, 1 for a missed one
    events: int
    judged: int  # points
    anomalous: int

    @property
    def within(self) -> int:
        """The place of the lowest threshold before the load first exceeds what is allowed."""
        over = self.load > -(-self.judged // BUDGET)
        return int(np.argmax(over)) - 1 if over.any() else len(over) - 1


@shared
def outcomes(data: Scoring) -> Outcomes:
    """Lower the threshold from above all scores to below, and count; points without a score never alarm."""
    labels, skipped, quiet = data.truth.mask.astype(np.uint8), data.setting.ignored, data.setting.quiet
    if skipped is not None:
        labels[skipped] = 2
    points = data.descending if quiet is None else data.descending[~quiet[data.descending["position"]]]
    order, scores = np.ascontiguousarray(points["position"], np.int64), points["score"]
    seen = np.add.reduceat(labels == 1, data.events.starts) > 0  # events of which a point is judged
    starts, lengths = data.events.starts[seen], data.events.lengths[seen]
    load, found, late = kernel.falling(order, labels, starts, lengths, WIDTH)
    last = np.append(np.flatnonzero(scores[1:] != scores[:-1]), len(scores) - 1)  # of each group of equal scores
    hits = np.cumsum(labels[order] == 1)[last]
    alarmed, hits, load, found = (np.append(0, one) for one in (last + 1, hits, load[last], found[last]))
    late, judged, anomalous = np.append(len(starts), late[last]), int((labels != 2).sum()), int((labels == 1).sum())
    thresholds = np.append(np.inf, scores[last])
    return Outcomes(thresholds, alarmed, hits, load, found, late, len(starts), judged, anomalous)


def candidates(data: Scoring, low: float, high: float) -> Index:
    """Return the places among `outcomes` of all thresholds that are tried: from low to high, never, and by shares."""
    known = outcomes(data)
    values = [data.in_own_type(float(v)) for v in low + (high - low) * LEVELS]
    below = np.searchsorted(-known.thresholds, -np.append(values, np.inf), side="right") - 1
    shares = np.searchsorted(known.alarmed, SHARES * known.judged + 1e-9, side="right") - 1
    return np.append(below, shares)


def _events(known: Outcomes) -> Floats:
    return np.atleast_1d(known.found[known.within] / known.events)


def _early(known: Outcomes) -> Floats:
    return np.atleast_1d(1 - known.late[known.within] / known.events)


def _costs(known: Outcomes, *, missed: float = 10.0, false_alarm: float = 1.0) -> Floats:
    cost = missed * (known.events - known.found) + false_alarm * known.load
    return np.asarray(1 - np.minimum(2, cost / (missed * known.events)))


def _points(known: Outcomes) -> Floats:
    return np.asarray(2 * known.hits / (known.anomalous + known.alarmed))


def _rare(known: Outcomes) -> Floats:
    allowed = known.alarmed - known.hits <= NORMAL * (known.judged - known.anomalous)
    return np.atleast_1d(known.hits[allowed].max() / known.anomalous)


Own = Callable[[Scoring, Bools], float]


@dataclass(frozen=True)
class Criterion:
    """What a detector is worth on a series, higher is better: one number, or one for every threshold.

    Where there is one for every threshold, the threshold is chosen on other series than those that are judged. `kin`
    are metrics that ask nearly the same.
    """

    name: str
    summary: str
    function: Callable[[Outcomes], Floats]
    kin: tuple[str, ...] = ()
    version: str = "r2"  # r1: other shares were tried
    own: Own | None = None

    def curve(self, data: Scoring, low: float = 0.0, high: float = 1.0) -> Floats:
        """Compute the number, or those at all thresholds that are tried."""
        if self.own is None:
            values = self.function(outcomes(data))
            return values if len(values) == 1 else values[candidates(data, low, high)]
        at, quiet = candidates(data, low, high), data.setting.quiet
        places, back = np.unique(at, return_inverse=True)
        alarms = (data.scores >= v for v in outcomes(data).thresholds[places])
        return np.array([self.own(data, a if quiet is None else a & ~quiet) for a in alarms], np.float64)[back]


CRITERIA: Registry[Criterion] = Registry(
    "criterion",
    records=(
        Criterion("events", "events found at one look per 10,000 points", _events, ("event_recall", "ears")),
        Criterion(
            "early",
            "how early they are found there",
            _early,
            ("detection_delay", "early_detection_score", "adtqc", "nab_score", "ears"),
        ),
        Criterion("costs", "costs, a missed event 10 looks", _costs, ("expected_cost", "event_f1")),
        Criterion("points", "point-wise F1", _points, ("f1", "best_f1", "mcc", "precision_at_k")),
        Criterion(
            "rare", "anomalous points at 1 % of the normal ones", _rare, ("auc_roc", "range_auc_roc", "precision_at_k")
        ),
    ),
)
COSTS = {"missed": Number(0, open_low=True), "false_alarm": Number(0)}
AnyCriterion = str | Criterion | Own


def find_criterion(given: AnyCriterion) -> Criterion:
    """Return a criterion by name, with costs ("costs(missed=50, false_alarm=2)"), or from a function of the caller.

    >>> find_criterion("costs(missed=50)").name
    'costs(missed=50)'
    """
    if isinstance(given, Criterion):
        return given
    if callable(given) or names_code(given):
        own = given if callable(given) else import_object(given, "criterion")
        return Criterion(str(getattr(given, "__name__", given)), "your own", _points, own=own)
    name, positional, options = parse_call(given)
    known = CRITERIA[name]
    if positional or (options and name != "costs") or not options.keys() <= COSTS.keys():
        raise InvalidParameterError(
            f"cannot read criterion {given!r}: only costs(missed=10, false_alarm=1) has options"
        )
    check_parameters("costs", dict(COSTS), options)
    return replace(known, name=given, function=partial(_costs, **options)) if options else known


def find_criteria(given: Any) -> tuple[Criterion, ...]:
    """Return several criteria; None are those of the library."""
    if given is None:
        return tuple(CRITERIA.values())
    some = [given] if isinstance(given, (str, Criterion)) or callable(given) else list(given)
    return tuple(find_criterion(one) for one in some)
