"""`te.report`: one page about one or several detectors that explains itself and needs nothing but a browser."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from tsadeval.comparison.api import Run, runs_of, usable
from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Rule
from tsadeval.core.observed import has_dates
from tsadeval.core.selection import Metrics, select_metrics
from tsadeval.core.setting import Setting
from tsadeval.core.time import Times, read_times
from tsadeval.engine.files import write_whole
from tsadeval.errors import InvalidInputError
from tsadeval.reports.html import as_json, render
from tsadeval.reports.page import Page, SeriesInput, build_page, checked_values
from tsadeval.thresholds.rules import parse_rule

__all__ = ["report"]


def report(
    scores: Any,
    path: str | Path,
    *,
    y_true: Any = None,
    by: str | Sequence[str] = (),
    y_score: str | Sequence[str] = "score",
    detector: str | None = None,
    values: Any = None,
    times: Any = None,
    metrics: Metrics = "all",
    threshold: str | float | Rule = "best",
    title: str = "",
    command: str = "",
    sources: Mapping[str, str] | None = None,
    random_state: int = 0,
) -> Path:
    """Write a report: one self-contained HTML page about one or several detectors.

    The page shows the series and the scores with zoom and pan, the events and what each cost, a threshold slider with
    the metrics at every threshold, all metrics beside random and perfect, the breakdown of CCE, and for several
    detectors their comparison with its statistics. It works offline and needs no other file.

    Parameters
    ----------
    scores : result, array-like, mapping, iterable, table or path
        What `te.compare` or `te.detect` returned; scores of one detector, or detector to scores of one series (both
        with `y_true`); or whatever else `te.compare` takes.
    path : str or Path
        The file to write.
    y_true : array-like of shape (n,), or str, optional
        The labels, where `scores` are of one series; the column of labels, where they are a table.
    by, y_score, detector
        Of a table, as for `te.compare`.
    values : array-like of shape (n,) or (n, columns), or mapping, optional
        The series itself, drawn above the scores; a mapping from series to its values where there are several series,
        or from column to values where there is one. Up to eight columns are drawn.
    times : array-like of shape (n,), optional
        Time stamps of the points, for one series, or a mapping from series to its time stamps.
    metrics, threshold
        As for `evaluate`; thresholds are found for each scoring by itself.
    title : str, optional
        Of the page.
    command : str, optional
        How the page was made, for its last section.
    sources : mapping, optional
        File to its checksum, for the last section.
    random_state : int, default=0
        For the column "random".

    Returns
    -------
    Path
        The file. A scoring that cannot be evaluated is left out, points without a score get the lowest score of the
        series, and the page says so; where nothing can be evaluated, this raises.

    Examples
    --------
    >>> import tempfile, tsadeval as te
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = te.report({"mine": [0.1, 0.9, 0.2, 0.3]}, f"{folder}/page.html", y_true=[0, 1, 0, 0])
    ...     page.name
    'page.html'
    """
    chosen = select_metrics(metrics)
    rule = parse_rule(threshold)
    runs = runs_of(_one(scores, y_true), y_true, by=by, y_score=y_score, detector=detector)
    series, remarks = _inputs(runs, values, times)
    page = build_page(series, chosen, rule, random_state=random_state)
    text = _render(page, title, command, dict(sources or {}), remarks, str(rule))
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())
    return path


def _one(scores: Any, y_true: Any) -> Any:
    """Scores of a single detector get a name."""
    single = y_true is not None and not isinstance(y_true, str) and not isinstance(scores, Mapping)
    return {"detector": scores} if single else scores


def _inputs(runs: Iterable[Run], values: Any, times: Any) -> tuple[list[SeriesInput], list[str]]:
    """The scorings by series, and what was left out and why."""
    series: dict[str, SeriesInput] = {}
    notes: list[str] = []
    dates: dict[str, Any] = {}  # of labels that come with them
    first: InvalidInputError | None = None
    for name, detector, labels, given in runs:
        where = f"{detector!r} on series {name!r}" if name else repr(detector)
        try:
            entry = usable(labels, given, "worst")
            if entry is None:
                raise InvalidInputError("no point has a score")
            scoring = Scoring.of(*entry[:2])
        except InvalidInputError as error:
            first = first or error
            notes.append(f"Left out: {where}: {error}")
            continue
        if entry[3]:
            notes.append(f"{where}: {entry[3]:,} points without a score have the lowest score of the series here.")
        one = series.setdefault(name, SeriesInput(name, {}))
        if detector in one.scorings:
            raise InvalidInputError(f"there are two scorings of {detector!r} on series {name!r}")
        _same_labels(one, scoring, detector)
        one.scorings[detector] = scoring
        if has_dates(labels):
            dates.setdefault(name, labels.index)
    if not series:
        raise first or InvalidInputError("scores is empty: there is nothing to report")
    for name, one in series.items():
        one.values = checked_values(_of_series(values, name, len(series)), one.n, name)
        given = _of_series(times, name, len(series))
        stamps = _times(dates.get(name) if given is None else given, one.n, name)
        if stamps is not None:
            one.times = np.asarray(stamps.stamps.astype("datetime64[ns]").astype("datetime64[ms]"))
            setting = Setting(times=stamps)
            one.scorings = {key: replace(scoring, setting=setting) for key, scoring in one.scorings.items()}
    return list(series.values()), notes


def _same_labels(one: SeriesInput, scoring: Scoring, detector: str) -> None:
    for name, other in one.scorings.items():
        if other.n != scoring.n or other.events != scoring.events:
            raise InvalidInputError(
                f"{name!r} and {detector!r} have different labels on series {one.name!r}: "
                "give such series different names"
            )
        return


def _of_series(given: Any, name: str, count: int) -> Any:
    """What was given for one series of many, or for the only one."""
    if given is None:
        return None
    if isinstance(given, Mapping) and name in given:
        return given[name]
    if count == 1:
        return given
    if not isinstance(given, Mapping):
        raise InvalidInputError("values and times must be mappings from series where there are several series")
    return None


def _times(times: Any, n: int, name: str) -> Times | None:
    if times is None:
        return None
    where = f"series {name!r}: " if name else ""
    return read_times(times, n=n, name=f"{where}times")


def _render(page: Page, title: str, command: str, sources: Mapping[str, str], remarks: Sequence[str], rule: str) -> str:
    import tsadeval

    data = page.data
    detectors, series = data["detectors"], data["series"]
    points = sum(one["n"] for one in series)
    subtitle = (
        f"{len(detectors)} detector{'s' * (len(detectors) != 1)}, {len(series)} series, {points:,} points, "
        f"{len(data['metrics'])} metrics"
    )
    step, draws, best = data["step"], data["draws"], rule.startswith("best")
    notes = list(remarks)
    if step > 1:
        notes.append(f"Lines are drawn from the extremes of every {step} points; all numbers are of all points.")
    if len(detectors) == 1:
        title = title or f"Report: {detectors[0]}"
    about = [
        ("Made by", f"tsadeval {tsadeval.__version__}, NumPy {np.__version__}, Python {platform.python_version()}"),
        ("Made at", datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")),
        ("Threshold rule", rule),
        ("Metrics", ", ".join(metric["name"] for metric in data["metrics"])),
        ("Column random", f"mean of {draws} shuffles, or a formula" if draws else "left out: too many points"),
    ]
    about += [("Command", command)] if command else []
    about += [(f"File {name}", f"SHA-256 {digest}") for name, digest in sources.items()]
    checksums = []
    for one in series:
        name = one["name"] or "series"
        checksums.append((name, "labels", one["labels_sha256"]))
        checksums += [(name, f"scores of {d}", found["scores_sha256"]) for d, found in one["detectors"].items()]
    thresholds = "are best for each metric, chosen with the labels: upper bounds" if best else f"by the rule {rule}"
    return render(
        "report.html.j2",
        styles=("base.css", "report.css"),
        scripts=("common.js", "chart.js", "report.js"),
        title=title or "Report of anomaly detectors",
        subtitle=subtitle,
        notes=notes,
        comparison=data["comparison"] is not None,
        rule_note="It starts where F1 is best, which was found with the labels." if best else f"It starts at {rule}.",
        metrics_note=f"Random: the same scores, shuffled. Perfect: the labels as scores. Thresholds {thresholds}.",
        about=about,
        checksums=checksums,
        version=tsadeval.__version__,
        data=as_json(data),
        payloads=page.payloads.texts,
    )
