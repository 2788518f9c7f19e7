"""Forms in which people bring scores: how each is recognised, and the shards it becomes.

A shard is what is read at once: a table, a file, or arrays in memory. A new form is one record in `FORMS`; a new kind
of file is a record in `tables.reading` and comes in by itself.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tsadeval.core.names import did_you_mean, printable, refuse_alike
from tsadeval.detectors.estimators import family_of, fitted_scores
from tsadeval.errors import InvalidInputError
from tsadeval.scores.cache import all_scores
from tsadeval.scores.companions import Companions, Elsewhere, is_path, needs_times
from tsadeval.scores.options import LABEL, SCORE, Options
from tsadeval.scores.scored import Given, LeftOut
from tsadeval.scores.tabular import ScoreColumns, TableShard, path_names
from tsadeval.tables.files import FoundFile, find_files, skipped_stores
from tsadeval.tables.reading import is_table_file
from tsadeval.tables.sources import STDIN

_SETTING = ("times", "ignore", "fit", "values")


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
    given = source.y_true
    if isinstance(given, str) and not (os.path.isdir(given) or (os.path.exists(given) and is_table_file(Path(given)))):
        source = source._replace(options=replace(options, label=given), y_true=None)
    for form in FORMS:
        if form.matches(source):
            return form.shards(source)
    known = "; ".join(form.takes for form in FORMS)
    raise InvalidInputError(f"expected {known}; found {type(source.scores).__name__}")


@dataclass(frozen=True, eq=False)
class ArrayShard:
    """Arrays of series and detectors; an iterator of them is read once, each entry by itself."""

    entries: Iterable[Given]
    companions: Companions
    series: ClassVar[None] = None  # there is more than one

    def parts(self) -> Iterator[Given | LeftOut]:
        """All scorings as they were given, with labels of 0 where these come from incidents."""
        for one in self.entries:
            y_true = np.zeros(np.size(one.y_score), np.int8) if one.y_true is None else one.y_true
            yield replace(
                one, y_true=y_true, y_score=_on_index(y_true, one.y_score), file=one.series, column=one.detector
            )

    def read(self) -> Iterator[Given | LeftOut]:
        """All scorings, with the detectors of a series on the same points."""
        groups = [self.parts()] if isinstance(self.entries, list) else ([one] for one in self.parts())
        for parts in groups:
            yield from self.companions.join(parts)


def _on_index(y_true: Any, y_score: Any) -> Any:
    """Scores that lack rows of the labels, put on the labels' index where both have one; NaN for the others."""
    index: Any = getattr(y_true, "index", None)
    own: Any = getattr(y_score, "index", None)
    if not (hasattr(index, "equals") and hasattr(own, "equals")) or len(index) == len(own):
        return y_score
    return y_score.reindex(index) if index.is_unique and own.is_unique and own.isin(index).all() else y_score


def _arrays(entries: Iterable[Given], source: Source) -> Shards:
    if isinstance(source.options.time, str):
        what = f"time={source.options.time!r} names a column, but scores is no table: pass the time stamps"
        raise InvalidInputError(what)
    known = entries if isinstance(entries, list) else []
    series, detectors = (list(dict.fromkeys(getattr(one, name) for one in known)) for name in ("series", "detector"))
    options = replace(source.options, by=(), detector=None, score=tuple(detectors) or source.options.score)
    companions = Companions.of(options, series=series, detectors=detectors, fit=_fit(options))
    return Shards([ArrayShard(entries, companions)], companions)


def _labelled(source: Source) -> Shards:
    """Scores of one series beside its labels, or of several beside a mapping of theirs."""
    scores, y_true = source.scores, source.y_true
    if isinstance(scores, (list, tuple)) and scores and isinstance(scores[0], tuple):
        raise InvalidInputError(
            "tuples have their labels: scores must be a mapping from detector to scores, or an "
            "array, where y_true is given"
        )
    if isinstance(y_true, Mapping):
        return _arrays(list(_many_labelled(source)), source)
    if hasattr(scores, "columns"):
        scores = {name: scores[name] for name in scores.columns}
    columns = scores if isinstance(scores, Mapping) else {SCORE: scores}
    return _arrays([Given("", str(name), y_true, _asked(name, own, source.X)) for name, own in columns.items()], source)


def _many_labelled(source: Source) -> Iterator[Given]:
    scores, labels = source.scores, _by_text(source.y_true)
    if not isinstance(scores, Mapping):
        raise InvalidInputError("y_true is a mapping from series, so scores must be one too, or one for each detector")
    nested = {name: one for name, one in scores.items() if isinstance(one, Mapping) or family_of(one) is not None}
    X = _by_text(source.X) if isinstance(source.X, Mapping) else dict.fromkeys(labels, source.X)
    if scores and not nested:
        nested = {SCORE: scores}
    for name, one in nested.items():
        own = _by_text(one) if isinstance(one, Mapping) else dict.fromkeys(labels, one)
        for series in own:
            if series not in labels:
                near = did_you_mean(series, sorted(labels))
                raise InvalidInputError(f"there are scores of series {series!r}, but no labels: {near}")
        for series in filter(own.__contains__, labels):
            yield Given(series, str(name), labels[series], _asked(name, own[series], X.get(series)))


def _by_text(given: Mapping[Any, Any]) -> dict[str, Any]:
    """Name the values of a mapping by texts, of which no two may be the same."""
    refuse_alike(given, "names of series")
    return {str(name): value for name, value in given.items()}


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
        scores = list(scores)
        refuse_alike((one[0] for one in scores if isinstance(one, tuple) and one), "names of series")
        return _arrays(list(map(_entry, scores)), source)
    first = [_entry(one) for one in islice(scores, 1)]
    entries = chain(first, map(_entry, scores))
    # Detectors of a series are compared, so all are kept.
    return _arrays(Once(entries) if first and first[0].detector == SCORE else list(entries), source)


@dataclass
class Once:
    """Entries of an iterator, read once and not kept."""

    entries: Iterable[Given] | None

    def __iter__(self) -> Iterator[Given]:
        entries, self.entries = self.entries, None
        if entries is None:
            raise InvalidInputError("scores came from an iterator, which can be read once: pass a list of them")
        return iter(entries)


def _pair(name: Any, values: Any) -> tuple[Any, ...]:
    if not isinstance(values, (tuple, list)) or len(values) not in (2, 3):
        raise InvalidInputError(
            f"y_true is missing: a mapping of scores needs the labels of the series, or (y_true, y_score) for each of "
            f"several series, but {str(name)!r} has {type(values).__name__}"
        )
    return tuple(values)


def _entry(one: Any) -> Given:
    if isinstance(one, Given):
        return one
    wanted = "scores must give (series, detector, y_true, y_score) or (series, y_true, y_score) each time"
    try:
        series, *found = one
    except (TypeError, ValueError):
        raise InvalidInputError(wanted) from None
    setting = found.pop() if len(found) == 3 and isinstance(found[2], Mapping) else {}
    detector = found.pop(0) if len(found) == 3 else SCORE
    if len(found) != 2 or isinstance(found[0], str):
        raise InvalidInputError(wanted)
    if any(key not in _SETTING for key in setting):
        raise InvalidInputError(f"series {series!r}: a setting is a mapping with any of {', '.join(_SETTING)}")
    return Given(str(series), str(detector), *found, **setting)


@dataclass(frozen=True)
class _CachedEntries:
    """The cached scores of a store, read one file at a time."""

    folder: Any

    def __iter__(self) -> Iterator[Given]:
        for cached in all_scores(self.folder):
            seed = cached.provenance["seed"]
            detector = cached.provenance["detector"] + (f", seed {seed}" if seed else "")
            yield Given(cached.provenance["dataset"], detector, cached.labels, cached.scores)


def is_store(scores: Any) -> bool:
    """Return True if `scores` is the folder of a store with scores of detectors."""
    return isinstance(scores, (str, os.PathLike)) and Path(scores, "scores").is_dir()


def _is_files(scores: Any) -> bool:
    """Return True if `scores` is the name of a file, or several."""
    several = isinstance(scores, (list, tuple)) and bool(scores)
    return all(isinstance(one, (str, os.PathLike)) for one in (scores if several else [scores]))


def _is_table(source: Source) -> bool:
    """Return True if scores is a table in memory: a data frame, or a mapping of columns."""
    scores = source.scores
    if not isinstance(scores, Mapping):
        return hasattr(scores, "columns") or hasattr(scores, "column_names")
    options = source.options
    return bool(options.by or options.incidents is not None or options.label in scores or source.y_true is not None)


def _holds_labels(source: Source) -> bool:
    """Return True if `y_true` holds labels and is no table or file of them."""
    return not (source.y_true is None or _is_files(source.y_true) or is_path(source.y_true) or source.options.by)


def _table(source: Source) -> Shards:
    columns, companions = ScoreColumns(source.options.score), _companions(source)
    return Shards([TableShard(source.scores, source.options, companions, columns)], companions, columns)


def _files(source: Source) -> Shards:
    options, stores = source.options, set[str]()
    found = find_files(source.scores, stores)
    if len(found) == 1 and os.path.isdir(found[0].path):
        what = f"{printable(found[0].path)}: this is a folder, and there are no tables in it"
        raise InvalidInputError("; ".join(filter(None, [what, skipped_stores(stores)])))
    by_folder, columns = _named_by_folder(found, options), ScoreColumns(options.score)
    names = [path_names(file, options, by_folder) for file in found]
    companions = _companions(source, [file.stem for file in found], alone=len({series for series, _ in names}) == 1)
    if options.time is None and companions.spans:
        raise needs_times()
    shards = [
        TableShard(file.path, options, companions, columns, file, own) for file, own in zip(found, names, strict=True)
    ]
    # Standard input is there once, so it is read now.
    shards = [replace(one, source=one.table()) if one.source == STDIN else one for one in shards]
    return Shards(shards, companions, columns, frozenset(stores))


def _companions(source: Source, files: Sequence[str] = (), *, alone: bool = True) -> Companions:
    """Read what belongs to tables; `alone` if no more than one series is named by their paths."""
    options, labels = source.options, None
    if source.y_true is not None:
        if not (_is_files(source.y_true) or isinstance(source.y_true, Mapping) or is_path(source.y_true)):
            raise InvalidInputError(
                "y_true must be the name of a column, or a table of labels, where scores is a table"
            )
        by, label = tuple(options.series_columns), options.label or LABEL
        labels = _elsewhere(source.y_true, replace(options, score=(label,)), by, alone=alone, of_scores=False)
    return Companions.of(options, files, fit=_fit(options), labels=labels)


def _fit(options: Options) -> Elsewhere | None:
    """Read the scores to fit rules on, where they are in files or a table."""
    if not (_is_files(options.fit) or is_path(options.fit)):
        return None
    return _elsewhere(options.fit, replace(options, one_series=True), options.columns, alone=True, of_scores=True)


def _elsewhere(given: Any, options: Options, by: Sequence[str], *, alone: bool, of_scores: bool) -> Elsewhere:
    """Read labels, or scores to fit on, from a source of their own, which may lack some of the columns `by`."""
    own = Options(label=None, score=options.score, one_series=options.one_series, max_bytes=options.max_bytes)
    shards = (_files if _is_files(given) else _table)(Source(given, None, None, own)).shards
    first, single = shards[0].table(), len(shards) == 1
    if of_scores or not single:
        by = tuple(name for name in by if name in first or (name in shards[0].of_file and not single))
    beside = {"time": options.time, "values": options.values}
    there: dict[str, Any] = {
        name: column for name, column in beside.items() if isinstance(column, str) and column in first
    }
    own = replace(own, by=tuple(by), tz=options.tz, **there)
    shards = [replace(shard, options=own) for shard in shards]
    return Elsewhere(shards, by, shared=single and not by and alone, of_scores=of_scores)


def _named_by_folder(files: list[FoundFile], options: Options) -> bool:
    """Return True if the folders are the detectors: where the same names lie in several of them."""
    one_column = len(options.score) == 1 and not any(mark in options.score[0] for mark in "*?[")
    below = Counter(file.below for file in files if file.folder)
    return not options.by and one_column and any(count > 1 for count in below.values())


FORMS = (
    Form(
        "a result of te.compare or te.detect",
        lambda source: hasattr(source.scores, "scorings"),
        lambda source: _arrays([_entry(run) for run in source.scores.scorings()], source),
    ),
    Form(
        "a store of te.detect",
        lambda source: is_store(source.scores),
        lambda source: _arrays(_CachedEntries(source.scores), source),
    ),
    Form("scores beside y_true, by detector, by detector and series, or models with X", _holds_labels, _labelled),
    Form(
        "a file, a folder, a pattern or several of them",
        lambda source: _is_files(source.scores) and not is_store(source.scores),
        _files,
    ),
    Form("a data frame or a mapping of columns", _is_table, _table),
    Form(
        "tuples (series, detector, y_true, y_score)",
        lambda source: isinstance(source.scores, Iterable) and not _is_files(source.scores),
        _tuples,
    ),
)
