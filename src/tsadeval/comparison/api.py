"""`te.compare`: evaluate several detectors with several metrics, on one series or on many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tsadeval.comparison.result import Comparison, Values
from tsadeval.core.metric import Rule
from tsadeval.core.results import Row
from tsadeval.core.selection import Metrics, select_metrics
from tsadeval.core.setting import Missing
from tsadeval.engine.scores import all_scores
from tsadeval.errors import InvalidInputError
from tsadeval.evaluation.many import evaluate_many
from tsadeval.thresholds.rules import parse_rule

__all__ = ["Run", "compare", "runs_of"]

Run = tuple[str, str, Any, Any]
Setting = Mapping[str, Any]


def compare(
    scores: Mapping[str, Any] | Iterable[Run] | str | Path,
    y_true: Any = None,
    metrics: Metrics = "paper",
    *,
    threshold: str | float | Rule = "best",
    times: Any = None,
    ignore: Any = None,
    missing: Missing = "error",
    fit: Mapping[str, Any] | None = None,
) -> Comparison:
    """Evaluate several detectors with several metrics.

    Parameters
    ----------
    scores : mapping, iterable or path
        Detector to scores of one series; or any iterable of `(series, detector, y_true, y_score)`, for many series;
        or the store of `te.detect`, whose cached scores are evaluated again.
    y_true : array-like of shape (n,), optional
        The labels, where `scores` is a mapping.
    metrics, threshold
        As for `evaluate`; the threshold is found for each scoring by itself.
    times, ignore : optional
        As for `evaluate` where there is one series; for many a mapping from series to these.
    missing : {"error", "ignore", "no alarm"}, default="error"
        What to do with scores that are NaN, as for `evaluate`.
    fit : mapping, optional
        Detector to scores of a training or validation part, from which rules without labels take their threshold; for
        many series, (series, detector) to these.

    Returns
    -------
    Comparison
        Prints as tables; `rows`, `table(series)`, `average()`, `to_frame`, `to_latex`, `to_json`.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 1, 1, 0, 0, 0, 0]
    >>> good, poor = [0.1, 0.2, 0.9, 0.8, 0.1, 0.3, 0.2, 0.1], [0.5, 0.6, 0.4, 0.7, 0.5, 0.5, 0.6, 0.5]
    >>> te.compare({"good": good, "poor": poor}, y_true, ["cce", "auc_roc"])
    detector      cce  auc_roc
    --------  -------  -------
    good      0.8518*  1.0000*
    poor      0.0475   0.5000
    <BLANKLINE>
    * best
    """
    rule = parse_rule(threshold)
    chosen = select_metrics(metrics)
    runs: dict[str, list[tuple[str, Any, Any, Setting]]] = {}
    for series, detector, labels, values in runs_of(scores, y_true):
        setting = {
            "times": _of_series(times, series),
            "ignore": _of_series(ignore, series),
            "fit": None if fit is None else fit.get((series, detector), fit.get(detector)),  # type: ignore[call-overload]
        }
        runs.setdefault(detector, []).append((series, labels, values, setting))
    if not runs:
        raise InvalidInputError("scores is empty: there is nothing to compare")
    rows: list[Row] = []
    micro: Values = {}
    for detector, entries in runs.items():
        try:
            found = evaluate_many(entries, chosen, threshold=rule, missing=missing)
        except InvalidInputError as error:
            raise InvalidInputError(f"detector {detector!r}: {error}") from None
        rows += [{"series": row["series"], "detector": detector, **row} for row in found.rows]
        micro[detector] = found.micro
    return Comparison(rows, pooled=lambda: micro, lower={str(m) for m in chosen if m.direction == "lower"})


def _of_series(given: Any, series: str) -> Any:
    """What is given for all series, or for this one of a mapping from series."""
    return given.get(series) if series and isinstance(given, Mapping) else given


def runs_of(scores: Any, y_true: Any = None) -> Iterator[Run]:
    """Every scoring, whatever form it came in."""
    if isinstance(scores, (str, Path)):
        yield from _cached(scores)
    elif isinstance(scores, Mapping):
        if y_true is None:
            raise InvalidInputError("y_true is missing: a mapping of scores needs the labels of the series")
        for name, values in scores.items():
            yield "", str(name), y_true, values
    elif y_true is not None:
        raise InvalidInputError("scores must be a mapping from detector to scores where y_true is given")
    else:
        for entry in scores:
            try:
                series, detector, labels, values = entry
            except (TypeError, ValueError):
                raise InvalidInputError("scores must give (series, detector, y_true, y_score) each time") from None
            yield str(series), str(detector), labels, values


def _cached(folder: str | Path) -> Iterator[Run]:
    if not Path(folder, "scores").is_dir():
        raise InvalidInputError(f"{folder} keeps no scores: run `tsadeval detect --store {folder}` first")
    for cached in all_scores(folder):
        seed = cached.provenance["seed"]
        detector = cached.provenance["detector"] + (f", seed {seed}" if seed else "")
        yield cached.provenance["dataset"], detector, cached.labels, cached.scores
