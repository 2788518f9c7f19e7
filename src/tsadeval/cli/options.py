"""Options that several commands share: columns and files, shell completion, limits and progress of long runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from tsadeval.cli.spans import Beside
from tsadeval.comparison.compare import is_store, unscored
from tsadeval.core import setting
from tsadeval.core.names import split_names
from tsadeval.core.parallel import on_cluster
from tsadeval.core.times import Times
from tsadeval.engine.progress import Bar
from tsadeval.errors import InvalidInputError
from tsadeval.scores.scores import timed_runs
from tsadeval.scores.scoring import observe
from tsadeval.tables import table_files

Files = Annotated[
    list[Path],
    typer.Argument(help="Tables of labels and scores (csv, parquet, npz and others), folders of them, or a store."),
]
By = Annotated[
    list[str] | None,
    typer.Option(help='Columns that tell series and detectors apart, e.g. "series,detector"; also file and folder.'),
]
Dask = Annotated[str, typer.Option(help="Address of a Dask scheduler whose workers do it: tcp://host:8786.")]
Label = Annotated[str, typer.Option(help="Column or array of the labels (0 or 1).")]
Scores = Annotated[
    list[str] | None, typer.Option(help='Columns of the scores, e.g. "lof,pca" or a pattern as "lof_*". Repeatable.')
]
Detector = Annotated[str, typer.Option(help="Which of --by names the detector, if it is not called so.")]
MetricNames = Annotated[
    list[str] | None,
    typer.Option(
        help='Metrics and sets (recommended, the default; paper; all), "cce(tau=0.4)", "module:function". Repeatable.'
    ),
]
Threshold = Annotated[
    str,
    typer.Option(help="How scores become predictions: best, best(metric), budget(2/week), quantile(p), a number."),
]
Time = Annotated[str, typer.Option(help="Column of the time stamps.")]
Missing = Annotated[
    setting.Missing,
    typer.Option(
        help="Points without a score: skip (left out), ignore (the same, NaN of metrics that cannot leave out points), "
        "'no alarm' (below all other scores), worst (the same; a detector without scores on a series gets the worst "
        "value there), error."
    ),
]


def names_of(texts: Iterable[str] | None) -> list[str]:
    """Names from options that may hold several, with commas between."""
    return [name for text in texts or [] for name in split_names(text)]


def one_or_many(files: list[Path]) -> Path | list[Path]:
    """A single path as it is, since it may be a store or a folder."""
    return files[0] if len(files) == 1 else files


def usable_runs(
    files: list[Path],
    refuse: Callable[[InvalidInputError], Any],
    *,
    times: dict[str, Times] | None = None,
    beside: Beside | None = None,
    **options: Any,
) -> list[tuple[str, str, Any, Any]] | Path:
    """Every scoring in the files that can be evaluated, or the store; what cannot be evaluated is refused.

    With the option `time`, the column of time stamps, `times` gets those of every series; of the files `beside` the
    tables come labels and, in `beside.ignored`, the points that are not judged.
    """
    if len(files) == 1 and is_store(files[0]):
        if options.get("time"):
            raise InvalidInputError("--time names a column of tables, and a store of scores has none: leave it out")
        return files[0]
    found: list[tuple[str, str, Any, Any]] = []
    for run, stamps, keys, file in timed_runs(one_or_many(files), on_error=refuse, **options):
        ignored = None
        try:
            if beside is not None:
                labels, ignored = beside.lay(keys, file, run.y_true, stamps)
                run = run._replace(y_true=labels)
            if unscored(run.y_score) < np.size(run.y_score):  # missing scores are nothing to refuse
                observe(run.y_true, run.y_score, missing="worst")
        except InvalidInputError as error:
            refuse(InvalidInputError(f"series {run.series!r}, detector {run.detector!r}: {error}"))
        else:
            found.append(run)
            if times is not None and stamps is not None and len(stamps) >= len(times.get(run.series, ())):
                times[run.series] = stamps
            if beside is not None and ignored is not None and ignored.any():
                beside.ignored[run.series] = ignored
    return found


def checksums(files: Iterable[Path]) -> dict[str, str]:
    """SHA-256 of every file, of folders those of the tables in them."""
    found = {}
    for file in files:
        for path in table_files(file) if file.is_dir() else [file]:
            if path.is_file():
                with open(path, "rb") as opened:
                    digest = hashlib.file_digest(opened, "sha256") if hasattr(hashlib, "file_digest") else None
                    found[str(path)] = (digest or hashlib.sha256(opened.read())).hexdigest()
    return found


# Names that the shell completes: of detectors, metrics and data sets, the last one of a list with commas.


def complete_detectors(incomplete: str) -> list[str]:
    """Names of the registry of detectors."""
    from tsadeval.detectors import DETECTORS

    return _last(incomplete, DETECTORS)


def complete_metrics(incomplete: str) -> list[str]:
    """Names of metrics, and of sets of them."""
    from tsadeval.core.metric import METRICS

    sets = {name for metric in METRICS.values() for name in metric.sets}
    return _last(incomplete, [*METRICS, *sets, "all"])


def complete_datasets(incomplete: str) -> list[str]:
    """Names of data sets."""
    from tsadeval.datasets import DATASETS

    return _last(incomplete, DATASETS)


def _last(incomplete: str, names: Iterable[str]) -> list[str]:
    """The names that the part after the last comma begins, each with the parts before it."""
    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in sorted(names) if name.startswith(begun)]


# What the commands share that compute many values: limits of each, and progress that an interrupt ends cleanly.


CellTimeout = Annotated[float | None, typer.Option(help="Seconds that one value may take; beyond that it is an error.")]
CellMemory = Annotated[
    str | None, typer.Option(help="Memory that one value may take, such as 2GB; beyond that it is an error.")
]


@contextmanager
def running(title: str, dask: str) -> Iterator[Bar]:
    """A progress bar, with the workers of a Dask cluster if one is named; an interrupt is one line, exit code 130."""
    bar = Bar(title)
    try:
        with bar, on_cluster(dask):
            yield bar
    except KeyboardInterrupt:
        typer.echo(f"tsadeval: stopped; {bar.words}. The same command again computes the rest.", err=True)
        raise typer.Exit(130) from None
