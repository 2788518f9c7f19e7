"""Scores: whatever people bring, as one collection of scorings by series and detector."""

import hashlib
import os
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from typing import Any, NamedTuple, Self, Unpack

import numpy as np

from tsadeval.core.facts import grouped
from tsadeval.core.names import did_you_mean
from tsadeval.core.results import Result
from tsadeval.core.setting import Missing
from tsadeval.core.times import Times, read_moments
from tsadeval.errors import InputWarning, InvalidInputError, InvalidParameterError, UnknownNameError, warn
from tsadeval.scores.forms import Once, Shards, Source, find_shards
from tsadeval.scores.options import SCORE, Options, Reading
from tsadeval.scores.scored import NO_SCORE, Given, Known, LeftOut, Scored, causes, different
from tsadeval.scores.tabular import two_scorings
from tsadeval.tables.files import file_digest, skipped_stores

# What a collection takes and gives: other packages find it here.
__all__ = ["NO_SCORE", "SCORE", "LeftOut", "Reading", "Scored", "Scores", "SeriesScores", "as_scores", "causes"]

_FILES = 8  # of more, printing does not read them

Change = Callable[[Given | LeftOut], Given | LeftOut | None]


class SeriesScores(NamedTuple):
    """One series: its labels and time stamps, and its scorings by detector."""

    name: str
    y_true: Any
    times: Times | None
    values: Any
    detectors: dict[str, Scored]


class Scores:
    """A collection of scorings, one for each pair of series and detector, made once from whatever there is.

    Everything that judges more than one pair of arrays takes a `Scores`, or the same arguments. It is never changed,
    and reads files when it is asked for their scorings, each time anew.

    Parameters
    ----------
    source : array, mapping, frame, path, iterable or result
        Scores beside `y_true` (an array; detector to array; a frame with a column per detector; detector to
        {series: array}; detector to a fitted model, with `X`). A table (pandas, polars, Arrow, a mapping of columns, a
        file, pattern, folder or several: csv, Parquet, npz and others), long or with a column of scores for each
        detector. Tuples (series, detector, y_true, y_score). The store of `te.detect`, or a result.
    y_true : array, mapping, path or frame, optional
        The labels; by series where there are several. A file, folder or table of labels elsewhere is joined by the
        names of the series (columns of `by`, or the names of files), and by time stamps where both have them.
    X : array or mapping, optional
        The series that fitted models are asked for scores of; by series where there are several.
    label, score : str, default="label" and "score"
        Of a table: the columns of labels and of scores; of these several, or a pattern such as "lof_*".
    by : str or several
        Of a table: the columns that tell series and detectors apart; "file" and "folder" are those of the files.
    detector : str, optional
        Which of `by` names the detector; by default one that is called so ("detector", "model", ...).
    time : str, array or mapping, optional
        Time stamps: the column of a table, an array for one series, a mapping from series. By default the index of a
        frame or of labels, where it has dates.
    tz : str, optional
        The time zone of stamps without one, such as "Europe/Berlin": of scores, incidents and ignored spans alike.
        Offsets and zones that they have themselves hold. The hour that comes twice where clocks go back is told by the
        order of the rows.
    values : str, array or mapping, optional
        The series that was scored, in the same forms.
    incidents : path, table, pairs or mapping, optional
        Intervals of time that are the labels, as `te.labels` takes them; a column names the series of each. What
        reaches beyond the data is cut, what overlaps is joined, and both are counted.
    ignore : mask, path, table, pairs or mapping, optional
        Points or intervals of time that are not judged.
    fit : path, mapping or array, optional
        Scores of another part, from which rules without labels take their threshold: detector, or (series, detector),
        to scores; or a file, folder or table with the same columns.
    missing : {"skip", "error", "ignore", "no alarm", "worst"}, default="skip"
        What to do with points without a score, as for `te.evaluate`.
    one_series, shared : bool, default=False
        Rows are one series whatever their columns suggest; intervals hold for all series whatever theirs do.
    strict : bool, default=False
        Raise where something cannot be used, instead of leaving it out.
    max_bytes : number, optional
        Bytes that a file may take once unpacked.

    Examples
    --------
    >>> import tsadeval as te
    >>> scores = te.Scores({"lof": [0.1, 0.9, 0.4, None], "pca": [1, 2, 3, 4]}, [0, 1, 1, 0])
    >>> scores
    1 series, 2 detectors (lof, pca), 4 points
    labels: 1 event
    missing: 1 score of lof
    >>> [(one.detector, one.scoring.n) for one in scores]
    [('lof', 3), ('pca', 4)]
    >>> te.compare(scores, metrics="auc_roc").table()["pca"]["auc_roc"]
    0.5
    """

    def __init__(self, source: Any, y_true: Any = None, *, X: Any = None, **reading: Unpack[Reading]) -> None:
        self._source = Source(source, y_true, X, Options.of(reading))
        self._changes: tuple[Change, ...] = ()
        self._shards: Shards = find_shards(self._source)

    @property
    def options(self) -> Options:
        """The options it is read with."""
        return self._source.options

    def with_options(self, **reading: Unpack[Reading]) -> Self:
        """Return the same scores, read with some other options."""
        if not reading:
            return self
        source = self._source._replace(options=Options.of(reading, self.options))
        if isinstance(source.scores, Iterator):  # which was read into a list
            source = source._replace(scores=self._shards.shards[0].entries)
        return self._with(_source=source, _shards=find_shards(source))

    def _with(self, **changed: Any) -> Self:
        found = object.__new__(type(self))
        found.__dict__.update({"_source": self._source, "_shards": self._shards, "_changes": self._changes, **changed})
        return found

    @property
    def missing(self) -> Missing:
        """What is done with points without a score."""
        return self.options.missing

    @property
    def value_column(self) -> str:
        """What the series itself is called where a column of a table has it; "" elsewhere."""
        return self.options.values if isinstance(self.options.values, str) else ""

    # Reading.

    def read(self, *, together: bool = True) -> Iterator[Scored | LeftOut]:
        """Every scoring, and in its place what cannot be used; each time from the source.

        All detectors of a series must have the same labels and time stamps, and something must be usable, unless they
        are not judged `together`. What is known of them is then remembered, so that nothing is read again for it.
        """
        known = Known()
        seen: dict[tuple[str, str], str] = {}
        truths: dict[str, tuple[str, bytes]] = {}
        found: Iterator[Given | LeftOut] = self._read_shards(together=together)
        for change in self._changes:
            found = filter(None, map(change, found))
        for one in found:
            name = one.series, one.detector
            if any(name):
                if name in seen:
                    raise two_scorings(*name, seen[name], one.place)
                seen[name] = one.place
            scored = one if isinstance(one, LeftOut) else one.scored(self.missing)
            if isinstance(scored, LeftOut):
                if self.options.strict or (self.missing == "error" and scored.detector):
                    raise InvalidInputError(str(scored))
            elif together:
                digest = _truth(scored.given)
                other, first = truths.setdefault(one.series, (one.detector, digest))
                if digest != first:
                    raise different(one.series, other, one.detector)
            known.add(scored)
            yield scored
        if self._shards.columns is not None:
            self._shards.columns.check()
        if together:
            known.check()
            self.__dict__.setdefault("_summary", known)

    def _read_shards(self, *, together: bool) -> Iterator[Given | LeftOut]:
        """Read the shards, together those that are known to have the same series."""
        keys = (shard if shard.series is None or not together else shard.series for shard in self.shards)
        for shards in grouped(zip(keys, self.shards, strict=True)).values():
            if len(shards) == 1:
                yield from shards[0].read()
            else:
                yield from self._shards.companions.join(chain.from_iterable(shard.parts() for shard in shards))

    def __iter__(self) -> Iterator[Scored]:
        return (one for one in self.read() if isinstance(one, Scored))

    def by_series(self) -> Iterator[SeriesScores]:
        """All detectors of each series together."""
        for name, found in grouped((one.series, one) for one in self).items():
            first = found[0].given
            yield SeriesScores(name, first.y_true, first.times, first.values, {one.detector: one for one in found})

    @cached_property
    def repeatable(self) -> bool:
        """True if the scorings can be read more than once."""
        return not any(isinstance(getattr(shard, "entries", None), Once) for shard in self._shards.shards)

    # What is known of it.

    @cached_property
    def _summary(self) -> "Known":
        deque(self.read(), maxlen=0)
        found: Known = self.__dict__["_summary"]
        return found

    @property
    def series(self) -> list[str]:
        """The names of the series, in order of appearance."""
        return list(self._summary.series)

    @property
    def detectors(self) -> list[str]:
        """The names of the detectors, in order of appearance."""
        return list(self._summary.detectors)

    @property
    def facts(self) -> Result:
        """A row per series: points, events, anomalous and ignored points, and times where there are some."""
        return Result(list(self._summary.series.values()))

    @property
    def left_out(self) -> Result:
        """A row for what could not be used: series, detector, file and the reason."""
        names = ("series", "detector", "place", "reason")
        return Result([{name: getattr(one, name) for name in names} for one in self.lost])

    @property
    def lost(self) -> list[LeftOut]:
        """What could not be used, as it was read."""
        return self._summary.left_out

    @property
    def notes(self) -> list[str]:
        """How incidents and files were read, and what did not fit, a line each."""
        return self.said(whole=all(one.series for one in self.lost))

    def said(self, *, whole: bool = True) -> list[str]:
        """Return how incidents and files were read so far; with `whole` also what was never asked for."""
        skipped = skipped_stores(self.stores)
        return [*[skipped] * bool(skipped), *self._shards.companions.notes(whole=whole)]

    @property
    def stores(self) -> frozenset[str]:
        """Folders in which tsadeval keeps results, which were left out."""
        return self._shards.stores

    @property
    def shards(self) -> list[Any]:
        """What is read at once, each: a table, a file, or arrays in memory."""
        return self._shards.shards

    @property
    def given(self) -> Any:
        """What it was made from."""
        return self._source.scores

    @property
    def files(self) -> list[str]:
        """The files that the scores are in."""
        return [shard.source for shard in self._shards.shards if isinstance(getattr(shard, "source", None), str)]

    def checksums(self) -> dict[str, str]:
        """SHA-256 of every file, with a word where it could not be used."""
        unused = {one.place for one in self._summary.left_out if not one.series}
        return {
            path: file_digest(path) + ", not used" * (path in unused) for path in filter(os.path.isfile, self.files)
        }

    def __len__(self) -> int:
        return self._summary.count

    def __repr__(self) -> str:
        if "_summary" not in self.__dict__:
            if not self.repeatable:
                return "scorings of an iterator, not read yet"
            if len(self._shards.shards) > _FILES:
                return f"{len(self._shards.shards)} files, not read yet: what is in them is said once they are"
        return "\n".join([*self._summary.lines(), *self.notes])

    # Parts of it.

    def _then(self, change: Change) -> Self:
        return self._with(_changes=(*self._changes, change))

    def _check_names(self, what: str, given: Iterable[str] | None) -> list[str] | None:
        """Return a list of names, after a check that they are here; an iterator is not read for it."""
        if given is None:
            return None
        names = [given] if isinstance(given, str) else list(given)
        asked = [name for name in names if name and self.repeatable]  # "" is a series without a name
        known = list(filter(None, self._summary.names[what])) if asked else []
        for name in asked:
            if name not in known:
                raise UnknownNameError(f"no {what} {name!r} here: {did_you_mean(str(name), known)}")
        return names

    def __getitem__(self, series: str) -> Self:
        return self.select(series=[series])

    def select(self, *, series: Iterable[str] | None = None, detectors: Iterable[str] | None = None) -> Self:
        """Return the scorings of some series, of some detectors, or both; names that are not here are refused."""
        wanted = {"series": self._check_names("series", series), "detector": self._check_names("detector", detectors)}
        return self._then(
            partial(_select, wanted={what: {*names} for what, names in wanted.items() if names is not None})
        )

    def rename(self, *, series: Mapping[str, str] | None = None, detectors: Mapping[str, str] | None = None) -> Self:
        """Return the same with other names; those that are not named stay, and those that are not here are refused."""
        names = {"series": series or {}, "detector": detectors or {}}
        for what, given in names.items():
            self._check_names(what, given)
        return self._then(partial(_rename, names=names))

    def split(
        self, *, share: float | None = None, at: Any = None, series: Iterable[str] | None = None
    ) -> tuple[Self, Self]:
        """Two parts: before and after a share of the points of each series or a moment, or these series and the others.

        Scores of the first part can choose a threshold for the second.
        """
        if [share, at, series].count(None) != 2:
            raise InvalidParameterError("split takes one of share=, at= and series=")
        if series is not None:
            first = self.select(series=series)
            names = self._check_names("series", series) or []
            return first, self.select(series=[one for one in self.series if one not in names])
        if share is not None and not 0 < share < 1:
            raise InvalidParameterError(f"share must be between 0 and 1, but is {share!r}")
        early, late = (self._then(partial(_part, share=share, at=at, first=first)) for first in (True, False))
        return early, late

    def left_out_lines(self) -> list[str]:
        """Return what was left out, but for detectors without any score, a line for each reason."""
        return causes([one for one in self._summary.left_out if one.reason != NO_SCORE])

    def warn(self) -> None:
        """Warn of what was left out."""
        for line in self.left_out_lines():
            warn(f"left out: {line}", InputWarning)


def as_scores(source: Any, y_true: Any = None, *, X: Any = None, **reading: Unpack[Reading]) -> Scores:
    """Return a `Scores`, read with these options; of anything else the `Scores` that it makes."""
    found = source if isinstance(source, Scores) else getattr(source, "source", None)
    if not isinstance(found, Scores):
        return Scores(source, y_true, X=X, **reading)
    if y_true is not None or X is not None:
        raise InvalidParameterError("scores is a te.Scores already: give y_true and X to te.Scores instead")
    return found.with_options(**reading)


def _truth(given: Given) -> bytes:
    """Return a digest of the labels and time stamps of a series."""
    digest = hashlib.sha256((np.asarray(given.y_true) != 0).tobytes())
    digest.update(b"" if given.times is None else given.times.stamps.tobytes())
    return digest.digest()


def _select(one: Given | LeftOut, wanted: Mapping[str, Container[str]]) -> Given | LeftOut | None:
    return one if all(getattr(one, what) in names for what, names in wanted.items()) else None


def _rename(one: Given | LeftOut, names: Mapping[str, Mapping[str, str]]) -> Given | LeftOut:
    series, detector = (own.get(getattr(one, what), getattr(one, what)) for what, own in names.items())
    if isinstance(one, LeftOut):
        return one._replace(series=series, detector=detector)
    return replace(one, series=series, detector=detector)


def _part(one: Given | LeftOut, share: float | None, at: Any, *, first: bool) -> Given | LeftOut:
    if isinstance(one, LeftOut):
        return one
    n = np.size(one.y_true)
    if share is not None:
        before = np.arange(n) < round(share * n)
    elif one.times is None:
        return one.left_out("at= is a moment, and there are no time stamps")
    else:
        before = one.times.stamps < read_moments([at], one.times, "at")[0]
    mask = before if first else ~before
    return one.at_points(mask) if mask.any() else one.left_out("no point of it is in this part")
