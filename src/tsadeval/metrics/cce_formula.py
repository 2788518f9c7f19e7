"""CCE, the confidence-consistency evaluation: its value from moments of events, and what each event adds to it.

An event is a maximal run of equal labels. With scores scaled to [0, 1], an event of mean m and uncertainty U has

    confidence  m - tau (anomalous) or 1 - tau - m (normal),   consistency  exp(-U),   score  their product.

CCE = w_e * mean over anomaly events + (1 - w_e) * mean over normal events
    + w_g * all anomalous points as one event + (1 - w_g) * all normal points as one event.

The paper's alpha (the weight) and eta are `event_weight` (w_e) and `global_weight` (w_g) here; its alpha and
beta of the Beta distribution keep their names.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import tsadeval.metrics._kernels.cce as kernel
from tsadeval.core.define import score_metric, takes_scores
from tsadeval.core.inputs import Floats, Index, Scoring, label_runs
from tsadeval.core.moments import RunMoments
from tsadeval.core.parameters import CCE_CHECKS, CCE_ROBUST_POWER, CCEOptions
from tsadeval.core.results import Grid, Result, Row
from tsadeval.errors import InvalidInputError, InvalidParameterError, warn_undefined


def _ranks(data: Scoring) -> Floats:
    """Average ranks from 0 to 1."""
    points = data.descending
    scores = points["score"]
    first = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    counts = np.diff(first, append=data.n)
    ranks = np.empty(data.n)
    ranks[points["position"]] = np.repeat(data.n - 1 - first - (counts - 1) / 2, counts)
    return ranks / max(data.n - 1, 1)


def _clipped(data: Scoring, quantiles: tuple[float, float]) -> Floats:
    scores = data.scores
    # Halves cannot overflow when the extremes of the range of floats are subtracted.
    low, high = np.quantile(scores / 2, quantiles)
    if low == high:
        return np.full(data.n, 0.5)
    return np.asarray((np.clip(scores / 2, low, high) - low) / (high - low))


def _prepared(options: CCEOptions, data: Scoring) -> Scoring:
    """Return checked data, normalised where that needs all scores at once."""
    if options.normalize == "rank":
        data = Scoring.of(data.truth.labels, _ranks(data))
    elif options.normalize == "robust":
        data = Scoring.of(data.truth.labels, _ranks(data) ** CCE_ROBUST_POWER)
    elif options.normalize == "quantile":
        data = Scoring.of(data.truth.labels, _clipped(data, options.quantiles))
    elif options.normalize is None and (data.low < 0 or data.high > 1):
        raise InvalidInputError(
            f"y_score must lie in [0, 1] when normalize=None, but ranges from {data.low:g} to {data.high:g}; "
            'pass probabilities, or use normalize="minmax"'
        )
    return data


def event_moments(options: CCEOptions, data: Scoring) -> RunMoments:
    """Return the runs of checked data, normalised first where that needs all scores at once."""
    return RunMoments.of(_prepared(options, data))


def unit_moments(options: CCEOptions, runs: RunMoments) -> tuple[Floats, Floats]:
    """Means and variances of the scaled scores of every run."""
    if options.normalize == "published":
        return runs.rescaled(added=1e-8)
    return runs.rescaled() if options.normalize in ("minmax", "robust") else runs.unscaled()


class ClassParts(NamedTuple):
    """One class: mean score of its events; score, mean and variance of all its points as one event."""

    event: float
    global_: float
    mean: float
    variance: float


def combined(options: CCEOptions, normal: ClassParts, anomaly: ClassParts) -> tuple[float, float]:
    """Return the two terms of the score: of events, and of all points of a class."""
    return (
        options.event_weight * anomaly.event + (1 - options.event_weight) * normal.event,
        options.global_weight * anomaly.global_ + (1 - options.global_weight) * normal.global_,
    )


def score_of(options: CCEOptions, runs: RunMoments) -> float:
    """CCE of scanned (or streamed) runs; NaN where a class is missing."""
    parts = kernel.parts(runs.counts, *unit_moments(options, runs), runs.first_label, *options.formula)
    return sum(combined(options, *(ClassParts(*part) for part in parts)))


def unit_scores(options: CCEOptions, series: Sequence[Scoring]) -> Iterator[Floats]:
    """Scores of every series in [0, 1], as the option says of all of them together."""
    if options.normalize in ("minmax", "published"):  # the range of all is known without putting them together
        parts: Iterable[Floats] = (data.scores for data in series)
        ranges = [(data.low, data.high) for data in series]
        low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
    else:
        joined = [
            np.concatenate(part) for part in zip(*((data.truth.mask, data.scores) for data in series), strict=True)
        ]
        together = _prepared(options, Scoring.of(*joined))
        parts = np.split(together.scores, np.cumsum([data.n for data in series[:-1]]))
        low, high = (together.low, together.high) if options.normalize == "robust" else (0.0, 1.0)
    width = high - low + (1e-8 if options.normalize == "published" else 0.0)
    for scores in parts:
        yield np.full(len(scores), 0.5) if width == 0 else np.asarray((scores - low) / width)


def _pooled(series: Sequence[Scoring], **given: Any) -> float:
    """CCE of several series: scores are normalised together, and no event runs from one series into the next."""
    options = CCEOptions(**given)
    columns = zip(*runs_of(options, series), strict=True)
    anomalous, counts, means, variances = (np.concatenate(column) for column in columns)
    classes = (anomalous == label for label in (0, 1))
    return sum(
        combined(options, *(part_of(options, counts[c], means[c], variances[c], k) for k, c in enumerate(classes)))
    )


def runs_of(options: CCEOptions, series: Sequence[Scoring]) -> Iterator[tuple[Index, Index, Floats, Floats]]:
    """Compute labels, counts, means and variances of the runs of each series, whose scores are normalised together."""
    for data, scores in zip(series, unit_scores(options, series), strict=True):
        starts, counts = data.truth.starts, data.truth.counts
        means = np.add.reduceat(scores, starts) / counts
        variances = np.add.reduceat((scores - np.repeat(means, counts)) ** 2, starts) / counts
        yield data.truth.mask[starts].astype(np.int64), counts, means, variances


def part_of(options: CCEOptions, counts: Index, means: Floats, variances: Floats, label: int) -> ClassParts:
    """Compute what the runs of one class have of the score."""
    if not len(counts):
        return ClassParts(math.nan, math.nan, math.nan, math.nan)
    # The kernel takes runs whose labels alternate: each of one class gets a run of the other beside it.
    columns = (np.repeat(column, 2) for column in (counts, means, variances))
    return ClassParts(*kernel.parts(*columns, label, *options.formula)[label])


@score_metric(
    label="CCE",
    range=(-1.0, 1.0),
    summary="Confidence times consistency of the scores in every event, at event level and globally.",
    references=(
        "Zhong et al., CCE: Confidence-Consistency Evaluation for Time Series Anomaly Detection, arXiv 2509.01098, "
        "2025",
    ),
    like=CCEOptions,
    checks=CCE_CHECKS,
    properties={"affine", "mirror", "symmetric"},
    needs={"anomaly", "normal"},
    sets={"paper"},
    pool=_pooled,
    stream="moments",
)
def cce(data: Scoring, /, **given: Any) -> float:
    """Confidence-consistency evaluation of anomaly scores.

    A perfect detector gets 1, its inverse -1, and uninformative scores about 0 (for `tau=0.5`; in general
    the range is [-2 tau, 2 (1 - tau)], and [0, 2 (1 - tau)] when constrained).

    Parameters
    ----------
    tau : float, default=0.5
        Confidence threshold: an anomaly event is rewarded for a mean score above tau, a normal one for a
        mean below 1 - tau.
    constrained : bool, default=False
        Clip negative confidences at 0, as the paper's first definition does. Its numbers are of its second, without.
    event_weight, global_weight : float, default=0.5
        Weight of anomaly against normal events, at event level and globally.
    normalize : {"minmax", "robust", "rank", "quantile", "published", None}, default="minmax"
        How scores become numbers in [0, 1]. "minmax" is the paper's, and one outlier squashes all other
        scores; "quantile" clips at two quantiles first; "rank" uses average ranks, so that only the order
        of scores matters; "robust" uses the eighth power of the rank (the chance to score higher than eight points
        taken at random), scaled to [0, 1]: like "rank", but upper scores matter most and binary scores that are
        perfect get 1. Use it where scores have outliers or detectors differ in scale. None takes scores that are
        probabilities already. "published" adds 1e-8 to the range, as the published code does: only to compare with its
        numbers, since it makes the scale of scores matter.
    quantiles : pair of float, default=(0.001, 0.999)
        Where to clip with `normalize="quantile"`. Keep the upper one above 1 minus the share of anomalies.
    uncertainty : {"beta", "pointwise", "scaled"}, default="beta"
        "beta" is the paper's text (the variance of the event's scores); "pointwise" is what its tables were
        made with; "scaled" is what its five-model table was made with. See the errata page.
    gamma : float, default=10.0
        The scale of "pointwise" and "scaled".

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 1, 0]
    >>> te.cce(y_true, y_true)
    1.0
    >>> round(te.cce(y_true, [0.1, 0.2, 0.1, 0.9, 0.7, 0.3, 0.1, 0.2, 0.1]), 6)
    0.490885
    """
    options = CCEOptions(**given)
    return score_of(options, event_moments(options, data))


__all__ = ["CCEBreakdown"]

_NEEDS_BOTH = "CCE compares the two classes, so y_true needs both normal (0) and anomalous (1) points"

_WHOLE = ("start", "stop", "label", "length")
_REAL = ("mean", "variance", "alpha", "beta", "uncertainty", "confidence", "consistency", "score", "share", "lost")
EVENT_COLUMNS = np.dtype([(name, np.int64) for name in _WHOLE] + [(name, np.float64) for name in _REAL])


@takes_scores(like=cce)
def cce_breakdown(data: Scoring, /, **given: Any) -> "CCEBreakdown":
    """CCE explained: its parts, and a table with a row per event.

    Examples
    --------
    >>> import tsadeval as te
    >>> b = te.cce_breakdown([0, 0, 0, 1, 1, 0, 0, 1, 0], [0.1, 0.2, 0.1, 0.9, 0.7, 0.3, 0.1, 0.2, 0.1])
    >>> round(b.score, 6)
    0.490885
    >>> worst = b.worst(1)[0]
    >>> int(worst["start"]), int(worst["stop"]), int(worst["label"]), round(float(worst["mean"]), 3)
    (7, 8, 1, 0.125)
    """
    options = CCEOptions(**given)
    return explain(options, event_moments(options, data))


def explain(options: CCEOptions, runs: RunMoments) -> "CCEBreakdown":
    """Explain the CCE of scanned (or streamed) runs."""
    starts = np.cumsum(runs.counts) - runs.counts
    return _explain_events(options, starts, runs.labels(), runs.counts, *unit_moments(options, runs))


def explain_gaps(scoring: Scoring) -> "CCEBreakdown":
    """Explain CCE, with its default options, where points between others are not judged: no event runs over a gap.

    `score` is what `cce` gives for the same scoring.
    """
    options, ignored, pieces = CCEOptions(), scoring.setting.ignored, scoring.pieces
    judged = label_runs(np.ones(scoring.n, np.bool_) if ignored is None else ~ignored, "ignore").events
    both = zip(judged.starts.tolist(), pieces, runs_of(options, pieces), strict=True)
    parts = ((piece.truth.starts + first, *found) for first, piece, found in both)
    return _explain_events(options, *(np.concatenate(column) for column in zip(*parts, strict=True)))


def _explain_events(
    options: CCEOptions,
    starts: NDArray[Any],
    labels: NDArray[Any],
    lengths: NDArray[Any],
    means: NDArray[Any],
    variances: NDArray[Any],
) -> "CCEBreakdown":
    """Explain events by their places, labels, lengths, and the means and variances of their scores."""
    events, parts = np.zeros(len(starts), EVENT_COLUMNS), []
    events["start"], events["stop"], events["label"], events["length"] = starts, starts + lengths, labels, lengths
    events["mean"], events["variance"] = means, variances
    for label in (0, 1):
        mine = events[events["label"] == label]
        part = part_of(options, mine["length"], mine["mean"], mine["variance"], label)
        columns = kernel.judge_events(
            np.repeat(mine["mean"], 2), np.repeat(mine["variance"], 2), label, *options.formula
        )
        for name, column in zip(("alpha", "beta", "uncertainty", "confidence", "score"), columns, strict=True):
            mine[name] = column[::2]
        mine["consistency"] = np.exp(-mine["uncertainty"])
        mine["share"], mine["lost"] = event_shares(options, part, mine, label) if len(mine) else (math.nan, math.nan)
        events[events["label"] == label] = mine
        parts.append(part)
    normal, anomaly = parts
    event, global_ = combined(options, normal, anomaly)
    if math.isnan(event + global_):
        warn_undefined("cce", _NEEDS_BOTH)
        events["share"] = events["lost"] = math.nan
    return CCEBreakdown(
        score=event + global_,
        event=event,
        global_=global_,
        anomaly_event=anomaly.event,
        normal_event=normal.event,
        anomaly_global=anomaly.global_,
        normal_global=normal.global_,
        events=events,
        options=options,
    )


def event_shares(options: CCEOptions, part: ClassParts, events: NDArray[np.void], label: int) -> tuple[Floats, Floats]:
    """Return what each event of a class adds to CCE, and what it could have added beyond that.

    At event level an event counts for its score over the number of events. The pooled event's confidence is
    the mean over points, so there each event counts for its points; the consistency is common to all.
    """
    event_weight, global_weight = options.event_weight, options.global_weight
    if label == 0:
        event_weight, global_weight = 1 - event_weight, 1 - global_weight
    of_events = event_weight / len(events)
    of_points = global_weight * events["length"] / events["length"].sum()
    confidence = events["mean"] - options.tau if label == 1 else 1 - options.tau - events["mean"]
    pooled = part.mean - options.tau if label == 1 else 1 - options.tau - part.mean
    # Clipping, where it applies, leaves nothing of the pooled event to share out.
    consistency = part.global_ / pooled if pooled != 0 else 0.0
    share = of_events * events["score"] + of_points * confidence * consistency
    return share, (of_events + of_points) * (1 - options.tau) - share


@dataclass(frozen=True, eq=False, repr=False)
class CCEBreakdown(Result):
    """CCE and where it comes from: a row per event.

    Attributes
    ----------
    score, event, global_ : float
        CCE and its two halves: `score == event + global_`.
    anomaly_event, normal_event : float
        Mean score over the anomaly events and over the normal ones.
    anomaly_global, normal_global : float
        Score of all anomalous points as one event, and of all normal points.
    events : numpy structured array
        A row per event: start, stop, label, length; mean and variance of its scaled scores; alpha and beta
        of its Beta distribution; uncertainty, confidence, consistency and score; `share`, what it adds to
        CCE (the shares add up to the score); `lost`, what it would add besides if it were perfect.
    """

    score: float
    event: float
    global_: float
    anomaly_event: float
    normal_event: float
    anomaly_global: float
    normal_global: float
    events: NDArray[np.void]
    options: CCEOptions

    def worst(self, n: int | None = None, *, label: int | None = None) -> NDArray[np.void]:
        """Return the events that cost the score most, worst first: all or n of them, of both classes or of one."""
        if label not in (None, 0, 1):
            raise InvalidParameterError(f"worst: label must be 0, 1 or None, but is {label!r}")
        events = self.events if label is None else self.events[self.events["label"] == label]
        return events[np.argsort(-events["lost"], kind="stable")][:n]

    @property
    def rows(self) -> list[Row]:
        """The events as plain dicts, in the order of time."""
        names = self.events.dtype.names or ()
        return [dict(zip(names, event, strict=True)) for event in self.events.tolist()]

    def _grids(self) -> list[tuple[str, Grid]]:
        counts = [int((self.events["label"] == label).sum()) for label in (1, 0)]
        parts: Grid = [
            ["", f"anomaly ({counts[0]})", f"normal ({counts[1]})", "weighted"],
            ["event", self.anomaly_event, self.normal_event, self.event],
            ["global", self.anomaly_global, self.normal_global, self.global_],
        ]
        columns = ["start", "stop", "label", "mean", "confidence", "consistency", "score", "share", "lost"]
        worst = self.worst(5)
        rows: Grid = [columns, *([row[c].item() for c in columns] for row in worst)]
        return [
            (f"CCE {self.score:.4f}", parts),
            (f"the {len(worst)} of {len(self.events)} events that cost most", rows),
        ]
