"""`te.rankeval.run`, `audit` and `read`: run a suite of RankEval, and read its results from a store."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from tsadeval.comparison.inference import Groups
from tsadeval.core.metric import Rule
from tsadeval.core.names import parse_call
from tsadeval.core.selection import Metrics
from tsadeval.engine.progress import Progress
from tsadeval.engine.run import limits_of
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.metrics.criteria import AnyCriterion
from tsadeval.rankeval.suite import Suite, SuiteResult, last_plan
from tsadeval.rankeval.suites import SUITES
from tsadeval.rankeval.suites.audit import AnyAdversary
from tsadeval.rankeval.suites.hard_task import HardTask


class AuditOptions(TypedDict, total=False):
    """Options of the suite `audit`; None leaves its own, but for `by` and `values`."""

    random_state: int | None
    label: str | None
    score: str | Sequence[str] | None
    by: str | Sequence[str] | None
    values: str | None
    threshold: str | float | Rule | None
    adversaries: AnyAdversary | Iterable[AnyAdversary] | None


class SuiteOptions(AuditOptions, total=False):
    """Options of all suites; None leaves the suite's own."""

    repeats: int | None
    cases: Sequence[str] | str | None
    tasks: Sequence[str | HardTask | Callable[..., Any]] | str | None
    data: Any
    criteria: AnyCriterion | Sequence[AnyCriterion] | None
    groups: Groups | None


def run(
    suite: str | Suite = "quick",
    metrics: Metrics | None = None,
    scores: Any = None,
    *,
    store: str | Path | None = None,
    n_jobs: int | None = None,
    progress: bool | Progress | None = None,
    cell_timeout: float | None = None,
    cell_memory: int | str | None = None,
    **options: Unpack[SuiteOptions],
) -> SuiteResult:
    """Rank models whose true order is known by metrics, and see how well the metrics do.

    Parameters
    ----------
    suite : str or suite, default="quick"
        "quick", "paper", "paper-text" or "standard"; "hard" for tasks on which metrics are known to be fooled; "audit"
        for real scores against adversaries (`te.rankeval.audit`); "selection" for how good a detector is that a metric
        chose on other series. Options may stand in brackets: "hard(repeats=20)".
    metrics : str, function, or several of these
        "paper" (the eleven of the paper, with the suite's options), names with options ("cce(tau=0.4)"), functions
        `(y_true, y_score) -> float` (higher is better), or "module:function". Those of the suite by default.
    scores : path, data frame, mapping or Scores
        Of the suites "audit" and "selection": the real scores. The second takes series with labels only, from data sets
        with ten such series on which all detectors have scores.
    store : path
        A folder that keeps every value as it comes. The same call again computes only what is missing there.
    n_jobs : int
        Worker processes, -1 for all cores. A metric that crashes there is an error, and the run goes on. By default
        everything runs in this process. Other backends of joblib will do:
        `with joblib.parallel_config(backend="dask"): te.rankeval.run(...)` runs on a Dask cluster.
    progress : bool, function (done, total) or class
        True shows a bar on a terminal and prints lines elsewhere; a class such as `tqdm.auto.tqdm` makes the bar; a
        function is called as values come.
    cell_timeout : float
        Seconds that one call of a metric may take; beyond that it is an error, and the run goes on.
    cell_memory : int or str
        Bytes ("2GB") that it may take, in the same way. Linux only. Both limits need worker processes: without
        `n_jobs`, one is started.
    **options
        Those of the suite, as its fields:

        - `repeats`: how often each model is drawn; by default as often as the suite says.
        - `random_state`: seed of all streams, 0 by default. Not for the suite "paper", whose streams are the published
          ones.
        - `cases`, `tasks`: some of the suite's only. Tasks of the suite "hard" may be your own: functions of a random
          generator that return labels and the scores of models, worst first, or "module:function".
        - `data`: the folder of the real data, else the environment variable TSADEVAL_DATA. Real label sets of the suite
          join where their files are present. For "audit" and "selection" the same as `scores`.
        - `label`, `score`, `by`, `values`, `threshold` and `adversaries` of `te.rankeval.audit`. "selection" has them
          too, without adversaries, and takes metrics of predictions at their best threshold.
        - `criteria` of the suite "selection": what counts in the end, some of "events" (found at one look per 10,000
          points), "early" (how early they are), "costs", "points" (point-wise F1) and "rare" (anomalous points at 1 %
          of the normal ones), all by default. "costs(missed=50, false_alarm=2)" are your costs; your own is a function
          (scoring, alarms) that returns a number, higher for better alarms, or "module:function": `alarms` is bool, one
          a point, as is `scoring.truth.mask`, the labels; `scoring.scores` are the scores.
        - `groups` of the suite "selection": the data set of each series, as a mapping or a function of its name; by
          default its file, where there are several. Choices are made and judged within data sets.

    Returns
    -------
    SuiteResult
        With `rows`, `table()`, `explain(metric)` and `to_frame()`, and the views of its suite: `robustness()`,
        `latency()` and `sensitivity()`; of "hard" `sensitivity()`; of "audit" `agreement()`, `ranks()` and `example()`.

    Examples
    --------
    >>> import tsadeval as te
    >>> result = te.rankeval.run("quick", ["cce", "auc_roc"], cases=["10k-20seg-50H"], tasks=["AccQ"])
    >>> result.table()["cce"]
    1.0
    """
    limits = limits_of(cell_timeout, cell_memory)
    plan = choose_suite(suite, **options).bind(metrics, scores)
    kept: Store[Any] = Store(store, plan.layout)
    kept.add_plan(plan.record())
    return SuiteResult.computed(plan, kept, n_jobs=n_jobs, progress=progress, limits=limits)


def choose_suite(suite: str | Suite, **options: Any) -> Suite:
    """Return the suite that a caller named, with its options in brackets ("hard(repeats=20)") or beside them."""
    if isinstance(suite, Suite):
        return suite.with_options(**options)
    name, positional, named = parse_call(suite)
    if positional:
        raise InvalidParameterError(f"cannot read {suite!r}: write {name}(option=value)")
    return SUITES[name].with_options(**{**named, **options})


def audit(
    data: Any,
    metrics: Metrics = "recommended",
    *,
    store: str | Path | None = None,
    n_jobs: int | None = None,
    progress: bool | Progress | None = None,
    cell_timeout: float | None = None,
    cell_memory: int | str | None = None,
    **options: Unpack[AuditOptions],
) -> SuiteResult:
    """Audit metrics on real scores: how far scorers without skill reach real detectors, and how metrics agree.

    Parameters
    ----------
    data : path, data frame, mapping or Scores
        A table of real scores: a row per point, with a column of labels, one that names the series, and a column per
        detector. Of a folder, all tables in it that have labels. Or a `te.Scores`, or tuples as it takes them.
    metrics : str, function, or several of these
        As for `te.rankeval.run`.
    store, n_jobs, progress, cell_timeout, cell_memory
        As for `te.rankeval.run`.
    **options
        Those of the suite "audit":

        - `label`, `by`, `values`: the columns of labels ("label"), of the names of series ("series"; None: one series;
          "series,detector": one column of scores), and of the series itself ("value"), which the one-liners need.
          Points without a score are not judged, detector by detector, as in `te.compare`.
        - `score`: the columns of the detectors; all other columns of numbers by default.
        - `threshold`: for metrics that take predictions, as for `te.evaluate`; "quantile(0.95)" by default.
        - `adversaries`: scorers without skill of your own, beside those of the library: functions (number of points,
          random generator) that return scores, "module:function" or Adversary.
        - `random_state`: seed of the adversaries, 0 by default.

    Returns
    -------
    SuiteResult
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
    return run(
        "audit",
        metrics,
        data,
        store=store,
        n_jobs=n_jobs,
        progress=progress,
        cell_timeout=cell_timeout,
        cell_memory=cell_memory,
        **options,
    )


def read(folder: str | Path, suite: str | None = None) -> SuiteResult:
    """Read the last run (of a suite) in a store, as far as it got, with all metrics tried on the same series.

    Parameters
    ----------
    folder : path
        The store of `run`.
    suite : str, optional
        The last run of this suite; by default the last run of any.

    Returns
    -------
    SuiteResult
        As `run` returned it.

    Examples
    --------
    >>> import tempfile, tsadeval as te
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = te.rankeval.run("quick", "cce", store=folder, cases=["10k-20seg-50H"], tasks=["AccQ"])
    ...     table = te.rankeval.read(folder).table()
    >>> dict(table)
    {'cce': 1.0}
    """
    recorded = sorted((Path(folder) / "plans").glob("*.json"))
    try:
        last = json.loads(recorded[-1].read_text()).get("suite") if recorded else None
    except (ValueError, AttributeError, OSError, RecursionError) as error:
        raise InvalidInputError(f"{recorded[-1]} is not a plan of `tsadeval rankeval run` ({error})") from None
    # All plans of a store have one layout.
    store = Store.existing(folder, SUITES[last if last in list(SUITES) else "quick"].layout)
    records = [record for record in store.plans() if suite in (None, record.get("suite"))]
    if not records:
        raise InvalidParameterError(f"{folder} has no run of {suite or 'any suite'}")
    try:
        plans = [SUITES[record["suite"]].of_record(record) for record in records]
    except (KeyError, TypeError, IndexError) as error:
        raise InvalidInputError(
            f"the store was written by another version of tsadeval (no {error}); run the suite again into it"
        ) from None
    return SuiteResult(last_plan(plans), store)
