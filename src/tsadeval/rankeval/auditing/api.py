"""`te.rankeval.audit`: the public function of the audit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tsadeval.core.metric import Rule
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.selection import Metrics
from tsadeval.core.text import import_object
from tsadeval.engine.metrics import choose_metrics
from tsadeval.engine.progress import Progress
from tsadeval.engine.run import Limits, complete
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.rankeval.auditing.adversaries import ADVERSARIES, Adversary
from tsadeval.rankeval.auditing.plan import LAYOUT, AuditPlan, SeriesRecord, compute
from tsadeval.rankeval.auditing.result import AuditResult
from tsadeval.rankeval.auditing.series import AuditSeries, read_series
from tsadeval.thresholds import parse_rule

__all__ = ["audit", "choose_adversaries"]

AnyAdversary = str | Adversary | Callable[[int, Any], Any]


def audit(
    data: Any,
    metrics: Metrics = "recommended",
    *,
    y_true: str = "label",
    y_score: str | Sequence[str] = "*",
    by: str | None = "series",
    value: str | None = "value",
    threshold: str | float | Rule = "quantile(0.95)",
    adversaries: Iterable[AnyAdversary] = (),
    store: str | Path | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: bool | Progress | None = None,
    limits: Limits | None = None,
) -> AuditResult:
    """Try metrics on real scores: can scorers without skill reach real detectors, and do metrics agree?

    Parameters
    ----------
    data : path, data frame, mapping, or sequence of AuditSeries
        A table of real scores: a row per point, with a column of labels, one that names the series, and a column per
        detector. Of a folder, all tables in it that have labels.
    metrics : str, function, or several of these
        As for `te.rankeval.run`.
    y_true, by, value : str
        The columns of labels, of the names of series (None: one series), and of the series itself, which the one-liners
        need. Missing scores are left out, detector by detector.
    y_score : str or sequence of str, default="*"
        The columns of the detectors; all other columns of numbers by default.
    threshold : str, number or rule, default="quantile(0.95)"
        For metrics that take predictions, as for `te.evaluate`.
    adversaries : sequence of functions, "module:function" or Adversary
        Scorers without skill of your own, beside those of the library: functions (number of points, random generator)
        that return scores.
    store, n_jobs, random_state, progress
        As for `te.rankeval.run`.
    limits : Limits, optional
        Of seconds and memory, as `tsadeval.engine.run.limits_of` makes them.

    Returns
    -------
    AuditResult
        With `table()`, `agreement()`, `ranks()`, `example(metric)`, `rows` and `to_frame()`. Series without an anomaly,
        or without a normal point, are left out.

    Examples
    --------
    >>> import numpy as np
    >>> import tsadeval as te
    >>> label = np.arange(1000) // 100 == 4
    >>> noise = np.random.default_rng(0).normal(size=(2, 1000))
    >>> table = {"label": label.astype(int), "good": noise[0] + 3 * label, "poor": noise[1] + label}
    >>> result = te.rankeval.audit(table, ["auc_pr", "f1_pa"], by=None)
    >>> result.table()["auc_pr"], result.table()["f1_pa"]
    (0.0, 0.0)
    >>> [round(row["random"], 2) for row in result.table().rows]  # what uniformly random scores get
    [0.11, 0.82]
    """
    check_parameters("audit", {"random_state": Number(0, 2**63 - 1, integer=True)}, {"random_state": random_state})
    tried = choose_adversaries(adversaries)
    rule = str(parse_rule(threshold))
    parse_rule(rule)  # a rule travels as text; one without a text is refused here
    if isinstance(data, (list, tuple)) and all(isinstance(series, AuditSeries) for series in data):
        given = list(data)
    else:
        given = list(read_series(data, y_true=y_true, y_score=y_score, by=by, value=value))
    usable = [s for s in given if s.labels.any() and not s.labels.all() and s.detectors]
    if not usable:
        raise InvalidInputError(
            f"data has {len(given)} series, but none with both normal and anomalous points and a detector's scores"
        )
    names = {a.name for a in tried}
    for taken in (name for s in usable for name in s.detectors if name in names):
        raise InvalidInputError(f"detector {taken!r} is called as an adversary of the audit is: rename it")
    plan = AuditPlan(
        choose_metrics(metrics),
        tuple(_record(series) for series in usable),
        tuple((a.name, a.kind, a.version) for a in tried),
        rule,
        random_state,
    )
    kept = Store(store, LAYOUT)
    kept.add_plan(plan.record())
    series, scorers = {s.name: s for s in usable}, {a.name: a for a in tried}
    complete(
        plan.cells(),
        lambda missing: plan.chunks(missing, series, scorers),
        compute,
        kept,
        n_jobs=n_jobs,
        progress=progress,
        limits=limits,
    )
    return AuditResult(plan, kept)


def _record(series: AuditSeries) -> SeriesRecord:
    """The detectors that have scores for points of both classes."""
    detectors = []
    for name, scores in series.detectors.items():
        labels = series.labels[scores == scores]
        if labels.any() and not labels.all():
            detectors.append(name)
    return SeriesRecord(series.name, series.mark, tuple(detectors), series.values is not None)


def choose_adversaries(own: Iterable[AnyAdversary] = ()) -> list[Adversary]:
    """The adversaries of the library, and a user's own."""
    found = dict(ADVERSARIES)
    for one in [own] if isinstance(own, (str, Adversary)) or callable(own) else own:
        if isinstance(one, str):
            one = Adversary.from_function(import_object(one, "adversary"), one)
        elif not isinstance(one, Adversary):
            one = Adversary.from_function(one)
        if one.name in found:
            raise InvalidParameterError(f"there is already an adversary named {one.name!r}: rename yours")
        found[one.name] = one
    return list(found.values())
