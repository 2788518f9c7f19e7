"""Series of a report: the scorings by series, judged as by `te.compare`, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.comparison.compare import by_series
from tsadeval.comparison.comparison import Run
from tsadeval.core.arrays import numbers_with_gaps
from tsadeval.core.inputs import Bools, Floats, LabelRuns, Scoring, label_runs
from tsadeval.core.setting import Missing
from tsadeval.core.times import Times, read_times
from tsadeval.errors import InvalidInputError
from tsadeval.scores.scoring import has_dates, ignored_points, observe

COLUMNS = 8  # of a series, at most
NO_SCORE = "no point has a score"
EARLIEST = 100_000_000  # seconds since 1970 (March 1973): smaller numbers are no dates

Settings = Mapping[tuple[str, str], Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class Judged:
    """One scoring as the metrics see it: without its first and last points where these have no score."""

    scoring: Scoring
    given: Floats  # the scores as they came, NaN where one is missing
    place: int  # of the scores in the series
    cut: int  # points without a score before the first one that has one
    missing: int

    @property
    def offset(self) -> int:
        """Where the first point that is judged is in the series."""
        return self.place + self.cut


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


@dataclass
class SeriesInput:
    """One series: its labels, scorings by detector, and what else is known of it."""

    name: str
    labels: LabelRuns
    detectors: dict[str, Judged] = field(default_factory=dict)
    values: dict[str, Floats] = field(default_factory=dict)
    clock: Clock | None = None
    ignored: Bools | None = None  # points that are not judged, of all that have a label

    @property
    def n(self) -> int:
        """Number of points."""
        return self.labels.n


@dataclass
class Inputs:
    """All series, and what a reader has to know of them, one line for each kind of remark."""

    series: list[SeriesInput]
    detectors: list[str]
    notes: list[str]


def read_inputs(
    runs: Iterable[Run],
    missing: Missing,
    values: Any = None,
    times: Any = None,
    ignore: Any = None,
    settings: Settings | None = None,
) -> Inputs:
    """Check all scorings; one that cannot be evaluated is left out and named.

    `settings` are those of a comparison: what `te.compare` was given beside labels and scores, by series and detector.
    """
    entries = list(runs)
    count = len({name for name, *_ in entries})
    series: dict[str, SeriesInput] = {}
    stamps: dict[str, Times] = {}
    left_out: list[tuple[str, str, str]] = []
    detectors: dict[str, None] = {}
    first: InvalidInputError | None = None
    not_judged = by_series("ignore", ignore, {name for name, *_ in entries})
    for name, detector, labels, scores in entries:
        setting = dict((settings or {}).get((name, detector), {}))
        given = _of_series(times, name, count)
        when = setting.get("times") if given is None else given
        if when is None and has_dates(labels):
            when = labels.index
        if when is not None:
            setting["times"] = read_times(when, n=np.size(labels), name=_in(name) + "times")
        if ignore is not None:
            setting["ignore"] = not_judged(name)
        try:
            truth = label_runs(labels, "y_true")
            one = _judged(labels, scores, missing, setting)
        except InvalidInputError as error:
            if missing == "error":
                raise InvalidInputError(f"{_who(detector, name)}: {error}") from None
            first = first or error
            left_out.append((detector, name, str(error)))
            continue
        known = series.setdefault(name, SeriesInput(name, truth))
        if detector in known.detectors:
            raise InvalidInputError(f"there are two scorings of detector {detector!r}{_on(name)}: rename one")
        _place(known, detector, one, truth)
        detectors[detector] = None
        if when is not None and len(setting["times"]) == known.n:
            stamps[name] = setting["times"]
        if setting.get("ignore") is not None and truth.n == known.n:
            known.ignored = ignored_points(setting["ignore"], truth.n, setting.get("times"))[0]
    if not series:
        raise first or InvalidInputError("scores is empty: there is nothing to report")
    if missing == "error":
        _refuse_gaps(series, detectors)
    for name, known in series.items():
        known.values = checked_values(_of_series(values, name, len(series)), known.n, name)
        if name in stamps:
            known.clock = _clock(stamps[name])
    return Inputs(list(series.values()), list(detectors), _notes(series, list(detectors), left_out, missing))


def _who(detector: str, series: str) -> str:
    return f"{detector}{_on(series)}"


def _on(series: str) -> str:
    return f" on series {series!r}" if series else ""


def _in(series: str) -> str:
    return f"series {series!r}: " if series else ""


def _judged(labels: Any, scores: Any, missing: Missing, setting: dict[str, Any]) -> Judged:
    """A scoring exactly as a comparison with the same `missing` judges it."""
    given = numbers_with_gaps(scores, "y_score", "a one-dimensional sequence of numbers")
    # What is no number, the check of the scores refuses.
    given = np.asarray(given, np.float64) if given.dtype.kind in "biuf" else np.empty(0)
    lost = np.isnan(given)
    if missing != "error" and lost.size == np.size(labels) and lost.all():
        raise InvalidInputError(NO_SCORE)
    scoring = observe(labels, scores, missing=missing, **setting)
    cut = int(np.argmin(lost)) if scoring.n < len(given) else 0
    return Judged(scoring, given, 0, cut, int(np.count_nonzero(lost)))


def _place(known: SeriesInput, detector: str, one: Judged, truth: LabelRuns) -> None:
    """Put a scoring into its series. Detectors may lack the first points of it; the others must have its labels."""
    other = next(iter(known.detectors), detector)
    shorter, longer = sorted((truth, known.labels), key=lambda labels: labels.n)
    more = longer.n - shorter.n
    if shorter is not longer and not np.array_equal(shorter.mask, longer.mask[more:]):
        raise InvalidInputError(
            f"detectors {other!r} and {detector!r} have different labels{_on(known.name)}: "
            "all scorings of a series need the same rows in the same order, with NaN where there is no score; "
            "different series need different names"
        )
    if truth is longer:
        known.detectors = {name: replace(before, place=before.place + more) for name, before in known.detectors.items()}
        known.labels = truth
        more = 0
    known.detectors[detector] = replace(one, place=more)


def _refuse_gaps(series: Mapping[str, SeriesInput], detectors: Iterable[str]) -> None:
    for name in detectors:
        for one in series.values():
            if name not in one.detectors:
                raise InvalidInputError(
                    f'detector {name!r} has no scores{_on(one.name)}: complete them, or choose missing="skip"'
                )


SHOWN = 6  # names in a remark; of more, how many there are


def _listed(names: Sequence[str]) -> str:
    rest = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + rest


def _notes(
    series: Mapping[str, SeriesInput],
    detectors: Sequence[str],
    left_out: Sequence[tuple[str, str, str]],
    missing: Missing,
) -> list[str]:
    """What a reader has to know before any number: what is not on the page, and what stands for it."""
    found = [
        f"Left out: {_who(detector, name)}: {error}"
        for detector, name, error in left_out
        if error != NO_SCORE or detector not in detectors or name not in series  # else it is named below
    ]
    for name in detectors:
        gone = [one.name for one in series.values() if name not in one.detectors]
        if gone:
            how = "its worst rival's value stands there" if missing == "worst" else "its mean is over the others"
            found.append(f"{name} has no scores on {len(gone)} of {len(series)} series ({_listed(gone)}): {how}.")
        lost = {one.name: one.detectors[name].missing for one in series.values() if name in one.detectors}
        lost = {where: count for where, count in lost.items() if count}
        if lost:
            total = sum(lost.values())
            where = f" ({_listed([f'{key}: {count:,}' for key, count in lost.items()])})" if any(lost) else ""
            how = "were left out" if missing in ("skip", "ignore") else "count as lower than all others"
            found.append(f"{name}: {total:,} point{'s' * (total != 1)} without a score {how}{where}.")
    found += _ignored(list(series.values()))
    for what, label in (("anomalous", 1), ("normal", 0)):
        without = [one.name or "the series" for one in series.values() if not one.labels.has(label)]
        if without:
            verb = "has" if len(without) == 1 else "have"
            found.append(f"{_listed(without)} {verb} no {what} point: most metrics have no value there.")
    return found


def _ignored(series: Sequence[SeriesInput]) -> list[str]:
    """How many points are not judged, in one line."""
    counts = {one.name: int(np.count_nonzero(one.ignored)) for one in series if one.ignored is not None}
    if not counts:
        return []
    idle = [name or "the series" for name, count in counts.items() if not count]
    counts = {name: count for name, count in counts.items() if count}
    found = [f"No point of {_listed(idle)} lies in the spans of time to ignore."] if idle else []
    if counts:
        total = sum(counts.values())
        unseen = sum(_unseen(one) for one in series)
        events = f", and with them {unseen} whole event{'s' * (unseen != 1)}" if unseen else ""
        where = f" ({_listed([f'{name}: {count:,}' for name, count in counts.items()])})" if any(counts) else ""
        found.append(f"{total:,} point{'s' * (total != 1)} that were to be ignored are not judged{events}{where}.")
    return found


def _unseen(one: SeriesInput) -> int:
    """Number of events all of whose points are ignored."""
    if one.ignored is None:
        return 0
    events, judged = one.labels.events, np.append(0, np.cumsum(~one.ignored))
    return int(np.count_nonzero(judged[events.stops] == judged[events.starts]))


def _of_series(given: Any, name: str, count: int) -> Any:
    """What was given for one series of many, or for the only one."""
    if given is None:
        return None
    if isinstance(given, Mapping) and name in given:
        return given[name]
    if count == 1:
        return given
    if not isinstance(given, Mapping):
        raise InvalidInputError(
            "values and times must be mappings from series, such as {'a': [...]}, where there are several series"
        )
    return None


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
