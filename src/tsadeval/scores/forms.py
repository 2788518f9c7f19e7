"""Forms in which people bring scores: how each is recognised, and the shards it becomes.

A shard is what is read at once: a table, a file, or arrays in memory. A new form is one record in `FORMS`; a new kind
of file is a record in `tables.reading` and comes in by itself.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from tsadeval.core.names import did_you_mean, printable
from tsadeval.core.times import read_times
from tsadeval.detectors.estimators import family_of, fitted_scores
from tsadeval.errors import InvalidInputError
from tsadeval.scores.cache import all_scores
from tsadeval.scores.companions import Companions, PerSeries, Spans, is_spans_source, needs_times
from tsadeval.scores.options import SCORE, Options
from tsadeval.scores.scored import Given, LeftOut, align, name_of
from tsadeval.scores.scoring import has_dates
from tsadeval.scores.tabular import ScoreColumns, TableShard, two_scorings
from tsadeval.tables.files import FoundFile, find_files, skipped_stores
from tsadeval.tables.reading import is_table_file, read_table
from tsadeval.tables.sources import STDIN

_SETTING = ("times", "ignore", "fit", "values")
Entry = tuple[str, str, Any, Any, Mapping[str, Any]]  # series, detector, labels, scores, and what is known besides


class Shard(Protocol):
    """What is read at once."""

    def read(self) -> Iterator[Given | LeftOut]:
        """All scorings of it, each time anew."""
        ...


class Source(NamedTuple):
    """What `te.Scores` was given."""

    scores: Any
    y_true: Any
    X: Any
    options: Options


class Shards(NamedTuple):
    """What it became: the shards, what belongs to all of them, and what is to be said of how it was read."""

    shards: list[Any]
    companions: Companions
    columns: ScoreColumns | None = None
    stores: frozenset[str] = frozenset()  # folders in which tsadeval keeps results, which were left out


class Form(NamedTuple):
    """One form of scores."""

    takes: str
    matches: Callable[[Source], bool]
    shards: Callable[[Source], Shards]


def find_shards(source: Source) -> Shards:
    """Return the shards of the first form that matches."""
    options = source.options
    if isinstance(source.y_true, str) and not _is_file(source.y_true):
        source = source._replace(options=replace(options, label=source.y_true), y_true=None)
    for form in FORMS:
        if form.matches(source):
            return form.shards(source)
    known = "; ".join(form.takes for form in FORMS)
    raise InvalidInputError(f"expected {known}; found {type(source.scores).__name__}")


# Arrays in memory.


@dataclass(frozen=True, eq=False)
class ArrayShard:
    """Arrays of series and detectors; an iterator of them is read once, each entry by itself."""

    entries: Iterable[Entry]
    options: Options
    companions: Companions

    def read(self) -> Iterator[Given | LeftOut]:
        """All scorings, with the detectors of a series on the same points."""
        groups: dict[str, list[Entry]] = {}
        if not isinstance(self.entries, list):
            lookups = self._lookups(())
            for entry in self.entries:
                yield from self._series([entry], lookups)
            return
        for entry in self.entries:
            groups.setdefault(entry[0], []).append(entry)
        lookups = self._lookups(tuple(groups))
        for entries in groups.values():
            yield from self._series(entries, lookups)

    def _lookups(self, series: tuple[str, ...]) -> dict[str, PerSeries]:
        options = self.options
        spans = isinstance(self.companions.ignore, Spans)  # which are laid on the time stamps later
        return {
            "times": PerSeries("time", options.time, series, one=True),
            "ignore": PerSeries("ignore", None if spans else options.ignore, series),
            "values": PerSeries("values", options.values, series, one=True),
        }

    def _series(self, entries: list[Entry], lookups: Mapping[str, PerSeries]) -> Iterator[Given | LeftOut]:
        usable: dict[str, Given] = {}
        for series, detector, y_true, y_score, setting in entries:
            if detector in usable:
                raise two_scorings(series, detector)
            fit = self.companions.fit_of({}, series, detector, detector)
            known = {"fit": fit, **{name: lookup.of(series) for name, lookup in lookups.items()}, **setting}
            try:
                usable[detector] = _given(series, detector, y_true, y_score, **known)
            except InvalidInputError as error:
                yield LeftOut(series, detector, "", str(error), name_of(series, detector))
        if usable:
            series = entries[0][0]
            given = align(list(usable.values()))
            try:
                yield from self.companions.complete(given, series, {})
            except InvalidInputError as error:
                yield from (one.left_out(str(error)) for one in given)


def _given(series: str, detector: str, y_true: Any, y_score: Any, *, times: Any, **known: Any) -> Given:
    """Arrays of one detector on one series, with its time stamps checked."""
    if y_true is None:  # it comes from incidents
        y_true = np.zeros(np.size(y_score), np.int8)
    if times is None:
        times = next((one.index for one in (y_true, y_score) if has_dates(one)), None)
    clock = None if times is None else read_times(times, n=np.size(y_true))
    return Given(series, detector, y_true, _on_index(y_true, y_score), clock, **known)


def _on_index(y_true: Any, y_score: Any) -> Any:
    """Scores that lack rows of the labels, put on the labels' index where both have one; NaN for the others."""
    index: Any = getattr(y_true, "index", None)
    own: Any = getattr(y_score, "index", None)
    if not (hasattr(index, "equals") and hasattr(own, "equals")) or len(index) == len(own):
        return y_score
    return y_score.reindex(index) if index.is_unique and own.is_unique and own.isin(index).all() else y_score


def _arrays(entries: Iterable[Entry], source: Source) -> Shards:
    options = source.options
    if options.time is not None and isinstance(options.time, str):
        raise InvalidInputError(f"time={options.time!r} names a column, but scores is no table: pass the time stamps")
    kept = entries if not isinstance(entries, Iterator) else list(entries)
    if isinstance(kept, list):
        series = list(dict.fromkeys(entry[0] for entry in kept))
        _check_fit(options.fit, series, list(dict.fromkeys(entry[1] for entry in kept)))
    else:
        series = []
    companions = Companions.of(replace(options, by=()), series)
    if isinstance(companions.ignore, PerSeries):
        companions = replace(companions, ignore=None)  # each entry has its own
    return Shards([ArrayShard(kept, options, companions)], companions)


def _check_fit(fit: Any, series: list[str], detectors: list[str]) -> None:
    """Refuse scores to fit on that belong to no detector: a rule would silently do without them."""
    for key in fit if isinstance(fit, Mapping) else ():
        known = key in detectors or (isinstance(key, tuple) and key[0] in series and key[1] in detectors)
        if not known:
            raise InvalidInputError(
                f"fit has scores of {key!r}, which is neither a detector nor a pair (series, detector): "
                f"{did_you_mean(str(key), sorted(detectors))}"
            )


def _labelled(source: Source) -> Shards:
    """Scores of one series beside its labels, or of several beside a mapping of theirs."""
    scores, y_true = source.scores, source.y_true
    if isinstance(y_true, Mapping):
        return _arrays(list(_many_labelled(source)), source)
    if isinstance(scores, (list, tuple)) and scores and isinstance(scores[0], tuple):
        raise InvalidInputError(
            "tuples have their labels: scores must be a mapping from detector to scores, or an "
            "array, where y_true is given"
        )
    if isinstance(scores, Mapping):
        columns = dict(scores)
    elif hasattr(scores, "columns"):
        columns = {name: scores[name] for name in scores.columns}
    else:
        columns = {SCORE: scores}
    entries: list[Entry] = [
        ("", str(name), y_true, _asked(name, values, source.X), {}) for name, values in columns.items()
    ]
    return _arrays(entries, source)


def _many_labelled(source: Source) -> Iterator[Entry]:
    scores, labels = source.scores, source.y_true
    if not isinstance(scores, Mapping):
        raise InvalidInputError("y_true is a mapping from series, so scores must be one too, or one for each detector")
    nested = {name: one for name, one in scores.items() if isinstance(one, Mapping) or family_of(one) is not None}
    if scores and not nested:
        nested = {SCORE: scores}
    for name, own in nested.items():
        for series, y_true in labels.items():
            if family_of(own) is not None:
                found = source.X.get(series) if isinstance(source.X, Mapping) else source.X
                yield str(series), str(name), y_true, _asked(name, own, found), {}
            elif series in own:
                yield str(series), str(name), y_true, own[series], {}
        for series in own if isinstance(own, Mapping) else ():
            if series not in labels:
                near = did_you_mean(str(series), sorted(map(str, labels)))
                raise InvalidInputError(f"there are scores of series {series!r}, but no labels: {near}")


def _asked(name: Any, given: Any, X: Any) -> Any:
    """Ask a fitted estimator for the scores of X; other values are returned unchanged."""
    if family_of(given) is None:
        return given
    if X is None:
        raise InvalidInputError(f"{name!r} is an estimator, not scores: pass X, the series that it is to score")
    try:
        return fitted_scores(given, X)
    except Exception as error:
        if type(error).__name__ != "NotFittedError":  # each package has its own class of this name
            raise
        raise InvalidInputError(
            f"{name!r} is not fitted: fit it on a training part first, or let te.detect train it"
        ) from None


def _tuples(source: Source) -> Shards:
    """Tuples (series, detector, y_true, y_score), or (series, y_true, y_score) with or without a setting."""
    scores = source.scores
    if isinstance(scores, Mapping):
        scores = [(name, *_pair(name, values)) for name, values in scores.items()]
    if not isinstance(scores, Iterator):
        return _arrays([_entry(one) for one in scores], source)
    first = next(scores, None)
    rest = chain([] if first is None else [first], scores)
    if first is None or _entry(first)[1] != SCORE:  # detectors of a series are compared, so all are kept
        return _arrays([_entry(one) for one in rest], source)
    return _arrays(Once(rest), source)


class Once:
    """Entries of an iterator, read once and not kept."""

    def __init__(self, entries: Iterable[Any]) -> None:
        self._entries: Iterable[Any] | None = entries

    def __iter__(self) -> Iterator[Entry]:
        entries, self._entries = self._entries, None
        if entries is None:
            raise InvalidInputError("scores came from an iterator, which can be read once: pass a list of them")
        yield from map(_entry, entries)


def _pair(name: Any, values: Any) -> tuple[Any, ...]:
    if not isinstance(values, (tuple, list)) or len(values) not in (2, 3):
        raise InvalidInputError(
            f"y_true is missing: a mapping of scores needs the labels of the series, or (y_true, y_score) for each of "
            f"several series, but {str(name)!r} has {type(values).__name__}"
        )
    return tuple(values)


def _entry(one: Any) -> Entry:
    wanted = "scores must give (series, detector, y_true, y_score) or (series, y_true, y_score) each time"
    try:
        found = tuple(one)
    except TypeError:
        raise InvalidInputError(wanted) from None
    if len(found) == 5:  # as they are kept here
        return found
    if len(found) == 4 and not isinstance(found[3], Mapping):
        return str(found[0]), str(found[1]), found[2], found[3], {}
    if len(found) not in (3, 4) or isinstance(found[1], str):
        raise InvalidInputError(wanted)
    setting = found[3] if len(found) == 4 else {}
    if any(key not in _SETTING for key in setting):
        raise InvalidInputError(f"series {found[0]!r}: a setting is a mapping with any of {', '.join(_SETTING)}")
    return str(found[0]), SCORE, found[1], found[2], setting


class _CachedEntries:
    """The cached scores of a store, read one file at a time."""

    def __init__(self, folder: Any) -> None:
        self._folder = folder

    def __iter__(self) -> Iterator[Entry]:
        for cached in all_scores(self._folder):
            seed = cached.provenance["seed"]
            detector = cached.provenance["detector"] + (f", seed {seed}" if seed else "")
            yield cached.provenance["dataset"], detector, cached.labels, cached.scores, {}


# Tables and files.


def _is_file(text: str) -> bool:
    return os.path.exists(text) and (os.path.isdir(text) or is_table_file(Path(text)))


def is_store(scores: Any) -> bool:
    """Return True if `scores` is the folder of a store with scores of detectors."""
    return isinstance(scores, (str, os.PathLike)) and Path(scores, "scores").is_dir()


def _is_path(one: Any) -> bool:
    return isinstance(one, (str, os.PathLike))


def _is_paths(scores: Any) -> bool:
    several = isinstance(scores, (list, tuple)) and bool(scores) and all(map(_is_path, scores))
    return several or (_is_path(scores) and not is_store(scores))


def _is_table(source: Source) -> bool:
    """Return True if scores is a table in memory: a data frame, or a mapping of columns."""
    scores = source.scores
    if not isinstance(scores, Mapping):
        return hasattr(scores, "columns") or hasattr(scores, "column_names")
    options = source.options
    return bool(options.by or options.incidents is not None or options.label in scores or source.y_true is not None)


def _holds_labels(source: Source) -> bool:
    """Return True if `y_true` holds labels and is no table or file of them."""
    y_true = source.y_true
    return not (y_true is None or _is_path(y_true) or hasattr(y_true, "columns") or source.options.by)


def _table(source: Source) -> Shards:
    options = source.options
    labels = _labels_elsewhere(source)
    columns = ScoreColumns(options.score)
    companions = Companions.of(options, [], labels)
    return Shards([TableShard(source.scores, options, companions, columns)], companions, columns)


def _files(source: Source) -> Shards:
    options, stores = source.options, set[str]()
    found = find_files(source.scores, stores)
    if len(found) == 1 and os.path.isdir(found[0].path):
        what = f"{printable(found[0].path)}: this is a folder, and there are no tables in it"
        raise InvalidInputError("; ".join(filter(None, [what, skipped_stores(stores)])))
    if options.time is None and (options.incidents is not None or is_spans_source(options.ignore)):
        raise needs_times()
    by_folder = _named_by_folder(found, options)
    columns = ScoreColumns(options.score)
    companions = Companions.of(options, [file.stem for file in found], _labels_elsewhere(source))
    shards = [TableShard(_source(file, options), options, companions, columns, file, by_folder) for file in found]
    return Shards(shards, companions, columns, frozenset(stores))


def _source(file: FoundFile, options: Options) -> Any:
    """Return the path of a file; standard input, which is there once, is read now."""
    return read_table(STDIN, text=options.columns, max_bytes=options.max_bytes) if file.path == STDIN else file.path


def _named_by_folder(files: list[FoundFile], options: Options) -> bool:
    """Return True if the folders are the detectors: where the same names lie in several of them."""
    one_column = len(options.score) == 1 and not any(mark in options.score[0] for mark in "*?[")
    below = Counter(file.below for file in files if file.folder)
    return not options.by and one_column and any(count > 1 for count in below.values())


def _labels_elsewhere(source: Source) -> dict[str, Given] | None:
    """Labels that lie in files or tables of their own, by series."""
    if source.y_true is None:
        return None
    if not (_is_paths(source.y_true) or hasattr(source.y_true, "columns") or isinstance(source.y_true, Mapping)):
        raise InvalidInputError("y_true must be the name of a column, or a table of labels, where scores is a table")
    options = source.options
    by = tuple(name for name in options.by if name != options.named_by)
    own = replace(options, score=(options.label,), by=by, detector=None, incidents=None, ignore=None, fit=None)
    found: dict[str, Given] = {}
    for shard in find_shards(Source(source.y_true, None, None, own)).shards:
        for one in replace(shard, companions=Companions(labels={})).parts():
            if isinstance(one, LeftOut):
                raise InvalidInputError(str(one))
            found[one.series] = one
    return found


FORMS = (
    Form(
        "a result of te.compare or te.detect",
        lambda source: hasattr(source.scores, "scorings"),
        lambda source: _arrays([(*run, {}) for run in source.scores.scorings()], source),
    ),
    Form(
        "a store of te.detect",
        lambda source: is_store(source.scores),
        lambda source: _arrays(_CachedEntries(source.scores), source),
    ),
    Form("scores beside y_true, by detector, by detector and series, or models with X", _holds_labels, _labelled),
    Form("a file, a folder, a pattern or several of them", lambda source: _is_paths(source.scores), _files),
    Form("a data frame or a mapping of columns", _is_table, _table),
    Form(
        "tuples (series, detector, y_true, y_score)",
        lambda source: isinstance(source.scores, Iterable) and not _is_path(source.scores),
        _tuples,
    ),
)
