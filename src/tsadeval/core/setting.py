"""Setting of a series: time stamps, ignored points and other scores beside labels and scores; its period."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np

from tsadeval.core.arrays import read_array
from tsadeval.core.durations import span_size, unit_size
from tsadeval.core.events import Bools, Floats, Index
from tsadeval.core.facts import Reason
from tsadeval.core.times import Times
from tsadeval.errors import InvalidInputError, UndefinedError, hint

# What scores that are NaN mean, by the same words wherever `missing=` is an option.
Missing = Literal["error", "skip", "ignore", "no alarm", "worst"]
MISSING: tuple[Missing, ...] = get_args(Missing)


@dataclass(frozen=True, eq=False)
class Setting:
    """All of it is optional; metrics ask for what they need."""

    times: Times | None = None
    ignored: Bools | None = None  # points that are not judged
    fit: Floats | None = None  # scores of another part, from which rules take their threshold
    values: Any = None  # the series that was scored
    weights: Index | None = None  # time that each point stands for, of points whose stamps are gone
    # Metrics of scores that cannot leave out points see the others put together, instead of being undefined.
    joined: bool = False
    unknown: Bools | None = None  # points without a score, which counts as lower than all others: they never alarm
    unseen_events: int = 0  # events of which no point is judged
    idle_spans: int = 0  # number of spans of ignore=, where none of them has a point inside
    dropped: int = 0  # points that were left out since they have no score
    unscored: int = 0  # of the points that are not judged, those that are so only since they have no score

    @cached_property
    def period(self) -> int:
        """The period of the series that was scored."""
        if self.values is None:
            raise UndefinedError(
                "window='period' needs the series: "
                + hint("pass values= to te.evaluate, or window=te.period(values)", "name its column with --values")
            )
        return period(self.values)

    def positions(self, span: float | str, n: int) -> tuple[float, Index]:
        """Return a distance, and where the n points begin and the last one ends, in the same unit.

        Both in points for a number and for "points", in nanoseconds for a duration or a unit, which need time stamps.
        """
        size = span_size(span)
        if size is None:
            return 1.0 if span == "points" else float(span), np.arange(n + 1)
        return size, self.clock.edges

    @property
    def clock(self) -> Times:
        """The time stamps, which some options need."""
        if self.times is None:
            how = hint("pass times= to te.evaluate", "name their column with --time")
            raise UndefinedError(f"an option is a time, so it needs time stamps: {how}", Reason.NEEDS_TIMES)
        return self.times

    def stretches(self, span: float | str, n: int) -> tuple[float, Index, Index]:
        """Return a distance as `positions` does, and where what is known of each of the n points begins and ends."""
        size, edges = self.positions(span, n)
        timed = span_size(span) is not None
        return size, edges[:-1], self.clock.ends if timed else edges[1:]

    def elapsed(self, unit: str, begins: Index, ends: Index, *, observed: bool = False) -> tuple[float, Index]:
        """How much a unit is, and how long it is from some points to others, measured the same way.

        That is the time between two moments; or only what was `observed` of it, without gaps.
        """
        if unit == "points":
            return 1.0, ends - begins  # without a position for every point, of which a stream may have very many
        edges = self.clock.observed if observed else self.clock.edges
        return float(unit_size(unit)), edges[ends] - edges[begins]

    @property
    def shares(self) -> Index | None:
        """The time that each point stands for, where time stamps are known."""
        return self.weights if self.times is None else self.times.durations

    @cached_property
    def skipped(self) -> int:
        """Number of points that are not judged."""
        return 0 if self.ignored is None else int(np.count_nonzero(self.ignored))

    @cached_property
    def quiet(self) -> Bools | None:
        """The points that never alarm, whatever the threshold: without a score, or not judged."""
        both = [mask for mask in (self.ignored, self.unknown) if mask is not None]
        return np.logical_or.reduce(both) if both else None

    def at_points(self, judged: Bools) -> Self:
        """Return that of some points, put together: their stamps are gone, but not how long they last."""
        weights = None if self.shares is None else self.shares[judged]
        unknown = None if self.unknown is None else self.unknown[judged]
        return replace(self, times=None, ignored=None, weights=weights, unknown=unknown)


PLAIN = Setting()


def is_spans(ignore: Any) -> bool:
    """Return True if `ignore` holds intervals of time and is not a mask with a value for each point."""
    if isinstance(ignore, (str, Path, Mapping)) or hasattr(ignore, "columns"):
        return True
    if isinstance(ignore, np.ndarray):
        return ignore.ndim == 2 and ignore.shape[1] == 2
    return isinstance(ignore, (list, tuple)) and all(isinstance(one, (list, tuple)) and len(one) == 2 for one in ignore)


_POINTS, _LAGS, _FIRST, _LAST, _DEFAULT = 20_000, 400, 3, 300, 125


def period(values: Any) -> int:
    """Estimate the period of a series in points by its autocorrelation: the rule by which TSB-AD chooses windows.

    Of the lags from 3 to 400 in the first 20,000 points, those with a larger autocorrelation than both neighbours are
    looked at, and the one with the largest is the period, if it lies between 6 and 303; else, and where there is none,
    the answer is 125. Equals `find_length_rank(data, rank=1)` of TSB-AD.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, channels)
        The series itself, not its scores; of several channels the first counts.

    Returns
    -------
    int
        The period.

    Examples
    --------
    >>> import numpy as np
    >>> import tsadeval as te
    >>> te.period(np.sin(2 * np.pi * np.arange(1000) / 50))
    50
    """
    array = read_array(values, "values", "the numbers of a series")
    if array.ndim == 2 and array.shape[1] > 0:
        array = array[:, 0]
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "biuf":
        raise InvalidInputError(f"values must be a series of numbers, but has shape {array.shape}, dtype {array.dtype}")
    series = array[:_POINTS].astype(np.float64)
    if not np.isfinite(series).all():
        raise InvalidInputError(f"values must be finite, but row {int(np.argmin(np.isfinite(series)))} is not")
    centered = series - series.mean()
    # Products of all pairs of points, by way of a Fourier transform that is long enough to hold them apart.
    size = 1 << (2 * len(centered)).bit_length()
    spectrum = np.fft.rfft(centered, size)
    correlation = np.fft.irfft(spectrum * spectrum.conj(), size)[: min(_LAGS, len(centered) - 1) + 1]
    if correlation[0] <= 0:
        return _DEFAULT
    later = (correlation / correlation[0])[_FIRST:]
    peaks = np.flatnonzero((later[1:-1] > later[:-2]) & (later[1:-1] > later[2:])) + 1
    if len(peaks) == 0:
        return _DEFAULT
    found = int(peaks[np.argmax(later[peaks])])
    return found + _FIRST if _FIRST <= found <= _LAST else _DEFAULT
