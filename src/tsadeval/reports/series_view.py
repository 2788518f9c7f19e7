"""Series of a report as the page draws them: their clock, values and ignored points; notes on what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.comparison.comparison import Comparison
from tsadeval.core.arrays import numbers_with_gaps
from tsadeval.core.inputs import Bools, Floats, LabelRuns, Scoring, label_runs
from tsadeval.core.times import Times
from tsadeval.errors import InvalidInputError
from tsadeval.scores.scored import NO_SCORE, LeftOut, Scored
from tsadeval.scores.scores import Scores, SeriesScores
from tsadeval.scores.scoring import ignored_points

COLUMNS = 8  # of a series, at most
EARLIEST = 100_000_000  # seconds since 1970 (March 1973): smaller numbers are no dates


@dataclass(frozen=True, eq=False)
class ScoringView:
    """One scoring as the metrics see it: without its first and last points where these have no score."""

    scoring: Scoring
    given: Floats  # the scores as they came, NaN where one is missing
    offset: int  # points without a score before the first one that has one
    missing: int

    @classmethod
    def of(cls, one: Scored) -> ScoringView:
        """What is drawn of a scoring."""
        given = numbers_with_gaps(one.given.y_score, "y_score", "a one-dimensional sequence of numbers")
        scores = np.asarray(given, np.float64)
        cut = int(np.argmin(np.isnan(scores))) if one.scoring.n < len(scores) else 0
        return cls(one.scoring, scores, cut, one.missing)


@dataclass(frozen=True, eq=False)
class Clock:
    """The time stamps of a series as a page shows them.

    `kind` is "dates" (of no time zone, or of `zone`) or "numbers", whose unit is `unit` nanoseconds; `step` is the
    median time between two stamps.
    """

    stamps: NDArray[np.int64]
    kind: str
    zone: str
    unit: int
    step: int


@dataclass(frozen=True, eq=False)
class SeriesView:
    """One series: its labels, scorings by detector, and what else is known of it."""

    name: str
    labels: LabelRuns
    detectors: Mapping[str, ScoringView]
    values: Mapping[str, Floats]
    clock: Clock | None
    ignored: Bools | None  # points that are not judged, of all that have a label

    @property
    def n(self) -> int:
        """Number of points."""
        return self.labels.n

    @property
    def unseen_events(self) -> int:
        """Number of events all of whose points are ignored."""
        if self.ignored is None:
            return 0
        events, judged = self.labels.events, np.append(0, np.cumsum(~self.ignored))
        return int(np.count_nonzero(judged[events.stops] == judged[events.starts]))

    @classmethod
    def of(cls, series: SeriesScores, value_name: str = "") -> SeriesView:
        """What is drawn of a series."""
        labels = label_runs(series.y_true, "y_true")
        ignore = next(iter(series.detectors.values())).given.ignore
        values = {value_name: series.values} if value_name and series.values is not None else series.values
        return cls(
            series.name,
            labels,
            {name: ScoringView.of(one) for name, one in series.detectors.items()},
            checked_values(values, labels.n, series.name),
            None if series.times is None else _clock(series.times),
            None if ignore is None else ignored_points(ignore, labels.n, series.times)[0],
        )


def _in(series: str) -> str:
    return f"series {series!r}: " if series else ""


SHOWN = 6  # names in a remark; of more, how many there are


def _listed(names: Sequence[str]) -> str:
    rest = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + rest


def notes_of(scores: Scores, series: Sequence[SeriesView], compared: Comparison) -> list[str]:
    """What a reader has to know before any number: what is not on the page, and what stands for it."""
    missing = compared.missing
    lost = [LeftOut(**row) for row in scores.left_out.rows]
    detectors = list(dict.fromkeys(name for one in series for name in one.detectors))
    names = {one.name for one in series}
    found = [
        f"Left out: {one}"
        for one in lost
        if one.reason != NO_SCORE or one.detector not in detectors or one.series not in names  # else named below
    ]
    for name in detectors:
        gone = [one.name for one in series if name not in one.detectors]
        if gone:
            how = "its worst rival's value stands there" if missing == "worst" else "its mean is over the others"
            found.append(f"{name} has no scores on {len(gone)} of {len(series)} series ({_listed(gone)}): {how}.")
        counts = {one.name: one.detectors[name].missing for one in series if name in one.detectors}
        how = "were left out" if missing in ("skip", "ignore") else "count as lower than all others"
        found += _counted(f"{name}: {{}} without a score {how}{{}}.", counts)
    idle = [one.name or "the series" for one in series if one.ignored is not None and not one.ignored.any()]
    found += [f"No point of {_listed(idle)} lies in the spans of time to ignore."] if idle else []
    unseen = sum(one.unseen_events for one in series)
    events = f", and with them {unseen} whole event{'s' * (unseen != 1)}" if unseen else ""
    counts = {one.name: int(np.count_nonzero(one.ignored)) for one in series if one.ignored is not None}
    found += _counted(f"{{}} that were to be ignored are not judged{events}{{}}.", counts)
    for what, label in (("anomalous", 1), ("normal", 0)):
        without = [one.name or "the series" for one in series if not one.labels.has(label)]
        if without:
            verb = "has" if len(without) == 1 else "have"
            found.append(f"{_listed(without)} {verb} no {what} point: most metrics have no value there.")
    return found


def _counted(text: str, counts: Mapping[str, int]) -> list[str]:
    """A sentence about points, with their number and the series they are of; nothing where there are none."""
    known = {name: count for name, count in counts.items() if count}
    if not known:
        return []
    total = sum(known.values())
    where = f" ({_listed([f'{name}: {count:,}' for name, count in known.items()])})" if any(known) else ""
    return [text.format(f"{total:,} point{'s' * (total != 1)}", where)]


def _clock(found: Times) -> Clock:
    """Stamps to show: in the time zone that they came with, or in UTC where only an offset is known."""
    zone = (found.zone or "UTC") if found.kind == "dates with a time zone" else ""
    small = found.kind == "numbers" and abs(int(found.stamps[-1])) < EARLIEST * 1_000_000_000
    return Clock(found.stamps, "numbers" if small else "dates", zone, found.unit, found.step)


def _floats(values: Any, name: str) -> Floats:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise InvalidInputError(f"{name} must be numbers, one column or several, to be drawn ({reason})") from None


def checked_values(values: Any, n: int, series: str) -> dict[str, Floats]:
    """The columns of a series by name, at most eight of them."""
    if values is None:
        return {}
    if isinstance(values, Mapping):
        columns = {str(name): _floats(column, f"{_in(series)}values {name!r}") for name, column in values.items()}
    else:
        array = _floats(values, f"{_in(series)}values")
        if array.ndim not in (1, 2):
            raise InvalidInputError(
                f"{_in(series)}values must be one column or several, found an array of shape {array.shape}"
            )
        array = array[:, None] if array.ndim == 1 else array
        names = ["series"] if array.shape[1] == 1 else [f"column {i}" for i in range(array.shape[1])]
        columns = dict(zip(names, array.T, strict=True))
    for name, column in columns.items():
        if column.shape != (n,):
            raise InvalidInputError(f"{_in(series)}values {name!r} has shape {column.shape}, but there are {n} points")
    return dict(list(columns.items())[:COLUMNS])
