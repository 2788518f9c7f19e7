"""EARS, the event alarm-rarity skill: how rarely false alarms reach each event's level; its table of events.

With D twice the median length of the events (`tolerance`), e the `floor` and a the exponent `earliness`:

    weight of a normal point   min(1, distance to the nearest event / D), scaled to sum 1
    F_w(x)                     weight of the normal points whose largest score over themselves and the w points before
                               them in the same normal run is at least x; those that equal x count half
    r(x)                       mean over w in {0, D} of log((1 + e) / (F_w(x) + e)) / log((1 + e) / e)
    E_k                        sum over the points i = 1..L of event k of ((i / L)^a - ((i - 1) / L)^a) r(score of i)
    B                          weighted mean of r over the normal points

EARS = (mean of E_k - B) / (1 - B).
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import tsadeval.metrics._kernels.ears as kernel
from tsadeval.core.binning import levels_of
from tsadeval.core.define import score_metric, takes_scores
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.metric import missing
from tsadeval.core.order import descending
from tsadeval.core.parameters import Check, Number
from tsadeval.core.results import Grid, Result, Row
from tsadeval.errors import warn_undefined

__all__ = ["EARSBreakdown"]

CHECKS: dict[str, Check] = {
    "tolerance": Number(0, integer=True, none=True),
    "floor": Number(1e-9, 1),
    "earliness": Number(0, 1, open_low=True),
}
NEEDS = frozenset({"anomaly", "normal"})

_WHOLE, _REAL = ("start", "stop", "length"), ("rarity", "share", "lost")
EVENT_COLUMNS = np.dtype([(name, np.int64) for name in _WHOLE] + [(name, np.float64) for name in _REAL])
FALSE_ALARM_COLUMNS = np.dtype([("position", np.int64), ("score", np.float64), ("charge", np.float64)])


def _tolerance(data: Scoring, given: int | None) -> int:
    """Points; beyond the length of the series all values are alike."""
    return min(int(2 * np.median(data.events.lengths)) if given is None else int(given), data.n)


class _Weighed(NamedTuple):
    """Changes of the points' weights, mean rarity of the events and of the normal points, and `count` levels."""

    changes: NDArray[Any]
    full: int
    seen: float
    base: float
    levels: NDArray[Any]

    @property
    def score(self) -> float:
        return (self.seen - self.base) / (1 - self.base)


def _weigh(data: Scoring, tolerance: int | None, floor: float, earliness: float, count: int = 0) -> _Weighed:
    truth, width = data.truth, _tolerance(data, tolerance)
    full, levels = max(width, 1), np.empty(count, kernel.LEVEL)
    changes = kernel.changes(data.raw, truth.starts, truth.counts, truth.first, width, width, earliness)
    scores = kernel.scores_of(changes, data.raw)
    changes = kernel.put_in_order(descending(scores), changes, scores)
    seen, base = kernel.totals(data.sorted, scores, changes, full, floor, levels)
    return _Weighed(changes, full, seen / len(data.events), base, levels)


@score_metric(
    label="EARS",
    range=(-0.2606, 1.0),
    summary="How rare, among false alarms, the score level is at which each event is seen, and how early in it.",
    references=("The tsadeval developers, the hard suite of RankEval (docs/ears.md)",),
    checks=CHECKS,
    properties={"affine", "monotone"},
    needs=NEEDS,
    sets={"recommended"},
)
def ears(data: Scoring, *, tolerance: int | None = None, floor: float = 0.01, earliness: float = 0.5) -> float:
    """Event alarm-rarity skill: how rarely false alarms reach the level at which each event is seen.

    A point of an event earns the logarithm of how rarely normal points reach its score, on their own or by the largest
    score of the last `tolerance` points (so that a burst of alarms counts about once). Early points of an event
    count more, events count alike, and normal points near an event count less. The mean over events is measured from
    that of the normal points themselves.

    A perfect detector gets 1, constant scores 0, random scores about 0 whatever the labels. The worst possible value is
    -0.26: an inverted detector is not much worse than an uninformative one. Only the order of the scores matters.

    Parameters
    ----------
    tolerance : int, optional
        In points: false alarms nearer than this to an event cost less, and alarms within so many points of each other
        count about as one. None is twice the median length of the events.
    floor : float, default=0.01
        The share of normal points below which rarer false alarms hardly matter.
    earliness : float, default=0.5
        The first i of the L points of an event have the weight (i / L) ** earliness; 1 turns it off.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0]
    >>> te.ears(y_true, y_true)
    1.0
    >>> round(te.ears(y_true, [0.1, 0.2, 0.1, 0.9, 0.7, 0.3, 0.1, 0.8, 0.2, 0.4, 0.1, 0.2]), 6)
    0.520343
    """
    return _weigh(data, tolerance, floor, earliness).score


@takes_scores(CHECKS)
def ears_breakdown(
    data: Scoring, *, tolerance: int | None = None, floor: float = 0.01, earliness: float = 0.5
) -> "EARSBreakdown":
    """EARS explained: what each event adds to it, and which false alarms cost most. Options as for `ears`.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0]
    >>> b = te.ears_breakdown(y_true, [0.1, 0.2, 0.1, 0.9, 0.7, 0.3, 0.1, 0.8, 0.2, 0.4, 0.1, 0.2])
    >>> [round(share, 6) for share in b.events["share"].tolist()]
    [0.391338, 0.129005]
    >>> round(b.score, 6)
    0.520343
    >>> b.false_alarms["position"][:2].tolist()
    [7, 8]
    """
    width = _tolerance(data, tolerance) if data.truth.has(1) else 0
    starts, stops = data.events.starts, data.events.stops
    events = np.zeros(len(starts), EVENT_COLUMNS)
    events["start"], events["stop"], events["length"] = starts, stops, stops - starts
    lacking = missing(NEEDS, data)
    if lacking is not None:
        warn_undefined("ears", lacking.text)
        for column in _REAL:
            events[column] = math.nan
        nothing = np.zeros(0, FALSE_ALARM_COLUMNS)
        return EARSBreakdown(math.nan, math.nan, math.nan, width, events, nothing)
    distinct = data.levels[0]
    found = _weigh(data, tolerance, floor, earliness, len(distinct))
    weights = kernel.spread(found.changes, data.n, found.full)
    # No place is beyond the levels: another thread may have written to the scores.
    places = np.minimum(levels_of(data.scores, distinct), len(distinct) - 1)
    events["rarity"] = np.add.reduceat(
        np.append(weights["earliness"] * found.levels["rarity"][places], 0.0), np.column_stack([starts, stops]).ravel()
    )[::2]
    skill = len(events) * (1 - found.base)
    events["share"] = (events["rarity"] - found.base) / skill
    events["lost"] = (1 - events["rarity"]) / skill
    error = float(np.std(events["share"], ddof=1) * math.sqrt(len(events))) if len(events) > 1 else math.nan
    # The normal points, those first that cost most.
    worth = 1 / skill, -(1 - found.seen) / (1 - found.base) ** 2
    charge: Floats = kernel.charges(places, weights, found.levels, floor, *worth)
    normal = np.flatnonzero(~data.truth.mask)
    order = normal[np.argsort(-charge[normal], kind="stable")]
    alarms = np.zeros(len(order), FALSE_ALARM_COLUMNS)
    alarms["position"], alarms["score"], alarms["charge"] = order, data.scores[order], charge[order]
    return EARSBreakdown(found.score, error, found.base, width, events, alarms)


@dataclass(frozen=True, eq=False, repr=False)
class EARSBreakdown(Result):
    """EARS and where it comes from: a row per event.

    Attributes
    ----------
    score : float
        EARS.
    standard_error : float
        Of the score, with the events as a random sample of all events there might be: the standard deviation of what
        they add. The false alarms are taken as they are. NaN with one event only.
    base : float
        The mean rarity of the normal points, from which the events are measured.
    tolerance : int
        The tolerance in points.
    events : numpy structured array
        A row per event: start, stop, length; `rarity`, the mean rarity of the levels it reaches, from 0 to 1; `share`,
        what it adds to the score (the shares sum to it); `lost`, what it would add besides if it were perfect (shares
        and losses sum to 1).
    false_alarms : numpy structured array
        A row per normal point, those that cost most first: position, score and `charge`, which estimates by how much
        the score would rise if this point scored lowest of all. The estimate is of first order: close for one point
        of many, too low for one of very few, too high where another alarm is close by and would take its place.
        Charges of several points do not add up.
    """

    score: float
    standard_error: float
    base: float
    tolerance: int
    events: NDArray[Any]
    false_alarms: NDArray[Any]

    def worst(self, n: int | None = None) -> NDArray[Any]:
        """Return the events that cost the score most, worst first: all or n of them."""
        return self.events[np.argsort(-self.events["lost"], kind="stable")][:n]

    @property
    def rows(self) -> list[Row]:
        """The events as plain dicts, in the order of time."""
        names = self.events.dtype.names or ()
        return [dict(zip(names, event, strict=True)) for event in self.events.tolist()]

    def _grids(self) -> list[tuple[str, Grid]]:
        worst, alarms = self.worst(5), self.false_alarms[:5]
        about: Grid = [["EARS", "standard error", "base", "tolerance"]]
        about.append([self.score, self.standard_error, self.base, self.tolerance])
        return [
            ("", about),
            (
                f"the {len(worst)} of {len(self.events)} events that cost most",
                [list(EVENT_COLUMNS.names or ()), *(list(row) for row in worst.tolist())],
            ),
            (
                f"the {len(alarms)} normal points that cost most (estimates)",
                [list(FALSE_ALARM_COLUMNS.names or ()), *(list(row) for row in alarms.tolist())],
            ),
        ]
