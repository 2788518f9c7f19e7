"""`evaluate_stream`: metrics of series that are larger than memory, read in batches, in threads or on workers."""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from functools import partial
from itertools import takewhile
from threading import Event
from typing import Any, Unpack

import numpy as np

from tsadeval._optional import require
from tsadeval.core.names import split_names
from tsadeval.core.parallel import elsewhere, in_order, mapped, workers
from tsadeval.core.parameters import refuse_unknown
from tsadeval.core.results import Row
from tsadeval.core.selection import Metrics, metric_sets, select_metrics
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.evaluation import Evaluation, SeriesEvaluation
from tsadeval.scores.options import LABEL, SCORE, Reading
from tsadeval.streams.stream import Order, Stream
from tsadeval.tables.batches import Batches, batches
from tsadeval.tables.one_series import Signs

_Streams = dict[str | None, Stream]
_New = Callable[[], Stream]  # makes an empty stream, on any machine
_ALL = None  # in place of a series' name where there is but one
# Parts of a file: enough that no worker waits long for the others. Here as many whatever the number of cores, on which
# the last digits must not depend; on a cluster for each worker.
_PARTS = 32
_LEAST = 2**20  # rows of a part of parquet: fewer are read sooner than a thread and a reader are there
_THREADS = 8  # by default at most: each has some batches in memory


def evaluate_stream(
    source: Any,
    metrics: Metrics = "recommended",
    *,
    threshold: float | None = None,
    order: Order = "sort",
    n_jobs: int | None = None,
    **reading: Unpack[Reading],
) -> Evaluation | SeriesEvaluation:
    """Compute metrics of a series that is read once, in batches, in memory that does not grow with its points.

    The values are those of `te.evaluate` at the same threshold, whatever the cut into batches. `te.metrics` says which
    metrics can be computed so (`stream` of their records): CCE, all metrics of single points, nearly all metrics of
    events and alarms, and those of the order of scores (AUC-ROC, AUC-PR, best F1, P@k, VUS, range-AUC).

    Parameters
    ----------
    source : path, several paths, `te.batches`, or iterable of (y_true, y_score)
        Files are read as `te.batches` reads them. An iterable gives the batches of a series in the order of time;
        (name, y_true, y_score) where `by` is given, and the time stamps last where `time` is given.
    metrics : str or several, default="recommended"
        As for `te.evaluate`. Of a set ("recommended", "paper", "all") what a stream cannot give, and without
        `threshold` metrics of alarms, are NaN with a message; what is named by itself is refused before anything is
        read.
    threshold : float, optional
        Alarm where `score > threshold`; needed for metrics of alarms.
    order : {"sort", "bins"}, default="sort"
        For metrics of the order of scores. "sort" is exact and sorts the scores on disk (in the folder for temporary
        files, 4 or 8 bytes a point; VUS as much again for points near events). "bins" counts points in four million
        bins of neighbouring scores: 64 MB and no disk, and a value with bounds between which the exact one lies for
        sure, in columns `low` and `high`.
    n_jobs : int, optional
        Parts of a file that are read at once (row groups of parquet, rows of npy), in threads of this process, or by
        the workers of a cluster under `joblib.parallel_config(backend="dask")` or "ray". By default as many as there
        are cores, up to eight; one with `by` and for metrics of the order of scores, whose states are large, and for
        csv files, of which readers have large blocks in memory.
    **reading
        These of the options of `te.Scores`: `label` and `score`, the columns of a file. `by`, the column that names the
        series of each row: each is evaluated by itself, in any order of rows, with a state in memory for each series.
        `time`, the column of time stamps, which must increase within each series: for options that are durations, as in
        "false_alarms(per='week')" and "detection_delay(unit='min')". `one_series`: all rows are one series, even if a
        column called "series", "detector" or the like has several values.

    Returns
    -------
    Evaluation
        A mapping from metric to value that prints as a table; with `by` a `SeriesEvaluation`.

    Examples
    --------
    >>> import tsadeval as te
    >>> day = ([0, 0, 1, 1, 0], [0.1, 0.2, 0.9, 0.4, 0.1])
    >>> night = ([0, 1, 0], [0.6, 0.1, 0.2])
    >>> result = te.evaluate_stream([day, night], ["f1", "event_f1", "auc_roc"], threshold=0.5)
    >>> result["f1"], result["event_f1"], round(result["auc_roc"], 4)
    (0.4, 0.5, 0.6667)
    """
    columns = _columns(source, reading)
    workers(n_jobs)  # an error where it is none
    by, time = (source.by, source.time) if isinstance(source, Batches) else (columns["by"], columns["time"])
    of_set = isinstance(metrics, str) and set(split_names(metrics)) <= set(metric_sets())
    new = partial(
        Stream, select_metrics(metrics), threshold=threshold, order=order, timed=time is not None, lenient=of_set
    )
    new()  # so that whatever is wrong with the arguments is said before anything is read
    if _is_table(source):
        source = batches(source, **columns)
    if not isinstance(source, Batches) and (n_jobs is not None or elsewhere()):
        raise InvalidParameterError("n_jobs needs files or te.batches: parts of an iterable cannot be read apart")
    streams = _read_on_workers(new, source, n_jobs) if elsewhere() else _read_here(new, source, by, n_jobs)
    if not streams:
        raise InvalidInputError("the source is empty: there is nothing to evaluate")
    return streams[_ALL].result() if by is None else _join_results(streams)


def _states(new: _New, source: Iterable[Any], by: str | None) -> _Streams:
    """Return the states of all batches, by series."""
    streams: _Streams = {}
    timed = new().settings.timed
    for batch in source:
        series, y_true, y_score, times = _unpack(batch, timed, by)
        if series not in streams:
            streams[series] = new()
        try:
            streams[series].update(y_true, y_score, times)
        except InvalidInputError as error:
            raise InvalidInputError(str(error) if series is _ALL else f"series {series!r}: {error}") from None
    return streams


def _unpack(batch: Any, timed: bool, by: str | None) -> tuple[str | None, Any, Any, Any]:
    """Return the name of a series (None where all is one), labels, scores and times of a batch."""
    wanted = (by is not None) + 2 + timed
    if isinstance(batch, (tuple, list)) and len(batch) == wanted:
        *names, y_true, y_score, times = batch if timed else (*batch, None)
        named = not names or isinstance(names[0], (str, int, np.integer))
        if named and all(np.ndim(values) or hasattr(values, "__len__") for values in (y_true, y_score)):
            # As in tables, the number 1 and the text "1" are one name.
            return str(names[0]) if names else _ALL, y_true, y_score, times
    form = "name, " * (by is not None) + "y_true, y_score" + ", times" * timed
    found = type(batch).__name__ + (f" of {len(batch)}" if isinstance(batch, (tuple, list)) else "")
    raise InvalidInputError(
        f"batches must be tuples ({form}){', with a text or an integer as the name' * (by is not None)}, but one is a "
        f"{found}; te.batches reads files and tables by the names of their columns"
    )


def _read_part(new: _New, part: Batches, left: Event | None = None) -> tuple[_Streams, Signs]:
    signs = part.signs()
    wanted = takewhile(lambda batch: left is None or not left.is_set(), part.read(signs))
    return _states(new, wanted, part.by), signs


def _read_here(new: _New, source: Any, by: str | None, n_jobs: int | None) -> _Streams:
    """Return the states of all batches; threads read parts at once, by default where these take little memory."""
    light = isinstance(source, Batches) and by is None and new().small and not source.of_text
    if n_jobs is not None or light:
        threads = min(workers(None), _THREADS) if n_jobs is None else workers(n_jobs)
        with suppress(InvalidInputError):  # it is raised again below, counted from the first point
            versions, parts, left = source.versions(), source.parts(_PARTS, _LEAST), Event()
            with closing(in_order(lambda part: _read_part(new, part, left), parts, threads, left)) as found:
                streams = _merge(found, source) if len(parts) > 1 else {}
            if streams and source.versions() == versions:
                return streams
    return _states(new, source, by)


def _read_on_workers(new: _New, source: Batches, n_jobs: int | None) -> _Streams:
    """Return the states of parts that the workers of a cluster read."""
    count = require("joblib", extra="all").effective_n_jobs(-1 if n_jobs is None else n_jobs)
    parts = ((new, part) for part in source.parts(_PARTS * max(count, 1)))
    return _merge(mapped(_read_part, parts, n_jobs, ordered=True), source)


def _merge(parts: Iterable[tuple[_Streams, Signs]], source: Batches) -> _Streams:
    """Merge the states of neighbouring parts, given in their order."""
    streams: _Streams = {}
    signs = source.signs()
    for found, seen in parts:
        signs.merge(seen, source.where)
        for series, stream in found.items():
            streams[series] = streams[series].merge(stream) if series in streams else stream
    signs.finish(source.where)
    return streams


def _join_results(streams: _Streams) -> SeriesEvaluation:
    """Join the results of all series in one table."""
    rows: list[Row] = []
    for series, stream in streams.items():
        if not stream.n:
            raise InvalidInputError(f"series {series!r}: has no points, so there is nothing to evaluate")
        rows += [{"series": series, **row} for row in stream.result().rows]
    return SeriesEvaluation(rows)


def _columns(source: Any, reading: Reading) -> dict[str, Any]:
    """Return the options of `te.batches`; others are refused, and all of them where the source is such batches."""
    columns = {"label": LABEL, "score": SCORE, "by": None, "time": None, "one_series": False}
    refuse_unknown("a stream", columns, reading)
    for name, value in reading.items():
        if value not in (columns[name], ()) and isinstance(source, Batches):
            raise InvalidParameterError(
                f"{name}={value!r} is for files and tables: the source is te.batches, pass it to te.batches"
            )
    return {**columns, **{name: value for name, value in reading.items() if value != ()}}


def _is_table(source: Any) -> bool:
    """Return True if the source is one file or several, a mapping of columns or a frame."""
    if isinstance(source, (list, tuple)):
        return bool(source) and all(isinstance(one, (str, os.PathLike)) for one in source)
    is_frame = hasattr(source, "columns") or hasattr(source, "column_names")
    return is_frame or isinstance(source, (str, os.PathLike, Mapping))
