"""Series of a report as the page draws them: their clock, values and ignored points; notes on what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tsadeval.comparison.comparison import Comparison
from tsadeval.core.arrays import numbers_with_gaps
from tsadeval.core.inputs import Bools, Floats, LabelRuns, Scoring, label_runs
from tsadeval.core.messages import named
from tsadeval.core.times import Times
from tsadeval.errors import InvalidInputError
from tsadeval.scores.scored import NO_SCORE, LeftOut, Scored
from tsadeval.scores.scores import Scores, SeriesScores
from tsadeval.scores.scoring import ignored_points

COLUMNS = 8  # of a series, at most


@dataclass(frozen=True, eq=False)
class ScoringView:
    """One scoring as the metrics see it: without its first and last points where these have no score."""

    scoring: Scoring
    given: Floats  # the scores as they came, NaN where one is missing
    offset: int  # points without a score before the first one that has one
    missing: int

    @classmethod
    def of(cls, one: Scored) -> ScoringView:
        """Take what is drawn of a scoring."""
        given = numbers_with_gaps(one.given.y_score, "y_score", "a one-dimensional sequence of numbers")
        scores = np.asarray(given, np.float64)
        cut = int(np.argmin(np.isnan(scores))) if one.scoring.n < len(scores) else 0
        return cls(one.scoring, scores, cut, one.missing)


@dataclass(frozen=True, eq=False)
class SeriesView:
    """One series: its labels, scorings by detector, and what else is known of it."""

    name: str
    labels: LabelRuns
    detectors: Mapping[str, ScoringView]
    values: Mapping[str, Floats]
    times: Times | None
    ignored: Bools | None  # points that are not judged, of all that have a label

    @property
    def n(self) -> int:
        """Number of points."""
        return self.labels.n

    @classmethod
    def of(cls, series: SeriesScores, value_name: str = "") -> SeriesView:
        """Take what is drawn of a series."""
        labels = label_runs(series.y_true, "y_true")
        ignore = next(iter(series.detectors.values())).given.ignore
        values = {value_name: series.values} if value_name and series.values is not None else series.values
        return cls(
            series.name,
            labels,
            {name: ScoringView.of(one) for name, one in series.detectors.items()},
            checked_values(values, labels.n, series.name),
            series.times,
            None if ignore is None else ignored_points(ignore, labels.n, series.times)[0],
        )


def notes_of(scores: Scores, series: Sequence[SeriesView], compared: Comparison) -> list[str]:
    """Say what a reader has to know before any number: what is not on the page, and what stands for it."""
    missing = compared.missing
    detectors = list(dict.fromkeys(name for one in series for name in one.detectors))
    names = {one.name for one in series}
    found = [
        f"Left out: {one}"
        for one in (LeftOut(**row) for row in scores.left_out.rows)
        if one.reason != NO_SCORE or one.detector not in detectors or one.series not in names  # else named below
    ]
    for name in detectors:
        gone = [one.name for one in series if name not in one.detectors]
        if gone:
            how = "its worst rival's value stands there" if missing == "worst" else "its mean is over the others"
            found.append(f"{name} has no scores on {len(gone)} of {len(series)} series ({named(gone)}): {how}.")
        counts = {one.name: one.detectors[name].missing for one in series if name in one.detectors}
        how = "were left out" if missing in ("skip", "ignore") else "count as lower than all others"
        found += _counted(f"{name}: {{}} without a score {how}{{}}.", counts)
    ignored = {one.name: one.ignored for one in series if one.ignored is not None}
    idle = [name or "the series" for name, points in ignored.items() if not points.any()]
    found += [f"No point of {named(idle)} lies in the spans of time to ignore."] if idle else []
    unseen = sum(map(_count_unseen, series))
    events = f", and with them {unseen} whole event{'s' * (unseen != 1)}" if unseen else ""
    counts = {name: int(np.count_nonzero(points)) for name, points in ignored.items()}
    found += _counted(f"{{}} that were to be ignored are not judged{events}{{}}.", counts)
    for what, label in (("anomalous", 1), ("normal", 0)):
        without = [one.name or "the series" for one in series if not one.labels.has(label)]
        verb = "has" if len(without) == 1 else "have"
        found += [f"{named(without)} {verb} no {what} point: most metrics have no value there."] if without else []
    return found


def _count_unseen(one: SeriesView) -> int:
    """Count the events all of whose points are ignored."""
    judged = np.append(0, np.cumsum(np.ones(one.n, np.bool_) if one.ignored is None else ~one.ignored))
    return int(np.count_nonzero(judged[one.labels.events.stops] == judged[one.labels.events.starts]))


def _counted(text: str, counts: Mapping[str, int]) -> list[str]:
    """Complete a sentence about points with their number and the series they are of; none where there are none."""
    known = {name: count for name, count in counts.items() if count}
    total = sum(known.values())
    where = f" ({named([f'{name}: {count:,}' for name, count in known.items()])})" if any(known) else ""
    return [text.format(f"{total:,} point{'s' * (total != 1)}", where)] if known else []


def checked_values(values: Any, n: int, series: str) -> dict[str, Floats]:
    """Return the columns of a series by name, at most eight of them."""
    columns = {} if values is None else values if isinstance(values, Mapping) else {"": values}
    found: dict[str, Floats] = {}
    for name, given in columns.items():
        what = f"series {series!r}: " * bool(series) + (f"values {str(name)!r}" if name else "values")
        try:
            array = np.asarray(given, np.float64)
        except (TypeError, ValueError, RuntimeError) as error:
            reason = str(error).partition("\n")[0]
            raise InvalidInputError(f"{what} must be numbers, one column or several, to be drawn ({reason})") from None
        if array.shape[:1] != (n,) or array.ndim > (1 if name else 2):
            raise InvalidInputError(
                f"{what} must be one column or several with a number for each of {n} points, "
                f"found an array of shape {array.shape}"
            )
        several = array.reshape(n, -1).T
        names = [f"column {i}" for i in range(len(several))] if len(several) > 1 else [str(name) or "series"]
        found |= zip(names, several, strict=True)
    return dict(list(found.items())[:COLUMNS])
